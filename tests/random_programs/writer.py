"""The writer of random programs: names in scope, expressions, blocks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

_INDENT: Final = "    "
#: conditions compare with what sums of quarters rarely are
_LIMITS: Final = ("0", "0.6", "-1.1", "2.3")


class Writer:
    """Writes the body of one program. Arithmetic is on multiples of powers of two, so that texts can be compared.

    Args:
        rng: where all choices come from.
        own: how the program calls the object that it is a method of, "" for a function.
        depth: how deep its body stands.
    """

    def __init__(self, rng: random.Random, own: str, depth: int) -> None:
        self.rng = rng
        self.own = own
        self.depth = depth
        self.lines: list[str] = []
        self.numbered = 0
        self.budget = rng.randint(2, 4)
        self.in_loop = 0
        self.in_function = 0
        self.names: dict[str, list[str]] = {
            "tensor": ["x", "y", "x", "y", "w", "const", "net.w", "box.t"],
            "handle": ["w", "u", "net.w", "const", "x", "w"],
            "parameter": ["w", "u", "net.w"],
            "int": ["k", "scale", "net.k", "box.n", "count", "len(items)", "k"],
            "list": ["items", "alias", "seen", "box.items", "net.seen"],
            "dict": ["table", "named"],
            "float": [],
            "bool": [],
            "object": ["box", "watched", "looked", "slots", "net", "box"],
        }
        if own:
            self.names["tensor"] += [f"{own}.w", f"{own}.t"]
            self.names["handle"] += [f"{own}.w", f"{own}.v", f"{own}.t"]
            self.names["parameter"] += [f"{own}.w", f"{own}.v"]
            self.names["int"] += [f"{own}.k", f"{own}.k"]
            self.names["list"] += [f"{own}.seen"]
            self.names["object"] += [own, own]

    # -- lines ---------------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        """Add a statement, or several lines with their indentation."""
        self.lines += [_INDENT * self.depth + line for line in text.splitlines()]

    def fresh(self, letter: str) -> str:
        """A new name."""
        self.numbered += 1
        return f"{letter}{self.numbered}"

    def bind(self, kind: str, text: str) -> str:
        """Assign to a new variable."""
        name = self.fresh(kind[0])
        self.emit(f"{name} = {text}")
        self.names[kind] += [name, name]
        return name

    @contextmanager
    def scope(self) -> Iterator[None]:
        """An indented suite; what it binds is not known after it."""
        saved = {kind: list(names) for kind, names in self.names.items()}
        self.depth += 1
        first = len(self.lines)
        yield
        if len(self.lines) == first:
            self.emit("pass")
        self.depth -= 1
        self.names = saved

    def block(self, most: int = 2) -> None:
        """An indented suite of statements."""
        with self.scope():
            for _ in range(self.rng.randint(1, most)):
                self.statement()

    def statement(self) -> None:
        """One statement."""
        self.budget -= 1
        compound = self.depth < 5 and self.budget > 0 and self.rng.random() < 0.4
        rules, weights = _TABLES["compound" if compound else "simple"]
        self.rng.choices(rules, weights)[0](self)

    # -- expressions ---------------------------------------------------------------------------------------------------

    def one(self, *texts: str) -> str:
        """One of some texts."""
        return self.rng.choice(texts)

    def pick(self, kind: str) -> str:
        """Something in scope; what was bound last more often."""
        pool = self.names[kind]
        return self.rng.choice(pool if self.rng.random() < 0.6 else pool[-4:])

    def tensor(self) -> str:
        """A tensor of two numbers, or rows of two."""
        a, b = self.pick("tensor"), self.pick("tensor")
        return self.one(
            a, f"{a} * 0.5", f"{a} + {b}", f"{a} - {self.integer()}", f"{a} * {self.integer()}", f"ops.relu({a} - {b})",
            f"ops.maximum({a}, {b})", f"({a} if {self.condition()} else {b})", f"net({a})", f"double({a})",
            f"{self.integer()} + {a}", f"choose({self.condition()}, {a}, {b})", f"outside({a})", f"counter({a})",
            f"{a}.clip(-3.0, 3.0)",
        )  # fmt: skip

    def integer(self) -> str:
        """A Python number."""
        return self.one(self.pick("int"), self.pick("int"), str(self.rng.randint(0, 3)))

    def read(self) -> str:
        """A number that the program finds outside itself."""
        own = [f"{self.own}.k"] * 2 if self.own else []
        return self.one("scale", "net.k", "box.n", "table['a']", "box.twice", "lazy.size", "looked.n", *own)

    def tensor_condition(self) -> str:
        """A condition that a tensor decides."""
        a = self.one("x", "x", "y", self.pick("tensor"))
        limit = self.one(*_LIMITS)
        return self.one(f"{a}.sum() > {limit}", f"{a}.max() < {limit}", f"{a}.sum() > {limit}", f"{a}.min() > {limit}")

    def condition(self) -> str:
        """A condition, mostly on a tensor."""
        if self.rng.random() < 0.7:
            return self.tensor_condition()
        return self.one(
            f"{self.pick('int')} > 1", "flag", "net.on", f"{self.pick('int')} % 2", f"len({self.pick('list')}) > 3",
            f"{self.pick('handle')} is {self.pick('handle')}", "k",
        )  # fmt: skip

    def chosen(self) -> str:
        """A handle that a tensor chooses."""
        a, b = self.pick("handle"), self.pick("handle")
        index = self.one(f"int({self.one('x', 'y')}.sum() > 0)", "int(x.argmax()) % 2")
        return self.one(
            f"{a} if {self.tensor_condition()} else {b}", f"{a} if {self.tensor_condition()} else {b}",
            f"choose({self.tensor_condition()}, {a}, {b})", f"[{a}, {b}][{index}]", f"handles[{index}]",
            f"named['w' if {self.tensor_condition()} else 'u']",
        )  # fmt: skip

    def value(self) -> str:
        """Anything that can be kept."""
        return self.one(
            self.pick("tensor"), self.pick("handle"), self.pick("int"), self.tensor(), f"[{self.pick('handle')}]",
            f"({self.pick('int')}, {self.pick('tensor')})", f"f'{{{self.pick('int')}}}'",
            f"{self.pick('handle')} is {self.pick('handle')}",
        )  # fmt: skip


Rule = Callable[[Writer], Any]
_TABLES: Final[dict[str, tuple[list[Rule], list[float]]]] = {"simple": ([], []), "compound": ([], [])}


def simple(weight: float = 1.0) -> Callable[[Rule], Rule]:
    """Register a rule that writes statements without inner statements."""
    return _registered("simple", weight)


def compound(weight: float = 1.0) -> Callable[[Rule], Rule]:
    """Register a rule that writes a statement with suites."""
    return _registered("compound", weight)


def _registered(table: str, weight: float) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        _TABLES[table][0].append(rule)
        _TABLES[table][1].append(weight)
        return rule

    return register
