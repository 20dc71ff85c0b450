"""Random programs do compiled what they do eagerly: values, identity, exceptions, output, state, gradients.

90 programs always run, 3,000 with `make slow`. With the failing programs made smaller::

    python -m tests.random_programs --seeds 0:3000
"""

from __future__ import annotations

import ast
import collections
from typing import Final

import pytest

from tests.helpers.rounds import rounds
from tests.random_programs.child import finding
from tests.random_programs.compare import check, play
from tests.random_programs.features import FEATURES, features
from tests.random_programs.findings import grouped
from tests.random_programs.observe import Snapshot, difference
from tests.random_programs.program import program
from tests.random_programs.shrink import shrink

_SAMPLE: Final = 90
_ALL: Final = 3000
_GROUP: Final = 15
#: in how many programs of the sample each construct runs at least
_LEAST: Final = 1


@pytest.mark.parametrize("first", rounds(_SAMPLE, _ALL, _GROUP))
def test_programs_do_compiled_what_they_do_eagerly(first: int) -> None:
    seeds = range(first, first + _GROUP)
    found: dict[int, list[str]] = {}
    with_graphs = 0
    for seed in seeds:
        checked = check(program(seed))
        with_graphs += checked.runs["auto"].graphs > 0
        if checked.differences:
            found[seed] = [f"{one.policy}, {one.kind}, {one.where}: {one.text}" for one in checked.differences]
    assert found == {}
    assert with_graphs >= 0.6 * len(seeds)


#: programs beyond the sample that once differed
_FOUND: Final = (692, 728, 854, 1148, 1149, 1373, 1403, 1590, 1655, 1880, 2110, 2138, 2652, 2931)


@pytest.mark.parametrize("seed", _FOUND)
def test_programs_that_once_differed(seed: int) -> None:
    assert check(program(seed)).differences == []


def test_sample_exercises_every_construct() -> None:
    counts: collections.Counter[str] = collections.Counter()
    raised = 0
    calls = 0
    for seed in range(_SAMPLE):
        source = program(seed)
        run = play(source, "eager", traced=True)
        counts.update(features(source, run.lines))
        calls += len(run.steps)
        raised += sum(step.raised is not None for step in run.steps)
    assert {name: counts[name] for name in FEATURES if counts[name] < _LEAST} == {}
    assert 0.02 * calls < raised < 0.3 * calls


def test_programs_come_from_their_seeds() -> None:
    programs = [program(seed) for seed in range(100)]
    assert programs == [program(seed) for seed in range(100)]
    assert len(set(programs)) == 100
    for source in programs:
        ast.parse(source)


_HANDLES = """
from weft import Parameter, Tensor
w = Parameter(Tensor([1.0, 2.0]), name="w")
seen = []
unused = 3

@jit
def step(x, y, k):
    print(k)
    for i in range(2):
        seen.append(i)
    t = {t}
    return t

def drive(call):
    call(step, Tensor([1.0]), Tensor([2.0]), 1)
    call(step, Tensor([1.5]), Tensor([2.0]), 2)
"""


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ("w", "w + 0", "results[0]"),
        ("w + 0", "w + 1", "results[0]"),
        ("k", "float(k)", "results[0]"),
        ("seen", "list(seen)", "results[0]"),
        ("seen.append(1)", "seen.append(2)", "seen[2]"),
        ("x", "x.astype(w.dtype) if k < 2 else y", "results[1]"),
        ("setattr(w, 'requires_grad', True)", "setattr(w, 'requires_grad', False)", "w"),
    ],
)
def test_snapshots_tell_programs_apart(one: str, other: str, where: str) -> None:
    first, second = (play(_HANDLES.format(t=text), "eager") for text in (one, other))
    again = play(_HANDLES.format(t=one), "eager")
    told = [difference(a.state, b.state) for a, b in zip(second.steps, first.steps, strict=True)]
    assert any(text.startswith(where + ":") for text in told if text), told
    assert not any(difference(a.state, b.state) for a, b in zip(again.steps, first.steps, strict=True))


def test_floats_may_differ_by_rounding_only() -> None:
    assert difference(Snapshot({"a": 1.0}).form, Snapshot({"a": 1.0 + 1e-7}).form) == ""
    assert difference(Snapshot({"a": 1.0}).form, Snapshot({"a": 1.001}).form) == "a: 1.0, eager 1.001"
    assert difference(Snapshot({"a": 1}).form, Snapshot({"a": True}).form) == "a: 1, eager True"


def test_a_failing_program_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that returns copies stands for a compiler with a mistake."""

    def copying(function):  # type: ignore[no-untyped-def]
        return lambda x, y, k: function(x, y, k) + 0

    monkeypatch.setattr("tests.random_programs.compare.POLICIES", {"copying": copying})
    source = _HANDLES.format(t="w if x.sum() > 0 else y")
    found = check(source, ("copying",)).differences
    assert [one.kind for one in found] == ["result"]
    small, still = shrink(source, found[0], 20.0)
    assert still.kind == "result"
    step = next(node for node in ast.parse(small).body if isinstance(node, ast.FunctionDef) and node.name == "step")
    assert "unused" not in small
    assert "seen" not in small
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(step)) <= 4
    records = [finding(seed, still, small, True) for seed in (1, 2)]
    assert [len(group) for _, group in grouped(records)] == [2]
