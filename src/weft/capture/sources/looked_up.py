"""What classes have under a name, as look-ups of attributes find it, and what the call itself has changed of that."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from weft.capture.python.classes import MISSING, class_attribute, is_changeable, is_plain_lookup
from weft.capture.python.namespaces import namespace_of
from weft.capture.python.spelling import spelled_attribute
from weft.capture.sources.asked import Asked


class LookedUp(Asked):
    """Look-ups in classes, each guarded by what they leave as it was before the call."""

    def look_up(self, kind: type, name: str) -> Any:
        """What a class and its bases define under a name, guarded: the class may be changed before the next call."""
        found = class_attribute(kind, name)
        self.class_attribute(kind, name, found)
        return found

    def class_attribute(self, kind: type, name: str, found: Any) -> None:
        """A name was looked up in a class and its bases, without binding.

        Args:
            kind: the class.
            name: the name.
            found: what was found; `MISSING` if nothing.
        """
        if id(kind) in self.created and (holder := self.holder(kind.__mro__, name)) is not None:
            kind = holder
        if not self.guarded or not is_changeable(kind) or id(kind) in self.created:
            return
        if self.wrote_objects() and self._is_looked_up_otherwise(kind, name):
            self._of_changed_class(kind.__mro__, name)
            return
        owner = self.name(kind, "class")
        path = f"{kind.__name__}.{name}"
        if is_plain_lookup(kind, name, found):
            read = getattr(kind, name, MISSING)
            if read is MISSING is found:
                self._guard(f"not hasattr({owner}, {name!r})", "absent", path)
                return
            if read is found:
                if isinstance(found, types.FunctionType) and (cls := self.holder(kind.__mro__, name)) is not None:
                    self._stays(f"{self.attributes(cls)}[{name!r}]", found, path)  # a staticmethod would read the same
                    return
                self._stays(spelled_attribute(type(kind), owner, name, self.name), found, path)
                return
        self._stays(f"{self.name(class_attribute, 'object')}({owner}, {name!r})", found, path)

    def _stays(self, expression: str, value: Any, path: str) -> None:
        """Guard that a class still has an object, of which more may be read: a container, a descriptor's state."""
        self._guard(f"{expression} is {self._object(value)}", "identity", path)
        if id(value) not in self.created:
            self.root(value, expression)
            self.paths.setdefault(expression, path)

    def inherited(self, kind: type, after: type, name: str) -> None:
        """A name was looked up in the bases of a class that follow another one, as `super()` does."""
        if not self.guarded:
            return
        mro = kind.__mro__
        cls = self.holder(mro[mro.index(after) + 1 :], name)
        if cls is not None:
            self.class_attribute(cls, name, cls.__dict__[name])

    def holder(self, classes: Sequence[type], name: str) -> type | None:
        """The first of some classes to define a name, guarded; None if its attributes are taken not to change."""
        for cls in classes:
            outside = is_changeable(cls) and id(cls) not in self.created
            if name in cls.__dict__:
                return cls if outside else None
            before = self.before(cls)
            if outside and (before is None or name not in before["class"]):
                self._guard(f"{name!r} not in {self.attributes(cls)}", "absent", f"{cls.__name__}.{name}")
        return None

    def is_held(self, cls: type, name: str) -> None:
        """Whether a class itself has a name was asked, whatever its bases have."""
        before = self.before(cls)
        if not is_changeable(cls) or id(cls) in self.created:
            return
        held = name in cls.__dict__
        if before is None or (name in before["class"]) is held:
            condition = f"{name!r} {'in' if held else 'not in'} {self.attributes(cls)}"
            self._guard(condition, "absent", f"{cls.__name__}.{name}", held)

    def _is_looked_up_otherwise(self, obj: Any, name: str) -> bool:
        """Whether the capture has changed what the look-up of an attribute finds: in the classes, or since the object
        itself no longer has it. Guards are asked before the call's own writes, so they must not look it up like that.
        """
        for classes in (type(obj).__mro__, obj.__mro__ if isinstance(obj, type) else ()):
            for cls in classes:
                before = self.before(cls)
                if before is not None and before["class"].get(name, MISSING) is not cls.__dict__.get(name, MISSING):
                    return True
                if name in cls.__dict__:
                    break
        held = self.before(obj)
        gone = isinstance(held, dict) and name in held.get("attributes", ())
        return gone and name not in (namespace_of(obj) or ())

    def _of_changed_class(self, classes: Sequence[type], name: str) -> None:
        """A name was looked up in classes of which the capture has changed some under that name: each is asked for what
        the capture has left as it was.
        """
        cls = self.holder(classes, name)
        if cls is None:
            return
        before, found = self.before(cls), cls.__dict__[name]
        if before is None or before["class"].get(name, MISSING) is found:
            self._stays(f"{self.attributes(cls)}[{name!r}]", found, f"{cls.__name__}.{name}")


def looked_through(obj: Any) -> tuple[type, ...]:
    """The classes through which an attribute is looked up: for a class, its own, then those of its metaclass."""
    own: tuple[type, ...] = obj.__mro__ if isinstance(obj, type) else ()
    return (*own, *type(obj).__mro__)
