"""The functions of `mindspore.mint` that differ from weft's operations by the names of their parameters, if at all."""

from __future__ import annotations

from typing import Final

#: elementwise functions of one tensor
_ELEMENTWISE: Final = (
    "abs acos acosh arccos arccosh arcsinh arctan arctanh asin asinh atan atanh ceil cos cosh erf erfc erfinv exp exp2 "
    "expm1 fix floor imag inverse isfinite isinf isneginf log log10 log1p log2 logical_not neg negative ravel real "
    "reciprocal rsqrt sigmoid sign sin sinc sinh sqrt square tan tanh trace trunc"
)
#: functions of two tensors
_BINARY: Final = (
    "arctan2 atan2 bitwise_and bitwise_or bitwise_xor dot eq floor_divide fmod gcd ge greater greater_equal gt le less "
    "less_equal logaddexp logaddexp2 logical_and logical_or logical_xor lt matmul maximum minimum mul ne not_equal "
    "remainder vdot xlogy"
)

FUNCTIONS: Final = (
    *(f"{name}(input)" for name in _ELEMENTWISE.split()),
    *(f"{name}(input, other)" for name in _BINARY.split()),
    # elementwise
    "arcsin(x) = asin",
    "bitwise_not(input)",
    "clamp(input, min=None, max=None)",
    "clip(input, min=None, max=None)",
    "float_power(input, exponent)",
    "frac(input)",
    "isnan(tensor)",
    "lerp(input, end, weight)",
    "nan_to_num(input, nan=None, posinf=None, neginf=None)",
    "polar(abs, angle)",
    "pow(input, exponent)",
    "round(input, *, decimals=0)",
    "isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)",
    "addcdiv(input, tensor1, tensor2, *, value=1)",
    "addcmul(input, tensor1, tensor2, *, value=1)",
    "div(input, other, *, rounding_mode=None)",
    "divide(input, other, *, rounding_mode=None) = div",
    # reductions
    "all(input, dim=None, keepdim=False)",
    "any(input, dim=None, keepdim=False)",
    "amax(input, dim=(), keepdim=False)",
    "amin(input, dim=(), keepdim=False)",
    "argmax(input, dim=None, keepdim=False)",
    "logsumexp(input, dim, keepdim=False)",
    "mean(input, dim=None, keepdim=False, *, dtype=None) = mean_ext",
    "nansum(input, dim=None, keepdim=False, *, dtype=None)",
    "diff(input, n=1, dim=-1, prepend=None, append=None)",
    # products and matrices
    "addbmm(input, batch1, batch2, *, beta=1, alpha=1)",
    "addmm(input, mat1, mat2, *, beta=1, alpha=1)",
    "addmv(input, mat, vec, *, beta=1, alpha=1)",
    "baddbmm(input, batch1, batch2, *, beta=1, alpha=1)",
    "bmm(input, mat2)",
    "cross(input, other, dim=None)",
    "mm(input, mat2)",
    "mv(input, vec)",
    "outer(input, vec2)",
    "tril(input, diagonal=0)",
    "triu(input, diagonal=0)",
    # shapes
    "broadcast_to(input, shape)",
    "cat(tensors, dim=0)",
    "concat(tensors, dim=0)",
    "chunk(input, chunks, dim=0)",
    "dstack(tensors)",
    "flip(input, dims)",
    "hstack(tensors)",
    "narrow(input, dim, start, length)",
    "permute(input, dims)",
    "reshape(input, shape)",
    "roll(input, shifts, dims=None)",
    "split(tensor, split_size_or_sections, dim=0)",
    "stack(tensors, dim=0)",
    "swapaxes(input, axis0, axis1)",
    "tile(input, dims)",
    "transpose(input, dim0, dim1) = swapaxes",
    "unbind(input, dim=0)",
    "unsqueeze(input, dim)",
    # selecting
    "index_select(input, dim, index)",
    "masked_select(input, mask)",
    "nonzero(input, *, as_tuple=False)",
    "histc(input, bins=100, min=0, max=0)",
    "unique_consecutive(input, return_inverse=False, return_counts=False, dim=None)",
    # making
    "arange(start=0, end=None, step=1, *, dtype=None)",
    "eye(n, m=None, dtype=None)",
    "full(size, fill_value, *, dtype=None)",
    "full_like(input, fill_value, *, dtype=None)",
    "ones(size, *, dtype=None)",
    "ones_like(input, *, dtype=None)",
    "zeros(size, *, dtype=None)",
    "zeros_like(input, *, dtype=None)",
)

#: those of `mindspore.mint.nn.functional`
NN_FUNCTIONS: Final = (
    # the inverse of pooling
    "max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None)",
    # activations
    "gelu(input, *, approximate='none')",
    "glu(input, dim=-1)",
    "hardshrink(input, lambd=0.5)",
    "hardsigmoid(input)",
    "hardswish(input)",
    "leaky_relu(input, negative_slope=0.01)",
    "logsigmoid(input)",
    "mish(input)",
    "prelu(input, weight)",
    "selu(input)",
    "sigmoid(input)",
    "softplus(input, beta=1, threshold=20)",
    "softshrink(input, lambd=0.5)",
    "tanh(input)",
    # losses
    "cosine_embedding_loss(input1, input2, target, margin=0.0, reduction='mean')",
    "cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0)",
    "binary_cross_entropy(input, target, weight=None, reduction='mean')",
    "l1_loss(input, target, reduction='mean')",
    "mse_loss(input, target, reduction='mean')",
    "nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean')",
    "soft_margin_loss(input, target, reduction='mean')",
    # layers
    "adaptive_avg_pool1d(input, output_size)",
    "adaptive_avg_pool2d(input, output_size)",
    "adaptive_avg_pool3d(input, output_size)",
    "batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05)",
    "conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)",
    "embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False)",
    "group_norm(input, num_groups, weight=None, bias=None, eps=1e-05)",
    "interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None)",
    "layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)",
    "linear(input, weight, bias=None)",
    "pad(input, pad, mode='constant', value=None)",
    "upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None) = interpolate",
)
