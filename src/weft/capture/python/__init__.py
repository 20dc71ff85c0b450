"""Facts about Python objects, whatever is captured."""
