"""From an optimised graph to something that runs: lowering to JAX, and executables with optional donation.

`lower` promises a plain Python function on arrays, fast to trace. `Executable` promises that calling it costs one call
of a compiled function, and that it never invalidates an array that somebody else holds.
"""
