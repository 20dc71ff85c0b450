"""Benchmarks: what weft costs, as a ratio to raw JAX measured in the same run.

`python -m bench` prints the table; a row that exceeds its limit makes the exit status 1.
"""
