"""Readers of linter reports: one file per format, listed in `registry.py`."""
