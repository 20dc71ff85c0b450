"""Activations as cells."""

from __future__ import annotations

from typing import Any, Final

from weft.core.tensor import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.initializer import initializer
from weft.ops import activation as ops
from weft.ops.dropout import rrelu


class ReLU(Cell):
    """`relu` as a cell.

    Example:
        >>> import weft
        >>> print(ReLU()(weft.Tensor([-1.0, 2.0])))
        [0. 2.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class ReLU6(Cell):
    """`relu6` as a cell.

    Example:
        >>> import weft
        >>> print(ReLU6()(weft.Tensor([-1.0, 8.0])))
        [0. 6.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class Sigmoid(Cell):
    """`sigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(Sigmoid()(weft.Tensor([0.0])))
        [0.5]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)


class Tanh(Cell):
    """`tanh` as a cell.

    Example:
        >>> import weft
        >>> print(Tanh()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class GELU(Cell):
    """`gelu` as a cell.

    Args:
        approximate: use the tanh formula.

    Example:
        >>> import weft
        >>> print(GELU()(weft.Tensor([0.0])))
        [0.]
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        if not isinstance(approximate, bool):
            raise TypeError(f"GELU: approximate must be a bool, not {type(approximate).__name__}")
        self.approximate = "tanh" if approximate else "none"

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, self.approximate)


class FastGelu(Cell):
    """`fast_gelu` as a cell.

    Example:
        >>> import weft
        >>> print(FastGelu()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.fast_gelu(x)


class LeakyReLU(Cell):
    """`leaky_relu` as a cell.

    Args:
        alpha: slope of the negative side.

    Example:
        >>> import weft
        >>> print(LeakyReLU(0.5)(weft.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = float(alpha)

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class RReLU(Cell):
    """`rrelu` as a cell.

    Args:
        lower: the smallest slope of the negative side.
        upper: the largest slope.

    Raises:
        TypeError: a slope is no number.
        ValueError: a slope is not from 0 to 1, or `lower` is larger than `upper`.

    Example:
        >>> import weft
        >>> print(RReLU(0.5, 0.5)(weft.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        rrelu(Tensor([0.0]), lower, upper)
        self.lower = lower
        self.upper = upper

    def construct(self, x: Tensor) -> Tensor:
        return rrelu(x, self.lower, self.upper)


class ELU(Cell):
    """`elu` as a cell.

    Args:
        alpha: scale of the negative side.

    Example:
        >>> import weft
        >>> print(ELU()(weft.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = float(alpha)

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """`celu` as a cell.

    Args:
        alpha: scale of the negative side.

    Example:
        >>> import weft
        >>> print(CELU()(weft.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = float(alpha)

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class SeLU(Cell):
    """`selu` as a cell.

    Example:
        >>> import weft
        >>> print(SeLU()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.selu(x)


class HSwish(Cell):
    """`hardswish` as a cell.

    Example:
        >>> import weft
        >>> print(HSwish()(weft.Tensor([3.0])))
        [3.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardswish(x)


class HSigmoid(Cell):
    """`hardsigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(HSigmoid()(weft.Tensor([0.0])))
        [0.5]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardsigmoid(x)


class Hardtanh(Cell):
    """`hardtanh` as a cell.

    Args:
        min_val: lower bound.
        max_val: upper bound.

    Example:
        >>> import weft
        >>> print(Hardtanh()(weft.Tensor([-2.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val = float(min_val)
        self.max_val = float(max_val)

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class HShrink(Cell):
    """`hardshrink` as a cell.

    Args:
        lambd: threshold.

    Example:
        >>> import weft
        >>> print(HShrink()(weft.Tensor([0.25, 2.0])))
        [0. 2.]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = float(lambd)

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardshrink(x, self.lambd)


class SoftShrink(Cell):
    """`softshrink` as a cell.

    Args:
        lambd: threshold.

    Example:
        >>> import weft
        >>> print(SoftShrink()(weft.Tensor([0.25, 2.0])))
        [0.  1.5]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = float(lambd)

    def construct(self, x: Tensor) -> Tensor:
        return ops.softshrink(x, self.lambd)


class Mish(Cell):
    """`mish` as a cell.

    Example:
        >>> import weft
        >>> print(Mish()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.mish(x)


class SiLU(Cell):
    """`silu` as a cell.

    Example:
        >>> import weft
        >>> print(SiLU()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)


class Softplus(Cell):
    """`softplus` as a cell.

    Args:
        beta: sharpness.
        threshold: where the function becomes the identity.

    Example:
        >>> import weft
        >>> print(Softplus()(weft.Tensor([30.0])))
        [30.]
    """

    def __init__(self, beta: float = 1, threshold: float = 20) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def construct(self, x: Tensor) -> Tensor:
        return ops.softplus(x, self.beta, self.threshold)


class Softsign(Cell):
    """`softsign` as a cell.

    Example:
        >>> import weft
        >>> print(Softsign()(weft.Tensor([1.0])))
        [0.5]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class Tanhshrink(Cell):
    """`tanhshrink` as a cell.

    Example:
        >>> import weft
        >>> print(Tanhshrink()(weft.Tensor([0.0])))
        [0.]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


class Threshold(Cell):
    """`threshold` as a cell.

    Args:
        threshold: elements above stay.
        value: what the others become.

    Example:
        >>> import weft
        >>> print(Threshold(1.0, 9.0)(weft.Tensor([0.0, 2.0])))
        [9. 2.]
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        return ops.threshold(x, self.threshold, self.value)


class LogSigmoid(Cell):
    """`logsigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(LogSigmoid()(weft.Tensor([100.0])) == 0)
        [ True]
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsigmoid(x)


class Softmax(Cell):
    """`softmax` as a cell.

    Args:
        axis: axis, or tuple of axes.

    Example:
        >>> import weft
        >>> print(Softmax()(weft.Tensor([0.0, 0.0])))
        [0.5 0.5]
    """

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.axis)


class Softmin(Cell):
    """`softmin` as a cell.

    Args:
        axis: axis, or tuple of axes.

    Example:
        >>> import weft
        >>> print(Softmin()(weft.Tensor([0.0, 0.0])))
        [0.5 0.5]
    """

    def __init__(self, axis: Any = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmin(x, self.axis)


class Softmax2d(Cell):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    Example:
        >>> import weft
        >>> print(Softmax2d()(weft.Tensor([[[0.0]], [[0.0]]])))
        [[[0.5]]
         [[0.5]]]
    """

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: the input must have 3 or 4 dimensions, not shape {x.shape}")
        return ops.softmax(x, -3)


class LogSoftmax(Cell):
    """`log_softmax` as a cell.

    Args:
        axis: axis.

    Example:
        >>> import weft
        >>> print(LogSoftmax()(weft.Tensor([0.0])))
        [0.]
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.axis)


class GLU(Cell):
    """`glu` as a cell.

    Args:
        axis: axis to halve.

    Example:
        >>> import weft
        >>> print(GLU()(weft.Tensor([2.0, 0.0])))
        [1.]
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.axis)


class PReLU(Cell):
    """`prelu` as a cell with learned slopes.

    Args:
        channel: number of slopes, 1 or the number of channels.
        w: initial slope: a number, an initializer or a Tensor.

    Example:
        >>> import weft
        >>> print(PReLU()(weft.Tensor([[-2.0, 1.0]])))
        [[-0.5  1. ]]
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        if isinstance(channel, bool) or not isinstance(channel, int) or channel < 1:
            raise ValueError(f"PReLU: channel must be a positive int, not {channel!r}")
        self.w = Parameter(initializer(w, (channel,)), name="a")

    def construct(self, x: Tensor) -> Tensor:
        return ops.prelu(x, self.w)


_BY_NAME: Final[dict[str, type[Cell]]] = {
    "softmax": Softmax, "softmin": Softmin, "softmax2d": Softmax2d, "logsoftmax": LogSoftmax, "relu": ReLU,
    "relu6": ReLU6, "tanh": Tanh, "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid,
    "prelu": PReLU, "leakyrelu": LeakyReLU, "leaky_relu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid,
    "logsigmoid": LogSigmoid, "softshrink": SoftShrink, "hshrink": HShrink, "silu": SiLU, "mish": Mish,
    "softplus": Softplus, "softsign": Softsign, "selu": SeLU, "celu": CELU, "glu": GLU, "hardtanh": Hardtanh,
    "tanhshrink": Tanhshrink, "threshold": Threshold,
}  # fmt: skip


def get_activation(name: str | None, prim_name: str = "") -> Cell | None:
    """An activation cell by name.

    Args:
        name: such as ``"relu"`` or ``"leakyrelu"``; None gives None.
        prim_name: shown in the error.

    Raises:
        KeyError: the name is unknown.

    Example:
        >>> get_activation("relu")
        ReLU()
    """
    if not name:
        return None
    found = _BY_NAME.get(name.lower())
    if found is None:
        known = ", ".join(sorted(_BY_NAME))
        raise KeyError(f"{prim_name or 'get_activation'}: {name!r} is no activation; known: {known}")
    return found()
