"""Readers of test reports: one file per format or tool, listed in `registry.py`."""
