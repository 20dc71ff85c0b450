"""A place in an object for what belongs to that object alone: it is not copied with it, and not pickled."""

from __future__ import annotations

import weakref
from typing import Any

from weft.core.transparency import keeps


@keeps
class Home:
    """Things that an object owns by its identity, such as the graphs compiled for it.

    A copy of the object, also one that shares its attributes, starts with an empty home of its own.

    Args:
        owner: the object; None for one that is not known yet.

    Example:
        >>> import copy
        >>> class Box: pass
        >>> box = Box()
        >>> box.home = Home(box)
        >>> box.home.things["key"] = 1
        >>> copy.deepcopy(box).home.things
        {}
        >>> box.home.belongs_to(box), copy.copy(box).home.belongs_to(copy.copy(box))
        (True, False)
    """

    __slots__ = ("owner", "things")

    def __init__(self, owner: Any = None) -> None:
        self.owner = None if owner is None else weakref.ref(owner)
        self.things: Any = {}

    def belongs_to(self, obj: Any) -> bool:
        """Whether this is the home of an object."""
        return self.owner is not None and self.owner() is obj

    def __copy__(self) -> Home:
        return Home()

    def __deepcopy__(self, memo: dict[int, Any]) -> Home:
        return Home()

    def __reduce__(self) -> tuple[type[Home], tuple[()]]:
        return Home, ()
