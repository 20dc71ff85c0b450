"""Random programs with hooks of tensors around starts of derivatives: eager and compiled code agree.

They register hooks and take them back before, between and after starts, in functions that are differentiated, in
branches and in loops. `python -m tests.autodiff.test_random_hooks FIRST LAST` runs more of them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit, jvp, ops, value_and_grad, vjp, vmap
from weft.errors import Unsupported

#: what hooks of programs do: change, look, count
HOOKS = ("times(2.0)", "times(-3.0)", "note('a')", "note('b')", "add(1.0)", "square")

#: what a step may be
KINDS = ("make", *["hook"] * 5, "remove", "grad", "vjp", "vjp", "pull", "pull", "branch", "loop", "jvp", "jit")


class Writer:
    """Writes one program.

    Args:
        seed: of its choices.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.tensors = ["x", "y"]
        self.handles: list[str] = []
        self.pullbacks: list[tuple[str, str]] = []
        self.count = 0
        #: tensors that the function being written made
        self.own: list[str] = []

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self) -> str:
        a, b = self.rng.choice(self.tensors), self.rng.choice(self.tensors)
        return self.rng.choice([f"{a} * {b}", f"{a} * 2.0", f"{a} + {b}", f"ops.sin({a})", f"{a} - 0.5", f"{a} * 1"])

    def inner(self, depth: int, level: int) -> str:
        """A function of one tensor, to differentiate."""
        rng, name = self.rng, self.name("f")
        self.line(depth, f"def {name}(p):")
        kept, handles, pullbacks = list(self.tensors), self.handles, self.pullbacks
        self.tensors, self.pullbacks = [*self.tensors, "p", "p"], []
        self.handles = [*handles] if rng.random() < 0.3 else []
        made = self.name("t")
        self.line(depth + 1, f"{made} = p * {rng.choice(self.tensors)}")
        self.tensors += [made, made]
        own, self.own = self.own, [made]
        for _ in range(rng.randrange(4)):
            self.step(depth + 1, level)
        self.line(depth + 1, f"return ({self.value()} * {made}).sum()")
        self.tensors, self.handles, self.pullbacks, self.own = kept, handles, pullbacks, own
        return name

    def step(self, depth: int, level: int) -> None:
        rng = self.rng
        kind = rng.choice(KINDS)
        if kind == "make":
            made = self.name("t")
            self.line(depth, f"{made} = {self.value()}")
            self.tensors.append(made)
        elif kind == "hook":
            handle = self.name("h")
            self.line(depth, f"{handle} = {rng.choice(self.tensors)}.register_hook({rng.choice(HOOKS)})")
            self.handles.append(handle)
        elif kind == "remove" and self.handles:
            self.line(depth, f"{rng.choice(self.handles)}.remove()")
        elif kind in ("grad", "vjp", "jvp", "jit") and level:
            function = self.inner(depth, level - 1)
            if rng.random() < 0.25 and kind != "jit":
                function = f"jit({function})"
            t, made = rng.choice(self.tensors), self.name("t")
            if kind == "grad":
                how = rng.choice(["grad({})({})", "value_and_grad({})({})[1]", "grad(recorded({}))({})"])
                self.line(depth, f"{made} = {how.format(function, t)}")
                self.tensors.append(made)
            elif kind == "jit":
                self.line(depth, f"{made} = jit(grad({function}))({t})")
                self.tensors.append(made)
            elif kind == "jvp":
                self.line(depth, f"_, s = jvp({function}, {t}, {rng.choice(self.tensors)})")
                self.line(depth, f"{made} = {t} * s")
                self.tensors.append(made)
            else:
                out, pull = self.name("o"), self.name("b")
                self.line(depth, f"{out}, {pull} = vjp({function}, {t})")
                self.pullbacks.append((out, pull))
        elif kind == "pull" and self.pullbacks:
            out, pull = rng.choice(self.pullbacks)
            made = self.name("t")
            self.line(depth, f"{made} = {pull}({out})[0]")
            self.tensors.append(made)
        elif kind == "branch":
            self.line(depth, f"if {rng.choice(self.tensors)}.sum() > {rng.choice([0, 1])}:")
            self.inside(depth, level)
            if rng.random() < 0.5:
                self.line(depth, "else:")
                self.inside(depth, level)
        elif kind == "loop":
            if rng.random() < 0.6:
                self.line(depth, f"for _ in range({rng.randint(1, 2)}):")
                self.inside(depth, level)
            else:
                k = self.name("k")
                self.line(depth, f"{k} = x.sum() * 0")
                self.line(depth, f"while {k} < 2:")
                self.line(depth + 1, f"{k} = {k} + 1")
                self.inside(depth, level)

    def inside(self, depth: int, level: int) -> None:
        kept = list(self.tensors), list(self.handles), list(self.pullbacks)
        changed = self.rng.choice(self.own)
        for _ in range(self.rng.randint(1, 2)):
            self.step(depth + 1, level)
        if self.rng.random() < 0.5:
            self.line(depth + 1, f"{changed} = {self.value()}")
        else:
            self.line(depth + 1, "pass")
        self.tensors, self.handles, self.pullbacks = kept

    def program(self) -> str:
        self.line(0, "def program(x, y):")
        made = self.name("t")
        self.line(1, f"{made} = {self.value()}")
        self.tensors.append(made)
        self.own = [made]
        for _ in range(self.rng.randint(3, 8)):
            self.step(1, 2)
        for out, pull in self.pullbacks[:2]:
            last = self.name("t")
            self.line(1, f"{last} = {pull}({out})[0]")
            self.tensors.append(last)
        used = " + ".join(dict.fromkeys([*self.tensors[-3:], "x * y"]))
        self.line(1, f"return {used}")
        return "\n".join(self.lines)


def written(seed: int) -> str:
    """The program of a seed."""
    return Writer(seed).program()


def space(seen: list[Any]) -> dict[str, Any]:
    """What programs use."""

    def times(factor: float) -> Any:
        return lambda g: g * factor

    def add(amount: float) -> Any:
        return lambda g: g + amount

    def note(label: str) -> Any:
        def look(g: Any) -> None:
            seen.append(label)

        return look

    def square(g: Any) -> Any:
        seen.append("square")
        return g * g

    def recorded(f: Any) -> Any:
        def run(p: Any) -> Any:
            seen.append("run")
            return f(p)

        return run

    return {
        "grad": grad, "jit": jit, "jvp": jvp, "ops": ops, "value_and_grad": value_and_grad, "vjp": vjp, "vmap": vmap,
        "times": times, "add": add, "note": note, "square": square, "recorded": recorded,
    }  # fmt: skip


INPUTS = (([1.0, 2.0], [0.5, -1.0]), ([-1.0, 0.5], [2.0, 1.0]), ([1.0, 2.0], [0.5, -1.0]))
ROWS = (([[1.0, 2.0], [3.0, -0.5]], [[0.5, -1.0], [0.25, 1.0]]), ([[-1.0, 0.5], [0.3, 0.2]], [[2.0, 1.0], [0.1, 0.5]]))


def gradients(program: Callable[..., Any]) -> Callable[..., Any]:
    return grad(lambda x, y: program(x, y).sum(), (0, 1))


#: eager code, and compiled code that is to do the same
WAYS: dict[str, tuple[Callable[..., Any], tuple[Callable[..., Any], ...]]] = {
    "value": (lambda p: p, (jit,)),
    "gradient": (gradients, (lambda p: jit(gradients(p)), lambda p: gradients(jit(p)))),
}


def result_of(call: Callable[..., Any], x: Any, y: Any) -> Any:
    """What a call returns, or the class of what it raises."""
    try:
        found = call(Tensor(np.array(x)), Tensor(np.array(y)))
    except (TypeError, ValueError, NameError, AttributeError) as error:
        return type(error).__name__
    return [t.asnumpy() for t in (found if isinstance(found, tuple) else (found,))]


def observed(source: str, way: Callable[..., Any], compiled: bool) -> list[Any]:
    """For each input what the program returned or raised, and what its hooks did."""
    seen: list[Any] = []
    names = space(seen)
    if not compiled:
        names["jit"] = lambda function: function
    exec(source, names)
    call, found = way(names["program"]), []
    for x, y in INPUTS:
        seen.clear()
        found.append((result_of(call, x, y), list(seen)))
    return found


def agree(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, str) or isinstance(got, str):
        return bool(isinstance(wanted, str) and isinstance(got, str) and wanted == got)
    return all(np.allclose(g, w, rtol=1e-6, atol=1e-8, equal_nan=True) for g, w in zip(got, wanted, strict=True))


def check(seed: int) -> None:
    source = written(seed)
    for name, (eager, compiled) in WAYS.items():
        wanted = observed(source, eager, compiled=False)
        for number, way in enumerate((eager, *compiled)):
            for (value, calls), (found, made) in zip(wanted, observed(source, way, compiled=True), strict=True):
                assert agree(value, found), f"{name} {number}: {found} is not {value}\n{source}"
                if not isinstance(value, str):
                    assert made == calls, f"{name} {number}: {made} is not {calls}\n{source}"


def check_mapped(seed: int) -> None:
    """Mapped programs give what they give one by one, or are refused."""
    source = written(seed)
    for one in (lambda p: p, gradients):
        for x, y in ROWS:
            names = {**space([]), "jit": lambda function: function}
            exec(source, names)
            call = one(names["program"])
            singles = [result_of(call, *pair) for pair in zip(x, y, strict=True)]
            if any(isinstance(single, str) for single in singles):
                continue
            wanted = [np.stack(column) for column in zip(*singles, strict=True)]
            for way in (lambda p: vmap(one(p)), lambda p: jit(vmap(one(p))), lambda p: vmap(jit(one(p)))):
                names = space([])
                exec(source, names)
                try:
                    got = result_of(way(names["program"]), x, y)
                except Unsupported:
                    continue
                assert agree(wanted, got), f"{got} is not {wanted}\n{source}"


@pytest.mark.parametrize("seed", range(8))
def test_compiled_programs(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", range(4))
def test_mapped_programs(seed: int) -> None:
    check_mapped(seed)


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        for checked in (check, check_mapped):
            try:
                checked(number)
            except AssertionError as difference:
                print(number, checked.__name__, difference, flush=True)
