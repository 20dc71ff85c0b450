"""The gate matrix: every native operation on values that change."""
