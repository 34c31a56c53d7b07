"""Readers of line coverage: one file per format or tool, listed in `registry.py`."""
