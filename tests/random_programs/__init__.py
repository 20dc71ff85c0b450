"""Random programs, compiled and eager."""
