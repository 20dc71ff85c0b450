"""Native code that calls the user's special methods: those of its arguments, and those that compare and hash items.

Such a method runs twice while capturing: first in the interpreter, which guards what it reads and refuses what cannot
be in a graph, then where the native code calls it. One that writes something is left to Python.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import inspect
import itertools
import operator
import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import numpy as np

from weft.capture.code.instructions import decode
from weft.capture.meaning.by_identity import tell_apart
from weft.capture.meaning.iterators import BufferedIterator
from weft.capture.meaning.parts import Machine, Part
from weft.capture.meaning.surroundings import read_surroundings, without_new_flags
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.python.containers import length
from weft.capture.python.effects import NOTICED, defines_only, is_importing, is_noticed, runs_python
from weft.capture.python.packages import NATIVE_PACKAGES, module_of_function
from weft.capture.python.specials import classes_asked, special_names
from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText, filling, needs_characters
from weft.capture.state.memory import Snapshot, owners_in
from weft.core.choice import Choice
from weft.core.choice import refuse as refuse_choice
from weft.core.run_number import settled
from weft.core.tensor import Parameter, Tensor
from weft.errors import Refusal, Unsupported

#: what native code calls on the items of containers
_OF_ITEMS: Final = ("__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__", "__ne__", "__repr__")
#: what else it calls on its arguments
_OF_ARGUMENTS: Final = (
    *_OF_ITEMS, "__iter__", "__next__", "__len__", "__length_hint__", "__getitem__", "__contains__", "__reversed__",
    "keys", "items", "__bool__", "__index__", "__int__", "__float__", "__complex__", "__str__", "__format__",
    "__bytes__", "__fspath__", "__call__", "__getattr__", "__getattribute__", "__round__", "__trunc__", "__floor__",
    "__ceil__", "__instancecheck__", "__subclasscheck__",
)  # fmt: skip
#: what only statements and the call of a class ask for
_OF_STATEMENTS: Final = frozenset(
    {
        "__init__", "__new__", "__init_subclass__", "__class_getitem__", "__match_args__", "__enter__", "__exit__",
        "__aenter__", "__aexit__", "__await__", "__aiter__", "__anext__", "__del__", "__post_init__",
    }
)  # fmt: skip
_PLAIN: Final = frozenset(
    {int, float, bool, str, complex, bytes, type(None), range, slice, type, types.FunctionType, Tensor, Choice}
)
#: among them no containers, whose items are compared or written, and nothing that stands for a value of another class
_SIMPLE: Final = frozenset({int, float, bool, str, complex, bytes, type(None), range, Tensor, Parameter})
_IN_C: Final = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType)
#: what shows or compares what it holds
_HOLDERS: Final = frozenset(
    {functools.partial, types.SimpleNamespace, types.MappingProxyType, *map(type, ({}.keys(), {}.values(), {}.items()))}
)
_EQUALITY: Final = (operator.eq, operator.ne)
#: what calls the function that it holds
_CALLING: Final = (functools.partial, types.MethodType)
_CONTAINERS: Final = (list, tuple, set, frozenset, deque)


class Native(Part):
    """The part of the interpreter that calls native code which compares and hashes."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        #: whether instances of a class, by its id, have such methods that are the user's, as far as was asked
        self.users_classes: dict[tuple[int, bool], bool] = {}
        #: whether code of the user's compares the keys of a container, by its id and length
        self.users_keys: dict[tuple[int, int], bool] = {}
        #: the user's functions that the native code which runs was given, by the id of their code
        self.given: dict[int, types.FunctionType] = {}

    def call(self, values: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call native code.

        Args:
            values: what it compares or hashes, None if that is not known before.
            function: the native function.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Raises:
            Unsupported: it would call methods of the user's that change something, or they cannot be watched.
        """
        owner = getattr(function, "__self__", None)
        given = (*args, *kwargs.values()) if type(owner) is types.ModuleType else (owner, *args, *kwargs.values())
        if function is hash or getattr(function, "__name__", "") == "__hash__":
            self.sources.of_process.add("hash")
        library = runs_python(function)
        if not library and getattr(function, "__name__", "") in NOTICED and is_noticed(function):
            _refuse_effect(function, function)
        if values is not None:
            if (
                not library
                and function is not hash
                and _SIMPLE.issuperset(map(type, given))
                and _SIMPLE.issuperset(map(type, values))
            ):
                return function(*args, **kwargs)
            computes = _only_computes(function, values)
            if not computes:
                _refuse_choices(values, None)
            if not computes or function in _EQUALITY:
                tell_apart(self.sources, function, values)
        else:
            tell_apart(self.sources, function, given)
        if LazyText in map(type, given) and not (filling() or _only_stores(function)):
            raise needs_characters()
        calculates = read_surroundings(self.sources, function, given)
        with without_new_flags() if calculates else contextlib.nullcontext():
            return self._called(library, values, function, given, args, kwargs)

    def _called(self, library: bool, values: Any, function: Any, given: Any, args: Any, kwargs: Any) -> Any:
        owners = [owner for owner in owners_in(given) if not self._is_own_memory(owner)]
        with self._unwritten(owners) if owners else contextlib.nullcontext():
            result: Any = self._watched(library, values, function, given, args, kwargs)
        if issubclass(type(result), _SETS):
            self.journal.sets.note(result, function, args)
        for value in given:
            kind = type(value)
            if issubclass(kind, set) and id(value) in self.created:
                self.journal.sets.note(value, function, [other for other in args if other is not value])
            elif issubclass(kind, bytearray) and _is_looked_into(value):
                result = None  # which would look into it as long as the refusal is under way
                raise Unsupported(
                    Refusal.IMPURE_CALL,
                    "the memory of a bytearray is shared, and while it is, the bytearray cannot be put back",
                    "copy it, or share it outside the compiled function",
                )
        return result

    def _watched(self, library: bool, values: Any, function: Any, given: Any, args: Any, kwargs: Any) -> Any:
        functions = self._functions_in(given)
        asked = library or values is None or functions or self._are_asked(given) or self._has_users(values)
        if not asked and not (_looks_inside(function) and self._has_users((*args, *kwargs.values()), False)):
            return function(*args, **kwargs)
        before: Any = sys.getprofile()
        if before is not None and getattr(before, "__func__", None) not in _WATCHES:
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                "native code may call methods of the program's own classes, and a profiler hinders watching it",
            )
        watch = self._on_library_call if library else self._on_call
        outer, self.given = self.given, {**self.given, **functions}
        try:
            if before == watch:  # setting it costs as much as many calls
                return function(*args, **kwargs)
            sys.setprofile(watch)
            try:
                return function(*args, **kwargs)
            finally:
                sys.setprofile(before)
        finally:
            self.given = outer

    def _functions_in(self, given: tuple[Any, ...]) -> dict[int, types.FunctionType]:
        """The user's functions (no bodies of classes) that native code is given, which it may call, by the id of their
        code."""
        found = {}
        for value in given:
            while type(value) in _CALLING:
                value = value.func if type(value) is functools.partial else value.__func__
            optimized = type(value) is types.FunctionType and value.__code__.co_flags & inspect.CO_OPTIMIZED
            if optimized and not self.machine.calls.is_native(value, None):
                found[id(value.__code__)] = value
        return found

    def _is_own_memory(self, owner: Any) -> bool:
        """Whether what is written in the memory of an object goes, or is taken back, with this side or the capture."""
        return self.journal.is_of_this_side(owner) or self.journal.noted(owner) is not None

    @contextlib.contextmanager
    def _unwritten(self, owners: list[Any]) -> Iterator[None]:
        """Refuse native code that writes to memory that others see, with what it wrote put back."""
        snapshots = [snapshot for snapshot in map(Snapshot, owners) if snapshot.writable]
        try:
            yield
        finally:
            written = [snapshot for snapshot in snapshots if snapshot.is_changed()]
            for snapshot in written:
                snapshot.restore()
            if written:
                kind = type(written[0].owner)
                what = "a NumPy array" if issubclass(kind, np.ndarray) else f"the memory of a {kind.__name__}"
                raise Unsupported(Refusal.IMPURE_CALL, f"native code writes to {what} that others see", "use a Tensor")

    def _are_asked(self, given: tuple[Any, ...]) -> bool:
        """Whether native code may call a method of the user's on something that it is given."""
        for value in given:
            kind = type(value)
            if kind is slice and self._are_asked((value.start, value.stop, value.step)):
                return True
            if kind is BufferedIterator and value.asks:  # watched at once, not for each of its items
                return True
            if kind not in _PLAIN and (self._is_users(kind, False) or self.has_users_keys(value)):
                return True
        return False

    def has_users_keys(self, value: Any) -> bool:
        """Whether looking something up in a dictionary or set may compare it by code of the user's with its keys."""
        if not issubclass(type(value), (dict, set, frozenset)):
            return False
        known = (id(value), length(value))
        found = self.users_keys.get(known)
        if found is None:
            found = self.users_keys[known] = not hashed_freely(value)
        return found

    def _has_users(self, values: Any, are_items: bool = True) -> bool:
        """Whether comparing or hashing any of some values may call a method of the user's, or doing anything with them
        if they are not only `are_items`.
        """
        pending, seen = list(values), set()
        while pending:
            value = pending.pop()
            kind = type(value)
            if kind in _PLAIN or id(value) in seen:
                continue
            seen.add(id(value))
            inner: Any
            if issubclass(kind, dict):
                inner = [*dict.keys(value), *dict.values(value)]
            elif kind in _HOLDERS or issubclass(kind, BaseException):  # an exception shows its arguments
                inner = value.args if issubclass(kind, BaseException) else gc.get_referents(value)
            else:
                base = next((base for base in _CONTAINERS if issubclass(kind, base)), None)
                inner = () if base is None else base.__iter__(value)
            if self._is_users(kind, are_items):
                return True
            pending += inner
        return False

    def _is_users(self, kind: type, is_item: bool) -> bool:
        """Whether a class has methods of the user's that native code calls on items, or on its arguments."""
        found = self.users_classes.get((id(kind), is_item))
        if found is None or self.journal.wrote_class:
            found = is_item and issubclass(kind, Journaled)  # whatever its items are
            own = [] if is_item else [n for cls in classes_asked(kind) for n in special_names(cls.__dict__)]
            for name in _OF_ITEMS if is_item else {*_OF_ARGUMENTS, *own} - _OF_STATEMENTS:
                method = class_attribute(kind, name)
                if isinstance(method, types.FunctionType):
                    found = found or not self.machine.calls.is_native(method, None)
                elif method is not MISSING:  # an object with `__call__` may be the user's
                    found = found or not isinstance(method, (*_IN_C, type(None)))
            self.users_classes[id(kind), is_item] = found
        return found

    def _on_library_call(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """Library code in Python calls something: whether that reads or changes more than its arguments."""
        if event == "c_call":
            noticed = is_noticed(arg) and not defines_only(arg, frame)
            if noticed and _is_of_library(frame) and not _is_taken_back(frame):
                _refuse_effect(arg, frame.f_code)
        else:
            self._on_call(frame, event, arg)

    def _on_call(self, frame: types.FrameType, event: str, arg: Any) -> None:
        """Native code calls a Python function: whether a special method, or one that it was given, may run there.

        Other functions are not asked: the garbage collector calls its callbacks at any time.
        """
        if event != "call" or not self._is_called_by_library(frame):
            return
        args = _arguments(frame)
        function = _function(frame, args) or self.given.get(id(frame.f_code))
        if function is None or self.machine.calls.is_native(function, args[0]):
            return
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"native code takes items from the generator {function.__qualname__}()",
                "make a list of the items first",
            )
        self._try(function, args)

    def _is_called_by_library(self, frame: types.FrameType) -> bool:
        """Whether a frame begins that native code called, by itself or through library code in Python."""
        if _is_of_weft(frame):
            return False
        standard = str(frame.f_globals.get("__name__")).partition(".")[0] in sys.stdlib_module_names
        caller = frame.f_back
        while caller is not None and caller.f_code is not _CALLER:
            module = str(caller.f_globals.get("__name__"))
            package = module.partition(".")[0]
            ours = package == "weft" and not standard and not module.startswith("weft.capture.")
            if package not in NATIVE_PACKAGES and not ours:
                return False
            caller = caller.f_back
        return caller is not None

    def _try(self, function: types.FunctionType, args: list[Any]) -> None:
        """Run a function that native code is about to call, and take it back."""
        if any(type(class_attribute(type(value), "__next__")) is types.WrapperDescriptorType for value in args):
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"native code passes an iterator to {function.__qualname__}(), and to look at that uses it up",
                "call it outside the compiled function",
            )
        made, noted = len(self.created), len(self.journal.namespaces)
        layer = self.journal.push()
        try:
            with self.sources.constants():
                settled(self.machine.calls.call(function, args, {}))
        except Unsupported:
            raise
        except BaseException:  # the native code will meet it
            pass
        finally:
            inside = set(itertools.islice(self.created, made, None))
            if function.__name__ == "__init__":  # which may write its own object
                inside.add(id(args[0]))
            written = [obj for key, (obj, _) in layer.before.items() if not self.journal.belongs(key, inside)]
            self.journal.take_back(layer)
            for key in tuple(itertools.islice(self.journal.namespaces, noted, None)):
                del self.journal.namespaces[key]  # the object is native code's own
        if written:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{function.__qualname__}() changes something, and native code calls it",
                "compare and hash without side effects",
            )


def _only_computes(function: Any, values: Any) -> bool:
    """Whether a function is an operator on tensors, or a class of tensors: it compares no objects."""
    if isinstance(function, type) and issubclass(function, Tensor):
        return True
    return (
        type(function) is types.BuiltinFunctionType
        and function.__module__ == "_operator"
        and function not in _SEARCHES
        and not any(issubclass(type(value), _NESTED) for value in values)
    )


def _refuse_choices(values: Any, seen: set[int] | None) -> None:
    """Refuse choices of tensors among what native code compares, which asks first whether objects are the same."""
    seen = set() if seen is None else seen
    for value in values:
        if type(value) is Choice:
            refuse_choice("native code compares it")
        if issubclass(type(value), _NESTED) and id(value) not in seen:
            seen.add(id(value))
            base = next(base for base in _NESTED if issubclass(type(value), base))
            _refuse_choices(dict.values(value) if base is dict else base.__iter__(value), seen)


_SEARCHES: Final = (operator.contains, operator.countOf, operator.indexOf)
_NESTED: Final = (dict, *_CONTAINERS)
_SETS: Final = (set, frozenset)


#: what code does that hashes or compares, and more than that
_EFFECTS: Final = frozenset({"STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "RAISE_VARARGS"})
#: builtins that such code may call
_FREE: Final = (
    hash, id, isinstance, issubclass, len, all, any, zip, abs, min, max, sorted, repr, ord, map, sum,
)  # fmt: skip


def hashed_freely(container: Any) -> bool:
    """Whether a dictionary or set can be made again from its items: hashing and comparing them once more does nothing.

    Args:
        container: a dictionary, set or frozenset.
    """
    base = next(base for base in (dict, set, frozenset) if issubclass(type(container), base))
    return all(map(is_hashed_freely, base.__iter__(container)))


def is_hashed_freely(key: Any) -> bool:
    kind: Any = type(key)
    base = next((base for base in (tuple, frozenset) if issubclass(kind, base)), None)
    return _has_free_hash(kind) and (base is None or all(map(is_hashed_freely, base.__iter__(key))))


def _has_free_hash(kind: type) -> bool:
    return all(_is_free(class_attribute(kind, name)) for name in ("__hash__", "__eq__"))


def _is_free(method: Any) -> bool:
    """Whether a special method reads its arguments and constants only, as far as its code shows."""
    if not isinstance(method, types.FunctionType):
        return isinstance(method, _IN_C)
    if module_of_function(method).partition(".")[0] in NATIVE_PACKAGES:
        return True
    decoded = decode(method.__code__)
    names = decoded.slot_names
    for instr in decoded.instrs:
        if instr.name in _EFFECTS or (instr.name == "LOAD_DEREF" and names[instr.arg] != "__class__"):
            return False
        if instr.name == "LOAD_ATTR_METHOD" and not instr.arg.startswith("__"):
            return False
        if instr.name == "LOAD_GLOBAL":
            found = method.__globals__.get(instr.arg, getattr(builtins, instr.arg, None))
            if not (isinstance(found, type) or found is NotImplemented or any(found is free for free in _FREE)):
                return False
    return True


#: methods in C that put what they are given somewhere, without looking at it
_STORING: Final = frozenset(
    {
        "append", "appendleft", "insert", "extend", "__setitem__", "setitem", "setdefault", "update", "__new__",
        "__init__", "__setattr__", "setattr", "set", "put", "with_traceback",
    }
)  # fmt: skip


def _looks_inside(function: Any) -> bool:
    """Whether native code may do more with the items of what it is given than to compare, hash and show them."""
    owner = getattr(function, "__self__", None)
    return (owner is None or type(owner) is types.ModuleType) and getattr(function, "__module__", "") != "_operator"


def _only_stores(function: Any) -> bool:
    """Whether native code keeps its arguments as they are: for a text that is not complete, that is all it may do."""
    if isinstance(function, type):
        return issubclass(function, (BaseException, tuple, list))
    return getattr(function, "__name__", "") in _STORING and not isinstance(getattr(function, "__self__", None), str)


_CALLER: Final = Native._watched.__code__
_WATCHES: Final = (Native._on_call, Native._on_library_call)


def _is_of_library(frame: types.FrameType | None) -> bool:
    """Whether a frame is one of library code that runs natively, neither the program's, which was interpreted before,
    nor of an import, which the next call finds done.
    """
    inside = False
    while frame is not None and frame.f_code is not _CALLER:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if is_importing(frame) or not (package in NATIVE_PACKAGES or package in sys.stdlib_module_names):
            return False
        inside, frame = True, frame.f_back
    return inside and frame is not None


def _is_taken_back(frame: types.FrameType) -> bool:
    """Whether a frame enters or leaves a context manager for library code, which leaves what it enters."""
    caller = frame.f_back
    return frame.f_code.co_name in ("__enter__", "__exit__") and caller is not None and caller.f_code is not _CALLER


def _refuse_effect(function: Any, caller: Any) -> NoReturn:
    name = getattr(caller, "co_qualname", None) or getattr(caller, "__qualname__", "")
    called = "" if function is caller else f" calls {getattr(function, '__qualname__', function)}(), which"
    raise Unsupported(
        Refusal.IMPURE_CALL,
        f"{name}(){called} reads or changes something besides its arguments",
        "call it outside the compiled function",
    )


def _is_of_weft(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("weft.")


def _is_looked_into(data: bytearray) -> bool:
    """Whether something shares the memory of a bytearray, which then cannot grow or shrink."""
    try:
        bytearray.append(data, 0)
    except BufferError:
        return True
    bytearray.pop(data)
    return False


def _arguments(frame: types.FrameType) -> list[Any]:
    """The positional arguments of a call that begins."""
    code, values = frame.f_code, frame.f_locals
    args = [values[name] for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & inspect.CO_VARARGS:
        args += values[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]]
    return args


def _function(frame: types.FrameType, args: list[Any]) -> types.FunctionType | None:
    """The special method that is called, found in the class of its object."""
    for value in args[:1]:
        for cls in type(value).__mro__:
            for name, found in cls.__dict__.items():
                if isinstance(found, types.FunctionType) and found.__code__ is frame.f_code:
                    special = name in _OF_ARGUMENTS or (name[:2] == "__" and name != "__del__")
                    return found if special else None
    return None
