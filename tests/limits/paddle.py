"""Limits of Paddle's `to_static`."""

from __future__ import annotations

import numpy as np

from tests.helpers.values import f32, i32
from tests.limits.limits import Peer
from weft import Tensor, nn, ops

PADDLE = Peer("Paddle to_static")
limit = PADDLE.limit

LIMITATIONS = "https://www.paddlepaddle.org.cn/documentation/docs/zh/develop/guides/jit/limitations_cn.html"
GRAMMAR = "https://www.paddlepaddle.org.cn/documentation/docs/en/guides/jit/grammar_list_en.html"


@limit(
    LIMITATIONS,
    "A variable has one type on both sides of a branch on a tensor.",
    calls=[(f32(1), f32(2)), (f32(3), f32(2))],
)
def branch_gives_tensor_or_bool(x, y):
    if x > y:
        y = x * 3
    else:
        y = True
    if y is True:
        x = x + 1
    return x, y


@limit(
    LIMITATIONS,
    "A tensor has one shape on both sides of a branch on a tensor.",
    calls=[(f32([1, 2]), f32(2)), (f32([1, 2]), f32(-2))],
)
def branch_gives_two_shapes(x, gate):
    if gate > 0:
        rows = ops.concat([x, x * 2])
    else:
        rows = x
    joined = ops.concat([rows, x])
    return joined.sum(axis=0) * joined.shape[0]


@limit(LIMITATIONS, "The test of a loop keeps its type.", calls=[f32([1, 2]), f32([3, 4], [5, 6])], graphs=5, breaks=5)
def loop_test_becomes_a_tensor(x):
    size = 2
    while size < 10:
        size = (x * 0 + 1).sum()
        x = ops.concat([x, x])
    return x, size


@limit(LIMITATIONS, "A variable is not `None` before a loop and a tensor behind it.", calls=[f32(1), f32(4), f32(30)])
def cache_is_none_at_first(x):
    cache = None
    y = x * 0
    while y.mean() < 10:
        if cache is None:
            y = x + 1
        else:
            y = x + cache
        cache = y
    return y, cache


@limit(
    LIMITATIONS,
    "A tensor keeps its shape in a loop, or its shape is wrong behind it.",
    calls=[(f32([1, 2]), i32(3)), (f32([1, 2]), i32(1)), (f32([1, 2]), i32(0))],
    graphs=4,
    breaks=1,
)
def shape_behind_a_loop(x, times):
    y = x * 2
    for _ in range(int(times)):
        x = ops.concat([x, y])
    print(x.shape)
    return x * x.shape[0]


@limit(
    LIMITATIONS,
    "A nested list cannot grow in a loop on a tensor.",
    calls=[(f32(1, 2), i32(2)), (f32(1, 2), i32(0))],
    graphs=3,
    breaks=1,
)
def nested_list_grows(x, times):
    out = [[1, 2], [x]]
    for i in range(int(times)):
        out.append([i, x * i])
        out[1].append(i)
    return out


@limit(
    LIMITATIONS,
    "In a loop on a tensor, items of a list cannot be deleted, nor slices assigned.",
    calls=[(f32(1, 2), i32(3)), (f32(1, 2), i32(1))],
)
def items_deleted_in_a_loop(x, times):
    values = [x, x + 1, x + 2]
    count = 0
    while count < times:
        del values[0]
        values[0:1] = [x * 2, values[-1] + 1]
        count += 1
    return values, count


@limit(LIMITATIONS, "A dictionary gets no new key in a loop on a tensor.", calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)])
def new_key_in_a_loop(x):
    found = {"first": x}
    while x.sum() > 1:
        x = x / 2
        found["last"] = x
    return found, len(found)


@limit(
    LIMITATIONS,
    "A container that a loop on a tensor changes has to be assigned to itself there.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def container_changed_in_a_loop(x):
    state = {"total": x.sum(), "steps": 0}
    pair = [x, x * 2]
    while x.sum() > 1:
        x = x / 2
        state["total"] = state["total"] + x.sum()
        state["steps"] += 1
        pair[1] = pair[0] - x
    return state, pair


@limit(
    LIMITATIONS,
    "Flags in a dictionary beside tensors become tensors, so that `is True` fails.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def flags_beside_tensors(x):
    options = {"value": x, "use_cache": True, "mode": "sum"}
    while options["value"].sum() > 1:
        options = {**options, "value": options["value"] / 2}
        if options["use_cache"] is True and options["mode"] == "sum":
            options["value"] = options["value"] - 0.01
    return options


@limit(
    LIMITATIONS,
    "NumPy functions cannot be applied to tensors.",
    calls=[f32(1, 2, 3), f32(6, 5, 4)],
    gradients=False,
    graphs=3,
    breaks=3,
)
def numpy_functions(x):
    out = np.sum(x.numpy())
    order = np.argsort(x.numpy())[::-1].copy()
    return Tensor(out), x[Tensor(order)], float(np.median(x.numpy()))


@limit(LIMITATIONS, "Parameters cannot be loaded in compiled code.")
def parameters_loaded_in_the_call(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.linear = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")

        def construct(self, x):
            state = self.parameters_dict()
            weight = state["linear.weight"]
            weight.set_data(weight * 0.5)
            for name, parameter in state.items():
                if name.endswith("bias"):
                    parameter.set_data(parameter + 1)
            return self.linear(x)

    net = jit(Net())
    for k in range(3):
        yield net(Tensor([[1.0, 2.0]]) + k), net.linear.weight, net.linear.bias


@limit(
    LIMITATIONS,
    "`isinstance` of a number that a branch on a tensor gave says that it is a tensor.",
    calls=[f32(3), f32(-3)],
)
def isinstance_of_a_number(x):
    number = None
    if x > 1:
        number = 1
    else:
        number = -1
    if isinstance(number, int):
        print("number is an int")
    else:
        print("number is no int")
    return x * number, number


@limit(GRAMMAR, "Recursion on tensors is not supported.", calls=[f32(2), f32(3), f32(20)], graphs=3, breaks=1)
def recursive_call(x):
    def square_up(value):
        if value > 10:
            return value
        return square_up(value * value)

    return square_up(x)


@limit(
    GRAMMAR,
    "A list of tensors cannot be sorted.",
    calls=[(f32(3), f32(1), f32(2)), (f32(1), f32(2), f32(3))],
    graphs=2,
    breaks=2,
)
def sorted_tensors(a, b, c):
    values = [a, b, c]
    values.sort()
    largest = sorted([a * 2, b + 1, c], reverse=True)[0]
    return values, largest


@limit(GRAMMAR, "Lists of lists of tensors are not supported.", calls=[f32([1, 2], [3, 4]), f32([5, 6], [7, 8])])
def nested_lists(x):
    grid = [[x[0, 0], x[0, 1]], [x[1, 0], x[1, 1]]]
    grid[0][1], grid[1][0] = grid[1][0], grid[0][1]
    grid[1].append(x.sum())
    return grid, [list(column) for column in zip(*grid)]


@limit(
    GRAMMAR,
    "The shape behind a reshape by a tensor is unknown.",
    calls=[(f32(1, 2, 3, 4), i32(2, 2)), (f32(1, 2, 3, 4), i32(4, 1))],
    graphs=3,
    breaks=1,
)
def shape_behind_a_reshape(x, shape):
    y = x.reshape(tuple(shape.tolist()))
    rows = y.shape[0]
    return y.sum(axis=0) * rows, rows


@limit(GRAMMAR, "`and` and `or` on tensors evaluate both sides.", calls=[f32(2), f32(-2), f32(0)])
def lazy_operators(x):
    def expensive(value):
        print("evaluated")
        return value * 2 > 3

    both = x > 0 and expensive(x)
    either = x > 0 or expensive(-x)
    return both, either


@limit(
    GRAMMAR,
    "An index that a loop over a tensor gives is a tensor behind it.",
    calls=[f32(1, 2, 3), f32(3, 2, 1), f32(5, 5, 5)],
)
def index_of_the_first_match(x):
    found = -1
    for index, value in enumerate(x):
        if value == 2.0:
            found = index
            break
    return found, isinstance(found, int), x * (found + 1)


@limit(GRAMMAR, "`len` and conversions of tensors give tensors.", calls=[f32(1.5, 2.5), f32(-0.5, 3.5)])
def conversions(x):
    size = len(x)
    whole = int(x.sum())
    truth = bool(x[0] > 0)
    return x * whole + size, (type(size).__name__, type(whole).__name__, type(truth).__name__), whole + truth
