"""The interpreter and the instructions."""
