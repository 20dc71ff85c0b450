"""The kernel: primitives, tensors, traces, and the one door that every computation goes through.

Promises that a computation means the same whether it runs now or is being captured. Knows nothing of particular
operations, of derivatives beyond the tape's entries, or of Python bytecode.
"""
