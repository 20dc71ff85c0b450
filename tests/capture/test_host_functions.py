"""print, streams, warnings and logging: eagerly and captured, in the same order, from the same lines."""

# ruff: noqa: B028  the default of stacklevel is among what is tested

from __future__ import annotations

import contextlib
import io
import logging
import logging.handlers
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
from weft import Parameter, Tensor, explain, grad, jit
from weft.errors import Unsupported
from weft.mindspore import log as mindspore_log
from weft.nn import Cell

LOG = logging.getLogger("tests.host_functions")
CHILD = LOG.getChild("child")
EVENTS: list[Any] = []
OF_WARNINGS = logging.getLogger("py.warnings")


class Keep(logging.Handler):
    """Keeps what records say: code of the program's, which no graph runs."""

    def emit(self, record: logging.LogRecord) -> None:
        extra = getattr(record, "tag", None)
        exc = "" if record.exc_info is None else repr(record.exc_info[0])
        place = (record.pathname, record.lineno, record.funcName)
        EVENTS.append(
            ("log", record.name, record.levelname, record.getMessage(), place, record.threadName, str(extra), exc)
        )


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


def kept_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    EVENTS.append(("warning", type(message), str(message), category, filename, lineno))


OUT, ERR = (io.TextIOWrapper(Spy(name), encoding="utf-8", write_through=True) for name in ("out", "err"))  # type: ignore[type-var]
#: where everything goes in order where only the standard library takes part
TEXT = io.StringIO()
FIELDS = ("name", "levelname", "message", "pathname", "lineno", "funcName", "threadName", "tag")
PLAIN = logging.StreamHandler(TEXT)
PLAIN.terminator = "\x1e"
PLAIN.setFormatter(
    logging.Formatter("\x1elog\x1f" + "\x1f".join(f"%({name})s" for name in FIELDS) + "\x1f", defaults={"tag": None})
)


def forget() -> None:
    EVENTS.clear()
    TEXT.seek(0)
    TEXT.truncate()


def events_of_text() -> list[Any]:
    """What the standard library wrote, as `Keep` would give it; other texts as they are."""
    found: list[Any] = []
    for piece in filter(None, TEXT.getvalue().split("\x1e")):
        kind, *fields = piece.split("\x1f")
        if kind == "log" and fields:
            name, level, text, path, line, function, thread, tag, exc = fields
            found.append(("log", name, level, text, (path, int(line), function), thread, tag, exc))
        else:
            found.append(("text", piece))
    return found


@pytest.fixture(autouse=True, params=["standard", "own"])
def sinks(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where output goes: through the standard library only, as graphs write it, or through code of the program's."""
    handler = PLAIN if request.param == "standard" else Keep()
    LOG.addHandler(handler)
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    yield request.param
    LOG.removeHandler(handler)
    LOG.setLevel(logging.NOTSET)
    LOG.propagate = True


def events_of(function: Callable[..., Any], *args: Any) -> tuple[list[Any], Any]:
    """Everything that a call says, in order, and what it returns or raises."""
    forget()
    plain = PLAIN in LOG.handlers
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("always")
        if plain:  # as by logging.captureWarnings(True)
            patch.setattr(warnings, "showwarning", logging._showwarning)  # type: ignore[attr-defined]
            patch.setattr(OF_WARNINGS, "handlers", [PLAIN])
            patch.setattr(OF_WARNINGS, "propagate", False)
        else:
            patch.setattr(warnings, "showwarning", kept_warning)
        patch.setattr(sys, "stdout", TEXT if plain else OUT)
        patch.setattr(sys, "stderr", TEXT if plain else ERR)
        try:
            result = repr(function(*args))
        except ZeroDivisionError as error:
            result = repr(error)
    return EVENTS + events_of_text(), result


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
    def speaks(x: Any) -> Any:
        LOG.info("far %s", x, stacklevel=2)
        warnings.warn("far", stacklevel=3)
        return x

    captured = jit(speaks)

    def caller(function: Any) -> Any:
        return function(X)

    if PLAIN not in LOG.handlers:
        return  # a step does not know who called the compiled function
    for _ in range(2):
        assert events_of(caller, captured) == events_of(caller, speaks)
        assert len(events_of_text()) == 2


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
        forget()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match=r"bad 3\.0"):
                function(X)
        assert [event[3] for event in EVENTS + events_of_text()] == ["before"]
        assert state.asnumpy().tolist() == [1]


def test_a_warning_that_is_an_error_is_handled() -> None:
    state = {"n": 0}

    def f(x: Any) -> Any:
        state["n"] += 1
        try:
            warnings.warn("bad")
        except UserWarning:
            return x - state["n"]
        finally:
            state["n"] += 1
        return x

    captured = jit(f)
    whole = jit(f, fullgraph=True)
    for action in ("always", "error", "always", "error"):
        found = []
        for function in (f, captured):
            state["n"] = 0
            with warnings.catch_warnings():
                warnings.simplefilter(action)
                found.append((function(X).asnumpy().tolist(), state["n"]))
        assert found[0] == found[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Unsupported, match="a filter that turns a UserWarning into an exception"):
            whole(X)


def test_an_exception_of_a_handler() -> None:
    class Strict(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise ZeroDivisionError(record.getMessage())

    state = {"n": 0}

    def f(x: Any) -> Any:
        state["n"] += 1
        print("first", state["n"])
        LOG.info("stop at %s", x)
        print("never")
        return x

    def handles(x: Any) -> Any:
        state["n"] += 1
        try:
            LOG.info("stop at %s", x)
        except ZeroDivisionError as error:
            return x * state["n"], str(error)
        finally:
            state["n"] += 1
        return x, ""

    for function in (f, handles):
        captured, states = jit(function), []
        for called in (function, captured):
            state["n"] = 0
            found = []
            for strict in (False, True, True, False, True):
                LOG.handlers[:0] = [Strict()] if strict else []
                found.append(events_of(called, X))
                del LOG.handlers[: int(strict)]
            states.append((found, state["n"]))
        assert states[0] == states[1]


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


def test_options_that_print_refuses() -> None:
    class Silent:
        def __str__(self) -> str:
            raise RuntimeError("asked for a text")

    def f(x: Any, options: dict[str, Any]) -> Any:
        seen = []
        try:
            print(x, Silent(), **options)
        except (TypeError, AttributeError, RuntimeError) as error:
            seen.append(str(error))
        finally:
            seen.append("finally")
        return x * 2, seen

    for options in ({"sep": 3}, {"end": b"x"}, {"file": 5}, {"no": 1}, {"sep": None, "end": 0}, {}):
        expected, found = f(X, options), jit(f)(X, options)
        assert found[1] == expected[1]


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


def test_objects_that_the_capture_changes_are_refused(sinks: str) -> None:
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

    if sinks == "own":
        with pytest.raises(Unsupported, match="the output goes through a Keep of the program"):
            fine(X)
        return
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


# -- code of the program's that takes part in output ---------------------------------------------------------------


STATE: dict[str, Any] = {}


class Counting(logging.Handler):
    """Counts records, sees what the call has written so far, and writes what it reads and writes itself."""

    def emit(self, record: logging.LogRecord) -> None:
        STATE["said"].append((record.getMessage(), STATE["n"]))
        STATE["n"] += 10


class Filtering(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        STATE["n"] += 100
        return "skip" not in record.getMessage()


class Formatting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        STATE["n"] += 1000
        return f"{STATE['n']} {super().format(record)}"


class Tee(io.TextIOBase):
    def write(self, text: str) -> int:
        STATE["n"] += 10
        STATE["said"].append((text, STATE["n"]))
        return len(text)


class Speaking:
    def __repr__(self) -> str:
        STATE["n"] += 10
        return f"spoken {STATE['n']}"


class SpeakingList(list[Any]):
    def __str__(self) -> str:
        STATE["n"] += 10
        return f"listed {STATE['n']}"


class SpeakingWarning(UserWarning):
    def __str__(self) -> str:
        STATE["n"] += 10
        return f"warned {STATE['n']}"


def counting_filter(record: logging.LogRecord) -> bool:
    STATE["n"] += 7
    return True


def with_handler(handler: logging.Handler) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: LOG.addHandler(handler)


def with_filter(part: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: LOG.addFilter(part)


def formatted() -> logging.Handler:
    handler = logging.StreamHandler(TEXT)
    handler.setFormatter(Formatting())
    return handler


def patched_handler() -> logging.Handler:
    handler = logging.StreamHandler(TEXT)
    handler.emit = lambda record: STATE.update(n=STATE["n"] + 10)  # type: ignore[method-assign]
    return handler


def shows(message: Any, category: Any, *rest: Any, **kwargs: Any) -> None:
    STATE["n"] += 10
    STATE["said"].append((str(message), STATE["n"]))


def makes_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    STATE["n"] += 10
    return logging.LogRecord(*args, **kwargs)


TAKING_PART: dict[str, Callable[[pytest.MonkeyPatch], Any]] = {
    "nothing": lambda patch: None,
    "handler": with_handler(Counting()),
    "handler of a parent": lambda patch: (patch.setattr(LOG, "propagate", True), LOG.parent.addHandler(Counting())),  # type: ignore[union-attr]
    "filter": with_filter(Filtering()),
    "function as a filter": with_filter(counting_filter),
    "formatter": lambda patch: LOG.addHandler(formatted()),
    "stream of a handler": with_handler(logging.StreamHandler(Tee())),
    "method of a handler": lambda patch: LOG.addHandler(patched_handler()),
    "target of a handler": lambda patch: LOG.addHandler(logging.handlers.MemoryHandler(1, target=Counting())),
    "record": lambda patch: patch.setattr(logging, "_logRecordFactory", makes_record),
    "stdout": lambda patch: patch.setattr(sys, "stdout", Tee()),
    "stderr": lambda patch: patch.setattr(sys, "stderr", Tee()),
    "closed": lambda patch: patch.setattr(sys, "stdout", closed()),
    "ascii": lambda patch: patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii")),
    "showwarning": lambda patch: patch.setattr(warnings, "showwarning", shows),
    "errors": lambda patch: warnings.simplefilter("error"),
}


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


def speaks(x: Any, said: Any) -> Any:
    """Output between what it writes and reads."""
    STATE["n"] += 1
    before = STATE["n"]
    try:
        print("text \u00e9", x.sum(), [said], {said: 1}, (said,) if x[0] > 0 else 0)
        LOG.info("skip")
        LOG.info("n %d sum %s", STATE["n"], x.sum())
        LOG.warning("said %s %r", said, [said])
        warnings.warn(f"careful {STATE['n']}")
        warnings.warn(SpeakingWarning("text"))
    except (ValueError, UserWarning) as error:
        STATE["said"].append((type(error), STATE["n"]))
    finally:
        STATE["n"] += 1
    return x * before, STATE["n"], len(STATE["said"])


@pytest.mark.parametrize("way", TAKING_PART)
@pytest.mark.parametrize("said", [3, "text", Speaking(), SpeakingList([1, Speaking()]), [Speaking()]], ids=type)
@pytest.mark.parametrize("order", ["with", "without first"])
def test_code_of_the_programs_that_takes_part(way: str, said: Any, order: str, sinks: str) -> None:
    """It sees what the call wrote before it, is seen by what comes after it, and raises where Python raises."""
    found = []
    if isinstance(said, list) and type(said) is list:
        speaker = lambda x, item: speaks(x, item[0])  # noqa: E731
    else:
        speaker = speaks
    for function in (speaker, jit(speaker)):
        STATE.update(n=0, said=[])
        results = []
        for number in range(4):
            taking_part = order == "with" or number in (1, 3)
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                handlers, filters = LOG.handlers[:], LOG.filters[:]
                of_parent = LOG.parent.handlers[:]  # type: ignore[union-attr]
                forget()
                patch.setattr(sys, "stdout", TEXT)
                patch.setattr(sys, "stderr", TEXT)
                if taking_part:
                    TAKING_PART[way](patch)
                try:
                    value, *rest = function(Tensor([float(number), 1.0]), said)
                    results.append((value.asnumpy().tolist(), rest))
                except Exception as error:
                    results.append((type(error), str(error)))
                finally:
                    LOG.handlers[:], LOG.filters[:] = handlers, filters
                    LOG.parent.handlers[:] = of_parent  # type: ignore[union-attr]
                results += [EVENTS + events_of_text(), [str(one.category) for one in caught], dict(STATE)]
        found.append(results)
    assert found[0] == found[1]


def test_standard_output_is_no_break(sinks: str) -> None:
    def f(x: Any, items: Any) -> Any:
        print("text", x.sum(), items)
        LOG.info("n %d sum %s", 3, x.sum())
        warnings.warn(f"careful {x.sum()}")
        return x * 2

    captured = jit(f)
    for value in (X, Y):
        assert events_of(captured, value, [1]) == events_of(f, value, [1])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        breaks = len(explain(captured)(X, [1]).breaks)
    assert breaks == 0 if sinks == "standard" else breaks > 0
