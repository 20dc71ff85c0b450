"""Initializers: how new parameters get their values.

Each has ``materialize(shape, dtype)``, which `Tensor(init=...)` and `initializer` call; random ones draw from the
stream that `set_seed` seeds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from weft import dtypes
from weft.core import Tensor, shows
from weft.dtypes import DType
from weft.nn.declared import Described, constructor, keep
from weft.ops._checks import one_of
from weft.ops.random import numpy_generator

Shape = tuple[int, ...]
Values = np.ndarray[Any, Any]


class Initializer(Described):
    """Base of the initializers: override `_fill`.

    Args:
        kwargs: settings that a subclass wants to keep.

    Example:
        >>> class Sevens(Initializer):
        ...     def _fill(self, shape):
        ...         return np.full(shape, 7.0)
        >>> print(initializer(Sevens(), [2]))
        [7. 7.]
    """

    _example = """
        >>> initializer({name}({}), {}).shape
        {}
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    if TYPE_CHECKING:  # the arguments of a declared constructor are attributes

        def __getattr__(self, name: str) -> Any: ...

    def materialize(self, shape: Shape, dtype: DType) -> Values:
        """The values as a NumPy array.

        Args:
            shape: dimensions.
            dtype: element type.
        """
        if type(self)._fill is Initializer._fill:
            array = np.zeros(shape, dtype.np_dtype)
            self._initialize(array)  # the extension point of existing programs: fills the array in place
            return array
        return np.asarray(self._fill(shape)).astype(dtype.np_dtype, copy=False)

    def __call__(self, arr: Any) -> None:
        """Fill a NumPy array; what is none stays as it is, as in MindSpore.

        Args:
            arr: the array.
        """
        if isinstance(arr, np.ndarray):
            np.copyto(arr, self.materialize(arr.shape, dtypes.of_np(arr.dtype)))

    def _fill(self, shape: Shape) -> Any:
        raise NotImplementedError

    def _initialize(self, arr: Values) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _fill(shape) or _initialize(array)")

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if k != "_kwargs")
        return f"{type(self).__name__}({fields})"


def _build(self: Initializer, owner: Any, given: dict[str, Any]) -> None:
    Initializer.__init__(self, **given)
    keep(self, owner, given, {})


#: makes the constructor of a signature, of which all arguments are kept
_kept = constructor(_build)


@shows('initializer("zeros", [2])', "[0. 0.]")
class Zero(Initializer):
    """Zeros."""

    def _fill(self, shape: Shape) -> Values:
        return np.zeros(shape, np.float32)


@shows("initializer(One(), [2])", "[1. 1.]")
class One(Initializer):
    """Ones."""

    def _fill(self, shape: Shape) -> Values:
        return np.ones(shape, np.float32)


@shows("initializer(Constant(3), [2])", "[3. 3.]")
class Constant(Initializer):
    """One number everywhere.

    Args:
        value: the number.
    """

    @_kept
    def __init__(self, value: Any) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        return np.broadcast_to(np.asarray(self.value), shape)


class Uniform(Initializer, shows=("0.1", "[4]", "(4,)")):
    """Uniform in ``[-scale, scale)``.

    Args:
        scale: bound.
    """

    @_kept
    def __init__(self, scale: float = 0.07) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        return numpy_generator().uniform(-self.scale, self.scale, shape)


class Normal(Initializer, shows=("0.1, 1.0", "[4]", "(4,)")):
    """Normal distribution.

    Args:
        sigma: standard deviation.
        mean: mean.
    """

    @_kept
    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        return numpy_generator().normal(self.mean, self.sigma, shape)


@shows("abs(initializer(TruncatedNormal(1.0), [100]).asnumpy()).max() <= 2.0", "True")
class TruncatedNormal(Initializer):
    """Normal distribution, redrawn where it leaves ``[a, b]`` standard deviations.

    Args:
        sigma: standard deviation of the untruncated distribution.
        mean: mean.
        a: lower bound in standard deviations.
        b: upper bound in standard deviations.
    """

    @_kept
    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None: ...

    def _made(self) -> None:
        if not self.a < self.b:
            raise ValueError(f"TruncatedNormal: a must be below b, got a={self.a}, b={self.b}")

    def _fill(self, shape: Shape) -> Values:
        return _truncated(shape, self.a, self.b) * self.sigma + self.mean


def _truncated(shape: Shape, a: float, b: float) -> Values:
    """Standard normal values within [a, b], by redrawing (by inversion where little mass lies inside)."""
    generator = numpy_generator()
    low, high = (math.erf(bound / math.sqrt(2.0)) for bound in (a, b))
    if high - low < 0.1:
        grid = np.linspace(a, b, 4097)
        weights = np.exp(-0.5 * (grid**2 - np.min(grid**2)))
        cumulative = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
        return np.interp(generator.uniform(0.0, cumulative[-1], shape), cumulative, grid)
    values = np.asarray(generator.standard_normal(shape))
    while (outside := (values < a) | (values > b)).any():
        values[outside] = generator.standard_normal(int(outside.sum()))
    return values


def fans(shape: Shape) -> tuple[int, int]:
    """Inputs and outputs of one unit of a weight: ``(fan_in, fan_out)`` of shape (out, in, *kernel).

    Raises:
        ValueError: fewer than two dimensions.
    """
    if len(shape) < 2:
        raise ValueError(f"fan_in and fan_out need a weight of at least 2 dimensions, not shape {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


@shows('fan((3, 4), "fan_in"), fan((3, 4), "fan_out")', "4 3")
def fan(shape: Shape, mode: str) -> int:
    """Inputs or outputs of one unit of a weight, see `fans`.

    Args:
        shape: the shape of the weight.
        mode: ``"fan_in"`` or ``"fan_out"``, in letters of any case.

    Raises:
        ValueError: another mode, or fewer than two dimensions.
    """
    modes = ("fan_in", "fan_out")
    if not isinstance(mode, str) or mode.lower() not in modes:
        raise ValueError(f"'mode' {mode} not supported, please use one of {list(modes)}")
    return fans(shape)[modes.index(mode.lower())]


@shows("normal_values(0.0, 1.0, (2, 3)).shape", "(2, 3)")
def normal_values(mean: float, sigma: float, shape: Shape) -> np.ndarray[Any, Any]:
    """Normally distributed float32, drawn as initializers draw them.

    Args:
        mean: their mean.
        sigma: their standard deviation.
        shape: the shape.
    """
    return np.asarray(numpy_generator().normal(mean, sigma, shape), np.float32)


def uniform_values(a: float, b: float, shape: Shape) -> np.ndarray[Any, Any]:
    """Uniformly distributed float32 between two numbers, see `normal_values`."""
    return np.asarray(numpy_generator().uniform(a, b, shape), np.float32)


_GAINS: Final = {
    "linear": 1.0, "sigmoid": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0), "selu": 0.75,
}  # fmt: skip


@shows('round(calculate_gain("relu"), 3)', "1.414")
def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which an activation needs its weights larger.

    Args:
        nonlinearity: name of the activation.
        param: negative slope of ``"leaky_relu"``.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1.0 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"no gain is known for {nonlinearity!r}; known: {sorted([*_GAINS, 'leaky_relu'])}")
    return _GAINS[nonlinearity]


class _Scaled(Initializer):
    """Base: draws with a standard deviation that follows from the shape."""

    distribution = "untruncated_normal"

    def _std(self, shape: Shape) -> float:
        raise NotImplementedError

    def _fill(self, shape: Shape) -> Values:
        std = self._std(shape)
        if self.distribution == "uniform":
            return numpy_generator().uniform(-math.sqrt(3.0) * std, math.sqrt(3.0) * std, shape)
        if self.distribution == "untruncated_normal":
            return numpy_generator().normal(0.0, std, shape)
        # 0.8796... is the standard deviation of a standard normal cut at two standard deviations
        return _truncated(shape, -2.0, 2.0) * (std / 0.87962566103423978)


class _He(_Scaled):
    """Base: the variance that keeps activations' scale through rectifiers (He et al.).

    Args:
        negative_slope: slope of the rectifier's negative side.
        mode: ``"fan_in"`` keeps the forward scale, ``"fan_out"`` the backward one.
        nonlinearity: the activation that follows.
    """

    @_kept
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None: ...

    def _made(self) -> None:
        one_of(type(self).__name__, ("fan_in", "fan_out"), mode=self.mode)

    def _std(self, shape: Shape) -> float:
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan(shape, self.mode))


class HeUniform(_He, distribution="uniform", shows=("", "[4, 3]", "(4, 3)")):
    """Uniform with the variance that keeps activations' scale through rectifiers (He et al.)."""


class HeNormal(_He, shows=("", "[4, 3]", "(4, 3)")):
    """Normal with the variance that keeps activations' scale through rectifiers (He et al.)."""


class _Xavier(_Scaled):
    """Base: the variance that balances forward and backward scale (Glorot).

    Args:
        gain: scaling factor.
    """

    @_kept
    def __init__(self, gain: float = 1) -> None: ...

    def _std(self, shape: Shape) -> float:
        return self.gain * math.sqrt(2.0 / sum(fans(shape)))


class XavierUniform(_Xavier, distribution="uniform", shows=("", "[4, 3]", "(4, 3)")):
    """Uniform with the variance that balances forward and backward scale (Glorot)."""


class XavierNormal(_Xavier, shows=("", "[4, 3]", "(4, 3)")):
    """Normal with the variance that balances forward and backward scale (Glorot)."""


class VarianceScaling(_Scaled, shows=("", "[4, 3]", "(4, 3)")):
    """A distribution whose variance is ``scale / fan``.

    Args:
        scale: the variance's numerator.
        mode: ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``.
        distribution: ``"uniform"``, ``"truncated_normal"`` or ``"untruncated_normal"``.
    """

    @_kept
    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None: ...

    def _made(self) -> None:
        one_of("VarianceScaling", ("fan_in", "fan_out", "fan_avg"), mode=self.mode)
        known = ("uniform", "truncated_normal", "untruncated_normal")
        one_of("VarianceScaling", known, distribution=self.distribution)

    def _std(self, shape: Shape) -> float:
        units = sum(fans(shape)) / 2 if self.mode == "fan_avg" else fan(shape, self.mode)
        return math.sqrt(self.scale / max(1.0, units))


class Orthogonal(Initializer):
    """A (semi-)orthogonal matrix; further dimensions are flattened into the second.

    Args:
        gain: scaling factor.

    Example:
        >>> w = initializer(Orthogonal(), [3, 3]).asnumpy()
        >>> bool(np.allclose(w @ w.T, np.eye(3), atol=1e-5))
        True
    """

    @_kept
    def __init__(self, gain: float = 1.0) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        if len(shape) < 2:
            raise ValueError(f"Orthogonal needs at least 2 dimensions, not shape {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(numpy_generator().standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        return self.gain * (q.T if rows < columns else q).reshape(shape)


@shows("initializer(Identity(), [2, 2])", "[[1. 0.]\n [0. 1.]]")
class Identity(Initializer):
    """The identity matrix (two dimensions)."""

    def _fill(self, shape: Shape) -> Values:
        if len(shape) != 2:
            raise ValueError(f"Identity needs 2 dimensions, not shape {shape}")
        return np.eye(*shape)


@shows("initializer(Dirac(), [1, 2, 3])", "[[[0. 1. 0.]\n  [0. 0. 0.]]]")
class Dirac(Initializer):
    """A convolution weight that passes its input channels through.

    Args:
        groups: number of channel groups.
    """

    @_kept
    def __init__(self, groups: int = 1) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        if not 3 <= len(shape) <= 5:
            raise ValueError(f"Dirac needs a weight of 3 to 5 dimensions, not shape {shape}")
        if shape[0] % self.groups:
            raise ValueError(f"Dirac: {shape[0]} output channels do not divide into {self.groups} groups")
        of_groups: Any = np.zeros((self.groups, shape[0] // self.groups, *shape[1:]), np.float32)
        channels = np.arange(min(of_groups.shape[1:3]))
        of_groups[:, channels, channels, *(size // 2 for size in shape[2:])] = 1.0
        return of_groups.reshape(shape)


@shows("(initializer(Sparse(0.5), [4, 2]).asnumpy() == 0).sum()", "4")
class Sparse(Initializer):
    """Normal values with a fraction of each column zero (two dimensions).

    Args:
        sparsity: fraction of zeros.
        sigma: standard deviation of the rest.
    """

    @_kept
    def __init__(self, sparsity: float, sigma: float = 0.01) -> None: ...

    def _fill(self, shape: Shape) -> Values:
        if len(shape) != 2:
            raise ValueError(f"Sparse needs 2 dimensions, not shape {shape}")
        generator = numpy_generator()
        array = generator.normal(0.0, self.sigma, shape)
        for column in range(shape[1]):
            array[generator.permutation(shape[0])[: math.ceil(self.sparsity * shape[0])], column] = 0.0
        return array


_NAMES: Final[dict[str, type[Initializer]]] = {
    "zero": Zero, "zeros": Zero, "one": One, "ones": One, "uniform": Uniform, "normal": Normal,
    "truncatednormal": TruncatedNormal, "heuniform": HeUniform, "henormal": HeNormal,
    "xavieruniform": XavierUniform, "xaviernormal": XavierNormal, "orthogonal": Orthogonal,
    "identity": Identity, "dirac": Dirac, "variancescaling": VarianceScaling,
}  # fmt: skip


@shows("initializer(2, [2, 2])", "[[2. 2.]\n [2. 2.]]")
def initializer(init: Any, shape: Any = None, dtype: Any = dtypes.float32) -> Tensor:
    """A tensor filled by an initializer.

    Args:
        init: an `Initializer`, a name (``"normal"``, ``"zeros"``, ``"he_uniform"``...), a number, or a Tensor of
            the wanted shape.
        shape: dimensions, a list, a tuple or an int; may be left out if `init` is a Tensor.
        dtype: element type.

    Returns:
        Tensor: of that shape and dtype.

    Raises:
        ValueError: the name is unknown, or a Tensor has another shape.
        TypeError: `init` is none of the above.
    """
    wanted = dtypes.of(dtype)
    dims: Shape | None = None
    if shape is not None:
        dims = tuple(int(dim) for dim in (shape if isinstance(shape, (list, tuple)) else (shape,)))
        if any(dim < 0 for dim in dims):
            raise ValueError(f"initializer: shape {dims} has a negative dimension")
    if isinstance(init, Tensor):
        if dims is not None and init.shape != dims:
            raise ValueError(f"initializer: the tensor has shape {init.shape}, but {dims} is wanted")
        return init if init.dtype is wanted else Tensor(init, wanted)
    if dims is None:
        raise ValueError("initializer needs shape=... unless init is a Tensor")
    if isinstance(init, str):
        found = _NAMES.get(init.lower().replace("_", ""))
        if found is None:
            raise ValueError(f"{init!r} names no initializer; the names are: {', '.join(sorted(_NAMES))}")
        init = found()
    elif isinstance(init, (bool, int, float, complex, np.generic)):
        init = Constant(init)
    if not isinstance(init, Initializer):
        raise TypeError(f"initializer takes an Initializer, a name, a number or a Tensor, not {type(init).__name__}")
    return Tensor(init.materialize(dims, wanted))
