"""Readers of test reports: one file per format, listed in `registry.py`."""
