"""Random programs of views, writes and reads, which NumPy and tensors both run; NumPy says what shares elements."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

#: the shapes of the arguments `x` and `y`
SHAPES = ((3, 4), (2, 3, 2))


class Writer:
    """Writes one program: the text of a function `f(x, y)` that returns all its variables.

    Args:
        seed: of the random choices.
        control: how deep branches and loops on tensors may nest.
        breaks: whether the program looks at numbers between its statements.
    """

    def __init__(self, seed: int, control: int = 0, breaks: bool = False) -> None:
        self.random = random.Random(seed)
        self.control = control
        self.breaks = breaks
        self.shapes: dict[str, tuple[int, ...]] = dict(zip("xy", SHAPES, strict=True))
        #: variables that may be written
        self.count = 0
        self.lines: list[str] = []

    def program(self, length: int) -> str:
        """The text of a program of this many statements."""
        self.block(length, 1, self.control)
        names = ", ".join(self.shapes)
        return "\n".join(["def f(x, y):", *self.lines, f"    return {names},"]) + "\n"

    def block(self, length: int, indent: int, control: int) -> None:
        for _ in range(length):
            if control and self.random.random() < 0.3:
                self.compound(indent, control - 1)
            else:
                self.put(indent, self.random.choice([self.view, self.view, self.write, self.write, self.new])())
            if self.breaks and indent == 1 and self.random.random() < 0.4:
                self.put(indent, f"look({self.random.choice([*self.shapes])})")

    def put(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def compound(self, indent: int, control: int) -> None:
        """A branch or a loop; what is assigned in it existed before, with the same shape."""
        name = self.random.choice([*self.shapes])
        before = dict(self.shapes)
        if self.random.random() < 0.6:
            self.put(indent, f"if {name}.sum() > {self.random.randint(-20, 60)}:")
            self.block(self.random.randint(1, 3), indent + 1, control)
            self.rebind(indent + 1, before)
            self.shapes = dict(before)
            if self.random.random() < 0.6:
                self.put(indent, "else:")
                self.block(self.random.randint(1, 3), indent + 1, control)
                self.rebind(indent + 1, before)
        else:
            counter = f"i{len(self.lines)}"
            self.put(indent, f"{counter} = {name}.sum() * 0")
            self.put(indent, f"while {counter} < {self.random.randint(0, 3)}:")
            self.put(indent + 1, f"{counter} = {counter} + 1")
            self.block(self.random.randint(1, 3), indent + 1, control)
            self.rebind(indent + 1, before)
        self.shapes = before

    def rebind(self, indent: int, before: dict[str, tuple[int, ...]]) -> None:
        """Let a variable from before hold a tensor of the block."""
        pairs = [
            (old, new)
            for old in before
            for new in self.shapes
            if old not in "xy" and old != new and before[old] == self.shapes[new]
        ]
        if pairs and self.random.random() < 0.5:
            old, new = self.random.choice(pairs)
            self.put(indent, f"{old} = {new}")

    def fresh(self, shape: tuple[int, ...]) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.shapes[name] = shape
        return name

    def view(self) -> str:
        source = self.random.choice([*self.shapes])
        shape = self.shapes[source]
        made = np.zeros(shape)
        kind = self.random.choice(["index", "index", "reshape", "transpose", "T", "swapaxes", "squeeze", "ravel"])
        if kind == "index":
            text = f"{source}[{self.index(shape)}]"
        elif kind == "reshape":
            text = f"{source}.reshape({self.factors(math.prod(shape))})"
        elif kind == "transpose" and shape:
            text = f"{source}.transpose({', '.join(map(str, self.random.sample(range(len(shape)), len(shape))))})"
        elif kind == "swapaxes" and shape:
            text = f"{source}.swapaxes({self.random.randrange(len(shape))}, {self.random.randrange(-len(shape), 0)})"
        elif kind in ("squeeze", "ravel"):
            text = f"{source}.{kind}()"
        else:
            text = f"{source}.T"
        result = eval(text, {source: made})
        return f"{self.fresh(result.shape)} = {text}"

    def index(self, shape: tuple[int, ...], ints: bool = True) -> str:
        """A basic index."""
        entries: list[str] = []
        for size in shape[: self.random.randint(0, len(shape))]:
            entries.append(self.entry(size, ints))
        if self.random.random() < 0.2:
            entries.insert(self.random.randint(0, len(entries)), "None")
        if self.random.random() < 0.2 or len(entries) == len(shape) or not entries:
            entries.append("...")  # without it, NumPy would give a number for a single element
        return ", ".join(entries)

    def entry(self, size: int, ints: bool) -> str:
        if ints and self.random.random() < 0.4:
            return str(self.random.randrange(-size, size))
        start = self.random.randrange(size)
        stop = self.random.randint(start + 1, size)
        return self.random.choice([":", "::-1", f"{start}:{stop}", f"{start}:", "::2"])

    def factors(self, size: int) -> str:
        choices = [(size,), (1, size), (size, 1)]
        choices += [(d, size // d) for d in range(2, size) if size % d == 0]
        choices += [(d, 1, size // d) for d in range(2, size) if size % d == 0]
        return ", ".join(map(str, self.random.choice(choices)))

    def write(self) -> str:
        target = self.random.choice([*self.shapes])
        shape = self.shapes[target]
        number = float(self.random.randint(-9, 9))
        kind = self.random.choice(["item", "item", "add", "mul", "view", "tensor", "augmented"])
        index = self.index(shape)
        if kind == "item":
            return f"{target}[{index}] = {number}"
        if kind == "augmented":
            return f"{target}[{index}] += {number}"
        if kind == "view":
            return f"add_({target}[{index}], {number})"
        if kind == "tensor":
            fitting = [name for name, other in self.shapes.items() if other == shape]
            return f"{target}[...] = {self.random.choice(fitting)} * 1"
        return f"{kind}_({target}, {number if kind == 'add' else self.random.choice([0.5, -1.0])})"

    def new(self) -> str:
        source = self.random.choice([*self.shapes])
        shape = self.shapes[source]
        text = self.random.choice([f"new({source} * 2.0)", f"{source}.copy()", f"new({source} + {source})"])
        return f"{self.fresh(shape)} = {text}"


def arguments(number: int) -> tuple[np.ndarray[Any, Any], ...]:
    """The arguments of a call."""
    made = []
    for k, shape in enumerate(SHAPES):
        size = math.prod(shape)
        made.append(((np.arange(size, dtype=np.float64) + 7 * k + 3 * number) % 11 - 3.0 * (number % 2)).reshape(shape))
    return tuple(made)
