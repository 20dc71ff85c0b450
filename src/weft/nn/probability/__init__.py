"""`mindspore.nn.probability`: distributions of random numbers."""

from weft.nn.probability import distribution

__all__ = ["distribution"]
