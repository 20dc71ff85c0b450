"""What XLA's partitioner must not cut, because it would compute other values, or nothing at all.

It is right where an operation takes the elements along a dimension each by itself, multiplies and adds them up, or
looks rows up. Where an operation moves elements along a dimension (windows, slices at places that are only known at run
time, sorting) the parts exchange what reaches over their edges, and this is wrong in many cases: on grids of several
axes, with steps, with parts of different sizes. So such a dimension is whole, whatever the layouts of operands and
results say; the others are cut as they say. All dimensions are whole of an operation that is neither listed here nor
elementwise.

Layouts cut dimensions into equal parts. Unequal ones could only come of an operation whose operands and results have
different sizes along a dimension, as a slice has; such a dimension is whole unless any cut of all these sizes is even.

XLA also fails at some combinations of layouts that it could cut: it says so, and the program is made anew with all
dimensions whole of all operations that have a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from jax.extend.core import jaxprs_in_params

from weft._jax_compat import is_elementwise, keep_whole, operands_of_scan

_Shape = tuple[int, ...]
#: dimensions of each operand, and of each result
_Whole = tuple[Sequence[set[int]], Sequence[set[int]]]


class _Operation(NamedTuple):
    """An operation in a program: its parameters, the shapes of operands and results, the number of devices."""

    params: dict[str, Any]
    operands: list[_Shape]
    results: list[_Shape]
    devices: int

    def along(self, dims: Iterable[int]) -> _Whole:
        """These dimensions, of all operands and results that have them."""
        dims = set(dims)
        return [{i for i in dims if i < len(shape)} for shape in self.operands], [dims] * len(self.results)

    def uneven(self, dims: Iterable[int]) -> _Whole:
        """Those of these dimensions that cannot be cut evenly in all operands and results."""
        shapes = [shape for shape in (*self.operands, *self.results) if shape]
        return self.along(i for i in dims if any(shape[i] % self.devices for shape in shapes))


def _all(of: _Operation) -> _Whole:
    return [set(range(len(shape))) for shape in of.operands], [set(range(len(shape))) for shape in of.results]


def _none(of: _Operation) -> _Whole:
    return [set()] * len(of.operands), [set()] * len(of.results)


def _of_convolution(of: _Operation) -> _Whole:
    numbers = of.params["dimension_numbers"]
    rows, kernel, out = (set(spec[2:]) for spec in (numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec))
    if of.params["feature_group_count"] > 1 or of.params["batch_group_count"] > 1:
        rows.add(numbers.lhs_spec[1])
        kernel |= set(numbers.rhs_spec[:2])
        out.add(numbers.out_spec[1])
    if of.params["batch_group_count"] > 1:
        rows.add(numbers.lhs_spec[0])
    return [rows, kernel], [out]


def _of_windows(of: _Operation) -> _Whole:
    rank = len(of.params["window_dimensions"])
    plain = {"window_dimensions": 1, "window_strides": 1, "padding": (0, 0), "base_dilation": 1, "window_dilation": 1}
    given = [(of.params.get(name) or [value] * rank, value) for name, value in plain.items()]
    return of.along(i for i in range(rank) if any(values[i] != value for values, value in given))


def _of_slice(of: _Operation) -> _Whole:
    [shape], [result] = of.operands, of.results
    steps = of.params["strides"] or [1] * len(shape)
    moved = {i for i, step in enumerate(steps) if step > 1}
    return _either(of.along(moved), of.uneven(i for i in range(len(shape)) if shape[i] != result[i]))


def _of_pad(of: _Operation) -> _Whole:
    config = of.params["padding_config"]
    apart = of.along(i for i, (_, _, within) in enumerate(config) if within)
    return _either(apart, of.uneven(i for i, sizes in enumerate(config) if any(sizes)))


def _of_dynamic_slice(of: _Operation) -> _Whole:
    """Of one that is read, or written: the dimensions of which it is a part."""
    shape, part = of.operands[0], of.params.get("slice_sizes") or of.operands[1]
    return of.along(i for i in range(len(shape)) if shape[i] != part[i])


def _of_gather(of: _Operation) -> _Whole:
    numbers, sizes, shape = of.params["dimension_numbers"], of.params["slice_sizes"], of.operands[0]
    apart = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    inside = [i for i in range(len(shape)) if i not in apart]
    partly = {i for i in inside if sizes[i] != shape[i]}
    out = {place for place, i in zip(numbers.offset_dims, inside, strict=True) if i in partly}
    looked_up = set(numbers.start_index_map)
    table = partly | (looked_up if partly or len(looked_up) > 1 else set())
    return [table, {len(of.operands[1]) - 1}], [out]


def _of_scatter(of: _Operation, adds: bool = False) -> _Whole:
    numbers, (shape, indices, updates) = of.params["dimension_numbers"], of.operands
    apart = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    inside = [i for i in range(len(shape)) if i not in apart]
    window = numbers.update_window_dims
    partly = {i for place, i in zip(window, inside, strict=True) if updates[place] != shape[i]}
    given = {place for place, i in zip(window, inside, strict=True) if i in partly}
    written, table, chosen = set(numbers.scatter_dims_to_operand_dims), set(partly), {len(indices) - 1}
    if not adds or partly or len(written) > 1:
        table |= written
    if not adds:
        rows = [i for i in range(len(indices) - 1) if i not in numbers.scatter_indices_batching_dims]
        places = [i for i in range(len(updates)) if i not in window]  # of the dimensions of the indices
        chosen |= set(rows)
        given |= {places[i] for i in rows}
    return [table, chosen, given], [table]


def _of_matrices(of: _Operation) -> _Whole:
    batch = len(of.operands[0]) - 2
    return [set(range(batch, len(s))) for s in of.operands], [set(range(batch, len(s))) for s in of.results]


def _of_scan(of: _Operation) -> _Whole:
    """Of a loop over rows: the rows, which each step looks up and writes."""
    read, carried, stacks = operands_of_scan(of.params, of.operands)
    made = len(of.results) - len(carried)
    return [*[set()] * len((*read, *carried)), *[{0}] * len(stacks)], [*[set()] * len(carried), *[{0}] * made]


def _either(one: _Whole, other: _Whole) -> _Whole:
    first, second = ([a | b for a, b in zip(*pair, strict=True)] for pair in zip(one, other, strict=True))
    return first, second


#: operations that are cut as their operands and results are
_FREE: Final = (
    "dot_general reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor reduce argmax argmin "
    "broadcast_in_dim reshape squeeze transpose iota add_any clamp select_n convert_element_type name copy_p "
    "stop_gradient sharding_constraint layout_constraint optimization_barrier device_put random_seed random_wrap "
    "random_unwrap random_bits random_split random_fold_in random_clone random_gamma iota_2x32_shape "
    "pure_callback io_callback debug_callback"
)
_RULES: Final[dict[str, Callable[[_Operation], _Whole]]] = {
    **dict.fromkeys(_FREE.split(), _none),
    "conv_general_dilated": _of_convolution,
    **dict.fromkeys(
        ["reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min", "select_and_scatter",
         "select_and_scatter_add", "select_and_gather_add"],
        _of_windows,
    ),
    "slice": _of_slice,
    "pad": _of_pad,
    "concatenate": lambda of: of.uneven([of.params["dimension"]]),
    "split": lambda of: of.uneven([of.params["axis"]]),
    "stack": lambda of: ([set()] * len(of.operands), [{of.params["axis"]}]),
    "unstack": lambda of: ([{of.params["axis"]}], [set()] * len(of.results)),
    "tile": lambda of: of.along(i for i, count in enumerate(of.params["reps"]) if count > 1),
    "rev": lambda of: of.along(of.params["dimensions"]),
    **dict.fromkeys(["dynamic_slice", "dynamic_update_slice"], _of_dynamic_slice),
    "gather": _of_gather,
    **dict.fromkeys(["scatter", "scatter-min", "scatter-max", "scatter-mul"], _of_scatter),
    **dict.fromkeys(["scatter-add", "scatter-sub"], lambda of: _of_scatter(of, adds=True)),
    "sort": lambda of: of.along([of.params["dimension"]]),
    "top_k": lambda of: of.along([len(of.operands[0]) - 1]),
    **dict.fromkeys(
        ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"], lambda of: of.along([of.params["axis"]])
    ),
    "fft": _all,  # XLA computes it whole in any case
    **dict.fromkeys(
        ["cholesky", "triangular_solve", "lu", "qr", "geqrf", "householder_product", "eigh", "eig", "svd"],
        _of_matrices,
    ),
    "scan": _of_scan,
}  # fmt: skip


def whole_dimensions(
    primitive: Any,
    params: dict[str, Any],
    operands: list[_Shape],
    results: list[_Shape],
    devices: int,
    little: bool = False,
) -> _Whole:
    """The dimensions of an operation that must not be cut.

    Args:
        primitive: the operation, of JAX.
        params: what it is told besides its operands.
        operands: their shapes.
        results: their shapes.
        devices: how many.
        little: whether XLA has failed to cut the program as the rules allow: then all dimensions are whole where any
            may have to be.

    Returns:
        those of each operand, and those of each result.
    """
    of = _Operation(params, operands, results, devices)
    rule = _RULES.get(primitive.name)
    if rule is None:
        by_element = is_elementwise(primitive) and all(_fits(shape, results[0]) for shape in (*operands, *results))
        calls = next(jaxprs_in_params(params), None) is not None  # a program, whose operations are asked about
        rule = _none if by_element or calls else _all
    return _all(of) if little and rule is not _none else rule(of)


def _fits(shape: _Shape, result: _Shape) -> bool:
    return not shape or (len(shape) == len(result) and all(n in (1, m) for n, m in zip(shape, result, strict=True)))


def install() -> None:
    """Have XLA keep these dimensions whole, in all programs for several devices."""
    keep_whole(whole_dimensions)
