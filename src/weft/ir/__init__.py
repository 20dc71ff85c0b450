"""The intermediate representation: flat SSA graphs with nested regions, their rules, and their text.

It knows nothing of tensors or of what an operation computes; an operation is anything with a name, attribute names and
an effect. `graph` holds the data structures, `verifier` the rules that every graph obeys, `text` and `parser` the
printed form and the way back.
"""
