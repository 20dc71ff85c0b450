"""Objects that are found by looking something up, not by a path from the arguments: descriptors of classes, namespaces
of classes, members of enumerations, functions of methods, elements of arrays, modules. What is read of them is guarded.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import io
import operator
import sys
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from functools import partialmethod
from typing import Any
from unittest import mock

import numpy as np
import pytest

from weft import Parameter, Tensor, jit, nn, value_and_grad

X = Tensor(np.array([1.0, -2.0], np.float32))
#: a function of a tensor, and what changes before each further call
Case = tuple[Callable[..., Any], list[Callable[[], Any]]]


class Setting:
    """A descriptor with a value of its own."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __get__(self, obj: Any, cls: Any) -> Any:
        return self.value


class OfClass:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, obj: Any, cls: Any) -> Any:
        return self.function(cls)


def descriptors_of_classes() -> Case:
    class Config:
        rate = OfClass(lambda cls: 2.0)
        scale = Setting(1.0)
        tags: Any = Setting([1])

        @classmethod
        def all(cls) -> Any:
            return cls.rate + cls.scale + sum(cls.tags)

    class Sub(Config):
        pass

    def program(x: Any) -> Any:
        return x * Config.rate, x * Sub.scale, x * sum(Config.tags), x * type(Sub()).all(), x * getattr(Config, "scale")  # noqa: B009

    return program, [
        lambda: setattr(Config.__dict__["scale"], "value", 7.0),
        lambda: Config.tags.append(5),
        lambda: setattr(Config, "rate", OfClass(lambda cls: 3.0)),
        lambda: setattr(Sub, "scale", 9.0),
        lambda: setattr(Config, "tags", [4]),
    ]


def methods_made_by_descriptors() -> Case:
    class Scaled:
        factor = 1.0

        def times(self, by: float, x: Any) -> Any:
            return x * by * self.factor

        twice = partialmethod(times, 2.0)

    owner = Scaled()
    return lambda x: (owner.twice(x), Scaled.twice(owner, x)), [
        lambda: setattr(Scaled, "factor", 3.0),
        lambda: setattr(Scaled, "twice", partialmethod(Scaled.times, 5.0)),
    ]


def namespaces_of_classes() -> Case:
    class Options:
        rate = 1.0

    class Config:
        rates = [1.0]
        table = {"k": 1.0}
        options = Options()

        def hook(self) -> None: ...

        def as_dict(self) -> dict[str, Any]:
            return {k: v for k, v in type(self).__dict__.items() if not k.startswith("_") and not callable(v)}

    hook: Any = Config.hook
    hook.scale = 1.0
    config = Config()

    def program(x: Any) -> Any:
        lists = sum(x * v[0] for v in vars(Config).values() if isinstance(v, list))
        found: Any = Config.__dict__
        return (
            lists,
            x * found["table"]["k"] * found["options"].rate * found["hook"].scale,
            x * config.as_dict()["rates"][0],
        )

    return program, [
        lambda: Config.rates.__setitem__(0, 5.0),
        lambda: Config.table.update(k=6.0),
        lambda: setattr(Options, "rate", 7.0),
        lambda: setattr(Config.options, "rate", 8.0),
        lambda: setattr(hook, "scale", 9.0),
        lambda: setattr(Config, "rates", [10.0]),
    ]


def members_of_enumerations() -> Case:
    class Kind(enum.Enum):
        FAST = 1
        TABLE = {"rate": 1.0}

    fast: Any = Kind.FAST
    fast.scale = 1.0

    def program(x: Any) -> Any:
        named: Any = Kind["FAST"]
        counted: Any = Kind(1)
        first: Any = next(iter(Kind))
        listed: Any = list(Kind)
        values = [kind.value["rate"] for kind in Kind if isinstance(kind.value, dict)]
        return (
            x * named.scale,
            x * counted.scale,
            x * first.scale,
            x * listed[0].scale,
            x * sum(values),
            x * Kind["TABLE"].value["rate"],
        )

    return program, [
        lambda: setattr(fast, "scale", 2.0),
        lambda: Kind.TABLE.value.update(rate=3.0),
        lambda: setattr(fast, "scale", 4.0),
    ]


def functions_of_methods() -> Case:
    class Runner:
        def go(self, x: Any) -> Any:
            go: Any = self.go
            go.__func__.calls += 1
            return x * go.calls * go.scale, go.__name__, hasattr(go, "new"), go.__doc__

    class Net(nn.Cell):  # type: ignore[misc]
        def construct(self, x: Any) -> Any:
            return x * self.construct.scale

    go: Any = Runner.go
    go.calls, go.scale = 0, 1.0
    construct: Any = Net.construct
    construct.scale = 2.0
    runner, net = Runner(), Net()
    return lambda x: (runner.go(x), net(x)), [
        lambda: None,
        lambda: setattr(go, "scale", 10.0),
        lambda: setattr(construct, "scale", 3.0),
        lambda: setattr(go, "calls", 100),
        lambda: setattr(go, "new", 1),
        lambda: setattr(go, "__name__", "renamed"),
        lambda: setattr(go, "__doc__", "Described."),
    ]


def elements_of_arrays() -> Case:
    class Box:
        v = 1.0

    boxes = np.array([Box(), {"rate": 1.0}], object)

    def program(x: Any) -> Any:
        return x * boxes[0].v, x * boxes[1]["rate"], x * boxes.tolist()[0].v, x * slice(boxes[0], None).start.v

    return program, [
        lambda: setattr(boxes[0], "v", 2.0),
        lambda: boxes[1].update(rate=3.0),
        lambda: boxes.__setitem__(0, Box()),
    ]


def found_by_native_code() -> Case:
    class Box:
        def __init__(self, v: float) -> None:
            self.v, self.inner = v, [v]

    owner = types.SimpleNamespace(a=Box(1.0), b=Box(2.0))
    get = operator.attrgetter("a", "b")
    boxes = [Box(3.0), Box(4.0)]

    def program(x: Any) -> Any:
        a, b = get(owner)
        best = max(boxes, key=operator.attrgetter("v"))
        return x * a.v * b.inner[0], x * best.inner[0] * operator.itemgetter(0)(boxes).v

    return program, [
        lambda: setattr(owner.a, "v", 5.0),
        lambda: owner.b.inner.__setitem__(0, 6.0),
        lambda: boxes[0].inner.append(1.0),
        lambda: setattr(boxes[0], "v", 8.0),
        lambda: setattr(owner, "a", Box(9.0)),
    ]


def flags_of_arrays() -> Case:
    array = np.ones(2)
    box = {"a": array}

    def program(x: Any) -> Any:
        held = box["a"]
        return (x + 1, "writeable") if held.flags.writeable else (x - 1, "read-only")

    return program, [lambda: array.setflags(write=False), lambda: None, lambda: array.setflags(write=True)]


def annotations_of_functions() -> Case:
    def described(a: int) -> str:
        raise NotImplementedError

    return lambda x: (x + 1, typing.get_type_hints(described)), [
        lambda: described.__annotations__.update(a=str),
        lambda: setattr(described, "__annotations__", {}),
        lambda: setattr(described, "__annotations__", {"z": float}),
    ]


CASES = [
    descriptors_of_classes, methods_made_by_descriptors, namespaces_of_classes, members_of_enumerations,
    functions_of_methods, elements_of_arrays, found_by_native_code, flags_of_arrays, annotations_of_functions,
]  # fmt: skip


def shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    return [shown(part) for part in value] if isinstance(value, (tuple, list)) else value


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_is_read_of_what_was_found_is_guarded(case: Callable[[], Case], mode: str) -> None:
    (eager, changes), (made, same_changes) = case(), case()
    compiled = jit(made, **({} if mode == "auto" else {"mode": mode}))
    assert shown(compiled(X)) == shown(eager(X))
    for change, same_change in zip(changes, same_changes, strict=True):
        change()
        same_change()
        for _ in range(2):
            assert shown(compiled(X)) == shown(eager(X))


# -- modules -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def plugin() -> Iterator[Callable[[float], types.ModuleType]]:
    def module(k: float) -> types.ModuleType:
        made: Any = types.ModuleType("plugin")
        made.k = k
        return made

    with mock.patch.dict(sys.modules, {"plugin": module(2.0)}):
        yield module


def imports(x: Any) -> Any:
    try:
        import plugin  # type: ignore[import-not-found]
    except ImportError as error:
        return x - 1, str(error)
    from plugin import k

    return x * plugin.k, x * k


def test_an_import_finds_the_module_of_the_call(plugin: Any) -> None:
    compiled = jit(imports)
    changes: list[Callable[[], Any]] = [
        lambda: setattr(sys.modules["plugin"], "k", 3.0),
        lambda: sys.modules.__setitem__("plugin", plugin(5.0)),
        lambda: sys.modules.__setitem__("plugin", None),  # type: ignore[arg-type]
        lambda: sys.modules.__setitem__("plugin", plugin(6.0)),
        lambda: sys.modules.__delitem__("plugin"),
    ]
    assert shown(compiled(X)) == shown(imports(X))
    for change in changes:
        change()
        for _ in range(2):
            assert shown(compiled(X)) == shown(imports(X))


def test_another_import_function_is_called(plugin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(imports)
    compiled(X)
    called = []
    original = builtins.__import__

    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importing)
    imports(X)
    expected = [name for name in called if name == "plugin"]
    called.clear()
    compiled(X)
    assert [name for name in called if name == "plugin"] == expected == ["plugin", "plugin"]


# -- functions in the place of others ----------------------------------------------------------------------------------


def test_a_function_in_the_place_of_print_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.print

    def ranked(*args: Any, **kwargs: Any) -> None:
        original("[rank 0]", *args, **kwargs)

    def replaced(x: Any) -> Any:
        print("x is", x)
        return x + 1

    def direct(x: Any) -> Any:
        original("x is", x)
        return x + 1

    for program in (replaced, direct):
        outputs = []
        for function in (program, jit(program)):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                for value in (original, original, ranked, ranked, original):
                    monkeypatch.setattr(builtins, "print", value)
                    function(X)
            outputs.append(out.getvalue())
        assert outputs[0] == outputs[1]


def test_what_is_made_when_it_is_first_read_costs_no_warning() -> None:
    class Flags(enum.Flag):
        A = 1
        B = 2

    array = np.zeros(2, [("u", "f4"), ("v", "i4")])[["v"]]
    flag = Flags.A
    for program in (lambda x: (x + 1, ~flag), lambda x: (x + 1, array.dtype.names, array[0])):
        compiled = jit(program)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(3):
                assert shown(compiled(X)) == shown(program(X))


def test_a_module_that_is_loaded_again_brings_its_new_code() -> None:
    def load(source: str) -> Any:
        namespace = {"jit": jit, "__name__": "loaded"}
        exec(compile(source, "loaded.py", "exec"), namespace)
        return namespace["f"]

    old = load("@jit\ndef f(x, k=1.0): return x * k")
    for source in ("@jit\ndef f(x, k=5.0): return x * k", "@jit\ndef f(x, k=5.0): return -x"):
        new = load(source)
        old.__dict__ = new.__dict__  # what IPython does, besides what a wrapper does not allow
        for _ in range(2):
            assert shown(old(X)) == shown(new(X))


def test_attributes_copied_for_the_looks_bring_no_code() -> None:
    one, other = jit(lambda x: x + 1), jit(lambda x: x + 100)
    one.__dict__.update(other.__dict__)  # as `functools.update_wrapper` does
    assert shown(one(X)) == shown(X + 1)


def test_what_library_code_makes_for_itself_is_not_from_outside() -> None:
    weight = Parameter(Tensor(np.ones(3, np.float32)), name="weight")

    @jit
    def step(x: Any) -> Any:
        loss, gradient = value_and_grad(lambda v: (v * weight).sum(), None, [weight])(x)
        return loss, gradient

    for _ in range(4):
        loss, gradient = step(Tensor(np.array([1.0, 2.0, 3.0], np.float32)))
        assert loss.item() == 6.0
        assert gradient[0].asnumpy().tolist() == [1.0, 2.0, 3.0]
    assert len(step.report().graphs) == 1
