"""What the operations of `vision`, `transforms` and `text` have in common.

An operation is an object that is called with the columns of an element. Its class says by `apply` what becomes of them;
how many there may be, what they are converted to and how errors are named is the same for all and stands here.
"""

from __future__ import annotations

import sys
from typing import Any, Self

import numpy as np


class Operation:
    """One step on the columns of an element; classes write `apply`.

    Subclasses of programs write `__call__` or `apply`, whichever they like.
    """

    #: how many columns it is called with; None for any number
    columns: int | None = 1
    #: whether a `Compose` that holds it gives a tuple when it is called directly, as for MindSpore's steps in Python
    in_python = False
    #: the arguments that it was made with
    made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        self = super().__new__(cls)
        self.made_with = (args, kwargs)
        return self

    def __call__(self, *columns: Any) -> Any:
        """Apply the step.

        Args:
            columns: the columns.

        Returns:
            The new column, or a tuple of them.
        """
        if self.columns is not None and len(columns) != self.columns:
            what = "one column" if self.columns == 1 else f"{self.columns} columns"
            raise RuntimeError(f"{self.name}: takes {what}, but got {len(columns)}.")
        return self.apply(*(self.received(column) for column in columns))

    @property
    def name(self) -> str:
        """What errors call the operation."""
        return type(self).__name__

    def received(self, column: Any) -> Any:
        """A column as `apply` takes it: an array, whatever it was; that of an image of Pillow can be written."""
        return np.array(column) if is_pil(column) else np.asarray(column)

    def apply(self, *columns: Any) -> Any:
        """What becomes of the columns."""
        raise NotImplementedError(f"{self.name} does not say what it does: write apply or __call__.")

    def for_all(self, column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """What becomes of one column of many elements, the same as of one after the other.

        Args:
            column: the elements, in one array.

        Returns:
            The new elements in one array; None where each must be asked about by itself.
        """
        del column
        return None

    def wrong(self, what: str) -> RuntimeError:
        """The error for a column that the operation cannot take.

        Args:
            what: what is wrong.

        Returns:
            RuntimeError: the error.
        """
        return RuntimeError(f"{self.name}: {what}")


class PyTensorOperation(Operation):
    """A step of a program that says by `_execute_py` what becomes of the columns, as they come."""

    columns = None
    in_python = True

    def received(self, column: Any) -> Any:
        return column

    def apply(self, *columns: Any) -> Any:
        return self._execute_py(*columns)

    def _execute_py(self, *columns: Any) -> Any:
        """What becomes of the columns."""
        raise NotImplementedError(f"{self.name} does not say what it does: write _execute_py or __call__.")


def is_pil(image: Any) -> bool:
    """Whether something is an image of Pillow, asked without importing it."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(image, pillow.Image)
