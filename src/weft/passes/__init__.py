"""Graph to graph: each pass makes a valid graph a simpler one that computes the same.

The contract: ``pass.apply(graph)`` rewrites the graph **in place** and returns it; whoever needs the original takes
`weft.passes.rewrite.copy_graph` first. A pass keeps the parameters of the root graph and the number, order and types of
its outputs. It looks at traits (`effect`, `elementwise`, `commutative`) rather than names, and keeps what it does not
know. `weft.passes.pipeline.optimize` runs them in order.
"""
