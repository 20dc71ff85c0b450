"""What depends on the version of CPython: instructions, control flow."""
