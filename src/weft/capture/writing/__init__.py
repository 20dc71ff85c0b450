"""The generated code of an entry."""
