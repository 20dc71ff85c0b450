"""What tests of several folders share.

`programs` runs a function eagerly and under each policy and compares all that can be seen. `values` makes, spells out
and compares results; `outcomes` does so for calls and exceptions. `sources` makes code from text, `compiled` asks what
a compiled function has, `processes` runs Python in a process of its own, `rounds` says which random programs are long.
"""
