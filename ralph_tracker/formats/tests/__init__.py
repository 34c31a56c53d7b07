"""Reports of tests: one file a format, `table.py` lists them."""
