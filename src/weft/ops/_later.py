"""What few programs use: its modules are imported when the first name of them is read."""

from __future__ import annotations

from typing import Final

from weft.lazily import by_module

#: module -> its operator classes and functions
LATER: Final = by_module("""
weft.ops.attention: FlashAttentionScore PagedAttention PagedAttentionMask PromptFlashAttention ReshapeAndCache
    flash_attention_score
weft.ops.bessel: BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 bessel_j0 bessel_j1 bessel_k0
    bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1
weft.ops.collectives: AllGather AllReduce AlltoAll AlltoAllV Barrier Broadcast CollectiveGather CollectiveScatter
    NeighborExchange Receive Reduce ReduceOp ReduceScatter Send
weft.ops.counting: Bincount Bucketize CompareAndBitpack ConfusionMatrix ConjugateTranspose CopyWithSlice CountNonZero
    Expand Histogram HistogramFixedWidth IdentityN IndexPut InplaceIndexAdd InplaceUpdateV2 InvertPermutation ListDiff
    LowerBound NthElement ParallelConcat Quantile RaggedRange ScatterAddWithAxis ScatterNonAliasingAdd SelectView SplitV
    SubAndFilter TransposeExtView TransposeView UniqueConsecutive UpperBound
weft.ops.decompositions: Eig Geqrf Lstsq LuSolve LuUnpack MatrixLogarithm MatrixSolveLs MatrixTriangularSolve Orgqr
    Ormqr Qr TridiagonalMatMul
weft.ops.detection: BoundingBoxDecode BoundingBoxEncode CheckValid IOU NMSWithMask ROIAlign RandomChoiceWithMask
    bounding_box_decode bounding_box_encode check_valid iou nms_with_mask random_choice_with_mask roi_align
weft.ops.distances: Pdist bidense combinations cosine_similarity dist pdist
weft.ops.draws: Cauchy ComputeAccidentalHits Dropout2D Dropout3D LogNormalReverse LogUniformCandidateSampler
    MultinomialWithReplacement NonDeterministicInts ParameterizedTruncatedNormal RandomGamma RandomPoisson Randperm
    RandpermV2 UniformCandidateSampler
weft.ops.dumping: TensorDump tensordump
weft.ops.experts: GroupedMatmul GroupedMatmulV4 moe_token_permute moe_token_unpermute
weft.ops.fourier: fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft
    irfft2 irfftn rfft rfft2 rfftfreq rfftn
weft.ops.fused: add_layer_norm add_rms_norm deformable_conv2d rotary_position_embedding swiglu
weft.ops.kernels: AddV2 DeformableOffsets HSigmoidGrad MaximumGrad MinimumGrad NPUClearFloatStatusV2 NPUGetFloatStatusV2
    PReLUGrad PSROIPooling Uniform
weft.ops.labels: CTCLossV2 CombinedNonMaxSuppression EditDistance MultiMarginLoss MultilabelMarginLoss
    NoRepeatNGram NonMaxSuppressionV3 NonMaxSuppressionWithOverlaps TripletMarginLoss
weft.ops.legacy: Morph ScalarCast bool_and bool_eq bool_not bool_or dict_getitem in_dict is_ is_not isinstance_
    list_append list_getitem list_len list_setitem make_dict make_list make_range make_slice make_tuple not_in_dict pack
    partial reduced_shape scalar_add scalar_cast scalar_div scalar_eq scalar_floordiv scalar_ge scalar_gt scalar_le
    scalar_log scalar_lt scalar_mod scalar_mul scalar_ne scalar_pow scalar_sub scalar_uadd scalar_usub shape_mul
    string_concat string_eq tensor_add tensor_div tensor_eq tensor_exp tensor_expm1 tensor_floordiv tensor_ge tensor_gt
    tensor_le tensor_lt tensor_mod tensor_mul tensor_ne tensor_pow tensor_slice tensor_sub tuple_equal tuple_getitem
    tuple_len tuple_reversed tuple_setitem typeof unpack
weft.ops.loops: ForiLoop Scan WhileLoop fori_loop scan while_loop
weft.ops.margins: multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
weft.ops.quantized: DynamicQuantExt QuantBatchMatmul QuantV2 WeightQuantBatchMatmul
weft.ops.ragged: DenseToDenseSetOperation DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SetSize
    SparseCountSparseOutput
weft.ops.rearranging: BatchToSpace BatchToSpaceND BatchToSpaceNDV2 ChannelShuffle Col2Im DataFormatDimMap
    DataFormatVecPermute DepthwiseConv2dNative ExtractImagePatches ExtractVolumePatches Im2Col SpaceToBatch
    SpaceToBatchND
weft.ops.recurrent: DynamicGRUV2 DynamicRNN LSTM
weft.ops.reinforced: BatchAssign DiscountedReturn
weft.ops.resampling: AdjustHue AdjustSaturation AffineGrid GridSampler2D GridSampler3D HSVToRGB RGBToHSV ResizeArea
    ResizeBicubic ResizeNearestNeighborV2 ScaleAndTranslate UpsampleNearest3D UpsampleTrilinear3D
weft.ops.sampling: choice_with_mask gumbel_softmax log_uniform_candidate_sampler uniform_candidate_sampler
weft.ops.segments: Coalesce FillDiagonal MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 SegmentMax SegmentMean SegmentMin
    SegmentProd SegmentSum SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
    SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments SparseSlice SparseTensorDenseAdd
    SparseTensorDenseMatmul SparseToDense TrilIndices TriuIndices UnravelIndex coalesce sparse_segment_mean
weft.ops.sequences: CTCGreedyDecoder CTCLoss ctc_greedy_decoder ctc_loss stft
weft.ops.signals: Assert BartlettWindow BlackmanWindow CheckNumerics ComplexAbs CumulativeLogsumexp Eps EuclideanNorm
    FFTWithSize GLU HammingWindow LerpScalar LogSoftmaxExt NuclearNorm Roll STFT
weft.ops.sparse_functions: coo2csr coo_abs coo_acos coo_acosh coo_add coo_asin coo_asinh coo_atan coo_atanh coo_ceil
    coo_concat coo_cos coo_cosh coo_exp coo_expm1 coo_floor coo_inv coo_isfinite coo_isinf coo_isnan coo_log coo_log1p
    coo_neg coo_relu coo_relu6 coo_round coo_sigmoid coo_sin coo_sinh coo_softsign coo_sqrt coo_square coo_tan coo_tanh
    coo_tensor_get_dense_shape coo_tensor_get_indices coo_tensor_get_values csr2coo csr_abs csr_acos csr_acosh csr_add
    csr_asin csr_asinh csr_atan csr_atanh csr_ceil csr_cos csr_cosh csr_div csr_exp csr_expm1 csr_floor csr_gather
    csr_inv csr_isfinite csr_isinf csr_isnan csr_log csr_log1p csr_mm csr_mul csr_mv csr_neg csr_reduce_sum csr_relu
    csr_relu6 csr_round csr_sigmoid csr_sin csr_sinh csr_softmax csr_softsign csr_sqrt csr_square csr_tan csr_tanh
    csr_tensor_get_dense_shape csr_tensor_get_indices csr_tensor_get_indptr csr_tensor_get_values csr_to_coo
    csr_to_dense make_coo_tensor make_csr_tensor make_row_tensor make_sparse_tensor row_tensor_get_dense_shape
    row_tensor_get_indices row_tensor_get_values
weft.ops.sparse_matrices: CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix SparseMatrixAdd
    SparseMatrixMatMul SparseMatrixNNZ SparseMatrixSoftmax SparseMatrixSparseMatMul SparseMatrixTranspose
    SparseTensorToCSRSparseMatrix
weft.ops.sparse_operators: SparseAdd SparseAddmm SparseConcat SparseDenseCwiseAdd SparseDenseCwiseDiv
    SparseDenseCwiseMul SparseFillEmptyRows SparseReorder SparseReshape SparseSoftmax SparseSparseMaximum
    SparseSparseMinimum SparseSplit SparseToDenseV2 Sspaddmm
weft.ops.summary: HistogramSummary ImageSummary ScalarSummary Summary TensorSummary collect_summaries
weft.ops.unpooling: adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d lp_pool1d lp_pool2d max_unpool1d
    max_unpool2d max_unpool3d
weft.ops.updates: AdamNoUpdateParam ApplyAdaMax ApplyAdadelta ApplyAdagradDA ApplyAdagradV2 ApplyAdamWithAmsgrad
    ApplyAdamWithAmsgradV2 ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyKerasMomentum ApplyPowerSign
    ApplyProximalAdagrad ApplyProximalGradientDescent FusedCastAdamWeightDecay FusedSparseAdam FusedSparseFtrl
    FusedSparseLazyAdam FusedSparseProximalAdagrad FusedWeightScaleApplyMomentum LARSUpdate SparseApplyAdadelta
    SparseApplyAdagrad SparseApplyAdagradV2 SparseApplyFtrl SparseApplyFtrlV2 SparseApplyProximalAdagrad
    SparseApplyRMSProp
weft.ops.windows: AdaptiveAvgPool3D AdaptiveMaxPool2D AdaptiveMaxPool3D Dilation2D FractionalAvgPool FractionalMaxPool
    FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize MaxPool3DWithArgmax MaxPoolWithArgmaxV2
    MaxUnpool2D MaxUnpool3D
""")
#: module -> its operator classes
OPERATORS: Final = {
    module: " ".join(name for name in names.split() if name[0].isupper()) for module, names in LATER.items()
}
