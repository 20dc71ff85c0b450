"""`zip`, `enumerate`, `map`, `filter`, `sorted`, `reversed`, `sum`, `min`, `max`, `any`, `all` and their friends."""

from __future__ import annotations

from typing import Any

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]


@case(X)
def zip_and_enumerate(x: Any) -> Any:
    out = []
    for i, (a, c) in enumerate(zip([x, x * 2], [3, 4], strict=True), start=1):
        out.append(a * c + i)
    return out


@case(X)
def map_and_filter(x: Any) -> Any:
    return [x * k for k in filter(lambda n: n % 2, map(lambda n: n + 1, range(5)))]


@case(X)
def filter_none(x: Any) -> Any:
    return [x * k for k in filter(None, [0, 1, 2, 0])]


@case(X)
def sorted_and_reversed(x: Any) -> Any:
    return [x * k for k in sorted([3, 1, 2], key=lambda n: -n)], list(reversed(range(3))), [*reversed([x, 1])]


@case(X, second_order=True)
def sum_of_tensors(x: Any) -> Any:
    return sum([x * x, x * 2], x)


@case(X)
def min_max_of_python_numbers(x: Any) -> Any:
    return x * max(1, 2, 3) + min([4, 5]), max([], default=7), min("b", "a"), max([1, -5], key=abs)


@case(X, second_order=True)
def max_of_tensors(x: Any) -> Any:
    return max(x[0], x[1]) * x, min(x[0] * x[0], x[2])


@case(X)
def any_all_of_python_values(x: Any) -> Any:
    return any([0, "", 3]), all([]), all(n > 0 for n in (1, 2)), x


@case(X)
def any_of_tensors(x: Any) -> Any:
    if any(v > 1 for v in x):
        return x * 2
    return x


@case(X)
def all_of_tensors_in_generator(x: Any) -> Any:
    if all(v > -1.5 for v in x):
        return x * 2
    return x


@case(X)
def abs_round_divmod_pow(x: Any) -> Any:
    q, r = divmod(17, 5)
    return abs(x) + abs(-3), round(2.567, 1), q, r, pow(x, 2), pow(2, 5, 7)


@case(X)
def range_objects(x: Any) -> Any:
    r = range(1, 10, 3)
    return len(r), r[1], 4 in r, list(r), x * r[-1], r.stop


@case(X)
def slice_objects(x: Any) -> Any:
    s = slice(0, 2)
    return x[s], [1, 2, 3][s], s.stop


@case(X)
def iter_and_next(x: Any) -> Any:
    it = iter([x, x * 2])
    return next(it) + next(it), next(it, "end")


@case(X)
def iter_over_tensor(x: Any) -> Any:
    first, second, third = x
    a, *rest = x
    return first + second * third, rest, a


@case(X)
def star_args_from_tensor(x: Any) -> Any:
    def add(a: Any, c: Any, d: Any) -> Any:
        return a - c * d

    return add(*x)


@case(X)
def len_of_things(x: Any) -> Any:
    return len(x), len([x, x]), len("text"), len({"a": 1})


@case(X)
def list_of_zip_transposes(x: Any) -> Any:
    rows = [(1, x), (2, x * 2)]
    numbers, values = zip(*rows, strict=True)
    return numbers, values


@case(X)
def dict_views(x: Any) -> Any:
    d = {"a": x, "b": x * 2}
    return list(d.keys()), list(d.values()), [k * 2 for k, _ in d.items()], dict(reversed(d.items()))


@case([i64(3, 1, 2), i64(1, 2, 3)])
def sum_min_max_of_int_tensor(x: Any) -> Any:
    return sum(x), max(x), min(x)


@case(X)
def zip_longest_style_defaults(x: Any) -> Any:
    a, c = [x, x * 2], [1]
    out = []
    for i in range(max(len(a), len(c))):
        out.append(a[i] * (c[i] if i < len(c) else 10))
    return ops.stack(out)


@case(X)
def enumerate_over_tensor_with_branch(x: Any) -> Any:
    best = x[0]
    position = 0
    for i, v in enumerate(x):
        if v > best:
            best = v
            position = i
    return best, position
