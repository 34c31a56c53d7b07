"""Readers of report files: bytes in, a report or Unreadable out. Each file is one format; registry.py lists them."""
