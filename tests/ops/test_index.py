"""Reading and writing by index, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import weft
from tests.helpers.values import close
from weft import Tensor

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)


def array(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


@st.composite
def basic(draw: Any) -> tuple[Any, Any]:
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, max_dims=5, allow_newaxis=True, allow_ellipsis=True))


@st.composite
def mixed(draw: Any) -> tuple[Any, Any]:
    """One entry for each dimension: an int, a slice, a list or an array of positions."""
    shape = draw(SHAPES)
    count = draw(st.integers(1, 3))
    entries: list[Any] = []
    for size in shape:
        position = st.integers(-size, size - 1)
        entries.append(
            draw(
                st.one_of(
                    position,
                    st.slices(size),
                    st.lists(position, min_size=count, max_size=count),
                    st.lists(position, min_size=count, max_size=count).map(np.array),
                    st.just(np.zeros((2, 1), np.int64)),
                )
            )
        )
    length = draw(st.integers(1, len(entries)))
    return shape, tuple(entries[:length])


def ours(index: Any, as_tensors: bool) -> Any:
    """An index with its arrays as tensors."""
    if not as_tensors:
        return index
    entries = index if isinstance(index, tuple) else (index,)
    return tuple(Tensor(np.asarray(e)) if isinstance(e, (list, np.ndarray)) else e for e in entries)


@given(basic())
def test_basic_get(case: tuple[Any, Any]) -> None:
    shape, index = case
    x = array(shape)
    close(Tensor(x)[index], x[index], 0.0)


@given(mixed(), st.booleans())
def test_mixed_get(case: tuple[Any, Any], as_tensors: bool) -> None:
    shape, index = case
    x = array(shape)
    close(Tensor(x)[ours(index, as_tensors)], x[index], 0.0)


@given(basic(), st.sampled_from(["number", "full", "row"]))
def test_basic_set(case: tuple[Any, Any], kind: str) -> None:
    shape, index = case
    x = array(shape)
    selected = x[index].shape
    value: Any = -1.0
    if kind == "full":
        value = -1 - np.arange(int(np.prod(selected)), dtype=np.float32).reshape(selected)
    elif kind == "row" and selected:
        value = -1 - np.arange(selected[-1], dtype=np.float32)
    t = Tensor(x)
    t[index] = Tensor(value) if isinstance(value, np.ndarray) else value
    x[index] = value
    close(t, x, 0.0)


@given(mixed(), st.booleans())
def test_mixed_set(case: tuple[Any, Any], as_tensors: bool) -> None:
    shape, index = case
    x = array(shape)
    t = Tensor(x)
    t[ours(index, as_tensors)] = -1.0
    x[index] = -1.0
    close(t, x, 0.0)


@given(SHAPES, st.data())
def test_masks(shape: tuple[int, ...], data: Any) -> None:
    x = array(shape)
    rank = data.draw(st.integers(1, len(shape)))
    mask = data.draw(hnp.arrays(np.bool_, shape[:rank]))
    for given_mask in (mask, Tensor(mask)):
        close(Tensor(x)[given_mask], x[mask], 0.0)
        written, wanted = Tensor(x), x.copy()
        written[given_mask] = 5
        wanted[mask] = 5
        close(written, wanted, 0.0)
        values = -1 - np.arange(x[mask].size, dtype=np.float32).reshape(x[mask].shape)
        written[given_mask] = Tensor(values) if values.size else values
        wanted[mask] = values
        close(written, wanted, 0.0)


@pytest.mark.parametrize(
    "index",
    [
        np.s_[::-1],
        np.s_[3:0:-2],
        np.s_[..., ::-1],
        np.s_[[0, 2], ::-1],
        np.s_[:, None, [1, 0]],
        np.s_[1, :, [0, 1]],
        np.s_[[0, 1], :, [0, 1]],
        np.s_[np.array([[0, 1], [2, 3]])],
        np.s_[np.array(2)],
        np.s_[np.int64(-1), ..., 0],
        np.s_[[True, False, True, False], 1:],
        np.s_[True],
        np.s_[()],
        np.s_[...],
        np.s_[2:2],
        np.s_[[]],
    ],
    ids=repr,
)
def test_chosen_indices(index: Any) -> None:
    x = array((4, 3, 2))
    close(Tensor(x)[index], x[index], 0.0)
    written, wanted = Tensor(x), x.copy()
    written[index] = 9
    wanted[index] = 9
    close(written, wanted, 0.0)


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (4, IndexError, "out of bounds"),
        (-5, IndexError, "out of bounds"),
        (np.s_[0, 3], IndexError, "out of bounds"),
        ([0, 4], IndexError, "out of bounds"),
        (np.s_[0, 0, 0], IndexError, "too many"),
        (np.s_[..., ...], IndexError, "single ellipsis"),
        (1.5, IndexError, "not float"),
        ("a", IndexError, "not str"),
        (np.array([0.5]), IndexError, "integer or bool"),
        (np.array([True, False]), IndexError, "does not match"),
        (np.s_[::0], ValueError, "step"),
    ],
)
def test_wrong_indices(index: Any, error: type[Exception], words: str) -> None:
    x = Tensor(array((4, 3)))
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        x[index] = 0


def test_wrong_value_shape() -> None:
    x = Tensor(array((4, 3)))
    with pytest.raises(ValueError, match="shape"):
        x[0] = Tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        x[[0, 1]] = Tensor([1.0, 2.0])


def test_value_takes_the_dtype_of_the_tensor() -> None:
    x = Tensor(np.zeros(3, np.int32))
    x[1:] = 2.7
    assert x.dtype is weft.int32
    assert x.tolist() == [0, 2, 2]


def test_write_reaches_earlier_views_and_no_copies() -> None:
    x = Tensor([1.0, 2.0])
    view, copy, advanced = x[:], x.copy(), x[[0, 1]]
    x[0] = 5.0
    assert view.tolist() == [5.0, 2.0]
    assert copy.tolist() == advanced.tolist() == [1.0, 2.0]


def test_iteration_and_membership() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert 3 in x
    assert 7 not in x
    assert "a" not in x
    with pytest.raises(TypeError):
        iter(Tensor(1))


@pytest.mark.parametrize("index", [0, np.s_[1:, ::2], np.s_[[1, 0, 1]], np.s_[:, [0, 0]], np.s_[::-1, 0]], ids=repr)
def test_gradient_of_reading_and_writing(index: Any) -> None:
    x = array((3, 3)) + 1
    weights = np.random.default_rng(0).normal(size=x[index].shape).astype(np.float32)

    def read(t: Tensor) -> Tensor:
        return (t[index] * Tensor(weights)).sum()

    wanted = np.zeros_like(x)
    np.add.at(wanted, index, weights)
    np.testing.assert_allclose(weft.grad(read)(Tensor(x)).asnumpy(), wanted, 1e-6)

    def write(t: Tensor, v: Tensor) -> Tensor:
        t = t * 1
        t[index] = v
        return (t * Tensor(x)).sum()

    kept = np.ones_like(x)
    kept[index] = 0
    by_tensor, by_value = weft.grad(write, grad_position=(0, 1))(Tensor(x), Tensor(np.float32(2)))
    np.testing.assert_allclose(by_tensor.asnumpy(), x * kept, 1e-6)
    if len(np.unique(np.arange(9).reshape(3, 3)[index])) == x[index].size:
        np.testing.assert_allclose(by_value.asnumpy(), x[index].sum(), 1e-6)
