"""Every method and attribute of the classes of the kinds, from `dir`, each with arguments that it takes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Final

from tests.containers.operands import KINDS, operand, ways
from tests.containers.running import by_turns, makes_sense, program
from tests.gate.matrix import turn
from tests.gate.programs import Program

#: argument lists, the likeliest first
ARGUMENTS: Final = (
    "",
    "y",
    "0",
    "'a'",
    "v[0]",
    "'a', y",
    "0, y",
    "'z', y",
    "v",
    "[y, 1]",
    "{'a': y}",
    "[('a', y), ('z', 1)]",
    "{1, 2}",
    "iter([1, y])",
    "slice(0, 2)",
    "slice(0, 2), [y, 1]",
    "int(x[0]) % 2",
    "int(x[0]) % 2, y",
    "x.shape[0] - 2",
    "x.shape[0]",
    "key=repr",
    "key=lambda a: 0",
    "lambda a: a",
    "reverse=True",
    "a=y",
    "z=y, b=1",
    "None",
    "1, 2",
    "2",
    "2, 1",
    "1.5",
    "{'a': 1}",
    "{'a': 1, 'z': 2}, b=3",
    "collections.Counter(a=1, z=x.shape[0])",
    "[[1.0, 2.0], [3.0, 4.0]]",
    "[1, 0]",
    "1, axis=0",
    "axis=0",
    "axis=-1",
    "'float32'",
    "np.float64",
    "(2, -1)",
    "(1, 0), 2.5",
    "0, 1",
    "[0, 1], np.array([1, 2, 3])",
    "(np.array([1, 2, 3]),)",
    "[0, 1], 2.5",
    "min=0, max=2",
    "'r'",
    "'a', 'b'",
    "'-'",
    "b'a'",
    "b'a', b'b'",
    "['a', f'{x.shape[0]}']",
    "[b'a', b'b']",
    "9",
    "9, '*'",
    "9, b'*'",
    "{97: 'x'}",
    "4, 'little'",
    "'utf8'",
    "'__len__'",
    "3",
    "int(x[0]), 5",
    "x.shape[0], 7",
)
#: what ends things, looks at addresses or sizes, or is the machinery of classes
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
    "__module__",
    "__annotations__",
    "__weakref__",
    "__abstractmethods__",
    "__array_interface__",
    "__array_struct__",
    "__slots__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "_abc_impl",
    "ctypes",
    "data",
    "dump",
    "tofile",
    "setflags",
}
#: calls of one method
MOST: Final = 3


def members(kind: str) -> list[str]:
    """Names of the methods and attributes of a kind; of what all objects have, those that read the contents."""
    cls = KINDS[kind].cls
    common = set(vars(object)) - {
        "__eq__",
        "__ne__",
        "__repr__",
        "__str__",
        "__format__",
        "__setattr__",
        "__getattribute__",
    }
    return [name for name in dir(cls) if name not in _LEFT_OUT | common]


def calls(kind: str, name: str) -> Iterator[Program]:
    """Programs that use a method or an attribute, at most `MOST`: the likeliest arguments, and others by turns."""
    inside = by_turns(KINDS[kind].insides, "inside", kind, name)
    attribute = getattr(KINDS[kind].cls, name, None)
    if isinstance(attribute, types.MemberDescriptorType | types.GetSetDescriptorType | property | str | int):
        texts = [f"r = v.{name}, v"]
    else:
        found = [f"r = v.{name}({text}), v" for text in ARGUMENTS if makes_sense(f"r = v.{name}({text})", kind, inside)]
        # the first, and others
        rest = sorted(found[1:], key=lambda text: turn("argument", kind, text))
        texts = [*found[:1], *rest[: MOST - 1]] or [f"r = v.{name}(y)"]
    for number, text in enumerate(texts):
        arguments = text.removeprefix(f"r = v.{name}").removesuffix(", v")
        way = by_turns(ways(kind), "way", kind, name, number)
        yield program(f"{KINDS[kind].cls.__name__}.{name}{arguments}", text, operand(kind, inside, way))


def programs(kind: str, share: int = 1, which: int = 0) -> list[Program]:
    """The programs of a kind; of a share, those of one name in so many."""
    found = []
    for name in members(kind):
        if turn("share", kind, name) % share == which:
            found += calls(kind, name)
    return found
