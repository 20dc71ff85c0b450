"""Samples of the primitives of `weft.ops.conv`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import Sample


def _conv_samples() -> list[Sample]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((2, 4, 5, 5)).astype(np.float32)
    w = generator.standard_normal((6, 2, 3, 3)).astype(np.float32)
    attrs = {"stride": (2, 1), "padding": ((1, 1), (0, 2)), "dilation": (1, 2), "groups": 2, "data_format": "NCHW"}
    return [Sample((x, w, generator.standard_normal(6).astype(np.float32)), attrs)]


def _transposed_samples() -> list[Sample]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((2, 4, 3, 3)).astype(np.float32)
    w = generator.standard_normal((4, 3, 3, 2)).astype(np.float32)
    attrs = {"stride": (2, 1), "padding": ((1, 0), (0, 1)), "output_padding": (1, 0), "dilation": (1, 2), "groups": 2}
    return [Sample((x, w, None), attrs)]


SAMPLES: Final[dict[str, list[Sample]]] = {
    "Convolution": _conv_samples(),
    "ConvolutionTranspose": _transposed_samples(),
}
