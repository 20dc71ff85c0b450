"""The options of `jit`: which values they take, and what each does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.compiled import entries
from tests.helpers.values import values, x
from weft import Tensor, Unsupported, context, float32, int64, nn
from weft.jit import TensorSpec, compiled_of, jit, ms_function
from weft.mindspore.extras import JitConfig


def double(v: Any, *rest: Any) -> Any:
    return v * 2


# -- what is accepted -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [
        ("mode", "Graph", "'PSJit', 'PIJit'"),
        ("mode", "", "'PSJit', 'PIJit'"),
        ("capture_mode", "source", "'ast', 'bytecode', 'trace'"),
        ("jit_level", "O7", "'', 'O0', 'O1', 'O2', 'O3'"),
        ("jit_level", 1, "'', 'O0', 'O1', 'O2', 'O3'"),
        ("backend", "inductor", "'', 'ms_backend', 'GE'"),
        ("dynamic", 2, "0, 1"),
        ("fullgraph", "yes", "False, True"),
        ("compile_once", None, "False, True"),
        ("exec_order", "random", "'', 'bfs', 'dfs'"),
        ("infer_boost", True, "'off', 'on'"),
        ("disable_format_transform", "on", "False, True"),
    ],
)
def test_unknown_values_name_the_choices(option: str, value: Any, choices: str) -> None:
    with pytest.raises(ValueError, match=r"the choices are") as caught:
        jit(double, **{option: value})
    assert str(caught.value) == f"jit({option}={value!r}): the choices are {choices}"


def test_unknown_and_contradicting_options() -> None:
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'captur_mode'; the back-end options are .*exec_order"
    ):
        jit(double, captur_mode="ast")
    for mode, capture_mode in (("PSJit", "bytecode"), ("PSJit", "trace"), ("PIJit", "ast")):
        with pytest.raises(ValueError, match=r"contradict each other"):
            jit(double, mode=mode, capture_mode=capture_mode)


@pytest.mark.parametrize(
    "decorate",
    [
        lambda f: jit(f, jit_level="O1", backend="GE", dynamic=1, fullgraph=True, capture_mode="trace"),
        lambda f: jit(function=f, capture_mode="ast"),
        lambda f: jit(capture_mode="bytecode", dynamic=True)(f),
        lambda f: jit(f, "PSJit", None, None, JitConfig(jit_level="O2"), True),
        lambda f: jit(f, None, None, {"jit_level": "O0"}, "PIJit"),
        lambda f: jit(f, (TensorSpec([None], float32),), None, None, "PIJit"),
        lambda f: jit("PIJit")(f),
        lambda f: jit(f, ge_options={"global": {}}, infer_boost="on", exec_order="bfs", disable_format_transform=True),
        lambda f: ms_function(f, (x(),)),
        lambda f: ms_function(input_signature=x(), hash_args=3, jit_config={})(f),
    ],
)
def test_both_generations_of_the_signature(decorate: Callable[[Any], Any]) -> None:
    assert values(decorate(double)(x())) == [2.0, 4.0]


def test_positions_mean_what_they_did() -> None:
    assert not jit(double, "PSJit").compiled.guarded
    assert jit(double, None, None, None, "PIJit").compiled.guarded
    assert not jit(double, None, None, None, "PSJit").compiled.guarded
    with pytest.raises(TypeError, match="input_signature"):
        jit(double, (TensorSpec([3], float32),), None, None, "PIJit")(x())
    with pytest.raises(TypeError, match="input_signature"):
        jit(double, "PSJit", (TensorSpec([3], float32),))(x())


# -- options with an effect -----------------------------------------------------------------------------


def test_fullgraph_reaches_the_entries() -> None:
    class Model:
        @jit(fullgraph=True)
        def run(self, v: Any) -> Any:
            return v * 2

    model = Model()
    model.run(x())
    assert compiled_of(model.run).fullgraph
    assert not compiled_of(jit(double)).fullgraph
    for config in (JitConfig(jit_syntax_level="STRICT"), {"jit_syntax_level": "STRICT"}):
        assert compiled_of(jit(double, jit_config=config)).fullgraph
    assert not compiled_of(jit(double, jit_config=JitConfig(jit_syntax_level="LAX"))).fullgraph


@pytest.mark.parametrize(
    ("config", "error"), [({"jit_level": "O9"}, ValueError), ({"jit_syntax_level": "X"}, ValueError), (3, TypeError)]
)
def test_wrong_jit_config(config: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="jit_config"):
        jit(double, jit_config=config)


class Key:
    """An object whose hash the test sets."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.value == other.value


def test_a_new_hash_of_hash_args_is_a_new_capture() -> None:
    key = Key(1)

    @jit(mode="PSJit", hash_args=key)
    def static(v: Any) -> Any:
        return v * key.value

    assert values(static(x())) == [1.0, 2.0]
    for value in (2, 1, 2):  # without hash_args, the first value would stay
        key.value = value
        assert values(static(x())) == [float(value), 2.0 * value]
    without = jit(lambda v: v * key.value, mode="PSJit")
    without(x())
    key.value = 5
    assert values(without(x())) == [2.0, 4.0]
    with pytest.raises(TypeError, match="list has no hash"):
        jit(double, hash_args=[[1]])


def test_hash_args_of_a_method() -> None:
    key = Key(1)

    class Net(nn.Cell):
        @jit(mode="PSJit", hash_args=(key, "other"))
        def construct(self, v: Any) -> Any:
            return v * key.value

    first, second = Net(), Net()
    for value in (1, 2, 1):
        key.value = value
        assert values(first(x())) == values(second(x())) == [float(value), 2.0 * value]


def test_compile_once_shares_entries_while_the_outside_is_the_same() -> None:
    def make(scale: float, default: float = 1.0) -> Any:
        @jit(compile_once=True)
        def f(v: Any, shift: float = default) -> Any:
            return v * scale + shift

        return f

    first = make(2.0)
    assert values(first(x())) == [3.0, 5.0]
    for _ in range(3):
        again = make(2.0)
        assert values(again(x())) == [3.0, 5.0]
        assert entries(again) == entries(first) == 1
        assert compiled_of(again) is compiled_of(first)
    assert values(make(5.0)(x())) == [6.0, 11.0]
    assert values(make(2.0, 7.0)(x())) == [9.0, 11.0]
    assert entries(first) == 1


def test_compile_once_with_a_closure_that_is_written() -> None:
    def make() -> Any:
        calls = 0

        @jit(compile_once=True)
        def f(v: Any) -> Any:
            nonlocal calls
            calls += 1
            return v * calls

        return f

    first, second = make(), make()
    assert [values(f(x(1.0))) for f in (first, second, first, second, first)] == [[1.0], [1.0], [2.0], [2.0], [3.0]]


# -- input_signature ------------------------------------------------------------------------------------

AGREES: list[tuple[Any, tuple[Any, ...]]] = [
    (x(), (x(),)),
    ((x(),), (x(3.0, 4.0),)),
    (TensorSpec([None], float32), (x(1.0, 2.0, 3.0),)),
    (TensorSpec([-1], float32), (x(1.0),)),
    (TensorSpec(None, float32), (Tensor(np.ones((2, 3), np.float32)),)),
    ((np.ones(2, np.float32), None), (x(), "anything")),
    (([x(), (x(),)],), ([x(), (x(),)],)),
    (({"a": x(), "b": 1},), ({"a": x(), "b": 5},)),
    ((x(), 3), (x(), 4)),
    ({"v": x()}, (x(), 4)),
    ({}, (x(),)),
]
DIFFERS: list[tuple[Any, tuple[Any, ...], str]] = [
    (x(), (x(1.0),), r"'v' does not .* shape \[1\] and dtype Float32, not a Tensor of shape \[2\]"),
    (x(), (Tensor([1, 2]),), "dtype Int64, not .* dtype Float32"),
    (x(), ([1.0, 2.0],), "it is a list of 2, not a Tensor"),
    (TensorSpec([None, 2], float32), (x(),), r"shape \[2\] .* not a Tensor of shape \[None, 2\]"),
    ((x(), x()), (x(),), r"called with 1 arguments, but its input_signature states 2"),
    ((x(),), (x(), x()), r"called with 2 arguments, but its input_signature states 1"),
    (([x(), (x(),)],), ([x(), (x(1.0),)],), r"argument 'v'\[1\]\[0\]"),
    (({"a": x()},), ({"b": x()},), "a dict with the keys 'b', not a dict with the keys 'a'"),
    ((x(), 3), (x(), 4.0), "a value of class float, not a value of class int"),
    ({"v": x()}, (x(1.0),), "'v'"),
    ({"w": x()}, (x(1.0),), "input_signature names 'w', which target.. does not take"),
]


def first_tensor(value: Any) -> Any:
    if isinstance(value, dict):
        return value["a"]
    return value[0] if isinstance(value, list) else value


def target(v: Any, *rest: Any) -> Any:
    return first_tensor(v) * 2


@pytest.mark.parametrize(("signature", "args"), AGREES)
def test_arguments_that_agree(signature: Any, args: tuple[Any, ...]) -> None:
    f = jit(target, input_signature=signature)
    for _ in range(2):
        assert values(f(*args)) == values(target(*args))


@pytest.mark.parametrize(("signature", "args", "message"), DIFFERS)
def test_arguments_that_differ(signature: Any, args: tuple[Any, ...], message: str) -> None:
    f = jit(target, input_signature=signature)
    for _ in range(2):
        with pytest.raises(TypeError, match=message):
            f(*args)
    assert entries(f) == 0


def test_signatures_of_methods_and_keywords() -> None:
    class Net(nn.Cell):
        @jit(input_signature=(TensorSpec((None,), float32), TensorSpec((), int64)))
        def construct(self, v: Any, k: Any) -> Any:
            return v * k

        @staticmethod
        @jit(input_signature=(TensorSpec((2,), float32),))
        def still(v: Any) -> Any:
            return v * 3

    net = Net()
    assert values(net(x(), Tensor(3))) == [3.0, 6.0]
    assert values(net.construct(x(), k=Tensor(4))) == [4.0, 8.0]
    assert values(net.still(x())) == [3.0, 6.0]
    with pytest.raises(TypeError, match="argument 'k'"):
        net(x(), Tensor(3.0))
    with pytest.raises(TypeError, match="argument 'v'"):
        net.still(x(1.0))
    named = jit(lambda v, **more: v, input_signature=(x(),))
    with pytest.raises(TypeError, match="takes no further keyword arguments"):
        named(x(), k=1)
    with pytest.raises(TypeError, match="a dimension of a TensorSpec"):
        TensorSpec([1.5], float32)  # type: ignore[list-item]


def test_strict_syntax_of_the_process_is_fullgraph() -> None:
    def breaking(v: Any) -> Any:
        return v * float(v.asnumpy()[0])

    compiled, kept = jit(breaking), jit(double)
    assert values(compiled(x(2.0))) == [4.0]
    before = context.get_context("jit_syntax_level")
    context.set_context(jit_syntax_level=context.STRICT)
    try:
        assert values(kept(x(2.0))) == [4.0]
        with pytest.raises(Unsupported, match="asnumpy"):
            compiled(x(2.0))
    finally:
        context.set_context(jit_syntax_level=before)
    assert values(compiled(x(3.0))) == [9.0]
