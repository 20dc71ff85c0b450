"""Names of MindSpore that are a word for something weft does anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from weft.core.tensor import Tensor
from weft.core.transparency import transparent

__all__ = ["JitConfig", "add_flags", "constexpr", "core", "from_numpy", "switch", "tensor"]

from_numpy = Tensor.from_numpy


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None) -> Tensor:
    """A new tensor, as ``Tensor(...)`` makes it.

    Example:
        >>> print(tensor([1.0, 2.0]))
        [1. 2.]
    """
    return Tensor(input_data, dtype, shape, init)


def constexpr(fn: Any = None, get_instance: bool = True, name: str | None = None) -> Callable[..., Any]:
    """Mark a function that is computed while compiling; every function of Python values is, here.

    Example:
        >>> @constexpr
        ... def double(n):
        ...     return 2 * n
        >>> double(3)
        6
    """
    del get_instance, name
    return fn if fn is not None else lambda function: function


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Attach settings of MindSpore's compiler to a function or Cell; kept, without effect on what it computes.

    Args:
        fn: the function; None makes a decorator.
        flags: the settings.

    Returns:
        The function, or the decorator.

    Example:
        >>> @add_flags(has_effect=True)
        ... def double(x):
        ...     return 2 * x
        >>> double(3)
        6
    """
    if fn is None:
        return lambda function: add_flags(function, **flags)
    fn._mindspore_flags = {**getattr(fn, "_mindspore_flags", {}), **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """Mark a function as one that MindSpore's compiler works on; see `add_flags`.

    Example:
        >>> core(abs_of := lambda x: abs(x)) is abs_of
        True
    """
    return add_flags(fn, core=True, **flags)


@transparent
def switch(cond: Any, true_branch: Any, false_branch: Any) -> Any:
    """One of two values, or functions, by a condition.

    Args:
        cond: a bool, or a tensor of one element.
        true_branch: the value where the condition holds.
        false_branch: the value where it does not.

    Example:
        >>> switch(Tensor(True), 1, 2)
        1
    """
    return true_branch if cond else false_branch


class JitConfig:
    """Options of a compiled function, for ``jit(jit_config=...)``.

    Args:
        jit_level: ``""``, ``"O0"``, ``"O1"`` or ``"O2"``; XLA optimises the same way at each.
        exc_mode: ``"auto"``, ``"sink"`` or ``"no_sink"``; kept.
        jit_syntax_level: ``""``, ``"STRICT"`` or ``"LAX"``.
        debug_level: ``"RELEASE"`` or ``"DEBUG"``; kept.
        infer_boost: ``"on"`` or ``"off"``; kept.
        options: further options, kept.

    Raises:
        ValueError: an option has none of these values.

    Example:
        >>> JitConfig(jit_level="O1").jit_level
        'O1'
    """

    _ALLOWED: ClassVar[dict[str, tuple[str, ...]]] = {
        "jit_level": ("", "O0", "O1", "O2", "O3"),
        "exc_mode": ("auto", "sink", "no_sink"),
        "jit_syntax_level": ("", "STRICT", "LAX"),
        "debug_level": ("RELEASE", "DEBUG"),
        "infer_boost": ("on", "off"),
    }

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **options: Any,
    ) -> None:
        self.jit_level = jit_level
        self.exc_mode = exc_mode
        self.jit_syntax_level = jit_syntax_level
        self.debug_level = debug_level
        self.infer_boost = infer_boost
        self.options = options
        for name, allowed in self._ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"JitConfig({name}={getattr(self, name)!r}): use one of {', '.join(map(repr, allowed))}"
                )
