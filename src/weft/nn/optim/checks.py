"""How optimizers declare their settings, and how those are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, ParamSpec

from weft.nn.declared import Check, Described, constructor, keep
from weft.nn.optim.optimizer import Optimizer
from weft.ops._checks import floats, reals

_P = ParamSpec("_P")


def number(optimizer: str, what: str, value: Any) -> float:
    """A setting that must be a number of at least 0.

    Args:
        optimizer: the class.
        what: the name of the setting.
        value: the number.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    reals(optimizer, **{what: value})
    if value < 0:
        raise ValueError(f"{optimizer}: {what} must not be negative, got {value}")
    return float(value)


def share(optimizer: str, what: str, value: Any) -> float:
    """A setting that must lie between 0 and 1, without either.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    if not 0 < number(optimizer, what, value) < 1:
        raise ValueError(f"{optimizer}: {what} must be in (0, 1), not {value}")
    return float(value)


def only_float(optimizer: str, what: str, value: Any) -> float:
    """A setting that must be a float.

    Raises:
        TypeError: it is none.
    """
    floats(optimizer, **{what: value})
    return value


def strength(optimizer: str, what: str, value: Any) -> float:
    """A float of at least 0.

    Raises:
        TypeError: it is no float.
        ValueError: it is negative.
    """
    return number(optimizer, what, only_float(optimizer, what, value))


class DeclaredOptimizer(Described, Optimizer):
    """Base of the optimizers whose constructors are declared.

    Args:
        params: Parameters, or groups (see `Optimizer`).
        learning_rate: see `Optimizer`.
        beta1: share of the first moment that stays.
        beta2: share of the second moment that stays.
        eps: added to the denominator.
        momentum: share of the velocity that stays.
        accum: initial sum of squared gradients.
        l1: strength of the absolute penalty.
        l2: strength of the squared penalty.
        use_nesterov: look ahead by one step.
        use_locking: accepted; updates never overlap.
        weight_decay: see `Optimizer`.
        loss_scale: see `Optimizer`.
    """

    _example = """
        >>> import weft
        >>> p = weft.Parameter(weft.Tensor([1.0]), name="p")
        >>> _ = {name}([p]{})((weft.Tensor([{}]),))
        >>> print({})
        {}
    """
    #: the attributes that `update` is given
    _update_takes: ClassVar[tuple[str, ...]] = ()
    #: a state that begins with what the constructor is given, and as what
    _begins: ClassVar[tuple[str, str] | None] = None

    def settings(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self._update_takes])


def declares(**checks: Check) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Make the constructor of an optimizer of its signature: what `Optimizer` does not take becomes attributes.

    Args:
        checks: for a setting that is checked or converted: what gives the value to keep.

    Returns:
        A decorator of an empty ``__init__``. Where the class defines `_made`, the constructor calls that at the end.
    """

    def build(self: Any, owner: Any, given: dict[str, Any]) -> None:
        if owner._begins is not None:  # before the base makes the state
            state, what = owner._begins
            check: Check = checks.get(what, number)
            initial = check(type(self).__name__, what, given.pop(what))
            self.slots = tuple([(*slot[:2], initial if slot[0] == state else slot[2]) for slot in owner.slots])
        common = {name: given.pop(name) for name in ("learning_rate", "weight_decay", "loss_scale") if name in given}
        Optimizer.__init__(self, parameters=given.pop("params"), **common)
        keep(self, owner, given, checks)

    return constructor(build)
