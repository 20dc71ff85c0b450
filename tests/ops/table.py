"""The primitives that tests walk, with their samples."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

from tests.ops import samples
from tests.ops.samples import updates
from tests.ops.samples.values import A, Sample, pairs, unary
from weft import dtypes, lazily
from weft.core.primitive import Primitive

lazily.bring_all()  # importing all modules declares all primitives

#: samples of the primitives, by their names
SAMPLES: dict[str, list[Sample]] = {"Cast": [Sample((A,), {"dtype": dtypes.float64})], "Identity": [Sample((A,))]}
for _module in pkgutil.iter_modules(samples.__path__):
    if _module.name != "values":
        SAMPLES.update(importlib.import_module(f"{samples.__name__}.{_module.name}").SAMPLES)

#: primitives that compute in float32 whatever their operands, so that finite differences drown in rounding
SINGLE_PRECISION = {"CropBoxes", "UnscaleGradients"}

# the primitives of the framework, not those that docstrings and tests declare
TABLE = {name: p for name, p in Primitive.table.items() if not name.startswith("Doc")}


def samples_of(name: str) -> list[Sample]:
    """The samples of a primitive: its own, or those of operations on each element of one or two operands."""
    primitive = TABLE[name]
    if name.endswith("Step") and name not in SAMPLES:
        return updates.step_of(primitive)
    if name in SAMPLES or not primitive.elementwise:
        return SAMPLES.get(name, [])
    return pairs() if primitive.required == 2 else unary()


def attrs_of(primitive: Primitive, sample: Sample) -> tuple[Any, ...]:
    """The attributes of a sample; those it leaves out have the default of the implementation."""
    defaults = inspect.signature(primitive.implementation).parameters
    return tuple(sample.attrs[n] if n in sample.attrs else defaults[n].default for n in primitive.attr_names)
