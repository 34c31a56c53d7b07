"""Readers of type checker reports: one file per format, listed in `registry.py`."""
