"""The door: after `import weft.mindspore`, programs that `import mindspore` run on weft, unchanged.

What stands behind each name of MindSpore is a row of `weft.mindspore.table`. A name that weft does not have
fails where it is imported, with the nearest names that exist.

Example:
    >>> import weft.mindspore
    >>> import mindspore
    >>> from mindspore.ops import operations as P
    >>> print(P.Add()(mindspore.Tensor([1.0]), mindspore.Tensor([2.0])))
    [3.]
"""

from __future__ import annotations

from weft.mindspore.finder import install

__all__ = ["install"]

install()
