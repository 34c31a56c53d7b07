"""Replay the commits of a branch as the iterations of a loop, without touching the working tree."""
