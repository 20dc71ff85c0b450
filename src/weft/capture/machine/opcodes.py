"""What each canonical instruction does to a frame. Handlers move the stack; meaning lives in `calls` and `access`."""

from __future__ import annotations

import builtins
import contextlib
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft.capture.code.instructions import Instr
from weft.capture.machine.handlers import handles
from weft.capture.meaning import arithmetic, iteration, methods, operators, table
from weft.capture.meaning.gate import Reads
from weft.capture.python.containers import items_of
from weft.capture.python.exceptions import function_text
from weft.capture.python.namespaces import absolute_name, imported_from
from weft.capture.state.frame import NULL, Await, Frame
from weft.capture.state.lazytext import LazyText
from weft.core.choice import same
from weft.core.number import GraphNumber
from weft.core.run_number import RunNumber, settled
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

# -- names and constants -------------------------------------------------------------------------------------------


@handles("LOAD_CONST")
def _load_const(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(instr.arg)


@handles("LOAD_BUILD_CLASS")
def _load_build_class(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(builtins.__build_class__)


@handles("LOAD_ASSERTION_ERROR")
def _load_assertion_error(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(AssertionError)


# -- stack ---------------------------------------------------------------------------------------------------------


@handles("POP_TOP", "END_FOR")
def _pop_top(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.pop()


@handles("PUSH_NULL")
def _push_null(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(NULL)


@handles("COPY")
def _copy(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(frame.stack[-instr.arg])


@handles("SWAP")
def _swap(machine: Machine, frame: Frame, instr: Instr) -> None:
    stack, n = frame.stack, instr.arg
    stack[-1], stack[-n] = stack[-n], stack[-1]


# -- operators -----------------------------------------------------------------------------------------------------


@handles("BINARY_OP")
def _binary_op(machine: Machine, frame: Frame, instr: Instr) -> Any:
    right, left = frame.stack.pop(), frame.stack.pop()
    entered = operators.binary(machine, instr.arg, left, right)
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(machine.objects.binary(instr.arg, left, right))
    return None


@handles("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT")
def _unary(machine: Machine, frame: Frame, instr: Instr) -> Any:
    value = frame.stack.pop()
    entered = operators.unary(machine, instr.name, value)
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(machine.objects.unary(instr.name, value))
    return None


@handles("UNARY_NOT")
def _unary_not(machine: Machine, frame: Frame, instr: Instr) -> Any:
    value = machine.objects.truth(frame.stack[-1])
    frame.stack[-1] = (not value) if type(value) is bool else arithmetic.negated(value)


@handles("TO_BOOL")
def _to_bool(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = machine.objects.truth(frame.stack[-1])


@handles("COMPARE_OP")
def _compare_op(machine: Machine, frame: Frame, instr: Instr) -> Any:
    right, left = frame.stack.pop(), frame.stack.pop()
    entered = operators.comparison(machine, instr.arg, left, right)
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(machine.objects.compare(instr.arg, left, right))
    return None


def _by_identity(function: Any) -> Any:
    def handler(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
        found = _is_same(machine, *args) if len(args) == 2 and not kwargs else function(*args, **kwargs)
        if function is operator.is_not:
            return (not found) if type(found) is bool else arithmetic.negated(found)
        return found

    return table.handles(function)(handler)


_IS: Final = tuple(map(_by_identity, (operator.is_, operator.is_not)))


@handles("IS_OP")
def _is_op(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack[-2:] = [_IS[instr.arg](machine, frame.stack[-2:], {})]


def _is_same(machine: Machine, left: Any, right: Any) -> Any:
    """`left is right`, of which only bools have one object for each value."""
    if isinstance(left, np.number) and isinstance(right, np.number):  # guarded by value, or not at all
        raise Unsupported(Refusal.TENSOR_VALUE, "whether two numbers of NumPy are one object is asked", "use ==")
    if issubclass(type(left), RunNumber) or issubclass(type(right), RunNumber):
        if left is right:
            return True
        if not (arithmetic.is_number(left) and arithmetic.is_number(right)):
            return False
        kinds = arithmetic.kind_of(left), arithmetic.kind_of(right)
        if kinds == (bool, bool):
            return machine.objects.compare("==", left, right)
        if kinds[0] is not kinds[1]:
            return False
        left, right = settled(left), settled(right)
    steps = [machine.journal.births.get(id(side)) for side in (left, right) if id(side) in machine.trace.merged]
    if steps and left is not right and type(left) is type(right):
        refusal = Unsupported(Refusal.TENSOR_CONDITION, "which of two objects this is depends on a tensor")
        refusal.whole, refusal.step = None in steps, min((step for step in steps if step is not None), default=None)
        raise refusal
    if left is right:
        machine.sources.itself(left)
    found = same(left, right, machine.sources.distinct)
    return found if type(found) is bool else GraphNumber(bool, found)


@handles("CONTAINS_OP")
def _contains_op(machine: Machine, frame: Frame, instr: Instr) -> Any:
    container, item = frame.stack.pop(), frame.stack.pop()
    entered = operators.membership(machine, container, item, bool(instr.arg))
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    found = machine.objects.contains(container, item)
    if instr.arg:
        found = (not found) if type(found) is bool else arithmetic.negated(found)
    frame.stack.append(found)
    return None


@handles("BINARY_SUBSCR")
def _binary_subscr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    return _get_item(machine, frame, frame.stack.pop(), key)


def _get_item(machine: Machine, frame: Frame, obj: Any, key: Any) -> Any:
    entered = methods.of_item(machine, "__getitem__", obj, key)
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(machine.objects.get_item(obj, key))
    return None


def _set_item(machine: Machine, frame: Frame, obj: Any, key: Any, value: Any) -> Any:
    entered = methods.of_item(machine, "__setitem__", obj, key, value)
    if entered is not None:
        return machine.calls.end_by(frame, Await.NOTHING, *entered, {})
    machine.objects.set_item(obj, key, value)
    return None


@handles("STORE_SUBSCR")
def _store_subscr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    obj = frame.stack.pop()
    return _set_item(machine, frame, obj, key, frame.stack.pop())


@handles("DELETE_SUBSCR")
def _delete_subscr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    obj = frame.stack.pop()
    entered = methods.of_item(machine, "__delitem__", obj, key)
    if entered is not None:
        return machine.calls.end_by(frame, Await.NOTHING, *entered, {})
    machine.objects.delete_item(obj, key)
    return None


@handles("BINARY_SLICE")
def _binary_slice(machine: Machine, frame: Frame, instr: Instr) -> Any:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    return _get_item(machine, frame, frame.stack.pop(), slice(start, stop))


@handles("STORE_SLICE")
def _store_slice(machine: Machine, frame: Frame, instr: Instr) -> Any:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    obj = frame.stack.pop()
    return _set_item(machine, frame, obj, slice(start, stop), frame.stack.pop())


# -- attributes ----------------------------------------------------------------------------------------------------


@handles("LOAD_ATTR")
def _load_attr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.getter(machine, obj, instr.arg)
    if entered is not None:
        return machine.calls.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(machine.attributes.get_attr(obj, instr.arg))
    return None


@handles("LOAD_ATTR_METHOD")
def _load_attr_method(machine: Machine, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.getter(machine, obj, instr.arg)
    if entered is not None:
        return machine.calls.end_by(frame, Await.CALLABLE, *entered, {})
    frame.stack += (machine.attributes.get_attr(obj, instr.arg), NULL)
    return None


@handles("LOAD_SUPER_ATTR")
def _load_super_attr(machine: Machine, frame: Frame, instr: Instr) -> None:
    name, is_method, two_arguments = instr.arg
    self = frame.stack.pop()
    cls = frame.stack.pop()
    kind = frame.stack.pop()
    made = kind(cls, self) if kind is super else machine.calls.call(kind, [cls, self] if two_arguments else [], {})
    frame.stack.append(machine.attributes.get_attr(made, name))
    if is_method:
        frame.stack.append(NULL)


@handles("STORE_ATTR")
def _store_attr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    value = frame.stack.pop()
    entered = methods.setter(machine, obj, instr.arg, value)
    if entered is not None:
        return machine.calls.end_by(frame, Await.NOTHING, *entered, {})
    machine.attributes.set_attr(obj, instr.arg, value)
    return None


@handles("DELETE_ATTR")
def _delete_attr(machine: Machine, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.deleter(machine, obj, instr.arg)
    if entered is not None:
        return machine.calls.end_by(frame, Await.NOTHING, *entered, {})
    machine.attributes.delete_attr(obj, instr.arg)
    return None


#: what an import calls, unless the program puts another function in its place
_IMPORT: Final = builtins.__import__


@handles("IMPORT_NAME")
def _import_name(machine: Machine, frame: Frame, instr: Instr) -> None:
    fromlist = frame.stack.pop()
    level = frame.stack.pop()
    if frame.builtins.get("__import__") is not _IMPORT:
        why = f"{instr.arg} is imported by a function in the place of __import__"
        raise Unsupported(Refusal.IMPURE_CALL, why, "import it outside the compiled function")
    try:
        module = _IMPORT(instr.arg, frame.globals, None, fromlist, level)
    except ImportError as error:
        why = f"the import of {instr.arg} fails, and may not do so in the next call"
        raise Unsupported(Refusal.IMPURE_CALL, why, "import it outside the compiled function") from error
    machine.sources.imported(absolute_name(instr.arg, level, frame.globals), frame.builtins)
    frame.stack.append(module)


@handles("IMPORT_FROM")
def _import_from(machine: Machine, frame: Frame, instr: Instr) -> None:
    module = frame.stack[-1]
    with contextlib.suppress(AttributeError):
        frame.stack.append(machine.attributes.get_attr(module, instr.arg))
        return
    frame.stack.append(imported_from(module, instr.arg))
    machine.sources.imported(f"{module.__name__}.{instr.arg}", frame.builtins)


# -- building ------------------------------------------------------------------------------------------------------


@handles("BUILD_TUPLE")
def _build_tuple(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(tuple(frame.take(instr.arg)))


@handles("BUILD_LIST")
def _build_list(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(machine.made(frame.take(instr.arg)))


@handles("BUILD_SET")
def _build_set(machine: Machine, frame: Frame, instr: Instr) -> None:
    items = [machine.gate.read(Reads.ALL, item) for item in frame.take(instr.arg)]
    frame.stack.append(machine.made(machine.native.call(items, set, items)))


@handles("BUILD_MAP")
def _build_map(machine: Machine, frame: Frame, instr: Instr) -> None:
    values = frame.take(2 * instr.arg)
    keys = [machine.gate.read(Reads.ALL, key) for key in values[::2]]
    frame.stack.append(machine.made(machine.native.call(keys, dict, zip(keys, values[1::2], strict=True))))


@handles("BUILD_CONST_KEY_MAP")
def _build_const_key_map(machine: Machine, frame: Frame, instr: Instr) -> None:
    keys = frame.stack.pop()
    frame.stack.append(machine.made(dict(zip(keys, frame.take(instr.arg), strict=True))))


@handles("BUILD_STRING")
def _build_string(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(LazyText.join(frame.take(instr.arg)))


@handles("BUILD_SLICE")
def _build_slice(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(slice(*frame.take(instr.arg)))


@handles("LIST_TO_TUPLE")
def _list_to_tuple(machine: Machine, frame: Frame, instr: Instr) -> None:
    machine.sources.contents(frame.stack[-1])
    frame.stack[-1] = tuple(frame.stack[-1])


@handles("LIST_APPEND")
def _list_append(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    list.append(target, value)


@handles("SET_ADD")
def _set_add(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    value = machine.gate.read(Reads.ALL, value)
    machine.native.call((value,), set.add, target, value)


@handles("MAP_ADD")
def _map_add(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    key = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    key = machine.gate.read(Reads.ALL, key)
    machine.native.call((key,), dict.__setitem__, target, key, value)


@handles("LIST_EXTEND")
def _list_extend(machine: Machine, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    if not machine.iteration.is_iterable(values):
        raise TypeError(f"Value after * must be an iterable, not {type(values).__name__}")
    target.extend(machine.iteration.listed(values))


@handles("SET_UPDATE")
def _set_update(machine: Machine, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    items = machine.iteration.hashed(values)
    machine.native.call((items,), target.update, items)


@handles("DICT_UPDATE")
def _dict_update(machine: Machine, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    try:
        items = machine.iteration.mapping(values)
    except AttributeError:
        raise TypeError(f"'{type(values).__name__}' object is not a mapping") from None
    machine.native.call(items, target.update, items)


@handles("DICT_MERGE")
def _dict_merge(machine: Machine, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    machine.journal.touch(target)
    function = next(f for f in frame.stack[-instr.arg - 3 : -instr.arg - 1] if f is not NULL)
    try:
        items = machine.iteration.mapping(values)
    except AttributeError:
        kind = type(values).__name__
        raise TypeError(f"{function_text(function)} argument after ** must be a mapping, not {kind}") from None
    for key, value in items_of(items):
        if key in target:
            raise TypeError(f"{function_text(function)} got multiple values for keyword argument '{key}'")
        target[key] = value


@handles("UNPACK_SEQUENCE")
def _unpack_sequence(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.extend(reversed(iteration.unpack(machine, frame.stack.pop(), instr.arg)))


@handles("UNPACK_EX")
def _unpack_ex(machine: Machine, frame: Frame, instr: Instr) -> None:
    before, after = instr.arg & 0xFF, instr.arg >> 8
    frame.stack.extend(reversed(iteration.unpack_starred(machine, frame.stack.pop(), before, after)))


@handles("FORMAT_VALUE")
def _format_value(machine: Machine, frame: Frame, instr: Instr) -> None:
    conversion, with_spec = instr.arg
    spec = frame.stack.pop() if with_spec else ""
    value = frame.stack[-1]
    if conversion is not None:
        value = machine.calls.call(conversion, [value], {})
    frame.stack[-1] = machine.objects.format(value, spec)


@handles("CONVERT_VALUE")
def _convert_value(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = machine.calls.call(instr.arg, [frame.stack[-1]], {})
