"""Entries of a function: containers that grow, objects made anew for each call, aliases, the cap, reasons."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import entries
from weft import context
from weft.context import get_context
from weft.core.tensor import Parameter, Tensor
from weft.jit import compiled_of, jit


def tensor(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def reasons(function: Any) -> list[str]:
    """Why each entry was made."""
    return [event.reason for event in compiled_of(function).history.captured]


# -- what is not read is not guarded -----------------------------------------------------------------------------


class Log:
    """Containers that a step fills."""

    def __init__(self) -> None:
        self.losses: list[Any] = []
        self.by_name: dict[str, Any] = {}
        self.first = {"unused": 0}

    def step(self, x: Any) -> Any:
        loss = (x * x).sum()
        self.losses.append(loss)
        self.losses += [loss + 1]
        self.losses.extend((loss, 2))
        self.by_name["loss"] = loss
        return self.losses[-2] + self.by_name["loss"]


def test_a_list_that_grows_needs_one_entry() -> None:
    log, eager = Log(), Log()
    step = jit(log.step)
    for number in range(6):
        log.first["unused"] = number
        log.by_name[f"other{number}"] = eager.by_name[f"other{number}"] = number
        assert step(tensor(number)).item() == eager.step(tensor(number)).item()
    assert entries(step) == 1
    assert [float(v) for v in log.losses] == [float(v) for v in eager.losses]
    assert list(log.by_name) == list(eager.by_name)


def test_what_is_read_of_a_list_is_guarded() -> None:
    items: list[Any] = [1, 2, 3]

    def program(x: Any, read: str) -> Any:
        if read == "item":
            return x * items[1]
        if read == "last":
            items.append(9)
            return x * items[-1] + items.pop() + items[-1]
        return x * (len(items) if read == "length" else sum(items))

    compiled = jit(program)
    for change in (lambda: None, lambda: items.append(4), lambda: items.__setitem__(1, 7), lambda: items.pop(0)):
        change()
        for read in ("item", "length", "all", "last"):
            assert compiled(tensor(1), read).tolist() == program(tensor(1), read).tolist()


@dataclass
class Batch:
    """An argument that a loader makes anew."""

    x: Any
    labels: list[Any]
    scale: float = 2.0


def test_a_fresh_instance_of_the_same_class_needs_no_entry() -> None:
    compiled = jit(lambda batch: batch.x * batch.scale + batch.labels[0])
    for number in range(5):
        assert compiled(Batch(tensor(number), [tensor(1), number])).tolist() == [2.0 * number + 1]
    assert entries(compiled) == 1
    assert compiled(Batch(tensor(1), [tensor(1)], 3.0)).tolist() == [4.0]
    assert entries(compiled) == 2


def test_a_fresh_named_structure_needs_no_entry() -> None:
    compiled = jit(lambda data: data["x"] * data["pair"][0] + data["pair"][1])
    for number in range(4):
        data = {"x": tensor(number), "pair": (tensor(2), tensor(number)), f"unread{number}": number}
        assert compiled(data).tolist() == [3.0 * number]
    assert entries(compiled) == 1


def test_a_parameter_of_another_shape_is_seen() -> None:
    weight = Parameter(tensor(1, 2), name="weight")
    compiled = jit(lambda x: x * weight)
    assert compiled(tensor(3)).shape == (2,)
    weight.set_data(tensor(1, 2, 3), slice_shape=True)
    assert compiled(tensor(3)).shape == (3,)


def test_settings_are_guarded() -> None:
    compiled = jit(lambda x: x * get_context("max_call_depth"))
    try:
        for depth in (5, 7, 5):
            context.set_context(max_call_depth=depth)
            assert compiled(tensor(1)).tolist() == [depth]
        assert entries(compiled) == 2
    finally:
        context.reset()


def test_requires_grad_is_guarded() -> None:
    weight = Parameter(tensor(2), name="weight")
    compiled = jit(lambda x: x * weight if weight.requires_grad else x)
    for flag, expected in ((True, 6.0), (False, 3.0), (True, 6.0)):
        weight.requires_grad = flag
        assert compiled(tensor(3)).tolist() == [expected]


# -- aliases -----------------------------------------------------------------------------------------------------


def test_aliases_of_what_is_written_are_told_apart() -> None:
    def program(a: Any, b: Any, x: Any) -> Any:
        a.k = x.sum()
        a.items.append(x)
        return b.k + x, len(b.items), a is b

    class Holder:
        def __init__(self) -> None:
            self.k: Any = 1.0
            self.items: list[Any] = []

    def plain(result: Any) -> Any:
        return result[0].tolist(), result[1:]

    compiled = jit(program)
    for _ in range(2):
        first, second, shared = Holder(), Holder(), Holder()
        assert plain(compiled(first, second, tensor(2))) == ([3.0], (0, False))
        assert plain(compiled(shared, shared, tensor(2))) == ([4.0], (1, True))
        second.items = first.items
        assert plain(compiled(first, second, tensor(2))) == ([3.0], (2, False))


def test_aliases_of_tensors_that_are_written_are_told_apart() -> None:
    def program(x: Any) -> Any:
        x["a"][0] = 7
        return x["b"] * 1

    compiled = jit(program)
    for _ in range(2):
        one, other = tensor(1), tensor(5)
        assert compiled({"a": one, "b": other}).tolist() == [5.0]
        assert compiled({"a": one, "b": one}).tolist() == [7.0]
        assert one.tolist() == [7.0]


# -- the cap -----------------------------------------------------------------------------------------------------


@pytest.fixture
def limit() -> Any:
    context.set_context(jit_cache_limit=3)
    yield 3
    context.reset()


def test_the_least_recently_used_entry_makes_room(limit: int, caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def program(x: Any, mode: str) -> Any:
        calls.append(mode)
        return x * len(mode)

    compiled = jit(program)
    with caplog.at_level(logging.WARNING, "weft.jit"):
        for mode in ("a", "bb", "ccc"):
            compiled(tensor(1), mode)
        assert not caplog.records
        compiled(tensor(1), "a")  # now "bb" is the oldest
        compiled(tensor(1), "dddd")
    assert entries(compiled) == limit
    (record,) = caplog.records
    message = record.getMessage()
    assert message.startswith("program: more than 3 compiled versions (jit_cache_limit)")
    assert "mode: " in message and "'dddd'" in message  # noqa: PT018
    assert compiled.compiled.history.evicted == 1
    made = len(reasons(compiled))
    compiled(tensor(1), "a")
    compiled(tensor(1), "ccc")
    assert len(reasons(compiled)) == made
    with caplog.at_level(logging.WARNING, "weft.jit"):
        assert compiled(tensor(1), "bb").tolist() == [2.0]
    assert len(reasons(compiled)) == made + 1
    assert compiled.compiled.history.evicted == 2
    assert caplog.records == [record]  # one warning is enough


def test_the_cap_counts_all_forms_of_calls(limit: int) -> None:
    compiled = jit(lambda *xs, **named: sum(xs) * len(named))
    for count in range(1, 7):
        assert compiled(*[tensor(1)] * count, k=1).tolist() == [count]
        assert entries(compiled) <= limit


# -- reasons -----------------------------------------------------------------------------------------------------

SCALE = 2


class Mode:
    """An object with a flag."""

    training = True


def test_reasons_name_what_differs_in_the_users_terms() -> None:
    state = Mode()

    def program(batch: Any, flag: Any, *more: Any) -> Any:
        y = batch["x"] * SCALE
        return y * 2 if state.training and flag else y

    compiled = jit(program)
    x = tensor(*range(6))
    compiled({"x": x}, True)
    compiled({"x": x.reshape(2, 3)}, True)
    globals()["SCALE"] = 3
    compiled({"x": x}, True)
    globals()["SCALE"] = 2
    state.training = False
    compiled({"x": x}, True)
    state.training = True
    compiled({"x": x}, None)
    compiled({"x": x.astype(np.float64)}, True)
    compiled({"x": x}, True, 1)
    found = reasons(compiled)
    assert found[0] == "first call"
    assert found[1] == "batch['x']: shape (6,) -> (2, 3)"
    assert found[2] == "global 'SCALE': 2 -> 3"
    assert found[3] == "state.training: True -> False"
    assert found[4] == "flag: True -> None"
    assert found[5] == "batch['x']: dtype Float32 -> Float64"
    assert found[6] == "called with 3 positional arguments, before with 2 positional arguments"


def test_reasons_name_relations_of_numbers() -> None:
    compiled = jit(lambda x, step: x * 2 if step % 3 == 0 else x * step)
    for step in range(6):
        compiled(tensor(1), step)
    assert reasons(compiled) == ["first call", "step: 0 -> 1", "(step % 3) == 0: False -> True"]


def test_long_texts_are_not_spelled_in_the_code_of_entries() -> None:
    text, data = "w" * 100_000, b"w" * 100_000
    kept = {text: 1}

    @jit
    def f(x: Any, name: Any, raw: Any) -> Any:
        return x * kept[name] * len(raw), name + "!"

    for name, raw in ((text, data), (text, data + b"w")):
        scaled, said = f(Tensor([1.0]), name, raw)
        assert scaled.asnumpy().tolist() == [len(raw)]
        assert said == text + "!"
    for group in compiled_of(f).entries.values():
        assert all(len(entry.source) < len(text) for entry in group)


def test_ids_of_what_a_call_makes_are_those_of_the_call() -> None:
    @jit
    def f(x: Any) -> Any:
        y, items = x * 2, [x]
        names = {id(x): "x", id(y): "y", id(items): "items"}
        float(x.asnumpy().sum())
        return names, names[id(y)], id(items), x, y, items

    for number in range(5):
        names, found, number_of_items, x, y, items = f(tensor(number, 1.0))
        assert names == {id(x): "x", id(y): "y", id(items): "items"}
        assert (found, number_of_items) == ("y", id(items))


def test_what_changes_while_it_is_read_costs_an_entry_for_the_call() -> None:
    box = {"n": 1.0}

    @jit
    def step(x: Any) -> Any:
        return x * box["n"]

    owner = compiled_of(step).program
    capture = owner.capture_call

    def changed_afterwards(*args: Any) -> Any:
        entry = capture(*args)
        if not owner.once:
            box["n"] += 1
        return entry

    owner.capture_call = changed_afterwards  # type: ignore[method-assign]
    with pytest.warns(RuntimeWarning, match="does not accept the arguments it was captured with.*2.0 -> 3.0"):
        assert step(tensor(1)).item() == 3  # after the second attempt


def test_an_entry_for_one_call_computes_the_numbers_of_the_call() -> None:
    box: dict[str, Any] = {"n": 1.0, "items": [1, 2]}

    @jit
    def step(x: Any) -> Any:
        return x * box["n"], id(box["items"]), id(box["items"]) % 7

    owner = compiled_of(step).program
    capture = owner.capture_call

    def changed_afterwards(*args: Any) -> Any:
        entry = capture(*args)
        if not owner.once:
            box["n"] += 1
        return entry

    owner.capture_call = changed_afterwards  # type: ignore[method-assign]
    with pytest.warns(RuntimeWarning, match="does not accept the arguments it was captured with"):
        result, *numbers = step(tensor(1))
    assert result.item() == 3
    assert numbers == [id(box["items"]), id(box["items"]) % 7]
