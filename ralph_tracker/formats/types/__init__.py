"""Readers of type checker reports: one file per format or tool, listed in `registry.py`."""
