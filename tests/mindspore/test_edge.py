"""Functions under MindSpore's names take what MindSpore's take: element types, tensors, names of parameters."""

from __future__ import annotations

import importlib
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import weft
import weft.mindspore
from weft import dtypes
from weft.core.operators import OPERATOR_CLASSES
from weft.errors import NoTensor
from weft.mindspore import edge
from weft.ops.element_types import ACCEPTED

mindspore = importlib.import_module("mindspore")
mnp = importlib.import_module("mindspore.numpy")
mint, nn, ops, Tensor, jit = mindspore.mint, mindspore.nn, mindspore.ops, mindspore.Tensor, mindspore.jit

FLOATS = Tensor([-1.5, 0.5, 2.0])
INTEGERS = Tensor([-1, 0, 2])

#: a call, the class that is raised, and words of the message
REFUSED = [
    (lambda: ops.ceil(INTEGERS), TypeError, r"ops.ceil\(\) takes tensors of .*float32.* as input, not int64"),
    (lambda: ops.ceil(input=INTEGERS), TypeError, "as input, not int64"),
    (lambda: ops.celu(INTEGERS), TypeError, "as x, not int64"),
    (lambda: ops.celu(x=INTEGERS), TypeError, "as x, not int64"),
    (lambda: INTEGERS.ceil(), TypeError, r"Tensor.ceil\(\)"),
    (lambda: ops.ReLU6()(INTEGERS), TypeError, r"ReLU6\(\) takes tensors of float16 or float32 as x"),
    (lambda: mint.std(INTEGERS), TypeError, r"mint.std\(\)"),
    (lambda: mint.inverse(Tensor(np.eye(2))), ValueError, "tensors of float32 as input, not float64"),
    (lambda: mnp.rint(INTEGERS), TypeError, r"mnp.rint\(\)"),
    (lambda: ops.einsum("ij->i", Tensor([[1]])), TypeError, "as operands, not int64"),
    (lambda: ops.accumulate_n((Tensor([1j]), Tensor([1j]))), TypeError, "as x, not complex"),
    (lambda: ops.fmax(INTEGERS.astype("int8"), INTEGERS.astype("int8")), TypeError, "not int8"),
    (lambda: ops.logical_and(FLOATS, 2), TypeError, "takes tensors and bools as other, not int"),
    (lambda: ops.less(2, FLOATS), TypeError, "takes tensors as input, not int"),
    (lambda: ops.flip(FLOATS, 0), TypeError, "takes sequences as dims, not int"),
    (lambda: ops.view_as_real(FLOATS), TypeError, "complex64 or complex128"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED)
def test_other_types_are_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_types_that_are_taken_compute_as_without_the_look() -> None:
    for value in (FLOATS, FLOATS.astype("float16"), FLOATS + 1):
        np.testing.assert_array_equal(ops.ceil(value).asnumpy(), weft.ops.ceil(value).asnumpy())
        np.testing.assert_array_equal(ops.celu(value).asnumpy(), weft.ops.celu(value).asnumpy())
    np.testing.assert_array_equal(ops.fmax(INTEGERS.astype("int8"), INTEGERS).asnumpy(), [-1, 0, 2])


def test_a_compiled_function_refuses_the_same() -> None:
    @jit
    def rounded(x: Any) -> Any:
        return ops.ceil(x) + ops.celu(x)

    for shift in (0.0, 0.25):
        expected = ops.ceil(FLOATS + shift) + ops.celu(FLOATS + shift)
        np.testing.assert_allclose(rounded(FLOATS + shift).asnumpy(), expected.asnumpy(), rtol=1e-6)
    with pytest.raises(TypeError, match=r"ops.ceil\(\) takes tensors of"):
        rounded(INTEGERS)
    np.testing.assert_array_equal(rounded(FLOATS).asnumpy(), (ops.ceil(FLOATS) + ops.celu(FLOATS)).asnumpy())


def test_a_program_may_catch_the_refusal_in_a_graph() -> None:
    @jit
    def either(x: Any) -> Any:
        try:
            return ops.softsign(x)
        except TypeError:
            return x * 2

    np.testing.assert_array_equal(either(INTEGERS).asnumpy(), [-2, 0, 4])
    np.testing.assert_allclose(either(FLOATS).asnumpy(), [-0.6, 1 / 3, 2 / 3], rtol=1e-6)


def test_gradients_and_mapped_functions_pass() -> None:
    x = Tensor([-1.0, 2.0])
    np.testing.assert_allclose(mindspore.grad(ops.relu6)(x).asnumpy(), [0.0, 1.0])
    np.testing.assert_allclose(mindspore.grad(lambda v: ops.mish(v).sum())(x).asnumpy(), [0.0592, 1.0694], rtol=1e-3)
    np.testing.assert_allclose(mindspore.vmap(ops.softsign)(x).asnumpy(), [-0.5, 2 / 3], rtol=1e-6)
    with pytest.raises(TypeError):
        mindspore.vmap(ops.softsign)(INTEGERS)


def test_a_tensor_that_shares_with_an_array_is_looked_at_too() -> None:
    shared = Tensor.from_numpy(np.array([1.5, -0.5], np.float32))
    np.testing.assert_array_equal(ops.ceil(shared).asnumpy(), [2.0, -0.0])
    with pytest.raises(TypeError):
        ops.ceil(Tensor.from_numpy(np.array([1, 2])))


def test_operations_and_layers_of_the_library_compute() -> None:
    np.testing.assert_array_equal(weft.ops.ceil(INTEGERS).asnumpy(), [-1, 0, 2])
    np.testing.assert_array_equal(nn.ReLU6()(INTEGERS).asnumpy(), [0, 0, 2])
    np.testing.assert_allclose(nn.Softsign()(INTEGERS).asnumpy(), [-0.5, 0.0, 2 / 3], rtol=1e-6)


def test_functions_are_found_by_name_when_they_are_unpickled() -> None:
    assert pickle.loads(pickle.dumps(ops.ceil)) is ops.ceil
    assert mindspore.ops.functional.ceil is ops.ceil
    with pytest.raises(AttributeError):
        _ = edge.ops.sin


@pytest.mark.parametrize("key", sorted(ACCEPTED))
def test_each_row_names_a_function_and_a_place(key: str) -> None:
    kind, _, name = key.partition(".")
    holders = {"op": OPERATOR_CLASSES, "Tensor": vars(Tensor)}
    found: Any = holders[kind][name] if kind in holders else getattr(getattr(edge, kind), name)
    function = found.function if kind == "op" else found
    for rule in ACCEPTED[key]:
        parameters = list(inspect.signature(function).parameters.values())
        assert rule.at < len(parameters) or parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
        assert rule.kind or 0 < len(rule.types) < len(dtypes.ALL)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: ops.floor_divide(input=Tensor([7]), other=Tensor([2])), [3]),
        (lambda: ops.truncate_mod(x=Tensor([-7.0]), y=Tensor([4.0])), [-3]),
        (lambda: ops.transpose(input=Tensor([[1, 2]]), dims=(1, 0)), [[1], [2]]),
        (lambda: ops.tensor_slice(input=Tensor([1, 2, 3]), begin=(1,), size=(2,)), [2, 3]),
        (lambda: ops.arcsin(x=Tensor([0.0])), [0.0]),
    ],
)  # fmt: skip
def test_parameters_have_the_names_of_the_release(call: Any, expected: Any) -> None:
    np.testing.assert_array_equal(call().asnumpy(), expected)
    assert ops.shape_(x=Tensor([1, 2])) == (2,)
    assert ops.numel(input=Tensor([1, 2])) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.repeat_interleave(None, 2), lambda: ops.norm("x"), lambda: ops.exp2("x"),
        lambda: ops.conv2d("x", 1),
        lambda: Tensor([[1.0]]).mm("x"), lambda: Tensor([1.0]).view_as(None), lambda: ops.matmul(FLOATS, 2.0),
    ],
)  # fmt: skip
def test_what_is_no_tensor_is_caught_by_either_name(call: Any) -> None:
    with pytest.raises(TypeError):
        call()
    with pytest.raises(AttributeError):
        call()
    with pytest.raises(NoTensor):
        call()
