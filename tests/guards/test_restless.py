"""Values that are others in each call: the number of graphs stays small, whatever needs them as constants."""

from __future__ import annotations

import bisect
import collections
import contextvars
import copy
import dataclasses
import datetime
import decimal
import fractions
import hashlib
import heapq
import io
import re
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from tests.helpers.compiled import compiler
from weft import Parameter, Tensor, ops

#: makes a program of a tensor and the number of the call; returns it with what shows its state
Case = Callable[[], tuple[Callable[[Any, int], Any], Callable[[], Any]]]
CALLS = 24


def counters_in_a_list() -> Any:
    steps = [0] * 2

    def program(x: Any, n: int) -> Any:
        steps[n % 2] += 1
        return x * steps[0]

    return program, lambda: steps


def counter_in_a_list_that_grows() -> Any:
    log = [0]

    def program(x: Any, n: int) -> Any:
        log[0] += 1
        log.append(1)
        return x * 2

    return program, lambda: log


def numbers_in_a_set() -> Any:
    seen: set[int] = set()

    def program(x: Any, n: int) -> Any:
        seen.add(n)
        return x * len(seen)

    return program, lambda: seen


def length_as_key() -> Any:
    items: dict[int, int] = {}

    def program(x: Any, n: int) -> Any:
        items[len(items)] = n
        return x * 2

    return program, lambda: items


def number_as_key() -> Any:
    history: dict[int, int] = {}

    def program(x: Any, n: int) -> Any:
        history[n] = n * 2
        return x * n

    return program, lambda: history


def counter_that_is_updated() -> Any:
    counts: collections.Counter[str] = collections.Counter()

    def program(x: Any, n: int) -> Any:
        counts.update(["a", "b"])
        return x * counts["a"]

    return program, lambda: counts


class Pair(collections.namedtuple("Pair", "n m")):
    pass


def replaced_named_tuple() -> Any:
    state = {"pair": Pair(0, 1)}

    def program(x: Any, n: int) -> Any:
        state["pair"] = state["pair"]._replace(n=state["pair"].n + 1)
        return x * state["pair"].n

    return program, lambda: state


def heap() -> Any:
    items: list[int] = []

    def program(x: Any, n: int) -> Any:
        heapq.heappush(items, -n)
        return x * 2

    return program, lambda: items


def sorted_list() -> Any:
    items: list[float] = []

    def program(x: Any, n: int) -> Any:
        bisect.insort(items, (n * 7) % 5 + n * 0.1)
        return x * len(items)

    return program, lambda: items


def hook_that_is_a_method_of_a_list() -> Any:
    grads: list[Any] = []

    def program(x: Any, n: int) -> Any:
        def loss(x: Any) -> Any:
            z = x * 2
            z.register_hook(grads.append)
            return (z * z).sum()

        return weft.grad(loss)(x)

    return program, lambda: [grad.asnumpy().tolist() for grad in grads]


def copied_state() -> Any:
    state = {"n": 0, "items": [1, 2]}

    def program(x: Any, n: int) -> Any:
        before = copy.deepcopy(state)
        state["n"] += 1  # type: ignore[operator]
        return x * before["n"]

    return program, lambda: state


def bounded_queue() -> Any:
    last: collections.deque[int] = collections.deque(maxlen=3)

    def program(x: Any, n: int) -> Any:
        last.append(n)
        return x * (sum(last) / len(last))

    return program, lambda: last


def sum_of_settings() -> Any:
    settings = {"a": 1, "b": 2}

    def program(x: Any, n: int) -> Any:
        settings["a"] = n
        return x * sum(settings.values())

    return program, lambda: settings


@dataclasses.dataclass
class State:
    n: int = 0
    rate: float = 0.1


def dataclass_as_a_whole() -> Any:
    state = State()

    def program(x: Any, n: int) -> Any:
        state.n = n
        return x * sum(dataclasses.asdict(state).values())

    return program, lambda: state


def place_in_a_tensor() -> Any:
    cache = Parameter(np.zeros(CALLS, np.float32), name="cache")

    def program(x: Any, n: int) -> Any:
        cache[n] = x[0] * n
        return cache.sum()

    return program, lambda: cache.asnumpy().tolist()


def text() -> Any:
    seen: list[str] = []

    def program(x: Any, n: int) -> Any:
        seen.append("step " + str(n))
        return x * len(seen[-1])

    return program, lambda: seen


def numpy_scalar() -> Any:
    return lambda x, n: x * np.float32(n), lambda: None


def array_that_is_filled_anew() -> Any:
    array = np.zeros(2, np.float32)
    compute = [lambda x: x * Tensor(array)]

    def program(x: Any, n: int) -> Any:
        return compute[0](x)

    return program, lambda: array.fill(array[0] + 1)


def array_that_is_replaced() -> Any:
    state = {"array": np.zeros(2, np.float32)}

    def renew() -> None:
        state["array"] = state["array"] + 1

    return lambda x, n: x + state["array"], renew


def numpy_scalar_that_is_replaced() -> Any:
    state = {"rate": np.float32(1)}

    def renew() -> None:
        state["rate"] = state["rate"] + np.float32(1)

    return lambda x, n: x + state["rate"], renew


def texts_in_a_window() -> Any:
    lines = ["a", "b", "c"]

    def program(x: Any, n: int) -> Any:
        lines.append(f"step {n}")
        if len(lines) > 3:
            lines.pop(0)
        return x * 2

    return program, lambda: lines


def texts_that_are_arguments() -> Any:
    seen: dict[str, int] = {}

    def add(x: Any, name: str) -> Any:
        seen[name.upper()] = len(name)
        return x * len(name)

    return lambda x, n: add(x + 1, f"step {n:04d}"), lambda: seen


def time_that_passes() -> Any:
    taken: list[bool] = []

    def program(x: Any, n: int) -> Any:
        start = datetime.datetime.now()
        y = x * 2
        taken.append((datetime.datetime.now() - start).total_seconds() >= 0)
        return y + 1

    return program, lambda: taken


def time_that_is_printed() -> Any:
    shown = io.StringIO()

    def program(x: Any, n: int) -> Any:
        y = x * 2
        print(datetime.datetime.now(), file=shown)
        return y + 1

    return program, lambda: shown.getvalue().count("\n")


def identifier_of_a_run() -> Any:
    return lambda x, n: x * 2 + len(str(uuid.uuid4())), lambda: None


def digest_of_a_tensor() -> Any:
    def program(x: Any, n: int) -> Any:
        y = x * n
        found = hashlib.md5(y.asnumpy().tobytes())
        return y + len(found.hexdigest())

    return program, lambda: None


def generator_of_its_own() -> Any:
    return lambda x, n: x * 2 + Tensor(np.random.default_rng(n).normal(size=2)), lambda: None


def token_of_a_context() -> Any:
    variable = contextvars.ContextVar("variable", default=0)

    def program(x: Any, n: int) -> Any:
        token = variable.set(n)
        y = x * variable.get()
        variable.reset(token)
        return y

    return program, variable.get


def decimal_numbers() -> Any:
    return lambda x, n: x * float(decimal.Decimal(n) / 3), lambda: None


def fractions_of_numbers() -> Any:
    return lambda x, n: x * float(fractions.Fraction(n, 3)), lambda: None


def match_of_a_text() -> Any:
    def program(x: Any, n: int) -> Any:
        found: Any = re.match(r"(\w+)-(\d+)", f"run-{n}")
        return x * int(found.group(2))

    return program, lambda: None


CASES: list[Case] = [
    texts_in_a_window, texts_that_are_arguments, time_that_passes, time_that_is_printed, identifier_of_a_run,
    digest_of_a_tensor, generator_of_its_own, token_of_a_context, decimal_numbers, fractions_of_numbers,
    match_of_a_text,
    counters_in_a_list, counter_in_a_list_that_grows, numbers_in_a_set, length_as_key, number_as_key,
    counter_that_is_updated, replaced_named_tuple, heap, sorted_list, hook_that_is_a_method_of_a_list, copied_state,
    bounded_queue, sum_of_settings, dataclass_as_a_whole, place_in_a_tensor, text, numpy_scalar,
    array_that_is_filled_anew, array_that_is_replaced, numpy_scalar_that_is_replaced,
]  # fmt: skip


def answers(case: Case, decorate: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    program, state = case()
    call = decorate(program)
    found = []
    for n in range(CALLS):
        result = call(Tensor([1.0, 2.0]), n)
        found.append((result.asnumpy().tolist(), repr(state())))
    return found, call


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("case", CASES)
def test_the_number_of_graphs_stays_small(case: Case, mode: str) -> None:
    wanted, _ = answers(case, lambda f: f)
    found, compiled = answers(case, compiler(mode))
    assert found == wanted
    graphs = len(compiled.report().graphs)
    assert graphs <= 20
    for n in range(4):
        compiled(Tensor([1.0, 2.0]), CALLS + n if case is not place_in_a_tensor else n)
    assert len(compiled.report().graphs) <= graphs + 2


def test_arrays_that_change_are_inputs() -> None:
    for case in (array_that_is_filled_anew, array_that_is_replaced):
        _, compiled = answers(case, weft.jit)
        assert len(compiled.report().graphs) == 2
        assert not compiled.report().breaks


def test_values_that_come_again_have_a_graph_each() -> None:
    table = {n: n * 10 for n in range(6)}
    written: dict[int, int] = {}

    def program(x: Any, n: int) -> Any:
        written[n] = table[n]
        return x * written[n]

    compiled = weft.jit(program)
    for _ in range(4):
        for n in range(6):
            assert compiled(Tensor([1.0]), n).item() == n * 10
    assert len(compiled.report().graphs) <= 7
    assert not compiled.report().breaks


def test_a_value_that_changes_now_and_then_stays_in_the_graph() -> None:
    cache = Parameter(np.zeros(32, np.float32), name="cache")

    def program(x: Any, n: int) -> Any:
        cache[n] = x[0]
        return cache.sum()

    compiled = weft.jit(program)
    for n in range(20):
        for _ in range(2):
            assert compiled(Tensor([1.0]), n).item() == n + 1
    assert not compiled.report().breaks


def test_graphs_of_other_values_do_not_count() -> None:
    seen: set[int] = set()

    def program(x: Any, n: int) -> Any:
        seen.add(n)
        return x * 2

    compiled = weft.jit(program)
    for n in range(1, 40):
        for value in (n, 0, 0):
            compiled(Tensor([1.0]), value)
    assert seen == set(range(40))
    assert len(compiled.report().graphs) <= 20


def test_a_value_that_comes_and_goes_is_compared_with_those_of_its_kind() -> None:
    """`random.gauss` keeps every second number for the next call."""

    class Pairs:
        spare: Any = None
        count = 0.0

        def draw(self) -> float:
            number, self.spare = self.spare, None
            if number is None:
                self.count += 0.37
                number, self.spare = self.count, self.count * 0.5
            return number

    pairs, plain = Pairs(), Pairs()
    compiled = weft.jit(lambda x: x * pairs.draw())
    for _ in range(40):
        np.testing.assert_allclose(compiled(Tensor([1.0])).asnumpy(), [plain.draw()], rtol=1e-6)
    assert len(compiled.report().graphs) <= 5


def test_without_breaks_each_value_has_a_graph() -> None:
    compiled = weft.jit(lambda x, n: ops.concat([x] * 2)[n % 4 : n + 1].sum(), fullgraph=True)
    for n in range(12):
        wanted = ([1.0] * 2)[n % 4 : n + 1]
        assert compiled(Tensor([1.0]), n).item() == sum(wanted)


class Kelvin(float):
    """A float of the program's own class."""


class Steps(int):
    """An int of the program's own class."""


KEPT: dict[Any, Any] = {}


def kept_as_key(x: Any, value: Any) -> Any:
    KEPT.clear()
    KEPT[value] = x
    return x + 1


def kept_as_value(x: Any, value: Any) -> Any:
    KEPT["last"] = value
    return x + 1


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (lambda x, v: x * float(v), lambda i: f"{i}.5"),
        (lambda x, v: x * 2 if isinstance(v, str) and v else x, lambda i: f"image{i}.png"),
        (kept_as_key, lambda i: f"image{i}.png"),
        (kept_as_value, lambda i: f"image{i}.png"),
        (lambda x, v: x * len(v), lambda i: b"x" * (i + 3)),
        (lambda x, v: x * v.day, lambda i: datetime.date(2024, 1, 1) + datetime.timedelta(days=i)),
        (lambda x, v: x * v.total_seconds(), lambda i: datetime.timedelta(seconds=i + 0.5)),
        (lambda x, v: x * float(v), lambda i: decimal.Decimal(i) / 3),
        (lambda x, v: x * float(v), lambda i: fractions.Fraction(i, 7)),
        (lambda x, v: x * v, lambda i: complex(i, 1)),
        (lambda x, v: x * v, lambda i: Kelvin(i * 7.0)),
        (lambda x, v: x * v, Steps),
        (lambda x, v: x * int(v.group()), lambda i: re.match(r"\d+", f"{i}")),
        (lambda x, v: x + 1, lambda i: f"unread {i}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_arguments_that_differ_in_each_call(function: Any, make: Any, mode: str) -> None:
    compiled = compiler(mode)(function)
    x = Tensor([1.0, 2.0])
    for i in range(40):
        found, wanted = compiled(x, make(i)), function(x, make(i))
        assert found.dtype == wanted.dtype
        assert found.asnumpy().tolist() == wanted.asnumpy().tolist()
    assert len(compiled.report().graphs) <= 12


def test_what_is_not_read_of_the_arguments_is_not_guarded() -> None:
    compiled = weft.jit(lambda x, unused, text="": x + 1)
    for i in range(5):
        compiled(Tensor([1.0]), [object()] * i, text=f"{i}")
    assert len(compiled.report().graphs) == 1
