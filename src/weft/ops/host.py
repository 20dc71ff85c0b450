"""Calls of the host from running graphs: `ops.host_call`, and what printing, logging and warnings become.

A *host call* is a Python call whose arguments are filled in when the graph reaches it. The graph hands the values of
tensors out, in the order of the program; `weft.compile.host_calls` makes the call, in the thread that runs the graph.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import numpy as np
from jax.experimental import io_callback

from weft.core import IO, Parameter, Primitive, Tensor, data_of, formatting, wrap
from weft.core import trace as trace_module
from weft.core.run_number import RunNumber
from weft.core.tensor import LiteralTensor
from weft.core.trace import Trace
from weft.errors import Refusal, Unsupported
from weft.ir.types import TOKEN

__all__ = ["host_call"]

#: what a graph hands out: the call and the arrays that fill its arguments (or the error that a function raised)
Arrival = tuple[Any, Sequence[Any]]
#: for each run of a graph in progress, by its number, where its host calls arrive
ARRIVALS: Final[dict[int, queue.SimpleQueue[Arrival | None]]] = {}
#: the type of a token in an executable: the number of the run
TOKEN_TYPE: Final = jax.ShapeDtypeStruct((), np.int32)


@dataclass(slots=True, eq=False)
class Text:
    """Text with holes for tensors.

    Args:
        parts: strings, and pairs of a tensor and a format specification (``"!s"`` or ``"!r"`` for `str` and `repr`).
    """

    parts: tuple[str | tuple[Tensor, str], ...]


@dataclass(slots=True, eq=False)
class Shown:
    """Stands in an argument for an object of which only the text matters.

    Args:
        text: what `str` and `repr` give.
    """

    text: str | Text


@dataclass(slots=True, eq=False)
class Same:
    """Stands in an argument for a container that is passed itself, not as a copy with the values of the moment.

    Args:
        value: the container.
    """

    value: Any


class _Verbatim(str):
    """A string that is its own representation; two that say the same are two keys."""

    __slots__ = ()
    __repr__ = str.__str__
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(slots=True, eq=False)
class HostCall:
    """A Python call whose arguments are filled in by a running graph.

    Args:
        function: what to call.
        args: templates of the positional arguments.
        kwargs: templates of the keyword arguments.
        location: where in the user's code the call is: a Location, or a function that returns one, or None.
    """

    function: Callable[..., Any]
    args: Any
    kwargs: Any
    location: Any = None

    def perform(self, arrays: Sequence[Any]) -> None:
        """Make the call.

        Args:
            arrays: the values of the tensors among the arguments, in their order.
        """
        values = iter(arrays)
        args, kwargs = _filled(self.args, values), _filled(self.kwargs, values)
        self.function(*args, **kwargs)

    def objects(self) -> list[Any]:
        """The objects that the call holds."""
        return [self.function, *_held(self.args), *_held(self.kwargs)]

    def __repr__(self) -> str:
        return f"<{getattr(self.function, '__qualname__', 'call')}>"


# -- templates -----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Hole:
    """A tensor in an argument.

    Args:
        kind: the Python type whose number it stands for, or None.
        like: the parameter whose value it is, or None.
        spec: how it is written into a text, or None if it is an argument itself.
    """

    kind: type | None
    like: Parameter | None
    spec: str | None

    def fill(self, array: Any) -> Any:
        """The argument, or its text."""
        value: Any
        if self.kind is not None:
            value = self.kind(np.asarray(array).item())
        elif self.like is not None:
            value = object.__new__(Parameter)
            value._data, value._node, value._type = array, None, None
            value.__dict__.update(self.like.__dict__)
        else:
            value = wrap(array)
        if self.spec is None:
            return value
        if self.spec == "!r":
            return repr(value) if self.kind is not None else formatting.representation(value)
        return format(value, "" if self.spec == "!s" else self.spec)


@dataclass(slots=True, eq=False)
class _Parts:
    """The parts of a text, or the items of a container, to be filled.

    Args:
        make: makes the argument from the filled parts.
        parts: their templates.
    """

    make: Callable[[list[Any]], Any]
    parts: Sequence[Any]


def _filled(template: Any, arrays: Iterator[Any]) -> Any:
    if template.__class__ is _Hole:
        return template.fill(next(arrays))
    if template.__class__ is _Parts:
        return template.make([_filled(part, arrays) for part in template.parts])
    return template


def _held(template: Any) -> list[Any]:
    """The objects in a template that are passed as they are."""
    if template.__class__ is _Parts:
        return [obj for part in template.parts for obj in _held(part)]
    return [] if template.__class__ is _Hole else [template]


def _template(trace: Trace, value: Any, tensors: list[Tensor], around: tuple[int, ...] = ()) -> Any:
    """What of a value is known now; the tensors that only the running graph knows are added to `tensors`."""
    if isinstance(value, Tensor):
        return _hole(trace, value, None, tensors)
    if isinstance(value, Text):
        return _Parts("".join, [p if isinstance(p, str) else _hole(trace, *p, tensors) for p in value.parts])
    if isinstance(value, Shown):
        return _Parts(lambda parts: _Verbatim(parts[0]), [_template(trace, value.text, tensors)])
    if isinstance(value, Same):
        return value.value
    kind = type(value)
    if not isinstance(value, (list, tuple, dict, set, frozenset)):
        return value
    if id(value) in around:
        raise Unsupported(
            Refusal.UNKNOWN_CALL, f"a {kind.__name__} that contains itself is passed to the host", "pass its parts"
        )
    around = (*around, id(value))
    if isinstance(value, dict) and kind is dict:
        flat = [part for item in value.items() for part in item]
        parts = [_template(trace, part, tensors, around) for part in flat]
        return _Parts(lambda items: dict(zip(items[::2], items[1::2], strict=True)), parts)
    make: Any = kind
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        make = lambda items: kind(*items)  # noqa: E731
    elif kind not in (list, tuple, set, frozenset):
        return value
    parts = [_template(trace, item, tensors, around) for item in value]
    if kind in (tuple, frozenset) and all(new is old for new, old in zip(parts, value, strict=True)):
        return value
    return _Parts(make, parts)


def _hole(trace: Trace, tensor: Any, spec: str | None, tensors: list[Tensor]) -> Any:
    if issubclass(type(tensor), RunNumber):
        tensor = tensor.operand()
    known = not tensor.is_symbolic and (type(tensor) is LiteralTensor or id(tensor) in trace.created)
    like = tensor if isinstance(tensor, Parameter) else None
    if like is not None:
        trace.shown(like)
    if known:
        return tensor if spec is None else _Hole(None, like, spec).fill(data_of(tensor))
    tensors.append(tensor)
    return _Hole(tensor.type.weak, like, spec)


# -- the operation -------------------------------------------------------------------------------------------------


def hand_over(number: Any, call: Any, values: Sequence[Any]) -> None:
    """Have the thread that runs a graph make a call; without effect where the run was given up."""
    arrivals = ARRIVALS.get(int(number))
    if arrivals is not None:
        arrivals.put((call, values))


def appended(
    trace: Trace, primitive: Primitive, call: Any, tensors: Sequence[Tensor], types: tuple[Any, ...] = ()
) -> tuple[Tensor, ...]:
    """The results of a call to the host, which is added to a graph after those that are there."""
    call.location = None if trace.location is None else trace.location()
    trace.holds_objects(call.objects())
    token = trace.io_token()
    inputs = (trace.use(token), *[trace.use(tensor) for tensor in tensors])
    after, *results = [wrap(value) for value in trace.append(primitive, inputs, (call,), (TOKEN, *types))]
    token.rebind(after)
    return tuple(results)


def _hand_out(token: Any, *arrays: Any, call: HostCall) -> tuple[Any, ...]:
    def arrive(number: Any, *values: Any) -> Any:
        hand_over(number, call, values)
        return number

    return (io_callback(arrive, TOKEN_TYPE, token, *arrays),)


#: hands its operands to the host; the token that orders effects is the number of the run
HOST_CALL: Final = Primitive(
    "HostCall", _hand_out, attr_names=("call",), multiple=True, effect=IO, no_gradient="calls the host"
)


def host_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Call a Python function now, or, while capturing, when the graph runs.

    Calls happen in the order of the program, in branches and loops as often as they run, with the values that tensors
    have there, in the thread that called the compiled function. What the function returns is dropped. If it raises, the
    compiled function raises that and changes nothing.

    Args:
        function: what to call.
        args: tensors, numbers, texts, and lists, tuples, sets and dictionaries of them; other objects are passed as
            they are.
        kwargs: likewise, by name.

    Raises:
        Unsupported: an argument is a container that contains itself.

    Example:
        >>> seen = []
        >>> host_call(seen.append, Tensor([1, 2]))
        >>> seen
        [Tensor(shape=[2], dtype=Int64, value= [ 1, 2])]
    """
    trace = trace_module.current()
    if trace is None:
        function(*[_now(arg) for arg in args], **{name: _now(arg) for name, arg in kwargs.items()})
        return
    tensors: list[Tensor] = []
    call = HostCall(function, _template(trace, args, tensors), _template(trace, kwargs, tensors))
    appended(trace, HOST_CALL, call, tensors)


def _now(value: Any) -> Any:
    if not isinstance(value, Text):
        return value
    parts = [p if isinstance(p, str) else _Hole(p[0].type.weak, None, p[1]).fill(data_of(p[0])) for p in value.parts]
    return "".join(parts)
