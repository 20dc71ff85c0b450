"""Class statements inside captured code: Python runs their bodies, so what they read is looked at before."""

from __future__ import annotations

import builtins
import dis
import enum
import sys
import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from weft.capture.meaning.table import handles
from weft.capture.python.classes import class_attribute
from weft.capture.python.packages import NATIVE_PACKAGES, TRUSTED_PACKAGES, module_of, module_of_function
from weft.capture.python.users import users_code
from weft.capture.state.journal import EMPTY_CELL, cell_value
from weft.errors import Refusal, Unsupported

if TYPE_CHECKING:
    from weft.capture.meaning.parts import Machine

_READING_CELLS: Final = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_READING: Final = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}) | _READING_CELLS
#: what names and values are for, and nothing that looks into a value or runs code
_PLAIN: Final = frozenset(
    {
        "RESUME", "NOP", "CACHE", "EXTENDED_ARG", "COPY_FREE_VARS", "MAKE_CELL", "LOAD_CONST", "LOAD_CLOSURE",
        "LOAD_FAST", "LOAD_LOCALS", "STORE_NAME", "STORE_DEREF", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE",
        "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "LIST_EXTEND", "RETURN_VALUE", "RETURN_CONST",
        "POP_TOP", "COPY", "SWAP", "PUSH_NULL", "SETUP_ANNOTATIONS", "STORE_SUBSCR", *_READING,
    }
)  # fmt: skip
_OF_METACLASSES: Final = ("__new__", "__init__", "__prepare__")
#: what Python calls when it makes a class
_HOOKS: Final = ("__init_subclass__", *_OF_METACLASSES)
#: what it calls for the members of an enumeration
_OF_MEMBERS: Final = ("__init__", "__new__", "_generate_next_value_", "__set_name__")
_LIBRARIES: Final = NATIVE_PACKAGES | TRUSTED_PACKAGES | sys.stdlib_module_names
_VALUES: Final = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@handles(builtins.__build_class__)
def _build_class(machine: Machine, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if args and type(args[0]) is types.FunctionType:
        body = args[0]
        refuse_hooks((*args[2:], kwargs.get("metaclass")), dict.fromkeys(body.__code__.co_names))
        _read_body(machine, body)
    return machine.made(builtins.__build_class__(*args, **kwargs))


def refuse_hooks(bases: Iterable[Any], namespace: Mapping[str, Any]) -> None:
    """Refuse to make a class where Python calls code of the program's for that.

    Args:
        bases: classes that it is derived from, metaclasses among them.
        namespace: what the class is to hold.

    Raises:
        Unsupported: a base, a metaclass or what the class holds has such code.
    """
    enumerated = False
    for base in bases:
        if not isinstance(base, type):
            hooks = [] if base is None else ["__mro_entries__"]
        else:
            kinds = {base, type(base)}
            enumerated = enumerated or any(issubclass(kind, enum.EnumType) for kind in kinds)
            hooks = [name for kind in kinds for name in _HOOKS if _is_programs(kind, name)]
        if hooks:
            raise _unread(f"{hooks[0]} of {getattr(base, '__name__', base)} takes part in making a class")
    if enumerated and (found := next(filter(namespace.__contains__, _OF_MEMBERS), None)):
        raise _unread(f"{found} takes part in making an enumeration")
    for name, value in namespace.items():
        if _is_programs(type(value), "__set_name__"):
            raise _unread(f"__set_name__ of {name!r} takes part in making a class")


def _is_programs(kind: type, name: str) -> bool:
    """Whether a hook is the program's: a metaclass's own, or that of a class for those derived from it."""
    found = class_attribute(kind, name)
    function = found.__func__ if isinstance(found, classmethod | staticmethod) else found
    if name in _OF_METACLASSES and not issubclass(kind, type):
        return False
    return isinstance(function, types.FunctionType) and not _is_library(function)


def _unread(what: str) -> Unsupported:
    return Unsupported(
        Refusal.UNKNOWN_CALL,
        f"{what}, which Python calls past the capture",
        "make the class outside the compiled function",
    )


def _read_body(machine: Machine, body: types.FunctionType) -> None:
    """Guard the names that the body of a class reads.

    Raises:
        Unsupported: it does more with objects of the program's than to name them.
    """
    code, stored = body.__code__, {"__name__", "__annotations__", "__class__", "__classdict__"}
    cells = dict(zip(code.co_freevars, body.__closure__ or (), strict=True))
    instructions = list(dis.get_instructions(code))
    plain = all(instruction.opname in _PLAIN for instruction in instructions)
    for instruction in instructions:
        name = instruction.argval
        if instruction.opname == "STORE_NAME":
            stored.add(name)
        elif instruction.opname in _READING and name not in stored:
            value = _read(machine, body.__globals__, cells, name, instruction.opname in _READING_CELLS)
            if not (isinstance(value, _VALUES) or _is_library(value) or (plain and _is_code(value))):
                raise _unread(f"the body of class {code.co_name} uses {name!r}")


def _read(machine: Machine, namespace: dict[str, Any], cells: dict[str, Any], name: str, in_cell: bool) -> Any:
    """A variable that the body of a class reads, guarded; `NotImplemented` if it has no value."""
    if in_cell and name in cells:
        cell = cells[name]
        value = cell_value(cell)
        if value is EMPTY_CELL:
            return NotImplemented
        with machine.sources.constants():
            return machine.sources.cell(cell, value, name)
    if name in namespace:
        with machine.sources.constants():
            return machine.sources.global_(namespace, name, namespace[name])
    found = vars(builtins).get(name, NotImplemented)
    if found is not NotImplemented:
        machine.sources.builtin(namespace, vars(builtins), name, found)
    return found


def _is_code(value: Any) -> bool:
    """Whether a value is a class or a function, which is only named."""
    return isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.ModuleType)


def _is_library(value: Any) -> bool:
    """Whether a value is code of a library, which does not lead back to the program."""
    if isinstance(value, types.FunctionType):
        module = module_of_function(value)
    elif isinstance(value, type):
        module = module_of(value)
    elif isinstance(value, types.ModuleType):
        module = value.__name__
    else:
        return isinstance(value, types.BuiltinFunctionType) and users_code([value]) is None
    return module.partition(".")[0] in _LIBRARIES
