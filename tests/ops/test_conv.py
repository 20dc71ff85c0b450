"""Convolutions against loops over windows, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.values import normals
from weft import ops
from weft.autodiff.grad import grad
from weft.core.tensor import Tensor

normal = normals()


def convolution(x: Any, w: Any, stride: Any, pads: Any, dilation: Any, groups: int) -> Any:
    """The definition, one output element at a time (two dimensions)."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *pads))
    n, _, height, width = x.shape
    out_channels, per_group, kh, kw = w.shape
    oh = (height - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((n, out_channels, oh, ow))
    for o in range(out_channels):
        first = o // (out_channels // groups) * per_group
        for i in range(oh):
            for j in range(ow):
                rows = slice(i * stride[0], i * stride[0] + dilation[0] * (kh - 1) + 1, dilation[0])
                columns = slice(j * stride[1], j * stride[1] + dilation[1] * (kw - 1) + 1, dilation[1])
                window = x[:, first : first + per_group, rows, columns]
                out[:, o, i, j] = (window * w[o]).sum((1, 2, 3))
    return out


def same(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


settings_2d = st.fixed_dictionaries(
    {
        "stride": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "dilation": st.tuples(st.integers(1, 2), st.integers(1, 2)),
        "kernel": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "groups": st.sampled_from([1, 2, 4]),
        "mode": st.sampled_from(["same", "valid", "pad"]),
        "pads": st.tuples(*[st.integers(0, 2)] * 4),
    }
)


@settings(max_examples=15)
@given(settings_2d)
def test_conv2d_is_the_definition(s: dict[str, Any]) -> None:
    x, w = normal(2, 4, 7, 6), normal(4, 4 // s["groups"], *s["kernel"])
    if s["mode"] == "same":
        pads = [same(n, k, t, d) for n, k, t, d in zip((7, 6), s["kernel"], s["stride"], s["dilation"], strict=True)]
    else:
        pads = [s["pads"][:2], s["pads"][2:]] if s["mode"] == "pad" else [(0, 0), (0, 0)]
    bias = normal(4)
    padding = s["pads"] if s["mode"] == "pad" else 0
    found = ops.conv2d(Tensor(x), Tensor(w), Tensor(bias), s["stride"], s["mode"], padding, s["dilation"], s["groups"])
    wanted = convolution(x, w, s["stride"], pads, s["dilation"], s["groups"]) + bias[:, None, None]
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-4, 1e-4)


@settings(max_examples=15)
@given(settings_2d)
def test_transposed_is_the_gradient_of_the_convolution(s: dict[str, Any]) -> None:
    groups = min(s["groups"], 2)
    w = normal(4, 4 // groups, *s["kernel"])
    x = Tensor(normal(2, 4, 9, 8))
    pads = tuple(min(p, 1) for p in s["pads"])

    def forward(x: Any) -> Any:
        return ops.conv2d(x, Tensor(w), None, s["stride"], "pad", pads, s["dilation"], groups)

    dout = normal(*forward(x).shape)
    wanted = grad(lambda x: (forward(x) * Tensor(dout)).sum())(x).asnumpy()
    extra = []
    for i in range(2):
        reach = s["dilation"][i] * (s["kernel"][i] - 1) + 1
        extra.append(x.shape[2 + i] - ((dout.shape[2 + i] - 1) * s["stride"][i] + reach - sum(pads[2 * i : 2 * i + 2])))
    found = ops.conv_transpose2d(Tensor(dout), Tensor(w), None, s["stride"], pads, tuple(extra), groups, s["dilation"])
    np.testing.assert_allclose(found.asnumpy(), wanted, 1e-4, 1e-4)


def test_one_and_three_dimensions_agree_with_two() -> None:
    x, w = normal(2, 2, 9), normal(4, 2, 3)
    line = ops.conv1d(Tensor(x), Tensor(w), stride=2, pad_mode="same")
    plane = ops.conv2d(Tensor(x[:, :, None]), Tensor(w[:, :, None]), stride=(1, 2), pad_mode="same")
    np.testing.assert_allclose(line.asnumpy(), plane.asnumpy()[:, :, 0], 1e-5, 1e-5)
    x, w = normal(1, 2, 1, 5, 6), normal(3, 2, 1, 3, 2)
    cube = ops.conv3d(Tensor(x), Tensor(w))
    np.testing.assert_allclose(
        cube.asnumpy()[:, :, 0], ops.conv2d(Tensor(x[:, :, 0]), Tensor(w[:, :, 0])).asnumpy(), 1e-5, 1e-5
    )


def test_operator_classes_agree_with_the_functions() -> None:
    x, w = Tensor(normal(2, 4, 6, 6)), Tensor(normal(8, 2, 3, 3))
    found = ops.Conv2D(8, 3, pad_mode="pad", pad=1, stride=2, group=2)(x, w)
    np.testing.assert_array_equal(found.asnumpy(), ops.conv2d(x, w, None, 2, "pad", 1, 1, 2).asnumpy())
    back = ops.Conv2DTranspose(8, 3, pad_mode="pad", pad=1, stride=2, group=2)(found, w, (2, 4, 6, 6))
    assert back.shape == x.shape
    last = ops.Conv2D(8, 3, data_format="NHWC", group=2)(Tensor(x.asnumpy().transpose(0, 2, 3, 1)), w)
    np.testing.assert_allclose(last.asnumpy().transpose(0, 3, 1, 2), ops.conv2d(x, w, groups=2).asnumpy(), 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    (
        (lambda: ops.conv2d(Tensor(normal(1, 3, 4, 4)), Tensor(normal(2, 4, 3, 3))), ValueError, "has 3 channels"),
        (lambda: ops.conv2d(Tensor(normal(3, 4, 4)), Tensor(normal(2, 4, 3, 3))), ValueError, "4 dimensions"),
        (lambda: ops.conv2d(Tensor(normal(1, 4, 4, 4)), Tensor(normal(2, 4, 3, 3)), None, 0), ValueError, "stride"),
        (lambda: ops.conv2d(Tensor(normal(1, 4, 4, 4)), Tensor(normal(2, 4, 3, 3)), None, 1.5), TypeError, "stride"),
        (
            lambda: ops.conv2d(Tensor(normal(1, 4, 4, 4)), Tensor(normal(2, 4, 3, 3)), None, 1, "nope"),
            ValueError,
            "pad_mode must be 'same', 'valid' or 'pad'",
        ),
        (
            lambda: ops.conv2d(Tensor(normal(1, 4, 4, 4)), Tensor(normal(2, 4, 3, 3)), None, 1, "same", 1),
            ValueError,
            "only used with pad_mode='pad'",
        ),
        (lambda: ops.Conv2D(5, 3)(Tensor(normal(1, 4, 4, 4)), Tensor(normal(2, 4, 3, 3))), ValueError, "announced"),
    ),
)
def test_mistakes_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
