"""Start and finish loops, and clean up what is kept of them."""
