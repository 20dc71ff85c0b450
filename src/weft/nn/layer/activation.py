"""Activations as cells."""

from __future__ import annotations

from typing import Any, Final

from weft.core import Parameter, Tensor, shows
from weft.nn.cell import Cell
from weft.nn.declared import Applied, Described, Shown, declared, flag, real
from weft.nn.initializer import initializer
from weft.ops import activation as ops
from weft.ops.dropout import rrelu


class _Activation(Described, Applied):
    """Base of the activations that an operation computes.

    Args:
        alpha: scale of the negative side.
        lambd: threshold.
        axis: axis.
        min_val: lower bound.
        max_val: upper bound.
    """

    _example = """
        >>> import weft
        >>> print({name}({})(weft.Tensor([{}])))
        [{}]
    """

    def __init_subclass__(cls, operation: Any = None, **kwargs: Any) -> None:
        if operation is not None:
            cls.__doc__ = cls.__doc__ or f"`{operation.__name__}` as a cell."
        super().__init_subclass__(operation=operation, **kwargs)


# fmt: off
class ReLU(_Activation, operation=ops.relu, shows=("", "-1.0, 2.0", "0. 2.")): ...
class ReLU6(_Activation, operation=ops.relu6, shows=("", "-1.0, 8.0", "0. 6.")): ...
class Sigmoid(_Activation, operation=ops.sigmoid, shows=("", "0.0", "0.5")): ...
class Tanh(_Activation, operation=ops.tanh, shows=("", "0.0", "0.")): ...
class FastGelu(_Activation, operation=ops.fast_gelu, shows=("", "0.0", "0.")): ...
class SeLU(_Activation, operation=ops.selu, shows=("", "0.0", "0.")): ...
class HSwish(_Activation, operation=ops.hardswish, shows=("", "3.0", "3.")): ...
class HSigmoid(_Activation, operation=ops.hardsigmoid, shows=("", "0.0", "0.5")): ...
class Mish(_Activation, operation=ops.mish, shows=("", "0.0", "0.")): ...
class SiLU(_Activation, operation=ops.silu, shows=("", "0.0", "0.")): ...
class Softsign(_Activation, operation=ops.softsign, shows=("", "1.0", "0.5")): ...
class Tanhshrink(_Activation, operation=ops.tanhshrink, shows=("", "0.0", "0.")): ...
class LogSigmoid(_Activation, operation=ops.logsigmoid, shows=("", "0.0", "-0.6931472")): ...
# fmt: on


class LeakyReLU(_Activation, operation=ops.leaky_relu, shows=("0.5", "-1.0, 2.0", "-0.5  2. ")):
    @declared(alpha=real)
    def __init__(self, alpha: float = 0.2) -> None: ...


class ELU(_Activation, operation=ops.elu, shows=("", "0.0, 2.0", "0. 2.")):
    @declared(alpha=real)
    def __init__(self, alpha: float = 1.0) -> None: ...


class CELU(_Activation, operation=ops.celu, shows=("", "0.0, 2.0", "0. 2.")):
    @declared(alpha=real)
    def __init__(self, alpha: float = 1.0) -> None: ...


class Hardtanh(_Activation, operation=ops.hardtanh, shows=("", "-2.0, 0.5", "-1.   0.5")):
    @declared(min_val=real, max_val=real)
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None: ...


class HShrink(_Activation, operation=ops.hardshrink, shows=("", "0.25, 2.0", "0. 2.")):
    @declared(lambd=real)
    def __init__(self, lambd: float = 0.5) -> None: ...


class SoftShrink(_Activation, operation=ops.softshrink, shows=("", "0.25, 2.0", "0.  1.5")):
    @declared(lambd=real)
    def __init__(self, lambd: float = 0.5) -> None: ...


class LogSoftmax(_Activation, operation=ops.log_softmax, shows=("", "0.0", "0.")):
    @declared()
    def __init__(self, axis: int = -1) -> None: ...


class GELU(_Activation, operation=ops.gelu, shows=("", "0.0", "0.")):
    """`gelu` as a cell.

    Args:
        approximate: use the tanh formula.
    """

    @declared(approximate=lambda *given: "tanh" if flag(*given) else "none")
    def __init__(self, approximate: bool = True) -> None: ...


class RReLU(_Activation, operation=rrelu, shows=("0.5, 0.5", "-1.0, 2.0", "-0.5  2. ")):
    """`rrelu` as a cell.

    Args:
        lower: the smallest slope of the negative side.
        upper: the largest slope.

    Raises:
        TypeError: a slope is no number.
        ValueError: a slope is not from 0 to 1, or `lower` is larger than `upper`.
    """

    @declared()
    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None: ...

    def _made(self) -> None:
        rrelu(Tensor([0.0]), self.lower, self.upper)


class Softplus(_Activation, operation=ops.softplus, shows=("", "30.0", "30.")):
    """`softplus` as a cell.

    Args:
        beta: sharpness.
        threshold: where the function becomes the identity.
    """

    @declared()
    def __init__(self, beta: float = 1, threshold: float = 20) -> None: ...


class Threshold(_Activation, operation=ops.threshold, shows=("1.0, 9.0", "0.0, 2.0", "9. 2.")):
    """`threshold` as a cell.

    Args:
        threshold: elements above stay.
        value: what the others become.
    """

    @declared()
    def __init__(self, threshold: float, value: float) -> None: ...


class Softmax(_Activation, operation=ops.softmax, shows=("", "0.0, 0.0", "0.5 0.5")):
    """`softmax` as a cell.

    Args:
        axis: axis, or tuple of axes.
    """

    @declared()
    def __init__(self, axis: Any = -1) -> None: ...


class Softmin(_Activation, operation=ops.softmin, shows=("", "0.0, 0.0", "0.5 0.5")):
    """`softmin` as a cell.

    Args:
        axis: axis, or tuple of axes.
    """

    @declared()
    def __init__(self, axis: Any = -1) -> None: ...


class Softmax2d(Shown, shows=("Softmax2d()(Tensor([[[0.0]], [[0.0]]])).reshape(-1)", "[0.5 0.5]")):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: the input must have 3 or 4 dimensions, not shape {x.shape}")
        return ops.softmax(x, -3)


class GLU(_Activation, operation=ops.glu, shows=("", "2.0, 0.0", "1.")):
    """`glu` as a cell.

    Args:
        axis: axis to halve.
    """

    @declared()
    def __init__(self, axis: int = -1) -> None: ...


class PReLU(Shown, shows=("PReLU()(Tensor([[-2.0, 1.0]]))", "[[-0.5  1. ]]")):
    """`prelu` as a cell with learned slopes.

    Args:
        channel: number of slopes, 1 or the number of channels.
        w: initial slope: a number, an initializer or a Tensor.
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


@shows('get_activation("relu")', "ReLU()")
def get_activation(name: str | None, prim_name: str = "") -> Cell | None:
    """An activation cell by name.

    Args:
        name: such as ``"relu"`` or ``"leakyrelu"``; None gives None.
        prim_name: shown in the error.

    Raises:
        KeyError: the name is unknown.
    """
    if not name:
        return None
    found = _BY_NAME.get(name.lower())
    if found is None:
        known = ", ".join(sorted(_BY_NAME))
        raise KeyError(f"{prim_name or 'get_activation'}: {name!r} is no activation; known: {known}")
    return found()
