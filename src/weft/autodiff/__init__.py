"""Derivatives: the driver of the primitives' rules, and the API on top of it.

`backward` walks the tape that eager and symbolic computation leave alike. `session` holds what a gradient in progress
changes, and puts it back. `grad`, `jacobian`, `higher`, `custom`, `registry`, `composite` and `check` are what programs
use; `marks` is how a finished graph remembers what its derivative must do, `structure` how a repeated backward pass
gets compiled as a whole.
"""
