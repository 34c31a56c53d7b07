"""The version: what every layer may know, so it imports nothing."""

__version__ = "0.1.0"
