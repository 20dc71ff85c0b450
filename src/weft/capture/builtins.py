"""Builtins that need more than a native call: they take callbacks, iterate, ask for truth, or read the frame."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import re
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft import context, dtypes
from weft.capture import arithmetic
from weft.capture.access import MISSING, class_attribute, impostor
from weft.capture.frame import UNBOUND, Lazy
from weft.capture.gate import Reads
from weft.capture.iterators import (
    SKIP,
    CallIterator,
    MapIterator,
    RestartingIterator,
    ReverseIterator,
    SequenceIterator,
    SymbolicRange,
    ZipIterator,
)
from weft.capture.journal import EMPTY_CELL, Journaled, cell_value
from weft.capture.lazytext import LazyText
from weft.capture.numbers import ObjectId
from weft.capture.texts import texted
from weft.core.choice import Choice, class_of
from weft.core.choice import refuse as refuse_choice
from weft.core.dispatch import CAST, apply
from weft.core.number import GraphNumber
from weft.core.run_number import KINDS, RunNumber, settled
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ops.select import where

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

Handler = Callable[[Any, list[Any], dict[str, Any]], Any]
_TABLE: Final[dict[Any, Handler]] = {}
_HASHABLE: Final = (type, types.BuiltinFunctionType, types.FunctionType, types.WrapperDescriptorType)
_ADDRESS: Final = re.compile(" at 0x([0-9a-fA-F]+)")


def handler_for(callee: Any) -> Handler | None:
    """The handler of a builtin or a library function, None if it has none."""
    return _TABLE.get(callee) if is_identified(callee) else None


def is_identified(callee: Any) -> bool:
    """Whether tables of callables can be asked for one: its hash is its identity, and no code of the user's."""
    return isinstance(callee, _HASHABLE) and not isinstance(type(callee).__hash__, types.FunctionType)


def handles(*callees: Any) -> Callable[[Handler], Handler]:
    """Declare a function to be the handler of some callables."""

    def register(handler: Handler) -> Handler:
        for callee in callees:
            if callee in _TABLE:
                raise ValueError(f"two handlers for {callee!r}")
            _TABLE[callee] = handler
        return handler

    return register


# -- numbers -------------------------------------------------------------------------------------------------------


def _number(kind: type, *methods: str) -> Handler:
    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and not kwargs:
            (value,) = args
            if interp.is_of_graph(value) and kind is not complex:
                return arithmetic.converted(kind, value)
            for method in methods:
                own = interp.user_method(value, method)
                if own is not None:
                    return _checked(kind, value, method, interp.call(own, [value], {}))
                if class_attribute(type(value), method) is not MISSING:
                    break
        return interp.natively((), kind, *settled(args), **settled(kwargs))

    return handler


def _checked(function: Any, obj: Any, method: str, result: Any) -> Any:
    """What a builtin makes of the result of the special method that it calls, its checks included."""
    return function(impostor(obj, **{method: lambda *_: result}))


_TABLE[int] = _number(int, "__int__", "__index__", "__trunc__")
_TABLE[float] = _number(float, "__float__", "__index__")
_TABLE[complex] = _number(complex, "__complex__", "__float__", "__index__")


@handles(bool)
def _bool(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.truth(args[0]) if len(args) == 1 else bool(*args, **kwargs)


#: functions of one number that a graph computes as Python does
_ROUNDING: Final = (abs, round, math.floor, math.ceil, math.trunc)


def _special(function: Any, method: str) -> Handler:
    """A builtin that is a call of a special method and a check of what it returns."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args and not kwargs:
            if function is repr and type(args[0]) is GraphNumber:
                return LazyText.of(args[0], "!r")
            own = interp.user_method(args[0], method)
            if own is not None:
                result = interp.call(own, args, kwargs)
                if isinstance(result, (Tensor, LazyText)) or function in (abs, round):
                    return result
                return _checked(function, args[0], method, settled(result))
            if isinstance(args[0], Journaled) and function is not hash:
                _refuse_look(args[0], f"{function.__name__}()")
        if function is repr:
            return refuse_addresses(interp, texted(interp, args, function, *args, **kwargs))
        if function is not len:
            args, kwargs = settled(args), settled(kwargs)
        return interp.natively(args, function, *args, **kwargs)

    return handler


def refuse_addresses(interp: Interpreter, text: Any) -> Any:
    """Refuse a text with the address of an object made in the capture, which will have another one."""
    if isinstance(text, LazyText):
        for part in text.parts:
            if isinstance(part, str):
                refuse_addresses(interp, part)
        return text
    if " at 0x" in text and any(int(found, 16) in interp.created for found in _ADDRESS.findall(text)):
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "a text shows the address of an object that is made in the compiled function",
            "give its class a __repr__",
        )
    return text


def _refuse_look(iterator: Any, what: str) -> None:
    kind = iterator.stands_for.__name__
    raise Unsupported(
        Refusal.UNSUPPORTED_SYNTAX,
        f"{what} of a {kind} is taken while capturing, which has iterators of its own",
        "use the items, not the iterator",
    )


for _function, _method in (
    (abs, "__abs__"), (round, "__round__"), (hash, "__hash__"), (repr, "__repr__"),
    (dir, "__dir__"), (bytes, "__bytes__"),
):  # fmt: skip
    _TABLE[_function] = _special(_function, _method)


@handles(format)
def _format(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.format(args[0], args[1] if len(args) > 1 else "")


@handles(divmod)
def _divmod(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    left, right = args
    if any(map(arithmetic.is_graph_number, args)) and all(map(arithmetic.is_number, args)):
        return arithmetic.binary(divmod, left, right)
    if all(interp.user_method(v, m) is None for v in args for m in ("__divmod__", "__rdivmod__")):
        return divmod(settled(left), settled(right))
    return interp.binary_by(divmod, "__divmod__", "__rdivmod__", left, right)


_LEN = _special(len, "__len__")


@handles(len)
def _len(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    for value in args:
        interp.sources.length(value)
    return _LEN(interp, args, kwargs)


@handles(Tensor)
def _tensor(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    number: Any = args[0] if args else None
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if len(args) > 2 or kwargs.keys() - {"dtype"}:
        return interp.construct(Tensor, args, kwargs)
    array = interp.array_input(number)
    if array is not None:
        return array if wanted is None else apply(CAST, (array,), (dtypes.of(wanted),))
    if not issubclass(type(number), RunNumber):
        return interp.construct(Tensor, settled(args), settled(kwargs))
    dtype = dtypes.of_python(number.kind) if wanted is None else dtypes.of(wanted)
    value = number.operand(dtype)
    return apply(CAST, (value,), (dtype,)) if isinstance(value, Tensor) else Tensor(value, dtype)


@handles(Tensor.from_numpy)
def _from_numpy(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    array = interp.array_input(args[0]) if len(args) == 1 and type(args[0]) is np.ndarray else None
    return Tensor.from_numpy(*args, **kwargs) if array is None else array


@handles(context.get_context)
def _get_context(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    found = context.get_context(*args, **kwargs)
    interp.sources.setting(context.get_context, args, kwargs, found)
    return found


@handles(pow)
def _pow(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.binary(8, *args) if len(args) == 2 and not kwargs else pow(*settled(args), **settled(kwargs))


@handles(str)
def _str(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not kwargs:
        return text_of(interp, args[0])
    return interp.natively((), str, *settled(args), **settled(kwargs))


def text_of(interp: Interpreter, value: Any) -> Any:
    """`str(value)`; with symbolic tensors in it, a text that is completed when the graph runs."""
    if isinstance(value, LazyText):
        return value
    if type(value) is GraphNumber:
        return LazyText.of(value)
    if issubclass(type(value), RunNumber):
        value = value.constant()
    if isinstance(value, Journaled):
        _refuse_look(value, "str()")
    for method, default in (("__str__", object.__str__), ("__repr__", object.__repr__)):
        own = interp.user_method(value, method)
        if own is not None:
            result = interp.call(own, [value], {})
            return result if isinstance(result, LazyText) else _checked(str, value, method, result)
        if class_attribute(type(value), method) is not default:
            break
    return refuse_addresses(interp, texted(interp, (value,), str, value))


# -- iteration -----------------------------------------------------------------------------------------------------


@handles(range)
def _range(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if any(map(interp.is_of_graph, args)) and all(map(_is_bound, args)):
        bounds = [arithmetic.converted(int, a) if interp.is_of_graph(a) else settled(a) for a in args]
        start, stop, step = (
            (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else tuple(bounds)
        )
        if type(step) is GraphNumber:
            raise Unsupported(
                Refusal.TENSOR_VALUE, "the step of a range is only known when the graph runs", "use a constant step"
            )
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        return SymbolicRange(start, stop, step)
    return interp.natively((), range, *settled(args), **settled(kwargs))


def _is_bound(value: Any) -> bool:
    """Whether a value can be a bound of a range."""
    if isinstance(value, Tensor):
        return value.dtype.category <= 1 and value.size == 1
    return arithmetic.is_number(value) and arithmetic.kind_of(value) is not float


@handles(iter)
def _iter(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1:
        made = interp.python_iter(args[0])
        if isinstance(made, Journaled) or interp.user_method(made, "__next__") is not None or made is args[0]:
            return made
        return interp.get_iter(interp.made(made))
    function, sentinel = args
    if not callable(function):
        return iter(function, sentinel)

    def compute() -> tuple[bool, Any]:
        value = interp.call(function, [], {})
        equal = interp.truth(interp.compare("==", value, sentinel))
        return not equal, value

    return CallIterator(interp.journal, compute)


@handles(next)
def _next(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    iterator = args[0]
    own = interp.user_method(iterator, "__next__")
    if own is None and not isinstance(iterator, Journaled) and hasattr(type(iterator), "__next__"):
        iterator = interp.get_iter(iterator)
    try:
        return interp.call(own, [iterator], {}) if own is not None else next(iterator)
    except StopIteration:
        if len(args) > 1:
            return args[1]
        raise


@handles(zip)
def _zip(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return ZipIterator(interp.journal, [interp.get_iter(a) for a in args], bool(kwargs.get("strict")))


@handles(map)
def _map(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, *iterables = args
    parts = ZipIterator(interp.journal, [interp.get_iter(i) for i in iterables], False)
    return MapIterator(
        interp.journal,
        map,
        lambda _, items: interp.call(function, list(items), {}),
        parts,
        lambda made: (map, function, *parts.parts),
    )


@handles(filter)
def _filter(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args

    def keep(_: int, item: Any) -> Any:
        chosen = interp.truth(item if function is None else interp.call(function, [item], {}))
        return item if chosen else SKIP

    return MapIterator(
        interp.journal, filter, keep, interp.get_iter(iterable), lambda made: (filter, function, made.part)
    )


@handles(sorted)
def _sorted(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    items = list(interp.listed(args[0]))
    key = kwargs.get("key")
    compared = items if key is None else None
    interp.natively(compared, items.sort, key=interp.callback(key), reverse=kwargs.get("reverse", False))
    return interp.made(items)


@handles(sum)
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
            if type(truth) is bool:
                if truth is stop_at:
                    return stop_at
                continue
            decided = truth if stop_at else arithmetic.negated(truth)
            pending = decided if pending is None else arithmetic.disjunction(pending, decided)
        if pending is None:
            return not stop_at
        return pending if stop_at else arithmetic.negated(pending)

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
            if type(better) is not bool:
                if key is not None:
                    better = bool(better)  # refuses: which object wins is only known when the graph runs
                best = best_key = _choose(better, item, best)
            elif better:
                best, best_key = item, item_key
        return best

    return handler


def _choose(condition: GraphNumber, first: Any, second: Any) -> Any:
    """The first of two values where a condition holds, else the second; they must be of one kind."""
    kinds = [arithmetic.kind_of(v) if arithmetic.is_number(v) else None for v in (first, second)]
    if kinds == [None, None]:
        return where(condition.tensor, first, second)
    if kinds[0] is not kinds[1]:
        return condition.constant()  # refuses: of which kind the result is depends on the graph
    return arithmetic.number(where(condition.tensor, *map(arithmetic.tensor_of, (first, second))), kinds[0])  # type: ignore[arg-type]


_TABLE[min] = _extreme(min, "<")
_TABLE[max] = _extreme(max, ">")


@handles(operator.length_hint)
def _length_hint(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    plain = args and type(args[0]) in (SequenceIterator, ReverseIterator)
    by_item = plain and getattr(args[0], "item", operator.getitem) not in (operator.getitem, list.__getitem__)
    if args and isinstance(args[0], Journaled) and (not plain or by_item):
        _refuse_look(args[0], "length_hint()")
    return interp.natively((), operator.length_hint, *args, **kwargs)


@handles(operator.contains)
def _contains(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or kwargs:
        return operator.contains(*args, **kwargs)  # Python's own error
    return interp.contains(*args)


def _container(kind: Any) -> Handler:
    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1:
            if kind is dict and interp.get_attr_or_none(args[0], "keys") is not None:
                args = [interp.mapping(args[0])]
            elif kind is dict:
                args = [[_pair(interp, item) for item in interp.iterate(args[0])]]
            elif kind in (list, tuple):
                args = [interp.listed(args[0])]
            elif not issubclass(type(args[0]), (set, frozenset, dict)):
                args = [[interp.gate.read(Reads.ALL, item) for item in interp.iterate(args[0])]]
            else:
                args = [interp.iterate(args[0])]
        return interp.made(interp.natively(() if kind in (list, tuple) else args, kind, *args, **kwargs))

    return handler


def _pair(interp: Interpreter, item: Any) -> Any:
    """A key with its value, of which a dictionary is made."""
    interp.gate.read(Reads.ITEMS, item)
    if type(item) in (tuple, list) and len(item) == 2 and issubclass(type(item[0]), RunNumber):
        return settled(item[0]), item[1]
    return item


for _kind in (list, tuple, set, frozenset, dict):
    _TABLE[_kind] = _container(_kind)


@handles(functools.reduce)
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


@handles(itertools.starmap)
def _starmap(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    function, iterable = args
    return MapIterator(
        interp.journal,
        itertools.starmap,
        lambda _, items: interp.call(function, list(interp.get_iter(items)), {}),
        interp.get_iter(iterable),
    )


# -- objects -------------------------------------------------------------------------------------------------------


@handles(getattr)
def _getattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return interp.get_attr(args[0], args[1])
    except AttributeError:
        if len(args) > 2:
            return args[2]
        raise


@handles(hasattr)
def _hasattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> bool:
    try:
        interp.get_attr(args[0], args[1])
    except AttributeError:
        return False
    return True


@handles(setattr)
def _setattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    interp.set_attr(*args)


@handles(delattr)
def _delattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    interp.delete_attr(*args)


@handles(object.__setattr__)
def _object_setattr(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> None:
    obj, name, value = args
    if issubclass(type(obj), type):
        object.__setattr__(obj, name, value)  # raises Python's own error
    interp.set_attr_plainly(obj, name, value)


@handles(isinstance)
def _isinstance(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    value, kinds = args
    interp.sources.inside(kinds)
    if issubclass(type(value), RunNumber):
        value = value.kind()
    if isinstance(value, LazyText):
        return isinstance("", kinds)
    if type(value) is Choice and isinstance(kinds, type) and issubclass(kinds, Tensor):
        return value.__weft_isinstance__(kinds)
    if isinstance(value, Journaled):
        return interp.truth(interp.call(issubclass, [value.stands_for, kinds], {}))
    if isinstance(kinds, type):
        check = class_attribute(type(kinds), "__instancecheck__")
        if isinstance(check, types.FunctionType) and not interp.is_native(check, kinds):
            return interp.truth(interp.call(check, [kinds, value], {}))
    return isinstance(value, kinds)


@handles(type)
def _type(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and issubclass(type(args[0]), RunNumber):
        return args[0].kind
    if len(args) == 1 and isinstance(args[0], LazyText):
        return str
    if len(args) == 1 and type(args[0]) is Choice:
        return class_of(args[0])
    if len(args) == 1 and isinstance(args[0], Journaled):
        return args[0].stands_for
    if len(args) == 3 and isinstance(args[2], dict) and "__module__" not in args[2]:
        # the class notes the module of the frame that makes it, which is the captured one
        args = [*args[:2], {**args[2], "__module__": interp.frame.globals.get("__name__")}]
    made = type(*args, **kwargs)
    return made if len(args) == 1 else interp.made(made)


@handles(builtins.__build_class__)
def _build_class(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.made(builtins.__build_class__(*args, **kwargs))


@handles(super)
def _super(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if args:
        return super(*args)
    frame = interp.frame
    decoded = frame.decoded
    if not decoded.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    first = interp.resolve(frame, 0) if type(frame.slots[0]) is Lazy else frame.slots[0]
    if decoded.slot_names[0] in decoded.cell_names:
        first = cell_value(first)
    if first is UNBOUND or first is EMPTY_CELL:
        raise RuntimeError("super(): arg[0] deleted")
    if "__class__" not in decoded.free_names:
        raise RuntimeError("super(): __class__ cell not found")
    cls = cell_value(frame.slots[decoded.slot_names.index("__class__")])
    if cls is EMPTY_CELL:
        raise RuntimeError("super(): empty __class__ cell")
    return super(cls, first)


@handles(Tensor.item)
def _item(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if len(args) == 1 and interp.is_runtime(tensor) and tensor.dtype.category < 3:
        return arithmetic.converted(KINDS[tensor.dtype.category], tensor)
    return tensor.item(*settled(args[1:]))


@handles(sys.exc_info)
def _exc_info(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    found = interp.handled(interp.frame)
    return (None, None, None) if found is None else (type(found), found, found.__traceback__)


@handles(sys.exception)
def _exception(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return _exc_info(interp, args, kwargs)[1]


@handles(globals)
def _globals(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    namespace = interp.frame.globals
    interp.sources.root(namespace, interp.sources.name(namespace, "globals"))
    return namespace


@handles(locals)
def _locals(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return interp.made(interp.local_variables())


@handles(vars)
def _vars(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not args:
        return interp.made(interp.local_variables())
    try:
        return interp.get_attr(args[0], "__dict__")
    except AttributeError:
        return vars(0)  # raises Python's own error


_NUMBERS = {
    operator.add: 0, operator.and_: 1, operator.floordiv: 2, operator.lshift: 3, operator.matmul: 4, operator.mul: 5,
    operator.mod: 6, operator.or_: 7, operator.pow: 8, operator.rshift: 9, operator.sub: 10, operator.truediv: 11,
    operator.xor: 12,
}  # fmt: skip


def _binary_function(number: int) -> Handler:
    return lambda interp, args, kwargs: interp.binary(number, *args)


def _rounding(function: Any, before: Handler | None) -> Handler:
    """A function of one number that a graph computes; any other argument is for `before`, or for native code."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and not kwargs and type(args[0]) is GraphNumber:
            return arithmetic.unary(function, args[0])
        return interp.call_native(function, args, kwargs) if before is None else before(interp, args, kwargs)

    return handler


for _one in _ROUNDING:
    _TABLE[_one] = _rounding(_one, _TABLE.get(_one))


for _operator, _number_of in _NUMBERS.items():
    _TABLE[_operator] = _binary_function(_number_of)


def refused(name: str, do: str) -> Handler:
    """A handler that refuses the call, and says what to do instead."""

    def handler(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise Unsupported(Refusal.IMPURE_CALL, f"{name}() cannot be part of a graph", do)

    return handler


@handles(reversed)
def _reversed(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    (sequence,) = args
    own = interp.user_method(sequence, "__reversed__")
    if own is not None:
        return interp.call(own, args, {})
    if type(sequence) in (list, tuple, str):
        return ReverseIterator(interp.journal, sequence)
    if type(sequence) in (dict, range):
        return RestartingIterator(interp.journal, sequence, reversed)
    if isinstance(sequence, Journaled):
        _refuse_look(sequence, "reversed()")
    by_index = interp.user_method(sequence, "__len__") or interp.user_method(sequence, "__getitem__")
    if class_attribute(type(sequence), "__reversed__") is None or class_attribute(type(sequence), "__len__") is MISSING:
        return reversed(sequence)  # Python's own error
    if by_index and class_attribute(type(sequence), "__getitem__") is MISSING:
        return reversed(sequence)
    if by_index and class_attribute(type(sequence), "__reversed__") is MISSING:
        length = interp.call(len, [sequence], {})
        return SequenceIterator(interp.journal, sequence, length, lambda over, i: interp.get_item(over, length - 1 - i))
    return interp.get_iter(interp.made(reversed(sequence)))


@handles(id)
def _id(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    (obj,) = args
    if type(obj) is Choice:
        refuse_choice("its id() is asked for")
    known = interp.sources.is_known(obj)
    made = not known and (isinstance(obj, Tensor) or id(obj) in interp.created)
    if (known and isinstance(obj, Tensor)) or (made and not interp.frame.transparent):
        return ObjectId.of(obj)
    if known and not interp.frame.transparent:
        expression = interp.sources.known[id(obj)][1]
        path = interp.sources.path(expression)
        return interp.sources.numbers.base(f"{interp.sources.name(id, 'object')}({expression})", id(obj), f"id({path})")
    if not (known or made or interp.frame.transparent):
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "id() of a passing object cannot be part of a graph",
            "compare with `is`, or use the object as the key",
        )
    return id(obj)


#: builtin -> (least, most positional arguments, names of keyword arguments) that its handler understands
_SHAPES: Final[dict[Any, tuple[int, int, frozenset[str]]]] = {
    **dict.fromkeys(
        (bool, abs, hash, len, repr, dir, reversed, tuple, list, set, frozenset, sys.exc_info, globals, locals, vars),
        (0, 1, frozenset()),
    ),
    **dict.fromkeys((divmod, hasattr, delattr, isinstance), (2, 2, frozenset())),
    bytes: (0, 3, frozenset({"encoding", "errors"})),
    round: (1, 2, frozenset({"ndigits"})),
    format: (1, 2, frozenset()),
    iter: (1, 2, frozenset()),
    next: (1, 2, frozenset()),
    range: (1, 3, frozenset()),
    zip: (0, sys.maxsize, frozenset({"strict"})),
    map: (2, sys.maxsize, frozenset()),
    filter: (2, 2, frozenset()),
    itertools.starmap: (2, 2, frozenset()),
    functools.reduce: (2, 3, frozenset()),
    sorted: (1, 1, frozenset({"key", "reverse"})),
    sum: (1, 2, frozenset({"start"})),
    any: (1, 1, frozenset()),
    all: (1, 1, frozenset()),
    min: (1, sys.maxsize, frozenset({"key", "default"})),
    max: (1, sys.maxsize, frozenset({"key", "default"})),
    getattr: (2, 3, frozenset()),
    setattr: (3, 3, frozenset()),
    id: (1, 1, frozenset()),
}
#: those whose arguments cannot be absent although their shape allows it
_NEVER_EMPTY: Final = (abs, hash, len, repr, reversed)


def _shaped(callee: Any, handler: Handler) -> Handler:
    """A handler that leaves arguments which do not fit to the builtin itself, for the error that they deserve."""
    least, most, names = _SHAPES[callee]
    if callee in _NEVER_EMPTY:
        least = 1

    def checked(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if least <= len(args) <= most and kwargs.keys() <= names:
            return handler(interp, args, kwargs)
        return interp.natively((), callee, *args, **kwargs)

    return checked


for _callee in _SHAPES:
    _TABLE[_callee] = _shaped(_callee, _TABLE[_callee])


@handles(enumerate)
def _enumerate(interp: Interpreter, args: list[Any], kwargs: dict[str, Any]) -> Any:
    names = ("iterable", "start")[len(args) :]
    if len(args) > 2 or not kwargs.keys() <= set(names) or not (args or "iterable" in kwargs):
        return enumerate(*args, **kwargs)
    given = {**dict(zip(("iterable", "start"), args, strict=False)), **kwargs}
    first = interp.natively((), operator.index, given.get("start", 0))
    part = interp.get_iter(given["iterable"])
    return MapIterator(
        interp.journal,
        enumerate,
        lambda i, item: (first + i, item),
        part,
        lambda made: (enumerate, made.part, first + made.count),
    )
