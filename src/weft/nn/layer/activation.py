"""Activations as cells."""

from __future__ import annotations

from typing import Any, Final

from weft.core import Parameter, Tensor, shows
from weft.nn.cell import Cell
from weft.nn.declared import Applied, Described, Shown, declared, flag, real, signed
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


def _of(operation: Any, name: str, *shown: str, **settings: Any) -> Any:
    """The cell of an operation; `settings` are what its constructor takes, and what each is by default."""
    body: dict[str, Any] = {"__doc__": f"`{operation.__name__}` as a cell.", "__module__": __name__}
    if settings:
        kinds = {setting: type(default).__name__ for setting, default in settings.items()}
        making = declared(**{setting: real for setting, kind in kinds.items() if kind == "float"})
        body["__init__"] = making(signed({**kinds, "return": "None"}, settings))
    return type(name, (_Activation,), body, operation=operation, shows=shown)


ReLU = _of(ops.relu, "ReLU", "", "-1.0, 2.0", "0. 2.")
ReLU6 = _of(ops.relu6, "ReLU6", "", "-1.0, 8.0", "0. 6.")
Sigmoid = _of(ops.sigmoid, "Sigmoid", "", "0.0", "0.5")
Tanh = _of(ops.tanh, "Tanh", "", "0.0", "0.")
FastGelu = _of(ops.fast_gelu, "FastGelu", "", "0.0", "0.")
LeakyReLU = _of(ops.leaky_relu, "LeakyReLU", "0.5", "-1.0, 2.0", "-0.5  2. ", alpha=0.2)
ELU = _of(ops.elu, "ELU", "", "0.0, 2.0", "0. 2.", alpha=1.0)
CELU = _of(ops.celu, "CELU", "", "0.0, 2.0", "0. 2.", alpha=1.0)
SeLU = _of(ops.selu, "SeLU", "", "0.0", "0.")
HSwish = _of(ops.hardswish, "HSwish", "", "3.0", "3.")
HSigmoid = _of(ops.hardsigmoid, "HSigmoid", "", "0.0", "0.5")
Hardtanh = _of(ops.hardtanh, "Hardtanh", "", "-2.0, 0.5", "-1.   0.5", min_val=-1.0, max_val=1.0)
HShrink = _of(ops.hardshrink, "HShrink", "", "0.25, 2.0", "0. 2.", lambd=0.5)
SoftShrink = _of(ops.softshrink, "SoftShrink", "", "0.25, 2.0", "0.  1.5", lambd=0.5)
Mish = _of(ops.mish, "Mish", "", "0.0", "0.")
SiLU = _of(ops.silu, "SiLU", "", "0.0", "0.")
Softsign = _of(ops.softsign, "Softsign", "", "1.0", "0.5")
Tanhshrink = _of(ops.tanhshrink, "Tanhshrink", "", "0.0", "0.")
LogSigmoid = _of(ops.logsigmoid, "LogSigmoid", "", "0.0", "-0.6931472")
LogSoftmax = _of(ops.log_softmax, "LogSoftmax", "", "0.0", "0.", axis=-1)


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
