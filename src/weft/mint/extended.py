"""The operator classes and functions behind `mint`, as programs import them from `mindspore.ops.auto_generate`.

A row of `OPERATORS` is the class with the parameters of its call, and behind ``=`` the function of mint, of mint's
`functional` (``F.``) or of weft's operations (``ops.``); in brackets before it the parameters of the constructor.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any, Final

from weft import mint, ops
from weft.core import OPERATOR_CLASSES, Tensor, operator_class
from weft.lazily import Names
from weft.mint import functional
from weft.mint.arithmetic import a_tensor
from weft.mint.rows import parse
from weft.ops import operations as _operations  # noqa: F401  (the classes that it offers are those it knew before)

#: rows, see above
OPERATORS: Final = (
    *(f"{name}Ext(input) = {name.lower()}" for name in ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Trace", "T")),
    "AdaptiveAvgPool2DExt(input, output_size) = F.adaptive_avg_pool2d",
    "AdaptiveAvgPool3DExt(input, output_size) = F.adaptive_avg_pool3d",
    "AddExt(input, other, alpha=1) = add",
    "AddcdivExt(input, tensor1, tensor2, value=1) = addcdiv",
    "AddcmulExt(input, tensor1, tensor2, value=1) = addcmul",
    "AnyExt(input, dim, keepdim=False) = any",
    "Arange(start, end, step, dtype=None) = arange",
    "ArgMaxExt(input, dim=None, keepdim=False) = argmax",
    "ArgMinExt(input, dim=None, keepdim=False) = argmin",
    "Atan2Ext(input, other) = atan2",
    "BatchMatMulExt(input, mat2) = bmm",
    "BincountExt(input, weights=None, minlength=0) = bincount",
    "Chunk(input, chunks, dim=0) = chunk",
    "ClampScalar(input, min=None, max=None) = clamp",
    "Col2ImExt(input, output_size, kernel_size, dilation=1, padding=0, stride=1) = F.fold",
    "Conv1DExt(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) = F.conv1d",
    "Conv2DExt(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) = F.conv2d",
    "Conv3DExt(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) = F.conv3d",
    "CumminExt(input, dim) = cummin",
    "CumsumExt(input, dim, dtype=None) = cumsum",
    "DiagExt(input, diagonal=0) = diag",
    "[alpha=1.0] EluExt(input, alpha) = F.elu",
    "EqualExt(input, other) = equal",
    "FlattenExt(input, start_dim=0, end_dim=-1) = flatten",
    "FmodScalar(input, other) = fmod",
    "GatherNdExt(input, indices) = own.gather_at",
    "GeluExt(input, approximate='none') = F.gelu",
    "HistcExt(input, bins=100, min=0, max=0) = histc",
    "Im2ColExt(input, kernel_size, dilation=1, padding=0, stride=1) = F.unfold",
    "IndexAddExt(input, dim, index, source, alpha=1) = index_add",
    "IndexSelect(input, dim, index) = index_select",
    "InplaceCopy(input, src, non_blocking=False) = own.copied",
    "L1LossExt(input, target, reduction='mean') = F.l1_loss",
    "LeakyReLUExt(input, negative_slope=0.01) = F.leaky_relu",
    "LinSpaceExt(start, end, steps, dtype=None) = linspace",
    "MSELossExt(input, target, reduction='mean') = F.mse_loss",
    "MatMulExt(input, other) = matmul",
    "MatrixInverseExt(input) = inverse",
    "MeanExt(input, dim=None, keepdim=False, dtype=None) = mean",
    "MedianExt(input) = median",
    "MishExt(input) = F.mish",
    "Muls(input, other) = mul",
    "[axis=-1] OneHotExt(tensor, num_classes, on_value, off_value, axis) = own.one_hot",
    "OnesLikeExt(input, dtype=None) = ones_like",
    "Outer(input, vec2) = outer",
    "ProdExt(input, dim=None, keepdim=False, dtype=None) = prod",
    "RepeatInterleaveInt(input, repeats, dim=None, output_size=None) = repeat_interleave",
    "RepeatInterleaveTensor(input, repeats, dim=None, output_size=None) = repeat_interleave",
    "RotaryPositionEmbedding(x, cos, sin, mode=0) = ops.rotary_position_embedding",
    "Scatter(input, dim, index, src, reduce='none') = own.scattered",
    "ScatterAddExt(input, dim, index, src) = scatter_add",
    "SeLUExt(input) = F.selu",
    "SliceExt(input, dim, start, end, step) = own.sliced",
    "SoftplusExt(input, beta=1, threshold=20) = F.softplus",
    "SortExt(input, dim=-1, descending=False, stable=False) = sort",
    "SplitWithSize(input, split_size, dim=0) = own.split",
    "[dim=0] StackExt(tensors, dim) = stack",
    "SubExt(input, other, alpha=1) = sub",
    "SumExt(input, dim=None, keepdim=False, dtype=None) = own.total",
    "Swiglu(input, dim=-1) = ops.swiglu",
    "TopkExt(input, k, dim=-1, largest=True, sorted=True) = topk",
    "TrilExt(input, diagonal=0) = tril",
    "ZerosLikeExt(input, dtype=None) = zeros_like",
)
#: functions of mint that are also there with ``_ext`` behind their names
_MINT: Final = (
    "acos acosh add addbmm addcmul addmm addmv amax amin arange arccos arccosh arcsin arcsinh arctan arctan2 argmax "
    "argmin argsort asin asinh atan atan2 baddbmm bernoulli bincount bitwise_and bitwise_or bitwise_xor bmm chunk "
    "conv2d cummin cumsum diag diff einsum float_power frac full full_like gather histc index_select inverse isnan "
    "isneginf linspace log10 log2 logaddexp logsumexp matmul max mean median meshgrid min mm mul norm ones_like outer "
    "pow prod remainder repeat_interleave scatter_add sort split stack std std_mean sub sum t topk trace tril unbind "
    "unique var var_mean zeros_like"
)
_FUNCTIONAL: Final = (
    "adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm cross_entropy dropout "
    "dropout2d elu flatten fold glu interpolate kl_div l1_loss leaky_relu log_softmax logsigmoid max_pool2d "
    "max_unpool2d mish mse_loss nll_loss one_hot pad selu softmax softplus unfold"
)


def gather_at(input: Any, indices: Any) -> Any:
    """Elements, or slices, at positions that are rows of a tensor."""
    return ops.gather_nd(input, indices)


def copied(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of one tensor into another one."""
    del non_blocking
    return a_tensor("InplaceCopy", input).copy_(src)


def one_hot(tensor: Any, num_classes: int, on_value: Any, off_value: Any, axis: int = -1) -> Any:
    """One value at the positions that a tensor holds, another one elsewhere, along a new axis."""
    return ops.one_hot(tensor, num_classes, on_value, off_value, axis)


def scattered(input: Any, dim: int, index: Any, src: Any, reduce: str = "none") -> Any:
    """Elements written along a dimension, or added to what is there.

    Raises:
        ValueError: `reduce` is neither ``"none"`` nor ``"add"``.
    """
    if reduce not in ("none", "add"):
        raise ValueError(f"Scatter: reduce must be 'none' or 'add', not {reduce!r}")
    return mint.scatter(input, dim, index, src) if reduce == "none" else mint.scatter_add(input, dim, index, src)


def sliced(input: Any, dim: int, start: int, end: int, step: int) -> Any:
    """Every so many of the elements of one dimension, from one position up to another."""
    given = a_tensor("SliceExt", input)
    return given[(slice(None),) * (dim % given.ndim) + (slice(start, end, step),)]


def split(input: Any, split_size: Any, dim: int = 0) -> Any:
    """Pieces of given sizes."""
    return ops.split(input, split_size, dim)


def total(input: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Sum of elements; over all dimensions also where none are named."""
    return mint.sum(input, None if dim == () else dim, keepdim, dtype=dtype)


def _found(target: str) -> Callable[..., Any]:
    where, _, name = target.rpartition(".")
    spaces = {"": vars(mint), "F": vars(functional), "ops": Names(ops), "own": globals()}
    found: Callable[..., Any] = spaces[where][name]
    return found


def _called(name: str, wanted: Signature, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called with the parameters of a row: those that it has by name only are given by name."""
    keywords = [p.name for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    positional = [p for p in wanted.parameters if p not in keywords]
    needed = len(wanted.parameters) - sum(p.default is not p.empty for p in wanted.parameters.values())

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and needed <= len(args) <= len(positional):
            return function(*args)
        try:
            given = wanted.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        given.apply_defaults()
        values = given.arguments
        return function(*[values[p] for p in positional], **{p: values[p] for p in keywords if p in values})

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{function.__name__}` of `mint` as ``{name}{wanted}``."
    return call


def _declared(row: str) -> type:
    fixed, _, rest = row.rpartition("] ")
    name, wanted, target = parse(rest)
    return operator_class(name, _called(name, wanted, _found(target)), fixed.removeprefix("["))


def _as_tensor(like: Tensor, value: Any) -> Tensor:
    return value.astype(like.dtype) if isinstance(value, Tensor) else Tensor(value, like.dtype)


def adamw_step(
    var: Any,
    m: Any,
    v: Any,
    max_v: Any,
    gradient: Any,
    step: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    decay: Any,
    eps: Any,
    amsgrad: bool = False,
    maximize: bool = False,
) -> Any:
    """A step of Adam whose weight decay is apart from the moments.

    Args:
        var: the parameter, which is written.
        m: its first moment, which is written.
        v: its second moment, which is written.
        max_v: the largest second moment so far, which is written with `amsgrad`.
        gradient: the gradient.
        step: how many steps were made before.
        lr: learning rate.
        beta1: decay of the first moment.
        beta2: decay of the second one.
        decay: share of the parameter that a step removes, times the learning rate.
        eps: added to the root of the second moment.
        amsgrad: divide by the largest second moment so far.
        maximize: go along the gradient, not against it.

    Returns:
        tuple[Tensor, Tensor, Tensor]: the parameter and its moments.

    Example:
        >>> import weft
        >>> p, m, v = (weft.Parameter(Tensor([x]), name="x") for x in (1.0, 0.0, 0.0))
        >>> print(adamw_step(p, m, v, v, Tensor([2.0]), Tensor(0), 0.5, 0.9, 0.999, 0.0, 0.0)[0])
        [0.5]
    """
    given = a_tensor("AdamW", var)
    count = _as_tensor(given, step) + 1
    rate, b1, b2, share, least = (_as_tensor(given, x) for x in (lr, beta1, beta2, decay, eps))
    slope = _as_tensor(given, -gradient if maximize else gradient)
    first = (b1 * m + (1 - b1) * slope).astype(m.dtype)
    second = (b2 * v + (1 - b2) * ops.square(slope)).astype(v.dtype)
    corrected = second / (1 - ops.pow(b2, count))
    largest = corrected
    if amsgrad:
        largest = ops.maximum(max_v, corrected)
        ops.assign(max_v, largest.astype(max_v.dtype))
    moved = first / (1 - ops.pow(b1, count)) / (ops.sqrt(largest) + least)
    found = (given * (1 - rate * share) - rate * moved).astype(given.dtype)
    for old, new in ((var, found), (m, first), (v, second)):
        ops.assign(old, new)
    return found, first, second


operator_class("AdamW", adamw_step)
_CLASSES = {kind.__name__: kind for kind in map(_declared, OPERATORS)}
globals().update(_CLASSES)
AdamW = OPERATOR_CLASSES["AdamW"]
_EXTENDED = {f"{name}_ext": getattr(mint, name) for name in _MINT.split()} | {
    f"{name}_ext": getattr(functional, name) for name in _FUNCTIONAL.split()
}
globals().update(_EXTENDED)

__all__ = sorted({*_CLASSES, *_EXTENDED, "AdamW"})  # noqa: PLE0605
