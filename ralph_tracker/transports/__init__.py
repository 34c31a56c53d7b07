"""How a person is shown a session and asked about it: the terminal, a chat."""
