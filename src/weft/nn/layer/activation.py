"""Activations as cells."""

from __future__ import annotations

from typing import Any, Final

from weft.core.tensor import Parameter, Tensor
from weft.nn.cell import Cell
from weft.nn.declared import Applied, declared, flag, real
from weft.nn.initializer import initializer
from weft.ops import activation as ops
from weft.ops.dropout import rrelu


class ReLU(Applied, operation=ops.relu):
    """`relu` as a cell.

    Example:
        >>> import weft
        >>> print(ReLU()(weft.Tensor([-1.0, 2.0])))
        [0. 2.]
    """


class ReLU6(Applied, operation=ops.relu6):
    """`relu6` as a cell.

    Example:
        >>> import weft
        >>> print(ReLU6()(weft.Tensor([-1.0, 8.0])))
        [0. 6.]
    """


class Sigmoid(Applied, operation=ops.sigmoid):
    """`sigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(Sigmoid()(weft.Tensor([0.0])))
        [0.5]
    """


class Tanh(Applied, operation=ops.tanh):
    """`tanh` as a cell.

    Example:
        >>> import weft
        >>> print(Tanh()(weft.Tensor([0.0])))
        [0.]
    """


class GELU(Applied, operation=ops.gelu):
    """`gelu` as a cell.

    Args:
        approximate: use the tanh formula.

    Example:
        >>> import weft
        >>> print(GELU()(weft.Tensor([0.0])))
        [0.]
    """

    @declared(approximate=lambda *given: "tanh" if flag(*given) else "none")
    def __init__(self, approximate: bool = True) -> None: ...


class FastGelu(Applied, operation=ops.fast_gelu):
    """`fast_gelu` as a cell.

    Example:
        >>> import weft
        >>> print(FastGelu()(weft.Tensor([0.0])))
        [0.]
    """


class LeakyReLU(Applied, operation=ops.leaky_relu):
    """`leaky_relu` as a cell.

    Args:
        alpha: slope of the negative side.

    Example:
        >>> import weft
        >>> print(LeakyReLU(0.5)(weft.Tensor([-1.0, 2.0])))
        [-0.5  2. ]
    """

    @declared(alpha=real)
    def __init__(self, alpha: float = 0.2) -> None: ...


class RReLU(Applied, operation=rrelu):
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

    @declared()
    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None: ...

    def _made(self) -> None:
        rrelu(Tensor([0.0]), self.lower, self.upper)


class ELU(Applied, operation=ops.elu):
    """`elu` as a cell.

    Args:
        alpha: scale of the negative side.

    Example:
        >>> import weft
        >>> print(ELU()(weft.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    @declared(alpha=real)
    def __init__(self, alpha: float = 1.0) -> None: ...


class CELU(Applied, operation=ops.celu):
    """`celu` as a cell.

    Args:
        alpha: scale of the negative side.

    Example:
        >>> import weft
        >>> print(CELU()(weft.Tensor([0.0, 2.0])))
        [0. 2.]
    """

    @declared(alpha=real)
    def __init__(self, alpha: float = 1.0) -> None: ...


class SeLU(Applied, operation=ops.selu):
    """`selu` as a cell.

    Example:
        >>> import weft
        >>> print(SeLU()(weft.Tensor([0.0])))
        [0.]
    """


class HSwish(Applied, operation=ops.hardswish):
    """`hardswish` as a cell.

    Example:
        >>> import weft
        >>> print(HSwish()(weft.Tensor([3.0])))
        [3.]
    """


class HSigmoid(Applied, operation=ops.hardsigmoid):
    """`hardsigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(HSigmoid()(weft.Tensor([0.0])))
        [0.5]
    """


class Hardtanh(Applied, operation=ops.hardtanh):
    """`hardtanh` as a cell.

    Args:
        min_val: lower bound.
        max_val: upper bound.

    Example:
        >>> import weft
        >>> print(Hardtanh()(weft.Tensor([-2.0, 0.5])))
        [-1.   0.5]
    """

    @declared(min_val=real, max_val=real)
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None: ...


class HShrink(Applied, operation=ops.hardshrink):
    """`hardshrink` as a cell.

    Args:
        lambd: threshold.

    Example:
        >>> import weft
        >>> print(HShrink()(weft.Tensor([0.25, 2.0])))
        [0. 2.]
    """

    @declared(lambd=real)
    def __init__(self, lambd: float = 0.5) -> None: ...


class SoftShrink(Applied, operation=ops.softshrink):
    """`softshrink` as a cell.

    Args:
        lambd: threshold.

    Example:
        >>> import weft
        >>> print(SoftShrink()(weft.Tensor([0.25, 2.0])))
        [0.  1.5]
    """

    @declared(lambd=real)
    def __init__(self, lambd: float = 0.5) -> None: ...


class Mish(Applied, operation=ops.mish):
    """`mish` as a cell.

    Example:
        >>> import weft
        >>> print(Mish()(weft.Tensor([0.0])))
        [0.]
    """


class SiLU(Applied, operation=ops.silu):
    """`silu` as a cell.

    Example:
        >>> import weft
        >>> print(SiLU()(weft.Tensor([0.0])))
        [0.]
    """


class Softplus(Applied, operation=ops.softplus):
    """`softplus` as a cell.

    Args:
        beta: sharpness.
        threshold: where the function becomes the identity.

    Example:
        >>> import weft
        >>> print(Softplus()(weft.Tensor([30.0])))
        [30.]
    """

    @declared()
    def __init__(self, beta: float = 1, threshold: float = 20) -> None: ...


class Softsign(Applied, operation=ops.softsign):
    """`softsign` as a cell.

    Example:
        >>> import weft
        >>> print(Softsign()(weft.Tensor([1.0])))
        [0.5]
    """


class Tanhshrink(Applied, operation=ops.tanhshrink):
    """`tanhshrink` as a cell.

    Example:
        >>> import weft
        >>> print(Tanhshrink()(weft.Tensor([0.0])))
        [0.]
    """


class Threshold(Applied, operation=ops.threshold):
    """`threshold` as a cell.

    Args:
        threshold: elements above stay.
        value: what the others become.

    Example:
        >>> import weft
        >>> print(Threshold(1.0, 9.0)(weft.Tensor([0.0, 2.0])))
        [9. 2.]
    """

    @declared()
    def __init__(self, threshold: float, value: float) -> None: ...


class LogSigmoid(Applied, operation=ops.logsigmoid):
    """`logsigmoid` as a cell.

    Example:
        >>> import weft
        >>> print(LogSigmoid()(weft.Tensor([100.0])) == 0)
        [ True]
    """


class Softmax(Applied, operation=ops.softmax):
    """`softmax` as a cell.

    Args:
        axis: axis, or tuple of axes.

    Example:
        >>> import weft
        >>> print(Softmax()(weft.Tensor([0.0, 0.0])))
        [0.5 0.5]
    """

    @declared()
    def __init__(self, axis: Any = -1) -> None: ...


class Softmin(Applied, operation=ops.softmin):
    """`softmin` as a cell.

    Args:
        axis: axis, or tuple of axes.

    Example:
        >>> import weft
        >>> print(Softmin()(weft.Tensor([0.0, 0.0])))
        [0.5 0.5]
    """

    @declared()
    def __init__(self, axis: Any = -1) -> None: ...


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


class LogSoftmax(Applied, operation=ops.log_softmax):
    """`log_softmax` as a cell.

    Args:
        axis: axis.

    Example:
        >>> import weft
        >>> print(LogSoftmax()(weft.Tensor([0.0])))
        [0.]
    """

    @declared()
    def __init__(self, axis: int = -1) -> None: ...


class GLU(Applied, operation=ops.glu):
    """`glu` as a cell.

    Args:
        axis: axis to halve.

    Example:
        >>> import weft
        >>> print(GLU()(weft.Tensor([2.0, 0.0])))
        [1.]
    """

    @declared()
    def __init__(self, axis: int = -1) -> None: ...


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
