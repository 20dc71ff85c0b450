"""Branches and loops that only the running graph decides, and how their outcomes merge."""
