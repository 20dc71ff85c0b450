"""Programs for the capture tests, one subject a file; each declares its inputs with `case`."""
