"""Reports of linters: one file a format, `table.py` lists them."""
