"""Steps of optimizers: primitives of their classes, and rules that change nothing where a condition does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import numpy as np
from jax import numpy as jnp

from weft._jax_compat import bind_again
from weft.core import Primitive
from weft.nn.cell import Cell


class OfSteps(Cell):
    """Base of the optimizers of both kinds: the primitive of a class is made when it is first asked for."""

    _primitive: ClassVar[Primitive | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._primitive = None
        Primitive.made_for(cls, cls._step_primitive)

    @classmethod
    def _step_primitive(cls) -> Primitive:
        """The primitive of one step."""
        if cls._primitive is None:
            cls._primitive = cls._new_primitive()
        return cls._primitive

    @classmethod
    def _new_primitive(cls) -> Primitive:
        raise NotImplementedError


def keeping(update: Callable[..., Sequence[Any]], holds: Any) -> Callable[..., list[Any]]:
    """The rule of an optimizer, for a step that may be none.

    What the rule computes of a new state is computed of the one that is kept: so XLA makes each in the memory of the
    one before, where it would copy one that a parameter and the state itself are computed of in two places.

    Args:
        update: gives, for a parameter, its gradient, its state as a tuple and what else, the new parameter and state.
        holds: whether there is a step.

    Returns:
        Callable: gives the parameter and its state as they were where there is none.

    Example:
        >>> rule = lambda p, g, state: (p - state[0] * g, state[0] / 2)
        >>> p, g, state = jnp.array(4.0), jnp.array(1.0), (jnp.array(2.0),)
        >>> [[value.item() for value in keeping(rule, holds)(p, g, state)] for holds in (False, True)]
        [[4.0, 2.0], [2.0, 1.0]]
    """

    programs: dict[Any, Any] = {}

    def kept(p: Any, g: Any, state: Sequence[Any], *others: Any) -> list[Any]:
        before = list(map(jnp.asarray, (p, *state)))
        program, arrays = _program(update, (before[0], g, tuple(before[1:]), *others), programs)
        results = program.jaxpr.outvars
        known: dict[Any, Any] = dict(zip(program.jaxpr.constvars, program.consts, strict=True))
        known |= zip(program.jaxpr.invars, arrays, strict=True)
        times = Counter(result for result in results if not _is_literal(result) and result not in known)
        old = {result: array for result, array in zip(results, before, strict=True) if times.get(result) == 1}
        for equation in program.jaxpr.eqns:
            operands = [_value(operand, known) for operand in equation.invars]
            for found, value in zip(equation.outvars, bind_again(equation, operands), strict=True):
                known[found] = jnp.where(holds, value, old[found]) if found in old else value
        return [
            known[result] if result in old else jnp.where(holds, _value(result, known), array)
            for result, array in zip(results, before, strict=True)
        ]

    return kept


def _program(update: Callable[..., Any], given: tuple[Any, ...], programs: dict[Any, Any]) -> tuple[Any, list[Any]]:
    """What an update computes, as JAX traces it, and its operands; parameters of one kind have one."""
    leaves, tree = jax.tree.flatten(given)
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray))]
    arrays = [leaves[place] for place in places]
    fixed = [None if place in places else leaf for place, leaf in enumerate(leaves)]
    key = (tree, tuple(fixed), *map(jax.typeof, arrays))

    def run(*arrays: Any) -> tuple[Any, ...]:
        filled = dict(zip(places, arrays, strict=True))
        return tuple(update(*jax.tree.unflatten(tree, [filled.get(n, leaf) for n, leaf in enumerate(fixed)])))

    if key not in programs:
        programs[key] = jax.make_jaxpr(run)(*arrays)
    return programs[key], arrays


def _is_literal(operand: Any) -> bool:
    return hasattr(operand, "val")


def _value(result: Any, known: dict[Any, Any]) -> Any:
    return result.val if _is_literal(result) else known[result]
