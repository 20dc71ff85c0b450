"""Builtins that need more than a native call: they take callbacks, iterate, ask for truth, or read the frame."""

from __future__ import annotations

import math
import re
import sys
import types
from typing import TYPE_CHECKING, Any, Final

from weft import context, dtypes
from weft.capture.meaning import arithmetic
from weft.capture.meaning.class_statements import refuse_hooks
from weft.capture.meaning.impostors import impostor
from weft.capture.meaning.iterators import refuse_look
from weft.capture.meaning.ranges import SymbolicRange
from weft.capture.meaning.table import TWO_OPERANDS, Handler, handles, refused
from weft.capture.meaning.texts import texted
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.sources.known import SCALARS
from weft.capture.sources.numbers import ObjectId, is_open
from weft.capture.state.frame import UNBOUND, Lazy
from weft.capture.state.journal import EMPTY_CELL, Journaled, cell_value
from weft.capture.state.lazytext import LazyText
from weft.core.choice import Choice, class_of
from weft.core.choice import refuse as refuse_choice
from weft.core.dispatch import CAST, apply
from weft.core.number import GraphNumber
from weft.core.run_number import KINDS, RunNumber, settled
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported
from weft.ops import random
from weft.parallel import algorithms, communication

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine
_ADDRESS: Final = re.compile(" at 0x([0-9a-fA-F]+)")


# -- numbers -------------------------------------------------------------------------------------------------------


def _number(kind: type, *methods: str) -> Handler:
    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and not kwargs:
            (value,) = args
            if machine.objects.is_of_graph(value) and kind is not complex:
                return arithmetic.converted(kind, value)
            for method in methods:
                own = machine.objects.user_method(value, method)
                if own is not None:
                    return _checked(kind, value, method, machine.calls.call(own, [value], {}))
                if class_attribute(type(value), method) is not MISSING:
                    break
        return machine.native.call((), kind, *settled(args), **settled(kwargs))

    return handler


def _checked(function: Any, obj: Any, method: str, result: Any) -> Any:
    """What a builtin makes of the result of the special method that it calls, its checks included."""
    return function(impostor(obj, **{method: lambda *_: result}))


handles(int)(_number(int, "__int__", "__index__", "__trunc__"))
handles(float)(_number(float, "__float__", "__index__"))
handles(complex)(_number(complex, "__complex__", "__float__", "__index__"))


@handles(bool)
def _bool(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return machine.objects.truth(args[0]) if len(args) == 1 else bool(*args, **kwargs)


#: functions of one number that a graph computes as Python does
_ROUNDING: Final = (abs, round, math.floor, math.ceil, math.trunc)


def _special(function: Any, method: str) -> Handler:
    """A builtin that is a call of a special method and a check of what it returns."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args and not kwargs:
            if function is repr and (type(args[0]) is GraphNumber or is_open(args[0])):
                return LazyText.of(args[0], "!r")
            own = machine.objects.user_method(args[0], method)
            if own is not None:
                result = machine.calls.call(own, args, kwargs)
                if isinstance(result, (Tensor, LazyText)) or function in _ROUNDING:
                    return result
                return _checked(function, args[0], method, settled(result))
            if isinstance(args[0], Journaled) and function is not hash:
                refuse_look(args[0], f"{function.__name__}()")
        if function is repr:
            return refuse_addresses(machine, texted(machine, args, function, *args, **kwargs))
        if function is not len:
            args, kwargs = settled(args), settled(kwargs)
        return machine.native.call(args, function, *args, **kwargs)

    return handler


def refuse_addresses(machine: Machine, text: Any) -> Any:
    """Refuse a text with the address of an object made in the capture, which will have another one."""
    if isinstance(text, LazyText):
        for part in text.parts:
            if isinstance(part, str):
                refuse_addresses(machine, part)
        return text
    if " at 0x" in text and any(int(found, 16) in machine.created for found in _ADDRESS.findall(text)):
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "a text shows the address of an object that is made in the compiled function",
            "give its class a __repr__",
        )
    return text


def _rounding(function: Any, before: Handler | None) -> Handler:
    """A function of one number that a graph computes; any other argument is for `before`, or for native code."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and not kwargs and type(args[0]) is GraphNumber:
            return arithmetic.unary(function, args[0])
        return machine.natives.call(function, args, kwargs) if before is None else before(machine, args, kwargs)

    return handler


for _function, _method in (
    (abs, "__abs__"), (round, "__round__"), (hash, "__hash__"), (repr, "__repr__"),
    (bytes, "__bytes__"),
):  # fmt: skip
    _handler = _special(_function, _method)
    handles(_function)(_rounding(_function, _handler) if _function in _ROUNDING else _handler)


@handles(format)
def _format(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return machine.objects.format(args[0], args[1] if len(args) > 1 else "")


#: arguments of the instruction BINARY_OP
_FLOOR_DIVIDE: Final = 2
_REMAINDER: Final = 6


@handles(divmod)
def _divmod(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    left, right = args
    if any(map(arithmetic.is_graph_number, args)) and all(map(arithmetic.is_number, args)):
        return arithmetic.binary(divmod, left, right)
    if is_open(left) and type(right) in (int, float) and right:
        return machine.objects.binary(_FLOOR_DIVIDE, left, right), machine.objects.binary(_REMAINDER, left, right)
    if all(machine.objects.user_method(v, m) is None for v in args for m in ("__divmod__", "__rdivmod__")):
        return divmod(settled(left), settled(right))
    return machine.objects.binary_by(divmod, "__divmod__", "__rdivmod__", left, right)


_LEN = _special(len, "__len__")


@handles(len)
def _len(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not kwargs and type(args[0]) in (list, tuple, dict, set, frozenset):
        return machine.sources.counted(args[0])
    if len(args) == 1 and type(args[0]) is SymbolicRange:
        return args[0].length()
    if len(args) == 1 and issubclass(type(args[0]), Tensor) and args[0].type.is_open:
        return args[0].shape[0]
    for value in args:
        machine.sources.length(value)
    return _LEN(machine, args, kwargs)


@handles(Tensor)
def _tensor(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    number: Any = args[0] if args else None
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if len(args) > 2 or kwargs.keys() - {"dtype"}:
        return machine.calls.construct(Tensor, args, kwargs)
    array = machine.arrays.array_input(number)
    if array is not None:
        return array if wanted is None else apply(CAST, (array,), (dtypes.of(wanted),))
    if not issubclass(type(number), RunNumber):
        return machine.calls.construct(Tensor, settled(args), settled(kwargs))
    dtype = dtypes.of_python(number.kind) if wanted is None else dtypes.of(wanted)
    value = number.operand(dtype)
    return apply(CAST, (value,), (dtype,)) if isinstance(value, Tensor) else Tensor(value, dtype)


@handles(Tensor.from_numpy)
def _from_numpy(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    raise Unsupported(
        Refusal.IMPURE_CALL,
        "Tensor.from_numpy makes a tensor on the memory of an array, which the program may write at any time",
        "copy the array: Tensor(array)",
    )


def _setting(get: Any) -> Handler:
    """A function that reads a setting of the process."""

    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        found = get(*args, **kwargs)
        machine.sources.setting(get, args, kwargs, found)
        return found

    return handler


for _get in (context.get_context, random.get_seed):
    handles(_get)(_setting(_get))
handles(random.set_seed)(refused("set_seed", "set the seed outside the compiled function"))
for _set in (
    context.set_context, context.set_auto_parallel_context, context.reset_auto_parallel_context, context.set_ps_context,
    context.reset_ps_context, communication.init, communication.release, communication.create_group,
    communication.destroy_group, algorithms.set_algo_parameters, algorithms.reset_algo_parameters,
):  # fmt: skip
    handles(_set)(refused(_set.__name__, "change settings outside the compiled function"))


@handles(pow)
def _pow(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 2 and not kwargs:
        return machine.objects.binary(8, *args)
    return machine.native.call(args, pow, *settled(args), **settled(kwargs))


@handles(str)
def _str(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and not kwargs:
        return text_of(machine, args[0])
    return machine.native.call((), str, *settled(args), **settled(kwargs))


def text_of(machine: Machine, value: Any) -> Any:
    """`str(value)`; with symbolic tensors in it, a text that is completed when the graph runs."""
    if isinstance(value, LazyText):
        return value
    if type(value) is GraphNumber or is_open(value):
        return LazyText.of(value)
    if issubclass(type(value), RunNumber):
        value = value.constant()
    if isinstance(value, Journaled):
        refuse_look(value, "str()")
    for method, default in (("__str__", object.__str__), ("__repr__", object.__repr__)):
        own = machine.objects.user_method(value, method)
        if own is not None:
            result = machine.calls.call(own, [value], {})
            return result if isinstance(result, LazyText) else _checked(str, value, method, result)
        if class_attribute(type(value), method) is not default:
            break
    return refuse_addresses(machine, texted(machine, (value,), str, value))


# -- objects -------------------------------------------------------------------------------------------------------


@handles(getattr)
def _getattr(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return machine.attributes.get_attr(args[0], args[1])
    except AttributeError:
        if len(args) > 2:
            return args[2]
        raise


@handles(hasattr)
def _hasattr(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> bool:
    try:
        machine.attributes.get_attr(args[0], args[1])
    except AttributeError:
        return False
    return True


@handles(setattr)
def _setattr(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    machine.attributes.set_attr(*args)


@handles(delattr)
def _delattr(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    machine.attributes.delete_attr(*args)


@handles(object.__setattr__)
def _object_setattr(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> None:
    obj, name, value = args
    if issubclass(type(obj), type):
        object.__setattr__(obj, name, value)  # raises Python's own error
    machine.attributes.set_attr_plainly(obj, name, value)


@handles(isinstance)
def _isinstance(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    value, kinds = args
    machine.sources.inside(kinds)
    if issubclass(type(value), RunNumber):
        value = value.kind()
    if isinstance(value, LazyText):
        return isinstance("", kinds)
    if type(value) is Choice and isinstance(kinds, type) and issubclass(kinds, Tensor):
        return value.__weft_isinstance__(kinds)
    if isinstance(value, Journaled):
        return machine.objects.truth(machine.calls.call(issubclass, [value.stands_for, kinds], {}))
    if isinstance(kinds, type):
        check = class_attribute(type(kinds), "__instancecheck__")
        if isinstance(check, types.FunctionType) and not machine.calls.is_native(check, kinds):
            return machine.objects.truth(machine.calls.call(check, [kinds, value], {}))
    found = isinstance(value, kinds)
    machine.sources.instance(value, kinds, found)
    return found


@handles(type)
def _type(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
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
        args = [*args[:2], {**args[2], "__module__": machine.frame.globals.get("__name__")}]
    if len(args) == 1:
        return type(*args, **kwargs)
    if len(args) == 3 and isinstance(args[1], tuple) and isinstance(args[2], dict):
        refuse_hooks(args[1], args[2])
    return machine.made(type(*args, **kwargs))


@handles(super)
def _super(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if args:
        return super(*args)
    frame = machine.frame
    decoded = frame.decoded
    if not decoded.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    first = machine.resolve(frame, 0) if type(frame.slots[0]) is Lazy else frame.slots[0]
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
def _item(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if len(args) == 1 and machine.is_runtime(tensor) and tensor.dtype.category < 3 and tensor.size == 1:
        return arithmetic.converted(KINDS[tensor.dtype.category], tensor)
    return tensor.item(*settled(args[1:]))


@handles(sys.exc_info)
def _exc_info(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    found = machine.handled(machine.frame)
    return (None, None, None) if found is None else (type(found), found, found.__traceback__)


@handles(sys.exception)
def _exception(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return _exc_info(machine, args, kwargs)[1]


@handles(globals)
def _globals(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    namespace = machine.frame.globals
    machine.sources.root(namespace, machine.sources.name(namespace, "globals"))
    return namespace


@handles(locals)
def _locals(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return machine.local_variables()


@handles(vars)
def _vars(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not args:
        return machine.local_variables()
    try:
        return machine.attributes.get_attr(args[0], "__dict__")
    except AttributeError:
        return vars(0)  # raises Python's own error


def _binary_function(number: int) -> Handler:
    return lambda machine, args, kwargs: machine.objects.binary(number, *args)


for _one, _method in ((math.floor, "__floor__"), (math.ceil, "__ceil__"), (math.trunc, "__trunc__")):
    handles(_one)(_rounding(_one, _special(_one, _method)))


for _place, _operator in enumerate(TWO_OPERANDS):
    handles(_operator)(_binary_function(_place))


@handles(id)
def _id(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    (obj,) = args
    if type(obj) is Choice:
        refuse_choice("its id() is asked for")
    known = machine.sources.is_known(obj)
    made = not known and (isinstance(obj, Tensor) or id(obj) in machine.created)
    ours = str(machine.frame.globals.get("__name__")).startswith("weft.")
    copying = machine.frame.transparent and not ours  # its memo leaves where a copy is left half way
    if copying or (known and isinstance(obj, Tensor)) or (made and not ours):
        return ObjectId.of(obj)
    if known and not machine.frame.transparent:
        expression = machine.sources.known[id(obj)][1]
        path = machine.sources.path(expression)
        return machine.sources.numbers.base(
            f"{machine.sources.name(id, 'object')}({expression})", id(obj), f"id({path})"
        )
    if type(obj) in SCALARS and machine.sources.place(obj) is not None:
        machine.sources.itself(obj)
    elif not (known or made or machine.frame.transparent):
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "id() of a passing object cannot be part of a graph",
            "compare with `is`, or use the object as the key",
        )
    return id(obj)
