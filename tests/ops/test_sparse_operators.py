"""Operators of sparse tensors, sparse matrices, ragged rows and sets: gradients, graphs, and what no CPU of MindSpore's
computes; the answers of MindSpore are in the table of `tests/conformance`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor
from weft.ops import operations as P

I8 = np.int64


def i(values: Any) -> Tensor:
    return Tensor(np.array(values, I8))


#: by places: [[0, a, 0], [0, 0, b], [c, 0, 0]], and another one
PLACES, OTHERS, SHAPE = i([[0, 1], [1, 2], [2, 0]]), i([[0, 1], [2, 2]]), i([3, 3])
#: by rows: [[a, 0, b], [c, 0, 0]], [[d, e, 0], [0, 0, 0]] and their transposes
MATRIX = i([2, 3]), i([0, 3]), i([0, 2, 3]), i([0, 2, 0])
TURNED = i([3, 2]), i([0, 2]), i([0, 1, 1, 2]), i([1, 0])
STACK = i([2, 2, 3]), i([0, 3, 5]), i([0, 2, 3, 0, 2, 2]), i([0, 2, 0, 0, 1])

#: a function of arrays of floats, and their shapes
SMOOTH: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "segment sum": (lambda x: P.SparseSegmentSum()(x, i([0, 2, 1]), i([0, 0, 1])), [(3, 2)]),
    "segment mean": (lambda x: P.SparseSegmentMean()(x, i([0, 2, 1]), i([0, 0, 2])), [(3, 2)]),
    "segment roots": (lambda x: P.SparseSegmentSqrtNWithNumSegments()(x, i([0, 2, 2]), i([0, 0, 2]), i([4])), [(3, 2)]),
    "plus": (lambda v, d: P.SparseDenseCwiseAdd()(PLACES, v, SHAPE, d), [3, (3, 3)]),
    "times": (lambda v, d: P.SparseDenseCwiseMul()(PLACES, v, SHAPE, d), [3, 3]),
    "divided": (lambda v, d: P.SparseDenseCwiseDiv()(PLACES, v, SHAPE, d + 3), [3, (3, 1)]),
    "addmm": (lambda v, x, y, a, b: P.SparseAddmm()(PLACES, v, SHAPE, x, y, a, b), [3, (3, 2), (3, 2), 1, 1]),
    "to dense": (lambda v, d: P.SparseToDenseV2()(PLACES, SHAPE, v, d), [3, ()]),
    "reorder": (lambda v: P.SparseReorder()(i([[2, 1], [0, 2], [0, 1]]), v, SHAPE)[1], [3]),
    "softmax": (lambda v: P.SparseSoftmax()(i([[0, 0], [0, 2], [1, 1]]), v, SHAPE), [3]),
    "split": (lambda v: P.SparseSplit(2)(i(1), PLACES, v, SHAPE)[2], [3]),
    "fill": (lambda v, d: P.SparseFillEmptyRows()(i([[2, 0], [0, 1]]), v, SHAPE, d)[1], [2, ()]),
    "add": (lambda v, w: P.SparseAdd()(PLACES, v, SHAPE, OTHERS, w, SHAPE, Tensor(0.0, v.dtype))[1], [3, 2]),
    "maximum": (lambda v, w: P.SparseSparseMaximum()(PLACES, v, SHAPE, OTHERS, w, SHAPE)[1], [3, 2]),
    "concat": (lambda v, w: P.SparseConcat(1)((PLACES, OTHERS), (v, w), (SHAPE, SHAPE))[1], [3, 2]),
    "sspaddmm": (
        lambda v, w, d, a, b: P.Sspaddmm()(PLACES.T, v, SHAPE, OTHERS.T, w, SHAPE, d, a, b)[1],
        [3, 2, (3, 3), (), ()],
    ),
    "csr to dense": (lambda v: P.CSRSparseMatrixToDense()(*STACK, v), [5]),
    "csr to places": (lambda v: P.CSRSparseMatrixToSparseTensor()(*STACK, v)[1], [5]),
    "dense to csr": (lambda d: P.DenseToCSRSparseMatrix()(d, PLACES)[4], [(3, 3)]),
    "places to csr": (lambda v: P.SparseTensorToCSRSparseMatrix()(PLACES, v, SHAPE)[4], [3]),
    "transpose": (lambda v: P.SparseMatrixTranspose()(*STACK, v)[4], [5]),
    "csr softmax": (lambda v: P.SparseMatrixSoftmax(weft.float64)(*STACK, v)[4], [5]),
    "csr dense": (lambda v, d: P.SparseMatrixMatMul(transpose_output=True)(*STACK, v, d), [5, (2, 3, 2)]),
    "csr turned": (lambda v, d: P.SparseMatrixMatMul(True, True)(*MATRIX, v, d), [3, (4, 2)]),
    "csr add": (lambda v, w, a, b: P.SparseMatrixAdd()(*MATRIX, v, *MATRIX, w, a, b)[4], [3, 3, (), ()]),
    "csr csr": (lambda v, w: P.SparseMatrixSparseMatMul()(*MATRIX, v, *TURNED, w)[4], [3, 2]),
    "ragged": (lambda v, d: P.RaggedTensorToTensor(["ROW_SPLITS"])(i([-1, 3]), v, d, (i([0, 1, 1, 4]),)), [4, ()]),
    "counts": (lambda w: P.SparseCountSparseOutput()(PLACES, i([2, 0, 1]), SHAPE, w)[1], [3]),
    "prelu": (lambda g, x, w: P.PReLUGrad()(g, x, w)[1], [(2, 3), (2, 3), 3]),
    "hsigmoid": (lambda g, x: P.HSigmoidGrad()(g, x), [(2, 3), (2, 3)]),
    "minimum": (lambda a, b, g: P.MinimumGrad()(a, b, g)[1], [(2, 3), 3, (2, 3)]),
    "windows": (
        lambda x, o: P.DeformableOffsets((1, 1, 1, 1), (0, 1, 0, 1), (2, 2))(x, o),
        [(1, 1, 3, 3), (1, 12, 3, 3)],
    ),
    "regions": (
        lambda x: P.PSROIPooling(0.5, 2, 1)(x, Tensor([[[0.0, 1], [1, 0], [0, 2], [6, 5], [5, 7]]], x.dtype)),
        [(2, 4, 4, 4)],
    ),
}


def inputs(shapes: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Numbers between -1 and 1, no two alike."""
    return [np.sin(1.3 + 5 * at + 1.7 * np.arange(np.prod(shape))).reshape(shape) for at, shape in enumerate(shapes)]


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name: str) -> None:
    """The gradient along a direction is that of finite differences; a graph gives the same values and gradients."""
    function, shapes = SMOOTH[name]
    arrays = inputs(shapes)

    def weighed(*given: Any) -> Any:
        found = function(*given)
        return (found * Tensor(np.cos(np.arange(found.size)).reshape(found.shape))).sum()

    given = [Tensor(each) for each in arrays]
    positions = tuple(range(len(given)))
    same(weft.jit(lambda *each: function(*each))(*given), function(*given))
    slopes = weft.grad(weighed, positions)(*given)
    same(weft.jit(weft.grad(weighed, positions))(*given), slopes)
    ways = [np.cos(2 + np.arange(each.size)).reshape(each.shape) for each in arrays]
    expected = sum(float((slope.asnumpy() * way).sum()) for slope, way in zip(slopes, ways, strict=True))
    ahead, behind = (
        float(weighed(*(Tensor(each + step * way) for each, way in zip(arrays, ways, strict=True))))
        for step in (1e-6, -1e-6)
    )
    np.testing.assert_allclose((ahead - behind) / 2e-6, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["segment mean", "segment roots", "ragged", "prelu", "minimum", "windows", "regions"])
def test_places_that_the_function_makes_are_part_of_one_graph(name: str) -> None:
    function, shapes = SMOOTH[name]
    arguments = [Tensor(each) for each in inputs(shapes)]
    same(weft.jit(lambda *each: function(*each), fullgraph=True)(*arguments), function(*arguments))


def test_places_that_the_graph_is_given_are_read_between_two_graphs() -> None:
    def joined(places: Tensor, values: Tensor) -> Any:
        return P.SparseReorder()(places * 1, values * 2, SHAPE)[1] + 1

    places, values = i([[2, 1], [0, 1]]), Tensor([1.0, 2.0])
    same(weft.jit(joined)(places, values), Tensor([5.0, 3.0]))


def test_stacked_matrices_are_multiplied_and_added() -> None:
    """As dense ones are; MindSpore has no kernel for that on CPUs."""
    values, more = (Tensor(each) for each in inputs([5, 5]))

    def dense(*parts: Any) -> Any:
        return P.CSRSparseMatrixToDense()(*parts).asnumpy()

    one, other = dense(*STACK, values), dense(*STACK, more)
    product = P.SparseMatrixSparseMatMul(transpose_b=True)(*STACK, values, *STACK, more)
    np.testing.assert_allclose(dense(*product), one @ other.swapaxes(1, 2))
    product = P.SparseMatrixSparseMatMul(adjoint_a=True)(*STACK, values, *STACK, more)
    np.testing.assert_allclose(dense(*product), one.swapaxes(1, 2) @ other)
    total = P.SparseMatrixAdd()(*STACK, values, *STACK, more, *(Tensor(n, weft.float64) for n in (2, 3)))
    np.testing.assert_allclose(dense(*total), 2 * one + 3 * other)
    np.testing.assert_allclose(dense(*P.SparseMatrixTranspose()(*STACK, values)), one.swapaxes(1, 2))


#: what the documentation says of operators that MindSpore's CPUs do not have, or not right
DOCUMENTED: list[tuple[Callable[[], Any], Any]] = [
    (
        lambda: P.SparseSplit(2)(i(1), i([[0, 0], [0, 3], [1, 6]]), i([1, 2, 3]), i([2, 7])),
        ([[0, 0], [0, 3]], [[1, 2]], [1, 2], [3], [2, 4], [2, 3]),
    ),
    (lambda: P.SparseDenseCwiseDiv()(PLACES, i([7, -7, 4]), SHAPE, i(2)), [3, -3, 2]),
    (
        lambda: P.DenseToSparseSetOperation("a-b")(
            i([[1, 2, 3], [4, 4, 5]]), i([[0, 0], [1, 0]]), i([2, 9]), i([2, 2])
        ),
        ([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 3, 4, 5], [2, 2]),
    ),
    (
        lambda: P.DenseToSparseSetOperation("union")(i([[1, 2], [3, 4]]), i([[0, 0]]), i([9]), i([2, 1])),
        ([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], [1, 2, 9, 3, 4], [2, 3]),
    ),
    (lambda: P.SetSize()(i([[0, 1], [0, 2], [2, 0]]), i([4, 4, 5]), i([3, 4])), [1, 0, 1]),
    (
        lambda: P.RaggedTensorToTensor(["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"])(
            i([2, 3, 2]), i([1, 2, 3, 4]), i(9), [i(2), i([0, 0, 1]), i([0, 0, 2, 2])]
        ),
        [[[1, 2], [9, 9], [9, 9]], [[3, 4], [9, 9], [9, 9]]],
    ),
    (
        lambda: P.RaggedTensorToTensor(["ROW_SPLITS"])(i([2, 1, 2]), i([[1, 2], [3, 4]]), i([8, 9]), (i([0, 2, 2]),)),
        [[[1, 2]], [[8, 9]]],
    ),
    (lambda: P.NPUClearFloatStatusV2()(P.NPUGetFloatStatusV2()(i([0, 1]))), [0, 0]),
]


@pytest.mark.parametrize("number", range(len(DOCUMENTED)))
def test_documented_answers(number: int) -> None:
    call, expected = DOCUMENTED[number]
    found = call()
    if isinstance(expected, tuple):
        assert [each.asnumpy().tolist() for each in found] == list(expected)
    else:
        assert found.asnumpy().tolist() == expected


def test_tensors_without_values() -> None:
    none, places, ones = Tensor(np.zeros(0)), i(np.zeros((0, 2))), Tensor(np.ones((3, 2)))
    rows = i([2, 3]), i([0, 0]), i([0, 0, 0]), i([]), none
    assert P.SparseToDenseV2()(places, SHAPE, none, Tensor(1.0, none.dtype)).asnumpy().sum() == 9
    assert P.SparseReorder()(places, none, SHAPE)[1].shape == (0,)
    assert P.SparseSoftmax()(places, none, SHAPE).shape == (0,)
    assert P.SparseMatrixMatMul()(*rows, ones).asnumpy().tolist() == [[0, 0], [0, 0]]
    assert P.SparseMatrixTranspose()(*rows)[2].asnumpy().tolist() == [0] * 4
    assert P.SetSize()(places, i([]), SHAPE).asnumpy().tolist() == [0, 0, 0]
    assert P.RaggedTensorToSparse(weft.int64)((i([0, 0, 0]),), none)[2].asnumpy().tolist() == [2, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: P.SparseReorder()(i([[0, 3]]), i([1]), SHAPE), "no place 3"),
        (lambda: P.SparseAdd()(PLACES, i([1]), SHAPE, PLACES, i([1]), SHAPE, i(0)), "do not fit"),
        (lambda: P.SparseSegmentSum()(i([[1], [2]]), i([0, 1]), i([0, 2])), "leave no number out"),
        (lambda: P.SparseMatrixMatMul()(*MATRIX, Tensor([1.0, 2, 3]), Tensor([[1.0]])), "no product"),
        (lambda: P.RaggedTensorToSparse(weft.int64)((i([0, 5]),), i([1])), "must ascend from 0 to 1"),
        (lambda: P.SparseSplit(4)(i(0), PLACES, i([1, 2, 3]), SHAPE), "not cut into 4 parts"),
        (lambda: P.PSROIPooling(1.0, 2, 2)(Tensor([[[[1.0]]]]), Tensor([[[0.0]] * 5])), "1 channels are not 2"),
    ],
)
def test_errors_say_what_does_not_fit(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_random_numbers_lie_between_the_bounds() -> None:
    found = P.Uniform(2.0, 3.0, 5)(Tensor(np.zeros((50, 20), np.float32))).asnumpy()
    assert found.shape == (50, 20)
    assert 2.0 <= found.min() < 2.1
    assert 2.9 < found.max() < 3.0
