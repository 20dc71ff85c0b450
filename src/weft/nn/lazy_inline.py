"""`lazy_inline`: cells that are made alike are compiled once."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.nn.cell import Cell

#: where the text of an object says where in memory it is
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


def lazy_inline(
    fn: Callable[..., None] | None = None, attrs: str | Sequence[str] | None = None, policy: str | None = None
) -> Any:
    """Compile the graphs of cells of one class once for all cells and calls in which they are the same.

    Whether they are the same is decided by the graphs themselves, forward and backward: a cell that was changed after
    ``__init__`` has a graph of its own. Cells inside of cells are shared in the same way, at every level. Large graphs
    share what repeats without this decorator too (``set_context(auto_block_reuse=...)``).

    Args:
        fn: the ``__init__`` of a Cell.
        attrs: names of attributes whose values, besides the arguments, belong to the cell's `cell_init_args`.
        policy: accepted, None or "front"; where the graphs are shared does not depend on it.

    Returns:
        The ``__init__``, which also sets `cell_init_args`, a text of the class and the arguments; without `fn`, a
        decorator.

    Raises:
        TypeError: `fn` is no function, or `attrs` are no names.
        ValueError: another policy.

    Example:
        >>> from weft import nn
        >>> class Block(nn.Cell):
        ...     @lazy_inline
        ...     def __init__(self, width):
        ...         super().__init__()
        ...         self.dense = nn.Dense(width, width)
        ...
        ...     def construct(self, x):
        ...         return self.dense(x)
        >>> Block(4).cell_init_args == Block(4).cell_init_args != Block(8).cell_init_args
        True
    """
    names = (attrs,) if isinstance(attrs, str) else attrs or ()
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"attrs takes names of attributes, not {attrs!r}")
    if policy not in (None, "front"):
        raise ValueError(f"policy takes None or 'front', not {policy!r}")
    if fn is None:
        return functools.partial(lazy_inline, attrs=attrs, policy=policy)
    if not callable(fn):
        raise TypeError(f"lazy_inline decorates the __init__ of a Cell, not {type(fn).__name__}")
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def initialize(self: Cell, *args: Any, **kwargs: Any) -> None:
        fn(self, *args, **kwargs)
        if not isinstance(self, Cell):
            raise TypeError(f"lazy_inline decorates the __init__ of a Cell, not of {type(self).__name__}")
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = dict(list(bound.arguments.items())[1:])
        values |= {name: getattr(self, name) for name in names}
        # objects without a text of their own show where they are, which is another place in each process
        texts = _ADDRESS.sub("", ", ".join([f"{name}={value!r}" for name, value in values.items()]))
        self.__dict__["_init_args"] = f"{type(self).__name__}({texts})"
        self._refresh_extras()

    return initialize
