"""Whether a score can be believed: text and outcomes in, findings out. Nothing is executed, nothing is read."""
