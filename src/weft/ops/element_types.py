"""The element types that MindSpore's functions take, and which take no numbers: see `weft.ops._accepting`.

A row stands here where MindSpore 2.10 refuses a type for what it is, whatever the device: its documentation lists the
types, or says what is raised. What only lacks a kernel on some device is computed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from weft.core import OPERATOR_CLASSES, Tensor
from weft.ops._accepting import accepting, parameter_at, parsed

#: `ops`, `mint`, `F` (`mint.nn.functional`), `linalg` and `mnp` are modules of MindSpore, `op` holds operator classes
ACCEPTED: Final = parsed("""
float32: ops.batch_dot ops.margin_ranking_loss
float16 float32: ops.adaptive_avg_pool1d ops.adaptive_max_pool1d ops.batch_norm ops.conv3d_transpose ops.dot ops.lrn
float16 float32: ops.prelu ops.relu6 F.mish F.prelu Tensor.dot op.ReLU6
float32 float64: ops.cholesky_solve ~ops.hypot ops.igamma ops.igammac ops.mvlgamma ops.nanquantile ops.nextafter
float32 float64: ops.pinv ops.polar ops.quantile ops.zeta mint.polar Tensor.cholesky_solve ~Tensor.hypot
float32 float64: Tensor.mvlgamma Tensor.nanquantile Tensor.nextafter Tensor.quantile
int32 int64: ~ops.lcm
float16 bfloat16 float32: ops.binary_cross_entropy ops.binary_cross_entropy_with_logits ops.conv3d ops.fast_gelu
float16 bfloat16 float32: ops.hardshrink ops.lerp ops.softshrink mint.addmm mint.lerp ~mint.logaddexp mint.std
float16 bfloat16 float32: mint.std_mean mint.var mint.var_mean F.binary_cross_entropy
float16 bfloat16 float32: F.binary_cross_entropy_with_logits F.hardshrink F.kl_div F.logsigmoid F.selu F.softshrink
float16 bfloat16 float32: Tensor.lerp op.FastGeLU
float16 float32 float64: ops.adaptive_avg_pool2d ~ops.approximate_equal ops.avg_pool1d ops.avg_pool2d ops.avg_pool3d
float16 float32 float64: ops.bessel_i0 ops.bessel_i0e ops.bessel_i1 ops.cdist ops.celu ops.deg2rad ops.digamma
float16 float32 float64: ops.einsum[1] ops.ger ops.i0 ops.iou ops.kl_div ops.logcumsumexp ops.lu_solve ops.mish
float16 float32 float64: ops.multinomial_with_replacement ops.polygamma[1] ops.rad2deg ops.random_categorical
float16 float32 float64: ops.softplus ops.softsign mint.cdist mnp.rint Tensor.deg2rad Tensor.digamma Tensor.ger
float16 float32 float64: Tensor.i0 Tensor.rad2deg op.Mish op.Softplus op.Softsign op.Rint op.L2Loss op.BesselI0e
float16 float32 float64: op.Digamma
int16 int32 int64: ~ops.gcd ~mint.gcd
int32 float16 float32: ops.histc ops.inplace_update Tensor.histc
floats: ops.ceil ops.dropout ops.group_norm ops.hinge_embedding_loss ops.logaddexp ops.logaddexp2 ops.softmax
floats: ops.softmin mint.bernoulli mint.ceil mint.softmax F.group_norm F.softmax F.softplus
floats: Tensor.bernoulli Tensor.ceil Tensor.logaddexp Tensor.logaddexp2 Tensor.softmax op.Ceil
float32 float64 complex: ops.cond ops.eig ops.eigvals ops.inverse ops.svd Tensor.inverse Tensor.svd
int16 uint8 float16 float32: ops.check_valid
int32 float16 float32 float64: ops.lgamma Tensor.lgamma
int64 float16 float32 float64: ops.addcdiv
float16 float32 float64 complex: ops.matrix_solve ops.renorm ~ops.xdivy ~Tensor.xdivy
int8 int16 int32 float16 float32: ops.fills
int8 int32 float16 float32 float64: ops.selu op.SeLU
int16 int32 int64 float32 float64: ops.median Tensor.median
int32 int64 float16 float32 float64: ~ops.fmax ~ops.fmin ~Tensor.fmax ~Tensor.fmin
floats complex: F.adaptive_avg_pool3d
int8 int32 int64 float16 bfloat16 float32: ops.conv1d ops.conv2d
int8 int32 uint8 float16 float32 float64: ~ops.truncate_mod
int16 int32 int64 float16 float32 float64: ops.addmv ops.addr ops.bucketize Tensor.addmv Tensor.addr
int8 int16 int32 uint8 float16 float32 float64: ops.index_add ops.inplace_index_add mint.index_add Tensor.index_add
bool signed uint8 float32 float64: ops.bernoulli ops.matrix_power Tensor.matrix_power
bool int64 floats complex: ops.exp ops.logsumexp ops.tensor_exp mint.exp mnp.exp mnp.logaddexp Tensor.exp Tensor.exp_
bool int64 floats complex: op.Exp
signed floats: ops.dropout1d ops.dropout2d ops.dropout3d ops.hardsigmoid op.HSigmoid
signed uint8 float16 float32 float64: ops.adaptive_avg_pool3d
integers: ops.bitwise_left_shift ops.bitwise_right_shift ops.invert mnp.invert Tensor.bitwise_left_shift op.LeftShift
integers: op.RightShift
int8 int32 int64 uint8 floats: ops.addcmul Tensor.addcmul
bool signed uint8 float16 bfloat16 float32: mint.logsumexp
bool signed uint8 float16 float32 float64: ops.argsort ops.msort ops.sort mint.addmv
bool int32 int64 floats complex: ops.sgn ops.sign mint.sign
int16 int32 int64 uint16 uint32 uint64 float16 float32 float64: ops.tensor_scatter_div
bool signed uint8 floats: ops.isclose mint.allclose mint.isclose mint.outer
bool int8 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32: mint.diff
integers float16 float32 float64: ops.diag_embed ops.diagonal_scatter ops.heaviside ops.max_pool2d ops.max_pool3d
integers float16 float32 float64: ops.multinomial Tensor.diagonal_scatter Tensor.heaviside Tensor.multinomial
integers floats: ops.bessel_i1e ops.copysign ops.inplace_add ops.inplace_sub ops.matrix_diag ops.scatter_nd_add
integers floats: ops.scatter_nd_div ops.scatter_nd_max ops.scatter_nd_min ops.scatter_nd_mul ops.scatter_nd_sub
integers floats: ops.tensor_scatter_max ops.tensor_scatter_min ops.tensor_scatter_mul ops.tensor_scatter_sub ops.top_k
integers floats: ops.topk mint.topk Tensor.copysign Tensor.topk op.BesselI1e
bool integers floats: ops.accumulate_n ops.aminmax ops.minimum ops.relu ops.select_scatter ops.tensor_scatter_elements
bool integers floats: ops.tril mint.minimum mint.scatter_add
integers float16 float32 float64 complex: ops.trace
integers floats complex: ops.count_nonzero ops.cov ops.cumsum ops.repeat_elements ops.repeat_interleave
integers floats complex: ops.scatter_max ops.scatter_min ops.scatter_update mnp.repeat Tensor.count_nonzero
integers floats complex: Tensor.repeat_interleave op.Conj
float32: mint.inverse linalg.inv => ValueError
integers: op.Invert
complex: ops.view_as_real
float32: linalg.qr
floats: F.leaky_relu
integers floats complex: ~ops.sub ~mnp.subtract
float16 float32: ops.affine_grid ops.deformable_conv2d ops.dist ops.intopk mint.batch_norm_stats
float32 float64: ops.ctc_loss Tensor.igamma Tensor.igammac
float16 bfloat16 float32: ops.cosine_similarity ops.soft_shrink Tensor.hardshrink Tensor.soft_shrink
float16 float32 float64: ops.coalesce[1] ops.fractional_max_pool3d ops.sparse_segment_mean Tensor.lu_solve
int32 float16 float32: Tensor.inplace_update
floats: ops.bernoulli_ext
float32 float64 complex: ops.dense_to_sparse_csr ops.orgqr ops.ormqr ops.stft Tensor.orgqr Tensor.ormqr Tensor.to_csr
float16 float32 float64 complex: Tensor.renorm
int8 int16 int32 float16 float32: Tensor.fills
int32 int64 float16 float32 float64: ops.fractional_max_pool2d
bool int64 floats complex: Tensor.logsumexp
signed uint8 float16 float32 float64: ops.lu_unpack Tensor.fill_diagonal
bool signed uint8 floats: ops.lp_pool1d ops.lp_pool2d ops.uniform_
int8 int16 int32 int64 uint8 uint16 float16 float32 float64: ops.crop_and_resize
bool int8 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32: ops.diff_ext
integers float16 float32 float64: ops.adaptive_max_pool3d ops.channel_shuffle ops.space_to_batch_nd
integers floats: ops.batch_to_space_nd ops.matrix_diag_part ops.matrix_set_diag ops.max_unpool1d ops.max_unpool2d
integers floats: ops.max_unpool3d Tensor.scatter_div Tensor.scatter_max Tensor.scatter_min Tensor.scatter_mul
integers floats: Tensor.scatter_sub Tensor.top_k
bool integers floats: ops.float_power_ext
integers float16 float32 float64 complex: Tensor.index_put
integers floats complex: mnp.count_nonzero Tensor.cov
integers: mnp.bitwise_not
float16 float32 float64: op.AdaptiveAvgPool2D op.BesselI0 op.BesselI1 op.CeLU
float32 float64: ~op.Hypot op.Igamma op.Igammac op.NextAfter op.Polar op.Zeta
bool signed uint8 float32 float64: op.MatrixPower
int32 int64 floats: ops.rrelu
float16 float32 float64: Tensor.random_categorical
alike: ops.addcdiv[1] ops.addcmul[1] ops.ger[1] ops.heaviside[1] ops.igamma[1] ops.igammac[1] ops.isclose[1]
alike: ops.nextafter[1] ops.polar[1] ops.zeta[1] ops.tensor_scatter_add[2] ops.tensor_scatter_div[2]
alike: ops.tensor_scatter_max[2] ops.tensor_scatter_min[2] ops.tensor_scatter_mul[2] ops.tensor_scatter_sub[2]
alike: Tensor.scatter_div[2] Tensor.scatter_max[2] Tensor.scatter_min[2] Tensor.scatter_mul[2] Tensor.scatter_sub[2]
alike: op.Addcdiv[1] op.Addcmul[1] op.Ger[1] op.Heaviside[1] op.Igamma[1] op.Igammac[1] op.IsClose[1] op.NextAfter[1]
alike: op.Polar[1] op.Zeta[1] op.SigmoidCrossEntropyWithLogits[1] op.TensorScatterUpdate[2] op.TensorScatterAdd[2]
alike: op.TensorScatterSub[2] op.TensorScatterMax[2] op.TensorScatterMin[2] op.TensorScatterMul[2]
alike: op.TensorScatterDiv[2]
tensors: ops.eq ops.equal ops.less ops.lt ops.gcd[1]
tensors and bools: ops.logical_and ops.logical_and[1] ops.logical_or ops.logical_or[1] ops.logical_xor
tensors and bools: ops.logical_xor[1]
tensors: mint.eq mint.less mint.lt mint.fmod mint.gcd[1] mint.logical_and mint.logical_and[1] mint.logical_or
tensors: mint.logical_or[1] mint.logical_xor mint.logical_xor[1]
tensors: Tensor.gcd[1] Tensor.logical_and[1] Tensor.logical_or[1] Tensor.logical_xor[1]
sequences: ops.flip[1] ops.full ops.tile[1] mint.flip[1] mint.full mint.tile[1] ops.standard_laplace ops.standard_normal
sequences: Tensor.flip[1]
axes: ops.reduce_max[1] ops.reduce_mean[1] ops.reduce_min[1] ops.reduce_sum[1]
""")


def _methods(kind: str) -> dict[str, str]:
    return {name.partition(".")[2]: name for name in ACCEPTED if name.startswith(f"{kind}.")}


def attach() -> None:
    """Have the Tensor methods and operator classes of the table refuse other types."""
    for name, key in _methods("Tensor").items():
        method: Any = Tensor.__dict__[name]
        setattr(Tensor, name, accepting(method, ACCEPTED[key], f"Tensor.{name}", method.__module__))
    for name, key in _methods("op").items():
        cls: Any = OPERATOR_CLASSES[name]
        cls.__call__ = accepting(
            cls.__call__, ACCEPTED[key], name, cls.__module__, partial(parameter_at, cls.function), 1
        )
