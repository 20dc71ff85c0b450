"""Text with holes for tensors, which only the running graph completes: what an f-string with a tensor becomes."""

from __future__ import annotations

import re
import secrets
import sys
import threading
from collections.abc import Iterable
from typing import Any, Final

from weft.capture.python.packages import NATIVE_PACKAGES
from weft.core.run_number import RunNumber
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
            return format(Parameter.__repr__(tensor), "" if spec.startswith("!") else spec)
        return LazyText(((tensor, _shown_as(tensor, spec)),))

    @staticmethod
    def join(texts: Iterable[Any], separator: str = "") -> Any:
        """Concatenate strings and lazy texts; plain strings give a plain string."""
        texts = list(texts)
        if not all(isinstance(t, (str, LazyText)) for t in texts) or not any(isinstance(t, LazyText) for t in texts):
            return str.join(separator, ["" if isinstance(t, LazyText) else t for t in texts])  # or Python's own error
        parts: list[Any] = []
        for number, text in enumerate(texts):
            if number and str.__len__(separator):
                parts.append(str.__str__(separator))
            # only the characters count of an object of a class derived from str
            parts.extend(text.parts if isinstance(text, LazyText) else (str.__str__(text),))
        return LazyText(tuple(parts))

    def __str__(self) -> str:
        return written(self)

    def __format__(self, spec: str) -> str:
        return written(self) if not spec else self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise needs_characters()

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        raise needs_characters()

    __repr__ = __len__ = __iter__ = __getitem__ = __contains__ = __hash__ = __eq__ = __ne__ = __bool__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse


def needs_characters() -> Unsupported:
    """The refusal of what looks at a text that is not complete."""
    return Unsupported(
        Refusal.TENSOR_VALUE,
        "text that contains the value of a tensor is only known when the graph runs",
        "print it, or build the text outside the compiled function",
    )


class _Texts(threading.local):
    """What this thread's capture is doing with texts."""

    #: the holes of the text that native code puts together
    holes: Holes | None = None


TEXTS: Final = _Texts()
#: what stands for a hole in a text that native code puts together: no program has it
_MARK: Final = f"<hole {secrets.token_hex(16)} "
_HOLE: Final = re.compile(re.escape(_MARK) + r"(\d+)>")


class Holes:
    """The holes of one text that native code makes: it puts marks together, which then become the parts of the text.

    Code that looks at the characters must not run within: a mark is no text of the program.
    """

    def __init__(self) -> None:
        self.parts: list[tuple[Any, str]] = []

    def __enter__(self) -> Holes:
        self._before = TEXTS.holes
        TEXTS.holes = self
        return self

    def __exit__(self, *_: object) -> None:
        TEXTS.holes = self._before

    def mark(self, tensor: Any, spec: str) -> str:
        """What stands for a part."""
        self.parts.append((tensor, spec))
        return f"{_MARK}{len(self.parts) - 1}>"

    def complete(self, text: Any) -> Any:
        """The text with its parts in place of the marks.

        Raises:
            Unsupported: a mark was changed.
        """
        if not self.parts or type(text) is not str:
            return text
        pieces = _HOLE.split(text)
        found = [self.parts[int(piece)] if number % 2 else piece for number, piece in enumerate(pieces)]
        if any(_MARK[:-1] in piece for piece in pieces[::2]) or len(pieces) == 1:
            raise needs_characters()
        return LazyText.join([LazyText((part,)) if isinstance(part, tuple) else part for part in found if part])


def filling() -> bool:
    """Whether native code puts a text together."""
    return TEXTS.holes is not None


def hole(tensor: Any, spec: str) -> str:
    """What stands in a text for a tensor or number that only the running graph knows.

    Raises:
        Unsupported: no text is put together in which it could be completed, or library code would look at it.
    """
    if isinstance(tensor, Parameter) and (tensor.shape or spec in ("", "!r")):
        return Parameter.__repr__(tensor)
    holes = TEXTS.holes
    if holes is None or _in_library():
        raise needs_characters()
    mark: str = holes.mark(tensor, _shown_as(tensor, spec))
    return mark


def _shown_as(tensor: Any, spec: str) -> str:
    """A format specification by which every value of a tensor or number can be shown: Python raises at once, not later.

    Raises:
        Unsupported: some value cannot be.
    """
    if spec not in ("", "!s", "!r"):
        sample: Any = ""
        if isinstance(tensor, RunNumber):
            sample = tensor.kind()
        elif not tensor.shape:
            sample = tensor.dtype.np_dtype.type(0).item()
        try:
            format(sample, spec)
        except (ValueError, TypeError, OverflowError):
            raise needs_characters() from None
        if spec[-1] == "c":
            raise needs_characters()
    return spec


def written(text: LazyText) -> str:
    """A text with marks in place of its holes, for native code that puts it into another."""
    return "".join(part if isinstance(part, str) else hole(*part) for part in text.parts)


def _in_library() -> bool:
    """Whether library code asks for a text: it may measure it. The program's own was interpreted before it ran."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.partition(".")[0] in NATIVE_PACKAGES and not (name == "collections" or name == "dataclasses"):
            return True
        if name.startswith("weft.capture.") and name not in (__name__, "weft.capture.meaning.texts"):
            return False
        frame = frame.f_back
    return False
