"""The compile cache: what was compiled, on disk, for the next process.

`executables` keeps what XLA makes, for eager operations and graphs alike; it is on unless it is turned off; `programs`
which function became which executable, so that JAX need not trace it; `inferred` the types that operations give.
`files` promises that a reader gets what a writer wrote whole, or nothing; `folder` that no other user had a hand in it.
"""

from weft.cache.executables import configure

__all__ = ["configure"]
