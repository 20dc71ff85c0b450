"""Operations that XLA's partitioner computes wrongly where they are cut along some of their dimensions.

It exchanges what windows reach over the edges of the parts, with the wrong neighbours where a grid has an axis more: a
convolution whose rows are cut, or the gradient of a pooling with windows that overlap, gives other values then, and so
does a convolution in groups whose channels are cut across them. Here these dimensions are whole, whatever the layouts
of operands and results say; the others are cut as they say.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import primitives

from weft._jax_compat import keep_whole


def _of_convolution(ranks: list[int], params: dict[str, Any]) -> tuple[list[set[int]], list[set[int]]]:
    del ranks
    numbers = params["dimension_numbers"]
    rows, kernel, out = (set(spec[2:]) for spec in (numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec))
    if params["feature_group_count"] > 1 or params["batch_group_count"] > 1:
        rows.add(numbers.lhs_spec[1])
        kernel |= set(numbers.rhs_spec[:2])
        out.add(numbers.out_spec[1])
    if params["batch_group_count"] > 1:
        rows.add(numbers.lhs_spec[0])
    return [rows, kernel], [out]


def _of_windows(ranks: list[int], params: dict[str, Any]) -> tuple[list[set[int]], list[set[int]]]:
    whole = {i for i, size in enumerate(params["window_dimensions"]) if size > 1}
    return [whole] * len(ranks), [whole]


def install() -> None:
    """Have XLA compute these operations so."""
    keep_whole(primitives.conv_general_dilated_p, _of_convolution)
    keep_whole(primitives.select_and_scatter_add_p, _of_windows)
