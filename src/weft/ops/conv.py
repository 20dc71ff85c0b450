"""Convolution and transposed convolution, with an optional bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from weft._jax_compat import PRECISION_OF_CONVOLUTIONS
from weft.core import Primitive, Tensor, apply, described, op, operator_class, shows, told
from weft.core.declare import freeze
from weft.ops._checks import only, tensors
from weft.ops._rules import promoted

__all__ = ["conv1d", "conv2d", "conv3d", "conv3d_transpose", "conv_transpose1d", "conv_transpose2d"]

#: the layout of input and output for each number of spatial dimensions; weights are always (out, in, *kernel)
_SPATIAL: Final = {1: "W", 2: "HW", 3: "DHW"}
#: a number, and a low and a high one, for each spatial dimension
Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


def _convolved(
    input: Any, weight: Any, bias: Any, stride: Sizes, *, padding: Any, groups: int, data_format: str, **holes: Any
) -> Any:
    """A convolution of JAX; `holes` are the distances of elements in the input or in the kernel."""
    spatial = _SPATIAL[len(stride)]
    last = data_format.endswith("C")
    data = f"N{spatial}C" if last else f"NC{spatial}"
    out = jax.lax.conv_general_dilated(
        input,
        weight,
        stride,
        padding,
        dimension_numbers=(data, f"OI{spatial}", data),
        feature_group_count=groups,
        precision=PRECISION_OF_CONVOLUTIONS,
        **holes,
    )
    if bias is None:
        return out
    return out + bias.reshape(-1 if last else (-1, *[1] * len(stride))).astype(out.dtype)


def _convolution(input: Any, weight: Any, bias: Any, *, dilation: tuple[int, ...], groups: int, **settings: Any) -> Any:
    input, weight = promoted(input, weight)
    return _convolved(input, weight, bias, rhs_dilation=dilation, groups=groups, **settings)


CONVOLUTION = Primitive(
    "Convolution", _convolution, attr_names=("stride", "padding", "dilation", "groups", "data_format")
)


@op("ConvolutionTranspose", classes=())
def _transposed(
    input: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: tuple[int, ...],
    padding: Pads,
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Any:
    """The gradient of a convolution with respect to its input; `weight` is (in, out / groups, *kernel)."""
    input, weight = promoted(input, weight)
    rank = len(stride)
    channels_in, per_group, *kernel = weight.shape
    # (in, out/groups, ...) -> (out, in/groups, ...), mirrored
    flipped = jnp.flip(weight, tuple(range(2, 2 + rank)))
    flipped = flipped.reshape((groups, channels_in // groups, per_group, *kernel))
    flipped = jnp.swapaxes(flipped, 1, 2).reshape((groups * per_group, channels_in // groups, *kernel))
    pads = tuple(
        (d * (k - 1) - low, d * (k - 1) - high + extra)
        for (low, high), k, d, extra in zip(padding, kernel, dilation, output_padding, strict=True)
    )
    settings: dict[str, Any] = {"padding": pads, "groups": groups, "data_format": "NCHW"}
    return _convolved(input, flipped, bias, (1,) * rank, lhs_dilation=stride, rhs_dilation=dilation, **settings)


def per_dimension(name: str, what: str, value: Any, rank: int, least: int = 1) -> tuple[int, ...]:
    """A setting as one int for each spatial dimension.

    Args:
        name: the operation, for messages.
        what: the setting, for messages.
        value: an int, or a tuple of `rank` ints (or of `rank` + 2, batch and channel first).
        rank: number of spatial dimensions.
        least: smallest allowed value.

    Raises:
        TypeError: it is no int or tuple of ints.
        ValueError: the length or a value is wrong.
    """
    value = freeze(value)
    found = (value,) * rank if not isinstance(value, tuple) else value
    if any(isinstance(v, bool) or not isinstance(v, int) for v in found):
        raise TypeError(f"{name}: {what} must be an int or a tuple of {rank} ints, not {value!r}")
    if len(found) == rank + 2:
        found = found[2:]
    elif len(found) == 1:
        found = found * rank
    if len(found) != rank:
        raise ValueError(f"{name}: {what} must be an int or a tuple of {rank} ints, not {value!r}")
    if any(v < least for v in found):
        raise ValueError(f"{name}: {what} must be at least {least}, not {value!r}")
    return found


def padding_of(name: str, pad_mode: str, padding: Any, rank: int) -> Pads | str:
    """A pad mode and amount as JAX takes them.

    Args:
        name: the operation, for messages.
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: an int, one int for each dimension, or a (low, high) pair for each, flat.
        rank: number of spatial dimensions.

    Raises:
        ValueError: the mode is unknown, or an amount is given that the mode does not use.
    """
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    padding = freeze(padding)
    if mode in ("same", "valid"):
        if isinstance(padding, str):
            raise TypeError(f"{name}: padding must be an int or a tuple of ints, not {padding!r}")
        if padding != 0 and not (isinstance(padding, tuple) and all(p == 0 for p in padding)):
            raise ValueError(f"{name}: padding {padding!r} is only used with pad_mode='pad', not {pad_mode!r}")
        return mode.upper()
    if mode != "pad":
        raise ValueError(f"{name}: pad_mode must be 'same', 'valid' or 'pad', not {pad_mode!r}")
    if isinstance(padding, tuple) and len(padding) == 2 * rank:
        flat = per_dimension(name, "padding", padding, 2 * rank, 0)
        return tuple(zip(flat[::2], flat[1::2], strict=True))
    return tuple((p, p) for p in per_dimension(name, "padding", padding, rank, 0))


def _check_ranks(name: str, rank: int, **given: Any) -> None:
    tensors(name, **given)
    for what, tensor in given.items():
        if tensor.ndim != rank + 2:
            raise ValueError(f"{name}: {what} must have {rank + 2} dimensions, not shape {tensor.shape}")


def _check_channels(name: str, input: Tensor, channels: int, weight: Tensor, groups: int, taken: int) -> None:
    if taken != channels or weight.shape[0] % groups:
        raise ValueError(
            f"{name}: an input of shape {input.shape} has {channels} channels; a weight of shape {weight.shape} in "
            f"{groups} group(s) takes {taken}"
        )


def convolve(
    name: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str = "NCHW",
) -> Tensor:
    """Convolve over `rank` dimensions; `name` is the operation that messages name."""
    _check_ranks(name, rank, input=input, weight=weight)
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        raise ValueError(f"{name}: groups must be a positive int, not {groups!r}")
    channels = input.shape[-1 if data_format.endswith("C") else 1]
    _check_channels(name, input, channels, weight, groups, weight.shape[1] * groups)
    steps = per_dimension(name, "stride", stride, rank)
    pads = padding_of(name, pad_mode, padding, rank)
    holes = per_dimension(name, "dilation", dilation, rank)
    return apply(CONVOLUTION, (input, weight, bias), (steps, pads, holes, groups, data_format))


#: for each number of dimensions: what they are called, the sizes of an image, of a kernel and of a result
_SIZES: Final = {
    1: ("one dimension", "L", "K", "L'"),
    2: ("two dimensions", "H, W", "KH, KW", "H', W'"),
    3: ("three dimensions", "D, H, W", "KD, KH, KW", "D', H', W'"),
}
_described = described(
    bias="(O,) or None.",
    stride="step, an int or one for each dimension.",
    pad_mode='``"same"``, ``"valid"`` or ``"pad"``.',
    dilation="distance of the kernel's elements, an int or one for each dimension.",
    groups="number of channel groups that are convolved apart.",
)


def _convolving(rank: int, given: str, printed: str) -> Callable[..., Tensor]:
    """The function that convolves over so many dimensions."""
    name = f"conv{rank}d"

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return convolve(name, rank, input, weight, bias, stride, pad_mode, padding, dilation, groups)

    over, sizes, kernel, result = _SIZES[rank]
    doc = f"""
Convolve over {over}.

Args:
    input: (N, C, {sizes}).
    weight: (O, C / groups, {kernel}).
    padding: zeros on both sides, for ``"pad"``: an int, one for each dimension, or a (low, high) pair for each, flat.

Returns:
    Tensor: (N, O, {result}).

Example:
    >>> print({name}({given}))
    {printed}
"""
    return _described(told(conv, name, doc))


conv1d = _convolving(1, "Tensor([[[1.0, 2.0, 3.0]]]), Tensor([[[1.0, 1.0]]])", "[[[3. 5.]]]")
conv2d = _convolving(2, "Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), Tensor([[[[1.0, 1.0]]]])", "[[[[3.]\n       [7.]]]]")
conv3d = _convolving(3, "Tensor([[[[[1.0, 2.0, 3.0]]]]]), Tensor([[[[[1.0, 1.0]]]]])", "[[[[[3. 5.]]]]]")


def _conv_transpose(
    name: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    pad_mode: str,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
    output_size: tuple[int, ...] | None = None,
) -> Tensor:
    """Transposed convolution; `output_size` (spatial) decides between the sizes that a stride leaves open."""
    _check_ranks(name, rank, input=input, weight=weight)
    _check_channels(name, input, input.shape[1], weight, groups, weight.shape[0])
    steps = per_dimension(name, "stride", stride, rank)
    holes = per_dimension(name, "dilation", dilation, rank)
    extra = per_dimension(name, "output_padding", output_padding, rank, 0)
    found = padding_of(name, pad_mode, padding, rank)
    pads: list[tuple[int, int]] = []
    grow = list(extra)
    for i, (size, window, step, hole) in enumerate(zip(input.shape[2:], weight.shape[2:], steps, holes, strict=True)):
        reach = hole * (window - 1) + 1
        whole = (size - 1) * step + reach
        low, high = (0, 0) if isinstance(found, str) else found[i]
        if found == "SAME":
            wanted = output_size[i] if output_size else size * step
            total = max(whole - wanted, 0)
            low, high = total // 2, total - total // 2
            grow[i] = max(wanted - whole, 0)
        elif output_size:
            grow[i] = output_size[i] - (whole - low - high)
            if not 0 <= grow[i] < max(step, 2):
                raise ValueError(f"{name}: no input size gives {output_size} with this stride and padding")
        elif found == "VALID":
            grow[i] += max(step - reach, 0)
        pads.append((low, high))
    return _transposed(input, weight, bias, steps, tuple(pads), tuple(grow), holes, groups)


def _transposing(rank: int, over: str, input: str, weight: str, printed: str) -> Callable[..., Tensor]:
    """The function that convolves, transposed, over so many dimensions."""
    name = f"conv_transpose{rank}d"

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        pad_mode: str = "pad",
    ) -> Tensor:
        settings = (stride, pad_mode, padding, output_padding, groups, dilation)
        return _conv_transpose(name, rank, input, weight, bias, *settings)

    told(conv, name, f"Transposed convolution over {over}.")
    return shows(f"{name}(Tensor({input}), Tensor({weight}), stride=2)", printed)(conv)


conv_transpose1d = _transposing(
    1, "one dimension; see `conv_transpose2d`", "[[[1.0, 2.0]]]", "[[[1.0, 1.0]]]", "[[[1. 1. 2. 2.]]]"
)
conv_transpose2d = described(
    input="(N, C, H, W).",
    weight="(C, O / groups, KH, KW).",
    bias="(O,) or None.",
    stride="step.",
    padding="zeros that the convolution this one reverses had added.",
    output_padding="rows added on one side of the output.",
    groups="number of channel groups.",
    dilation="distance of the kernel's elements.",
    pad_mode='``"same"``, ``"valid"`` or ``"pad"``.',
    returns="Tensor: (N, O, H', W').",
)(_transposing(2, "two dimensions", "[[[[1.0, 2.0]]]]", "[[[[1.0], [1.0]]]]", "[[[[1. 0. 2.]\n       [1. 0. 2.]]]]"))


def conv3d_transpose(
    inputs: Tensor,
    weight: Tensor,
    pad_mode: str = "valid",
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    group: int = 1,
    output_padding: Any = 0,
) -> Tensor:
    """Transposed convolution over three dimensions; see `conv_transpose2d`.

    Example:
        >>> import numpy as np
        >>> ones = Tensor(np.ones((1, 1, 2, 2, 2), np.float32))
        >>> print(conv3d_transpose(ones, ones, stride=2).shape)
        (1, 1, 4, 4, 4)
    """
    return _conv_transpose(
        "conv3d_transpose", 3, inputs, weight, None, stride, pad_mode, padding, output_padding, group, dilation
    )


# -- operator classes ------------------------------------------------------------------------------------------------


def _check_weight(name: str, weight: Tensor, out_channel: int, kernel_size: Any, mode: int) -> None:
    if mode != 1:
        raise ValueError(f"{name}: mode must be 1, not {mode!r}; use group=channels for a depthwise convolution")
    kernel = per_dimension(name, "kernel_size", kernel_size, 2)
    if weight.ndim != 4 or weight.shape[0] != out_channel or weight.shape[2:] != kernel:
        raise ValueError(
            f"{name}: the weight has shape {weight.shape}; {out_channel} output channels and kernel size {kernel} "
            "were announced"
        )


def _conv2d(x: Tensor, weight: Tensor, *, out_channel: int, kernel_size: Any, mode: int, **settings: Any) -> Tensor:
    """Convolve over two dimensions: ``Conv2D(out_channel, kernel_size)(x, weight)``."""
    _check_weight("Conv2D", weight, out_channel, kernel_size, mode)
    return convolve("Conv2D", 2, x, weight, None, **settings)


def _conv3d(
    x: Tensor, weight: Tensor, *, out_channel: int, kernel_size: Any, mode: int, data_format: str, **settings: Any
) -> Tensor:
    """Convolve over three dimensions: ``Conv3D(out_channel, kernel_size)(x, weight)``."""
    del out_channel, kernel_size, mode, data_format
    return convolve("Conv3D", 3, x, weight, None, **settings)


def _conv2d_transpose(
    dout: Tensor,
    weight: Tensor,
    input_size: Any,
    *,
    out_channel: int,
    kernel_size: Any,
    pad_list: Any,
    mode: int,
    data_format: str,
    **settings: Any,
) -> Tensor:
    """The input gradient of a convolution: ``Conv2DTranspose(...)(dout, weight, input_size)``."""
    only("Conv2DTranspose", "NCHW", data_format=data_format)
    _check_weight("Conv2DTranspose", weight, out_channel, kernel_size, mode)
    if pad_list is not None:
        settings["padding"] = pad_list
    size = tuple(freeze(input_size))[2:]
    return _conv_transpose("Conv2DTranspose", 2, dout, weight, None, output_padding=0, output_size=size, **settings)


def _conv3d_transpose(
    dout: Tensor,
    weight: Tensor,
    *,
    in_channel: int,
    out_channel: int,
    kernel_size: Any,
    mode: int,
    groups: int,
    data_format: str,
    **settings: Any,
) -> Tensor:
    """The input gradient of a convolution over three dimensions: ``Conv3DTranspose(...)(dout, weight)``."""
    name = "Conv3DTranspose"
    if mode != 1 or data_format != "NCDHW":
        raise ValueError(f"{name}: mode must be 1 and data_format 'NCDHW', not {mode!r} and {data_format!r}")
    kernel = per_dimension(name, "kernel_size", kernel_size, 3)
    if weight.shape != (in_channel, out_channel // groups, *kernel):
        raise ValueError(
            f"{name}: the weight has shape {weight.shape}; {in_channel} and {out_channel} channels and kernel size "
            f"{kernel} were announced"
        )
    return _conv_transpose(name, 3, dout, weight, None, groups=groups, **settings)


_SETTINGS: Final = "out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1"
_TRANSPOSED: Final = (
    "out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, mode=1, stride=1, dilation=1, group=1, "
    "data_format='NCHW'"
)
_RENAMED: Final = {"pad": "padding", "group": "groups"}
operator_class("Conv2D", _conv2d, f"{_SETTINGS}, data_format='NCHW'", _RENAMED)
operator_class("Conv3D", _conv3d, f"{_SETTINGS}, data_format='NCDHW'", _RENAMED)
operator_class("Conv2DTranspose", _conv2d_transpose, _TRANSPOSED, _RENAMED)
operator_class("Conv2DBackpropInput", _conv2d_transpose, _TRANSPOSED, _RENAMED)
operator_class(
    "Conv3DTranspose", _conv3d_transpose, f"in_channel, {_SETTINGS}, output_padding=0, data_format='NCDHW'", _RENAMED
)
