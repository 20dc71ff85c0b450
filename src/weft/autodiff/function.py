"""`Function`: a computation and its derivative, written by the program as two functions that share a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.custom import Hole, detached_all, emptied, fitted, may_follow, objects_in, on_objects, on_tensors
from weft.autodiff.following import is_followed
from weft.autodiff.marks import Rule, mark
from weft.autodiff.session import cut, stopped
from weft.autodiff.stand_ins import StandIns, refill
from weft.autodiff.tree import map_tensors, tensors_of
from weft.core import trace as trace_module
from weft.core.dispatch import refuse_in_regions, stays_in_region
from weft.core.run_number import settled
from weft.core.tensor import Tensor
from weft.core.transparency import keeps, transparent, unbroken
from weft.errors import Refusal, Unsupported

#: what a context holds besides the attributes that the program gives it
_OWN = ("_needs", "_saved", "_constant")


@keeps
class FunctionContext:
    """What `forward` leaves for `backward`: saved tensors, and any attributes.

    Args:
        needs: whether each input needs a gradient, None where that is not known yet.
    """

    def __init__(self, needs: tuple[bool | None, ...]) -> None:
        self._needs = needs
        self._saved: tuple[Any, ...] = ()
        self._constant: tuple[Tensor, ...] = ()

    @transparent
    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`; inputs and outputs among them lead on to later derivatives."""
        self._saved = tensors

    @property
    @transparent
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept by `save_for_backward`."""
        return self._saved

    @property
    @transparent
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Whether each input of `forward` needs a gradient."""
        return _known(self._needs)

    @transparent
    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs are constants for every gradient."""
        self._constant = (*self._constant, *tensors)

    @transparent
    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs `forward` writes; it sees by itself."""


@keeps
def _known(needs: tuple[bool | None, ...]) -> tuple[bool, ...]:
    """Whether inputs need gradients; in a capture none that comes after the call, else the call is captured anew."""
    trace = trace_module.current()
    if None not in needs or trace is None:
        return tuple([need is not False for need in needs])
    if not trace.watched:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "which inputs need gradients is not known in a rule that runs for all examples of a mapped function",
            "compute the gradients of all inputs, or map the gradient: vmap(grad(function))",
        )
    if stays_in_region(trace):
        return tuple([need is True for need in needs])
    refuse_in_regions(trace, "a forward that asks which inputs need gradients")
    if trace.partly_followed:
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "which inputs need gradients depends on a condition that only the running graph knows",
            "compute with what is differentiated on all paths",
        )
    if trace.followed:
        raise Unsupported(
            Refusal.IMPURE_CALL,
            "which inputs need gradients is only known when the compiled function is differentiated",
            "compute the gradients of all inputs",
        )
    trace.unrepeatable = True
    return tuple([need is True for need in needs])


class Function:
    """Base of computations that have a derivative of their own.

    A class derived from it defines two static functions. ``forward(ctx, *inputs)`` computes the results; nothing inside
    it is differentiated. ``backward(ctx, *gradients)`` gets the gradient of each result and returns one for each input,
    None for what has none. Derivatives of higher order are those of the code of ``backward``: saved inputs and results
    lead on, other saved tensors are constants.

    Example:
        >>> from weft import grad
        >>> class Cube(Function):
        ...     @staticmethod
        ...     def forward(ctx, x, factor):
        ...         ctx.save_for_backward(x)
        ...         ctx.factor = factor
        ...         return x * x * x * factor
        ...
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         (x,) = ctx.saved_tensors
        ...         return 3 * x * x * ctx.factor * gradient, None
        >>> print(Cube.apply(Tensor([2.0]), 10))
        [80.]
        >>> print(grad(lambda x: Cube.apply(x, 10))(Tensor([2.0])))
        [120.]
    """

    @staticmethod
    @transparent
    def forward(ctx: FunctionContext, *args: Any, **kwargs: Any) -> Any:
        """The results; programs override it."""
        raise NotImplementedError("a Function needs forward(ctx, ...), a static method that computes the results")

    @staticmethod
    @transparent
    def backward(ctx: FunctionContext, *gradients: Any) -> Any:
        """The gradients of the inputs; programs override it."""
        raise NotImplementedError("a Function needs backward(ctx, ...), a static method that gives the gradients")

    @classmethod
    @unbroken
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Compute `forward`.

        Args:
            args: its inputs; tensors, containers of tensors, and constants.
            kwargs: constants.

        Returns:
            What `forward` returns.
        """
        ctx = FunctionContext(_needs(args))
        inside = detached_all(args)
        out = cls.forward(ctx, *inside.given, **kwargs)
        result, changed = _attach(cls, ctx, inside, out)
        refill(changed)
        return result


@keeps
def _needs(args: Sequence[Any]) -> tuple[bool | None, ...]:
    """Whether each argument needs a gradient; None where that is not known."""
    given = [[tensor for tensor in tensors_of(arg) if tensor.dtype.category >= 2] for arg in args]
    return tuple(map(is_followed, given))


class _Place(Hole):
    """Stands for a tensor in what a rule keeps.

    It says where it is found when the rule runs: among the inputs, the results, or what else was saved.
    """

    __slots__ = ("kind", "index")
    kind: str
    index: int


def _place(kind: str, index: int) -> _Place:
    made = object.__new__(_Place)
    made._data = made._node = made._type = None
    made.kind, made.index = kind, index
    return made


@keeps
def _attach(cls: type[Function], ctx: FunctionContext, inside: StandIns, out: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Make what `forward` returned the outputs of one tape entry, and let what it wrote reach the arguments."""
    inputs, outputs = tensors_of(inside.args), tensors_of(out)
    if inputs and outputs and may_follow(inputs if trace_module.current() is None else outputs):
        written = set(map(id, inside.written()))
        handles = enumerate(inside.tensors)
        places = {id(handle): _place("input", i) for i, handle in handles if id(handle) not in written}
        places |= {id(tensor): _place("result", i) for i, tensor in enumerate(outputs)}
        others: list[Tensor] = []

        def placed(tensor: Tensor) -> Tensor:
            found = places.get(id(tensor))
            if found is None:
                found = places[id(tensor)] = _place("other", len(others))
                others.append(tensor)
            return found

        kept = {name: value for name, value in vars(ctx).items() if name not in _OWN}
        state = settled(map_tensors(placed, (ctx._saved, kept)))
        rule = FunctionRule(cls, emptied(inside.args), emptied(out), state, ctx._needs, (len(inputs), len(others)))
        marked = mark((*inputs, *map(stopped, others), *map(stopped, outputs)), len(outputs), rule)
        constant = set(map(id, ctx._constant))
        results = [stopped(new) if id(old) in constant else new for new, old in zip(marked, outputs, strict=True)]
    else:
        for tensor in outputs:
            cut(tensor)
        results = outputs
    changed = inside.hand_back(outputs, results)
    return on_tensors(out, results) if results is not outputs else out, changed


@keeps
class FunctionRule(Rule):
    """The rule that `backward` of a `Function` is.

    Args:
        function: the class.
        args: the arguments, without their tensors.
        out: what `forward` returned, likewise.
        state: what it saved, and the attributes of the context, with places for tensors.
        needs: whether each argument needs a gradient, None where that is not known yet.
        counts: how many tensors the arguments hold, and how many others were saved.
    """

    __slots__ = ("function", "args", "out", "state", "needs", "counts", "label")

    def __init__(
        self,
        function: type[Function],
        args: tuple[Any, ...],
        out: Any,
        state: tuple[Any, dict[str, Any]],
        needs: tuple[bool | None, ...],
        counts: tuple[int, int],
    ) -> None:
        self.function = function
        self.args = args
        self.out = out
        self.state = state
        self.needs = needs
        self.counts = counts
        self.label = f"{function.__qualname__}.backward"

    @transparent
    def pull(self, operands: Any, results: Any, douts: Any) -> Sequence[Any]:
        saved, kept, gradients = self.prepared(operands, results, douts)
        ctx = FunctionContext(self.needs)
        ctx._saved = saved
        vars(ctx).update(kept)
        return fitted(self.function.backward(ctx, *gradients), self.args, operands, self.label)

    @keeps
    def prepared(self, operands: Sequence[Tensor], results: Sequence[Tensor], douts: Any) -> tuple[Any, ...]:
        """What was saved, the attributes of the context, and the gradients of the results: containers are new ones."""
        first, others = self.counts
        found = {"input": operands[:first], "other": operands[first : first + others], "result": results}

        def filled(place: Any) -> Tensor:
            return found[place.kind][place.index]

        saved, kept = map_tensors(filled, self.state)
        gradients = on_tensors(self.out, douts)
        if isinstance(gradients, (tuple, list)):
            return saved, kept, [part if tensors_of(part) else None for part in gradients]
        return saved, kept, [gradients]

    @keeps
    def user_code(self) -> tuple[Any, ...]:
        return (self.function.backward, *self.objects())

    @keeps
    def objects(self) -> tuple[Any, ...]:
        return (*objects_in(self.args), *objects_in(self.out), *objects_in(self.state))

    @keeps
    def on(self, change: Callable[[Any], Any], memo: dict[int, Any]) -> Rule:
        del memo
        args, out, state = [on_objects(held, change) for held in (self.args, self.out, self.state)]
        return FunctionRule(self.function, args, out, state, self.needs, self.counts)

    def renewed(self, edges: Sequence[Any] | None, memo: dict[int, Any]) -> Rule:
        del memo
        rest = iter(edges or ())
        needs: list[bool | None] = []
        for arg, need in zip(self.args, self.needs, strict=True):
            followed = [next(rest, None) is not None for _ in tensors_of(arg)]
            needs.append(need if need is False else any(followed))
        return FunctionRule(self.function, self.args, self.out, self.state, tuple(needs), self.counts)


__all__ = ["Function", "FunctionContext"]
