"""`mindspore.nn.probability`: distributions of random numbers, and bijectors."""

from weft.nn.probability import bijector, distribution

__all__ = ["bijector", "distribution"]
