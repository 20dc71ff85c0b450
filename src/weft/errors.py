"""Error classes of the framework, and the one shape every refusal has.

An `Unsupported` is a *declared* refusal: capture raises it where a program cannot be put into a graph.
Everything else that leaves the framework is either the user's own exception or a bug in the framework.
"""

from __future__ import annotations

import enum
import linecache
import threading
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source.

    Args:
        file: path of the source file as Python knows it.
        line: 1-based line.
        column: 0-based column of the expression, or None.
        end_column: 0-based end column on the same line, or None.
        scope: qualified name of the function.
    """

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    scope: str = ""

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column + 1}"
        return f"{self.file}:{self.line}{column}"


def excerpt(location: Location) -> list[str]:
    """The source line of a location without its indentation and, if the columns are known, carets under them.

    Args:
        location: where.

    Returns:
        list[str]: two lines, one without columns, none if there is no source text.

    Example:
        >>> excerpt(Location("no such file", 1))
        []
    """
    source = linecache.getline(location.file, location.line).rstrip("\n")
    text = source.lstrip()
    if not text:
        return []
    found = span(location, source)
    if found is None:
        return [text]
    indent = len(source) - len(text)
    start = max(found[0] - indent, 0)
    return [text, " " * start + "^" * max(found[1] - indent - start, 1)]


def span(location: Location, source: str) -> tuple[int, int] | None:
    """The characters of a source line that a location covers, first and last + 1; None without columns.

    Columns count UTF-8 bytes of the line, as the interpreter's position tables do.
    """
    if location.column is None:
        return None
    encoded = source.encode()
    start = len(encoded[: location.column].decode(errors="replace"))
    if location.end_column is None:
        return start, start + 1
    return start, max(len(encoded[: location.end_column].decode(errors="replace")), start + 1)


class Refusal(enum.Enum):
    """Why something cannot be captured."""

    TENSOR_CONDITION = "tensor-condition"
    TENSOR_VALUE = "tensor-value"
    OUT_OF_BOUNDS = "out-of-bounds"
    UNKNOWN_CALL = "unknown-call"
    IMPURE_CALL = "impure-call"
    UNSUPPORTED_SYNTAX = "unsupported-syntax"
    STATE_CREATED = "state-created"
    DYNAMIC_SHAPE = "dynamic-shape"
    OUTPUT = "output"
    ITERATION = "iteration"
    LIFETIME = "lifetime"
    RESTLESS = "restless-value"
    NO_TENSORS = "no-tensors"
    FORCED = "forced"
    DISABLED = "disabled"
    DEBUGGER = "debugger"


class WeftError(Exception):
    """Base of the errors that the framework itself defines."""


class _Noted(threading.local):
    """What was refused while this thread captures: it holds even if native code takes it for an error of its own."""

    #: None while nothing is captured
    refused: list[Unsupported] | None = None


NOTED: Final = _Noted()


class Unsupported(WeftError, RuntimeError):
    """A program, or a part of it, cannot be captured as a graph.

    Args:
        kind: the class of refusal.
        why: what is wrong, in the user's terms.
        do: what to write instead.
        location: where in the user's code; filled in by the interpreter when left out.
    """

    def __init__(self, kind: Refusal, why: str, do: str = "", location: Location | None = None) -> None:
        super().__init__(why)
        self.kind = kind
        self.why = why
        self.do = do
        self.location = location
        #: whether a break here is none in the user's sense and not reported
        self.quiet = False
        #: whether the whole call has to run in Python, from its beginning
        self.whole = False
        #: whether it was met in the body of a generator, which runs in pieces of its own: the break counts there
        self.in_generator = False
        #: whether it was met in a function that library code calls back, which then is captured by itself
        self.in_callback = False
        #: the outermost condition on whose side, or in whose loop, it was met: that is decided in Python then
        self.condition: Location | None = None
        #: the step of the capture that cannot be in the graph; None for the one that was running
        self.step: int | None = None
        if NOTED.refused is not None:
            NOTED.refused.append(self)

    def __str__(self) -> str:
        head = f"cannot capture this as a graph [{self.kind.value}]"
        lines = [head]
        if self.location is not None:
            lines[0] += f" at {self.location}"
            lines += ["    " + line for line in excerpt(self.location)]
        lines.append(f"  why: {self.why}")
        if self.do:
            lines.append(f"  do:  {self.do}")
        return "\n".join(lines)


class NoTensor(WeftError, TypeError, AttributeError):
    """An operand is no tensor. It is an `AttributeError` too: some functions of MindSpore check what they are given,
    others read what tensors have.
    """


class GraphError(WeftError):
    """An IR graph breaks a rule of the IR (see `weft.ir.verifier`)."""


class CheckpointError(WeftError, ValueError):
    """A checkpoint file is missing, damaged or does not fit the network."""


class MindIRError(WeftError, ValueError):
    """A MINDIR file is missing, damaged or of another version."""
