"""What a printer needs of graphs, nodes and values; `weft.ir.graph` has the real ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from weft.errors import Location
from weft.ir.types import ValueType


class Operation(Protocol):
    """What the IR needs to know of an operation; primitives satisfy it."""

    @property
    def name(self) -> str: ...
    @property
    def attr_names(self) -> tuple[str, ...]: ...
    @property
    def effect(self) -> str: ...


class ValueForm(Protocol):
    """A value: its type, and its name if it has one."""

    @property
    def type(self) -> ValueType: ...
    @property
    def name(self) -> str: ...


class NodeForm(Protocol):
    """An operation applied to values."""

    @property
    def op(self) -> Operation: ...
    @property
    def inputs(self) -> Sequence[ValueForm | None]: ...
    @property
    def attrs(self) -> tuple[Any, ...]: ...
    @property
    def regions(self) -> Sequence[GraphForm]: ...
    @property
    def outputs(self) -> Sequence[ValueForm]: ...
    def where(self) -> Location | None:
        """The user's source location."""


class GraphForm(Protocol):
    """A function from parameters to outputs."""

    @property
    def name(self) -> str: ...
    @property
    def params(self) -> Sequence[ValueForm]: ...
    @property
    def nodes(self) -> Sequence[NodeForm]: ...
    @property
    def outputs(self) -> Sequence[ValueForm]: ...
