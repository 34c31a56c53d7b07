"""One iteration as it happens."""
