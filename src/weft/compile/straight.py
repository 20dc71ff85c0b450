"""The equations of an operation that stands in a graph many times, traced once.

JAX traces an operation by running its Python code, most of which looks at types: for a graph of a thousand additions it
finds out a thousand times what to do. Here it does so once, and the equations that came of it are repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
from jax.extend.core import ClosedJaxpr, Literal

#: names of JAX's calls, which stand for the equations inside of them
_CALLS: Final = frozenset({"jit", "pjit"})
#: primitive, parameters, slots of the operands, slots of the results
_Equation = tuple[Any, dict[str, Any], tuple[int, ...], tuple[int, ...]]


class Straight:
    """A function on arrays of known types as a list of equations.

    Args:
        function: the function. It has no effects.
        kinds: shape and dtype of each argument.
        multiple: whether it returns a tuple, else one array.

    Example:
        >>> import numpy as np
        >>> twice = Straight(lambda x: x + x, [jax.ShapeDtypeStruct((), np.float32)], False)
        >>> twice(np.float32(2)).item()
        4.0
    """

    def __init__(self, function: Callable[..., Any], kinds: Sequence[Any], multiple: bool) -> None:
        closed = jax.make_jaxpr(function)(*kinds)
        self.multiple = multiple
        #: what stands in the slots at first; those of the arguments are the first ones
        self.values: list[Any] = [None] * len(kinds)
        self.count = len(kinds)
        self.equations: list[_Equation] = []
        self.outputs = self._inline(closed, list(range(len(kinds))))

    def __call__(self, *arrays: Any) -> Any:
        values = [*arrays, *self.values[self.count :]]
        for primitive, params, operands, results in self.equations:
            found = primitive.bind(*[values[i] for i in operands], **primitive.get_bind_params(params))
            if primitive.multiple_results:
                for slot, value in zip(results, found, strict=True):
                    values[slot] = value
            else:
                values[results[0]] = found
        outputs = [values[i] for i in self.outputs]
        return tuple(outputs) if self.multiple else outputs[0]

    def _slot(self, value: Any = None) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _inline(self, closed: ClosedJaxpr, arguments: list[int]) -> list[int]:
        """Append the equations of a function of what stands in some slots; returns the slots of its results."""
        jaxpr = closed.jaxpr
        slots: dict[Any, int] = dict(zip(jaxpr.invars, arguments, strict=True))
        slots.update(
            {variable: self._slot(value) for variable, value in zip(jaxpr.constvars, closed.consts, strict=True)}
        )

        def read(atom: Any) -> int:
            return self._slot(atom.val) if isinstance(atom, Literal) else slots[atom]

        for equation in jaxpr.eqns:
            operands = [read(atom) for atom in equation.invars]
            if equation.primitive.name in _CALLS:
                slots.update(zip(equation.outvars, self._inline(equation.params["jaxpr"], operands), strict=True))
                continue
            results = [self._slot() for _ in equation.outvars]
            self.equations.append((equation.primitive, equation.params, tuple(operands), tuple(results)))
            slots.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]


__all__ = ["Straight"]
