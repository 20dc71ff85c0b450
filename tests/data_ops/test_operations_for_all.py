"""Operations that are applied to many elements at once give what they give for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import data as ds
from weft.data import transforms, vision

RNG = np.random.default_rng(0)
COLUMNS = {
    "uint8 images": RNG.integers(0, 256, (9, 6, 5, 3)).astype(np.uint8),
    "one channel": RNG.integers(0, 256, (9, 6, 5, 1)).astype(np.uint8),
    "no channels": RNG.integers(0, 256, (9, 6, 5)).astype(np.uint8),
    "float images": RNG.standard_normal((9, 6, 5, 3)).astype(np.float32) * 300,
    "float64 images": RNG.standard_normal((9, 6, 5, 2)),
    "bool images": RNG.random((9, 6, 5, 3)) > 0.5,
    "rows": RNG.integers(-9, 9, (9, 4)),
    "numbers": RNG.integers(-9, 9, 9),
    "five dimensions": RNG.random((9, 2, 2, 2, 2)),
}
OPERATIONS = {
    "Rescale": [vision.Rescale(1 / 255, 0.5)],
    "HWC2CHW": [vision.HWC2CHW()],
    "ToTensor": [vision.ToTensor()],
    "ToTensor float16": [vision.ToTensor("float16")],
    "TypeCast int32": [transforms.TypeCast("int32")],
    "TypeCast uint8": [transforms.TypeCast("uint8")],
    "TypeCast bool": [transforms.TypeCast("bool")],
    "TypeCast float16": [transforms.TypeCast("float16")],
    "several": [vision.Rescale(2.0, -1.0), vision.HWC2CHW(), transforms.TypeCast("float64")],
    "with another": [vision.Rescale(2.0, -1.0), vision.Normalize([0.1], [0.5]), vision.HWC2CHW()],
}


def read(data: Any) -> Any:
    try:
        return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("operations", OPERATIONS)
def test_the_same_as_for_each(operations: str, column: str) -> None:
    array = COLUMNS[column]
    steps = OPERATIONS[operations]
    found, wanted = (
        read(ds.NumpySlicesDataset((array, array), ["x", "y"], shuffle=False).map(each, "x", num_parallel_workers=2))
        for each in (steps, [*steps, lambda x: x])
    )
    if isinstance(wanted, str):
        assert found == wanted
        return
    assert len(found) == len(wanted) == len(array)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)


def test_a_class_of_the_program_is_asked_for_each() -> None:
    class Mine(vision.Rescale):
        def on(self, image: Any, room: Any) -> Any:
            return image + 1

    data = ds.NumpySlicesDataset(COLUMNS["rows"], ["x"], shuffle=False).map(Mine(2.0, 0.0), "x", num_parallel_workers=2)
    np.testing.assert_array_equal(np.stack(read(data)), COLUMNS["rows"] + 1)
