"""What operators, attributes, iteration, calls and builtins do."""
