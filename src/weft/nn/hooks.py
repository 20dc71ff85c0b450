"""The parts of a Cell call beyond `construct`: hooks, a custom derivative, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.autodiff.custom import call_with_bprop, cell_backward_hook
from weft.autodiff.recompute import recompute
from weft.core import CAST, Parameter, Tensor, apply, data_of, described, transparent
from weft.dtypes import DType
from weft.parallel.stages import at_stage, hold, settle
from weft.parallel.strategies import spread_around


class HookHandle:
    """A registered hook.

    Args:
        cell: whose hook it is.
        registry: name of the cell's hook table.
        hook: the function, or what else the table holds for it.
        prepend: whether it is the first.

    Example:
        >>> from weft import nn
        >>> relu = nn.ReLU()
        >>> handle = relu.register_forward_hook(lambda cell, inputs, output: output + 1)
        >>> print(relu(Tensor([1.0])))
        [2.]
        >>> handle.remove()
        >>> print(relu(Tensor([1.0])))
        [1.]
    """

    #: its attributes stay as they were made
    __weft_fixed__ = True

    __weft_parts__ = None  # each call registers its own

    def __init__(self, cell: Hooked, registry: str, hook: Any, prepend: bool = False) -> None:
        self._cell = cell
        self._registry = registry
        hooks = getattr(cell, registry)
        self._key = max(hooks, default=-1) + 1  # so that a hook which comes and goes leaves the cell as it was
        self._hook: Any = hook
        hooks[self._key] = hook
        if prepend:
            hooks.move_to_end(self._key, last=False)
        cell._refresh_extras()

    @property
    def handle_id(self) -> int:
        """Number of the hook."""
        return self._key

    def remove(self) -> None:
        """Take the hook away (again: no effect)."""
        hooks = getattr(self._cell, self._registry)
        if self._hook is not None and hooks.get(self._key) is self._hook:
            del hooks[self._key]
            self._cell._refresh_extras()
        self._hook = None


class _Told(NamedTuple):
    """A hook of a call that is also told the keyword arguments, or called where the cell raised.

    Args:
        hook: the function.
        with_kwargs: whether it is told them.
        always_call: whether it is called then.
    """

    hook: Callable[..., Any]
    with_kwargs: bool
    always_call: bool = False


registers = described(
    returns="HookHandle: whose ``remove()`` takes it away.",
    hook="the hook.",
    hook_fn="the hook.",
    prepend="whether it runs before the hooks that are there.",
)


class Hooked:
    """The part of a Cell that is about functions called before and after it."""

    _params: dict[str, Parameter | None]
    _buffer_names: dict[str, bool]
    _cast_type: DType | None
    _settings: dict[str, Any]
    _forward_pre_hooks: dict[int, Any]
    _forward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Callable[..., Any]]
    _backward_hooks: dict[int, Callable[..., Any]]
    construct: Callable[..., Any]
    _refresh_extras: Callable[[], None]

    @registers
    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before each construct; what it returns, if anything, replaces the inputs.

        Args:
            with_kwargs: whether it is ``hook_fn(cell, inputs, kwargs)`` and returns None or a pair of both.

        Raises:
            TypeError: it cannot be called.
            RuntimeError: in a call, when a hook with `with_kwargs` returns something else.
        """
        return _registered(self, "_forward_pre_hooks", hook_fn, prepend, with_kwargs)

    @registers
    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs, output)`` after each construct; what it returns replaces the output.

        Args:
            with_kwargs: whether it is ``hook_fn(cell, inputs, kwargs, output)``.
            always_call: whether it is called, with None as the output, where the cell raised, too.

        Raises:
            TypeError: it cannot be called.
        """
        return _registered(self, "_forward_hooks", hook_fn, prepend, with_kwargs, always_call)

    @registers
    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` before the backward pass of the cell; what it returns replaces it."""
        return _registered(self, "_backward_pre_hooks", hook_fn)

    @registers
    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` after the backward pass of the cell; what it returns
        replaces the gradients of the inputs.
        """
        return _registered(self, "_backward_hooks", hook_fn)

    def register_parameter_forward_hook(self, hook: Callable[..., Any] | list[dict[str, Any]]) -> None:
        """Compute with ``hook(parameter)`` in place of parameters.

        Args:
            hook: for all parameters; or a list of ``{"params": [...], "hook": ...}``, each for some.

        Raises:
            TypeError: a hook is not callable, or what has one is no Parameter.
            ValueError: a dict has other keys.
        """
        this: Any = self
        by_id = _hooks_of_parameters(this, hook)
        for _, below in this.cells_and_names():
            own = {name: by_id[id(param)] for name, param in below._params.items() if id(param) in by_id}
            if own:
                below.__dict__["_parameter_hooks"] = {**below.__dict__.get("_parameter_hooks", {}), **own}
                below._refresh_extras()


def _hooks_of_parameters(cell: Any, hook: Any) -> dict[int, Any]:
    """The hook of each parameter that has one, by the parameter's id."""
    if callable(hook):
        return {id(param): hook for param in cell.get_parameters()}
    if not isinstance(hook, list):
        raise TypeError(f"a hook of parameters must be callable or a list of dicts, not {type(hook).__name__}")
    by_id: dict[int, Any] = {}
    for item in hook:
        if not isinstance(item, dict) or set(item) != {"params", "hook"}:
            raise ValueError(f'each item must be a dict {{"params": [...], "hook": ...}}, not {item!r:.80}')
        if not callable(item["hook"]):
            raise TypeError(f"a hook must be callable, not {type(item['hook']).__name__}")
        for param in item["params"]:
            if not isinstance(param, Parameter):
                raise TypeError(f"params must hold Parameters, not a {type(param).__name__}")
            by_id[id(param)] = item["hook"]
    return by_id


def _registered(
    cell: Any,
    registry: str,
    hook: Callable[..., Any],
    prepend: bool = False,
    with_kwargs: bool = False,
    always_call: bool = False,
) -> HookHandle:
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    told = with_kwargs or always_call
    return HookHandle(cell, registry, _Told(hook, with_kwargs, always_call) if told else hook, prepend)


@transparent
def call_with_extras(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a cell that has hooks, a custom bprop or a cast."""
    for hook in list(cell._forward_pre_hooks.values()):
        if isinstance(hook, _Told):
            args, kwargs = _pair_of(hook.hook(cell, args, kwargs), args, kwargs)
            continue
        changed = hook(cell, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    hooks = list(cell._forward_hooks.values())
    always = [hook for hook in hooks if isinstance(hook, _Told) and hook.always_call]
    if not always:
        return _after(cell, hooks, args, kwargs, _computed(cell, args, kwargs))
    try:
        output = _computed(cell, args, kwargs)
    except Exception:
        _after(cell, always, args, kwargs, None)
        raise
    return _after(cell, hooks, args, kwargs, output)


def _pair_of(changed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if changed is None:
        return args, kwargs
    if not isinstance(changed, tuple) or len(changed) != 2:
        raise RuntimeError(
            f"a forward pre-hook with with_kwargs=True must return None or (inputs, kwargs), not {changed!r:.80}"
        )
    inputs, named = changed
    return inputs if isinstance(inputs, tuple) else (inputs,), named


@transparent
def _after(cell: Hooked, hooks: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """What a call returns, once the hooks have seen the output."""
    for hook in hooks:
        if isinstance(hook, _Told):
            changed = hook.hook(cell, args, kwargs, output) if hook.with_kwargs else hook.hook(cell, args, output)
        else:
            changed = hook(cell, args, output)
        if changed is not None:
            output = changed
    return output


@transparent
def _computed(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The output, with the hooks of the backward pass."""
    if cell._backward_hooks or cell._backward_pre_hooks:
        hooks = tuple(cell._backward_hooks.values())
        pre_hooks = tuple(cell._backward_pre_hooks.values())
        return cell_backward_hook(cell, hooks, lambda *inputs: _compute(cell, inputs, kwargs), args, pre_hooks)
    return _compute(cell, args, kwargs)


@transparent
def _compute(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    stage = cell._settings.get("pipeline_stage")
    if stage is None:
        return _compute_there(cell, args, kwargs)
    settle(stage, cell)
    kwargs = {name: at_stage(value, stage) for name, value in kwargs.items()}
    result = at_stage(_compute_there(cell, at_stage(args, stage), kwargs), stage)
    hold(stage, cell)
    return result


@transparent
def _compute_there(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if cell._settings.get("shard"):
        inside, outside, _ = cell._settings["shard"]
        name = f"{type(cell).__name__}.shard"
        return spread_around(
            lambda *inputs, **named: _compute_here(cell, inputs, named), args, kwargs, inside, outside, name
        )
    return _compute_here(cell, args, kwargs)


@transparent
def _compute_here(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if cell._settings.get("recompute"):
        return recompute(_compute_once, cell, args, kwargs)
    return _compute_once(cell, args, kwargs)


@transparent
def _compute_once(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if cell._cast_type is not None:
        return _call_cast(cell, cell._cast_type, args, kwargs)
    return _construct(cell, args, kwargs)


@transparent
def _construct(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    state = cell.__dict__
    hooks = state.get("_parameter_hooks")
    if not hooks:
        return _construct_itself(cell, args, kwargs)
    held = {name: state[name] for name in hooks if isinstance(state.get(name), Tensor)}
    try:
        for name, param in held.items():
            state[name] = hooks[name](param)
        return _construct_itself(cell, args, kwargs)
    finally:
        for name, param in held.items():
            state[name] = param


@transparent
def _construct_itself(cell: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bprop = getattr(cell, "bprop", None)
    if bprop is None:
        return cell.construct(*args, **kwargs)
    if kwargs:
        raise TypeError(f"{type(cell).__name__} defines bprop, so its inputs are given by position, not by name")
    return call_with_bprop(bprop, cell.construct, args)


@transparent
def _call_cast(cell: Hooked, dtype: DType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a cell with inputs, trained weights and buffers cast; those are put back afterwards."""
    args = tuple([cast_floating(a, dtype) for a in args])
    kwargs = {name: cast_floating(a, dtype) for name, a in kwargs.items()}
    state = cell.__dict__
    weights: dict[str, Parameter] = {}
    for name, held in cell._params.items():
        current: object = state.get(name)
        if held is not None and held.requires_grad and held.dtype.is_floating and current is held:
            weights[name] = held
    buffers: dict[str, _CastBuffer] = {}
    for name in cell._buffer_names:
        buffer = state[name]
        if buffer is not None and buffer.dtype.is_floating and buffer.dtype is not dtype:
            buffers[name] = _CastBuffer(buffer, dtype)
    try:
        for name, weight in weights.items():
            state[name] = cast_floating(weight, dtype)
        for name, cast in buffers.items():
            state[name] = cast.tensor
        return _construct(cell, args, kwargs)
    finally:
        for name, param in weights.items():
            state[name] = param
        for name, cast in buffers.items():
            if state.get(name) is cast.tensor:
                state[name] = cast.written_back()


class _CastBuffer:
    """A buffer in another element type, while a cell runs.

    Args:
        held: the buffer.
        dtype: the element type.
    """

    __slots__ = ("held", "tensor", "before")

    def __init__(self, held: Tensor, dtype: DType) -> None:
        self.held = held
        self.tensor = apply(CAST, (held,), (dtype,))
        self.before = data_of(self.tensor)

    def written_back(self) -> Tensor:
        """The buffer, with what was written to its stand-in."""
        if data_of(self.tensor) is not self.before:
            self.held.rebind(apply(CAST, (self.tensor,), (self.held.dtype,)))
        return self.held


def cast_floating(value: Any, dtype: DType) -> Any:
    """A value with its floating tensors cast, those in tuples, lists and dicts included."""
    if isinstance(value, Tensor):
        return value if value.dtype is dtype or not value.dtype.is_floating else apply(CAST, (value,), (dtype,))
    if isinstance(value, tuple):
        return tuple([cast_floating(v, dtype) for v in value])
    if isinstance(value, list):
        return [cast_floating(v, dtype) for v in value]
    if isinstance(value, dict):
        return {k: cast_floating(v, dtype) for k, v in value.items()}
    return value
