"""Attributes read, set and deleted as Python does, entering the user's own hooks, descriptors and properties."""

from __future__ import annotations

import functools
import types
from ast import AST
from typing import Any, Final

import numpy as np

from weft import lazily
from weft.capture.meaning.methods import descriptor_getter
from weft.capture.meaning.objects import PLAIN
from weft.capture.meaning.parts import Part
from weft.capture.python.classes import (
    MISSING,
    class_attribute,
    hides_class,
    is_changeable,
    is_data_descriptor,
    mark_of,
    of_hidden_class,
)
from weft.capture.python.namespaces import (
    NATIVE_MEMBERS,
    attribute_past_hooks,
    below_hooks,
    class_namespace,
    has_hooks,
    namespace_of,
)
from weft.capture.python.packages import is_ours
from weft.capture.python.specials import special_names
from weft.capture.state.journal import EMPTY_CELL, OF_EXCEPTIONS, OF_FUNCTIONS, Journaled, slot_value
from weft.capture.state.lazytext import LazyText, needs_characters
from weft.core.choice import Choice, class_of
from weft.core.run_number import RunNumber
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import KEEPING
from weft.errors import Refusal, Unsupported

_FRAME_KINDS: Final = (types.TracebackType, types.FrameType)
#: attributes of iterators and generators that the capture's own have too
_ITERATOR_ATTRIBUTES: Final = frozenset(
    {"__next__", "__iter__", "send", "throw", "close", "gi_running", "gi_suspended", "gi_yieldfrom", "gi_code"}
)
#: what writes attributes to where the capture can put them back, or writes none
_WRITERS: Final = tuple(
    kind.__setattr__
    for kind in (
        object, type, BaseException, types.ModuleType, types.SimpleNamespace, types.MethodType, functools.partial, AST,
    )
)  # fmt: skip
_RANGE_ATTRIBUTES: Final = frozenset({"start", "stop", "step"})
#: what look-ups give that is guarded by its value
_VALUES: Final = (int, float, complex, str, bytes, tuple, type(None), np.generic)


class Attributes(Part):
    """The part of the interpreter that reads and writes attributes."""

    def get_attr(self, obj: Any, name: str) -> Any:
        """`obj.name`."""
        kind = type(obj)
        if issubclass(kind, RunNumber):
            return getattr(obj.constant(), name)
        if kind is Parameter and name in obj.__dict__:
            return self.sources.attribute(obj, name, obj.__dict__[name])
        if kind is Choice and name in ("__class__", "__doc__", "__module__"):
            return class_of(obj) if name == "__class__" else getattr(class_of(obj), name)
        if kind is Choice and name in Choice.__dict__ and not hasattr(class_of(obj), name):
            raise AttributeError(f"'{class_of(obj).__name__}' object has no attribute {name!r}", name=name, obj=obj)
        if kind in PLAIN:
            if kind is Parameter and class_attribute(kind, name) is MISSING:
                self.sources.absent(obj, name)
            return getattr(obj, name)
        if kind is types.ModuleType:
            return self._module_attr(obj, name)
        if kind is super:
            return self._super_attr(obj, name)
        if isinstance(obj, Journaled):
            return self._iterator_attr(obj, name)
        if kind is LazyText:
            raise needs_characters()
        if kind in _FRAME_KINDS and not self.machine.frame.transparent:
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                f"the {kind.__name__} of captured code is looked into, which has none",
                "look into it outside the compiled function",
            )
        if name == "__traceback__" and id(obj) in self.machine.raised:
            if self.machine.frame.transparent:
                return obj.__traceback__  # of the capture, which the library hands on
            refusal = Unsupported(Refusal.UNSUPPORTED_SYNTAX, "the traceback of an exception is read")
            refusal.step, refusal.quiet = self.machine.raised[id(obj)][1], True
            raise refusal
        if not has_hooks(kind):
            return self._attr(obj, name, False, False)
        fallback = class_attribute(kind, "__getattr__")
        if (
            isinstance(fallback, types.FunctionType)
            and fallback.__code__ not in KEEPING
            and not self.machine.calls.is_native(fallback, obj)
        ):
            own = self._found_attr(obj, name, True)
            if own is not MISSING:
                return own
            return self.machine.calls.call(fallback, [obj, name], {})
        return self._found_attr(obj, name, False)

    def _module_attr(self, module: Any, name: str) -> Any:
        namespace = module.__dict__
        if name not in namespace:
            lazily.bring(module, name)
        if name not in namespace and not hasattr(types.ModuleType, name):
            self.sources.not_held(module, name)
            fallback = namespace.get("__getattr__")
            if isinstance(fallback, types.FunctionType) and not self.machine.calls.is_native(fallback, None):
                return self.machine.calls.call(self.sources.attribute(module, "__getattr__", fallback), [name], {})
            if fallback is None:
                self.sources.not_held(module, "__getattr__")
        return self.sources.attribute(module, name, getattr(module, name))

    def _iterator_attr(self, obj: Any, name: str) -> Any:
        """An attribute of one of the capture's own iterators."""
        kind = obj.stands_for
        if not hasattr(kind, name) and name != "__class__":
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'", name=name, obj=obj)
        if name == "__class__":
            return kind
        if name in (_RANGE_ATTRIBUTES if kind is range else _ITERATOR_ATTRIBUTES):
            return getattr(obj, name)
        if name in ("__name__", "__qualname__") and kind is types.GeneratorType:
            return getattr(obj.frame.function, name)
        raise Unsupported(
            Refusal.UNSUPPORTED_SYNTAX,
            f"{name!r} of a {kind.__name__} is read while capturing",
            "read it outside the compiled function",
        )

    def get_attr_or_none(self, obj: Any, name: str) -> Any:
        """`getattr(obj, name, None)`."""
        try:
            return self.get_attr(obj, name)
        except AttributeError:
            return None

    def special_method(self, obj: Any, name: str) -> Any:
        """A special method bound to its object, looked up in the class only; None if there is none."""
        found = class_attribute(type(obj), name)
        if found is MISSING:
            return None
        if isinstance(found, types.FunctionType):
            return types.MethodType(found, obj)
        return found.__get__(obj, type(obj)) if hasattr(type(found), "__get__") else found

    def _found_attr(self, obj: Any, name: str, optional: bool) -> Any:
        """`obj.name` without `__getattr__`; `MISSING` where that is to be called, if `optional`."""
        kind = type(obj)
        try:
            if hides_class(kind):
                raise of_hidden_class(kind)
            return self._attr(obj, name, optional, True)
        except AttributeError:
            if optional and not isinstance(class_attribute(kind, name), functools.cached_property):
                return MISSING
            raise

    def get_attr_plainly(self, obj: Any, name: str) -> Any:
        """`obj.name` where the class has no `__getattribute__` and no `__getattr__` to enter."""
        if type(obj) in PLAIN or issubclass(type(obj), (Journaled, super, types.ModuleType, RunNumber)):
            return self.get_attr(obj, name)
        return self._attr(obj, name, True, True)

    def _attr(self, obj: Any, name: str, optional: bool, hooked: bool) -> Any:
        """`obj.name` past `__getattribute__` and `__getattr__`.

        Args:
            obj: the object.
            name: the attribute.
            optional: whether `__getattr__` is asked where there is none.
            hooked: whether the class may have such methods that are the program's.
        """
        kind = type(obj)
        found = class_attribute(kind, name)
        if type(found) is property and isinstance(found.fget, types.FunctionType):
            self.machine.objects.look_up(kind, name)
            if not (self.machine.calls.is_native(found.fget, obj) and is_ours(found.fget)):
                return self.machine.calls.call(found.fget, [obj], {})
        elif isinstance(found, functools.cached_property):
            self.machine.objects.look_up(kind, name)
            namespace: Any = namespace_of(obj)
            cached = namespace.get(name, MISSING)
            if cached is MISSING:
                self.sources.not_held(obj, name)
                cached = self.machine.calls.call(found.func, [obj], {})
                self.journal.touch(obj)
                namespace[name] = cached
                return cached
            return self.sources.attribute(obj, name, cached)
        elif found is not MISSING and not isinstance(found, (types.FunctionType, property)):
            getter = descriptor_getter(self.machine, obj, name, found)
            if getter is not None:
                return self.machine.calls.call(getter, [found, obj, kind], {})
        if isinstance(obj, type) and name == "__annotations__" and id(obj) not in self.created:
            if name not in class_namespace(obj):
                raise Unsupported(Refusal.IMPURE_CALL, f"reading the annotations of {obj.__name__} makes them", "")
        elif isinstance(obj, type) and (found is MISSING or not is_data_descriptor(found)):
            self.machine.objects.look_up(kind, name)  # the metaclass may be given one that goes before the class's own
            found = class_attribute(obj, name)
            self.sources.meet(type(found))
            getter = class_attribute(type(found), "__get__")
            if isinstance(getter, types.FunctionType) and not self.machine.calls.is_native(getter, found):
                self.machine.objects.look_up(obj, name)
                return self.machine.calls.call(getter, [found, None, obj], {})
        try:
            value = attribute_past_hooks(obj, name) if hooked else getattr(obj, name)
        except AttributeError:
            if optional:
                self.machine.objects.look_up(kind, "__getattr__")
            self.sources.absent(obj, name)
            raise
        if (
            id(obj) in self.sources.opaque
            and not callable(value)
            and not isinstance(value, (tuple, str, int, np.dtype))
        ):
            self.machine.arrays.refuse_opaque(obj)
        if name == "__dict__" and type(value) is dict and namespace_of(obj) is not value:
            raise Unsupported(Refusal.UNSUPPORTED_SYNTAX, f"the attributes of a {kind.__name__} are C code's own")
        if name == "__dict__" and id(obj) in self.created:
            self.journal.namespaces[id(value)] = obj
            return self.machine.made(value)
        if (
            isinstance(obj, type) and type(value) is types.MappingProxyType
        ):  # the namespace of a class, a new view of it at each look-up
            self.sources.class_namespace(obj, name, dict(value))
            return value
        if id(value) in self.created:
            return value
        made_by_look_up = value is not found and _is_in_c(found)
        made_by_look_up = made_by_look_up and not isinstance(value, _VALUES)
        if made_by_look_up and found.__get__(obj, kind) is not value:  # as a view of an array is
            self.sources.inside(obj)
            if name == "flags":
                self.sources.flags(obj)
            return self.machine.made(value)
        if self._is_versioned(obj, name, value):
            self.sources.version(obj)
            return value
        return self.sources.attribute(obj, name, value)

    def _is_versioned(self, obj: Any, name: str, value: Any) -> bool:
        """Whether library code reads a value or method of one of the library's Cells: its version stands for them."""
        kind = type(obj)
        if mark_of(kind, "__weft_versions__") is None or is_changeable(kind) or id(obj) in self.created:
            return False
        of_class = getattr(value, "__func__", None) is class_attribute(kind, name)
        if not (of_class or isinstance(value, _VALUES)) or not is_ours(self.machine.frame.function):
            return False
        return not self.machine.calls.holds_user_code(obj)  # else it is called step by step

    def _super_attr(self, obj: Any, name: str) -> Any:
        owner, start = obj.__self__, obj.__self_class__
        mro = start.__mro__
        self.sources.inherited(start, obj.__thisclass__, name)
        for cls in mro[mro.index(obj.__thisclass__) + 1 :]:
            found = cls.__dict__.get(name, MISSING)
            if found is MISSING:
                continue
            if isinstance(found, property) and found.fget is not None and owner is not start:
                return self.machine.calls.call(found.fget, [owner], {})
            self.sources.meet(type(found))
            getter = class_attribute(type(found), "__get__")
            if isinstance(getter, types.FunctionType) and not self.machine.calls.is_native(getter, found):
                self.machine.objects.look_up(type(found), "__get__")
                return self.machine.calls.call(getter, [found, None if owner is start else owner, start], {})
            break
        return getattr(obj, name)

    def set_attr(self, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value`."""
        kind = type(obj)
        custom = self.machine.objects.look_up(kind, "__setattr__")
        if isinstance(custom, types.FunctionType) and not self.machine.calls.is_native(
            custom, None
        ):  # that of a Cell is the library's
            self.machine.calls.call(custom, [obj, name, value], {})
            return
        self.set_attr_plainly(obj, name, value)

    def set_attr_plainly(self, obj: Any, name: str, value: Any) -> None:
        """`obj.name = value` where the class has no `__setattr__` of its own to enter."""
        self._refuse_write(obj, name)
        self._refuse_look_up_written(obj, name, value)
        found = class_attribute(type(obj), name)
        self.machine.objects.look_up(type(obj), name)
        self.sources.meet(type(found))
        if isinstance(found, property) and isinstance(found.fset, types.FunctionType):
            if not self.machine.calls.is_native(found.fset, obj):
                self.machine.calls.call(found.fset, [obj, value], {})
                return
        elif found is not MISSING:
            setter = class_attribute(type(found), "__set__")
            if isinstance(setter, types.FunctionType) and not self.machine.calls.is_native(setter, found):
                self.machine.calls.call(setter, [found, obj, value], {})
                return
        if _is_in_c(found) and not self._journal_restores(obj, found):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{name!r} of a {type(obj).__name__} is set, which cannot be taken back",
                "set it outside the compiled function",
            )
        is_class = issubclass(type(obj), type)
        namespace: Any = class_namespace(obj) if is_class else namespace_of(obj) or {}
        if slotted := isinstance(found, types.MemberDescriptorType):
            old = slot_value(obj, found)
            old = MISSING if old is EMPTY_CELL else old
        else:
            old = namespace.get(name, found)

        def read(held: Any) -> Any:
            past = is_class and held is not old
            return (self.sources.class_attribute if past else self.sources.attribute)(obj, name, held)

        if type(namespace) is dict and name in namespace:
            self.machine.objects.read_old(namespace, name, old, value, read)
        elif self.machine.objects.depends_on_old(old, value):
            if old is MISSING and is_class:
                self.sources.holder((obj,), name)
            elif old is MISSING:
                self.sources.absent(obj, name)
            else:
                with self.sources.constants():
                    read(old)
        else:
            named = slotted or is_class
            self.machine.objects.read_old(obj if named else namespace, name, old, value, read, named)
        self.journal.touch(obj)
        below_hooks(type(obj), "__setattr__")(obj, name, value)

    def _journal_restores(self, obj: Any, member: Any) -> bool:
        """Whether the journal keeps a native attribute, or nothing but the capture's end needs to take it back."""
        name = getattr(member, "__name__", "")
        if name in ("__class__", "__dict__"):
            return id(obj) in self.created and len(self.journal.layers) == 1 and name == "__class__"
        if isinstance(obj, (Tensor, types.CellType)):
            return True
        if isinstance(obj, BaseException) and name in (*OF_EXCEPTIONS, "__traceback__"):
            return True
        if isinstance(member, types.MemberDescriptorType) and "__slots__" in member.__objclass__.__dict__:
            return True
        if id(obj) not in self.created:
            return False
        return not self.journal.on_a_side() or (isinstance(obj, types.FunctionType) and name in OF_FUNCTIONS)

    def _refuse_write(self, obj: Any, name: str) -> None:
        if isinstance(obj, Journaled) or type(obj) in _FRAME_KINDS:
            kind: type = obj.stands_for if isinstance(obj, Journaled) else type(obj)
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                f"{name!r} of a {kind.__name__} is written while capturing",
                "write it outside the compiled function",
            )
        ours = id(obj) in self.created and type(obj) is not functools.partial
        if isinstance(obj, functools.partial) and not ours and namespace_of(obj) is None:
            raise Unsupported(
                Refusal.IMPURE_CALL, "the first attribute of a partial is written, which cannot be taken back", ""
            )
        writer = below_hooks(type(obj), "__setattr__")
        if writer not in _WRITERS and not isinstance(writer, types.FunctionType):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"attributes of a {type(obj).__name__} are written by C code of its own, which cannot be undone",
                "keep what changes in an ordinary object",
            )

    def _refuse_look_up_written(self, obj: Any, name: str, value: Any) -> None:
        """Refuse to change how the attributes of a class from outside, or of its instances, are found: guards look them
        up as they were found before the call.
        """
        if not issubclass(type(obj), type) or id(obj) in self.created:
            return
        if special_names({name: value}) or any(map(_answers_itself, (class_attribute(obj, name), value))):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{name!r} of the class {obj.__name__} is changed, which decides how attributes or operators are found",
                "change the class outside the compiled function",
            )

    def delete_attr(self, obj: Any, name: str) -> None:
        """`del obj.name`."""
        custom = self.machine.objects.user_method(obj, "__delattr__")
        if custom is not None:
            self.machine.calls.call(custom, [obj, name], {})
            return
        self.delete_attr_plainly(obj, name)

    def delete_attr_plainly(self, obj: Any, name: str) -> None:
        """`del obj.name` where the class has no `__delattr__` of its own to enter."""
        self._refuse_write(obj, name)
        self._refuse_look_up_written(obj, name, MISSING)
        found = class_attribute(type(obj), name)
        if (
            type(found) is property
            and isinstance(found.fdel, types.FunctionType)
            and not self.machine.calls.is_native(found.fdel, obj)
        ):
            self.machine.calls.call(found.fdel, [obj], {})
            return
        deleter = class_attribute(type(found), "__delete__") if found is not MISSING else MISSING
        if isinstance(deleter, types.FunctionType) and not self.machine.calls.is_native(deleter, found):
            self.machine.calls.call(deleter, [found, obj], {})
            return
        if _is_in_c(found) and not self._journal_restores(obj, found):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                f"{name!r} of a {type(obj).__name__} from outside is deleted, which cannot be taken back",
                "delete it outside the compiled function",
            )
        namespace = namespace_of(obj) or {}
        if issubclass(type(obj), type):
            self.sources.is_held(obj, name)
        elif name in namespace:
            self.sources.attribute(obj, name, namespace[name])
        elif not isinstance(found, types.MemberDescriptorType):
            self.sources.not_held(obj, name)
        elif (filled := slot_value(obj, found)) is EMPTY_CELL:
            self.sources.absent(obj, name)
        else:
            self.sources.attribute(obj, name, filled)
        self.journal.touch(obj)
        below_hooks(type(obj), "__delattr__")(obj, name)


def _answers_itself(member: Any) -> bool:
    """Whether what a class has under a name decides what an instance gives for it, as properties do; functions only
    become methods.
    """
    kind = type(member)
    hooks = [class_attribute(kind, name) for name in ("__get__", "__set__", "__delete__")]
    return kind is not types.FunctionType and any(hook is not MISSING for hook in hooks)


def _is_in_c(member: Any) -> bool:
    """Whether C code reads and writes an attribute, as a class has it: nobody knows where it is kept."""
    if isinstance(member, NATIVE_MEMBERS):
        return True
    if member is MISSING or isinstance(member, property):
        return False
    setter = class_attribute(type(member), "__set__")
    return setter is not MISSING and not isinstance(setter, types.FunctionType)
