"""One loop as it lives: how it starts, how it ends, what is kept of it."""
