"""Capture: a symbolic interpreter of CPython bytecode that turns a call into one graph.

Promises that the graph does what Python would have done, side effects included, or refuses with `Unsupported`. Version
facts are in `isa`; handlers in `opcodes` move the stack; meaning lives in `access`, `calls`, `branches` and `loops`.
"""
