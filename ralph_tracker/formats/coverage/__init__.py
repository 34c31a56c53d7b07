"""Reports of line coverage: one file a format, `table.py` lists them."""
