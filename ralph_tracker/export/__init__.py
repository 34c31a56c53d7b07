"""Send what is on record about loops to other tools, or write it as tables."""
