"""Judge whether a score can be believed: text and outcomes in, findings out. Nothing is executed or read from disk."""
