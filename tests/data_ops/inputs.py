"""What the recorded calls are applied to: images of several kinds, encoded images, rows, words, boxes, batches."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image


def encoded(image: Any, form: str) -> Any:
    """The bytes of an image of Pillow in a form without losses."""
    file = io.BytesIO()
    image.save(file, form)
    return np.frombuffer(file.getvalue(), np.uint8)


def inputs(jpg: Any) -> dict[str, Any]:
    """The inputs by name, new ones at each call, since some operations write to them.

    Args:
        jpg: the bytes of an image as JPEG, which was recorded, because encoders differ.
    """
    draw = np.random.RandomState(0)
    rows, columns = np.mgrid[0:12, 0:10]
    smooth = np.stack([rows * 20 + columns, columns * 24 + 5, (rows * columns) * 2 + 3], -1)
    hwc = np.clip(smooth + draw.randint(-10, 30, smooth.shape), 0, 255).astype(np.uint8)
    noise = draw.randint(0, 256, (9, 14, 3)).astype(np.uint8)
    down, right = np.arange(40), np.arange(36)
    smooth = np.stack(
        [np.add.outer(down, right) * 3, np.multiply.outer(down, right) // 6, np.add.outer(down[::-1], right) * 2], -1
    )
    big = np.clip(smooth + draw.randint(0, 20, smooth.shape), 0, 255).astype(np.uint8)
    gray = hwc[..., 0].copy()
    flt = (hwc / 255.0).astype(np.float32)
    clip = np.stack([hwc, hwc[::-1]])
    batch = np.stack([hwc, hwc[::-1, ::-1]])
    rgba = np.concatenate([hwc, np.full((12, 10, 1), noise[0, 0, 0], np.uint8)], -1)
    pil, pil_l = Image.fromarray(hwc), Image.fromarray(gray)
    return {
        "hwc": hwc,
        "noise": noise,
        "big": big,
        "gray": gray,
        "gray1": gray[..., None].copy(),
        "rgba": rgba,
        "two": hwc[..., :2].copy(),
        "flt": flt,
        "dbl": hwc / 255.0,
        "i32": hwc.astype(np.int32),
        "i16": hwc.astype(np.int16),
        "u16": hwc.astype(np.uint16) * 100,
        "i64": hwc.astype(np.int64),
        "boo": hwc > 100,
        "chw": np.ascontiguousarray(hwc.transpose(2, 0, 1)),
        "fchw": np.ascontiguousarray(flt.transpose(2, 0, 1)),
        "clip": clip,
        "clip5": np.stack([clip, clip]),
        "pil": pil,
        "pil_l": pil_l,
        "pil_a": Image.fromarray(rgba),
        "png": encoded(pil, "PNG"),
        "png_l": encoded(pil_l, "PNG"),
        "bmp": encoded(pil, "BMP"),
        "jpg": jpg.copy(),
        "vec": np.array([1, 2, 3, 4], np.int32),
        "vecf": np.array([1.5, -2.5, 3, 4], np.float32),
        "mat": np.arange(12, dtype=np.int32).reshape(3, 4),
        "strs": np.array(["apple", "pear", "fig"]),
        "boxes": np.array([[1, 2, 4, 5, 1], [0, 0, 3, 3, 2]], np.float32),
        "batch": batch,
        "nchw": np.ascontiguousarray(batch.transpose(0, 3, 1, 2)),
        "labels": np.array([[0, 1, 0], [1, 0, 0]], np.float32),
    }
