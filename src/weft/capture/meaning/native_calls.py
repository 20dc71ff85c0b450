"""Calls of functions, methods and classes in C: which run while capturing, and what they are given."""

from __future__ import annotations

import array
import copyreg
import functools
import sys
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any, Final

import numpy as np

from weft.capture.meaning import (  # noqa: F401 - most fill the table
    builtins,
    class_statements,
    host_functions,
    iterating,
    iterator_functions,
    mapping,
    table,
)
from weft.capture.meaning.gate import Settling, definer_of, hashed_of, row_of_class, row_of_method
from weft.capture.meaning.getters import CALLED, missing_item
from weft.capture.meaning.iteration import is_table
from weft.capture.meaning.iterators import of_native
from weft.capture.meaning.parts import Part
from weft.capture.meaning.texts import format_text
from weft.capture.python.classes import MISSING, class_attribute, is_opaque_iterator
from weft.capture.python.containers import items_of
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.packages import INTERNALS, NATIVE_PACKAGES, PURE_MODULES, is_heap_type, module_of
from weft.capture.python.users import refuse_callbacks
from weft.capture.sources.known import BOUND
from weft.capture.sources.numbers import PURE, is_call_number
from weft.capture.state.journal import Journaled, slots_of
from weft.capture.state.lazytext import LazyText
from weft.core.primitive import Primitive
from weft.core.run_number import KINDS, RunNumber
from weft.core.tensor import Tensor
from weft.errors import Refusal, Unsupported

#: native methods of exceptions, which a user's classes have too
_EXCEPTION_METHODS: Final = frozenset({"with_traceback", "split", "subgroup", "derive"})
#: modules of C functions that write to their first argument
_WRITING_MODULES: Final = frozenset({"_heapq", "_bisect", "_collections", "_operator", "operator"})
#: levels of an exception group beyond which Python's recursion limit may matter
_DEEP: Final = 50
#: native functions and methods that take the items of their arguments
_ITERATING: Final = frozenset(
    {
        "__contains__",
        "__iadd__",
        "__iand__",
        "__init__",
        "__ior__",
        "__isub__",
        "__ixor__",
        "__new__",
        "_count_elements",
        "countOf",
        "difference",
        "difference_update",
        "extend",
        "extendleft",
        "fromkeys",
        "fsum",
        "indexOf",
        "intersection",
        "intersection_update",
        "isdisjoint",
        "issubset",
        "issuperset",
        "join",
        "prod",
        "sumprod",
        "symmetric_difference",
        "symmetric_difference_update",
        "union",
        "update",
        "writelines",
    }
)
#: special methods of attributes, with the number of arguments besides the object
_OF_ATTRIBUTES: Final = {"__getattribute__": 1, "__setattr__": 2, "__delattr__": 1}
_MUTABLE: Final = (list, dict, set, deque, bytearray)
#: native classes whose instances take over the items of an iterable
_FILLED: Final = (*_MUTABLE, tuple, frozenset, bytes, array.array)
#: modules of C functions that use their arguments by their special methods, without going through them
_USING_MODULES: Final = frozenset({"_heapq", "_bisect", "_operator", "operator"})
#: methods of lists that put items elsewhere, with the number of arguments that say where
_PLACING: Final = {"append": 0, "insert": 1, "pop": 1, "clear": 0, "reverse": 0}
#: methods of sets that change nothing if the member is in the set, or is not in it
_KEEPING: Final = {"add": True, "discard": False}
#: methods that take over the items of a mapping
_MERGING: Final = frozenset({"__init__", "__ior__", "update"})
#: methods that change a dict
_CHANGING: Final = frozenset(
    {"__delitem__", "__init__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"}
)
#: methods of dictionaries that look up their first argument, and no other
_OF_KEY: Final = frozenset({"get", "pop", "setdefault", "__getitem__", "__setitem__", "__contains__", "__delitem__"})
#: methods of built-in containers that write nothing, in classes derived from them too
_READING: Final = frozenset(
    {
        "get", "keys", "values", "items", "copy", "count", "index", "isdisjoint", "issubset", "issuperset", "union",
        "intersection", "difference", "symmetric_difference", "__len__", "__contains__", "__iter__", "__reversed__",
    }
)  # fmt: skip
#: methods that compare the items of a sequence
_COMPARING: Final = frozenset(
    {"__contains__", "__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__", "count", "index", "remove", "sort"}
)
_CACHED: Final = type(functools.lru_cache(lambda: None)).__qualname__
_NEW_ARGUMENTS: Final = ("__getnewargs__", "__getnewargs_ex__")
#: what a class has for `__getstate__` that does not define it
_NO_STATE: Final = (MISSING, getattr(object, "__getstate__", MISSING))
#: dictionaries that are copied from an iterator over their items
_REDUCED: Final = (OrderedDict, defaultdict)
_CLASS_METHOD: Final = types.ClassMethodDescriptorType
_DESCRIPTOR_KINDS: Final = (
    types.WrapperDescriptorType, types.MethodDescriptorType, _CLASS_METHOD
)  # fmt: skip


class NativeCalls(Part):
    """The part of the interpreter that calls what is written in C."""

    def is_pure(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> bool:
        """Whether a call computes a number from numbers of the call."""
        numbers = (
            not kwargs and any(map(is_call_number, args)) and all(is_call_number(a) or type(a) in KINDS for a in args)
        )
        return numbers and table.is_identified(callee) and callee in PURE

    def construct(self, cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Make an instance of a class without Python code of the user's in its construction."""
        package = module_of(cls).partition(".")[0]
        self.machine.arrays.refuse_opaque(args, kwargs)
        self.sources.instantiable(cls)
        init = class_attribute(cls, "__init__")
        if package == "weft" and isinstance(init, types.FunctionType):
            refuse_callbacks(init, args, kwargs)
        args, kwargs = self.gate.arguments(row_of_class(cls), args, kwargs)
        if is_heap_type(cls) or package == "weft" or package in NATIVE_PACKAGES or module_of(cls) in PURE_MODULES:
            if issubclass(cls, _FILLED):
                args = [self.content_argument(cls, "__init__", a) for a in args]
            past = isinstance(class_attribute(type(cls), "__call__"), types.FunctionType)  # which is who asks for this
            make = functools.partial(type.__call__, cls) if past else cls
            compared = hashed_of(args) if issubclass(cls, dict) else args
            return self.machine.native.call(compared, make, *args, **kwargs)
        raise Unsupported(
            Refusal.UNKNOWN_CALL,
            f"weft cannot look into {module_of(cls)}.{cls.__qualname__}()",
            "create the object outside the compiled function and pass it in",
        )

    def iterable_argument(self, value: Any) -> Any:
        """An argument that native code may iterate: user-defined iterables are entered through an iterator."""
        return self.machine.iteration.get_iter(value) if self.machine.iteration.iterates_by_user(value) else value

    def content_argument(self, kind: type, method: str, value: Any) -> Any:
        """An argument whose items an instance of a native class, or of one derived from it, takes over."""
        if issubclass(kind, dict) and method in _MERGING and class_attribute(type(value), "keys") is not MISSING:
            return self.machine.iteration.mapping(value)
        if issubclass(kind, (list, tuple, bytearray)):
            return self.sequence_argument(value)
        if issubclass(kind, (set, frozenset)) and is_table(value):
            return value
        items = self.iterable_argument(value)
        if items is value or not issubclass(kind, (set, frozenset, dict)):
            return items
        return Settling(self.gate, items)

    def sequence_argument(self, value: Any) -> Any:
        """An argument of which native code makes a list, so that it asks for its length, too."""
        items = self.iterable_argument(value)
        if items is not value:
            self.machine.iteration.ask_length(value)
        return items

    def items_arguments(self, callee: Any, kind: type, args: list[Any]) -> list[Any]:
        """The arguments of a native callable; one that takes the items of a user's iterable gets an iterator.

        Args:
            callee: the function or method.
            kind: the class that has it, or whose instances it makes.
            args: positional arguments.
        """
        name = getattr(callee, "__name__", "")
        if name not in _ITERATING or (name in ("__init__", "__new__") and not issubclass(kind, _FILLED)):
            return args
        return [self.content_argument(kind, name, a) for a in args]

    def call(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a C function or method at capture time if it is known to be harmless."""
        owner = getattr(callee, "__self__", None)
        if isinstance(callee, _DESCRIPTOR_KINDS):
            try:
                owner = args[0].constant() if issubclass(type(args[0]), RunNumber) else args[0]
                bound = callee.__get__(None, owner) if type(callee) is _CLASS_METHOD else callee.__get__(owner)
            except (TypeError, IndexError):
                return self.machine.native.call((), callee, *args, **kwargs)  # Python's own error
            return self._call_method(bound, callee.__objclass__, owner, args[1:], kwargs)
        if isinstance(callee, BOUND) and owner is not None and not isinstance(owner, types.ModuleType):
            return self._call_method(callee, definer_of(callee, owner), owner, args, kwargs)
        self.machine.arrays.refuse_opaque(owner, args, kwargs)
        if self.is_pure(callee, args, kwargs):
            return self.sources.numbers.pure(callee, args)
        args, kwargs = self.machine.calls.given(args, kwargs)
        if isinstance(callee, (np.ufunc, Primitive)) or isinstance(owner, type):
            result = self.machine.native.call((), callee, *args, **kwargs)
            return (
                self.machine.made(result)
                if getattr(callee, "__name__", "") == "__new__"
                else self.machine.made_if_fresh(result, 1)
            )
        module: Any = getattr(callee, "__module__", None) or module_of(type(callee))
        if (module in PURE_MODULES and _is_of_module(callee)) or (
            (module or "").partition(".")[0] in ("numpy", "weft") and "random" not in module
        ):
            self._refuse_lazy_text(args)
            if module in _WRITING_MODULES and args and isinstance(args[0], _MUTABLE):
                self.journal.touch(args[0])
            if kwargs.get("key") is not None:
                kwargs = {**kwargs, "key": self.machine.calls.callback(kwargs["key"])}
            if module in _USING_MODULES and getattr(callee, "__name__", "") not in _ITERATING:
                self._refuse_users(callee, args)
                return self.result_of(self.machine.native.call(args, callee, *args, **kwargs))
            args = self.items_arguments(callee, type(None), args)
            return self.result_of(self.machine.native.call(args, callee, *args, **kwargs))
        refusal = _unknown(callee)
        refusal.whole = module in INTERNALS
        raise refusal

    def _has_at_once(self, items: Any, args: list[Any]) -> bool:
        """Whether a dictionary has the key that it is asked for, so that no default counts."""
        return 1 <= len(args) <= 2 and self._finds_freely(items, args[0]) and dict.__contains__(items, args[0])

    def _finds_freely(self, container: Any, key: Any) -> bool:
        """Whether looking up a key in a dictionary or set calls nothing of the program's."""
        return type(key) in (str, int) and not self.machine.native.has_users_keys(container)

    def _refuse_users(self, callee: Any, args: list[Any]) -> None:
        """Refuse containers of the user's whose special methods code in C would call."""
        for value in args:
            if any(
                self.machine.objects.user_method(value, name) for name in ("__getitem__", "__iter__", "__setitem__")
            ):
                raise Unsupported(
                    Refusal.UNKNOWN_CALL,
                    f"{_describe(callee)} calls methods of a {type(value).__name__}",
                    "call it outside the compiled function",
                )

    def _attribute_by(self, callee: Any, owner: Any, *args: Any) -> Any:
        """Python's own special methods of attributes, called by name, as the program's call them."""
        if type(args[0]) is not str or (callee.__objclass__ is object and issubclass(type(owner), type)):
            return callee.__objclass__.__dict__[callee.__name__](owner, *args)  # Python's own error
        if callee.__name__ == "__getattribute__":
            return self.machine.attributes.get_attr_plainly(owner, *args)
        change = (
            self.machine.attributes.set_attr_plainly
            if callee.__name__ == "__setattr__"
            else self.machine.attributes.delete_attr_plainly
        )
        return change(owner, *args)

    def _call_method(self, callee: Any, definer: type, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a method in C of an object.

        Args:
            callee: the method, bound to the object.
            definer: the class that has it.
            owner: the object.
            args: positional arguments besides it.
            kwargs: keyword arguments.
        """
        name = callee.__name__
        if name == "__call__" and issubclass(type(owner), CALLED):
            return self.machine.calls.call(owner, args, kwargs)
        if (
            name == "__call__" and definer is type and not issubclass(owner, type)
        ):  # what `super()` of a metaclass finds
            return self.machine.calls.construct(owner, args, kwargs, plainly=True)
        if not isinstance(owner, _MUTABLE):  # containers hold what they are given without looking at it
            self.machine.arrays.refuse_opaque(owner, args, kwargs)
        if name in _OF_ATTRIBUTES and len(args) == _OF_ATTRIBUTES[name] and not kwargs:
            return self._attribute_by(callee, owner, *args)
        if name in ("__reduce_ex__", "__reduce__") and not isinstance(owner, Tensor):
            return self._reduce(callee, owner, args)
        if name == "join" and isinstance(owner, str) and len(args) == 1:
            return LazyText.join(list(self.machine.iteration.get_iter(args[0])), owner)
        if name == "format" and isinstance(owner, str):
            return format_text(self.machine, callee, owner, args, kwargs)
        if name == "format_map" and isinstance(owner, str) and len(args) == 1:
            return format_text(self.machine, callee, owner, args, None)
        if name in ("get", "setdefault") and definer is dict and not kwargs and self._has_at_once(owner, args):
            return self.sources.item(owner, args[0], dict.__getitem__(owner, args[0]))
        if name == "add_note" and isinstance(owner, BaseException) and len(args) == 1 and not kwargs:
            return self._add_note(owner, args[0])
        if name == "update" and definer is type(owner) and self.updated(owner, args, kwargs):
            return None
        row = row_of_method(definer, name, owner)
        args, kwargs = self.gate.arguments(row, args, kwargs)
        copied = self.gate.owner(row, owner, args)
        if copied is not owner:
            owner, callee = copied, definer.__dict__[name].__get__(copied)
        if name == "pop" and definer is list:
            return self._pop(callee, owner, args)
        if isinstance(owner, _MUTABLE):
            if definer is dict and isinstance(owner, OrderedDict) and name in _CHANGING:
                raise Unsupported(
                    Refusal.IMPURE_CALL,
                    f"dict.{name}() changes an OrderedDict, whose order does not know of it",
                    "call the method of the OrderedDict",
                )
            self._touch(owner, name, args)
            if name == "sort" and kwargs.get("key") is not None:
                kwargs = {**kwargs, "key": self.machine.calls.callback(kwargs["key"])}
        elif isinstance(owner, BaseException) and name in _EXCEPTION_METHODS:
            if self.machine.objects.user_method(owner, "derive"):  # which the method calls
                raise _unknown(callee)
            if isinstance(owner, BaseExceptionGroup) and _nesting(owner) > _DEEP:
                raise Unsupported(
                    Refusal.UNSUPPORTED_SYNTAX,
                    "a deeply nested exception group is split: whether that exceeds the recursion limit is not known",
                )
            self.journal.touch(owner)
            self._refuse_lazy_text(args)
            made = self.machine.native.call(None, callee, *args, **kwargs)
            for part in made if isinstance(made, tuple) else (made,):
                self.made_by_exception(part)
            return made
        elif host_functions.is_stream_write(owner, name) and id(owner) not in self.created:
            return host_functions.write_stream(self.machine, callee, args)
        elif name == "__init__" and (id(owner) in self.created or _is_harmless(definer)):
            self.machine.objects.touch_if_mutable(owner)
        elif not isinstance(owner, (Tensor, Journaled)) and not _is_harmless(definer):
            raise _unknown(callee)
        others = (name == "__setstate__" or isinstance(owner, array.array)) and not self.journal.is_of_this_side(owner)
        if others:
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{_describe(callee)} changes an object that others see, which cannot be taken back",
                "call it outside the compiled function",
            )
        args = self.items_arguments(callee, definer, args)
        if name == "__new__":
            if isinstance(owner, type) and issubclass(owner, type) and len(args) == 4 and isinstance(args[3], dict):
                class_statements.refuse_hooks(args[2], args[3])
            return self.made_by_new(callee(*args, **kwargs))
        return self.result_of(
            self.machine.native.call(self._compared(name, owner, args, kwargs), callee, *args, **kwargs)
        )

    def updated(self, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> bool:
        """`dict.update` of a dictionary from outside with others: a write of each item. False if it may be more."""
        given = [*args, kwargs]
        if type(owner) not in (dict, OrderedDict) or not self.sources.is_known(owner) or len(args) > 1:
            return False
        if any(type(part) not in (dict, OrderedDict) or not self._is_written_freely(part) for part in given):
            return False
        for part in given:
            for key, value in items_of(self.machine.iteration.mapping(part)):
                self.machine.objects.set_item(owner, key, value)
        return True

    def _is_written_freely(self, items: dict[Any, Any]) -> bool:
        """Whether the items of a dictionary can be written one by one: no code of the program's hashes the keys."""
        opaque = self.sources.opaque
        return all(type(key) in (str, int) and id(value) not in opaque for key, value in dict.items(items))

    def _add_note(self, error: BaseException, note: Any) -> None:
        """`error.add_note(note)`: the list of notes is an object like others, which C code would make and fill."""
        if not issubclass(type(note), str):
            raise TypeError(f"note must be a string, not '{type(note).__name__}'")
        call = self.machine.calls.call
        notes = call(getattr, [error, "__notes__", MISSING], {})
        if notes is MISSING:
            notes = self.machine.made([])
            call(setattr, [error, "__notes__", notes], {})
        elif not isinstance(notes, list):
            raise TypeError("Cannot add note: __notes__ is not a list")
        call(list.append, [notes, note], {})

    def _touch(self, owner: Any, name: str, args: list[Any]) -> None:
        """Note a container before one of its own methods writes it."""
        if name in _READING or self._has_already(owner, name, args):
            return
        where = args[: _PLACING.get(name, 0)]
        if isinstance(owner, list) and name == "extend" and args and type(args[0]) in (list, tuple):
            self.journal.touch_list(owner, name, [None] * len(args[0]))
        elif isinstance(owner, list) and name in _PLACING and all(type(place) is int for place in where):
            self.journal.touch_list(owner, name, *where, *[None] * (len(args) - len(where)))
        else:
            self.journal.touch(owner)

    def _has_already(self, owner: Any, name: str, args: list[Any]) -> bool:
        """Whether a set from outside stays as it is: it has what is added, or has not what is discarded."""
        if type(owner) is not set or name not in _KEEPING or id(owner) in self.created:
            return False
        if len(args) != 1 or not self._finds_freely(owner, args[0]) or (args[0] in owner) is not _KEEPING[name]:
            return False
        self.sources.has(owner, args[0])
        return True

    def _pop(self, callee: Any, owner: list[Any], args: list[Any]) -> Any:
        """`list.pop`: only the item that it returns is read."""
        place = args[0] if args else -1
        count = list.__len__(owner)
        value = MISSING
        if type(place) is int and -count <= place < count:
            place %= count
            value = self.sources.item(owner, place, list.__getitem__(owner, place))
        self._touch(owner, "pop", args)
        popped = self.machine.native.call([], callee, *args)
        return self.result_of(popped) if value is MISSING or value is popped else value

    def _compared(self, name: str, owner: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a method in C compares, hashes or shows, None if that is not known."""
        if name == "sort" and kwargs.get("key") is not None:
            return None
        if isinstance(owner, (list, tuple, deque)):
            return [owner, *args] if name in _COMPARING else []
        if name in _COMPARING:
            return [owner, *args]
        if isinstance(owner, dict):
            return args[:1] if name in _OF_KEY else hashed_of(args)
        if isinstance(owner, (set, frozenset)) or name == "fromkeys":
            return args
        return [*args, *kwargs.values()] if isinstance(owner, str) else []

    def missing_item(self, obj: Any, key: Any) -> Any:
        """What a dictionary with `__missing__` has for a key that it does not hold."""
        return missing_item(self.machine, obj, key)

    def made_by_new(self, obj: Any) -> Any:
        """Note what a `__new__` in C returned, except for values of built-in classes, of which it may keep some."""
        kind = type(obj)
        own = kind is object or issubclass(kind, (BaseException, type)) or is_heap_type(kind)
        return self.machine.made(obj) if own and not self.sources.is_known(obj) else self.machine.made_if_fresh(obj, 1)

    def made_by_exception(self, part: Any) -> Any:
        """Note a group that was made of another one."""
        if isinstance(part, BaseException) and not self.sources.is_known(part) and id(part) not in self.created:
            self.machine.made(part)
        return part

    def result_of(self, value: Any, held: int = 1) -> Any:
        """What a native call returned: a new container, or an iterator that can then be taken back.

        Args:
            value: the result.
            held: how many variables hold it.
        """
        if is_opaque_iterator(value) and not isinstance(value, Journaled) and id(value) not in self.sources.known:
            return of_native(self.machine, value)
        return self.machine.made_if_fresh(value, held)

    def _reduce(self, callee: Any, owner: Any, args: list[Any]) -> Any:
        """What an object is copied from: its own `__reduce__`, or all its attributes."""
        own = self.machine.objects.user_method(owner, "__reduce__")
        if own is not None:
            return self.machine.calls.call(own, [owner], {})
        namespace = namespace_of(owner)
        if not namespace and type(owner) in _REDUCED:
            copied = self.gate.carried(owner)
            owner, callee = copied, (callee if copied is owner else getattr(copied, callee.__name__))
        elif isinstance(owner, tuple) and namespace is None and self._gives_arguments(owner, args):
            given = self.machine.calls.call(self.machine.attributes.get_attr(owner, "__getnewargs__"), [], {})
            return copyreg.__newobj__, (type(owner), *given)  # type: ignore[attr-defined]
        if namespace is not None:
            self.journal.namespaces[id(namespace)] = owner
        self.sources.held(owner)
        state = self.machine.objects.user_method(owner, "__getstate__")
        if state is None:
            reduced = self.machine.native.call((), callee, *args)
            if isinstance(reduced, tuple):  # the items of a container come as iterators, slots in a new dictionary
                for part in reduced:
                    if type(part) is tuple:
                        self.machine.made_inside(part)
                return tuple([self.result_of(part) for part in reduced])
            return reduced
        arguments = any(class_attribute(type(owner), n) is not MISSING for n in _NEW_ARGUMENTS)
        if arguments or isinstance(owner, (list, dict)):
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                f"{type(owner).__name__} is copied by __getstate__ together with other special methods",
                "define __copy__ and __deepcopy__",
            )
        return copyreg.__newobj__, (type(owner),), self.machine.calls.call(state, [owner], {})  # type: ignore[attr-defined]

    def _gives_arguments(self, owner: Any, args: list[Any]) -> bool:
        """Whether a tuple without attributes is copied from what its `__getnewargs__` gives, as a named tuple is."""
        own = self.machine.objects.user_method(owner, "__getnewargs__")
        state = self.machine.objects.look_up(type(owner), "__getstate__")
        others = "__getnewargs_ex__" if state in _NO_STATE else "__getstate__"
        absent = self.machine.objects.look_up(type(owner), others) is MISSING
        return own is not None and absent and not slots_of(type(owner)) and args[:1] == [4]

    def _refuse_lazy_text(self, args: list[Any]) -> None:
        for value in args:
            if isinstance(value, LazyText):
                str(value)


def _nesting(group: BaseException) -> int:
    """How deep exception groups are nested, as far as their first members tell."""
    depth = 0
    current: Any = group
    while isinstance(current, BaseExceptionGroup):
        depth += 1
        current = next((e for e in current.exceptions if isinstance(e, BaseExceptionGroup)), None)
    return depth


def _is_of_module(callee: Any) -> bool:
    """Whether a native callable is a function, or an object of a class that its module shows.

    Classes of extension modules may pass for builtins.
    """
    kind = type(callee)
    if kind in (types.BuiltinFunctionType, type):
        return True
    if kind.__qualname__ == _CACHED:  # which calls a function of the user's
        return False
    name = module_of(kind)
    module = sys.modules.get(name)
    return module is not None and name != "builtins" and getattr(module, kind.__name__, None) is kind


def _unknown(callee: Any) -> Unsupported:
    """The refusal of native code that may do anything."""
    return Unsupported(
        Refusal.UNKNOWN_CALL,
        f"weft cannot look into {_describe(callee)}: it does not know what the call depends on or changes",
        "call it outside the compiled function and pass the result in",
    )


def _is_harmless(kind: type) -> bool:
    """Whether methods in C of a class depend on nothing but the object and can be called while capturing."""
    if any(class_attribute(kind, name) is not MISSING for name in ("__await__", "__anext__", "send")):
        return False  # they go on with a coroutine, which cannot be taken back
    if kind.__qualname__ == _CACHED:
        return False  # nor can what it remembers
    module = module_of(kind)
    return module in PURE_MODULES or (module.partition(".")[0] in NATIVE_PACKAGES and "random" not in module)


def _describe(callee: Any) -> str:
    name = getattr(callee, "__qualname__", None) or type(callee).__qualname__
    module = getattr(callee, "__module__", None) or module_of(type(getattr(callee, "__self__", callee)))
    return f"{module}.{name}" if module and module != "builtins" else str(name)
