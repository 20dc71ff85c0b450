"""Functions while JAX traces them: equations of a jaxpr, open sizes, what goes wrong in them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import jax


def eagerly() -> Any:
    """Within this block operations on arrays are computed, also while JAX traces a function."""
    return jax.ensure_compile_time_eval()


class Stopped(Exception):
    """Raised by a callback to end the run of a graph, after it told whoever waits for the run why."""


def _is_told(record: logging.LogRecord) -> bool:
    return not (record.exc_info and record.exc_info[0] is Stopped)


logging.getLogger("jax._src.callback").addFilter(_is_told)


@contextlib.contextmanager
def without_notes() -> Iterator[None]:
    """Within this block exceptions are those of the operation, without the note that JAX adds on its own frames."""
    try:
        yield
    except Exception as error:
        notes = [note for note in getattr(error, "__notes__", ()) if "JAX_TRACEBACK_FILTERING" not in note]
        if notes:
            error.__notes__ = notes
        elif hasattr(error, "__notes__"):
            del error.__notes__
        raise


def dimension_terms(dim: Any) -> list[tuple[int, list[tuple[Any, int]]]]:
    """A symbolic dimension as a sum: for each term the coefficient, and the factors with their exponents.

    A factor is the name of a variable, or the name of an operation (``"floordiv"``, ``"mod"``, ``"max"``, ``"min"``)
    and its two operands, which are dimensions.
    """
    return [
        (coefficient, [(f.var or (f.operation, *f.operands), exponent) for f, exponent in term._factors])
        for term, coefficient in dim._sorted_terms
    ]


def bind_again(equation: Any, operands: Sequence[Any], **changed: Any) -> list[Any]:
    """The results of an equation of a jaxpr on operands, with some parameters changed."""
    primitive = equation.primitive
    with equation.ctx.manager:
        found = primitive.bind(*operands, **primitive.get_bind_params({**equation.params, **changed}))
    return list(found) if primitive.multiple_results else [found]


def operands_of_scan(
    params: dict[str, Any], operands: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """The operands of a loop over stacks: what each round reads, what is carried, and the stacks."""
    if "ft_in" in params:
        read, carried, _ = map(len, params["ft_in"].unpack())
    else:  # JAX 0.10
        read, carried = params["num_consts"], params["num_carry"]
    return operands[:read], operands[read : read + carried], operands[read + carried :]


def draws_by_position(equation: Any) -> bool:
    """Whether each random bit of an equation depends only on the key and how many elements stand before it."""
    impl = equation.invars[0].aval.dtype._impl
    return impl.name == "threefry2x32" and bool(equation.ctx.threefry_partitionable)


def compiled_programs(function: Any) -> int:
    """For how many shapes and dtypes a function made by `jax.jit` holds compiled code."""
    count: int = function._cache_size()
    return count
