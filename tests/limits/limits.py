"""The record of one documented limit and the program that needs it lifted, and how such a program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.helpers.outcomes import printed_by
from tests.helpers.programs import Outcome
from tests.helpers.values import snapshot
from weft.ops.random import set_seed

#: the version of Python with which graphs and breaks were counted; others compile to other bytecode
COUNTED_WITH = (3, 11)
#: `jit`, or the function itself
Compiler = Callable[[Any], Any]


@dataclass(frozen=True)
class Limit:
    """A limit that a framework's documentation states, and a program that needs it lifted.

    Args:
        peer: the framework.
        page: the address of the page that states the limit.
        says: the limit in one sentence of our own.
        program: a function with `calls`, or one that makes it (`factory`), or a whole script that takes `jit` and
            yields what is compared.
        calls: argument tuples of a function, made twice; None for a script.
        factory: whether `program` makes the function, with state of its own.
        gradients: whether derivatives by the floating point arguments of `calls` are compared.
        graphs: how many graphs all calls together make.
        breaks: at how many places the program leaves a graph.
        remains: whether the limit is that something breaks the graph, and it does so here too.
        fails: why compiled and eager differ today; "" where they are equal.
    """

    peer: str
    page: str
    says: str
    program: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...] | None
    factory: bool
    gradients: bool
    graphs: int
    breaks: int
    remains: bool
    fails: str

    @property
    def name(self) -> str:
        """The program's name."""
        return self.program.__name__

    @property
    def is_lifted(self) -> bool:
        """Whether the limit does not hold here."""
        return not self.fails and not self.remains

    def make(self) -> Callable[..., Any]:
        """The function, in its first state."""
        function: Callable[..., Any] = self.program() if self.factory else self.program
        return function

    def outcomes(self, compiler: Compiler) -> list[Outcome | Script]:
        """What the program does, call for call; the calls of a function are made twice, one after another.

        Args:
            compiler: what compiles its functions.
        """
        if self.calls is None:
            return [Script(self.program, compiler)]
        function = compiler(self.make())
        return [Outcome(function, args) for _ in range(2) for args in self.calls]


class Script:
    """What a whole script did: the values that it yielded, its exception, what it printed."""

    def __init__(self, program: Callable[..., Any], compiler: Compiler) -> None:
        self.inputs: tuple[Any, ...] = ()
        self.value: list[Any] = []
        set_seed(1234)
        _, self.error, self.printed = printed_by(lambda: self._run(program(compiler)))

    def _run(self, values: Iterable[Any]) -> None:
        for value in values:
            self.value.append(snapshot(value))


class Peer:
    """The limits of one framework.

    Args:
        name: what the framework's compiler is called.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.limits: list[Limit] = []

    def limit(
        self,
        page: str,
        says: str,
        *,
        calls: Sequence[Any] | None = None,
        factory: bool = False,
        gradients: bool = True,
        graphs: int = 1,
        breaks: int = 0,
        remains: bool = False,
        fails: str = "",
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare that a program needs a limit lifted; see `Limit` for the arguments."""
        tuples = None if calls is None else tuple(args if isinstance(args, tuple) else (args,) for args in calls)

        def declare(program: Callable[..., Any]) -> Callable[..., Any]:
            if any(program.__name__ == known.name for known in self.limits):
                raise ValueError(f"two programs are called {program.__name__}")
            self.limits.append(
                Limit(self.name, page, says, program, tuples, factory, gradients, graphs, breaks, remains, fails)
            )
            return program

        return declare


def raised(function: Callable[..., Any], *args: Any) -> str:
    """What a call raises, as text, for scripts that go on behind it."""
    try:
        function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"
