"""What operator classes give: the calls whose answers by MindSpore 2.10 are in `recorded_operators.json`.

Run with MindSpore, this file writes the answers.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import recorded_calls

STORED = Path(__file__).with_suffix(".json")


def written(count: int, operator: Any) -> Any:
    """An operator that writes into its first parameters, as a function of tensors that gives what was written."""

    def call(*given: Any) -> Any:
        import mindspore as ms

        kept = [
            ms.Parameter(each, name=f"p{at}") if isinstance(each, ms.Tensor) and each.ndim > 1 and at < count else each
            for at, each in enumerate(given)
        ]
        operator(*kept)
        return tuple(each * 1 for each in kept[:count])

    return call


def names(ms: Any) -> dict[str, Any]:
    """What the expressions use.

    Args:
        ms: the module `mindspore`.
    """
    return {**recorded_calls.names(ms), "written": written}


#: an expression for the function, and one for its arguments
CALLS: list[tuple[str, str]] = [
    ("ops.MaxPoolWithArgmaxV2(2, 2)", "x(1, 2, 5, 6)"),
    ("ops.MaxPoolWithArgmaxV2((2, 3), (2, 1), (1, 1), (1, 1), True, ms.int32)", "x(1, 2, 5, 6)"),
    ("ops.MaxPoolWithArgmaxV2(2, 2, argmax_type=ms.float32)", "x(1, 2, 5, 6)"),
    ("ops.MaxPoolWithArgmaxV2(0)", "x(1, 2, 5, 6)"),
    ("ops.operations.MaxPool3DWithArgmax(2, 2, 0)", "x(1, 1, 4, 5, 4)"),
    ("ops.MaxUnpool2D(2, 2)", "x(1, 2, 2, 3), t([[[[1, 8, 5], [12, 20, 23]], [[0, 8, 4], [19, 15, 23]]]], 'int64')"),
    (
        "ops.MaxUnpool2D(2, 2, 0, (1, 2, 5, 6))",
        "x(1, 2, 2, 3), t([[[[1, 8, 5], [12, 20, 23]], [[0, 8, 4], [19, 15, 29]]]], 'int64')",
    ),
    ("ops.MaxUnpool2D(2, 2)", "x(1, 2, 2, 3), t([[[[1, 8, 5]]]], 'int64')"),
    ("ops.MaxUnpool3D(2, 2)", "x(1, 1, 1, 2, 2), t([[[[[1, 23], [12, 30]]]]], 'int64')"),
    ("ops.AdaptiveMaxPool2D((2, 3))", "x(1, 2, 5, 6)"),
    ("ops.AdaptiveMaxPool2D(2)", "x(1, 2, 5, 6)"),
    ("ops.AdaptiveMaxPool2D((None, 2))", "x(1, 2, 5, 6)"),
    ("ops.AdaptiveMaxPool3D()", "x(1, 4, 5, 6), t([2, 2, 2], 'int32')"),
    ("ops.AdaptiveAvgPool3D((2, 2, 3))", "x(1, 4, 5, 6)"),
    ("ops.AdaptiveAvgPool3D(2)", "x(2, 1, 4, 5, 6)"),
    ("ops.FractionalMaxPoolWithFixedKsize(2, (2, 3))", "x(1, 2, 5, 6), t([[[0.3, 0.6], [0.2, 0.7]]])"),
    ("ops.FractionalMaxPoolWithFixedKsize(2, (5, 3))", "x(1, 2, 5, 6), t([[[0.3, 0.6], [0.2, 0.7]]])"),
    (
        "ops.FractionalMaxPool3DWithFixedKsize(2, (2, 2, 3))",
        "x(1, 2, 4, 5, 6), t([[[0.3, 0.6, 0.1], [0.2, 0.7, 0.9]]])",
    ),
    ("ops.SpaceToBatch(1, [[0, 0], [0, 0]])", "x(1, 2, 4, 3)"),
    ("ops.SpaceToBatchND([2, 2], [[0, 0], [1, 1]])", "x(1, 1, 4, 4)"),
    ("ops.SpaceToBatchND([2, 3], [[0, 0], [0, 0]])", "x(1, 1, 4, 4)"),
    ("ops.BatchToSpaceND([2, 2], [[0, 1], [0, 0]])", "x(4, 1, 2, 2)"),
    ("ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])", "x(3, 1, 2, 2)"),
    ("ops.BatchToSpaceND(2, [[0, 0]])", "x(4, 1, 2)"),
    ("ops.Im2Col(2)", "x(1, 2, 5, 6)"),
    ("ops.Im2Col((2, 3), 2, 1, (1, 0))", "x(1, 2, 5, 6)"),
    ("ops.Im2Col(2)", "x(2, 5, 6)"),
    ("ops.Col2Im(2)", "x(1, 2, 4, 20), t([5, 6], 'int32')"),
    ("ops.Col2Im((2, 3), 1, (1, 0), 2)", "x(1, 2, 6, 6), t([5, 6], 'int32')"),
    ("ops.Col2Im(2)", "x(1, 2, 3, 20), t([5, 6], 'int32')"),
    ("ops.ExtractVolumePatches(2, 2, 'VALID')", "x(1, 2, 4, 4, 4)"),
    ("ops.ExtractVolumePatches(3, 2, 'SAME')", "x(1, 2, 4, 4, 4)"),
    ("ops.ExtractVolumePatches((1, 1, 2, 1, 3), (1, 1, 1, 2, 1), 'valid')", "x(1, 2, 3, 3, 4)"),
    ("ops.ChannelShuffle(2)", "x(1, 4, 2, 2)"),
    ("ops.ChannelShuffle(3)", "x(1, 4, 2, 2)"),
    ("ops.ChannelShuffle(2.0)", "x(1, 4, 2, 2)"),
    ("ops.operations.DataFormatDimMap()", "t([0, 1, 2, 3, -1, -2], 'int32')"),
    ("ops.operations.DataFormatDimMap('NCHW', 'NHWC')", "t([0, 1, 2, 3, -1], 'int32')"),
    ("ops.operations.DataFormatVecPermute()", "t([1, 2, 3, 4], 'int32')"),
    ("ops.operations.DataFormatVecPermute('NCHW', 'NHWC')", "t([[1, 2], [3, 4], [5, 6], [7, 8]], 'int64')"),
    ("ops.operations.DataFormatVecPermute()", "t([1, 2, 3], 'int32')"),
    ("ops.operations.DataFormatVecPermute('ABCD')", "t([1, 2, 3, 4], 'int32')"),
    ("ops.ResizeArea()", "x(1, 4, 5, 2), t([3, 3], 'int32')"),
    ("ops.ResizeArea(True)", "x(1, 4, 5, 2), t([3, 3], 'int32')"),
    ("ops.ResizeArea()", "x(1, 4, 3, 1), t([7, 5], 'int32')"),
    ("ops.ResizeBicubic()", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeBicubic()", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeNearestNeighborV2()", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeNearestNeighborV2()", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeBicubic(True)", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeBicubic(True)", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeNearestNeighborV2(True)", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeNearestNeighborV2(True)", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeBicubic(False, True)", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeBicubic(False, True)", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeNearestNeighborV2(False, True)", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.ResizeNearestNeighborV2(False, True)", "x(1, 2, 5, 6), (8, 7)"),
    ("ops.ResizeBicubic(True, True)", "x(1, 2, 5, 6), (3, 4)"),
    ("ops.UpsampleNearest3D()", "x(1, 1, 2, 2, 2), (3, 3, 3)"),
    ("ops.UpsampleNearest3D()", "x(1, 1, 2, 2, 2), None, [1.5, 2.0, 2.0]"),
    ("ops.UpsampleNearest3D()", "x(1, 1, 2, 2, 2)"),
    ("ops.UpsampleTrilinear3D()", "x(1, 1, 2, 2, 2), None, [1.5, 2.0, 2.0]"),
    ("ops.UpsampleTrilinear3D(True)", "x(1, 1, 2, 2, 2), (3, 4, 3)"),
    ("ops.ScaleAndTranslate('lanczos1', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('lanczos1', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('lanczos3', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('lanczos3', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('lanczos5', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('lanczos5', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('gaussian', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('gaussian', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('box', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('box', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('triangle', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('triangle', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('keyscubic', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('keyscubic', False)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.ScaleAndTranslate('mitchellcubic', True)", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    (
        "ops.ScaleAndTranslate('mitchellcubic', False)",
        "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])",
    ),
    ("ops.ScaleAndTranslate('zz')", "x(1, 4, 5, 2), t([3, 3], 'int32'), t([0.8, 0.7]), t([0.1, 0.2])"),
    ("ops.AdjustHue()", "abs(x(2, 2, 3)), t(0.2)"),
    ("ops.AdjustHue()", "abs(x(2, 2, 2)), t(0.2)"),
    ("ops.AdjustSaturation()", "abs(x(2, 2, 3)), t(0.5)"),
    ("ops.AdjustSaturation()", "abs(x(2, 2, 3)), t(1.7)"),
    ("ops.RGBToHSV()", "abs(x(2, 2, 3))"),
    ("ops.RGBToHSV()", "t([[[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]])"),
    ("ops.HSVToRGB()", "abs(x(1, 2, 2, 3))"),
    ("ops.HSVToRGB()", "abs(x(2, 2, 3))"),
    ("ops.operations.GridSampler2D()", "x(1, 2, 4, 5), x(1, 2, 3, 2)"),
    ("ops.operations.GridSampler2D('nearest', 'border', True)", "x(1, 2, 4, 5), x(1, 2, 3, 2) * 1.4"),
    ("ops.operations.GridSampler3D()", "x(1, 2, 3, 4, 5), x(1, 2, 2, 2, 3)"),
    ("ops.operations.AffineGrid()", "x(1, 2, 3), (1, 3, 2, 3)"),
    ("ops.operations.AffineGrid()", "x(1, 3, 4), (1, 1, 2, 1, 3)"),
    ("ops.operations.AffineGrid(True)", "x(1, 2, 3), (1, 3, 2, 3)"),
    ("ops.operations.AffineGrid(True)", "x(1, 3, 4), (1, 1, 2, 1, 3)"),
    (
        "written(3, ops.ApplyAdaMax())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, 0.5, 0.1, 0.9, 0.99, 1e-8, x(3, 2, seed=2)",
    ),
    (
        "written(3, ops.ApplyAdadelta())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, 0.1, 0.9, 1e-6, x(3, 2, seed=2)",
    ),
    ("written(2, ops.ApplyAdagradV2(1e-3))", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, 0.1, x(3, 2, seed=2)"),
    ("written(2, ops.ApplyAdagradV2(1e-3, False))", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, 0.1, x(3, 2, seed=2)"),
    (
        "written(4, ops.ApplyAdamWithAmsgradV2())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, 0.5, 0.5, 0.1, 0.9, 0.99, 1e-6, x(3, 2, seed=2)",
    ),
    ("written(2, ops.ApplyAddSign())", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, 0.1, 1.1, 0.9, 0.8, x(3, 2, seed=2)"),
    ("written(2, ops.ApplyPowerSign())", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, 0.1, 1.1, 0.9, 0.8, x(3, 2, seed=2)"),
    (
        "written(4, ops.ApplyCenteredRMSProp())",
        "x(3, 2), x(3, 2, seed=5) * 0.1, abs(x(3, 2, seed=1)) + 0.1 + 1, abs(x(3, 2, seed=1)) + 0.1, x(3, 2, seed=2), 0.1, 0.9, 0.5, 0.001",
    ),
    ("written(2, ops.ApplyProximalAdagrad())", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, 0.1, 0.01, 0.2, x(3, 2, seed=2)"),
    ("written(1, ops.ApplyProximalGradientDescent())", "x(3, 2), 0.1, 0.5, 0.2, x(3, 2, seed=2)"),
    (
        "written(2, ops.AdamNoUpdateParam())",
        "abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, t(0.5), t(0.5), t(0.1), t(0.9), t(0.99), t(1e-6), x(3, 2, seed=2)",
    ),
    (
        "written(3, ops.FusedSparseAdam())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, t([0.5]), t([0.5]), t([0.1]), t([0.9]), t([0.99]), t([1e-6]), x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(3, ops.FusedSparseLazyAdam())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, t([0.5]), t([0.5]), t([0.1]), t([0.9]), t([0.99]), t([1e-6]), x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(3, ops.FusedSparseLazyAdam(use_nesterov=True))",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, t([0.5]), t([0.5]), t([0.1]), t([0.9]), t([0.99]), t([1e-6]), x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(3, ops.FusedSparseAdam())",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, t([0.5]), t([0.5]), t([0.1]), t([0.9]), t([0.99]), t([1e-6]), x(2, 2, seed=2), t([1, 1], 'int32')",
    ),
    (
        "written(3, ops.FusedSparseFtrl(0.1, 0.01, 0.1, -0.5))",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(3, ops.SparseApplyFtrl(0.1, 0.01, 0.1, -0.5))",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, abs(x(3, 2, seed=1)) + 0.1, x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(2, ops.SparseApplyAdagrad(0.1))",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    (
        "written(2, ops.SparseApplyAdagradV2(0.1, 1e-3))",
        "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, x(2, 2, seed=2), t([2, 0], 'int32')",
    ),
    ("written(2, ops.SparseApplyAdagrad(0.1))", "x(3, 2), abs(x(3, 2, seed=1)) + 0.1, x(2, 3), t([2, 0], 'int32')"),
    ("ops.SegmentSum()", "x(4, 2), t([0, 0, 2, 2], 'int32')"),
    ("ops.SegmentMean()", "x(4, 2), t([0, 0, 2, 2], 'int32')"),
    ("ops.SegmentMax()", "x(4, 2), t([0, 0, 2, 2], 'int32')"),
    ("ops.SegmentMin()", "x(4, 2), t([0, 0, 2, 2], 'int32')"),
    ("ops.SegmentProd()", "x(4, 2), t([0, 0, 2, 2], 'int32')"),
    ("ops.SegmentSum()", "x(4), t([0, 1, 1, 3], 'int64')"),
    ("ops.SegmentSum()", "x(4), t([0, 1, 1], 'int64')"),
    ("lambda v: ops.SparseToDense()(t([[0, 1], [1, 2]], 'int32'), v, (3, 4))", "x(2)"),
    ("lambda v, d: ops.SparseTensorDenseMatmul()(t([[0, 1], [1, 2]], 'int32'), v, (3, 4), d)", "x(2), x(4, 2)"),
    (
        "lambda v, d: ops.SparseTensorDenseMatmul(True, True)(t([[0, 1], [1, 2], [1, 0]], 'int64'), v, (3, 4), d)",
        "x(3), x(2, 3)",
    ),
    (
        "lambda v, d: ops.SparseTensorDenseAdd()(t([[0, 1], [1, 2]], 'int64'), v, t([3, 4], 'int64'), d)",
        "x(2), x(3, 4)",
    ),
    (
        "lambda v: ops.SparseSlice()(t([[0, 1], [1, 2], [2, 0]], 'int64'), v, t([3, 4], 'int64'), t([1, 0], 'int64'), t([2, 3], 'int64'))",
        "x(3)",
    ),
    ("lambda v: ops.Coalesce()(t([[0, 0, 1], [1, 1, 2]], 'int64'), v, t([3, 4], 'int64'))", "x(3)"),
    (
        "lambda v: ops.MatrixDiagV3('RIGHT_LEFT')(v, t([-1, 1], 'int32'), t(3, 'int32'), t(3, 'int32'), t(9.0))",
        "x(2, 3, 3)",
    ),
    ("lambda v: ops.MatrixDiagPartV3('RIGHT_LEFT')(v, t([-2, 1], 'int32'), t(9.0))", "x(2, 3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3('RIGHT_LEFT')(v, d, t([-1, 2], 'int32'))", "x(2, 3, 4), x(2, 4, 3, seed=1)"),
    (
        "lambda v: ops.MatrixDiagV3('LEFT_RIGHT')(v, t([-1, 1], 'int32'), t(3, 'int32'), t(3, 'int32'), t(9.0))",
        "x(2, 3, 3)",
    ),
    ("lambda v: ops.MatrixDiagPartV3('LEFT_RIGHT')(v, t([-2, 1], 'int32'), t(9.0))", "x(2, 3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3('LEFT_RIGHT')(v, d, t([-1, 2], 'int32'))", "x(2, 3, 4), x(2, 4, 3, seed=1)"),
    (
        "lambda v: ops.MatrixDiagV3('LEFT_LEFT')(v, t([-1, 1], 'int32'), t(3, 'int32'), t(3, 'int32'), t(9.0))",
        "x(2, 3, 3)",
    ),
    ("lambda v: ops.MatrixDiagPartV3('LEFT_LEFT')(v, t([-2, 1], 'int32'), t(9.0))", "x(2, 3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3('LEFT_LEFT')(v, d, t([-1, 2], 'int32'))", "x(2, 3, 4), x(2, 4, 3, seed=1)"),
    (
        "lambda v: ops.MatrixDiagV3('RIGHT_RIGHT')(v, t([-1, 1], 'int32'), t(3, 'int32'), t(3, 'int32'), t(9.0))",
        "x(2, 3, 3)",
    ),
    ("lambda v: ops.MatrixDiagPartV3('RIGHT_RIGHT')(v, t([-2, 1], 'int32'), t(9.0))", "x(2, 3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3('RIGHT_RIGHT')(v, d, t([-1, 2], 'int32'))", "x(2, 3, 4), x(2, 4, 3, seed=1)"),
    ("lambda v: ops.MatrixDiagV3()(v, t(1, 'int32'), t(-1, 'int32'), t(-1, 'int32'), t(9.0))", "x(2, 3)"),
    ("lambda v: ops.MatrixDiagV3()(v, t([-1, 0], 'int32'), t(4, 'int32'), t(3, 'int32'), t(9.0))", "x(2, 3)"),
    ("lambda v: ops.MatrixDiagV3()(v, t([-1, 0], 'int32'), t(4, 'int32'), t(4, 'int32'), t(9.0))", "x(2, 3)"),
    ("lambda v: ops.MatrixDiagPartV3()(v, t(0, 'int32'), t(9.0))", "x(3, 4)"),
    ("lambda v: ops.MatrixDiagPartV3()(v, t(-1, 'int32'), t(9.0))", "x(3, 4)"),
    ("lambda v: ops.MatrixDiagPartV3()(v, t(5, 'int32'), t(9.0))", "x(3, 4)"),
    ("lambda v, d: ops.MatrixSetDiagV3()(v, d, t(1, 'int32'))", "x(3, 4), x(3, seed=1)"),
    ("ops.FillDiagonal(9.0)", "x(3, 4)"),
    ("ops.FillDiagonal(9.0, True)", "x(6, 2)"),
    ("ops.FillDiagonal(9.0)", "x(6, 2)"),
    ("ops.FillDiagonal(2.0)", "x(2, 2, 2)"),
    ("ops.FillDiagonal(2.0)", "x(2, 3, 2)"),
    ("ops.FillDiagonal(2.0)", "x(2)"),
    ("ops.operations.UnravelIndex()", "t([3, 5], 'int32'), t([2, 3], 'int32')"),
    ("ops.operations.UnravelIndex()", "t(5, 'int64'), t([2, 1, 3], 'int64')"),
    ("ops.operations.TrilIndices(2, 3)", ""),
    ("ops.operations.TriuIndices(2, 3, 1, ms.int64)", ""),
    ("ops.operations.TriuIndices(2, 3.0)", ""),
    ("ops.BesselJ0()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselJ0()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselJ1()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselJ1()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselK0()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselK0()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselK0e()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselK0e()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselK1()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselK1()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselK1e()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselK1e()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselY0()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselY0()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselY1()", "abs(x(8)) * 20 + 0.01"),
    ("ops.BesselY1()", "t([0.1, 2.0, 7.99, 8.01, 1000.0])"),
    ("ops.BesselJ1()", "x(8) * 12"),
    ("ops.BesselJ0()", "t([1, 2], 'int32')"),
    ("lambda v: ops.Betainc()(t([0.5, 2.0]), t([0.5, 3.0]), v)", "t([0.2, 0.7])"),
    ("ops.Betainc()", "t([0.2]), t([1.0, 2.0]), t([0.7])"),
    ("lambda v: ops.Bincount()(t([0, 1, 1, 5], 'int32'), t(4, 'int32'), v)", "x(4)"),
    ("ops.Bincount()", "t([0, 1, 1, 5], 'int32'), t(7, 'int32'), t([], 'int32')"),
    ("ops.Bincount()", "t([0, 1], 'int32'), t(7, 'int32'), x(3)"),
    ("ops.operations.Bucketize([0.0, 0.5, 1.0])", "x(5)"),
    ("ops.operations.Bucketize([0.0, 1.0])", "t([[0, 1], [-2, 5]], 'int32')"),
    ("ops.operations.Bucketize(1.0)", "x(5)"),
    ("ops.ListDiff()", "t([1, 2, 3, 4], 'int32'), t([2, 4], 'int32')"),
    ("ops.ListDiff(ms.int64)", "x(4), x(2)"),
    ("ops.ListDiff()", "x(4, 1), x(2)"),
    ("lambda v: ops.NthElement()(v, t(1, 'int32'))", "x(2, 4)"),
    ("ops.NthElement(True)", "x(2, 4), 1"),
    ("ops.NthElement()", "x(2, 4), 4"),
    ("ops.Histogram(4)", "x(9)"),
    ("ops.Histogram(4, 0.0, 1.0)", "t([0, 1, 1, 3], 'int32')"),
    ("ops.Histogram(0)", "x(9)"),
    ("ops.Histogram(3, 1.0, 0.0)", "x(9)"),
    ("lambda a, v: ops.IndexPut(1)(a, v, (t([0, 0], 'int32'), t([1, 1], 'int32')))", "x(3, 4), x(2, seed=1)"),
    ("lambda a, v: ops.IndexPut()(a, v, [t([0, 2], 'int32')])", "x(3, 4), x(1, seed=1)"),
    ("lambda a, v: ops.IndexPut()(a, v, (t([0, 2], 'int64'), t([1], 'int64')))", "x(3, 4), x(2, seed=1)"),
    ("lambda a, v: ops.IndexPut()(a, v, (t([0], 'int32'), t([1], 'int32'), t([1], 'int32')))", "x(3, 4), x(1, seed=1)"),
    ("written(1, lambda p, u: ops.InplaceIndexAdd(0)(p, t([0, 2], 'int32'), u))", "x(3, 2), x(2, 2)"),
    ("ops.InplaceUpdateV2()", "x(3, 2), (0, 2), x(2, 2, seed=1)"),
    ("ops.LowerBound()", "t([[1.0, 2.0, 2.0, 3.0]]), t([[2.0, 5.0, 0.0]])"),
    ("ops.UpperBound(ms.int64)", "t([[1.0, 2.0, 2.0, 3.0], [0, 1, 2, 3]]), t([[2.0, 5.0, 0.0], [2.0, 1.0, 0.0]])"),
    ("ops.UpperBound()", "t([1.0, 2.0]), t([2.0])"),
    ("ops.LowerBound(ms.float32)", "t([[1.0, 2.0]]), t([[2.0]])"),
    ("ops.RaggedRange(ms.int64)", "t([2, 5], 'int32'), t([8, 2], 'int32'), t([3, -1], 'int32')"),
    ("ops.RaggedRange(ms.int32)", "t([0.5]), t([2.0]), t([0.7])"),
    ("ops.RaggedRange(ms.float32)", "t([0.5]), t([2.0]), t([0.7])"),
    ("ops.UniqueConsecutive(True, True)", "t([1, 1, 2, 1], 'int32')"),
    ("ops.UniqueConsecutive(True, True, 0)", "t([[1, 1], [1, 1], [2, 1]], 'int32')"),
    ("ops.InvertPermutation()", "(2, 0, 1)"),
    ("ops.InvertPermutation()", "t([2, 0, 1], 'int32')"),
    ("ops.InvertPermutation()", "(2, 0, 0)"),
    ("ops.InvertPermutation()", "(2.0, 0, 1)"),
    ("ops.SubAndFilter()", "t([1, 2, 3, 8], 'int32'), 5, 1"),
    ("ops.CompareAndBitpack()", "x(2, 8), t(0.0)"),
    ("ops.CompareAndBitpack()", "x(2, 7), t(0.0)"),
    (
        "lambda v: written(1, lambda p, u: ops.operations.ScatterAddWithAxis()(p, t([[0, 1]], 'int32'), u))(v, v[:1])",
        "x(3, 2)",
    ),
    ("ops.operations.ScatterAddWithAxis(1)", "x(3, 2), t([[0], [1]], 'int32'), x(2, 1)"),
    ("ops.ParallelConcat()", "(x(1, 2), x(1, 2, seed=1))"),
    ("ops.ParallelConcat()", "(x(2, 2), x(2, 2))"),
    ("ops.operations.Expand()", "x(2, 1), t([2, 3], 'int32')"),
    ("ops.operations.ConjugateTranspose()", "x(2, 3), (1, 0)"),
    ("lambda a: ops.operations.IdentityN()((a, a * 2))", "x(2)"),
    ("ops.operations.TransposeExtView()", "x(2, 3), 0, 1"),
    ("ops.operations.TransposeView()", "x(2, 3, 1), (2, 0, 1)"),
    ("ops.operations.SelectView()", "x(2, 3), 1, 1"),
    ("written(1, lambda p, u: ops.operations.CopyWithSlice()(p, u))", "x(2, 2), x(2, 2, seed=1)"),
    ("ops.BlackmanWindow()", "t(5, 'int32')"),
    ("ops.BlackmanWindow(False, ms.float64)", "t(6, 'int64')"),
    ("ops.HammingWindow()", "t([5], 'int32')"),
    ("ops.HammingWindow(False, 0.5, 0.4)", "t([6], 'int32')"),
    ("ops.HammingWindow()", "t(5, 'int32')"),
    ("ops.BartlettWindow()", "t(5, 'int32')"),
    ("ops.BartlettWindow(False)", "t(6, 'int32')"),
    ("ops.BartlettWindow()", "5"),
    ("lambda v: ops.CumulativeLogsumexp()(v, t(0, 'int32'))", "x(4)"),
    ("lambda v: ops.CumulativeLogsumexp(True, True)(v, t(-1, 'int32'))", "x(2, 4)"),
    ("lambda v: ops.CumulativeLogsumexp(False, True)(v, t(1, 'int32'))", "x(2, 4)"),
    ("ops.CumulativeLogsumexp()", "x(4), 0"),
    ("ops.NuclearNorm()", "x(2, 3)"),
    ("ops.NuclearNorm([0, 1], True)", "x(2, 3)"),
    ("ops.NuclearNorm([0, 2])", "x(2, 2, 3)"),
    ("ops.operations.Pdist(2.0)", "x(3, 2)"),
    ("ops.operations.Pdist(1.0)", "x(3, 2)"),
    ("ops.operations.Pdist(3.0)", "x(3, 2)"),
    ("ops.operations.Pdist(-1.0)", "x(3, 2)"),
    ("ops.Eps()", "x(3)"),
    ("ops.Eps()", "t([1.0], 'float16')"),
    ("ops.CheckNumerics()", "x(3)"),
    ("ops.CheckNumerics()", "x(3) / 0"),
    ("lambda v: ops.ComplexAbs()(ops.operations.Complex()(v, v * 2))", "x(3)"),
    ("lambda v: ops.STFT(4, 2, 4, False, True, False)(v, t([1.0, 1.0, 0.5, 0.25]))", "x(10)"),
    ("lambda v: ops.STFT(4, 3, 2, True, False, False)(v, t([1.0, 0.5]))", "x(2, 10)"),
    ("lambda v: ops.real(ops.FFTWithSize(1, False, True, 'backward', True)(v))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(1, False, True, 'backward', True)(v))", "x(2, 5)"),
    ("lambda v: ops.real(ops.FFTWithSize(1, True, False, 'backward')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(1, False, False, 'backward')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.real(ops.FFTWithSize(2, False, True, 'ortho', True)(v))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(2, False, True, 'ortho', True)(v))", "x(2, 5)"),
    ("lambda v: ops.real(ops.FFTWithSize(2, True, False, 'ortho')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(2, False, False, 'ortho')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.real(ops.FFTWithSize(1, False, True, 'forward', False)(v))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(1, False, True, 'forward', False)(v))", "x(2, 5)"),
    ("lambda v: ops.real(ops.FFTWithSize(1, True, False, 'forward')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.imag(ops.FFTWithSize(1, False, False, 'forward')(ops.operations.Complex()(v, v * v)))", "x(2, 5)"),
    ("lambda v: ops.FFTWithSize(1, True, True, signal_sizes=(5,))(ops.operations.Complex()(v, v * v))", "x(2, 3)"),
    ("lambda v: ops.FFTWithSize(1, True, True)(ops.operations.Complex()(v, v * v))", "x(2, 3)"),
    ("ops.FFTWithSize(1, False, True, 'zz')", "x(2, 3)"),
    ("lambda v: ops.Lstsq()(v, x(4, 1))", "x(4, 2)"),
    ("ops.Lstsq(l2_regularizer=0.5)", "x(4, 2), x(4, 1)"),
    ("ops.Lstsq()", "x(4, 2), x(4)"),
    ("ops.Lstsq()", "x(4, 2), x(3, 1)"),
    ("lambda v: ops.operations.MatrixSolveLs()(v, x(4, 1), t(0, 'float64'))", "x(4, 2)"),
    ("lambda v: ops.operations.MatrixSolveLs()(v, x(4, 1), t(0.5, 'float64'))", "x(4, 2)"),
    ("lambda v: ops.operations.MatrixSolveLs()(v, x(2, 1), t(0.5, 'float64'))", "x(2, 4)"),
    ("ops.MatrixTriangularSolve()", "x(3, 3) + 2, x(3, 2)"),
    ("ops.MatrixTriangularSolve(False, True)", "x(3, 3) + 2, x(3, 2)"),
    ("ops.MatrixTriangularSolve()", "x(3, 2), x(3, 2)"),
    ("lambda v: ops.LuSolve()(v, x(3, 3, seed=1), t([2, 2, 3], 'int32'))", "x(3, 1)"),
    ("lambda v: ops.LuUnpack()(v, t([2, 3, 3], 'int32'))", "x(3, 3)"),
    ("lambda v: ops.LuUnpack()(v, t([2, 3], 'int32'))", "x(3, 2)"),
    ("ops.Orgqr()", "x(3, 2), x(2)"),
    ("ops.operations.TridiagonalMatMul()", "x(1, 3), x(1, 3, seed=1), x(1, 3, seed=2), x(3, 2)"),
    ("ops.operations.TridiagonalMatMul()", "x(1, 3), x(1, 3, seed=1), x(1, 2, seed=2), x(3, 2)"),
    (
        "lambda v: ops.real(ops.operations.MatrixLogarithm()(ops.operations.Complex()(v + ms.ops.eye(3, 3, ms.float32) * 3, v)))",
        "x(3, 3)",
    ),
    ("ops.operations.MatrixLogarithm()", "x(3, 3)"),
    ("lambda v: [abs(e) for e in ops.Qr()(v)]", "x(3, 2)"),
    ("lambda v: [abs(e) for e in ops.Qr(True)(v)]", "x(3, 2)"),
    ("lambda v: ops.MultiMarginLoss(2, 0.5, 'mean')(v, t([0, 2], 'int64'), abs(x(3)))", "x(2, 3)"),
    ("lambda v: ops.MultiMarginLoss(2, 0.5, 'none')(v, t([0, 2], 'int64'), abs(x(3)))", "x(2, 3)"),
    ("lambda v: ops.MultiMarginLoss(2, 0.5, 'sum')(v, t([0, 2], 'int64'), abs(x(3)))", "x(2, 3)"),
    ("lambda v: ops.MultiMarginLoss()(v, t([0, 2], 'int64'))", "x(2, 3)"),
    ("ops.MultiMarginLoss(3)", "x(2, 3), t([0, 2], 'int64')"),
    ("ops.MultiMarginLoss(reduction='zz')", "x(2, 3), t([0, 2], 'int64')"),
    ("ops.MultiMarginLoss()", "x(2, 3), t([0, 2, 1], 'int64')"),
    (
        "lambda v: ops.CTCLossV2()(ops.log_softmax(v, -1), t([[1, 2], [3, 1]], 'int32'), t([4, 3], 'int32'), t([2, 1], 'int32'))[0]",
        "x(4, 2, 4)",
    ),
    (
        "lambda v: ops.CTCLossV2()(ops.log_softmax(v, -1), t([[1, 2], [3, 1]], 'int32'), t([4, 4], 'int32'), t([2, 2], 'int32'))[1][:, :, :2]",
        "x(4, 2, 4)",
    ),
    ("lambda v: ops.CTCGreedyDecoder()(v, t([5, 3], 'int32'))", "x(5, 2, 3)"),
    (
        "lambda v: ops.CTCGreedyDecoder()(v, t([5], 'int32'))",
        "t([[[3.0, 0, 0]], [[3.0, 0, 0]], [[0, 0, 2.0]], [[3.0, 0, 0]], [[0, 2.0, 0]]])",
    ),
    ("lambda v: ops.CTCGreedyDecoder(False)(v, t([5, 3], 'int32'))", "x(5, 2, 3)"),
    (
        "lambda v: ops.CTCGreedyDecoder(False)(v, t([5], 'int32'))",
        "t([[[3.0, 0, 0]], [[3.0, 0, 0]], [[0, 0, 2.0]], [[3.0, 0, 0]], [[0, 2.0, 0]]])",
    ),
    (
        "ops.EditDistance()",
        "t([[0, 0], [1, 0], [1, 1]], 'int64'), t([1, 2, 3], 'int32'), t([2, 2], 'int64'), t([[0, 0], [0, 1], [1, 0]], 'int64'), t([1, 2, 2], 'int32'), t([2, 2], 'int64')",
    ),
    (
        "ops.EditDistance(False)",
        "t([[0, 0], [1, 0], [1, 1]], 'int64'), t([1, 2, 3], 'int32'), t([2, 2], 'int64'), t([[0, 0], [0, 1], [1, 0]], 'int64'), t([1, 2, 2], 'int32'), t([2, 2], 'int64')",
    ),
    ("lambda v: ops.NoRepeatNGram(2)(t([[[1, 2, 1, 2, 1], [0, 1, 0, 3, 0]]], 'int32'), v)", "x(1, 2, 4)"),
    ("lambda v: ops.NoRepeatNGram(3)(t([[[1, 2, 1, 2, 1], [0, 1, 0, 3, 0]]], 'int32'), v)", "x(1, 2, 4)"),
    ("ops.NoRepeatNGram(0)", "t([[[1, 2]]], 'int32'), x(1, 1, 4)"),
    (
        "lambda o, s: ops.NonMaxSuppressionWithOverlaps()(abs(o), s, t(3, 'int32'), t(0.6), t(0.1))",
        "x(4, 4), abs(x(4, seed=3))",
    ),
    (
        "lambda b, s: ops.CombinedNonMaxSuppression()(b, s, t(2, 'int32'), t(5, 'int32'), t(0.5), t(0.05))",
        "x(2, 4, 1, 4), abs(x(2, 4, 2, seed=3))",
    ),
    (
        "lambda b, s: ops.CombinedNonMaxSuppression()(b, s, t(2, 'int32'), t(3, 'int32'), t(0.3), t(0.05))",
        "abs(x(1, 5, 2, 4)), abs(x(1, 5, 2, seed=3))",
    ),
    (
        "lambda b, s: ops.CombinedNonMaxSuppression(True, False)(b, s, t(2, 'int32'), t(5, 'int32'), t(0.5), t(0.05))",
        "x(2, 4, 1, 4), abs(x(2, 4, 2, seed=3))",
    ),
    (
        "lambda b, s: ops.CombinedNonMaxSuppression(True, False)(b, s, t(2, 'int32'), t(3, 'int32'), t(0.3), t(0.05))",
        "abs(x(1, 5, 2, 4)), abs(x(1, 5, 2, seed=3))",
    ),
    (
        "lambda v, w: ops.LSTM(2, 3, 1, False, False, 0.0)(v, x(1, 1, 3), x(1, 1, 3, seed=1), w)[:3]",
        "x(2, 1, 2), x(60, 1, 1)",
    ),
    ("ops.LSTM(0, 3, 1, False, False, 0.0)", "x(2, 1, 2), x(1, 1, 3), x(1, 1, 3), x(60, 1, 1)"),
    ("ops.LSTM(2, 3, 1, 1, False, 0.0)", "x(2, 1, 2), x(1, 1, 3), x(1, 1, 3), x(84, 1, 1)"),
]


def answer(ms: Any, function: str, arguments: str) -> Any:
    """What a call gives, or the name of the class of what it raises."""
    known = names(ms)
    try:
        given = eval(f"({arguments}{',' if arguments else ''})", known)
        return recorded_calls.shown(eval(function, known)(*given))
    except Exception as error:
        return f"! {type(error).__name__}"


def main() -> None:
    import mindspore

    warnings.simplefilter("ignore")
    lines = [json.dumps(answer(mindspore, *call)) for call in CALLS]
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
