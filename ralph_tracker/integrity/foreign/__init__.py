"""What other checkers of a diff say, as findings of ours: `integrity.tool` reads one in place of the diff rules."""
