"""Capture: a symbolic interpreter of CPython bytecode that turns a call into one graph.

Promises that the graph does what Python would have done, side effects included, or refuses with `Unsupported`. Each
room imports only from those before it: `code`, `python`, `state`, `sources`, `meaning`, `branching`, `machine`,
`leaving`, `writing`. An `attempt` captures a piece of a call; `capture` makes attempts until one fits.
"""
