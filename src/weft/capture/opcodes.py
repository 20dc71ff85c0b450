"""What each canonical instruction does to a frame. Handlers move the stack; meaning lives in `calls` and `access`."""

from __future__ import annotations

import builtins
import contextlib
import types
from typing import TYPE_CHECKING, Any

from weft.capture import arithmetic, iteration, methods, operators
from weft.capture.containers import items_of
from weft.capture.exceptions import function_text
from weft.capture.frame import NULL, UNBOUND, Await, Fork, Frame, Lazy, MaybeUnbound
from weft.capture.gate import Reads
from weft.capture.handlers import handles
from weft.capture.isa import Instr
from weft.capture.journal import EMPTY_CELL, cell_value
from weft.capture.lazytext import LazyText
from weft.core.choice import same
from weft.core.number import GraphNumber
from weft.core.run_number import RunNumber, settled

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

# -- names and constants -------------------------------------------------------------------------------------------


@handles("LOAD_CONST")
def _load_const(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(instr.arg)


@handles("LOAD_FAST")
def _load_fast(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = frame.slots[instr.arg]
    if type(value) is MaybeUnbound:
        return _maybe_unbound(frame, instr, value)
    if type(value) is Lazy:
        value = interp.resolve(frame, instr.arg)
    if value is UNBOUND:
        _unbound(frame, instr)
    frame.stack.append(value)
    return None


def _maybe_unbound(frame: Frame, instr: Instr, variable: MaybeUnbound) -> Fork:
    """Decide whether a variable is bound, then execute the instruction again."""
    place = frame.pc - 1

    def bound() -> int:
        frame.slots[instr.arg] = variable.value
        return place

    def unbound() -> int:
        frame.slots[instr.arg] = UNBOUND
        return place

    return Fork(variable.bound, bound, unbound, place, place)


@handles("LOAD_CLOSURE")
def _load_closure(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(frame.slots[instr.arg])


@handles("MAKE_CELL")
def _make_cell(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.slots[instr.arg]
    frame.slots[instr.arg] = interp.made(types.CellType() if value is UNBOUND else types.CellType(value))


@handles("LOAD_FAST_AND_CLEAR")
def _load_fast_and_clear(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(frame.slots[instr.arg])
    frame.slots[instr.arg] = UNBOUND


@handles("STORE_FAST", "STORE_FAST_MAYBE_NULL")
def _store_fast(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.slots[instr.arg] = frame.stack.pop()


@handles("DELETE_FAST")
def _delete_fast(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = frame.slots[instr.arg]
    if type(value) is MaybeUnbound:
        return _maybe_unbound(frame, instr, value)
    if value is UNBOUND:
        _unbound(frame, instr)
    frame.slots[instr.arg] = UNBOUND
    return None


def _unbound(frame: Frame, instr: Instr) -> None:
    name = frame.decoded.slot_names[instr.arg]
    raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


@handles("LOAD_DEREF")
def _load_deref(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    cell = frame.slots[instr.arg]
    value = cell_value(cell)
    if type(value) is MaybeUnbound:
        return _maybe_empty(interp, frame, instr, value)
    if value is EMPTY_CELL:
        _unbound_cell(frame, instr)
    frame.stack.append(interp.read_cell(cell, value, frame.decoded.slot_names[instr.arg]))
    return None


def _maybe_empty(interp: Interpreter, frame: Frame, instr: Instr, variable: MaybeUnbound) -> Fork:
    """Decide whether a variable in a cell is bound, then execute the instruction again."""
    place, cell = frame.pc - 1, frame.slots[instr.arg]

    def bound() -> int:
        interp.journal.touch(cell)
        cell.cell_contents = variable.value
        return place

    def unbound() -> int:
        interp.journal.touch(cell)
        del cell.cell_contents
        return place

    return Fork(variable.bound, bound, unbound, place, place)


def _unbound_cell(frame: Frame, instr: Instr) -> None:
    name = frame.decoded.slot_names[instr.arg]
    if name in frame.decoded.free_names:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope",
            name=name,
        )
    _unbound(frame, instr)


@handles("STORE_DEREF")
def _store_deref(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    cell = frame.slots[instr.arg]
    value, old = frame.stack.pop(), cell_value(cell)
    if old is not EMPTY_CELL and type(old) is not MaybeUnbound and interp.depends_on_old(old, value):
        with interp.sources.constants():
            interp.read_cell(cell, old)
    interp.journal.touch(cell)
    cell.cell_contents = value


@handles("DELETE_DEREF")
def _delete_deref(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    cell = frame.slots[instr.arg]
    value = cell_value(cell)
    if type(value) is MaybeUnbound:
        return _maybe_empty(interp, frame, instr, value)
    if value is EMPTY_CELL:
        _unbound_cell(frame, instr)
    interp.journal.touch(cell)
    del cell.cell_contents
    return None


@handles("LOAD_GLOBAL")
def _load_global(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(interp.read_global(frame, instr.arg))


@handles("LOAD_NAME")
def _load_name(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(interp.read_global(frame, instr.arg))


@handles("STORE_GLOBAL")
def _store_global(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    if instr.arg in frame.globals and interp.depends_on_old(frame.globals[instr.arg], value):
        with interp.sources.constants():
            interp.read_global(frame, instr.arg)
    interp.journal.touch(frame.globals)
    frame.globals[instr.arg] = value


@handles("DELETE_GLOBAL")
def _delete_global(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    if instr.arg not in frame.globals:
        raise NameError(f"name '{instr.arg}' is not defined", name=instr.arg)
    interp.journal.touch(frame.globals)
    del frame.globals[instr.arg]


@handles("LOAD_BUILD_CLASS")
def _load_build_class(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(builtins.__build_class__)


@handles("LOAD_ASSERTION_ERROR")
def _load_assertion_error(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(AssertionError)


# -- stack ---------------------------------------------------------------------------------------------------------


@handles("POP_TOP", "END_FOR")
def _pop_top(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.pop()


@handles("PUSH_NULL")
def _push_null(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(NULL)


@handles("COPY")
def _copy(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(frame.stack[-instr.arg])


@handles("SWAP")
def _swap(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    stack, n = frame.stack, instr.arg
    stack[-1], stack[-n] = stack[-n], stack[-1]


# -- operators -----------------------------------------------------------------------------------------------------


@handles("BINARY_OP")
def _binary_op(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    right, left = frame.stack.pop(), frame.stack.pop()
    entered = operators.binary(interp, instr.arg, left, right)
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(interp.binary(instr.arg, left, right))
    return None


@handles("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT")
def _unary(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = frame.stack.pop()
    entered = operators.unary(interp, instr.name, value)
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(interp.unary(instr.name, value))
    return None


@handles("UNARY_NOT")
def _unary_not(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = interp.truth(frame.stack[-1])
    frame.stack[-1] = (not value) if type(value) is bool else arithmetic.negated(value)


@handles("TO_BOOL")
def _to_bool(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.truth(frame.stack[-1])


@handles("COMPARE_OP")
def _compare_op(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    right, left = frame.stack.pop(), frame.stack.pop()
    entered = operators.comparison(interp, instr.arg, left, right)
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(interp.compare(instr.arg, left, right))
    return None


@handles("IS_OP")
def _is_op(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    right, left = frame.stack.pop(), frame.stack[-1]
    found = _is_same(interp, left, right)
    if instr.arg:
        found = (not found) if type(found) is bool else arithmetic.negated(found)
    frame.stack[-1] = found


def _is_same(interp: Interpreter, left: Any, right: Any) -> Any:
    """`left is right`, of which only bools have one object for each value."""
    if issubclass(type(left), RunNumber) or issubclass(type(right), RunNumber):
        if left is right:
            return True
        if not (arithmetic.is_number(left) and arithmetic.is_number(right)):
            return False
        kinds = arithmetic.kind_of(left), arithmetic.kind_of(right)
        if kinds == (bool, bool):
            return interp.compare("==", left, right)
        if kinds[0] is not kinds[1]:
            return False
        left, right = settled(left), settled(right)
    found = same(left, right, interp.sources.distinct)
    return found if type(found) is bool else GraphNumber(bool, found)


@handles("CONTAINS_OP")
def _contains_op(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    container, item = frame.stack.pop(), frame.stack.pop()
    entered = operators.membership(interp, container, item, bool(instr.arg))
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    found = interp.contains(container, item)
    if instr.arg:
        found = (not found) if type(found) is bool else arithmetic.negated(found)
    frame.stack.append(found)
    return None


@handles("BINARY_SUBSCR")
def _binary_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    return _get_item(interp, frame, frame.stack.pop(), key)


def _get_item(interp: Interpreter, frame: Frame, obj: Any, key: Any) -> Any:
    entered = methods.of_item(interp, "__getitem__", obj, key)
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(interp.get_item(obj, key))
    return None


def _set_item(interp: Interpreter, frame: Frame, obj: Any, key: Any, value: Any) -> Any:
    entered = methods.of_item(interp, "__setitem__", obj, key, value)
    if entered is not None:
        return interp.end_by(frame, Await.NOTHING, *entered, {})
    interp.set_item(obj, key, value)
    return None


@handles("STORE_SUBSCR")
def _store_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    obj = frame.stack.pop()
    return _set_item(interp, frame, obj, key, frame.stack.pop())


@handles("DELETE_SUBSCR")
def _delete_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    key = frame.stack.pop()
    obj = frame.stack.pop()
    entered = methods.of_item(interp, "__delitem__", obj, key)
    if entered is not None:
        return interp.end_by(frame, Await.NOTHING, *entered, {})
    interp.delete_item(obj, key)
    return None


@handles("BINARY_SLICE")
def _binary_slice(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    return _get_item(interp, frame, frame.stack.pop(), slice(start, stop))


@handles("STORE_SLICE")
def _store_slice(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    obj = frame.stack.pop()
    return _set_item(interp, frame, obj, slice(start, stop), frame.stack.pop())


# -- attributes ----------------------------------------------------------------------------------------------------


@handles("LOAD_ATTR")
def _load_attr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.getter(interp, obj, instr.arg)
    if entered is not None:
        return interp.end_by(frame, Await.VALUE, *entered, {})
    frame.stack.append(interp.get_attr(obj, instr.arg))
    return None


@handles("LOAD_ATTR_METHOD")
def _load_attr_method(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.getter(interp, obj, instr.arg)
    if entered is not None:
        return interp.end_by(frame, Await.CALLABLE, *entered, {})
    frame.stack += (interp.get_attr(obj, instr.arg), NULL)
    return None


@handles("LOAD_SUPER_ATTR")
def _load_super_attr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    name, is_method, two_arguments = instr.arg
    self = frame.stack.pop()
    cls = frame.stack.pop()
    kind = frame.stack.pop()
    made = kind(cls, self) if kind is super else interp.call(kind, [cls, self] if two_arguments else [], {})
    frame.stack.append(interp.get_attr(made, name))
    if is_method:
        frame.stack.append(NULL)


@handles("STORE_ATTR")
def _store_attr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    value = frame.stack.pop()
    entered = methods.setter(interp, obj, instr.arg, value)
    if entered is not None:
        return interp.end_by(frame, Await.NOTHING, *entered, {})
    interp.set_attr(obj, instr.arg, value)
    return None


@handles("DELETE_ATTR")
def _delete_attr(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    obj = frame.stack.pop()
    entered = methods.deleter(interp, obj, instr.arg)
    if entered is not None:
        return interp.end_by(frame, Await.NOTHING, *entered, {})
    interp.delete_attr(obj, instr.arg)
    return None


@handles("IMPORT_NAME")
def _import_name(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    fromlist = frame.stack.pop()
    level = frame.stack.pop()
    frame.stack.append(builtins.__import__(instr.arg, frame.globals, None, fromlist, level))


@handles("IMPORT_FROM")
def _import_from(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    module = frame.stack[-1]
    with contextlib.suppress(AttributeError):
        frame.stack.append(interp.get_attr(module, instr.arg))
        return
    names: dict[str, Any] = {"__builtins__": {"__import__": lambda *_: module}}
    exec(compile(f"from _ import {instr.arg} as found", "<import>", "exec"), names)
    frame.stack.append(names["found"])


# -- building ------------------------------------------------------------------------------------------------------


@handles("BUILD_TUPLE")
def _build_tuple(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(tuple(frame.take(instr.arg)))


@handles("BUILD_LIST")
def _build_list(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(interp.made(frame.take(instr.arg)))


@handles("BUILD_SET")
def _build_set(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    items = [interp.gate.read(Reads.ALL, item) for item in frame.take(instr.arg)]
    frame.stack.append(interp.made(interp.natively(items, set, items)))


@handles("BUILD_MAP")
def _build_map(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.take(2 * instr.arg)
    keys = [interp.gate.read(Reads.ALL, key) for key in values[::2]]
    frame.stack.append(interp.made(interp.natively(keys, dict, zip(keys, values[1::2], strict=True))))


@handles("BUILD_CONST_KEY_MAP")
def _build_const_key_map(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    keys = frame.stack.pop()
    frame.stack.append(interp.made(dict(zip(keys, frame.take(instr.arg), strict=True))))


@handles("BUILD_STRING")
def _build_string(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(LazyText.join(frame.take(instr.arg)))


@handles("BUILD_SLICE")
def _build_slice(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(slice(*frame.take(instr.arg)))


@handles("LIST_TO_TUPLE")
def _list_to_tuple(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    interp.sources.contents(frame.stack[-1])
    frame.stack[-1] = tuple(frame.stack[-1])


@handles("LIST_APPEND")
def _list_append(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    list.append(target, value)


@handles("SET_ADD")
def _set_add(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    value = interp.gate.read(Reads.ALL, value)
    interp.natively((value,), set.add, target, value)


@handles("MAP_ADD")
def _map_add(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    key = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    key = interp.gate.read(Reads.ALL, key)
    interp.natively((key,), dict.__setitem__, target, key, value)


@handles("LIST_EXTEND")
def _list_extend(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    if not interp.is_iterable(values):
        raise TypeError(f"Value after * must be an iterable, not {type(values).__name__}")
    target.extend(interp.listed(values))


@handles("SET_UPDATE")
def _set_update(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    items = [interp.gate.read(Reads.ALL, item) for item in interp.iterate(values)]
    interp.natively((items,), target.update, items)


@handles("DICT_UPDATE")
def _dict_update(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    try:
        items = interp.mapping(values)
    except AttributeError:
        raise TypeError(f"'{type(values).__name__}' object is not a mapping") from None
    interp.natively(items, target.update, items)


@handles("DICT_MERGE")
def _dict_merge(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    function = function_text(next(f for f in frame.stack[-instr.arg - 3 : -instr.arg - 1] if f is not NULL))
    try:
        items = interp.mapping(values)
    except AttributeError:
        raise TypeError(f"{function} argument after ** must be a mapping, not {type(values).__name__}") from None
    for key, value in items_of(items):
        if key in target:
            raise TypeError(f"{function} got multiple values for keyword argument '{key}'")
        target[key] = value


@handles("UNPACK_SEQUENCE")
def _unpack_sequence(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.extend(reversed(iteration.unpack(interp, frame.stack.pop(), instr.arg)))


@handles("UNPACK_EX")
def _unpack_ex(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    before, after = instr.arg & 0xFF, instr.arg >> 8
    frame.stack.extend(reversed(iteration.unpack_starred(interp, frame.stack.pop(), before, after)))


@handles("FORMAT_VALUE")
def _format_value(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    conversion, with_spec = instr.arg
    spec = frame.stack.pop() if with_spec else ""
    value = frame.stack[-1]
    if conversion is not None:
        value = interp.call(conversion, [value], {})
    frame.stack[-1] = interp.format(value, spec)


@handles("CONVERT_VALUE")
def _convert_value(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.call(instr.arg, [frame.stack[-1]], {})
