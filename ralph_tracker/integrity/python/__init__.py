"""Python source as integrity sees it."""
