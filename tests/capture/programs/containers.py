"""Lists, dicts, sets, tuples, deques: made, changed, nested, in branches and loops."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))]


@case(X, second_order=True)
def append_in_loop_then_stack(x: Any) -> Any:
    rows = []
    for i in range(3):
        rows.append(x * x * i)
    return ops.stack(rows)


@case(X)
def list_methods(x: Any) -> Any:
    items = [x, x * 2]
    items.extend([x * 3])
    items.insert(0, 0)
    last = items.pop()
    items.reverse()
    items += [1]
    del items[0]
    numbers = [4, 5, 6]
    numbers.remove(5)
    return items, last, len(items), numbers.index(6), numbers.count(4), numbers.copy()


@case(X)
def list_slices(x: Any) -> Any:
    items = [x * i for i in range(5)]
    items[1:3] = [x]
    return items[::2], items[-1], items[:2] + items[3:]


@case(X)
def nested_lists(x: Any) -> Any:
    grid = [[0, 0], [0, 0]]
    grid[0][1] = x
    grid[1] = [x * 2, grid[0][1] + 1]
    return grid


@case(X)
def aliased_list(x: Any) -> Any:
    a = [x]
    c = a
    c.append(x * 2)
    return a, a is c


@case(X)
def dict_methods(x: Any) -> Any:
    d = {"a": x}
    d["b"] = x * 2
    d.update(c=x * 3, a=x + 1)
    popped = d.pop("b")
    default = d.setdefault("z", 5)
    missing = d.get("nope", -1)
    return d, popped, default, missing, list(d), "a" in d, len(d)


@case(X)
def nested_dict_mutation(x: Any) -> Any:
    config = {"layers": [{"w": x}, {"w": x * 2}], "depth": 2}
    for layer in config["layers"]:
        layer["w"] = layer["w"] * 10
    config["layers"][0]["b"] = 1
    return config


@case(X, second_order=True)
def dict_changed_in_branch(x: Any) -> Any:
    d = {"y": x, "k": 1}
    if x.sum() > 0:
        d["y"] = x * x
    else:
        d["k"] = 5
    return d["y"] * d["k"]


@case(X)
def list_element_changed_in_branch(x: Any) -> Any:
    items = [x, x * 2, 3]
    if x.sum() > 0:
        items[0] = items[1]
    else:
        items[2] = 4
    return items


@case(N)
def list_element_changed_in_loop(x: Any, n: Any) -> Any:
    items = [x, 0]
    while n > 0:
        items[0] = items[0] * 1.5
        items[1] += 2
        n -= 1
    return items


@case(N)
def nested_dict_changed_in_loop(x: Any, n: Any) -> Any:
    state = {"opt": {"m": x, "step": 0}, "done": [x]}
    for _ in range(n):
        state["opt"]["m"] = state["opt"]["m"] * 0.9
        state["opt"]["step"] += 1
    return state


@case(X)
def sets(x: Any) -> Any:
    s = {1, 2} | {3}
    s.add(4)
    s.discard(1)
    return x * len(s), s, frozenset(s) & {2, 3}, 2 in s


@case(X)
def tuples(x: Any) -> Any:
    t = (x, 1) + (x * 2,)
    a, *rest = t
    return t * 2, t[-1], rest, a, (1, 2, 1).count(1)


@case(X)
def starred_assignment(x: Any) -> Any:
    first, *middle, last = [x, x + 1, x + 2, x + 3]
    (a, c), d = (first, last), middle
    [e, f] = d
    return a + c, e * f


@case(X)
def swap_and_rotate(x: Any) -> Any:
    a, c, d = x, x * 2, x * 3
    a, c, d = d, a, c
    items = [a, c, d]
    items[0], items[2] = items[2], items[0]
    return items


@case(X)
def default_dict_and_deque(x: Any) -> Any:
    groups = defaultdict(list)
    for i, name in enumerate("aba"):
        groups[name].append(x * i)
    window = deque(maxlen=2)
    for i in range(4):
        window.append(x + i)
    return dict(groups), list(window)


@case(X)
def ordered_dict_and_counter(x: Any) -> Any:
    d = OrderedDict(b=x, a=x * 2)
    d.move_to_end("b")
    return list(d), x * Counter("hello")["l"]


@case(X)
def argument_list_returned(x: Any) -> Any:
    return [x, [x, (x, {"k": x})]]


@case([([f32(1.0, 2.0), f32(3.0, 4.0)],), ([f32(-1.0, 2.0), f32(0.0, 4.0)],)])
def list_argument(items: Any) -> Any:
    total = items[0] * 0
    for item in items:
        total = total + item
    return total


@case([([f32(1.0, 2.0), f32(3.0, 4.0)],), ([f32(-1.0, 2.0), f32(0.0, 4.0)],)])
def list_argument_changed(items: Any) -> Any:
    items.append(items[0] * 2)
    items[0] = items[1]
    return len(items)


@case([({"x": f32(1.0, 2.0), "k": 2},), ({"x": f32(-1.0, 2.0), "k": 2},), ({"x": f32(-1.0, 2.0), "k": 3},)])
def dict_argument(config: Any) -> Any:
    return config["x"] * config["k"]


@case([({"x": f32(1.0, 2.0)},), ({"x": f32(-1.0, 2.0)},)])
def dict_argument_changed(config: Any) -> Any:
    config["y"] = config["x"] * 2
    config["x"] = config["x"] + 1
    return config["y"]


@case([((f32(1.0, 2.0), (f32(3.0), 4)),), ((f32(-1.0, 2.0), (f32(0.0), 4)),)])
def nested_tuple_argument(pair: Any) -> Any:
    x, (y, k) = pair
    if y > 1:
        return x * k
    return x


@case(X)
def list_sorted_by_key(x: Any) -> Any:
    items = [("b", 2), ("a", 3), ("c", 1)]
    items.sort(key=lambda item: item[1])
    return [x * k for _, k in items], sorted(items, reverse=True)


@case(X)
def list_multiplication_shares(x: Any) -> Any:
    rows = [[]] * 2
    rows[0].append(x)
    copies = [list(row) for row in rows]
    return copies


@case(X)
def deletion(x: Any) -> Any:
    d = {"a": x, "b": 1}
    del d["b"]
    y = x * 2
    z = y + 1
    del y
    return d, z


@case(X)
def tensors_as_dict_keys(x: Any) -> Any:
    y = x * 2
    names = {id(x): "x", id(y): "y"}
    return names[id(x)], y


@case(X)
def append_in_tensor_branches(x: Any) -> Any:
    out = []
    for i in range(3):
        if x[i] > 0:
            out.append(x[i] * 2)
        else:
            out.append(x[i] * 0)
    return ops.stack(out)


class Progress(NamedTuple):
    h: Any
    step: int = 0


@case(X)
def named_state_in_a_tensor_loop(x: Any) -> Any:
    state = Progress(x)
    while state.h.sum() < 10:
        state = state._replace(h=state.h * state.h + 1, step=state.step + 1)
    return state, state.step, Progress(*state[:1])


@case(X)
def merged_states_in_a_tensor_loop(x: Any) -> Any:
    state = {"h": x, "step": 0, "lr": 0.5}
    while state["h"].sum() < 10:
        grown = {**state, "h": state["h"] + state["step"] + 1}
        state = grown | {"step": grown["step"] + 1}
    return dict(state, lr=state["lr"] / 2), [*state.items()][1:]


@case(X)
def copies_on_the_sides_of_a_branch(x: Any) -> Any:
    state = OrderedDict(h=x, step=1)
    if x.sum() > 0:
        other = state.copy()
        other.update(step=other["step"] + 1)
    else:
        other = OrderedDict(state, h=x * 2)
    pairs = list(zip(other, other.values(), strict=True))
    return other, pairs, {**state, **other}["step"] * x
