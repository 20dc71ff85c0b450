"""Tensors that leave a graph and are one of several: the entry picks the one that the running graph says."""

from __future__ import annotations

from typing import Any, Protocol

from weft.capture.sources.sources import Sources
from weft.capture.writing.sharing import Writing as Sharing
from weft.capture.writing.sharing import is_shared, join
from weft.core.choice import Choice
from weft.core.tensor import Tensor
from weft.ir.graph import Value


class Writing(Sharing, Protocol):
    """What choices ask of the writer of values."""

    sources: Sources
    hooked: dict[int, tuple[Tensor, Any]]

    def fresh(self) -> str: ...
    def output(self, value: Value) -> int: ...
    def use(self, tensor: Tensor) -> Value: ...
    def was_outside(self, tensor: Tensor) -> bool: ...


def choice_of(writer: Writing, choice: Choice) -> str:
    """A tensor that is one of several: the running graph says which.

    Args:
        writer: writes the entry.
        choice: the tensor.

    Returns:
        str: its name in the entry.
    """
    handles: dict[int, Tensor] = {}
    which = _which(writer, choice, handles)
    names = [writer.expression(handle) for handle in handles.values()]
    if _may_be_own(writer, choice):
        names.append(writer.fresh())
        writer.lines.append(f"{names[-1]} = leaf({writer.output(writer.use(choice))})")
        join(writer, choice, names[-1])
    if type(which) is int:
        return names[which - 1]
    if len(names) == 1:
        return names[0]
    found, name = writer.fresh(), writer.fresh()
    writer.lines.append(f"{found} = number({writer.output(writer.use(which))})")
    tests = "".join(f"{text} if {found} == {number} else " for number, text in enumerate(names[:-1], 1))
    writer.lines.append(f"{name} = {tests}{names[-1]}")
    return name


def _which(writer: Writing, choice: Choice, handles: dict[int, Tensor]) -> Any:
    """The number of the tensor that a choice is, from 1 on, among those that are needed; 0 for one of its own."""
    which: Any = 0
    for case in choice.cases:
        handle = case.handle
        number: Any = 0
        if type(handle) is Choice and _is_unshared(writer, handle):
            number = _which(writer, handle, handles)
        elif not _is_unshared(writer, handle):
            handles.setdefault(id(handle), handle)
            number = list(handles).index(id(handle)) + 1
        which = case.pick(number, which)
    return which


def _may_be_own(writer: Writing, choice: Choice) -> bool:
    """Whether a choice may be a tensor that needs no identity."""
    return choice.own or any(
        _is_unshared(writer, case.handle) and (type(case.handle) is not Choice or _may_be_own(writer, case.handle))
        for case in choice.cases
    )


def _is_unshared(writer: Writing, tensor: Tensor) -> bool:
    """Whether a candidate of a choice was made by the capture, and is only known as that."""
    outside = id(tensor) in writer.sources.known or writer.was_outside(tensor)
    if outside or id(tensor) in writer.hooked:
        return False
    return writer.reached()[id(tensor)] == 1 and not is_shared(writer, tensor)
