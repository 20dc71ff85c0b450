"""Operator classes that few programs use: their modules are imported when the first name of them is read."""

from __future__ import annotations

from typing import Final

#: module -> its operator classes
OPERATORS: Final[dict[str, str]] = {
    "weft.ops.counting": (
        "Bincount Bucketize CompareAndBitpack ConfusionMatrix ConjugateTranspose CopyWithSlice CountNonZero Expand "
        "Histogram HistogramFixedWidth IdentityN IndexPut InplaceIndexAdd InplaceUpdateV2 InvertPermutation ListDiff "
        "LowerBound NthElement ParallelConcat Quantile RaggedRange ScatterAddWithAxis ScatterNonAliasingAdd "
        "SelectView SplitV SubAndFilter TransposeExtView TransposeView UniqueConsecutive UpperBound"
    ),
    "weft.ops.decompositions": (
        "Eig Geqrf Lstsq LuSolve LuUnpack MatrixLogarithm MatrixSolveLs MatrixTriangularSolve Orgqr Ormqr Qr "
        "TridiagonalMatMul"
    ),
    "weft.ops.kernels": (
        "AddV2 DeformableOffsets HSigmoidGrad MaximumGrad MinimumGrad NPUClearFloatStatusV2 NPUGetFloatStatusV2 "
        "PReLUGrad PSROIPooling Uniform"
    ),
    "weft.ops.labels": (
        "CTCGreedyDecoder CTCLossV2 CombinedNonMaxSuppression EditDistance MultiMarginLoss MultilabelMarginLoss "
        "NoRepeatNGram NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps TripletMarginLoss"
    ),
    "weft.ops.quantized": "DynamicQuantExt QuantBatchMatmul QuantV2 WeightQuantBatchMatmul",
    "weft.ops.reinforced": "BatchAssign DiscountedReturn",
    "weft.ops.rearranging": (
        "BatchToSpace BatchToSpaceND BatchToSpaceNDV2 ChannelShuffle Col2Im DataFormatDimMap DataFormatVecPermute "
        "DepthwiseConv2dNative ExtractImagePatches ExtractVolumePatches Im2Col SpaceToBatch SpaceToBatchND"
    ),
    "weft.ops.recurrences": "DynamicGRUV2 DynamicRNN LSTM",
    "weft.ops.resampling": (
        "AdjustHue AdjustSaturation AffineGrid GridSampler2D GridSampler3D HSVToRGB RGBToHSV ResizeArea ResizeBicubic "
        "ResizeNearestNeighborV2 ScaleAndTranslate UpsampleNearest3D UpsampleTrilinear3D"
    ),
    "weft.ops.draws": (
        "Cauchy ComputeAccidentalHits Dropout2D Dropout3D LogNormalReverse LogUniformCandidateSampler "
        "MultinomialWithReplacement NonDeterministicInts ParameterizedTruncatedNormal RandomGamma RandomPoisson "
        "Randperm RandpermV2 UniformCandidateSampler"
    ),
    "weft.ops.segments": (
        "Coalesce FillDiagonal MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 SegmentMax SegmentMean SegmentMin "
        "SegmentProd SegmentSum SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
        "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments SparseSlice "
        "SparseTensorDenseAdd SparseTensorDenseMatmul SparseToDense TrilIndices TriuIndices UnravelIndex"
    ),
    "weft.ops.signals": (
        "Assert BartlettWindow BlackmanWindow CheckNumerics ComplexAbs CumulativeLogsumexp Eps EuclideanNorm "
        "FFTWithSize GLU HammingWindow LerpScalar LogSoftmaxExt NuclearNorm Pdist Roll STFT"
    ),
    "weft.ops.sparse_operators": (
        "SparseAdd SparseAddmm SparseConcat SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul "
        "SparseFillEmptyRows SparseReorder SparseReshape SparseSoftmax SparseSparseMaximum SparseSparseMinimum "
        "SparseSplit SparseToDenseV2 Sspaddmm"
    ),
    "weft.ops.sparse_matrices": (
        "CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix SparseMatrixAdd "
        "SparseMatrixMatMul SparseMatrixNNZ SparseMatrixSoftmax SparseMatrixSparseMatMul SparseMatrixTranspose "
        "SparseTensorToCSRSparseMatrix"
    ),
    "weft.ops.ragged": (
        "DenseToDenseSetOperation DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SetSize "
        "SparseCountSparseOutput"
    ),
    "weft.ops.special": "BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc",
    "weft.ops.windows": (
        "AdaptiveAvgPool3D AdaptiveMaxPool2D AdaptiveMaxPool3D Dilation2D FractionalAvgPool FractionalMaxPool "
        "FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize MaxPool3DWithArgmax MaxPoolWithArgmaxV2 "
        "MaxUnpool2D MaxUnpool3D"
    ),
    "weft.ops.updates": (
        "AdamNoUpdateParam ApplyAdaMax ApplyAdadelta ApplyAdagradDA ApplyAdagradV2 ApplyAdamWithAmsgrad "
        "ApplyAdamWithAmsgradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyKerasMomentum ApplyPowerSign "
        "ApplyProximalAdagrad ApplyProximalGradientDescent FusedCastAdamWeightDecay FusedSparseAdam FusedSparseFtrl "
        "FusedSparseLazyAdam FusedSparseProximalAdagrad FusedWeightScaleApplyMomentum LARSUpdate SparseApplyAdadelta "
        "SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyFtrl SparseApplyFtrlV2 SparseApplyProximalAdagrad "
        "SparseApplyRMSProp"
    ),
}
