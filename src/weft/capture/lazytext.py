"""Text with holes for tensors, which only the running graph completes: what an f-string with a tensor becomes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.core.tensor import Parameter
from weft.errors import Refusal, Unsupported
from weft.ops.host import Text


class LazyText(Text):
    """A text that is an object of the captured program; what would need its characters is refused.

    Args:
        parts: strings, and pairs of a tensor and a format specification.
    """

    __slots__ = ()

    @staticmethod
    def of(tensor: Any, spec: str = "") -> Any:
        """The text of one tensor or number; that of a parameter does not depend on its value."""
        if isinstance(tensor, Parameter) and (tensor.shape or spec in ("", "!s", "!r")):
            return format(repr(tensor), "" if spec.startswith("!") else spec)
        return LazyText(((tensor, spec),))

    @staticmethod
    def join(texts: Iterable[Any], separator: str = "") -> Any:
        """Concatenate strings and lazy texts; plain strings give a plain string."""
        texts = list(texts)
        if not any(isinstance(t, LazyText) for t in texts):
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
