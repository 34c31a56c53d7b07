"""Read the output formats of agents, one program per file; listener.py has the table."""
