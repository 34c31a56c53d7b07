"""Readers of line coverage: one file per format, listed in `registry.py`."""
