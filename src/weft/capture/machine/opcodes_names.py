"""Instructions that read and write local variables, closure variables and globals."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from weft.capture.code.instructions import Instr
from weft.capture.machine.handlers import handles
from weft.capture.python.classes import MISSING
from weft.capture.python.exceptions import unbound_local
from weft.capture.state.frame import UNBOUND, Fork, Frame, Lazy, MaybeUnbound
from weft.capture.state.journal import EMPTY_CELL, cell_value
from weft.core.run_number import settled

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine


@handles("LOAD_FAST")
def _load_fast(machine: Machine, frame: Frame, instr: Instr) -> Any:
    value = frame.slots[instr.arg]
    if type(value) is MaybeUnbound:
        return _maybe_unbound(frame, instr, value)
    if type(value) is Lazy:
        value = machine.resolve(frame, instr.arg)
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


def _taken_over(machine: Machine, frame: Frame, instr: Instr) -> Any:
    """What a variable holds, for a place other than a plain variable: only those may hold what nobody has read."""
    value = frame.slots[instr.arg]
    return machine.resolve(frame, instr.arg) if type(value) is Lazy else value


@handles("LOAD_CLOSURE")
def _load_closure(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(_taken_over(machine, frame, instr))


@handles("MAKE_CELL")
def _make_cell(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = _taken_over(machine, frame, instr)
    frame.slots[instr.arg] = machine.made(types.CellType() if value is UNBOUND else types.CellType(value))


@handles("LOAD_FAST_AND_CLEAR")
def _load_fast_and_clear(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(_taken_over(machine, frame, instr))
    frame.slots[instr.arg] = UNBOUND


@handles("STORE_FAST", "STORE_FAST_MAYBE_NULL")
def _store_fast(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.slots[instr.arg] = frame.stack.pop()


@handles("DELETE_FAST")
def _delete_fast(machine: Machine, frame: Frame, instr: Instr) -> Any:
    value = frame.slots[instr.arg]
    if type(value) is MaybeUnbound:
        return _maybe_unbound(frame, instr, value)
    if value is UNBOUND:
        _unbound(frame, instr)
    frame.slots[instr.arg] = UNBOUND
    return None


def _unbound(frame: Frame, instr: Instr) -> None:
    name = frame.decoded.slot_names[instr.arg]
    raise unbound_local(name)


@handles("LOAD_DEREF")
def _load_deref(machine: Machine, frame: Frame, instr: Instr) -> Any:
    cell, value = frame.slots[instr.arg], _held(machine, frame, instr)
    if type(value) is Fork:
        return value
    frame.stack.append(machine.objects.read_cell(cell, value, frame.decoded.slot_names[instr.arg]))
    return None


def _held(machine: Machine, frame: Frame, instr: Instr) -> Any:
    """What a closure variable holds, or the decision whether it is bound; raises where it is not."""
    value = cell_value(frame.slots[instr.arg])
    if type(value) is MaybeUnbound:
        return _maybe_empty(machine, frame, instr, value)
    if value is EMPTY_CELL:
        _unbound_cell(machine, frame, instr)
    return value


def _maybe_empty(machine: Machine, frame: Frame, instr: Instr, variable: MaybeUnbound) -> Fork:
    """Decide whether a variable in a cell is bound, then execute the instruction again."""
    place, cell = frame.pc - 1, frame.slots[instr.arg]

    def bound() -> int:
        machine.journal.touch(cell)
        cell.cell_contents = variable.value
        return place

    def unbound() -> int:
        machine.journal.touch(cell)
        del cell.cell_contents
        return place

    return Fork(variable.bound, bound, unbound, place, place)


def _unbound_cell(machine: Machine, frame: Frame, instr: Instr) -> None:
    name = frame.decoded.slot_names[instr.arg]
    machine.sources.is_bound(frame.slots[instr.arg], False, name)
    if name in frame.decoded.free_names:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope",
            name=name,
        )
    _unbound(frame, instr)


@handles("STORE_DEREF")
def _store_deref(machine: Machine, frame: Frame, instr: Instr) -> None:
    cell = frame.slots[instr.arg]
    value, old = frame.stack.pop(), cell_value(cell)
    if type(old) is not MaybeUnbound:
        old = MISSING if old is EMPTY_CELL else old
        machine.objects.read_old(cell, None, old, value, lambda held: machine.objects.read_cell(cell, held))
    machine.journal.touch(cell)
    cell.cell_contents = value


@handles("DELETE_DEREF")
def _delete_deref(machine: Machine, frame: Frame, instr: Instr) -> Any:
    cell, value = frame.slots[instr.arg], _held(machine, frame, instr)
    if type(value) is Fork:
        return value
    machine.sources.is_bound(cell, True, frame.decoded.slot_names[instr.arg])
    machine.journal.touch(cell)
    del cell.cell_contents
    return None


# -- the body of a class -------------------------------------------------------------------------------------------


@handles("LOAD_NAME")
def _load_name(machine: Machine, frame: Frame, instr: Instr) -> None:
    held = _named(frame, instr.arg)
    frame.stack.append(machine.objects.read_global(frame, instr.arg) if held is MISSING else held)


@handles("STORE_NAME")
def _store_name(machine: Machine, frame: Frame, instr: Instr) -> None:
    assert frame.names is not None
    value = settled(frame.stack.pop())  # what makes the class takes it as it is
    machine.journal.touch(frame.names)
    frame.names[instr.arg] = value


@handles("DELETE_NAME")
def _delete_name(machine: Machine, frame: Frame, instr: Instr) -> None:
    assert frame.names is not None
    if instr.arg not in frame.names:
        raise NameError(f"name '{instr.arg}' is not defined", name=instr.arg)
    machine.journal.touch(frame.names)
    del frame.names[instr.arg]


@handles("LOAD_LOCALS")
def _load_locals(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(frame.names)


@handles("SETUP_ANNOTATIONS")
def _setup_annotations(machine: Machine, frame: Frame, instr: Instr) -> None:
    assert frame.names is not None
    if "__annotations__" not in frame.names:
        machine.journal.touch(frame.names)
        frame.names["__annotations__"] = machine.made({})


@handles("LOAD_CLASSDEREF")
def _load_class_deref(machine: Machine, frame: Frame, instr: Instr) -> Any:
    held = _named(frame, frame.decoded.slot_names[instr.arg])
    if held is MISSING:
        return _load_deref(machine, frame, instr)
    frame.stack.append(held)
    return None


@handles("LOAD_FROM_DICT_OR_DEREF")
def _load_from_dict_or_deref(machine: Machine, frame: Frame, instr: Instr) -> Any:
    frame.stack.pop()
    return _load_class_deref(machine, frame, instr)


@handles("LOAD_FROM_DICT_OR_GLOBALS")
def _load_from_dict_or_globals(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.pop()
    _load_name(machine, frame, instr)


def _named(frame: Frame, name: str) -> Any:
    """What the body of a class has under a name."""
    return MISSING if frame.names is None else frame.names.get(name, MISSING)


# -- globals -------------------------------------------------------------------------------------------------------


@handles("LOAD_GLOBAL")
def _load_global(machine: Machine, frame: Frame, instr: Instr) -> None:
    frame.stack.append(machine.objects.read_global(frame, instr.arg))


@handles("STORE_GLOBAL")
def _store_global(machine: Machine, frame: Frame, instr: Instr) -> None:
    value = frame.stack.pop()
    if not frame.transparent:
        held, name = frame.globals, instr.arg
        read = lambda old: machine.sources.global_(held, name, old)  # noqa: E731
        machine.objects.read_old(held, name, held.get(name, MISSING), value, read)
    machine.sources.globals_written(frame.globals)
    machine.journal.touch(frame.globals)
    frame.globals[instr.arg] = value


@handles("DELETE_GLOBAL")
def _delete_global(machine: Machine, frame: Frame, instr: Instr) -> None:
    machine.sources.is_defined(frame.globals, instr.arg, instr.arg in frame.globals)
    if instr.arg not in frame.globals:
        raise NameError(f"name '{instr.arg}' is not defined", name=instr.arg)
    machine.sources.globals_written(frame.globals)
    machine.journal.touch(frame.globals)
    del frame.globals[instr.arg]
