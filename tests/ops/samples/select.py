"""Samples of the primitives of `weft.ops.select`."""

from __future__ import annotations

from typing import Final

from tests.ops.samples.values import FLAGS, A, B, Sample, one, pairs

SAMPLES: Final[dict[str, list[Sample]]] = {"Where": one(FLAGS, A, B), "AtLeast": pairs(), "AtMost": pairs()}
