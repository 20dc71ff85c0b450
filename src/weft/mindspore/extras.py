"""Names of MindSpore that are a word for something weft does anyway."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self

import weft
from weft import dtypes
from weft.context import get_context, set_context
from weft.core.operators import Operator
from weft.core.tensor import Parameter, Tensor
from weft.core.transparency import transparent
from weft.nn.cell import Cell
from weft.nn.hooks import cast_floating

__all__ = [
    "ConvertModelUtils", "DeviceCtx", "JitConfig", "add_flags", "constexpr", "core", "enable_dynamic", "from_numpy",
    "get_current_device", "inplace_copy", "is_sequence_shape_unknown", "is_sequence_value_unknown", "jit_begin",
    "jit_end", "mixed_precision_cast", "no_init_parameters", "no_inline", "run_check", "select_view",
    "set_deterministic", "set_device", "set_dump", "set_recursion_limit", "slice_view", "swap_tensors", "switch",
    "tensor",
]  # fmt: skip

from_numpy = Tensor.from_numpy


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None) -> Tensor:
    """A new tensor, as ``Tensor(...)`` makes it.

    Example:
        >>> print(tensor([1.0, 2.0]))
        [1. 2.]
    """
    return Tensor(input_data, dtype, shape, init)


@transparent
def set_device(device_target: str, device_id: int | None = None) -> None:
    """Compute on a device, as ``set_context(device_target=..., device_id=...)`` does.

    Args:
        device_target: which kind of device.
        device_id: which device of that kind; the first where none is given.

    Raises:
        ValueError: there is no such device.
        TypeError: an argument has the wrong type.

    Example:
        >>> set_device(weft.get_context("device_target"))
    """
    set_context(device_target=device_target, device_id=0 if device_id is None else device_id)


class DeviceCtx:
    """A block in which the program computes on a device.

    Args:
        name: which kind of device.
        device_id: which of that kind; the first where none is given.

    Raises:
        ValueError: there is no such kind.
        RuntimeError: the kind is not there.
        NotImplementedError: ``"meta"``, tensors without elements.

    Example:
        >>> with DeviceCtx(weft.get_context("device_target")):
        ...     print(Tensor([1.0]) + 1)
        [2.]
    """

    def __init__(self, name: str, device_id: int | None = None) -> None:
        kinds = ("CPU", "GPU", "Ascend", "meta")
        if name not in kinds:
            raise ValueError(f"For DeviceCtx, the name must be one of {list(kinds)}, but got {name}.")
        if name == "meta":
            raise NotImplementedError("DeviceCtx: tensors have elements here, there is no device 'meta'")
        self._wanted = (name, device_id)
        self._before: list[tuple[str, int]] = []

    @transparent
    def __enter__(self) -> Self:
        before = (get_context("device_target"), get_context("device_id"))
        try:
            set_device(*self._wanted)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        self._before.append(before)
        return self

    @transparent
    def __exit__(self, *_: object) -> None:
        set_device(*self._before.pop())


class Device(NamedTuple):
    """A device: its kind, and its number among those of the kind."""

    device_target: str
    device_id: int


def get_current_device() -> Device:
    """The device on which the program computes.

    Example:
        >>> get_current_device().device_id
        0
    """
    return Device(get_context("device_target"), get_context("device_id"))


def run_check() -> None:
    """Compute something small, and print whether the result is right.

    Example:
        >>> run_check()
        weft version: ...
        The result of multiplication calculation is correct, weft computes on platform [...] successfully!
    """
    print(f"weft version: {weft.__version__}")
    found = (Tensor([[1.0, 2.0], [3.0, 4.0]]) * Tensor([[2.0, 2.0], [0.5, 1.0]])).tolist()
    if found != [[2.0, 4.0], [1.5, 4.0]]:
        raise RuntimeError(f"the result of a multiplication is wrong: {found}")
    target = get_context("device_target")
    print(f"The result of multiplication calculation is correct, weft computes on platform [{target}] successfully!")


@transparent
def set_deterministic(deterministic: bool) -> None:
    """Use only kernels that give the same bits in every run, as ``set_context(deterministic="ON")`` does.

    Args:
        deterministic: whether to.

    Example:
        >>> set_deterministic(False)
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"set_deterministic takes a bool, not {type(deterministic).__name__}")
    set_context(deterministic="ON" if deterministic else "OFF")


@transparent
def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """The deepest nesting of calls in a compiled function, as ``set_context(max_call_depth=...)`` sets it.

    Args:
        recursion_limit: the depth.

    Example:
        >>> set_recursion_limit(1000)
    """
    set_context(max_call_depth=recursion_limit)


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Within the block, parameters need no values yet; they have them from the first here.

    Example:
        >>> from weft import nn
        >>> with no_init_parameters():
        ...     net = nn.Dense(1, 1, "ones", "zeros")
        >>> print(net.weight.value())
        [[1.]]
    """
    yield


class ConvertModelUtils:
    """Prepares a training loop for the optimizer THOR. Weft does not have it, and other optimizers need nothing."""

    @staticmethod
    def convert_to_thor_model(
        model: Any,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
    ) -> Any:
        """The model that trains: the one given.

        Example:
            >>> from weft import nn
            >>> from weft.train import Model
            >>> net = nn.Dense(1, 1)
            >>> model = Model(net, nn.MSELoss(), optimizer := nn.SGD(net.trainable_params()))
            >>> ConvertModelUtils.convert_to_thor_model(model, net, optimizer=optimizer) is model
            True
        """
        del network, loss_fn, optimizer, metrics, amp_level, loss_scale_manager, keep_batchnorm_fp32
        return model


def is_sequence_value_unknown(shape: Any) -> bool:
    """Whether a tuple of sizes holds one that is not known: sizes are numbers to the program, so none does.

    Example:
        >>> is_sequence_value_unknown((2, 3))
        False
    """
    del shape
    return False


def is_sequence_shape_unknown(shape: Any) -> bool:
    """Whether a tuple's length is not known: it always is.

    Example:
        >>> is_sequence_shape_unknown((2, 3))
        False
    """
    del shape
    return False


def mixed_precision_cast(dtype: Any, value: Any) -> Any:
    """Cast floating-point tensors in a value, which may be a tuple, list or dictionary of values.

    Args:
        dtype: the element type.
        value: the value.

    Example:
        >>> [x.dtype for x in mixed_precision_cast(weft.float16, (Tensor([1.0]), Tensor([1])))]
        [mindspore.float16, mindspore.int64]
    """
    return cast_floating(value, dtypes.of(dtype))


def constexpr(
    fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True, check: bool = True
) -> Callable[..., Any]:
    """Mark a function that is computed while compiling; every function of Python values is, here.

    Example:
        >>> @constexpr
        ... def double(n):
        ...     return 2 * n
        >>> double(3)
        6
    """
    del get_instance, name, reuse_result, check
    return fn if fn is not None else lambda function: function


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Attach settings of MindSpore's compiler to a function or Cell; kept, without effect on what it computes.

    Args:
        fn: the function; None makes a decorator.
        flags: the settings.

    Returns:
        The function, or the decorator.

    Example:
        >>> @add_flags(has_effect=True)
        ... def double(x):
        ...     return 2 * x
        >>> double(3)
        6
    """
    if fn is None:
        return lambda function: add_flags(function, **flags)
    fn._mindspore_flags = {**getattr(fn, "_mindspore_flags", {}), **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """Mark a function as one that MindSpore's compiler works on; see `add_flags`.

    Example:
        >>> core(abs_of := lambda x: abs(x)) is abs_of
        True
    """
    return add_flags(fn, core=True, **flags)


@transparent
def switch(cond: Any, true_branch: Any, false_branch: Any) -> Any:
    """One of two values, or functions, by a condition.

    Args:
        cond: a bool, or a tensor of one element.
        true_branch: the value where the condition holds.
        false_branch: the value where it does not.

    Example:
        >>> switch(Tensor(True), 1, 2)
        1
    """
    return true_branch if cond else false_branch


class JitConfig:
    """Options of a compiled function, for ``jit(jit_config=...)``.

    Args:
        jit_level: ``""``, ``"O0"``, ``"O1"`` or ``"O2"``; XLA optimises the same way at each.
        exc_mode: ``"auto"``, ``"sink"`` or ``"no_sink"``; kept.
        jit_syntax_level: ``""``, ``"STRICT"`` or ``"LAX"``.
        debug_level: ``"RELEASE"`` or ``"DEBUG"``; kept.
        infer_boost: ``"on"`` or ``"off"``; kept.
        options: further options, kept.

    Raises:
        ValueError: an option has none of these values.

    Example:
        >>> JitConfig(jit_level="O1").jit_level
        'O1'
    """

    _ALLOWED: ClassVar[dict[str, tuple[str, ...]]] = {
        "jit_level": ("", "O0", "O1", "O2", "O3"),
        "exc_mode": ("auto", "sink", "no_sink"),
        "jit_syntax_level": ("", "STRICT", "LAX"),
        "debug_level": ("RELEASE", "DEBUG"),
        "infer_boost": ("on", "off"),
    }

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **options: Any,
    ) -> None:
        self.jit_level = jit_level
        self.exc_mode = exc_mode
        self.jit_syntax_level = jit_syntax_level
        self.debug_level = debug_level
        self.infer_boost = infer_boost
        self.options = options
        for name, allowed in self._ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"JitConfig({name}={getattr(self, name)!r}): use one of {', '.join(map(repr, allowed))}"
                )


def jit_begin(fn_name: str, *args: Any) -> None:
    """Begin a block of code that MindSpore makes a graph of; here it runs as it stands.

    Args:
        fn_name: what the block is called.
        args: tensors that it computes with.

    Example:
        >>> jit_begin("block", Tensor([1.0]))
    """
    del fn_name, args


def jit_end(*output_args: Any) -> Any:
    """End such a block.

    Args:
        output_args: what it gives.

    Returns:
        what it was given, as it is or as a tuple of several.

    Example:
        >>> jit_end(1, 2)
        (1, 2)
    """
    return output_args[0] if len(output_args) == 1 else output_args


def no_inline(fn: Any = None) -> Any:
    """A decorator for a function that is to stay a function in graphs: how graphs are cut is the compiler's.

    Args:
        fn: the function.

    Example:
        >>> no_inline(abs)(-1)
        1
    """
    return (lambda function: function) if fn is None else fn


def enable_dynamic(**kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that says of which arguments sizes vary; they may in any compiled function.

    Args:
        kwargs: tensors, or tuples or lists of them, by the names of arguments, with None where sizes vary.

    Raises:
        ValueError: there is none.
        TypeError: something else is given.

    Example:
        >>> @enable_dynamic(x=Tensor(shape=[None, 2], dtype=dtypes.float32))
        ... @weft.jit
        ... def total(x):
        ...     return x.sum()
        >>> print(total(Tensor([[1.0, 2.0]])))
        3.0
    """
    if not kwargs:
        raise ValueError("enable_dynamic needs tensors by the names of arguments")
    for name, given in kwargs.items():
        if not all(isinstance(each, Tensor) for each in (given if isinstance(given, (tuple, list)) else (given,))):
            raise TypeError(f"enable_dynamic: {name} must be a Tensor, or a tuple or list of them, not {given!r}")
    return lambda function: function


def inplace_copy(variable: Tensor, value: Tensor, non_blocking: bool = False) -> Tensor:
    """Write a tensor into another one.

    Args:
        variable: is written to.
        value: is written.
        non_blocking: accepted.

    Example:
        >>> print(inplace_copy(Tensor([0, 0]), Tensor([1, 2])))
        [1 2]
    """
    del non_blocking
    written: Tensor = variable.copy_(value)
    return written


def select_view(input: Tensor, dim: int, index: int) -> Tensor:
    """One place along a dimension of a tensor, as a view.

    Args:
        input: the tensor.
        dim: which dimension.
        index: the place.

    Example:
        >>> print(select_view(Tensor([[1, 2], [3, 4]]), 1, 0))
        [1 3]
    """
    found: Tensor = input.select(dim, index)
    return found


def slice_view(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """Places along a dimension of a tensor, as a view.

    Args:
        input: the tensor.
        dim: which dimension.
        start: the first place.
        end: behind the last one.
        step: from one to the next.

    Example:
        >>> print(slice_view(Tensor([1, 2, 3, 4]), 0, 1, 4, 2))
        [2 4]
    """
    along = range(input.ndim)[dim]
    found: Tensor = input[(slice(None),) * along + (slice(start, end, step),)]
    return found


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Give each of two tensors what the other one holds.

    Args:
        t1: the first.
        t2: the second.

    Raises:
        TypeError: one is no Tensor.
        RuntimeError: only one of them is a Parameter.

    Example:
        >>> a, b = Tensor([1, 2]), Tensor([3])
        >>> swap_tensors(a, b)
        >>> print(a, b)
        [3] [1 2]
    """
    if not (isinstance(t1, Tensor) and isinstance(t2, Tensor)):
        raise TypeError(f"swap_tensors takes two tensors, not {type(t1).__name__} and {type(t2).__name__}")
    if isinstance(t1, Parameter) != isinstance(t2, Parameter):
        raise RuntimeError("swap_tensors: a Parameter can only be swapped with a Parameter")
    first, second = t1.value(), t2.value()
    for tensor, new in ((t1, second), (t2, first)):
        if isinstance(tensor, Parameter):
            tensor.set_dtype(new.dtype)
            tensor.set_data(new, slice_shape=True)
        else:
            tensor.assign_value(new)
    if isinstance(t1, Parameter) and isinstance(t2, Parameter):
        facts = dict(t1.__dict__)
        t1.__dict__.clear()
        t1.__dict__.update(t2.__dict__)
        t2.__dict__.clear()
        t2.__dict__.update(facts)


def set_dump(target: Any, enabled: bool = True) -> None:
    """Accepted for programs that write what a Cell or operator computes to files of an accelerator.

    Args:
        target: the Cell or operator.
        enabled: whether.

    Raises:
        TypeError: an argument has the wrong type.

    Example:
        >>> from weft import nn
        >>> set_dump(nn.ReLU())
    """
    if not isinstance(target, (Cell, Operator)):
        raise TypeError(f"set_dump: target must be a Cell or an operator, not {type(target).__name__}")
    if not isinstance(enabled, bool):
        raise TypeError(f"set_dump: enabled must be a bool, not {type(enabled).__name__}")
