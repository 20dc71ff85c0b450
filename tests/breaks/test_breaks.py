"""One break costs one break: where it is reported, how often it runs, and that all else stays in graphs."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable
from typing import Any

import break_programs
import pytest
from break_programs import PROGRAMS, Scale, expected, noted, sample, work

from tests.helpers.profiling import profiled
from tests.helpers.values import plain
from weft import Tensor, jit
from weft.core import dispatch
from weft.core import trace as trace_module
from weft.jit import compiled_of


def eager_operations(function: Callable[[], Any]) -> int:
    """How many primitives run one by one during a call."""
    counted = 0
    code = dispatch.apply.__code__

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal counted
        if event == "call" and frame.f_code is code and trace_module.current() is None:
            counted += 1

    assert threading.current_thread() is threading.main_thread()
    with profiled(note):
        function()
    return counted


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_one_break(program: Any) -> None:
    compiled = jit(program)
    x = sample()
    wanted = plain(program(x), 4)
    assert plain(compiled(x), 4) == wanted
    history = compiled_of(compiled).history
    line, runs = expected(program)
    found = [(site.location.file, site.location.line, count) for site, count in history.breaks.items()]
    assert found == [(break_programs.__file__, line, runs)]
    assert plain(compiled(x), 4) == wanted
    graphs = len(history.captured)
    share = eager_operations(lambda: compiled(x)) / eager_operations(lambda: program(x))
    assert share <= 0.05
    assert list(history.breaks.values()) == [3 * runs]
    assert len(history.captured) == graphs


# -- what is no break ----------------------------------------------------------------------------------------------


class Point:
    kind = "point"

    def __init__(self, x: Any) -> None:
        self.x = x


def prints(x: Any) -> Any:
    print("sum", x.sum() > 0, x.shape)
    return work(x)


def logs(x: Any) -> Any:
    logging.getLogger("weft-test").warning("at %d", len(x.shape))
    return work(x)


def warns(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(x)


def warns_of(x: Any) -> Any:
    warnings.warn("careful", UserWarning, stacklevel=1)
    return work(x)


def asks(x: Any) -> Any:
    point = Point(x)
    known = isinstance(point, Point) and hasattr(point, "x") and callable(work)
    return work(getattr(point, "x")) * len(getattr(point, "kind")) * known  # noqa: B009


def dictionaries(x: Any) -> Any:
    table = {"a": x, "b": x * 2}
    table.update(c=x * 3)
    table.setdefault("d", x)
    merged = {**table, "e": table.pop("a")}
    names = {name for name in merged if name > "b"} | {"z"}
    names.discard("z")
    return work(merged["e"] + merged["c"]) * len(names), sorted(names), list(merged)


def formats(x: Any) -> Any:
    n = len(x.shape)
    return work(x), f"{n:>3} {n!r}", "%s-%d" % ("a", n), "{}".format(n), ",".join(map(str, range(n)))  # noqa: UP031,UP032


def asserts(x: Any) -> Any:
    assert x.shape == (3,), "wrong shape"
    return work(x)


def raises_and_tries(x: Any) -> Any:
    log = []
    for k in range(3):
        try:
            if k == 1:
                raise ValueError(k)
            log.append({}["missing"] if k == 2 else k)
        except ValueError as error:
            log.append(error.args)
        except LookupError:
            log.append("lookup")
        finally:
            x = work(x)
    return x, log


def grows(x: Any) -> Any:
    parts = []
    for i in range(5):
        parts.append(x * i)
        parts += [x + i]
        parts.extend([x])
    parts.insert(0, parts.pop())
    return work(sum(parts, x))


def manages(x: Any) -> Any:
    log: list[Any] = []
    with Scale(log) as k, noted(log) as m:
        y = work(x) * k * m
    return y, log


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize(
    "program",
    [prints, logs, warns_of, asks, dictionaries, formats, asserts, raises_and_tries, grows, manages],
    ids=lambda program: program.__name__,
)
def test_no_break(program: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    x = sample()
    with warnings.catch_warnings(record=True) as eager_warnings:
        warnings.simplefilter("always")
        wanted = plain(program(x), 4)
    eager_text, eager_records = capsys.readouterr(), [record.getMessage() for record in caplog.records]
    compiled = jit(program)
    for _ in range(2):
        caplog.clear()
        with warnings.catch_warnings(record=True) as found_warnings:
            warnings.simplefilter("always")
            assert plain(compiled(x), 4) == wanted
        assert capsys.readouterr() == eager_text
        assert [record.getMessage() for record in caplog.records] == eager_records
        assert [str(w.message) for w in found_warnings] == [str(w.message) for w in eager_warnings]
    assert compiled_of(compiled).history.breaks == {}


def test_a_side_that_was_captured_twice_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Any) -> Any:
        count, kept = 0, []
        while x.sum() < 4 and count < 2:
            count += 1
            x = x - 1
            if x.min() > 2:  # the sides do not merge at the loop's header, and are followed to the end
                continue
            print("in", count)
            kept.append(count)
        return x * 2, kept

    compiled = jit(program)
    for values in ([3.0, 4.0], [-1.0, 0.0], [1.0, 0.5]):
        found = [(str(call(Tensor(values))), capsys.readouterr().out) for call in (program, compiled)]
        assert found[0] == found[1]
