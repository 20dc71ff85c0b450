"""How generated code spells names and values: the one place that knows what may be written and what needs a name."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from weft.capture.python.namespaces import NATIVE_MEMBERS, attribute_past_hooks, below_hooks, has_hooks, namespace_of

#: gives an object a name in the scope of the code
Name = Callable[[Any, str], str]


def is_spelled(name: Any) -> bool:
    """Whether an attribute of this name can be written after a dot, and is then the attribute of this name.

    Python turns identifiers into their NFKC form, so others than those of ASCII are not the text that one reads.
    """
    return type(name) is str and name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def spelled_attribute(kind: type, owner: str, name: str, named: Name) -> str:
    """The expression that reads an attribute without running code of the program's.

    Args:
        kind: the class of the object that has it.
        owner: the expression for that object.
        name: the attribute.
        named: gives an object a name in the scope of the code.
    """
    if has_hooks(kind):
        return f"{named(attribute_past_hooks, 'function')}({owner}, {name!r})"
    return f"{owner}.{name}" if is_spelled(name) else f"getattr({owner}, {name!r})"


def spelled_namespace(kind: type, owner: str, named: Name) -> str:
    """The expression for the dictionary with the attributes of an instance."""
    member = next((cls.__dict__["__dict__"] for cls in kind.__mro__ if "__dict__" in cls.__dict__), None)
    if type(member) in NATIVE_MEMBERS and not has_hooks(kind):
        return f"{owner}.__dict__"
    return f"{named(namespace_of, 'function')}({owner})"


def stores_plainly(kind: type, name: Any) -> bool:
    """Whether a statement that sets an attribute of an instance does no more than to put it into its `__dict__`."""
    if not is_spelled(name) or below_hooks(kind, "__setattr__") is not object.__setattr__ or has_hooks(kind):
        return False
    if kind.__setattr__ is not object.__setattr__:
        return False
    found = type(next((cls.__dict__[name] for cls in kind.__mro__ if name in cls.__dict__), None))
    return not (hasattr(found, "__set__") or hasattr(found, "__delete__"))
