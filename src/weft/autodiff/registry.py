"""Derivative rules that a user registers for operators: one registry for the eager and the compiled mode."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft import context
from weft.core.operators import GETTERS, OPERATOR_CLASSES, Operator
from weft.core.primitive import Primitive
from weft.core.transparency import keeps, transparent

#: a getter takes the operator and returns its rule ``bprop(*inputs, out, dout)``
Getter = Callable[[Any], Callable[..., Any]]


class BpropRegistry:
    """The derivative rules that replace the built-in ones.

    Example:
        >>> from weft.autodiff.grad import grad
        >>> from weft.core.tensor import Tensor
        >>> from weft.ops.math import mul
        >>> def doubled(self):
        ...     return lambda x, y, out, dout: (y * dout * 2, x * dout)
        >>> with bprop_getters.replaced(mul, doubled):
        ...     print(grad(mul)(Tensor(1.0), Tensor(5.0)))
        10.0
    """

    def __init__(self) -> None:
        self._getters: dict[Primitive, Getter] = {}
        #: every getter that was registered so far, with its number
        self._numbers: dict[Getter, int] = {}
        self._originals: dict[Primitive, tuple[Any, str]] = {}

    def register(self, operator: Any) -> Callable[[Getter], Getter]:
        """A decorator that makes a getter's rule the derivative of an operator, in every mode.

        Args:
            operator: an operator class, an operator, a function of `weft.ops`, or the name of a primitive.

        Returns:
            A decorator for ``getter(self)``, where `self` is the operator with its attributes; it returns
            ``bprop(*inputs, out, dout)``, which returns a gradient for each input.

        Raises:
            TypeError: `operator` names no primitive.
        """
        if _is_of_program(operator):
            return functools.partial(self._keep, operator)
        primitive, kind = _resolve(operator)

        def decorate(getter: Getter) -> Getter:
            if not callable(getter):
                raise TypeError(f"a bprop getter is a function of the operator, not {type(getter).__name__}")
            self._originals.setdefault(primitive, (primitive.derivative, primitive.no_gradient))
            self._getters[primitive] = getter
            self._publish()
            _install(primitive, GetterRule(primitive, kind, getter), "", True)
            return getter

        return decorate

    def unregister(self, operator: Any) -> None:
        """Give an operator its built-in derivative back; without a registered one nothing happens."""
        if _is_of_program(operator):
            GETTERS.pop(operator, None)
            self._publish()
            return
        primitive, _ = _resolve(operator)
        original = self._originals.pop(primitive, None)
        if original is not None:
            del self._getters[primitive]
            self._publish()
            _install(primitive, *original, asks=False)

    def _keep(self, operator: type, getter: Getter) -> Getter:
        """Register a getter for a program's own operator class, whose calls ask for it."""
        if not callable(getter):
            raise TypeError(f"a bprop getter is a function of the operator, not {type(getter).__name__}")
        GETTERS[operator] = getter
        self._publish()
        return getter

    def _publish(self) -> None:
        """Let graphs that were captured before know which rules hold now."""
        named = [(p.name, g) for p, g in self._getters.items()] + [(k.__qualname__, g) for k, g in GETTERS.items()]
        for _, getter in named:
            self._numbers.setdefault(getter, len(self._numbers))
        context.note("rules", tuple([f"{name}: rule {self._numbers[getter]}" for name, getter in named]))

    def get(self, operator: Any) -> Getter | None:
        """The getter registered for an operator."""
        if _is_of_program(operator):
            return GETTERS.get(operator)
        return self._getters.get(_resolve(operator)[0])

    @contextmanager
    def replaced(self, operator: Any, getter: Getter) -> Iterator[None]:
        """Use a getter's rule inside a `with` block."""
        before = self.get(operator)
        self.register(operator)(getter)
        try:
            yield
        finally:
            if before is None:
                self.unregister(operator)
            else:
                self.register(operator)(before)


def _is_of_program(operator: Any) -> bool:
    """Whether an operator class is a program's own, which is made of other operators."""
    return isinstance(operator, type) and issubclass(operator, Operator) and not hasattr(operator, "primitive")


def _install(primitive: Primitive, rule: Any, no_gradient: str, asks: bool) -> None:
    primitive.derivative = rule
    primitive.no_gradient = no_gradient
    primitive.asks = asks
    primitive.rule_version += 1
    Primitive.rules_epoch += 1
    primitive.pullbacks.clear()
    for other in Primitive.table.values():  # a compiled rule may have this one inside (a mapped function's)
        other.pullbacks.clear()


def _resolve(operator: Any) -> tuple[Primitive, type | None]:
    """The primitive that an operator stands for, and its operator class."""
    if isinstance(operator, Primitive):
        return operator, OPERATOR_CLASSES.get(operator.name)
    if isinstance(operator, str):
        kind = OPERATOR_CLASSES.get(operator)
        primitive = getattr(kind, "primitive", None) or Primitive.named(operator)
        if primitive is None:
            raise TypeError(f"there is no operator named {operator!r} with a derivative of its own")
        return primitive, kind
    kind = operator if isinstance(operator, type) else type(operator)
    primitive = getattr(operator, "primitive", None)
    if not isinstance(primitive, Primitive):
        name = getattr(operator, "__name__", type(operator).__name__)
        raise TypeError(
            f"{name} is not an operator with a derivative of its own; pass an operator class such as ops.Mul, "
            "or the operators it is made of"
        )
    return primitive, kind if issubclass(kind, Operator) else OPERATOR_CLASSES.get(primitive.name)


class GetterRule:
    """A getter's rule in the form that a backward pass calls.

    Args:
        primitive: whose rule it is.
        kind: its operator class.
        getter: the user's function.
    """

    __slots__ = ("getter", "kind", "fixed", "called")

    def __init__(self, primitive: Primitive, kind: type | None, getter: Getter) -> None:
        self.getter = getter
        self.kind = kind
        self.fixed = () if kind is None else tuple(inspect.signature(kind.__init__).parameters)[1:]  # type: ignore[misc]
        # attributes that are arguments of the operator's call come after its tensors
        self.called = [name for name in primitive.attr_names if name not in self.fixed]

    @transparent
    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        inputs, out, dout = operands[:-2], operands[-2], operands[-1]
        given = self.getter(self.operator(attrs))(*inputs, *[attrs[name] for name in self.called], out, dout)
        return _leading(given, len(inputs))

    @keeps
    def operator(self, attrs: dict[str, Any]) -> Any:
        """The operator with these attributes, as the getter gets it."""
        made: Any = object.__new__(self.kind if self.kind is not None else _Unnamed)
        made.__dict__.update(attrs)
        made.__dict__["fixed"] = {name: attrs[name] for name in self.fixed if name in attrs}
        return made


@keeps
def _leading(gradients: Any, count: int) -> tuple[Any, ...]:
    return tuple(gradients[:count]) if isinstance(gradients, (tuple, list)) else (gradients,)


class _Unnamed:
    """Stands in for an operator that has no class."""


bprop_getters = BpropRegistry()
