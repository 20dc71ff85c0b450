"""Text with holes for tensors, which only `print` can complete: what an f-string with a symbolic tensor becomes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported


class LazyText:
    """Parts of a text: strings, and pairs of a tensor and a format specification.

    Args:
        parts: the parts in order.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[str | tuple[Tensor, str], ...]) -> None:
        self.parts = parts

    @staticmethod
    def of(tensor: Tensor, spec: str = "") -> LazyText:
        """The text of one tensor."""
        return LazyText(((tensor, spec),))

    @staticmethod
    def join(texts: Iterable[Any], separator: str = "") -> Any:
        """Concatenate strings and lazy texts; plain strings give a plain string."""
        texts = list(texts)
        if all(isinstance(t, str) for t in texts):
            return separator.join(texts)
        parts: list[Any] = []
        for number, text in enumerate(texts):
            if number and separator:
                parts.append(separator)
            parts.extend(text.parts if isinstance(text, LazyText) else (text,))
        return LazyText(tuple(parts))

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Unsupported(
            Refusal.TENSOR_VALUE,
            "text that contains the value of a tensor is only known when the graph runs",
            "print it, or build the text outside the compiled function",
        )

    __str__ = __len__ = __iter__ = __getitem__ = __contains__ = __hash__ = __eq__ = __bool__ = _refuse
    encode = split = strip = lower = upper = replace = startswith = endswith = format = _refuse
