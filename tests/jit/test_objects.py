"""Decorated objects look and behave like what was decorated: introspection, binding, copies, pickles, lifetime."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import logging
import pickle
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import compiler, entries
from tests.helpers.values import values, x
from weft import Parameter, Tensor, Unsupported, nn, value_and_grad
from weft.jit import compiled_of, is_compiled, jit, jit_disable

Wrap = Callable[[Any], Any]


def plain(v: Any, k: float = 2.0, /, *rest: Any, shift: float = 0.0, **named: Any) -> Any:
    """Scales and shifts."""
    return v * k + shift


compiled_plain = jit(plain)


@jit
def at_module_level(v: Any) -> Any:
    return v * 7


class Scaler:
    """A plain object with compiled methods."""

    def __init__(self, k: float) -> None:
        self.k = k

    @jit
    def run(self, v: Any) -> Any:
        return v * self.k


class Net(nn.Cell):
    def __init__(self, k: float = 2.0) -> None:
        super().__init__()
        self.w = Parameter(Tensor(np.full(2, k, np.float32)), name="w")

    def construct(self, v: Any) -> Any:
        return v * self.w


class CompiledNet(Net):
    @jit
    def construct(self, v: Any) -> Any:
        return v * self.w

    @jit
    def other(self, v: Any) -> Any:
        return v - self.w


# -- introspection --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [jit, jit_disable, jit(mode="PSJit"), jit(hash_args=(1,))])
def test_a_decorated_function_looks_like_the_function(wrap: Wrap) -> None:
    found = wrap(plain)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__defaults__"):
        assert getattr(found, name) == getattr(plain, name)
    assert found.__kwdefaults__ == {"shift": 0.0}
    assert inspect.signature(found) == inspect.signature(plain)
    assert inspect.getsource(found) == inspect.getsource(plain)
    assert inspect.getdoc(found) == "Scales and shifts."
    assert found.__wrapped__ is plain
    assert inspect.unwrap(found) is plain
    assert isinstance(found, types.FunctionType)
    assert inspect.isfunction(found)
    assert callable(found)
    assert not inspect.iscoroutinefunction(found)
    assert values(found(x(), 3.0, shift=1.0)) == [4.0, 7.0]


def test_a_partial_keeps_its_signature_and_a_name() -> None:
    partial = functools.partial(plain, x())
    found = jit(partial)
    assert inspect.signature(found) == inspect.signature(partial)
    assert found.__name__ == "plain"
    assert values(found(4.0)) == [4.0, 8.0]


def test_attributes_of_a_function_are_kept_and_may_be_set() -> None:
    def f(v: Any) -> Any:
        return v * 2

    f.tag = "mine"  # type: ignore[attr-defined]
    found = jit(f)
    assert found.tag == "mine"
    found.other = 3
    assert found.other == 3
    assert not hasattr(f, "other")


def test_methods_bind_as_methods() -> None:
    scaler = Scaler(3.0)
    assert inspect.ismethod(scaler.run)
    assert scaler.run == scaler.run
    assert scaler.run.__self__ is scaler
    assert scaler.run.__func__ is Scaler.run
    assert list(inspect.signature(scaler.run).parameters) == ["v"]
    assert list(inspect.signature(Scaler.run).parameters) == ["self", "v"]


@pytest.mark.parametrize("inside", [False, True])
def test_a_wrapper_around_a_decorated_function_is_no_stand_in_for_it(inside: bool) -> None:
    inner = jit(lambda v: v * 2)

    @functools.wraps(inner)
    def outer(v: Any) -> Any:
        return inner(v) + 1

    assert not is_compiled(outer)
    assert compiled_of(outer) is None
    found = jit(lambda v: outer(v)) if inside else jit(outer)
    assert values(found(x())) == [3.0, 5.0]
    assert values(outer(x())) == [3.0, 5.0]


def test_compiled_of_tells_entries_of_functions_and_of_instances() -> None:
    assert compiled_of(plain) is None
    assert compiled_of(compiled_plain) is compiled_plain.compiled
    first, second = Scaler(1.0), Scaler(2.0)
    assert compiled_of(first.run) is compiled_of(first.run)
    assert compiled_of(first.run) is not compiled_of(second.run)


# -- what can be decorated ------------------------------------------------------------------------------


def test_partial_method_and_nested_function() -> None:
    class Tools:
        def base(self, k: float, v: Any) -> Any:
            return v * k

        triple = jit(functools.partialmethod(base, 3.0))

    assert values(Tools().triple(x())) == [3.0, 6.0]

    def outer(k: float) -> Any:
        @jit
        def inner(v: Any) -> Any:
            return v * k

        return inner

    assert values(outer(2.0)(x())) == [2.0, 4.0]
    assert values(outer(5.0)(x())) == [5.0, 10.0]


def test_methods_decorated_at_the_instance() -> None:
    class Model:
        def __init__(self, k: float) -> None:
            self.k = k
            self.run = jit(self.run)  # type: ignore[method-assign]

        def run(self, v: Any) -> Any:
            return v * self.k

    first, second = Model(2.0), Model(3.0)
    assert (values(first.run(x())), values(second.run(x()))) == ([2.0, 4.0], [3.0, 6.0])
    assert is_compiled(first.run.__func__)
    assert inspect.ismethod(first.run)


def test_class_methods_of_subclasses() -> None:
    class Base:
        k = 2.0

        @jit
        @classmethod
        def run(cls, v: Any) -> Any:
            return v * cls.k

    class Derived(Base):
        k = 3.0

    assert [values(owner.run(x())) for owner in (Base, Derived, Derived(), Base)] == [
        [2.0, 4.0],
        [3.0, 6.0],
        [3.0, 6.0],
        [2.0, 4.0],
    ]


def test_a_subclass_calls_the_decorated_construct_above_it() -> None:
    class Child(CompiledNet):
        def construct(self, v: Any) -> Any:
            return super().construct(v) + 1

    class Grandchild(Child):
        @jit
        def construct(self, v: Any) -> Any:
            return super().construct(v) * 2

    child, grandchild = Child(), Grandchild()
    for _ in range(2):
        assert values(child(x())) == [3.0, 5.0]
        assert values(grandchild(x())) == [6.0, 10.0]
    assert entries(grandchild.construct) == 1


def test_an_instance_and_a_class_of_cells() -> None:
    net = Net()
    other = Net(5.0)
    assert jit(net) is net
    assert isinstance(net, Net)
    assert values(net(x())) == [2.0, 4.0]
    assert entries(net.construct) == 1
    assert not is_compiled(getattr(other.construct, "__func__", None))

    @jit
    class Whole(Net):
        pass

    assert isinstance(Whole, type)
    whole = Whole(3.0)
    assert isinstance(whole, Net)
    assert values(whole(x())) == [3.0, 6.0]
    assert entries(whole.construct) == 1
    assert not is_compiled(Net.construct)


@pytest.mark.parametrize("wrap", [jit, jit_disable])
def test_what_cannot_be_decorated(wrap: Wrap) -> None:
    class Ordinary:
        pass

    name = wrap.__name__
    with pytest.raises(TypeError, match=f"{name} takes .* not the class Ordinary; write @{name} above the methods"):
        wrap(Ordinary)
    with pytest.raises(TypeError, match=f"write @property above @{name}"):
        wrap(property(lambda self: 1))
    with pytest.raises(TypeError, match="not int"):
        wrap(3)


def test_coroutines_stay_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "weft.jit"):

        @jit
        async def later(v: Any) -> Any:
            await asyncio.sleep(0)
            return v * 2

        @jit
        def each(v: Any) -> Any:
            for k in range(3):
                yield v * k

        @jit
        async def stream(v: Any) -> Any:
            yield v * 2

    assert [record.getMessage().split(" is a ")[1].split(",")[0] for record in caplog.records] == [
        "coroutine function",
        "asynchronous generator function",
    ]
    assert inspect.iscoroutinefunction(later)
    assert inspect.isasyncgenfunction(stream)
    assert isinstance(each(x()), types.GeneratorType)
    assert each(x()).__name__ == "each"
    assert values(asyncio.run(later(x()))) == [2.0, 4.0]
    assert [values(item) for item in each(x())] == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]

    async def drain() -> list[Any]:
        return [item async for item in stream(x())]

    assert values(asyncio.run(drain())[0]) == [2.0, 4.0]
    total = jit(lambda v: sum(each(v), v * 0))
    assert values(total(x())) == [3.0, 6.0]
    with pytest.raises(Unsupported, match="coroutine function"):
        jit(later, fullgraph=True)


def test_decorating_again_counts_only_with_other_options() -> None:
    assert jit(compiled_plain) is compiled_plain
    again = jit(compiled_plain, mode="PSJit")
    assert again is not compiled_plain
    assert again.__wrapped__ is plain
    assert jit(again, mode="PSJit") is again
    assert jit(again) is again


# -- instances ------------------------------------------------------------------------------------------


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k: float) -> None:
        self.k = k

    @jit
    def run(self, v: Any) -> Any:
        return v * self.k


class WeakSlotted(Slotted):
    __slots__ = ("__weakref__",)


class WithoutHash(Scaler):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithoutHash)

    __hash__ = None  # type: ignore[assignment]


class AllEqual(Scaler):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Borg(Scaler):
    shared: dict[str, Any] = {}

    def __init__(self, k: float) -> None:
        self.__dict__ = self.shared
        self.k = k


@pytest.mark.parametrize("kind", [Scaler, Slotted, WeakSlotted, WithoutHash, AllEqual, CompiledNet])
def test_instances_have_their_own_entries(kind: Any) -> None:
    objects = [kind(float(k)) for k in range(1, 5)]
    method = kind.construct if issubclass(kind, nn.Cell) else kind.run
    for _ in range(3):
        for k, obj in enumerate(objects, 1):
            assert values(method(obj, x())) == [float(k), 2.0 * k]
    if kind is not Slotted:  # its instances cannot be referred to weakly, so they share one list
        assert [entries(types.MethodType(method, obj)) for obj in objects] == [1] * 4
    if kind is Scaler:
        objects[0].k = 9.0
        assert values(objects[0].run(x())) == [9.0, 18.0]


def test_objects_that_share_their_attributes() -> None:
    first, second = Borg(2.0), Borg(3.0)
    assert values(first.run(x())) == values(second.run(x())) == [3.0, 6.0]
    first.k = 4.0
    assert values(second.run(x())) == [4.0, 8.0]


@pytest.mark.parametrize("kind", [Scaler, CompiledNet])
def test_an_instance_shows_no_new_attributes(kind: Any) -> None:
    obj = kind(2.0)
    before = list(vars(obj))
    for name in ("run", "construct", "other"):
        if hasattr(obj, name):
            getattr(obj, name)(x())
    if isinstance(obj, nn.Cell):
        obj(x())
    assert list(vars(obj)) == before


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))])
@pytest.mark.parametrize("kind", [Scaler, WeakSlotted, WithoutHash, CompiledNet])
def test_copies_of_instances_start_afresh(kind: Any, duplicate: Any) -> None:
    obj = kind(2.0)
    run = "construct" if isinstance(obj, nn.Cell) else "run"
    assert values(getattr(obj, run)(x())) == [2.0, 4.0]
    other = duplicate(obj)
    if isinstance(obj, nn.Cell):
        other.w = Parameter(Tensor(np.full(2, 5, np.float32)), name="w")
    else:
        other.k = 5.0
    for _ in range(2):
        assert values(getattr(other, run)(x())) == [5.0, 10.0]
        assert values(getattr(obj, run)(x())) == [2.0, 4.0]


def test_a_copy_of_an_instance_that_decorated_its_own_method_runs_its_own() -> None:
    model = LocallyDecorated(2.0)
    assert values(model.run(x())) == [2.0, 4.0]
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.k = 5.0
        assert values(other.run(x())) == [5.0, 10.0]
    network = jit(Net())
    network(x())
    other = copy.deepcopy(network)
    other.w.set_data(Tensor([7.0, 7.0]))
    assert values(other(x())) == [7.0, 14.0]
    assert values(network(x())) == [2.0, 4.0]
    assert is_compiled(other.construct.__func__)


class LocallyDecorated:
    def __init__(self, k: float) -> None:
        self.k = k
        self.run = jit(self.run)  # type: ignore[method-assign]

    def run(self, v: Any) -> Any:
        return v * self.k


def test_functions_are_copied_and_pickled_by_reference() -> None:
    for function in (compiled_plain, at_module_level):
        assert copy.copy(function) is function
        assert copy.deepcopy(function) is function
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    assert pickle.loads(pickle.dumps(Scaler.run)) is Scaler.run
    scaler = Scaler(3.0)
    scaler.run(x())
    assert values(pickle.loads(pickle.dumps(scaler.run))(x())) == [3.0, 6.0]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(jit(lambda v: v))


# -- lifetime -------------------------------------------------------------------------------------------


class Trainer:
    """Holds a function that leads back to itself, as trainers do."""

    def __init__(self) -> None:
        self.w = Tensor([1.0, 2.0])
        self.step_function = value_and_grad(self.forward)

    def forward(self, v: Any) -> Any:
        return (v * self.w).sum()

    @jit
    def step(self, v: Any) -> Any:
        return self.step_function(v)


class Callback:
    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer

    def done(self, v: Any) -> Any:
        return v * self.trainer.w


class TrainerWithCallbacks(Trainer):
    """Holds an object that leads back to itself, in a list and a partial."""

    def __init__(self) -> None:
        super().__init__()
        self.callbacks = [Callback(self)]
        self.finish = functools.partial(self.callbacks[0].done)

    @jit
    def step(self, v: Any) -> Any:
        total = self.callbacks[0].done(v) + self.finish(v)
        return total.sum() / 2, None


class TrainerCell(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")
        self.step_function = value_and_grad(self.forward)

    def forward(self, v: Any) -> Any:
        return (v * self.w).sum()

    @jit
    def step(self, v: Any) -> Any:
        return self.step_function(v)


@pytest.mark.parametrize("kind", [Trainer, TrainerWithCallbacks, TrainerCell])
def test_an_instance_goes_with_its_entries(kind: Any) -> None:
    trainer = kind()
    assert trainer.step(x())[0].item() == 5.0
    references = [weakref.ref(trainer), weakref.ref(trainer.w), weakref.ref(compiled_of(trainer.step))]
    del trainer
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_arguments_that_are_objects_are_not_kept() -> None:
    @jit
    def f(v: Any, scaler: Any, more: Any = ()) -> Any:
        for other in more:
            v = v + other.trainer.w * other.trainer.scaler.k
        return v * scaler.k

    trainer = Trainer()
    trainer.scaler = Scaler(1.0)
    trainer.scaler.trainer = trainer
    callbacks = [Callback(trainer)]
    references = [weakref.ref(trainer), weakref.ref(callbacks[0])]
    assert values(f(x(), Scaler(2.0), callbacks)) == [4.0, 8.0]
    del trainer, callbacks
    gc.collect()
    assert [reference() for reference in references] == [None, None]

    scaler = Scaler(3.0)
    f(x(), scaler)
    reference = weakref.ref(scaler)
    del scaler
    gc.collect()
    assert reference() is None
    with pytest.raises(AttributeError):
        f(x(), None)  # None is not the object that is gone
    assert values(f(x(), Scaler(4.0))) == [4.0, 8.0]


def test_methods_decorated_in_a_loop_do_not_pile_up() -> None:
    network = Net()
    references = []
    for _ in range(5):
        run = jit(network.construct)
        run(x())
        references.append(weakref.ref(compiled_of(run)))
    del run
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


def grows(box: Any, v: Any) -> Any:
    box.items.append(len(box.items))
    return v * box.k + len(box.items)


def grows_around_a_break(box: Any, v: Any) -> Any:
    y = v * box.k
    box.items.append(float(y.asnumpy().sum()))
    return y + box.k


def summed_through_a_view(box: Any, v: Any) -> Any:
    return v + Tensor(np.frombuffer(box.data, np.uint8).sum().astype(np.float32))


class Held:
    def __init__(self, k: float) -> None:
        self.k = k
        self.items: list[float] = []
        self.data = bytearray(4)


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("function", [grows, grows_around_a_break, summed_through_a_view])
def test_what_a_call_read_lives_as_long_as_in_python(mode: str, function: Any) -> None:
    """A capture leaves circles behind. They are freed at its end, with all that they hold."""
    compiled = compiler(mode)(function)
    for k in (1.0, 2.0, 3.0, 3.0):
        held = Held(k)
        compiled(held, x())
        held.data.append(1)  # which no view of it that is left allows
        reference = weakref.ref(held)
        del held
        assert reference() is None


def test_the_collector_is_left_as_the_program_has_it() -> None:
    heard: list[int] = []
    hear = lambda phase, info: heard.append(info["generation"])  # noqa: E731
    gc.collect()
    gc.disable()
    gc.callbacks.append(hear)
    try:
        assert values(jit(lambda v: v * 5)(x())) == [5.0, 10.0]
        assert not gc.isenabled()
        assert heard == []
    finally:
        gc.callbacks.remove(hear)
        gc.enable()
    with pytest.raises(Unsupported):
        jit(lambda v: v.asnumpy(), fullgraph=True)(x())
    assert gc.isenabled()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("inside", [False, True])
def test_a_copy_of_a_compiled_cell_computes_with_the_copy(copied: Callable[[Any], Any], inside: bool) -> None:
    class Counting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0
            self.scale = 1.0

        def construct(self, v: Any) -> Any:
            self.count += 1
            return v * self.scale

    def program(net: Any, v: Any) -> Any:
        twin = copied(net)
        twin.scale = 10.0
        return values(twin(v)) if not inside else twin(v), twin

    def outcomes(net: Any, run: Callable[..., Any]) -> list[Any]:
        found = []
        for _ in range(3):
            net(x())
            out, twin = run(net, x())
            found.append((values(out) if inside else out, values(twin(x())), net.count, twin.count))
        return found

    assert outcomes(jit(Counting()), jit(program) if inside else program) == outcomes(Counting(), program)
