"""Tests of records drive a loop as a caller drives the judge."""

from tests.judged_loop import make_alert, start, steady

__all__ = ["make_alert", "start", "steady"]
