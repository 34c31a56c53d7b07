"""Read an agent's output: usage and cost of a run, and how it ended. One program a file; listener.py has the table."""
