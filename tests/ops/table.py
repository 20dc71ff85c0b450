"""The primitives that tests walk, with their samples."""

from __future__ import annotations

import inspect
from typing import Any

from weft import dtypes, lazily
from weft.core.primitive import Primitive, Sample
from weft.ops._samples import A

lazily.bring_all()  # importing all modules declares all primitives

#: samples of the primitives that the kernel declares
KERNEL_SAMPLES = {
    "Cast": [Sample((A,), {"dtype": dtypes.float64})],
    "Identity": [Sample((A,))],
}
#: primitives that compute in float32 whatever their operands, so that finite differences drown in rounding
SINGLE_PRECISION = {"CropBoxes", "UnscaleGradients"}

# the primitives of the framework, not those that docstrings and tests declare
TABLE = {name: p for name, p in Primitive.table.items() if not name.startswith("Doc")}


def samples_of(name: str) -> list[Sample]:
    return KERNEL_SAMPLES.get(name) or TABLE[name].sample_list()


def attrs_of(primitive: Primitive, sample: Sample) -> tuple[Any, ...]:
    """The attributes of a sample; those it leaves out have the default of the implementation."""
    defaults = inspect.signature(primitive.implementation).parameters
    return tuple(sample.attrs[n] if n in sample.attrs else defaults[n].default for n in primitive.attr_names)
