"""Samples of the primitives of `weft.ops.logic`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tests.ops.samples.values import DIVISORS, FLAGS, INTEGERS, Sample, pairs, unary

SAMPLES: Final[dict[str, list[Sample]]] = {
    **dict.fromkeys(("LogicalAnd", "LogicalOr", "LogicalXor"), pairs(FLAGS, ~FLAGS, False)),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), pairs(INTEGERS, DIVISORS, False)),
    **dict.fromkeys(("LeftShift", "RightShift"), pairs(INTEGERS, np.abs(DIVISORS), False)),
    "LogicalNot": unary(FLAGS),
    "Invert": unary(INTEGERS),
}
