"""Reading report files: bytes in, a report or Unreadable out. registry.py is the table, one file is one format."""
