"""Programs as test cases: a function runs eagerly and under each capture policy, and all that can be seen is compared.

`case` declares the inputs beside a program. `check` compares results (structure, Python types, dtypes, shapes, values),
exceptions, printed text, the inputs afterwards, gradients to the wanted order, and the number of entries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.helpers.compiled import entries
from tests.helpers.outcomes import printed_by, text_of, without_addresses
from tests.helpers.values import TOLERANCE, same, snapshot, tensors
from weft.autodiff.grad import grad
from weft.core.tensor import Tensor
from weft.jit import jit
from weft.ops.random import set_seed

#: policies under test, as the arguments of `jit`
POLICIES: dict[str, dict[str, Any]] = {"auto": {}, "static": {"mode": "PSJit"}}


class Case:
    """A program with its inputs.

    Args:
        function: the program, or with `factory` a function that makes a fresh one (for programs with own state).
        inputs: argument tuples; arrays become tensors anew for each call.
        second_order: whether second derivatives are compared too.
        gradients: whether derivatives are compared.
        factory: see `function`.
        entries: expected number of captures; by default one for each distinct signature, -1 for any.
        policies: policies under which the program does what Python does (static takes outside values as constants).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Any],
        second_order: bool,
        gradients: bool,
        factory: bool,
        entries: int | None,
        policies: Sequence[str] = tuple(POLICIES),
    ) -> None:
        self.function = function
        self.inputs = [args if isinstance(args, tuple) else (args,) for args in inputs]
        self.second_order = second_order
        self.gradients = gradients
        self.factory = factory
        self.entries = entries
        self.policies = policies

    def make(self) -> Callable[..., Any]:
        """The program, in its first state."""
        return self.function() if self.factory else self.function


def case(
    inputs: Sequence[Any],
    *,
    second_order: bool = False,
    gradients: bool = True,
    factory: bool = False,
    entries: int | None = None,
    policies: Sequence[str] = tuple(POLICIES),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a program to be a test case; see `Case` for the arguments."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        namespace = sys.modules[function.__module__].__dict__
        table = namespace.setdefault("CASES", {})
        if function.__name__ in table:
            raise ValueError(f"two programs are called {function.__name__}")
        table[function.__name__] = Case(function, inputs, second_order, gradients, factory, entries, policies)
        return function

    return declare


def signature(value: Any) -> Any:
    """What of an argument decides which entry fits."""
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(signature(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, signature(item)) for key, item in value.items())
    return type(value).__name__, value


class Outcome:
    """What calling a program gave."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.inputs = tensors(args)
        set_seed(1234)
        self.value, self.error, self.printed = printed_by(lambda: snapshot(function(*self.inputs)))


def same_outcome(found: Outcome, expected: Outcome, where: str) -> None:
    """Assert that two calls did the same."""
    if expected.error is not None or found.error is not None:
        if expected.error is None:
            raise AssertionError(f"{where}: raised {type(found.error).__name__}: {found.error}") from found.error
        assert found.error is not None, f"{where}: returned {found.value!r}, should raise {expected.error!r}"
        messages = [without_addresses(text_of(error)) for error in (found.error, expected.error)]
        if type(found.error).__qualname__ != type(expected.error).__qualname__ or messages[0] != messages[1]:
            raise AssertionError(f"{where}: raised {found.error!r}, should raise {expected.error!r}") from found.error
    else:
        same(found.value, expected.value, where)
    same(found.inputs, expected.inputs, f"{where}: arguments afterwards")
    assert found.printed == expected.printed, f"{where}: printed {found.printed!r}, not {expected.printed!r}"


def floats_of(value: Any) -> list[Tensor]:
    """The floating point tensors among a program's results."""
    if isinstance(value, Tensor):
        return [value] if value.dtype.is_floating else []
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in floats_of(item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in floats_of(item)]
    return []


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of all floating point results of a program."""

    def loss(*args: Any) -> Any:
        result: Any = Tensor(0.0)
        for tensor in floats_of(function(*args)):
            result = result + tensor.sum()
        return result

    return loss


def gradient(function: Callable[..., Any], positions: tuple[int, ...], order: int) -> Callable[..., Any]:
    """The gradient of `total`; of second order, the gradient of the sum of squares of that gradient."""
    first = grad(total(function), positions)
    if order == 1:
        return first

    def penalty(*args: Any) -> Any:
        result: Any = Tensor(0.0)
        for tensor in first(*args):
            result = result + (tensor * tensor).sum()
        return result

    return grad(penalty, positions)


def check(
    function: Callable[..., Any],
    *inputs: Any,
    second_order: bool = False,
    gradients: bool = True,
    entries: int | None = None,
) -> None:
    """Check one function; see `Case` for the arguments."""
    check_case(Case(function, inputs, second_order, gradients, False, entries))


def check_case(program: Case) -> None:
    """Run a program eagerly and under each policy and compare all there is to see."""
    rounds = [args for _ in range(2) for args in program.inputs]
    eager = program.make()
    expected = [Outcome(eager, args) for args in rounds]
    for policy in program.policies:
        jitted = jit(program.make(), **POLICIES[policy])
        for number, (args, wanted) in enumerate(zip(rounds, expected, strict=True)):
            same_outcome(Outcome(jitted, args), wanted, f"{policy}, call {number}")
        found = entries(jitted)
        count = program.entries
        if count is None:
            count = len({signature(args) for args in rounds})
        assert count in (found, -1), f"{policy}: {found} captures instead of {count}"
    if program.gradients:
        check_gradients(
            program,
            [
                args
                for args, outcome in zip(program.inputs, expected, strict=False)
                if outcome.error is None and floats_of(outcome.value)
            ],
        )


def check_gradients(program: Case, inputs: Sequence[tuple[Any, ...]]) -> None:
    """Compare derivatives of the eager program, of the captured program, and with the derivative inside the capture."""
    positions = tuple(
        i
        for i, arg in enumerate(inputs[0] if inputs else ())
        if isinstance(arg, np.ndarray) and arg.dtype in (np.float32, np.float64)
    )
    if not positions:
        return
    for order in (1, 2) if program.second_order else (1,):
        eager = gradient(program.make(), positions, order)
        ways = {
            "derivative of the compiled function": gradient(jit(program.make()), positions, order),
            "derivative compiled too": jit(gradient(program.make(), positions, order)),
        }
        for number, args in enumerate([*inputs, *inputs]):
            wanted = Outcome(eager, args)
            if wanted.error is not None:
                raise wanted.error
            scale = max((float(np.abs(g.asnumpy()).max(initial=0.0)) for g in wanted.value), default=0.0)
            for way, function in ways.items():
                found = Outcome(function, args)
                where = f"{way}, order {order}, call {number}"
                if found.error is not None:
                    raise AssertionError(f"{where}: raised {found.error!r}") from found.error
                same(found.value, wanted.value, where, 5 * TOLERANCE * max(1.0, scale))
