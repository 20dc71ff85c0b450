"""Builtins that need more than a native call: they take callbacks, iterate, ask for truth, or read the frame."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import string
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from weft.capture.access import class_attribute, logical_not
from weft.capture.frame import Frame
from weft.capture.iterators import SKIP, MapIterator, SequenceIterator, SymbolicRange, ZipIterator
from weft.capture.lazytext import LazyText
from weft.core.number import as_number
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ops.printing import print_values
from weft.ops.select import where

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

Handler = Callable[[Any, list[Any], dict[str, Any]], Any]
_TABLE: Final[dict[Any, Handler]] = {}
_HASHABLE: Final = (type, types.BuiltinFunctionType, types.FunctionType, types.WrapperDescriptorType)
_MISSING: Final = object()


def handler_for(callee: Any) -> Handler | None:
    """The handler of a builtin, None if it has none."""
    return _TABLE.get(callee) if isinstance(callee, _HASHABLE) else None


def _handles(*callees: Any) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for callee in callees:
            if callee in _TABLE:
                raise ValueError(f"two handlers for {callee!r}")
            _TABLE[callee] = handler
        return handler

    return register


# -- numbers -------------------------------------------------------------------------------------------------------


def _number(kind: type, method: str) -> Handler:
    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and not kwargs:
            (value,) = args
            if isinstance(value, Tensor) and interp.is_runtime(value):
                return as_number(value, kind)
            own = interp.user_method(value, method)
            if own is not None:
                return interp.call(own, [value], {})
        return kind(*args, **kwargs)

    return handler


_TABLE[int] = _number(int, "__int__")
_TABLE[float] = _number(float, "__float__")


@_handles(bool)
def _bool(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.truth(args[0]) if len(args) == 1 else bool(*args, **kwargs)


def _special(function: Any, method: str) -> Handler:
    """A builtin that is nothing but a call of a special method."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args:
            own = interp.user_method(args[0], method)
            if own is not None:
                return interp.call(own, args, kwargs)
        return function(*args, **kwargs)

    return handler


for _function, _method in (
    (abs, "__abs__"), (round, "__round__"), (hash, "__hash__"), (len, "__len__"), (divmod, "__divmod__"),
    (repr, "__repr__"), (dir, "__dir__"), (format, "__format__"), (bytes, "__bytes__"),
    (complex, "__complex__"),
):  # fmt: skip
    _TABLE[_function] = _special(_function, _method)


@_handles(pow)
def _pow(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.binary(8, *args) if len(args) == 2 and not kwargs else pow(*args, **kwargs)


@_handles(str)
def _str(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not kwargs:
        return _text(interp, args[0])
    return str(*args, **kwargs)


def _text(interp: Interpreter, value: Any) -> Any:
    if isinstance(value, LazyText):
        return value
    if isinstance(value, Tensor) and interp.is_runtime(value):
        return LazyText.of(value)
    for method in ("__str__", "__repr__"):
        own = interp.user_method(value, method)
        if own is not None:
            return interp.call(own, [value], {})
    return str(value)


def format_text(interp: Interpreter, template: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """`template.format(...)` with symbolic tensors among the arguments."""
    parts: list[Any] = []
    count = itertools.count()
    for literal, field, spec, conversion in string.Formatter().parse(template):
        parts.append(literal)
        if field is not None:
            value, _ = string.Formatter().get_field(field or str(next(count)), args, kwargs)
            parts.append(_text(interp, value) if conversion else interp.format(value, spec or ""))
    return LazyText.join(parts)


@_handles(print)
def _print(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    if kwargs.get("file") is not None:
        raise Unsupported(Refusal.UNKNOWN_CALL, "print(file=...) inside a graph", "print to standard output")
    parts: list[Any] = []
    separator = " " if kwargs.get("sep") is None else kwargs["sep"]
    end = "\n" if kwargs.get("end") is None else kwargs["end"]
    for number, value in enumerate(args):
        if number:
            parts.append(separator)
        text = _text_of_container(interp, value)
        parts.extend(text.parts if isinstance(text, LazyText) else (text,))
    print_values([*parts, end])


def _text_of_container(interp: Interpreter, value: Any) -> Any:
    """The text of a value; lists and tuples may hold symbolic tensors."""
    if isinstance(value, (list, tuple)) and _holds_runtime(interp, value):
        items = [
            LazyText.of(v, "!r") if isinstance(v, Tensor) and interp.is_runtime(v) else _text_of_container(interp, v)
            if isinstance(v, (list, tuple)) else repr(v)
            for v in value
        ]  # fmt: skip
        opening, closing = "[]" if isinstance(value, list) else "()"
        tail = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return LazyText.join([opening, LazyText.join(items, ", "), tail + closing])
    return _text(interp, value)


def _holds_runtime(interp: Interpreter, value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_runtime(interp, v) for v in value)
    return isinstance(value, Tensor) and interp.is_runtime(value)


# -- iteration -----------------------------------------------------------------------------------------------------


@_handles(range)
def _range(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if any(isinstance(a, Tensor) and interp.is_runtime(a) for a in args):
        bounds = [as_number(a, int) if isinstance(a, Tensor) else a for a in args]
        start, stop, step = (
            (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else tuple(bounds)
        )
        if isinstance(step, Tensor):
            raise Unsupported(
                Refusal.TENSOR_VALUE, "the step of a range is only known when the graph runs", "use a constant step"
            )
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        return SymbolicRange(start, stop, step)
    return range(*args, **kwargs)


@_handles(iter)
def _iter(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1:
        return interp.get_iter(args[0])
    function, sentinel = args

    def until() -> Any:
        while True:
            value = interp.call(function, [], {})
            if interp.truth(interp.compare("==", value, sentinel)):
                return
            yield value

    return interp.get_iter(until())


@_handles(next)
def _next(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    iterator = args[0]
    own = interp.user_method(iterator, "__next__")
    try:
        return interp.call(own, [iterator], {}) if own is not None else next(iterator)
    except StopIteration:
        if len(args) > 1:
            return args[1]
        raise


@_handles(zip)
def _zip(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return ZipIterator(interp.journal, [interp.get_iter(a) for a in args], bool(kwargs.get("strict")))


@_handles(enumerate)
def _enumerate(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    iterable, start = (*args, kwargs.get("start", 0))[:2] if args else (kwargs["iterable"], kwargs.get("start", 0))
    return MapIterator(interp.journal, lambda i, item: (start + i, item), interp.get_iter(iterable))


@_handles(map)
def _map(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, *iterables = args
    parts = ZipIterator(interp.journal, [interp.get_iter(i) for i in iterables], False)
    return MapIterator(interp.journal, lambda _, items: interp.call(function, list(items), {}), parts)


@_handles(filter)
def _filter(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args

    def keep(_: int, item: Any) -> Any:
        chosen = interp.truth(item if function is None else interp.call(function, [item], {}))
        return item if chosen else SKIP

    return MapIterator(interp.journal, keep, interp.get_iter(iterable))


@_handles(sorted)
def _sorted(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    items = list(interp.get_iter(args[0]))
    items.sort(key=interp.callback(kwargs.get("key")), reverse=kwargs.get("reverse", False))
    return interp.made(items)


@_handles(sum)
def _sum(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    for item in interp.get_iter(args[0]):
        total = interp.binary(0, total, item)
    return total


def _quantifier(stop_at: bool) -> Handler:
    """`any` (stop at a true item) or `all` (at a false one)."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        pending: Any = None
        for item in interp.get_iter(args[0]):
            truth = interp.truth(item)
            if truth.__class__ is bool:
                if truth is stop_at:
                    return stop_at
                continue
            decided = truth if stop_at else logical_not(truth)
            pending = decided if pending is None else as_number(pending | decided, bool)
        if pending is None:
            return not stop_at
        return pending if stop_at else logical_not(pending)

    return handler


_TABLE[any] = _quantifier(True)
_TABLE[all] = _quantifier(False)


def _extreme(function: Any, symbol: str) -> Handler:
    """`min` (symbol "<") or `max` (">")."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        items = list(interp.get_iter(args[0])) if len(args) == 1 else args
        key = kwargs.get("key")
        if not items:
            if "default" in kwargs:
                return kwargs["default"]
            return function(items)
        best = items[0]
        best_key = best if key is None else interp.call(key, [best], {})
        for item in items[1:]:
            item_key = item if key is None else interp.call(key, [item], {})
            better = interp.truth(interp.compare(symbol, item_key, best_key))
            if better.__class__ is not bool:
                if key is not None:
                    better = bool(better)  # refuses: which object wins is only known when the graph runs
                best = best_key = _choose(better, item, best)
            elif better:
                best, best_key = item, item_key
        return best

    return handler


def _choose(condition: Tensor, first: Any, second: Any) -> Any:
    kinds = {v.type.weak if isinstance(v, Tensor) else type(v) for v in (first, second)}
    chosen = where(condition, first, second)
    if len(kinds) == 1 and (kind := kinds.pop()) in (int, float, bool):
        return as_number(chosen, kind)
    return chosen


_TABLE[min] = _extreme(min, "<")
_TABLE[max] = _extreme(max, ">")


def _container(kind: Any) -> Handler:
    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1:
            args = [interp.iterate(args[0])] if not (kind is dict and hasattr(args[0], "keys")) else args
        return interp.made(kind(*args, **kwargs))

    return handler


for _kind in (list, tuple, set, frozenset, dict):
    _TABLE[_kind] = _container(_kind)


@_handles(functools.reduce)
def _reduce(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable, *initial = args
    iterator = interp.get_iter(iterable)
    if initial:
        total = initial[0]
    else:
        try:
            total = next(iterator)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for item in iterator:
        total = interp.call(function, [total, item], {})
    return total


@_handles(itertools.starmap)
def _starmap(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args
    return MapIterator(
        interp.journal,
        lambda _, items: interp.call(function, list(interp.get_iter(items)), {}),
        interp.get_iter(iterable),
    )


def _with_callbacks(kind: Any) -> Handler:
    """A native callable whose function arguments are entered by the interpreter when it calls them."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def convert(value: Any) -> Any:
            if isinstance(value, (types.FunctionType, types.MethodType)):
                return interp.callback(value)
            return interp.iterable_argument(value)

        made = kind(*[convert(a) for a in args], **{k: convert(v) for k, v in kwargs.items()})
        return interp.get_iter(made)

    return handler


for _lazy in (
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby,
    itertools.chain, itertools.product, itertools.permutations, itertools.combinations, itertools.islice,
    itertools.zip_longest, itertools.repeat, itertools.count, itertools.cycle, itertools.compress,
    itertools.combinations_with_replacement, itertools.pairwise,
):  # fmt: skip
    _TABLE[_lazy] = _with_callbacks(_lazy)


# -- objects -------------------------------------------------------------------------------------------------------


@_handles(getattr)
def _getattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return interp.get_attr(args[0], args[1])
    except AttributeError:
        if len(args) > 2:
            return args[2]
        raise


@_handles(hasattr)
def _hasattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> bool:
    try:
        interp.get_attr(args[0], args[1])
    except AttributeError:
        return False
    return True


@_handles(setattr)
def _setattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    interp.set_attr(*args)


@_handles(delattr)
def _delattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    interp.delete_attr(*args)


@_handles(object.__setattr__)
def _object_setattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    obj, name, value = args
    interp.journal.touch(obj)
    object.__setattr__(obj, name, value)


@_handles(isinstance)
def _isinstance(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    value, kinds = args
    if isinstance(value, Tensor) and value.type.weak is not None:
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        return any(isinstance(k, type) and issubclass(value.type.weak, k) for k in wanted)
    if isinstance(value, LazyText):
        return isinstance("", kinds)
    if isinstance(kinds, type):
        check = class_attribute(type(kinds), "__instancecheck__")
        if isinstance(check, types.FunctionType) and not interp.is_native(check, kinds):
            return interp.truth(interp.call(check, [kinds, value], {}))
    return isinstance(value, kinds)


@_handles(type)
def _type(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].is_symbolic and args[0].type.weak is not None:
        return args[0].type.weak
    if len(args) == 1 and isinstance(args[0], LazyText):
        return str
    return type(*args, **kwargs)


@_handles(super)
def _super(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if args:
        return super(*args)
    frame = interp.frame
    names = frame.decoded.slot_names
    if "__class__" not in names:
        raise RuntimeError("super(): __class__ cell not found")
    cls = frame.slots[names.index("__class__")].cell_contents
    first = frame.slots[0]
    return super(cls, first.cell_contents if isinstance(first, types.CellType) else first)


@_handles(Tensor.item)
def _item(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if len(args) == 1 and interp.is_runtime(tensor) and tensor.dtype.category < 3:
        return as_number(tensor, (bool, int, float)[tensor.dtype.category])
    return tensor.item(*args[1:])


@_handles(sys.exc_info)
def _exc_info(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    frame: Frame | None = interp.frame
    while frame is not None and frame.exception is None:
        frame = frame.caller
    if frame is None:
        return (None, None, None)
    found = frame.exception
    assert found is not None
    return (type(found), found, found.__traceback__)


@_handles(sys.exception)
def _exception(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return _exc_info(interp, args, kwargs)[1]


@_handles(globals)
def _globals(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.frame.globals


@_handles(locals)
def _locals(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.local_variables()


_NUMBERS = {
    operator.add: 0, operator.and_: 1, operator.floordiv: 2, operator.lshift: 3, operator.matmul: 4, operator.mul: 5,
    operator.mod: 6, operator.or_: 7, operator.pow: 8, operator.rshift: 9, operator.sub: 10, operator.truediv: 11,
    operator.xor: 12,
}  # fmt: skip


def _binary_function(number: int) -> Handler:
    return lambda interp, args, kwargs: interp.binary(number, *args)


for _function, _number_of in _NUMBERS.items():
    _TABLE[_function] = _binary_function(_number_of)


def _refused(name: str, do: str) -> Handler:
    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise Unsupported(Refusal.IMPURE_CALL, f"{name}() cannot be part of a graph", do)

    return handler


for _name in ("input", "open", "exec", "eval", "compile", "breakpoint", "__import__", "vars"):
    _TABLE[getattr(builtins, _name)] = _refused(_name, "call it outside the compiled function")

_TABLE[reversed] = lambda interp, args, kwargs: (
    interp.call(own, args, {})
    if (own := interp.user_method(args[0], "__reversed__")) is not None
    else SequenceIterator(interp.journal, list(reversed(args[0])))
)
