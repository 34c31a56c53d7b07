"""Read an agent's output: usage and cost of a run, and how it ended; one program a file (run_output.py)."""
