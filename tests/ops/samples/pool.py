"""Samples of the primitives of `weft.ops.pool`."""

from __future__ import annotations

import math
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from tests.ops.samples.values import Sample
from weft.ops.pool import _max_pool


def _image_sample(**attrs: Any) -> list[Sample]:
    x = np.random.default_rng(0).permutation(2 * 2 * 5 * 4).reshape(2, 2, 5, 4).astype(np.float32) / 8
    return [Sample((x,), attrs)]


def _gradient_samples() -> list[Sample]:
    found = []
    for window, data_format in ((_TILES, "NCHW"), (_TILES, "NHWC"), (_WINDOW, "NCHW")):
        attrs = {**window, "dilation": (1, 1), "data_format": data_format}
        (x,) = _image_sample()[0].inputs
        shape = _max_pool(jnp.asarray(x), **attrs).shape
        found.append(Sample((x, np.linspace(-1, 1, math.prod(shape), dtype=np.float32).reshape(shape)), attrs))
    return found


_WINDOW: dict[str, Any] = {"kernel": (2, 2), "stride": (2, 1), "pads": ((1, 0), (0, 1))}
_TILES: dict[str, Any] = {"kernel": (2, 3), "stride": (2, 3), "pads": ((0, 0), (0, 0))}

SAMPLES: Final[dict[str, list[Sample]]] = {
    "MaxPoolingGrad": _gradient_samples(),
    "MaxPooling": [
        *_image_sample(**_WINDOW, dilation=(1, 1), data_format="NCHW"),
        *_image_sample(**_TILES, dilation=(1, 1), data_format="NCHW"),
        *_image_sample(**_WINDOW, dilation=(2, 3), data_format="NCHW"),
        *_image_sample(**_WINDOW | {"pads": ((0, 1), (0, 0))}, dilation=(3, 1), data_format="NHWC"),
    ],
    "AvgPooling": _image_sample(**_WINDOW, counted=((0, 0), (0, 0)), divisor=0, data_format="NCHW"),
    "MaxPoolingWithIndices": [s for d in ((1, 1), (2, 3)) for s in _image_sample(**_WINDOW, dilation=d)],
    "AdaptiveAvgPooling": _image_sample(output_size=(3, 2)),
    "AdaptiveMaxPooling": _image_sample(output_size=(3, 2)),
}
