"""Reports of type checkers: one file a format, `table.py` lists them."""
