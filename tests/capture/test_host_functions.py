"""print, streams, warnings and logging: eagerly and captured, in the same order, from the same lines."""

# ruff: noqa: B028  the default of stacklevel is among what is tested

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.helpers.compiled import entries as entries_of
from tests.helpers.sources import function_of
from weft import Parameter, Tensor, grad, jit
from weft.errors import Unsupported
from weft.mindspore import log as mindspore_log
from weft.nn import Cell

LOG = logging.getLogger("tests.host_functions")
CHILD = LOG.getChild("child")
EVENTS: list[Any] = []


class Keep(logging.Handler):
    """Keeps what records say."""

    def emit(self, record: logging.LogRecord) -> None:
        extra = getattr(record, "tag", None)
        exc = None if record.exc_info is None else record.exc_info[0]
        text = record.getMessage()
        place = (record.pathname, record.lineno, record.funcName)
        EVENTS.append(("log", record.name, record.levelname, text, place, record.threadName, extra, exc))


class Spy(io.RawIOBase):
    """Keeps what is written to a standard stream."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.label = name

    def writable(self) -> bool:
        return True

    def write(self, text: Any) -> int:
        EVENTS.append((self.label, bytes(text)))
        return len(text)


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    handler = Keep()
    LOG.addHandler(handler)
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    yield
    LOG.removeHandler(handler)
    LOG.setLevel(logging.NOTSET)
    LOG.propagate = True


def kept_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    EVENTS.append(("warning", type(message), str(message), category, filename, lineno))


def events_of(function: Callable[..., Any], *args: Any) -> tuple[list[Any], Any]:
    """Everything that a call says, in order, and what it returns or raises."""
    EVENTS.clear()
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("always")
        patch.setattr(warnings, "showwarning", kept_warning)
        patch.setattr(sys, "stdout", OUT)
        patch.setattr(sys, "stderr", ERR)
        try:
            result = repr(function(*args))
        except ZeroDivisionError as error:
            result = repr(error)
    return EVENTS[:], result


OUT, ERR = (io.TextIOWrapper(Spy(name), encoding="utf-8", write_through=True) for name in ("out", "err"))  # type: ignore[type-var]


def same_events(function: Callable[..., Any], *inputs: tuple[Any, ...], entries: int | None = None) -> list[Any]:
    """Assert that the captured function says what the function says; returns the events of the first inputs."""
    captured = jit(function)
    wanted = [events_of(function, *args) for args in inputs]
    for _ in range(2):
        for args, expected in zip(inputs, wanted, strict=True):
            assert events_of(captured, *args) == expected
    if entries is not None:
        assert entries_of(captured) == entries
    return wanted[0][0]


X, Y = Tensor([1.0, 2.0]), Tensor([-3.0, 0.5])


def test_every_level_and_way_of_logging() -> None:
    def f(x: Any) -> Any:
        LOG.debug("hidden %s", x)
        LOG.info("tensor %s, number %d, text %r", x, 3, "t")
        LOG.warning(f"sum {x.sum():.2f}")
        LOG.error("mapping %(a)s", {"a": x})
        LOG.critical(x)
        LOG.log(25, "level %s", 25)
        CHILD.info("from the child", extra={"tag": 5})
        LOG.exception("no exception")
        logging.getLogger("tests.host_functions").info("looked up")
        return x

    events = same_events(f, (X,), (Y,), entries=1)
    assert len(events) == 8
    assert [event[4][1] - f.__code__.co_firstlineno for event in events] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_places_of_nested_functions() -> None:
    def helper(x: Any, level: int) -> None:
        LOG.info("helper %s", x, stacklevel=level)
        warnings.warn(f"helper {x}", RuntimeWarning, stacklevel=level)
        mindspore_log._logger.warning("direct", stacklevel=level)

    def middle(x: Any) -> Any:
        helper(x, 1)
        helper(x, 2)
        helper(x, 3)
        return x

    def f(x: Any) -> Any:
        middle(x)
        return [middle(x) for _ in range(2)]

    same_events(f, (X,))


def test_places_outside_the_compiled_function() -> None:
    @jit
    def captured(x: Any) -> Any:
        LOG.info("far %s", x, stacklevel=2)
        warnings.warn("far", stacklevel=3)
        return x

    def caller() -> Any:
        return captured(X)

    first = caller.__code__.co_firstlineno
    for _ in range(2):
        record, warning = events_of(caller)[0]
        assert record[4] == (__file__, first + 1, "caller")
        assert warning[4:] == (__file__, events_of.__code__.co_firstlineno + 9)


def test_adapters() -> None:
    class Numbered(logging.LoggerAdapter):  # type: ignore[type-arg]
        def __init__(self, logger: logging.Logger) -> None:
            super().__init__(logger, {"tag": 1})

        def process(self, msg: Any, kwargs: Any) -> Any:
            msg, kwargs = super().process(msg, kwargs)
            return f"<{msg}>", kwargs

    plain, numbered = logging.LoggerAdapter(LOG, {"tag": 7}), Numbered(LOG)

    def f(x: Any) -> Any:
        plain.info("plain %s", x)
        numbered.warning("numbered %s", x)
        numbered.debug("hidden")
        return x

    assert len(same_events(f, (X,), (Y,))) == 2


def test_a_logger_of_the_users_class() -> None:
    class Chatty(logging.Logger):
        def info(self, msg: Any, *args: Any, **kwargs: Any) -> None:
            super().info(f"chatty {msg}", *args, stacklevel=2, **kwargs)

    logger = Chatty("chatty", logging.INFO)
    logger.addHandler(Keep())

    def f(x: Any) -> Any:
        logger.info("%s", x)
        return x

    same_events(f, (X,))


def test_the_level_is_that_of_the_moment() -> None:
    captured = jit(lambda x: (LOG.info("info %s", x), LOG.debug("debug %s", x), x)[2])
    counts = []
    for level in (logging.INFO, logging.DEBUG, logging.ERROR, logging.DEBUG, logging.INFO):
        LOG.setLevel(level)
        counts.append(len(events_of(captured, X)[0]))
    assert counts == [1, 2, 0, 2, 1]


def test_asking_for_the_level() -> None:
    def f(x: Any) -> Any:
        if LOG.isEnabledFor(logging.DEBUG):
            return x + 1
        return x - 1

    captured = jit(f)
    for level in (logging.INFO, logging.DEBUG, logging.INFO):
        LOG.setLevel(level)
        assert events_of(captured, X) == events_of(f, X)


def test_the_static_policy_asks_for_the_level_too() -> None:
    captured = jit(lambda x: (LOG.info("info %s", x), x)[1], mode="PSJit")
    counts = []
    for level in (logging.ERROR, logging.INFO, logging.ERROR):
        LOG.setLevel(level)
        counts.append(len(events_of(captured, X)[0]))
    assert counts == [0, 1, 0]


def test_functions_of_the_module() -> None:
    def f(x: Any) -> Any:
        logging.warning("root %s", x)
        mindspore_log.error("log %s", x)
        return x

    captured = jit(f)
    handler = Keep()
    for name in (None, "weft"):
        logging.getLogger(name).addHandler(handler)
    try:
        assert events_of(captured, X) == events_of(f, X)
        assert len(EVENTS) == 3  # the second record propagates
    finally:
        for name in (None, "weft"):
            logging.getLogger(name).removeHandler(handler)


def test_warnings() -> None:
    class Mine(UserWarning):
        pass

    def f(x: Any) -> Any:
        warnings.warn("plain")
        warnings.warn(f"sum {x.sum()}", DeprecationWarning)
        warnings.warn(Mine("instance", 3))
        warnings.warn(Mine(f"text {x}"), stacklevel=1)
        warnings.warn_explicit(f"explicit {x}", Mine, "file.py", 17)
        return x

    assert len(same_events(f, (X,), (Y,))) == 5


def test_a_warning_is_given_once_for_each_place_and_text() -> None:
    def f(x: Any) -> Any:
        for i in range(3):
            warnings.warn(f"round {i // 2}")
        return x

    counts = []
    for function in (f, jit(f)):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")
            function(X)
            function(X)
        counts.append([str(w.message) for w in found])
    assert counts == [["round 0", "round 1"]] * 2


def test_a_wrong_category() -> None:
    @jit
    def f(x: Any) -> Any:
        warnings.warn("text", int)  # type: ignore[call-overload]
        return x

    with pytest.raises(TypeError, match="category must be a Warning subclass"):
        f(X)


def test_a_warning_that_is_an_error() -> None:
    state = Parameter(Tensor([0.0]), name="state")

    def f(x: Any) -> Any:
        LOG.info("before")
        warnings.warn(f"bad {x.sum()}", RuntimeWarning)
        LOG.info("after")
        state.set_data(state + 1)
        return x

    captured = jit(f)
    events_of(captured, X)
    assert state.asnumpy().tolist() == [1]
    for function in (f, captured):
        EVENTS.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match=r"bad 3\.0"):
                function(X)
        assert [event[3] for event in EVENTS] == ["before"]
        assert state.asnumpy().tolist() == [1]


def test_a_warning_that_is_an_error_in_a_try_is_refused() -> None:
    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        try:
            warnings.warn("bad")
        except UserWarning:
            return x - 1
        return x

    assert events_of(f, X)[0][0][2] == "bad"
    fresh = jit(f.compiled.function, fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Unsupported, match="turn this UserWarning into an exception"):
            fresh(X)


def test_an_exception_of_a_handler_reaches_the_caller() -> None:
    class Strict(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise ZeroDivisionError(record.getMessage())

    LOG.handlers.insert(0, Strict())
    try:

        def f(x: Any) -> Any:
            print("first")
            LOG.info("stop at %s", x)
            print("never")
            return x

        assert len(same_events(f, (X,), (Y,))) == 2
    finally:
        del LOG.handlers[0]


def test_print_and_streams() -> None:
    class Shape:
        def __init__(self, size: Any) -> None:
            self.size = size

        def __str__(self) -> str:
            return f"shape of {self.size}"

        def __repr__(self) -> str:
            return f"Shape({self.size!r})"

    fixed = Shape(3)
    weight = Parameter(Tensor([1.0]), name="weight")

    def f(x: Any) -> Any:
        print("values", x, x.sum().item(), [x, {"k": (x,)}], sep="|", end="!\n")
        print(fixed, [fixed], Shape(4), [Shape(5)], Shape(x.sum().item()))
        print("error", file=sys.stderr, flush=True)
        print(weight, [weight], f"{weight}", str(weight))
        sys.stdout.write(f"written {x}\n")
        count = sys.stdout.write("four")
        sys.stderr.writelines(["a", f"{x}"])
        sys.stdout.flush()
        return x + count

    same_events(f, (X,), (Y,))


def test_print_into_an_object_of_the_user() -> None:
    class Buffer:
        def __init__(self) -> None:
            self.parts: list[Any] = []

        def write(self, text: Any) -> None:
            self.parts.append(text)

        def flush(self) -> None:
            self.parts.append("flushed")

    def f(x: Any) -> Any:
        buffer = Buffer()
        print("a", 1, file=buffer, flush=True)
        LOG.info("%s", "".join(buffer.parts))
        return x

    same_events(f, (X,))


def test_print_while_the_stream_is_redirected_inside_is_refused() -> None:
    other = io.StringIO()

    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        with contextlib.redirect_stdout(other):
            print("text")
        return x

    with pytest.raises(Unsupported):
        f(X)


def branches(x: Any, n: Any) -> Any:
    LOG.info("begin %s", x)
    if x.sum() > 0:
        print("positive", x)
        warnings.warn("positive")
        y = x * 2
    else:
        LOG.error("negative %s", n)
        y = x
    i = n * 0
    while i < n:
        if y.sum() > 4:
            warnings.warn(f"large at {i}")
            y = y / 2
        LOG.info("i=%s y=%s", i, y)
        for part in y:
            print(part, end=",")
        if i == 3:
            print("stop")
            break
        i = i + 1
    else:
        print("all")
    return y


def test_in_branches_and_loops() -> None:
    same_events(branches, (X, Tensor(2)), (Y, Tensor(0)), (X, Tensor(9)), entries=1)


def test_under_a_gradient() -> None:
    def loss(x: Any, n: Any) -> Any:
        return branches(x, n).sum()

    for args in ((X, Tensor(2)), (Y, Tensor(1))):
        wanted = events_of(grad(loss), *args)
        assert len(wanted[0]) > 2
        for way in (jit(grad(loss)), grad(jit(loss))):
            assert events_of(way, *args) == wanted
            assert events_of(way, *args) == wanted


def test_in_cells() -> None:
    class Block(Cell):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.logger = CHILD
            self.count = 0
            self.inner = Block(depth - 1) if depth else None

        def construct(self, x: Any) -> Any:
            self.count += 1
            self.logger.info("call %d: %s", self.count, x.sum())
            return x * 2 if self.inner is None else self.inner(x + 1)

    eager, captured = Block(2), Block(2)
    run = jit(captured)
    for _ in range(3):
        assert events_of(run, X) == events_of(eager, X)


def test_objects_that_the_capture_changes_are_refused() -> None:
    class Model:
        def __init__(self) -> None:
            self.steps = 0

    model = Model()

    @jit(fullgraph=True)
    def fine(x: Any) -> Any:
        LOG.info("%s", model)
        return x

    @jit(fullgraph=True)
    def stale(x: Any) -> Any:
        model.steps += 1
        LOG.info("%s", model)
        return x

    events_of(fine, X)
    with pytest.raises(Unsupported, match="makes or changes"):
        stale(X)


@pytest.mark.parametrize(
    "configure",
    [
        lambda: LOG.setLevel(10),
        lambda: logging.disable(),
        lambda: LOG.addHandler(Keep()),
        lambda: logging.basicConfig(level=10),
        lambda: warnings.simplefilter("error"),
        lambda: LOG.info("stack", stack_info=True),
    ],
)
def test_what_would_change_later_messages_is_refused(configure: Callable[[], Any]) -> None:
    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        configure()
        return x

    with pytest.raises(Unsupported):
        f(X)


def test_an_exception_that_is_handled_is_refused_in_a_record() -> None:
    @jit(fullgraph=True)
    def f(x: Any) -> Any:
        try:
            raise ZeroDivisionError("x")
        except ZeroDivisionError:
            LOG.exception("failed")
        return x

    with pytest.raises(Unsupported, match="traceback"):
        f(X)


# -- generated programs --------------------------------------------------------------------------------------------

SAYS = (
    'LOG.info("%s {n}", x)', 'LOG.warning(f"{{x.sum()}} {n}")', 'LOG.debug("{n}")', 'print("{n}", x)',
    'print(x.sum(), end=";")', 'warnings.warn("{n}")', 'warnings.warn(f"{{k}} {n}", stacklevel=2)',
    'sys.stdout.write(f"{{k}} {n}")', 'ADAPTER.error("%s {n}", k)', "helper(x)",
)  # fmt: skip
HEAD = """import logging, sys, warnings
def helper(x):
    LOG.info("help %s", x)
    if x.sum() > 1:
        warnings.warn("help", stacklevel=2)
def f(x, k):
"""


def program(random: Random) -> str:
    """The source of a function `f(x, k)` that says things along its way."""
    lines: list[str] = []
    count = 0

    def block(indent: int, depth: int, looping: bool) -> None:
        nonlocal count
        pad = "    " * indent
        for _ in range(random.randint(1, 3)):
            count += 1
            kind = random.randrange(8 if depth else 4)
            if kind < 3:
                lines.append(pad + random.choice(SAYS).format(n=count))
            elif kind == 3:
                lines.append(pad + random.choice(["x = x * 0.5", "x = -x", "x = x + k", "k = k + 1"]))
            elif kind < 6:
                lines.append(f"{pad}if {random.choice(['x.sum() > 0', 'k > 2', 'x[0] < x[1]'])}:")
                block(indent + 1, depth - 1, looping)
                if looping and random.random() < 0.3:
                    lines.append(pad + "    break")
                if random.random() < 0.6:
                    lines.append(pad + "else:")
                    block(indent + 1, depth - 1, looping)
            elif kind == 6:
                lines.append(f"{pad}for i{count} in range({random.randint(1, 3)}):")
                block(indent + 1, depth - 1, False)
            else:
                lines.append(f"{pad}i{count} = k * 0")
                lines.append(f"{pad}while i{count} < {random.choice(['2', 'k', 'k - 1'])}:")
                lines.append(f"{pad}    i{count} = i{count} + 1")
                bound = random.choice(["x = x * 0.5", "x = -x"])
                lines.append(f"{pad}    {bound}")
                block(indent + 1, depth - 1, True)
                lines.append(f"{pad}    k = k - 1")

    block(1, 3, False)
    return HEAD + "\n".join(lines) + "\n    return x, k\n"


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_generated_programs_say_the_same(seed: int) -> None:
    source = program(Random(seed))
    note(source)
    function = function_of(source, LOG=LOG, ADAPTER=logging.LoggerAdapter(CHILD, {"tag": 2}))

    def called(x: Any, k: Any) -> Any:  # what a stack level of 2 may name
        return function(x, k)

    same_events(called, (X, Tensor(2)), (Y, Tensor(4)))


def _divides(x: Any) -> Any:
    y = x + 1
    quotient = np.float32(1) / np.float32(0)
    return y * 2, quotient


def test_warnings_of_native_code_are_the_users() -> None:
    """Each call gives them, as the eager one does, at the user's line."""
    compiled = jit(_divides)
    for call in (compiled, compiled, _divides):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(Tensor([1.0]))
        line = _divides.__code__.co_firstlineno + 2
        assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]


def test_what_a_handler_writes_is_read_in_python_with_a_warning() -> None:
    """Handlers run after the graph, so capture meets an exception that Python does not."""
    seen: dict[str, int] = {}

    class Note(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen["last"] = 5

    logger = logging.Logger("noted")
    logger.addHandler(Note())

    @jit
    def f(x: Any) -> Any:
        logger.warning("step")
        return x * seen["last"]

    with pytest.warns(RuntimeWarning, match="capture raised KeyError here .*, and Python did not"):
        assert f(X).asnumpy().tolist() == [5, 10]
    assert f(Y).asnumpy().tolist() == [-15, 2.5]
