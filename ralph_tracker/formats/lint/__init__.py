"""Readers of linter reports: one file per format or tool, listed in `registry.py`."""
