"""The corpus with each part of the compiler on, off, and where it would not be by itself: the same answers.

Eager code, in which the parts that concern graphs have no share, is the reference in each.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.cache.edited import Memory
from tests.capture.test_corpus import PROGRAMS
from tests.helpers.programs import Case, check_case
from weft import context
from weft._jax_compat import keep_executables
from weft.autodiff import structure
from weft.cache import configure, executables, inferred
from weft.compile import chain
from weft.passes import pipeline, rolled_loop
from weft.passes.if_to_select import IfToSelect
from weft.passes.inline_calls import InlineCalls
from weft.passes.roll_repeats import RollRepeats
from weft.passes.share_repeats import ShareRepeats

#: the default
UNROLLED = context.get_context("loop_unroll_limit")
#: one in so many programs in a quick round
SAMPLE = 12


def without_passes(patch: pytest.MonkeyPatch) -> None:
    """Graphs as they are captured: only calls are put in place."""
    patch.setitem(pipeline.optimize.__kwdefaults__, "passes", (InlineCalls(),))


def with_verified_graphs(patch: pytest.MonkeyPatch) -> None:
    """Graphs keep the rules of the IR, before and after each pass."""
    patch.setitem(pipeline.optimize.__kwdefaults__, "check", True)


def without_selects(patch: pytest.MonkeyPatch) -> None:
    """Conditionals stay conditionals."""
    kept = tuple(step for step in pipeline.FINISH if not isinstance(step, IfToSelect))
    assert len(kept) < len(pipeline.FINISH)
    patch.setattr(pipeline, "FINISH", kept)


def with_shared_stretches(patch: pytest.MonkeyPatch) -> None:
    """Whatever repeats is compiled once, however small."""
    patch.setattr(chain, "LARGE", 0)
    patch.setattr(chain, "ShareRepeats", lambda **_: ShareRepeats(least=2, saved=0))


def without_loops(patch: pytest.MonkeyPatch) -> None:
    """Whatever repeats is unrolled."""
    del patch
    context.set_context(loop_unroll_limit=-1)


def with_loops_everywhere(patch: pytest.MonkeyPatch) -> None:
    """Whatever repeats is a loop, however short."""
    context.set_context(loop_unroll_limit=0)
    patch.setattr(chain, "RollRepeats", lambda **_: RollRepeats(limit=0, body=1, least=2))
    patch.setattr(rolled_loop, "_SMALLER", 1)


def with_whole_passes_back(patch: pytest.MonkeyPatch) -> None:
    """Every eager backward pass is compiled as one."""
    patch.setattr(structure, "PATIENCE", 0)


def without_whole_passes_back(patch: pytest.MonkeyPatch) -> None:
    """No eager backward pass is compiled as one."""
    patch.setattr(structure, "PATIENCE", 1 << 60)
    patch.setattr(structure, "_is_bought_at_once", lambda order: False)


def without_the_cache(patch: pytest.MonkeyPatch) -> None:
    """Nothing that an earlier process left is found."""
    del patch
    keep_executables(None)
    inferred.keep_in(None)


def with_kept_entries(patch: pytest.MonkeyPatch) -> None:
    """What is captured is kept, and found by the same program when it is compiled anew."""
    executables._current = Memory()  # type: ignore[assignment]
    patch.setattr(executables, "keeps_entries", lambda: True)
    patch.setattr("weft.capture.capture.keeps_entries", lambda: True)


FEATURES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "no passes": without_passes,
    "verified": with_verified_graphs,
    "no selects": without_selects,
    "shared stretches": with_shared_stretches,
    "no loops": without_loops,
    "loops everywhere": with_loops_everywhere,
    "backward as one": with_whole_passes_back,
    "backward one by one": without_whole_passes_back,
    "no cache": without_the_cache,
    "kept entries": with_kept_entries,
}


def check(program: Case, feature: str, patch: pytest.MonkeyPatch) -> None:
    FEATURES[feature](patch)
    try:
        check_case(program)
        if feature == "kept entries":  # as another process would, which may find one that fits more calls
            again = copy.copy(program)
            again.entries = -1
            check_case(again)
    finally:
        patch.undo()
        context.set_context(loop_unroll_limit=UNROLLED)
        configure()


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", list(PROGRAMS)[::SAMPLE])
def test_some_programs(name: str, feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(PROGRAMS[name], feature, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_programs(name: str, feature: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(PROGRAMS[name], feature, monkeypatch)
