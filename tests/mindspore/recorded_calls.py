"""Calls whose answers MindSpore 2.10 gave; run with it, this file writes `recorded_calls.json` anew.

A call is an expression for a function and one for its arguments.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).with_suffix(".json")

CALLS = [
    ("nn.SSIM()", "x(1, 1, 12, 13), x(1, 1, 12, 13, seed=1)"),
    ("nn.SSIM(max_val=2.0, filter_size=3, filter_sigma=0.7, k1=0.02, k2=0.1)", "x(2, 3, 5, 6), x(2, 3, 5, 6, seed=1)"),
    ("nn.SSIM(filter_size=4)", "x(2, 1, 8, 8), x(2, 1, 8, 8)"),
    ("nn.SSIM(max_val=-1.0)", "x(2, 1, 8, 8), x(2, 1, 8, 8)"),
    ("nn.SSIM(max_val='a')", "x(2, 1, 8, 8), x(2, 1, 8, 8)"),
    ("nn.SSIM(filter_size=2.0)", "x(2, 1, 8, 8), x(2, 1, 8, 8)"),
    ("nn.SSIM(filter_sigma=0.0)", "x(2, 1, 8, 8), x(2, 1, 8, 8)"),
    ("nn.SSIM()", "x(1, 1, 8, 8), x(1, 1, 8, 8)"),
    ("nn.SSIM(filter_size=3)", "x(1, 8, 8), x(1, 8, 8)"),
    ("nn.ReflectionPad1d(2)", "x(2, 3, 5)"),
    ("nn.ReflectionPad1d((1, 3))", "x(3, 5)"),
    ("nn.ReflectionPad2d((1, 2, 0, 3))", "x(2, 4, 5)"),
    ("nn.ReflectionPad2d(1)", "x(1, 2, 4, 5)"),
    ("nn.ReflectionPad2d('a')", "x(1, 2, 4, 5)"),
    ("nn.ReflectionPad2d(-1)", "x(1, 2, 4, 5)"),
    ("nn.ReflectionPad3d(1)", "x(1, 2, 2, 3, 4)"),
    ("nn.ReplicationPad1d((1, 2))", "x(2, 3)"),
    ("nn.ReplicationPad2d((1, 2, 0, 1))", "x(1, 2, 3, 4)"),
    ("nn.ReplicationPad3d(1)", "x(1, 1, 2, 2, 3)"),
    ("nn.ZeroPad2d((1, 2, 0, 3))", "x(2, 2, 3)"),
    ("nn.ZeroPad2d(2)", "x(2, 3)"),
    ("nn.ZeroPad2d((-1, 1, 0, 0))", "x(2, 2, 3)"),
    ("nn.ZeroPad2d((1, 1, 0))", "x(2, 2, 3)"),
    ("nn.ConstantPad1d((1, 2), 0.5)", "x(2, 3)"),
    ("nn.ConstantPad2d((1, 2, 0, 1), -1.5)", "x(1, 2, 3)"),
    ("nn.ConstantPad2d(1, 2)", "x(1, 2, 3)"),
    ("nn.ConstantPad3d((1, 0, 0, 1, 2, 0), 3.0)", "x(1, 2, 2, 3)"),
    ("nn.ConstantPad2d(1, 'a')", "x(1, 2, 3)"),
    ("nn.PixelShuffle(2)", "x(2, 8, 2, 3)"),
    ("nn.PixelShuffle(3)", "x(9, 1, 2)"),
    ("nn.PixelShuffle(2)", "x(1, 6, 2, 2)"),
    ("nn.PixelShuffle(0)", "x(1, 4, 2, 2)"),
    ("nn.PixelUnshuffle(2)", "x(2, 1, 4, 6)"),
    ("nn.PixelUnshuffle(2)", "x(1, 1, 3, 4)"),
    ("ops.pixel_shuffle", "x(1, 4, 2, 2), 2"),
    ("ops.pixel_unshuffle", "x(1, 1, 4, 2), 2"),
    ("nn.ChannelShuffle(2)", "x(1, 4, 2, 2)"),
    ("nn.ChannelShuffle(3)", "x(1, 4, 2, 2)"),
    ("nn.DiceLoss()", "x(2, 3), x(2, 3, seed=1)"),
    ("nn.DiceLoss(1.0)", "abs(x(2, 3, 2)), abs(x(2, 3, 2, seed=1))"),
    ("nn.DiceLoss(-1.0)", "x(2, 3), x(2, 3)"),
    ("nn.DiceLoss()", "x(2, 3), x(3, 2)"),
    ("nn.RMSELoss()", "x(2, 3), x(2, 3, seed=1)"),
    ("nn.RMSELoss()", "x(2, 3), x(3, seed=1)"),
    ("nn.MultiClassDiceLoss()", "x(2, 3, 4), abs(x(2, 3, 4, seed=1))"),
    ("nn.MultiClassDiceLoss(weights=x(3, 3), ignore_indiex=1, activation='sigmoid')", "x(2, 3), abs(x(2, 3, seed=1))"),
    ("nn.Unfold([2, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1])", "x(1, 2, 3, 3)"),
    ("ops.pows", "abs(x(2, 3)), 2"),
    ("ops.DiagPart()", "x(3, 3)"),
    ("ops.DiagPart()", "x(2, 3, 2, 3)"),
    ("ops.DiagPart()", "x(2, 3)"),
    (
        "ops.CropAndResize()",
        "x(2, 5, 6, 1), t([[0.1, 0.2, 0.8, 0.9], [0.5, 0.0, 1.0, 1.2]]), t([1, 0], 'int32'), (3, 4)",
    ),
    (
        "ops.CropAndResize('nearest', 2.5)",
        "x(2, 5, 6, 2), t([[0.9, 0.2, 0.1, 0.8], [-0.2, 0.0, 1.0, 1.2]]), t([1, 0], 'int32'), (3, 2)",
    ),
    ("ops.CropAndResize()", "x(1, 4, 4, 1), t([[0.0, 0.0, 1.0, 1.0]]), t([0], 'int32'), (1, 1)"),
    ("ops.CropAndResize('zz')", "x(1, 4, 4, 1), t([[0.0, 0.0, 1.0, 1.0]]), t([0], 'int32'), (1, 1)"),
    ("ops.CropAndResize()", "x(1, 4, 4), t([[0.0, 0.0, 1.0, 1.0]]), t([0], 'int32'), (1, 1)"),
    ("ops.CTCLoss()", "x(4, 2, 4), t([[0, 0], [0, 1], [1, 0]], 'int64'), t([1, 1, 2], 'int32'), t([4, 4], 'int32')"),
    (
        "ops.CTCLoss(ctc_merge_repeated=False)",
        "x(4, 2, 4), t([[0, 0], [0, 1], [1, 0]], 'int64'), t([1, 1, 2], 'int32'), t([4, 4], 'int32')",
    ),
    (
        "ops.CTCLoss(preprocess_collapse_repeated=True)",
        "x(4, 2, 4), t([[0, 0], [0, 1], [1, 0]], 'int64'), t([1, 1, 2], 'int32'), t([4, 4], 'int32')",
    ),
    (
        "ops.CTCLoss(ignore_longer_outputs_than_inputs=True)",
        "x(2, 2, 4), t([[0, 0], [0, 1], [0, 2], [1, 0]], 'int64'), t([1, 1, 2, 0], 'int32'), t([2, 2], 'int32')",
    ),
    (
        "ops.CTCLoss()",
        "x(4, 2, 4), t([[0, 0], [0, 1], [1, 0], [1, 1]], 'int64'), t([1, 3, 2, 0], 'int32'), t([4, 4], 'int32')",
    ),
    (
        "ops.CTCLoss()",
        "x(4, 2, 4), t([[0, 0], [0, 1], [1, 0], [1, 1]], 'int64'), t([3, 3, 2, 3], 'int32'), t([4, 2], 'int32')",
    ),
    (
        "ops.CTCLoss(preprocess_collapse_repeated=True)",
        "x(4, 2, 4), t([[0, 0], [0, 1], [0, 2], [1, 0]], 'int64'), t([1, 1, 3, 0], 'int32'), t([4, 4], 'int32')",
    ),
    (
        "ops.ctc_loss",
        "ops.log_softmax(x(4, 2, 4), -1), t([[1, 2], [3, 0]], 'int32'), t([4, 3], 'int32'), t([2, 1], 'int32')",
    ),
    ("ops.grid_sample", "x(1, 2, 4, 5), x(1, 2, 3, 2)"),
    ("lambda a, b: ops.grid_sample(a, b, 'nearest', 'border', True)", "x(1, 2, 4, 5), x(1, 2, 3, 2) * 1.4"),
    ("lambda a, b: ops.grid_sample(a, b, 'bilinear', 'reflection')", "x(1, 2, 4, 5), x(1, 2, 3, 2) * 2.2"),
    ("lambda a, b: ops.grid_sample(a, b, 'bilinear', 'zeros', True)", "x(1, 2, 3, 4, 5), x(1, 2, 2, 2, 3) * 1.2"),
    ("lambda a, b: ops.grid_sample(a, b, 'zz')", "x(1, 2, 4, 5), x(1, 2, 3, 2)"),
    ("lambda a: ops.fold(a, t([4, 5], 'int32'), [2, 2], [1, 1], [0, 0], [2, 1])", "x(1, 2, 4, 8)"),
    ("lambda a: ops.unfold(a, [2, 2], [1, 1], [0, 1], [2, 1])", "x(1, 2, 4, 5)"),
    ("ops.intopk", "x(2, 4), t([1, 3], 'int32'), 2"),
    ("ops.vector_norm", "x(2, 4), 3"),
    ("lambda a: ops.vector_norm(a, float('inf'), 1, True)", "x(2, 4)"),
    ("lambda a: ops.rrelu(a, 0.25, 0.25)", "x(2, 3)"),
    ("nn.RReLU(0.5, 0.5)", "x(2, 3)"),
    ("nn.RReLU('a')", "x(2, 3)"),
    ("nn.RReLU(0.5, 0.25)", "x(2, 3)"),
    ("lambda a: ops.stft(a, 8, 4, center=True, onesided=True, return_complex=False)", "x(20)"),
    ("lambda a, w: ops.stft(a, 8, 2, 6, w, False, 'reflect', True, False, False)", "x(2, 20), abs(x(6, seed=3))"),
]

VALUES = ["prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival"]
FACTS = ["mean", "sd", "var", "mode", "entropy"]


def _distributions() -> list[tuple[str, str]]:
    """Calls of distributions: functions of values, and facts, each where MindSpore has it."""
    found = []
    floats, ones = "t([0.3, -1.2, 2.5])", "t([0.0, 1.0, 1.0])"
    for made, values, other, left_out in (
        ("Normal(0.5, 2.0)", floats, "t(1.0), t(0.7)", ""),
        ("Normal(t([0.5, 1.0, 0.0]), t([1.0, 2.0, 3.0]))", floats, "t(1.0), t(0.7)", ""),
        ("Uniform(-1.0, 2.0)", floats, "t(-2.0), t(3.0)", "mode log_prob log_cdf log_survival"),
        ("Bernoulli(0.3)", ones, "t(0.6)", "mode log_survival"),
        ("Exponential(0.7)", "t([0.5, 1.0, 2.5])", "t(1.2)", ""),
        ("Categorical(t([0.2, 0.3, 0.5]))", "t([1, 2, 0], 'int32')", "t([0.5, 0.25, 0.25])", "log_survival"),
        ("Geometric(0.3)", "t([0.0, 1.0, 3.0])", "t(0.6)", ""),
        ("Cauchy(0.5, 2.0)", floats, "t(1.0), t(0.7)", "mean sd var"),
        ("Logistic(0.5, 2.0)", floats, "", ""),
        ("LogNormal(0.5, 2.0)", "t([0.5, 1.0, 2.5])", "t(1.0), t(0.7)", "var"),
        ("Gumbel(0.5, 2.0)", floats, "", ""),
        ("Laplace(0.5, 2.0)", floats, "", " ".join((*VALUES[2:], *FACTS))),
    ):
        kind = made.split("(")[0]
        parts = [f"d.{name}(v)" for name in VALUES if name not in left_out.split()]
        parts += [f"d.{name}()" for name in FACTS if name not in left_out.split()]
        if other:
            parts += [f"d.{name}({kind!r}, {other})" for name in ("kl_loss", "cross_entropy")]
            parts.append(f"d.prob(v, {other})")
        found.append((f"(lambda d: lambda v: ({', '.join(parts)},))(D.{made})", values))
    return found


CALLS += _distributions()


def names(ms: Any) -> dict[str, Any]:
    """What the expressions use.

    Args:
        ms: the module `mindspore`.
    """

    def x(*shape: int, seed: int = 0) -> Any:
        values = np.sin(np.arange(int(np.prod(shape)), dtype=np.float64) * 1.7 + seed)
        return ms.Tensor(values.reshape(shape).astype(np.float32))

    def t(values: Any, dtype: str = "float32") -> Any:
        return ms.Tensor(np.array(values, dtype))

    import mindspore.nn.probability.distribution as distributions

    return {"ms": ms, "nn": ms.nn, "ops": ms.ops, "D": distributions, "np": np, "x": x, "t": t}


def shown(found: Any) -> Any:
    """A result as JSON: element type, shape and numbers of each tensor."""
    if isinstance(found, (tuple, list)):
        return [shown(each) for each in found]
    if hasattr(found, "asnumpy"):
        array = found.asnumpy()
        values = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype).ravel().tolist()
        if array.dtype.kind == "f":
            values = [float(f"{value:.7g}") for value in values]
        return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}
    return found


def answer(ms: Any, function: str, arguments: str) -> Any:
    """What a call gives, or the name of the class of what it raises."""
    known = names(ms)
    try:
        return shown(eval(function, known)(*eval(f"({arguments}{',' if arguments else ''})", known)))
    except Exception as error:
        return f"! {type(error).__name__}"


def main() -> None:
    import mindspore

    warnings.simplefilter("ignore")
    lines = []
    for call in CALLS:
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        found = answer(mindspore, *call)
        if isinstance(found, str):  # some cells run as graphs only
            mindspore.set_context(mode=mindspore.GRAPH_MODE)
            found = answer(mindspore, *call)
        lines.append(json.dumps(found))
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
