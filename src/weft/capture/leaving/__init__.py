"""How a call leaves the graph and goes on: breaks, steps, continuations, entries."""
