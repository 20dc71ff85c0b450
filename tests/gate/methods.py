"""Every method and attribute of the builtin classes as operations, with the operand as receiver and as argument."""

from __future__ import annotations

from typing import Final

#: receivers made in the program, into which the operand is passed
RECEIVERS: Final[dict[type, str]] = {
    tuple: "(3, 1, 2, True)",
    list: "[3, 1, 2, True]",
    dict: "{0: 'zero', 1: 'one', 'a': 2, (1, 2): 3}",
    set: "{0, 1, 'a', (1, 2)}",
    frozenset: "frozenset({0, 1, 'a', (1, 2)})",
    str: "'a-b {} %s'",
    bytes: "b'a-b 1'",
    bytearray: "bytearray(b'a-b 1')",
    range: "range(5)",
    slice: "slice(1, 4)",
    int: "(5)",
    float: "(2.5)",
    complex: "(2+1j)",
    bool: "True",
    type(None): "None",
    type: "int",
    object: "P(3)",
}

#: kinds of operands that are instances of each class
INSTANCES: Final[dict[type, tuple[str, ...]]] = {
    tuple: ("tuple", "equal tuples", "named tuple", "branch tuple", "shape", "tuple of run-time"),
    list: ("list", "branch list", "list of run-time", "list of tensors", "list of objects"),
    dict: ("dict", "nested", "branch dict", "dict of run-time", "dict of tensors"),
    set: ("set",),
    frozenset: ("frozenset",),
    str: ("str", "branch str"),
    bytes: ("bytes",),
    bytearray: ("bytearray",),
    range: ("range",),
    slice: ("slice",),
    int: ("int", "bool", "run-time int", "run-time small int", "branch int", "loop int", "size", "run-time bool"),
    float: ("float", "plain float", "run-time float", "run-time plain float", "loop float"),
    complex: ("complex", "run-time complex"),
    type: ("type",),
    object: ("object", "special object", "dataclass", "enum", "object of run-time"),
}

#: argument lists of a method of the operand, the likeliest first
FOR_RECEIVER: Final = (
    "",
    "1",
    "C",
    "'a'",
    "b'a'",
    "0, 2",
    "'a', 1",
    "'a', 'b'",
    "b'a', b'b'",
    "1, 'little'",
    "[1, 'a']",
    "'a', [1]",
    "['a', 'b']",
    "[b'a', b'b']",
    "{'a': 1}",
    "[('a', 1)]",
    "'k'",
    "'k', 1",
    "slice(0, 1)",
    "slice(0, 1), [5]",
    "0, 5",
    "4, '*'",
    "4, b'*'",
    "key=repr",
    "reverse=True",
    "a=1",
    "'utf8'",
    "{97: 'x'}",
    "1, 2",
    "2, 3, 4",
    "3, 1",
)
#: argument lists of a method of a constant that take the operand
FOR_ARGUMENT: Final = (
    "v",
    "C, v",
    "v, C",
    "[v]",
    "v, 1",
    "1, v",
    "[(v, 1)]",
    "{v: 1}",
    "a=v",
    "v, 'little'",
    "[v, 1]",
    "'a', v",
    "b'a', v",
    "'a', 'b', v",
    "slice(0, 1), v",
    "slice(v, None), [1]",
    "key=lambda a: (a == v, a)",
    "key=v",
    "reverse=v",
    "v, '*'",
    "4, v",
    "0, v",
    "'k', v",
    "'a', 0, v",
)
#: what ends things, looks at addresses, or is the machinery of classes
_LEFT_OUT: Final = {
    "__class__",
    "__init_subclass__",
    "__subclasshook__",
    "__del__",
    "__dir__",
    "__sizeof__",
    "__hash__",
    "__doc__",
    "__new__",
    "__getstate__",
    "__subclasses__",
    "__base__",
    "__bases__",
    "__basicsize__",
    "__dictoffset__",
    "__flags__",
    "__itemsize__",
    "__weakrefoffset__",
    "__abstractmethods__",
    "__annotations__",
    "__dict__",
    "__text_signature__",
    "__prepare__",
    "__subclasscheck__",
    "__buffer__",
    "__release_buffer__",
    "__static_attributes__",
    "__firstlineno__",
    "__type_params__",
    "mro",
}


def members(cls: type) -> list[str]:
    """Names of the methods and attributes of a class; of what all objects have only with `object` itself."""
    common = set() if cls is object else set(vars(object)) - {"__eq__", "__repr__", "__str__", "__format__"}
    return [name for name in dir(cls) if name not in _LEFT_OUT | common]
