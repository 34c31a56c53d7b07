"""Read the findings of other diff checkers: with `integrity.tool` one of them replaces the diff rules."""
