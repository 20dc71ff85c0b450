"""Gradients that the user writes or watches: custom `bprop`, tensor hooks, cell hooks.

For the layers that call in here:

* ``call_with_bprop(bprop, fn, args)`` computes ``fn(*args)``; its gradient is ``bprop(*args, out, dout)``.
* ``hook_gradient(tensors, hook)`` is the identity; its gradient passes through ``hook``.
* ``cell_backward_hook(cell, hooks, fn, args, pre_hooks=())`` computes ``fn(*args)``; in the backward pass each hook
  gets ``hook(cell, grad_input, grad_output)`` and may return another `grad_input`, each pre-hook gets
  ``pre_hook(cell, grad_output)`` and may return another `grad_output`.

A capture steps into `fn` like into any user code, and into rules and hooks where a backward pass asks for them: each is
the rule of a mark (see `weft.autodiff.marks`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.backward import replaced
from weft.autodiff.examples import refuse_values_of_an_example
from weft.autodiff.following import is_followed
from weft.autodiff.histories import keep_history, passed_by_all
from weft.autodiff.marks import MARK, Handed, Rule, mark, refuse_unwatched
from weft.autodiff.rules import fit
from weft.autodiff.session import cut, is_weight, stopped, zeros_like
from weft.autodiff.stand_ins import StandIns, refill
from weft.autodiff.starts import hooks_kept_for
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core import trace as trace_module
from weft.core.choice import Choice, refuse
from weft.core.control import has_other_uses
from weft.core.declare import add_method
from weft.core.dispatch import edges_of, refuse_in_regions, stays_in_region
from weft.core.operators import install
from weft.core.recording import PrimitiveNode
from weft.core.run_number import settled
from weft.core.sharing import renew_views
from weft.core.tape import TapeNode, next_registration
from weft.core.tensor import LiteralTensor, Tensor, data_of
from weft.core.trace import Trace
from weft.core.transparency import keeps, transparent, unbroken
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value


@keeps
def on_tensors(template: Any, tensors: Sequence[Tensor]) -> Any:
    """The structure of a value, on other tensors."""
    rest = iter(tensors)
    return map_tensors(lambda _: next(rest), template)


def _in_graph(trace: Trace, tensors: Sequence[Tensor]) -> bool:
    """Whether tensors are, or will be read by, the graph under construction."""
    return any(
        tensor.is_symbolic or (id(tensor) not in trace.created and type(tensor) is not LiteralTensor)
        for tensor in tensors
    )


def may_follow(tensors: Sequence[Tensor]) -> bool:
    """Whether a gradient follows a tensor, or may follow it when the graph under construction is finished."""
    trace = trace_module.current()
    if trace is None:
        return edges_of(tensors, None) is not None
    return _in_graph(trace, tensors)


class Hole(Tensor):
    """Stands in a structure where a tensor is."""

    __slots__ = ()


def emptied(value: Any) -> Any:
    """A structure with nothing in the place of its tensors, for a rule to keep."""
    return settled(map_tensors(lambda _: HOLE, value))


HOLE = object.__new__(Hole)
HOLE._data = HOLE._node = HOLE._type = HOLE._member = None


def _label(function: Any) -> str:
    if type(function) is Handed:
        return function.label
    return str(getattr(function, "__qualname__", type(function).__name__))


# -- custom derivative -------------------------------------------------------------------------------------------


@unbroken
def call_with_bprop(bprop: Callable[..., Any], fn: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Compute a function whose derivative the user has written.

    Args:
        bprop: ``bprop(*args, out, dout)`` returns the gradient of each argument, or of the first ones; None or a
            number stands for a constant one.
        fn: the function; nothing inside it is recorded.
        args: its arguments; tensors, containers of tensors, and constants.

    Returns:
        What `fn` returns.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def square(x):
        ...     return call_with_bprop(lambda x, out, dout: (x * dout,), lambda x: x * x, (x,))
        >>> print(grad(square)(Tensor([3.0])))
        [3.]
    """
    inside = detached_all(args)
    out = fn(*inside.given)
    result, changed = attach_bprop(bprop, inside, out)
    refill(changed)
    return result


install(call_with_bprop)


@keeps
def detached_all(args: Sequence[Any]) -> StandIns:
    """Constants that stand for the arguments of a function in which nothing is differentiated."""
    return StandIns(args, map_tensors(stopped, tuple(args)), True)


@keeps
class BpropRule(Rule):
    """The rule that a `bprop` is.

    Args:
        bprop: the user's function.
        args: the arguments of the function that it differentiates, without their tensors.
        out: what the function returned, likewise.
    """

    __slots__ = ("bprop", "args", "out", "label")

    def __init__(self, bprop: Callable[..., Any], args: tuple[Any, ...], out: Any) -> None:
        self.bprop = bprop
        self.args = args
        self.out = out
        self.label = _label(bprop)

    @transparent
    def pull(self, operands: Any, results: Any, douts: Any) -> Sequence[Any]:
        given = self.bprop(*on_tensors(self.args, operands), on_tensors(self.out, results), on_tensors(self.out, douts))
        return fitted(given, self.args, operands)

    @keeps
    def user_code(self) -> tuple[Any, ...]:
        return self.objects()

    @keeps
    def objects(self) -> tuple[Any, ...]:
        return (self.bprop, *objects_in(self.args), *objects_in(self.out))

    @keeps
    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        del memo
        return BpropRule(change(self.bprop), on_objects(self.args, change), on_objects(self.out, change))


def objects_in(value: Any) -> list[Any]:
    """What a structure holds besides tensors and values that cannot change."""
    found: list[Any] = []
    map_tensors(lambda _: None, value, found.append)
    return [part for part in found if not isinstance(part, _VALUES)]


#: what cannot change and is told apart by nothing but its value
_VALUES = (type(None), bool, int, float, complex, str)


def on_objects(value: Any, change: Callable[[Any], Any]) -> Any:
    """A structure with others in the place of what `objects_in` finds."""
    return map_tensors(lambda hole: hole, value, lambda part: part if isinstance(part, _VALUES) else change(part))


@keeps
def attach_bprop(bprop: Callable[..., Any], inside: StandIns, out: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Make a computed result the output of one tape entry whose derivative is `bprop`.

    Returns:
        tuple: the result, and what `weft.autodiff.stand_ins.refill` takes.
    """
    inputs, outputs = tensors_of(inside.args), tensors_of(out)
    if not inputs or not outputs or not may_follow(inputs if trace_module.current() is None else outputs):
        changed = inside.hand_back(outputs, list(map(stopped, outputs)) if inside.written() else outputs)
        for tensor in outputs:
            cut(tensor)
        return out, changed
    rule = BpropRule(bprop, emptied(inside.args), emptied(out))
    results = mark((*inputs, *map(stopped, outputs)), len(outputs), rule)
    return on_tensors(out, results), inside.hand_back(outputs, results)


@keeps
def fitted(given: Any, args: tuple[Any, ...], likes: Sequence[Tensor], name: str = "bprop") -> list[Any]:
    """What the user's bprop returned, as one gradient for each tensor of the arguments.

    Args:
        given: what it returned.
        args: the arguments; what stands in them for tensors does not matter.
        likes: their tensors.
        name: of the user's function, for errors.

    Raises:
        RuntimeError: there are more gradients than arguments, or none for one that is or has a tensor.
    """
    several = isinstance(given, (tuple, list)) and (len(given) == 1 or isinstance(args[0], Tensor))
    if len(args) == 1 and not several:
        given = (given,)
    if not isinstance(given, (tuple, list)):
        raise TypeError(
            f"{name} must return a tuple with a gradient for each of the {len(args)} inputs, not {type(given).__name__}"
        )
    if len(given) > len(args) or any(tensors_of(arg) for arg in args[len(given) :]):
        raise RuntimeError(
            f"{name} returned {len(given)} gradient{'s'[: len(given) != 1]} for {len(args)} "
            f"input{'s'[: len(args) != 1]}; None stands for a gradient that is zero"
        )
    raw: list[Any] = []
    for i, arg in enumerate(args):
        raw.extend(_spread(arg, given[i] if i < len(given) else None, i, name))
    results: list[Any] = []
    for gradient, like in zip(raw, likes, strict=False):  # the results of the function come after its tensors
        if gradient is None:
            results.append(None)
            continue
        if isinstance(gradient, Tensor) and not _fits(gradient.shape, like.shape):
            raise ValueError(f"{name} returned a gradient of shape {gradient.shape} for an input of shape {like.shape}")
        if not isinstance(gradient, Tensor):
            gradient = zeros_like(like) + gradient
        results.append(fit(gradient, like))
    return results


def _fits(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a gradient of one shape is one for an input of another, by itself or summed where that broadcasts."""
    if math.prod(found) == math.prod(wanted) == 1:
        return True
    tail = found[len(found) - len(wanted) :]
    return len(found) >= len(wanted) and all(size in (1, there) for size, there in zip(wanted, tail, strict=True))


def _spread(arg: Any, gradient: Any, position: int, name: str) -> list[Any]:
    tensors = tensors_of(arg)
    if gradient is None or not tensors:
        return [None] * len(tensors)
    if isinstance(arg, Tensor):
        if isinstance(gradient, (tuple, list, dict)):
            raise TypeError(
                f"{name} must return a tensor as the gradient of input {position}, not {type(gradient).__name__}"
            )
        return [gradient]
    if isinstance(gradient, (int, float)):
        return [gradient] * len(tensors)
    if isinstance(arg, dict):
        if not isinstance(gradient, dict):
            raise TypeError(f"{name} must return a dict as the gradient of input {position}")
        return [g for key, item in arg.items() for g in _spread(item, gradient.get(key), position, name)]
    if not isinstance(gradient, (tuple, list)) or len(gradient) != len(arg):
        raise TypeError(f"{name} must return {len(arg)} gradients for the items of input {position}")
    return [g for item, part in zip(arg, gradient, strict=True) for g in _spread(item, part, position, name)]


# -- hooks on tensors --------------------------------------------------------------------------------------------


@keeps
def hook_gradient(tensors: Any, hook: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Return tensors unchanged, and let a function see and replace their gradients in the backward pass.

    Args:
        tensors: a tensor, or a nested tuple, list or dict of tensors.
        hook: called with the tuple of gradients; returns None to keep them, a tensor or tuple to replace them.

    Returns:
        The same values.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def f(x):
        ...     return hook_gradient(x, lambda grads: grads[0] * 2) * 3
        >>> print(grad(f)(Tensor([1.0])))
        [6.]
    """
    return _hooked(tensors, HookRule(hook))


@keeps
def _hooked(tensors: Any, rule: Rule) -> Any:
    """The tensors of a structure behind a mark, where a gradient may pass."""
    inputs = tensors_of(tensors)
    return on_tensors(tensors, mark(inputs, len(inputs), rule)) if inputs and may_follow(inputs) else tensors


@keeps
class HookRule(Rule):
    """The rule that lets a function see and replace gradients.

    Args:
        hook: called with the tuple of gradients.
    """

    __slots__ = ("hook", "label")

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook
        self.label = _label(hook)

    @transparent
    def pull(self, operands: Any, results: Any, douts: Any) -> Sequence[Any]:
        return replaced(self.hook(tuple(douts)), douts, results, "a gradient hook")

    @keeps
    def user_code(self) -> tuple[Any, ...]:
        return self.objects()

    @keeps
    def objects(self) -> tuple[Any, ...]:
        return (self.hook,)

    @keeps
    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        del memo
        return HookRule(change(self.hook))


@keeps
class TensorHookRule(Rule):
    """The rule of a tensor's hooks. On a tape they are hooks of an entry.

    Args:
        hooks: those that were not taken back, each with its number among all that were registered.
    """

    __slots__ = ("hooks",)

    def __init__(self, hooks: list[tuple[int, Any]]) -> None:
        self.hooks = hooks

    @property
    def label(self) -> str:  # type: ignore[override]
        return ", ".join([_label(hook) for _, hook in self.hooks])

    @keeps
    def user_code(self) -> tuple[Any, ...]:
        return self.objects()

    @keeps
    def objects(self) -> tuple[Any, ...]:
        return tuple([hook for _, hook in self.hooks])

    @keeps
    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        del memo
        return TensorHookRule([(index, change(hook)) for index, hook in self.hooks])


@keeps
class HookHandle:
    """A registered hook; `remove` takes it back.

    Args:
        hooks: the list in which it stands.
        entry: its place there.
        value: what a graph under construction computes for the tensor; None where none does.
    """

    __slots__ = ("hooks", "entry", "value")
    __weft_parts__ = None  # each call registers its own

    def __init__(self, hooks: list[tuple[int, Any]], entry: tuple[int, Any], value: Value | None = None) -> None:
        self.hooks = hooks
        self.entry = entry
        self.value = value

    @keeps
    def remove(self) -> None:
        """Take the hook back; taking it back twice is harmless."""
        trace = trace_module.current()
        if trace is None or self.value is None or self.value.graph is not trace.graph:
            trace_module.refuse_while_captured(
                "a hook is taken back elsewhere than where it was registered, which the graph cannot do",
                "take it back where it was registered: outside the compiled function, or in the same branch or loop",
            )
        for i, entry in enumerate(self.hooks):
            if entry is self.entry:
                del self.hooks[i]
                return

    @keeps
    def __enter__(self) -> HookHandle:
        return self

    @keeps
    def __exit__(self, *_: object) -> None:
        self.remove()


@keeps
def register_hook(tensor: Tensor, hook: Callable[[Tensor], Any]) -> HookHandle:
    """Let a function see, and replace, the gradient of this tensor.

    Args:
        tensor: any tensor or Parameter. On one computed inside a gradient, or its argument, the hook lasts as long as
            that gradient; on any other, a Parameter that is differentiated among them, it runs in every gradient that
            starts at this tensor, if it is registered when a backward pass of that gradient comes to the tensor.
        hook: called with the gradient; returns None to keep it, or a tensor to use in its place.

    Returns:
        HookHandle: its `remove()` takes the hook back.

    Raises:
        TypeError: `hook` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> def f(x):
        ...     y = x * 2
        ...     y.register_hook(lambda g: g * 10)
        ...     return y * 3
        >>> print(grad(f)(Tensor([1.0])))
        [60.]
    """
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    if type(tensor) is Choice:
        refuse("a hook is registered on it")

    entry: tuple[int, Any] = (next_registration(), hook)
    node = tensor._node
    trace = trace_module.current()
    value: Any = data_of(tensor)
    stays = node is not None and is_weight(tensor)  # and its hooks with it, which the gradient asks for at its end
    made_here = trace is not None and tensor.is_symbolic and (value.node is not None or value.graph is not trace.root)
    if trace is not None and made_here and not stays:
        return _hook_in_graph(trace, tensor, entry)
    trace_module.refuse_while_captured(
        "a hook is registered on a tensor from outside, where it stays after the call",
        "register the hook outside the compiled function",
    )
    refuse_values_of_an_example(hook)
    if isinstance(node, TapeNode) and not stays and keep_history(tensor):
        node, index = passed_by_all(node, tensor._index)
        registered = [entry]
        node.add_hooks(index, registered)
        renew_views(None, tensor)
        return HookHandle(registered, entry)
    if trace is not None and tensor.is_symbolic and not stays:
        if trace.is_followed(tensor) is False:
            return _hook_on_tape(trace, tensor, entry)
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "a hook is registered on an argument of a mapped function, and the gradient is taken outside of it",
            "register it on a tensor that the function computes, as x * 1, or map the gradient: vmap(grad(function))",
        )
    hooks = hooks_kept_for(tensor)
    hooks.append(entry)
    return HookHandle(hooks, entry)


def _hook_in_graph(trace: Trace, tensor: Tensor, entry: tuple[int, Any]) -> HookHandle:
    """Register a hook on a tensor of the graph under construction: right behind what made it, so that whatever was or
    will be computed with the tensor passes the hook, and hooks run in the order in which tensors were made.
    """
    value: Any = data_of(tensor)
    # what a branch or loop makes may leave it, as the same tensor, and gradients start at it later
    stays = trace.graph in trace.examples or isinstance(tensor._node, TapeNode)
    if value.graph is trace.graph and stays and stays_in_region(trace):
        return _hook_on_tape(trace, tensor, entry)
    refuse_in_regions(trace, _label(entry[1]))
    if value.graph is not trace.graph or value.node is None:
        refused = Unsupported(
            Refusal.IMPURE_CALL,
            "a hook is registered in a mapped function on a tensor that was made outside of it",
            "register the hook where the tensor is made",
        )
        refused.whole = True  # nothing that is in a graph already would pass it
        raise refused
    node = tensor._node
    rule = next((attr for attr in value.node.attrs if isinstance(attr, TensorHookRule)), None)
    refuse_unwatched(trace, TensorHookRule([entry]))
    if rule is None and trace.used_on_sides.get(value, has_other_uses(value)):
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "a hook is registered on a tensor that comes out of a branch or a loop, and whether more was computed with "
            "it depends on a condition that only the running graph knows",
            "register the hook where the tensor is made",
        )
    if rule is not None:  # hooks of one tensor run in the order in which they were registered
        rule.hooks.append(entry)
        return HookHandle(rule.hooks, entry, value)
    rule = TensorHookRule([entry])
    made = trace.graph.insert_behind(value, MARK, (rule, 1), None if trace.location is None else trace.location())
    handle = HookHandle(rule.hooks, entry, value)
    if isinstance(node, TapeNode):
        node.add_hooks(tensor._index, rule.hooks)
        if isinstance(node, PrimitiveNode):
            node.results = [made if result is value else result for result in node.results]
    else:
        trace.hooked[id(tensor)] = tensor, handle
    renew_views(trace, tensor)
    return handle


def _hook_on_tape(trace: Trace, tensor: Tensor, entry: tuple[int, Any]) -> HookHandle:
    """Register a hook on a tensor that no gradients pass but those in progress, and those that will start at it."""
    value: Any = data_of(tensor)
    if isinstance(tensor._node, TapeNode):
        registered = [entry]
        tensor._node.add_hooks(tensor._index, registered)
        return HookHandle(registered, entry, value)
    _, before = trace.hooked.get(id(tensor), (None, None))
    if before is not None and before.value is value:
        before.hooks.append(entry)
        return HookHandle(before.hooks, entry, value)
    handle = HookHandle([entry], entry, value)
    trace.hooked[id(tensor)] = tensor, handle
    return handle


add_method("register_hook", register_hook)


@keeps
class HookBackward:
    """An operator that returns its inputs and lets a function see and replace their gradients.

    Args:
        hook_fn: called with the tuple of gradients; returns None to keep them, or new ones.
        cell_id: a remark, kept.

    Raises:
        TypeError: `hook_fn` cannot be called, or an input of the operator is not a tensor.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> hook = HookBackward(lambda grads: grads[0] * 2)
        >>> print(grad(lambda x: hook(x) * 3)(Tensor([1.0])))
        [6.]
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(f"hook_fn must be callable, not {type(hook_fn).__name__}")
        self.hook_fn = hook_fn
        self.cell_id = cell_id

    @keeps
    def __call__(self, *inputs: Any) -> Any:
        for i, value in enumerate(inputs):
            if not isinstance(value, Tensor):
                raise TypeError(f"input {i} of HookBackward must be a Tensor, not {type(value).__name__}")
        return hook_gradient(inputs[0] if len(inputs) == 1 else inputs, self.hook_fn)


@keeps
class InsertGradientOf:
    """An operator that returns its input and passes the gradient through a function.

    Args:
        f: called with the gradient; what it returns, if not None, takes its place.

    Raises:
        TypeError: `f` cannot be called.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> clip = InsertGradientOf(lambda dx: dx * 0.5)
        >>> print(grad(lambda x: clip(x) * 3)(Tensor([1.0])))
        [1.5]
    """

    def __init__(self, f: Callable[[Any], Any]) -> None:
        if not callable(f):
            raise TypeError(f"f must be callable, not {type(f).__name__}")
        self.f = f

    @keeps
    def __call__(self, x: Any) -> Any:
        return hook_gradient(x, self._apply)

    @transparent
    def _apply(self, gradients: tuple[Any, ...]) -> Any:
        return self.f(*gradients)


# -- hooks on cells ----------------------------------------------------------------------------------------------


@unbroken
def cell_backward_hook(
    cell: Any,
    hooks: Sequence[Callable[..., Any]],
    fn: Callable[..., Any],
    args: Sequence[Any],
    pre_hooks: Sequence[Callable[..., Any]] = (),
) -> Any:
    """Compute ``fn(*args)`` with hooks around its part of the backward pass.

    Args:
        cell: passed to the hooks.
        hooks: ``hook(cell, grad_input, grad_output)``; tuples of gradients, None where no gradient flows; may return
            another `grad_input`.
        fn: the computation, usually the cell's `construct`.
        args: its arguments.
        pre_hooks: ``pre_hook(cell, grad_output)``; may return another `grad_output`.

    Returns:
        What `fn` returns.
    """
    watch = CellWatch(cell, tuple(hooks), tuple(pre_hooks))
    inside = watch.enter(args)
    out = fn(*inside.given)
    result, changed = watch.leave(out, inside)
    refill(changed)
    return result


@keeps
class CellWatch:
    """The two marks, at a cell's inputs and at its outputs, that run its backward hooks.

    Args:
        cell: passed to the hooks.
        hooks: see `cell_backward_hook`.
        pre_hooks: likewise.
    """

    __slots__ = ("cell", "hooks", "pre_hooks", "grad_output", "inputs_followed", "input_count")

    def __init__(self, cell: Any, hooks: tuple[Any, ...], pre_hooks: tuple[Any, ...]) -> None:
        self.cell = cell
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_output: tuple[Any, ...] = ()
        self.inputs_followed = False
        self.input_count = 0

    @keeps
    def enter(self, args: Sequence[Any]) -> StandIns:
        """The arguments, behind a mark that is the last of the cell in a backward pass."""
        args = tuple(args)
        inputs = tensors_of(args)
        self.input_count = len(inputs)
        self.inputs_followed = is_followed(inputs) is True
        return StandIns(args, _hooked(args, CellRule(self, False)), False)

    @transparent
    def run_hooks(self, grad_input: Sequence[Any], likes: Sequence[Tensor | None]) -> Sequence[Any]:
        """What leaves the cell at its inputs, after the hooks."""
        for hook in self.hooks:
            given = hook(self.cell, tuple(grad_input), self.grad_output)
            grad_input = replaced(given, grad_input, likes, "a backward hook")
        return grad_input

    @keeps
    def leave(self, out: Any, inside: StandIns) -> tuple[Any, list[tuple[Any, Any]]]:
        """The outputs, behind a mark that is the first of the cell in a backward pass, and what `refill` takes.

        Args:
            out: what the cell computed.
            inside: what it was given.
        """
        result = _hooked(out, CellRule(self, True))
        changed = inside.hand_back(tensors_of(out), tensors_of(result))
        container = inside.container_of(out)
        if container is None:
            return result, changed
        return container, [*[pair for pair in changed if pair[0] is not container], (container, result)]

    @transparent
    def run_pre_hooks(self, gradients: Sequence[Any], likes: Sequence[Tensor]) -> Sequence[Any]:
        """What arrives at the cell's outputs, after the pre-hooks."""
        for hook in self.pre_hooks:
            gradients = replaced(hook(self.cell, tuple(gradients)), gradients, likes, "a backward pre-hook")
        self.grad_output = tuple(gradients)
        if not self.inputs_followed:  # only weights are differentiated: there is no later place to run
            nothing = [None] * self.input_count
            self.run_hooks(nothing, nothing)
        return gradients


@keeps
class CellRule(Rule):
    """The rule at a cell's inputs or outputs.

    Args:
        watch: what both have in common.
        first: whether it is the one that a backward pass comes to first.
    """

    __slots__ = ("watch", "first", "label")

    def __init__(self, watch: CellWatch, first: bool) -> None:
        self.watch = watch
        self.first = first
        self.label = "backward_pre_hook" if first else "backward_hook"

    @transparent
    def pull(self, operands: Any, results: Any, douts: Any) -> Sequence[Any]:
        if self.first:
            return self.watch.run_pre_hooks(douts, results)
        return self.watch.run_hooks(douts, results)

    @keeps
    def user_code(self) -> tuple[Any, ...]:
        return (*self.watch.hooks, *self.watch.pre_hooks)

    @keeps
    def objects(self) -> tuple[Any, ...]:
        return (self.watch.cell, *self.watch.hooks, *self.watch.pre_hooks)

    @keeps
    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        old = self.watch
        watch: Any = memo.get(id(old))
        if watch is None:
            hooks = tuple(map(change, old.hooks)), tuple(map(change, old.pre_hooks))
            watch = memo[id(old)] = CellWatch(change(old.cell), *hooks)
            watch.input_count, watch.inputs_followed = old.input_count, old.inputs_followed
        return CellRule(watch, self.first)

    def renewed(self, edges: Sequence[Any] | None, memo: dict[int, Any]) -> Rule:
        watch: Any = memo.get(id(self.watch))
        if watch is None:
            watch = memo[id(self.watch)] = CellWatch(self.watch.cell, self.watch.hooks, self.watch.pre_hooks)
            watch.input_count = self.watch.input_count
        if not self.first:
            watch.inputs_followed = edges is not None
        return CellRule(watch, self.first)


__all__ = [
    "CellWatch",
    "HookBackward",
    "HookHandle",
    "InsertGradientOf",
    "attach_bprop",
    "call_with_bprop",
    "cell_backward_hook",
    "hook_gradient",
    "register_hook",
]
