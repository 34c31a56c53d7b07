"""Read the output formats of agents, one per file; listener.py has the table."""
