"""Settings of test runners, linters, type checkers and CI, as values that can be compared by key."""
