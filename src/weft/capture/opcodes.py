"""What each canonical instruction does to a frame. Handlers move the stack; meaning lives in `calls` and `access`."""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

from weft.capture import access
from weft.capture.frame import NULL, UNBOUND, Fork, Frame, MaybeUnbound, cell_value
from weft.capture.handlers import handles
from weft.capture.isa import Instr
from weft.capture.journal import EMPTY_CELL
from weft.capture.lazytext import LazyText

if TYPE_CHECKING:
    from weft.capture.interpreter import Interpreter

# -- names and constants -------------------------------------------------------------------------------------------


@handles("LOAD_CONST")
def _load_const(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(instr.arg)


@handles("LOAD_FAST")
def _load_fast(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = frame.slots[instr.arg]
    if value.__class__ is MaybeUnbound:
        return _maybe_unbound(frame, instr, value)
    if value is UNBOUND:
        _unbound(frame, instr)
    frame.stack.append(value)
    return None


def _maybe_unbound(frame: Frame, instr: Instr, variable: MaybeUnbound) -> Fork:
    """Read a variable that is bound on some paths only: on the others, Python's own error."""
    following = frame.pc

    def bound() -> int:
        frame.slots[instr.arg] = variable.value
        frame.stack.append(variable.value)
        return following

    def unbound() -> int:
        frame.slots[instr.arg] = UNBOUND
        _unbound(frame, instr)
        return following

    return Fork(variable.bound, bound, unbound, following, following)


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
def _delete_fast(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    if frame.slots[instr.arg] is UNBOUND:
        _unbound(frame, instr)
    frame.slots[instr.arg] = UNBOUND


def _unbound(frame: Frame, instr: Instr) -> None:
    name = frame.decoded.slot_names[instr.arg]
    raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


@handles("LOAD_DEREF")
def _load_deref(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    cell = frame.slots[instr.arg]
    value = cell_value(cell)
    if value is EMPTY_CELL:
        name = frame.decoded.slot_names[instr.arg]
        if name in frame.decoded.free_names:
            raise NameError(
                f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            )
        _unbound(frame, instr)
    frame.stack.append(interp.read_cell(cell, value))


@handles("STORE_DEREF")
def _store_deref(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    cell = frame.slots[instr.arg]
    value, old = frame.stack.pop(), cell_value(cell)
    if old is not EMPTY_CELL and interp.depends_on_old(old, value):
        interp.read_cell(cell, old)
    interp.journal.touch(cell)
    cell.cell_contents = value


@handles("DELETE_DEREF")
def _delete_deref(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    cell = frame.slots[instr.arg]
    interp.journal.touch(cell)
    del cell.cell_contents


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
        interp.read_global(frame, instr.arg)
    interp.journal.touch(frame.globals)
    frame.globals[instr.arg] = value


@handles("DELETE_GLOBAL")
def _delete_global(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    interp.journal.touch(frame.globals)
    try:
        del frame.globals[instr.arg]
    except KeyError:
        raise NameError(f"name '{instr.arg}' is not defined") from None


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
def _binary_op(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    right = frame.stack.pop()
    frame.stack[-1] = interp.binary(instr.arg, frame.stack[-1], right)


@handles("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT")
def _unary(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.unary(instr.name, frame.stack[-1])


@handles("UNARY_NOT")
def _unary_not(interp: Interpreter, frame: Frame, instr: Instr) -> Any:
    value = interp.truth(frame.stack[-1])
    frame.stack[-1] = (not value) if value.__class__ is bool else access.logical_not(value)


@handles("TO_BOOL")
def _to_bool(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.truth(frame.stack[-1])


@handles("COMPARE_OP")
def _compare_op(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    right = frame.stack.pop()
    frame.stack[-1] = interp.compare(instr.arg, frame.stack[-1], right)


@handles("IS_OP")
def _is_op(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    right = frame.stack.pop()
    frame.stack[-1] = (frame.stack[-1] is right) != bool(instr.arg)


@handles("CONTAINS_OP")
def _contains_op(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    container = frame.stack.pop()
    found = interp.contains(container, frame.stack[-1])
    if instr.arg:
        found = (not found) if found.__class__ is bool else access.logical_not(found)
    frame.stack[-1] = found


@handles("BINARY_SUBSCR")
def _binary_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    key = frame.stack.pop()
    frame.stack[-1] = interp.get_item(frame.stack[-1], key)


@handles("STORE_SUBSCR")
def _store_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    key = frame.stack.pop()
    obj = frame.stack.pop()
    interp.set_item(obj, key, frame.stack.pop())


@handles("DELETE_SUBSCR")
def _delete_subscr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    key = frame.stack.pop()
    interp.delete_item(frame.stack.pop(), key)


@handles("BINARY_SLICE")
def _binary_slice(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    frame.stack[-1] = interp.get_item(frame.stack[-1], slice(start, stop))


@handles("STORE_SLICE")
def _store_slice(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    stop = frame.stack.pop()
    start = frame.stack.pop()
    obj = frame.stack.pop()
    interp.set_item(obj, slice(start, stop), frame.stack.pop())


# -- attributes ----------------------------------------------------------------------------------------------------


@handles("LOAD_ATTR")
def _load_attr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.get_attr(frame.stack[-1], instr.arg)


@handles("LOAD_ATTR_METHOD")
def _load_attr_method(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack[-1] = interp.get_attr(frame.stack[-1], instr.arg)
    frame.stack.append(NULL)


@handles("LOAD_SUPER_ATTR")
def _load_super_attr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    name, is_method = instr.arg
    self = frame.stack.pop()
    cls = frame.stack.pop()
    kind = frame.stack.pop()
    made = kind(cls, self) if kind is super else interp.call(kind, [cls, self], {})
    frame.stack.append(interp.get_attr(made, name))
    if is_method:
        frame.stack.append(NULL)


@handles("STORE_ATTR")
def _store_attr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    obj = frame.stack.pop()
    interp.set_attr(obj, instr.arg, frame.stack.pop())


@handles("DELETE_ATTR")
def _delete_attr(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    interp.delete_attr(frame.stack.pop(), instr.arg)


@handles("IMPORT_NAME")
def _import_name(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    fromlist = frame.stack.pop()
    level = frame.stack.pop()
    frame.stack.append(builtins.__import__(instr.arg, frame.globals, None, fromlist, level))


@handles("IMPORT_FROM")
def _import_from(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    module = frame.stack[-1]
    try:
        frame.stack.append(getattr(module, instr.arg))
    except AttributeError:
        raise ImportError(f"cannot import name {instr.arg!r} from {module.__name__!r}") from None


# -- building ------------------------------------------------------------------------------------------------------


@handles("BUILD_TUPLE")
def _build_tuple(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(tuple(frame.take(instr.arg)))


@handles("BUILD_LIST")
def _build_list(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(interp.made(frame.take(instr.arg)))


@handles("BUILD_SET")
def _build_set(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.append(interp.made(set(frame.take(instr.arg))))


@handles("BUILD_MAP")
def _build_map(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.take(2 * instr.arg)
    frame.stack.append(interp.made(dict(zip(values[::2], values[1::2], strict=True))))


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
    set.add(target, value)


@handles("MAP_ADD")
def _map_add(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    key = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    dict.__setitem__(target, key, value)


@handles("LIST_EXTEND")
def _list_extend(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    try:
        target.extend(interp.iterate(values))
    except TypeError:
        if hasattr(values, "__iter__") or hasattr(values, "__getitem__"):
            raise
        raise TypeError(f"Value after * must be an iterable, not {type(values).__name__}") from None


@handles("SET_UPDATE")
def _set_update(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    target.update(interp.iterate(values))


@handles("DICT_UPDATE")
def _dict_update(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    if not hasattr(values, "keys"):
        raise TypeError(f"'{type(values).__name__}' object is not a mapping")
    target.update(values)


@handles("DICT_MERGE")
def _dict_merge(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    values = frame.stack.pop()
    target = frame.stack[-instr.arg]
    interp.journal.touch(target)
    if not hasattr(values, "keys"):
        raise TypeError(f"argument after ** must be a mapping, not {type(values).__name__}")
    for key in values.keys():  # noqa: SIM118 - any mapping, as the language says
        if key in target:
            raise TypeError(f"got multiple values for keyword argument '{key}'")
        target[key] = values[key]


@handles("UNPACK_SEQUENCE")
def _unpack_sequence(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    frame.stack.extend(reversed(access.unpack(interp, frame.stack.pop(), instr.arg)))


@handles("UNPACK_EX")
def _unpack_ex(interp: Interpreter, frame: Frame, instr: Instr) -> None:
    before, after = instr.arg & 0xFF, instr.arg >> 8
    frame.stack.extend(reversed(access.unpack_starred(interp, frame.stack.pop(), before, after)))


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
