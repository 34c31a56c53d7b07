"""One file is one format of output; registry.py is the table."""
