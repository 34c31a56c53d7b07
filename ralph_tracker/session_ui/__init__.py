"""Show a session to a person and ask about it: on a terminal or in a chat."""
