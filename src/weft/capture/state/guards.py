"""Guards: what must still hold outside for an entry to fit a call, and what differs when it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft.core.tensor import Tensor
from weft.ir.types import TensorType

#: what the evaluation of a guard may raise where the outside has changed: the guard does not hold then
FAILURES: Final = (AttributeError, LookupError, TypeError, ValueError, ArithmeticError)
#: the same as source text
FAILURES_TEXT: Final = "(AttributeError, LookupError, TypeError, ValueError, ArithmeticError)"
#: begins the names of what a guard keeps for itself to compare with: lists and arrays that nobody else holds
KEPT: Final = "kept"
#: how many differences a report names
_SHOWN: Final = 3
#: longer ints are not spelled (Python limits how many digits it writes and reads), nor are longer texts
_SPELLED_BITS: Final = 256
_SPELLED_LENGTH: Final = 256


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition on the outside.

    Args:
        condition: the test, a Python expression over the arguments and the names in `Sources.scope`.
        kind: what is tested: "value", "pinned" (the value of a number of the call), "type", "identity", "length",
            "keys", "contents", "absent", "relation", "setting", "size" (of a tensor), "same size" (as another one),
            "bounds" (of indices); "compute" for a step that only computes what later conditions use, and always holds.
        path: what is guarded, in the user's terms.
        expected: what was found while capturing, for reports.
        expression: loads what to compare with `expected`, "" if the condition itself says it.
    """

    condition: str
    kind: str
    path: str
    expected: Any = None
    expression: str = ""


_PINS: Final = ("pinned", "length", "keys", "contents")


def pinned_by(guard: Guard) -> str | None:
    """What a guard holds for one value of: a number, a text, a length, contents, an object; None for anything else."""
    kind = type(guard.expected)
    if guard.kind in _PINS or (guard.kind == "value" and kind not in (bool, type(None))):
        return guard.path
    if guard.kind == "identity" or (guard.kind == "type" and issubclass(kind, type)):
        return f"{guard.kind} of {guard.path}"
    return None


@dataclass(frozen=True, slots=True)
class Difference:
    """A guard that does not hold for a call, with what the call has in its place."""

    guard: Guard
    found: Any
    #: whether what the guard looks at exists at all
    exists: bool = True

    def __str__(self) -> str:
        guard = self.guard
        if not self.exists:
            return f"{guard.path}: no longer there"
        if guard.kind == "absent":
            return f"{guard.path}: absent -> present"
        if guard.kind == "bounds":
            return f"{guard.path}: out of bounds"
        if guard.kind == "relation":
            return f"{guard.path}: {guard.expected} -> {not guard.expected}"
        if guard.kind in ("identity", "contents") and type(guard.expected) is type(self.found):
            return f"{guard.path}: other {'object' if guard.kind == 'identity' else 'contents'}"
        if not guard.expression:
            return f"{guard.path}: changed"
        found = self.found.type if isinstance(self.found, Tensor) else self.found
        if guard.kind == "type" and isinstance(found, TensorType) and isinstance(guard.expected, TensorType):
            return f"{guard.path}: {_tensor_change(guard.expected, found)}"
        if guard.kind in ("length", "keys"):
            return f"{guard.path}: {guard.kind} {_shown(guard.expected)} -> {_shown(self.found)}"
        expected = guard.expected
        if isinstance(expected, (type, TensorType)) or type(expected) is not type(self.found):
            return f"{guard.path}: {_kind(expected)} -> {_kind(self.found)}"
        return f"{guard.path}: {_shown(expected)} -> {_shown(self.found)}"


def _tensor_change(before: TensorType, after: TensorType) -> str:
    parts = []
    if before.shape != after.shape:
        parts.append(f"shape {before.shape} -> {after.shape}")
    if before.dtype is not after.dtype:
        parts.append(f"dtype {before.dtype} -> {after.dtype}")
    return ", ".join(parts) or "another class of tensor"


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        value = value.type
    if isinstance(value, TensorType):
        return f"tensor {value.dtype}{list(value.shape)}"
    if isinstance(value, type):
        return value.__name__
    return _shown(value) if isinstance(value, (int, float, str, bytes, type(None))) else type(value).__name__


def _shown(value: Any) -> str:
    if is_long(value):
        size = f"{value.bit_length()} bits" if type(value) is int else f"length {len(value)}"
        return f"{'an' if type(value) is int else 'a'} {type(value).__name__} of {size}"
    return f"{value!r:.60}"


def is_long(value: Any) -> bool:
    """Whether a value is an int or a text that generated code and reports name instead of spelling it."""
    if type(value) is int:
        return value.bit_length() > _SPELLED_BITS
    return type(value) in (str, bytes) and len(value) > _SPELLED_LENGTH


def check_lines(guards: Iterable[Guard], otherwise: str) -> list[str]:
    """The statement that checks guards and returns `otherwise` if one does not hold.

    All are one condition, which compiles in two thirds of the time that a statement for each takes.
    """
    conditions = [f"        {'and ' if number else ''}({guard.condition})" for number, guard in enumerate(guards)]
    check = ["try:", "    if not (", *conditions, f"    ): return {otherwise}"]
    return [*check, f"except {FAILURES_TEXT}:", f"    return {otherwise}"] if conditions else []


def differences(guards: Iterable[Guard], scope: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[Difference]:
    """The guards that do not hold for a call, in the order in which they are checked.

    Args:
        guards: the guards of an entry.
        scope: the names that their conditions use.
        arguments: the parameters of the entry with the call's values.

    Returns:
        list[Difference]: what is lost with something else that differs comes after it, or not at all.
    """
    names = {**scope, **arguments}
    found: list[Difference] = []
    #: what is no longer of its class: reading on could run code of the program's, which the entry never does
    lost: list[str] = []
    for guard in guards:
        if any(expression in guard.condition for expression in lost):
            continue
        try:
            if eval(guard.condition, names):
                continue
            value = eval(guard.expression, names) if guard.expression else None
            found.append(Difference(guard, value))
        except FAILURES:
            found.append(Difference(guard, None, exists=False))
        except NameError:  # a number that could not be computed, because of an earlier difference
            continue
        if guard.kind == "keys" and not all(type(key) in _PLAIN_KEYS for key in found[-1].found or ()):
            break  # what looks for a key from here on would compare it with these, by methods of the program's
        if guard.kind not in _OF_ITS_CLASS and not _is_like(guard.expected, found[-1].found):
            if not guard.expression:
                break
            lost.append(guard.expression.removesuffix(".__class__"))
    return found


#: keys whose methods are Python's own
_PLAIN_KEYS: Final = (str, int, bool, float, bytes, type(None))
#: kinds of guards that say nothing of an object's class, which an earlier guard has seen
_OF_ITS_CLASS: Final = ("length", "keys", "absent", "contents", "relation", "setting", "size", "same size")


def _is_like(expected: Any, found: Any) -> bool:
    """Whether two values are of one class, and tensors or plain values: no guard runs code of theirs."""
    return (isinstance(expected, TensorType) and type(found) is Tensor) or (
        type(expected) is type(found) and isinstance(expected, (int, float, complex, str, bytes, type(None)))
    )


def describe(found: list[Difference]) -> str:
    """One line that names what differs, the most telling first."""
    telling = [difference for difference in found if difference.exists] or found
    lines = list(dict.fromkeys(map(str, telling)))
    rest = len(lines) - _SHOWN
    return "; ".join(lines[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
