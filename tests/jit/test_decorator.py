"""The decorator: what it accepts, what each policy sees of the outside, entries, lifetime, nesting, threads."""

from __future__ import annotations

import functools
import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import entries
from tests.helpers.values import close, x
from weft import nn, ops
from weft.autodiff.grad import grad
from weft.core.parameters import Parameter
from weft.core.tensor import Tensor
from weft.errors import Unsupported
from weft.jit import jit, ms_function

GLOBAL_SCALE = 2.0
GLOBAL_TENSOR = Tensor([1.0, 1.0])
GLOBAL_CONFIG = {"scale": 2.0}


# -- what can be decorated ------------------------------------------------------------------------------


def test_function_and_decorator_forms() -> None:
    @jit
    def bare(v: Any) -> Any:
        return v * 2

    @jit()
    def called(v: Any) -> Any:
        return v * 2

    @jit(mode="PIJit")
    def with_mode(v: Any) -> Any:
        return v * 2

    @jit(capture_mode="bytecode", jit_level="O1", backend="ms_backend")
    def with_options(v: Any) -> Any:
        return v * 2

    @ms_function
    def static(v: Any) -> Any:
        return v * 2

    @ms_function()
    def static_called(v: Any) -> Any:
        return v * 2

    for function in (bare, called, with_mode, with_options, static, static_called):
        close(function(x()), [2.0, 4.0])
        assert entries(function) == 1
    assert jit(fn=lambda v: v + 1)(x()).asnumpy().tolist() == [2.0, 3.0]


def test_metadata_is_kept() -> None:
    @jit
    def documented(v: Any) -> Any:
        """Doubles."""
        return v * 2

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Doubles."
    assert documented.__wrapped__ is not documented
    assert "documented" in repr(documented)


def test_method() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @jit
        def run(self, v: Any) -> Any:
            return v * self.scale

    first, second = Model(2.0), Model(5.0)
    close(first.run(x()), [2.0, 4.0])
    close(second.run(x()), [5.0, 10.0])
    close(first.run(x()), [2.0, 4.0])
    first.scale = 3.0
    close(first.run(x()), [3.0, 6.0])
    close(Model.run(second, x()), [5.0, 10.0])
    assert first.run.__name__ == "run"


def test_static_and_class_methods() -> None:
    class Tools:
        factor = 3.0

        @staticmethod
        @jit
        def inner_static(v: Any) -> Any:
            return v * 2

        @jit
        @staticmethod
        def outer_static(v: Any) -> Any:
            return v * 2

        @classmethod
        @jit
        def inner_class(cls, v: Any) -> Any:
            return v * cls.factor

        @jit
        @classmethod
        def outer_class(cls, v: Any) -> Any:
            return v * cls.factor

    for owner in (Tools, Tools()):
        close(owner.inner_static(x()), [2.0, 4.0])
        close(owner.outer_static(x()), [2.0, 4.0])
        close(owner.inner_class(x()), [3.0, 6.0])
        close(owner.outer_class(x()), [3.0, 6.0])


def test_lambda_partial_bound_method_and_callable_object() -> None:
    class Scale:
        def __init__(self, k: float) -> None:
            self.k = k

        def __call__(self, v: Any) -> Any:
            return v * self.k

        def method(self, v: Any) -> Any:
            return v + self.k

    def base(a: Any, b: Any, k: float = 1.0) -> Any:
        return a * b + k

    close(jit(lambda v: v * 2)(x()), [2.0, 4.0])
    close(jit(functools.partial(base, b=3.0, k=0.5))(x()), [3.5, 6.5])
    close(jit(Scale(4.0).method)(x()), [5.0, 6.0])
    close(jit(Scale(4.0))(x()), [4.0, 8.0])


def test_cell_instance_class_and_construct() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([2.0, 3.0]), name="w")

        def construct(self, v: Any) -> Any:
            if v.sum() > 0:
                return v * self.w
            return -v

    class Decorated(Net):
        @jit
        def construct(self, v: Any) -> Any:
            return super().construct(v) + 1

    @jit
    class Whole(Net):
        pass

    close(jit(Net())(x()), [2.0, 6.0])
    close(Decorated()(x()), [3.0, 7.0])
    close(Whole()(x()), [2.0, 6.0])
    close(jit(Net())(x(-1.0, -2.0)), [1.0, 2.0])
    network = Decorated()
    network.w.set_data(Tensor([10.0, 10.0]))
    close(network(x()), [11.0, 21.0])


def test_functions_without_source() -> None:
    scope: dict[str, Any] = {}
    exec("def f(v):\n    if v.sum() > 0:\n        return v * 2\n    return v\n", scope)
    close(jit(scope["f"])(x()), [2.0, 4.0])


def test_keyword_default_and_variadic_arguments() -> None:
    @jit
    def f(a: Any, b: Any = 2.0, *rest: Any, scale: float = 1.0, **named: Any) -> Any:
        total = a * b * scale
        for value in (*rest, *named.values()):
            total = total + value
        return total

    close(f(x()), [2.0, 4.0])
    close(f(x(), 3.0), [3.0, 6.0])
    close(f(a=x(), b=x()), [1.0, 4.0])
    close(f(x(), scale=2.0), [4.0, 8.0])
    close(f(x(), 1.0, x(), extra=x()), [3.0, 6.0])
    close(f(x()), [2.0, 4.0])


def test_wrong_arguments_raise_as_in_python() -> None:
    def f(a: Any, b: Any) -> Any:
        return a + b

    for call in (lambda g: g(x()), lambda g: g(x(), x(), x()), lambda g: g(x(), c=1), lambda g: g(x(), a=1)):
        with pytest.raises(TypeError) as expected:
            call(f)
        with pytest.raises(TypeError) as found:
            call(jit(f))
        assert str(found.value).split("f() ")[-1] == str(expected.value).split("f() ")[-1]


@pytest.mark.parametrize("options", [{"mode": "Graph"}, {"capture_mode": "source"}])
def test_unknown_modes(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options.values()))}.*the choices are"):
        jit(lambda v: v, **options)


def test_what_is_not_callable() -> None:
    with pytest.raises(TypeError, match="int"):
        jit(3)


def test_decorating_twice_is_harmless() -> None:
    close(jit(jit(lambda v: v * 2))(x()), [2.0, 4.0])


# -- entries --------------------------------------------------------------------------------------------


def test_one_entry_for_each_type_and_python_value() -> None:
    @jit
    def f(v: Any, k: Any = 1) -> Any:
        return v * k

    f(x())
    f(x(3.0, 4.0))
    assert entries(f) == 1
    f(x(1.0, 2.0, 3.0))
    assert entries(f) == 2
    f(Tensor([1, 2]))
    assert entries(f) == 3
    f(x(), 2)
    f(x(), 3)
    f(x(), 2)
    assert entries(f) == 5
    f(x(), 2.0)
    assert entries(f) == 6
    f(x(), x())
    assert entries(f) == 7


def test_containers_of_tensors_as_arguments() -> None:
    @jit
    def f(items: Any, config: Any) -> Any:
        return items[0] * config["k"] + items[1][0]

    close(f([x(), (x(),)], {"k": 2}), [3.0, 6.0])
    close(f([x(2.0, 2.0), (x(),)], {"k": 2}), [5.0, 6.0])
    assert entries(f) == 1
    close(f([x(), (x(),)], {"k": 3}), [4.0, 8.0])
    assert entries(f) == 2
    close(f([x(), [x()]], {"k": 3}), [4.0, 8.0])


def test_the_result_is_new_each_time() -> None:
    @jit
    def f(v: Any) -> Any:
        return [v * 2], {"a": 1}

    first, second = f(x()), f(x())
    assert first[0] is not second[0]
    first[0].append(1)
    first[1]["b"] = 2
    items, table = f(x())
    assert len(items) == 1
    assert table == {"a": 1}


def test_an_argument_returned_is_that_argument() -> None:
    v = x()
    assert jit(lambda a: a)(v) is v
    assert jit(lambda a: (a, a * 2))(v)[0] is v


def test_the_same_tensor_twice() -> None:
    @jit
    def f(a: Any, b: Any) -> Any:
        return a * b, a is b

    v = x()
    product, same = f(v, v)
    close(product, [1.0, 4.0])
    assert same is True
    product, same = f(v, x(3.0, 3.0))
    close(product, [3.0, 6.0])
    assert same is False
    product, same = f(v, v)
    assert same is True


# -- what the policies see of the outside ---------------------------------------------------------------


def test_auto_sees_edits_of_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    @jit
    def f(v: Any) -> Any:
        return v * GLOBAL_SCALE + GLOBAL_TENSOR * GLOBAL_CONFIG["scale"]

    close(f(x()), [4.0, 6.0])
    monkeypatch.setitem(globals(), "GLOBAL_SCALE", 3.0)
    close(f(x()), [5.0, 8.0])
    monkeypatch.setitem(globals(), "GLOBAL_TENSOR", Tensor([0.0, 1.0]))
    close(f(x()), [3.0, 8.0])
    monkeypatch.setitem(GLOBAL_CONFIG, "scale", 10.0)
    close(f(x()), [3.0, 16.0])


def test_static_keeps_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    @ms_function
    def f(v: Any) -> Any:
        return v * GLOBAL_SCALE

    close(f(x()), [2.0, 4.0])
    monkeypatch.setitem(globals(), "GLOBAL_SCALE", 3.0)
    close(f(x()), [2.0, 4.0])
    close(f(x(1.0)), [3.0])  # another capture takes the value of now


def test_auto_sees_edits_of_closures_and_defaults() -> None:
    scale = 2.0

    @jit
    def f(v: Any, k: float = 1.0, *, shift: float = 0.0) -> Any:
        return v * scale * k + shift

    close(f(x()), [2.0, 4.0])
    scale = 3.0
    close(f(x()), [3.0, 6.0])
    f.__wrapped__.__defaults__ = (2.0,)
    close(f(x()), [6.0, 12.0])
    f.__wrapped__.__kwdefaults__ = {"shift": 1.0}
    close(f(x()), [7.0, 13.0])


def test_auto_sees_edits_of_attributes_and_containers() -> None:
    class Config:
        factor = 2.0

        def __init__(self) -> None:
            self.items = [1.0, {"deep": 2.0}]
            self.mode = "add"

    config = Config()

    @jit
    def f(v: Any) -> Any:
        if config.mode == "add":
            return v * config.factor + config.items[1]["deep"] * config.items[0]
        return v - 1

    close(f(x()), [4.0, 6.0])
    config.items[0] = 2.0
    close(f(x()), [6.0, 8.0])
    config.items[1]["deep"] = 1.0
    close(f(x()), [4.0, 6.0])
    Config.factor = 3.0
    close(f(x()), [5.0, 8.0])
    config.factor = 1.0
    close(f(x()), [3.0, 4.0])
    config.mode = "subtract"
    close(f(x()), [0.0, 1.0])


def test_auto_sees_edits_of_helper_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    def helper(v: Any) -> Any:
        return v * 2

    holder = {"helper": helper}

    @jit
    def f(v: Any) -> Any:
        return holder["helper"](v)

    close(f(x()), [2.0, 4.0])
    holder["helper"] = lambda v: v * 5
    close(f(x()), [5.0, 10.0])
    holder["helper"] = helper

    def other(v: Any) -> Any:
        return v * 7

    helper.__code__ = other.__code__
    close(f(x()), [7.0, 14.0])


def test_auto_sees_methods_that_are_replaced() -> None:
    class Model:
        def run(self, v: Any) -> Any:
            return v * 2

    model = Model()

    @jit
    def f(v: Any) -> Any:
        return model.run(v)

    close(f(x()), [2.0, 4.0])
    Model.run = lambda self, v: v * 3  # type: ignore[method-assign]
    close(f(x()), [3.0, 6.0])
    model.run = lambda v: v * 4  # type: ignore[method-assign]
    close(f(x()), [4.0, 8.0])


def test_edits_between_entries_are_found_again() -> None:
    scale = 1.0

    @jit
    def f(v: Any) -> Any:
        return v * scale

    for scale in (1.0, 2.0, 1.0, 2.0, 1.0):
        close(f(x()), [scale, 2 * scale])
    assert entries(f) == 2


def test_both_see_new_values_of_parameters() -> None:
    w = Parameter(Tensor([1.0, 1.0]), name="w")
    for decorate in (jit, ms_function):
        f = decorate(lambda v: v * w)
        w.set_data(Tensor([1.0, 1.0]))
        close(f(x()), [1.0, 2.0])
        w.set_data(Tensor([5.0, 6.0]))
        close(f(x()), [5.0, 12.0])
        assert entries(f) == 1


def test_training_flag_of_a_cell() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(p=0.5)

        def construct(self, v: Any) -> Any:
            return self.drop(v)

    network = Net()
    run = jit(network)
    network.set_train(False)
    close(run(x()), [1.0, 2.0])
    network.set_train(True)
    wide = Tensor(np.ones(200, np.float32))
    assert 0 < (run(wide).asnumpy() == 0).sum() < 200
    network.set_train(False)
    close(run(x()), [1.0, 2.0])


# -- refusals -------------------------------------------------------------------------------------------


def test_parameters_cannot_be_made_inside() -> None:
    @jit(fullgraph=True)
    def f(v: Any) -> Any:
        return v * Parameter(Tensor([1.0, 1.0]), name="w")

    with pytest.raises(Unsupported, match=r"Parameter") as caught:
        f(x())
    assert caught.value.location is not None
    assert caught.value.location.line == f.__wrapped__.__code__.co_firstlineno + 2
    assert caught.value.location.column is not None
    assert caught.value.do


def test_errors_point_to_the_users_line() -> None:
    @jit
    def f(v: Any) -> Any:
        y = v * 2
        return y.reshape((7, 7))

    with pytest.raises(ValueError, match=r"reshape|shape") as caught:
        f(x())
    lines = [(entry.path, entry.lineno + 1) for entry in caught.traceback]
    assert any(str(path) == __file__ and line == f.__wrapped__.__code__.co_firstlineno + 3 for path, line in lines)


def test_an_error_does_not_spoil_the_function() -> None:
    @jit
    def f(v: Any, k: int) -> Any:
        if k < 0:
            raise ValueError("negative")
        return v * k

    close(f(x(), 2), [2.0, 4.0])
    with pytest.raises(ValueError, match="negative"):
        f(x(), -1)
    close(f(x(), 2), [2.0, 4.0])
    close(f(x(), 3), [3.0, 6.0])


# -- lifetime -------------------------------------------------------------------------------------------


def test_deleting_a_function_frees_its_executables() -> None:
    def make() -> tuple[Any, list[weakref.ref[Any]]]:
        big = Tensor(np.ones(1000, np.float32))

        def f(v: Any) -> Any:
            return v.sum() * big

        jitted = jit(f)
        jitted(x())
        (entry,) = next(iter(jitted.compiled.entries.values())).entries
        return jitted, [weakref.ref(f), weakref.ref(big), weakref.ref(jitted.compiled), weakref.ref(entry.segment)]

    jitted, references = make()
    gc.collect()
    assert all(reference() is not None for reference in references)
    del jitted
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


def test_deleting_an_instance_frees_its_methods_executables() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = Tensor([1.0, 2.0])

        @jit
        def run(self, v: Any) -> Any:
            return v * self.w

    model = Model()
    model.run(x())
    references = [weakref.ref(model), weakref.ref(model.w)]
    del model
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_arguments_are_not_kept_alive() -> None:
    @jit
    def f(v: Any) -> Any:
        return v * 2

    for _ in range(2):
        v = x()
        reference = weakref.ref(v)
        result = f(v)
        del v
        gc.collect()
        assert reference() is None
    close(result, [2.0, 4.0])


def test_functions_made_in_a_loop_do_not_pile_up() -> None:
    references = []
    for k in range(5):
        f = jit(lambda v, k=k: v * k)
        f(x())
        references.append(weakref.ref(f.compiled))
    del f
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


# -- nesting --------------------------------------------------------------------------------------------


def test_nested_jit_is_inlined() -> None:
    @jit
    def inner(v: Any) -> Any:
        if v.sum() > 0:
            return v * 2
        return v

    @jit
    def outer(v: Any) -> Any:
        return inner(v) + inner(v - 10)

    close(outer(x()), [-7.0, -4.0])
    assert entries(outer) == 1
    assert entries(inner) == 0
    close(inner(x()), [2.0, 4.0])
    assert entries(inner) == 1


def test_jit_inside_grad_inside_jit() -> None:
    @jit
    def cube(v: Any) -> Any:
        return (v * v * v).sum()

    close(grad(cube)(x()), [3.0, 12.0])
    close(jit(grad(cube))(x()), [3.0, 12.0])
    close(grad(lambda v: grad(cube)(v).sum())(x()), [6.0, 12.0])
    close(jit(grad(lambda v: jit(grad(cube))(v).sum()))(x()), [6.0, 12.0])


def test_decorating_inside_a_compiled_function() -> None:
    @jit
    def f(v: Any) -> Any:
        g = jit(lambda a: a * 3)
        return g(v)

    close(f(x()), [3.0, 6.0])


def test_recursive_jitted_function() -> None:
    @jit
    def power(v: Any, n: int) -> Any:
        return v if n == 0 else power(v, n - 1) * v

    close(power(x(), 3), [1.0, 16.0])


# -- threads --------------------------------------------------------------------------------------------


def test_threads_share_one_function() -> None:
    @jit
    def f(v: Any, k: int) -> Any:
        if v.sum() > 0:
            v = v * k
        while v.max() > 10:
            v = v * 0.5
        return v

    def expected(values: np.ndarray[Any, Any], k: int) -> np.ndarray[Any, Any]:
        if values.sum() > 0:
            values = values * k
        while values.max() > 10:
            values = values * 0.5
        return values

    failures: list[BaseException] = []
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            start.wait()
            for number in range(12):
                values = rng.normal(size=3 + number % 3).astype(np.float32)
                k = 1 + number % 2
                np.testing.assert_allclose(f(Tensor(values), k).asnumpy(), expected(values, k), rtol=1e-5)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert 2 <= entries(f) <= 6  # one for the first shape and one for all, at most for each k


def test_eager_work_of_other_threads_is_not_captured() -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def eager() -> None:
        try:
            while not stop.is_set():
                v = Tensor([3.0, 4.0])
                v[0] = 1.0
                close((v * 2).astype("float32") if False else v * 2, [2.0, 8.0])
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=eager)
    thread.start()
    try:
        for k in range(8):
            f = jit(lambda v, k=k: ops.tanh(v * k).sum())
            f(x())
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def test_the_recursion_limit_is_restored() -> None:
    before = sys.getrecursionlimit()
    jit(lambda v: v * 2)(x())
    assert sys.getrecursionlimit() == before
