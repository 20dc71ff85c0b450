"""Cells of `mindspore.mint.nn` without parameters: a function of `mint.nn.functional` and its settings.

A row is the signature of the cell, and behind ``=`` the function that it calls with its inputs and, by their names,
the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from typing import Any, ClassVar, Final

from weft import ops
from weft.core import Tensor
from weft.mint import functional
from weft.mint.rows import parse
from weft.nn.cell import Cell


class _Configured(Cell):
    """A function as a cell: its settings are given to the cell, its inputs to the call."""

    _function: ClassVar[Callable[..., Any]]
    _wanted: ClassVar[Signature] = Signature()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._wanted.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}() {error}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._wanted.parameters}

    def extend_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._given().items())


class Applied(_Configured):
    """A function of one tensor as a cell."""

    def construct(self, input: Any) -> Any:
        return type(self)._function(input, **self._given())


class Loss(_Configured):
    """A loss as a cell: of an input and a target."""

    def construct(self, input: Any, target: Any) -> Any:
        return type(self)._function(input, target, **self._given())


class PairLoss(_Configured):
    """A loss as a cell: of two inputs and a target."""

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        return type(self)._function(input1, input2, target, **self._given())


def _padding(mode: str, rank: int) -> Callable[..., Any]:
    """A border of `rank` dimensions."""

    def padded(input: Any, padding: Any, value: Any = None) -> Any:
        pads = (padding,) * (2 * rank) if isinstance(padding, int) else tuple(padding)
        if len(pads) != 2 * rank:
            raise ValueError(f"padding must be an int or {2 * rank} of them, not {padding!r}")
        return ops.pad(input, pads, mode, value)

    return padded


def _upsampled(mode: str) -> Callable[..., Any]:
    def upsampled(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
        return ops.interpolate(input, size, scale_factor, mode, True if mode == "bilinear" else None)

    return upsampled


_FUNCTIONS: Final = {
    **vars(functional),
    **{f"constant{n}": _padding("constant", n) for n in (1, 2, 3)},
    **{f"reflect{n}": _padding("reflect", n) for n in (1, 2, 3)},
    **{f"replicate{n}": _padding("replicate", n) for n in (1, 2, 3)},
    "upsample_bilinear": _upsampled("bilinear"),
    "upsample_nearest": _upsampled("nearest"),
}

_CELLS: Final = (
    "AdaptiveAvgPool1d(output_size) = adaptive_avg_pool1d",
    "AdaptiveAvgPool2d(output_size) = adaptive_avg_pool2d",
    "AdaptiveAvgPool3d(output_size) = adaptive_avg_pool3d",
    "AdaptiveMaxPool1d(output_size, return_indices=False) = adaptive_max_pool1d",
    "AdaptiveMaxPool2d(output_size, return_indices=False) = adaptive_max_pool2d",
    "AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) = avg_pool1d",
    "AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None) = avg_pool2d",
    "AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None) = avg_pool3d",
    "MaxPool2d(kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) = max_pool2d",
    "Flatten(start_dim=1, end_dim=-1) = flatten",
    "PixelShuffle(upscale_factor) = pixel_shuffle",
    "Fold(output_size, kernel_size, dilation=1, padding=0, stride=1) = fold",
    "Unfold(kernel_size, dilation=1, padding=0, stride=1) = unfold",
    "Upsample(size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None)"
    " = interpolate",
    "UpsamplingBilinear2d(size=None, scale_factor=None) = upsample_bilinear",
    "UpsamplingNearest2d(size=None, scale_factor=None) = upsample_nearest",
    *(f"ConstantPad{n}d(padding, value) = constant{n}" for n in (1, 2, 3)),
    *(f"ZeroPad{n}d(padding) = constant{n}" for n in (1, 2, 3)),
    *(f"ReflectionPad{n}d(padding) = reflect{n}" for n in (1, 2, 3)),
    *(f"ReplicationPad{n}d(padding) = replicate{n}" for n in (1, 2, 3)),
    "ELU(alpha=1.0, inplace=False) = elu",
    "GELU(approximate='none') = gelu",
    "GLU(dim=-1) = glu",
    "Hardshrink(lambd=0.5) = hardshrink",
    "Hardsigmoid() = hardsigmoid",
    "Hardswish() = hardswish",
    "Hardtanh(min_val=-1.0, max_val=1.0, inplace=False) = hardtanh",
    "LogSigmoid() = logsigmoid",
    "LogSoftmax(dim=None) = log_softmax",
    "Mish() = mish",
    "ReLU() = relu",
    "ReLU6(inplace=False) = relu6",
    "SELU() = selu",
    "SiLU(inplace=False) = silu",
    "Sigmoid() = sigmoid",
    "Softmax(dim=None) = softmax",
    "Softshrink(lambd=0.5) = softshrink",
    "Tanh() = tanh",
    "Threshold(threshold, value, inplace=False) = threshold",
)
_LOSSES: Final = (
    "BCELoss(weight=None, reduction='mean') = binary_cross_entropy",
    "BCEWithLogitsLoss(weight=None, reduction='mean', pos_weight=None) = binary_cross_entropy_with_logits",
    "CrossEntropyLoss(weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0) = cross_entropy",
    "KLDivLoss(reduction='mean', log_target=False) = kl_div",
    "L1Loss(reduction='mean') = l1_loss",
    "MSELoss(reduction='mean') = mse_loss",
    "NLLLoss(weight=None, ignore_index=-100, reduction='mean') = nll_loss",
    "SmoothL1Loss(reduction='mean', beta=1.0) = smooth_l1_loss",
    "SoftMarginLoss(reduction='mean') = soft_margin_loss",
)
_PAIR_LOSSES: Final = ("CosineEmbeddingLoss(margin=0.0, reduction='mean') = cosine_embedding_loss",)


def _classes(base: type[_Configured], rows: tuple[str, ...], module: str) -> dict[str, type[_Configured]]:
    found = {}
    for row in rows:
        name, wanted, target = parse(row)
        function = _FUNCTIONS[target]
        members = {
            "_function": staticmethod(function), "_wanted": wanted, "__signature__": wanted, "__module__": module,
            "__doc__": f"`{target}` as a cell: ``{name}{wanted}``.",
        }  # fmt: skip
        found[name] = type(name, (base,), members)
    return found


def cells(module: str) -> dict[str, type[_Configured]]:
    """The cells of the tables, by name.

    Args:
        module: the module that offers them.
    """
    rows = ((Applied, _CELLS), (Loss, _LOSSES), (PairLoss, _PAIR_LOSSES))
    return {name: made for base, table in rows for name, made in _classes(base, table, module).items()}


class _Dropped(_Configured):
    _wanted = parse("f(p=0.5, inplace=False)")[1]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"{type(self).__name__}: p must be in [0, 1], not {p!r}")
        super().__init__(p, inplace)

    def construct(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.p, self.training, self.inplace)


class Dropout(_Dropped):
    """While training, zeroes elements at random and scales up the rest.

    Args:
        p: probability of zeroing an element.
        inplace: write the result into the input.

    Example:
        >>> print(Dropout(0.5).set_train(False)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    _function = staticmethod(functional.dropout)


class Dropout2d(_Dropped):
    """While training, zeroes whole channels of (N, C, H, W) at random; see `Dropout`."""

    _function = staticmethod(functional.dropout2d)
