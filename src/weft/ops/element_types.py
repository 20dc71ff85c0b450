"""The element types that MindSpore's functions take, and which take no numbers: see `weft.ops._accepting`.

A row stands here where MindSpore 2.10 refuses a type for what it is, whatever the device: its documentation lists the
types, or says what is raised. What only lacks a kernel on some device is computed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from weft.core import OPERATOR_CLASSES, Tensor
from weft.ops._accepting import accepting, parameter_at, parsed

#: `ops`, `mint`, `F` (`mint.nn.functional`), `linalg` and `mnp` are modules of MindSpore, `op` holds operator classes;
#: a row goes on in lines that are indented
_TABLE: Final = """
float32: ops.batch_dot ops.margin_ranking_loss linalg.qr
float16 float32: ops.adaptive_avg_pool1d ops.adaptive_max_pool1d ops.batch_norm ops.conv3d_transpose ops.dot ops.lrn
    ops.prelu ops.relu6 ops.affine_grid ops.deformable_conv2d ops.dist ops.intopk mint.batch_norm_stats F.mish F.prelu
    Tensor.dot op.ReLU6
float32 float64: ops.cholesky_solve ~ops.hypot ops.igamma ops.igammac ops.mvlgamma ops.nanquantile ops.nextafter
    ops.pinv ops.polar ops.quantile ops.zeta ops.ctc_loss mint.polar Tensor.cholesky_solve ~Tensor.hypot Tensor.mvlgamma
    Tensor.nanquantile Tensor.nextafter Tensor.quantile Tensor.igamma Tensor.igammac ~op.Hypot op.Igamma op.Igammac
    op.NextAfter op.Polar op.Zeta
int32 int64: ~ops.lcm
float16 bfloat16 float32: ops.binary_cross_entropy ops.binary_cross_entropy_with_logits ops.conv3d ops.fast_gelu
    ops.hardshrink ops.lerp ops.softshrink ops.cosine_similarity ops.soft_shrink mint.addmm mint.lerp ~mint.logaddexp
    mint.std mint.std_mean mint.var mint.var_mean F.binary_cross_entropy F.binary_cross_entropy_with_logits F.hardshrink
    F.kl_div F.logsigmoid F.selu F.softshrink Tensor.lerp Tensor.hardshrink Tensor.soft_shrink op.FastGeLU
float16 float32 float64: ops.adaptive_avg_pool2d ~ops.approximate_equal ops.avg_pool1d ops.avg_pool2d ops.avg_pool3d
    ops.bessel_i0 ops.bessel_i0e ops.bessel_i1 ops.cdist ops.celu ops.deg2rad ops.digamma ops.einsum[1] ops.ger ops.i0
    ops.iou ops.kl_div ops.logcumsumexp ops.lu_solve ops.mish ops.multinomial_with_replacement ops.polygamma[1]
    ops.rad2deg ops.random_categorical ops.softplus ops.softsign ops.coalesce[1] ops.fractional_max_pool3d
    ops.sparse_segment_mean mint.cdist mnp.rint Tensor.deg2rad Tensor.digamma Tensor.ger Tensor.i0 Tensor.rad2deg
    Tensor.lu_solve Tensor.random_categorical op.Mish op.Softplus op.Softsign op.Rint op.L2Loss op.BesselI0e op.Digamma
    op.AdaptiveAvgPool2D op.BesselI0 op.BesselI1 op.CeLU
int16 int32 int64: ~ops.gcd ~mint.gcd
int32 float16 float32: ops.histc ops.inplace_update Tensor.histc Tensor.inplace_update
floats: ops.ceil ops.dropout ops.group_norm ops.hinge_embedding_loss ops.logaddexp ops.logaddexp2 ops.softmax
    ops.softmin ops.bernoulli_ext mint.bernoulli mint.ceil mint.softmax F.group_norm F.softmax F.softplus F.leaky_relu
    Tensor.bernoulli Tensor.ceil Tensor.logaddexp Tensor.logaddexp2 Tensor.softmax op.Ceil
float32 float64 complex: ops.cond ops.eig ops.eigvals ops.inverse ops.svd ops.dense_to_sparse_csr ops.orgqr ops.ormqr
    ops.stft Tensor.inverse Tensor.svd Tensor.orgqr Tensor.ormqr Tensor.to_csr
int16 uint8 float16 float32: ops.check_valid
int32 float16 float32 float64: ops.lgamma Tensor.lgamma
int64 float16 float32 float64: ops.addcdiv
float16 float32 float64 complex: ops.matrix_solve ops.renorm ~ops.xdivy ~Tensor.xdivy Tensor.renorm
int8 int16 int32 float16 float32: ops.fills Tensor.fills
int8 int32 float16 float32 float64: ops.selu op.SeLU
int16 int32 int64 float32 float64: ops.median Tensor.median
int32 int64 float16 float32 float64: ~ops.fmax ~ops.fmin ops.fractional_max_pool2d ~Tensor.fmax ~Tensor.fmin
floats complex: F.adaptive_avg_pool3d
int8 int32 int64 float16 bfloat16 float32: ops.conv1d ops.conv2d
int8 int32 uint8 float16 float32 float64: ~ops.truncate_mod
int16 int32 int64 float16 float32 float64: ops.addmv ops.addr ops.bucketize Tensor.addmv Tensor.addr
int8 int16 int32 uint8 float16 float32 float64: ops.index_add ops.inplace_index_add mint.index_add Tensor.index_add
bool signed uint8 float32 float64: ops.bernoulli ops.matrix_power Tensor.matrix_power op.MatrixPower
bool int64 floats complex: ops.exp ops.logsumexp ops.tensor_exp mint.exp mnp.exp mnp.logaddexp Tensor.exp Tensor.exp_
    Tensor.logsumexp op.Exp
signed floats: ops.dropout1d ops.dropout2d ops.dropout3d ops.hardsigmoid op.HSigmoid
signed uint8 float16 float32 float64: ops.adaptive_avg_pool3d ops.lu_unpack Tensor.fill_diagonal
integers: ops.bitwise_left_shift ops.bitwise_right_shift ops.invert mnp.invert mnp.bitwise_not Tensor.bitwise_left_shift
    op.LeftShift op.RightShift op.Invert
int8 int32 int64 uint8 floats: ops.addcmul Tensor.addcmul
bool signed uint8 float16 bfloat16 float32: mint.logsumexp
bool signed uint8 float16 float32 float64: ops.argsort ops.msort ops.sort mint.addmv
bool int32 int64 floats complex: ops.sgn ops.sign mint.sign
int16 int32 int64 uint16 uint32 uint64 float16 float32 float64: ops.tensor_scatter_div
bool signed uint8 floats: ops.isclose ops.lp_pool1d ops.lp_pool2d ops.uniform_ mint.allclose mint.isclose mint.outer
bool int8 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32: ops.diff_ext mint.diff
integers float16 float32 float64: ops.diag_embed ops.diagonal_scatter ops.heaviside ops.max_pool2d ops.max_pool3d
    ops.multinomial ops.adaptive_max_pool3d ops.channel_shuffle ops.space_to_batch_nd Tensor.diagonal_scatter
    Tensor.heaviside Tensor.multinomial
integers floats: ops.bessel_i1e ops.copysign ops.inplace_add ops.inplace_sub ops.matrix_diag ops.scatter_nd_add
    ops.scatter_nd_div ops.scatter_nd_max ops.scatter_nd_min ops.scatter_nd_mul ops.scatter_nd_sub
    ops.tensor_scatter_max ops.tensor_scatter_min ops.tensor_scatter_mul ops.tensor_scatter_sub ops.top_k ops.topk
    ops.batch_to_space_nd ops.matrix_diag_part ops.matrix_set_diag ops.max_unpool1d ops.max_unpool2d ops.max_unpool3d
    mint.topk Tensor.copysign Tensor.topk Tensor.scatter_div Tensor.scatter_max Tensor.scatter_min Tensor.scatter_mul
    Tensor.scatter_sub Tensor.top_k op.BesselI1e
bool integers floats: ops.accumulate_n ops.aminmax ops.minimum ops.relu ops.select_scatter ops.tensor_scatter_elements
    ops.tril ops.float_power_ext mint.minimum mint.scatter_add
integers float16 float32 float64 complex: ops.trace Tensor.index_put
integers floats complex: ops.count_nonzero ops.cov ops.cumsum ops.repeat_elements ops.repeat_interleave ops.scatter_max
    ops.scatter_min ops.scatter_update ~ops.sub mnp.repeat ~mnp.subtract mnp.count_nonzero Tensor.count_nonzero
    Tensor.repeat_interleave Tensor.cov op.Conj
float32: mint.inverse linalg.inv => ValueError
complex: ops.view_as_real
int8 int16 int32 int64 uint8 uint16 float16 float32 float64: ops.crop_and_resize
int32 int64 floats: ops.rrelu
alike: ops.addcdiv[1] ops.addcmul[1] ops.ger[1] ops.heaviside[1] ops.igamma[1] ops.igammac[1] ops.isclose[1]
    ops.nextafter[1] ops.polar[1] ops.zeta[1] ops.tensor_scatter_add[2] ops.tensor_scatter_div[2]
    ops.tensor_scatter_max[2] ops.tensor_scatter_min[2] ops.tensor_scatter_mul[2] ops.tensor_scatter_sub[2]
    Tensor.scatter_div[2] Tensor.scatter_max[2] Tensor.scatter_min[2] Tensor.scatter_mul[2] Tensor.scatter_sub[2]
    op.Addcdiv[1] op.Addcmul[1] op.Ger[1] op.Heaviside[1] op.Igamma[1] op.Igammac[1] op.IsClose[1] op.NextAfter[1]
    op.Polar[1] op.Zeta[1] op.SigmoidCrossEntropyWithLogits[1] op.TensorScatterUpdate[2] op.TensorScatterAdd[2]
    op.TensorScatterSub[2] op.TensorScatterMax[2] op.TensorScatterMin[2] op.TensorScatterMul[2] op.TensorScatterDiv[2]
tensors: ops.eq ops.equal ops.less ops.lt ops.gcd[1] mint.eq mint.less mint.lt mint.fmod mint.gcd[1] mint.logical_and
    mint.logical_and[1] mint.logical_or mint.logical_or[1] mint.logical_xor mint.logical_xor[1] Tensor.gcd[1]
    Tensor.logical_and[1] Tensor.logical_or[1] Tensor.logical_xor[1]
tensors and bools: ops.logical_and ops.logical_and[1] ops.logical_or ops.logical_or[1] ops.logical_xor
    ops.logical_xor[1]
sequences: ops.flip[1] ops.full ops.tile[1] ops.standard_laplace ops.standard_normal mint.flip[1] mint.full mint.tile[1]
    Tensor.flip[1]
axes: ops.reduce_max[1] ops.reduce_mean[1] ops.reduce_min[1] ops.reduce_sum[1]
"""
ACCEPTED: Final = parsed(_TABLE.replace("\n    ", " "))


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
