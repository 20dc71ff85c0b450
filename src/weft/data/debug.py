"""Hooks that see what the operations of a `map` get and give while a program looks for a mistake."""

from __future__ import annotations

from typing import Any

import numpy as np


class DebugHook:
    """What a program wants to do with what an operation gets or gives; classes write `compute`.

    Hooks stand among the operations of a `map`, or around all of them by `config.set_debug_mode`.

    Args:
        prev_op_name: the operation that came before.
    """

    def __init__(self, prev_op_name: str | None = None) -> None:
        self.prev_op_name = prev_op_name
        self.is_first_op = False

    def __new__(cls, *args: Any, **kwargs: Any) -> DebugHook:
        if cls.compute is DebugHook.compute:
            raise TypeError(f"Can't instantiate abstract class {cls.__name__} with abstract method compute")
        return super().__new__(cls)

    def __call__(self, *args: Any) -> Any:
        """See the columns of an element.

        Args:
            args: the columns, which stay as they are.
        """
        self.compute(args)
        return args if len(args) != 1 else args[0]

    def compute(self, *args: Any) -> Any:
        """What is done with the columns of an element.

        Args:
            args: the columns, in a tuple.
        """
        raise NotImplementedError

    def set_previous_op_name(self, prev_op_name: str) -> None:
        """Say which operation came before, or comes next for the first.

        Args:
            prev_op_name: its name.
        """
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first_op: bool) -> None:
        """Say whether the columns are those that the operation gets, or those that it gave.

        Args:
            is_first_op: whether those that it gets.
        """
        self.is_first_op = is_first_op


class _Printing(DebugHook):
    """Prints what it sees."""

    def compute(self, *args: Any) -> Any:
        side = "INPUT" if self.is_first_op else "OUTPUT"
        print(f"[Dataset debugger] Print the [{side}] of the operation [{self.prev_op_name}].")
        for columns in args:
            for place, column in enumerate(columns):
                print(f"Column {place}. {self.said(column)}")
        return args

    def said(self, column: Any) -> str:
        """What is printed of a column."""
        raise NotImplementedError


class PrintDataHook(_Printing):
    """Prints the columns."""

    def said(self, column: Any) -> str:
        return f"The data is [{column}]."


class PrintMetaDataHook(_Printing):
    """Prints element types and shapes of the columns."""

    def said(self, column: Any) -> str:
        array = np.asarray(column)
        return f"The dtype is [{array.dtype}]. The shape is [{array.shape}]."


def checked_hooks(hooks: Any) -> list[DebugHook]:
    """Hooks as `set_debug_mode` takes them.

    Args:
        hooks: a list of them, or None.

    Raises:
        TypeError: it is none.
    """
    if hooks is None:
        return []
    if not isinstance(hooks, list):
        raise TypeError("debug_hook_list is not a list.")
    if not all(isinstance(each, DebugHook) for each in hooks):
        raise TypeError("All items in debug_hook_list must be of type DebugHook.")
    return list(hooks)


class _Seen:
    """A hook that knows where it stands."""

    def __init__(self, hook: DebugHook, name: str, first: bool) -> None:
        self.hook = hook
        self.name = name
        self.first = first

    def __call__(self, *args: Any) -> Any:
        self.hook.set_previous_op_name(self.name)
        self.hook.set_is_first(self.first)
        return self.hook(*args)


def hooked(operations: list[Any], hooks: list[DebugHook]) -> list[Any]:
    """Operations with hooks before the first and after each.

    Args:
        operations: the operations.
        hooks: the hooks.
    """
    if not hooks:
        return operations

    def name(operation: Any) -> str:
        return str(getattr(operation, "__name__", type(operation).__name__))

    found: list[Any] = [_Seen(hook, name(operations[0]), True) for hook in hooks]
    for operation in operations:
        found += [operation, *[_Seen(hook, name(operation), False) for hook in hooks]]
    return found
