"""The version, where neither the public names nor anything else has to be imported for it."""

__version__ = "0.1.0"
