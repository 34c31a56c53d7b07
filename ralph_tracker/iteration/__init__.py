"""Measure, check, record and compare iterations."""
