"""Summaries: values that a program notes by name while it trains, also from inside compiled functions."""

from __future__ import annotations

import collections
from typing import Final, NamedTuple

from weft.core import OPERATOR_CLASSES, Operator, Tensor, data_of, wrap
from weft.core import trace as trace_module
from weft.ops._checks import strings, tensors
from weft.ops.host import host_call

__all__ = [
    "HistogramSummary", "ImageSummary", "ScalarSummary", "Summary", "TensorSummary", "collect_summaries",
]  # fmt: skip

#: the latest summaries that nobody collected are kept, so many
_KEPT: Final = 10_000


class Summary(NamedTuple):
    """A value that was noted.

    Args:
        kind: ``"scalar"``, ``"image"``, ``"tensor"`` or ``"histogram"``.
        name: the name it was noted by.
        value: the tensor, as it was then.
    """

    kind: str
    name: str
    value: Tensor


_SUMMARIES: Final[collections.deque[Summary]] = collections.deque(maxlen=_KEPT)


def collect_summaries() -> list[Summary]:
    """The summaries noted since the last call, in the order of the program; at most the latest 10000 are kept.

    A compiled function cannot collect them.

    Returns:
        list: each a `Summary`.

    Example:
        >>> _ = collect_summaries()
        >>> note = ScalarSummary()
        >>> note("loss", Tensor(0.5))
        >>> [(kind, name, float(value)) for kind, name, value in collect_summaries()]
        [('scalar', 'loss', 0.5)]
    """
    trace_module.refuse_while_captured(
        "summaries are collected while capturing, and those of this call are noted when the graph runs",
        "collect them outside the compiled function",
    )
    found = []
    while _SUMMARIES:
        found.append(_SUMMARIES.popleft())
    return found


def _note(kind: str, name: str, value: Tensor) -> None:
    _SUMMARIES.append(Summary(kind, name, wrap(data_of(value))))


class _Summary(Operator):
    """Base: checks a value and notes it."""

    kind = ""
    #: fewest and most dimensions of a value
    dimensions = (0, 1 << 31)

    def __init__(self) -> None:
        self.fixed = {}

    def __call__(self, name: str, value: Tensor) -> None:
        strings(f"{self.name}", name=name)
        if not name:
            raise ValueError(f"{self.name}: name is empty")
        tensors(f"{self.name}", value=value)
        least, most = self.dimensions
        if not least <= value.ndim <= most:
            wanted = f"{least}" if least == most else f"{least} or more" if most >= 1 << 31 else f"{least} to {most}"
            raise ValueError(f"{self.name}: value must have {wanted} dimensions, not {value.ndim}")
        host_call(_note, self.kind, name, value)


class ScalarSummary(_Summary):
    """Note a number by name; see `collect_summaries`.

    Example:
        >>> ScalarSummary()("loss", Tensor(0.5))
        >>> print(collect_summaries()[-1].value)
        0.5
    """

    kind = "scalar"
    dimensions = (0, 1)


class TensorSummary(_Summary):
    """Note a tensor by name; see `collect_summaries`.

    Example:
        >>> TensorSummary()("weights", Tensor([1.0, 2.0]))
        >>> print(collect_summaries()[-1].value)
        [1. 2.]
    """

    kind = "tensor"
    dimensions = (1, 1 << 31)


class HistogramSummary(TensorSummary):
    """Note a tensor of which the distribution matters, by name; see `collect_summaries`.

    Example:
        >>> HistogramSummary()("weights", Tensor([1.0, 2.0]))
        >>> collect_summaries()[-1].kind
        'histogram'
    """

    kind = "histogram"


class ImageSummary(_Summary):
    """Note a batch of images by name, ``(N, C, H, W)``; see `collect_summaries`.

    Example:
        >>> import numpy as np
        >>> ImageSummary()("inputs", Tensor(np.zeros((2, 3, 8, 8), np.float32)))
        >>> collect_summaries()[-1].value.shape
        (2, 3, 8, 8)
    """

    kind = "image"
    dimensions = (4, 4)


for _class in (ScalarSummary, TensorSummary, HistogramSummary, ImageSummary):
    OPERATOR_CLASSES[_class.__name__] = _class
