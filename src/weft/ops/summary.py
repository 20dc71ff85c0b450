"""Summaries: values that a program notes by name while it trains, also from inside compiled functions."""

from __future__ import annotations

import collections
from typing import ClassVar, Final, NamedTuple

from weft.core import OPERATOR_CLASSES, Described, Operator, Tensor, data_of, wrap
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


class _Summary(Described, Operator):
    """Base: checks a value and notes it."""

    _kind: ClassVar[str] = ""
    #: fewest and most dimensions of a value; None: any number
    _dimensions: ClassVar[tuple[int, int | None]] = (0, None)
    _example = """
        >>> {name}()("noted", Tensor({}))
        >>> print(collect_summaries()[-1].{})
        {}
    """

    def __init__(self) -> None:
        self.fixed = {}

    def __call__(self, name: str, value: Tensor) -> None:
        strings(self.name, name=name)
        if not name:
            raise ValueError(f"{self.name}: name is empty")
        tensors(self.name, value=value)
        least, most = self._dimensions
        if value.ndim < least or (most is not None and value.ndim > most):
            wanted = f"{least} or more" if most is None else f"{least}" if least == most else f"{least} to {most}"
            raise ValueError(f"{self.name}: value must have {wanted} dimensions, not {value.ndim}")
        host_call(_note, self._kind, name, value)


class ScalarSummary(_Summary, kind="scalar", dimensions=(0, 1), shows=("0.5", "value", "0.5")):
    """Note a number by name; see `collect_summaries`."""


class TensorSummary(_Summary, kind="tensor", dimensions=(1, None), shows=("[1.0, 2.0]", "value", "[1. 2.]")):
    """Note a tensor by name; see `collect_summaries`."""


class HistogramSummary(TensorSummary, kind="histogram", shows=("[1.0, 2.0]", "kind", "histogram")):
    """Note a tensor of which the distribution matters, by name; see `collect_summaries`."""


class ImageSummary(_Summary, kind="image", dimensions=(4, 4), shows=("[[[[0.5]]]]", "value.shape", "(1, 1, 1, 1)")):
    """Note a batch of images by name, ``(N, C, H, W)``; see `collect_summaries`."""


for _class in (ScalarSummary, TensorSummary, HistogramSummary, ImageSummary):
    OPERATOR_CLASSES[_class.__name__] = _class
