"""Error classes of the framework, and the one shape every refusal has.

An `Unsupported` is a *declared* refusal: capture raises it where a program cannot be put into a graph.
Everything else that leaves the framework is either the user's own exception or a bug in the framework.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from linecache import getline


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


class Refusal(enum.Enum):
    """Why something cannot be captured."""

    TENSOR_CONDITION = "tensor-condition"
    TENSOR_VALUE = "tensor-value"
    UNKNOWN_CALL = "unknown-call"
    IMPURE_CALL = "impure-call"
    UNSUPPORTED_SYNTAX = "unsupported-syntax"
    STATE_CREATED = "state-created"
    DYNAMIC_SHAPE = "dynamic-shape"
    OUTPUT = "output"


class WeftError(Exception):
    """Base of the errors that the framework itself defines."""


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

    def __str__(self) -> str:
        head = f"cannot capture this as a graph [{self.kind.value}]"
        lines = [head]
        if self.location is not None:
            lines[0] += f" at {self.location}"
            source = getline(self.location.file, self.location.line).rstrip("\n")
            if source.strip():
                stripped = source.lstrip()
                lines.append("    " + stripped)
                if self.location.column is not None:
                    # columns count UTF-8 bytes of the line, as the interpreter's position tables do
                    indent = len(source) - len(stripped)
                    start = len(source.encode()[: self.location.column].decode(errors="replace")) - indent
                    end = start + 1
                    if self.location.end_column is not None:
                        end = len(source.encode()[: self.location.end_column].decode(errors="replace")) - indent
                    lines.append("    " + " " * max(start, 0) + "^" * max(end - start, 1))
        lines.append(f"  why: {self.why}")
        if self.do:
            lines.append(f"  do:  {self.do}")
        return "\n".join(lines)


class GraphError(WeftError):
    """An IR graph breaks a rule of the IR (see `weft.ir.verifier`)."""


class CheckpointError(WeftError, ValueError):
    """A checkpoint file is missing, damaged or does not fit the network."""
