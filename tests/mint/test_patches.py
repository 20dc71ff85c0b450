"""Patches of images, and what is put back to the places of maxima, by their names in `mint`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, grad, jit
from weft.mint import functional as F
from weft.mint import nn

IMAGES = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)


def patches(images: Any, size: int) -> Any:
    rows, columns = images.shape[2] - size + 1, images.shape[3] - size + 1
    found = [images[:, :, i : i + rows, j : j + columns] for i in range(size) for j in range(size)]
    return np.stack(found, 2).reshape(images.shape[0], -1, rows * columns)


@pytest.mark.parametrize("way", [lambda f: f, jit], ids=["eager", "compiled"])
def test_patches(way: Any) -> None:
    for images in (IMAGES, IMAGES * 2):
        made = way(lambda x: F.unfold(x, 2))(Tensor(images))
        np.testing.assert_array_equal(made.asnumpy(), patches(images, 2))
        np.testing.assert_array_equal(way(nn.Unfold(2))(Tensor(images[0])).asnumpy(), patches(images[:1], 2)[0])
        ones = patches(np.ones_like(images), 2)
        counts = F.fold(Tensor(ones), (4, 5), 2).asnumpy()
        back = way(lambda x: F.fold(x, (4, 5), 2))(made).asnumpy()
        np.testing.assert_allclose(back, images * counts, rtol=1e-6)
        np.testing.assert_allclose(way(nn.Fold((4, 5), 2))(made[0]).asnumpy(), back[0], rtol=1e-6)
        slope = grad(lambda x: way(F.unfold)(x, 2).sum())(Tensor(images)).asnumpy()
        np.testing.assert_allclose(slope, counts)


def test_points_and_places() -> None:
    found = F.grid_sample(Tensor([[[[1.0, 3.0], [5.0, 7.0]]]]), Tensor([[[[0.0, 0.0], [-0.5, -0.5]]]]))
    assert found.asnumpy().tolist() == [[[[4.0, 1.0]]]]
    maxima, at = F.max_pool2d(Tensor(IMAGES), 2, return_indices=True)
    back = F.max_unpool2d(maxima, at, 2, output_size=(4, 5)).asnumpy()
    assert (np.sort(back[back != 0]) == np.sort(maxima.asnumpy().ravel())).all()
    assert ((back == 0) | (back == IMAGES)).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="patches"):
        F.fold(Tensor(np.ones((2, 5, 6), np.float32)), (3, 4), 2)
    with pytest.raises(TypeError):
        F.unfold(1, 2)
