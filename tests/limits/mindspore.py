"""Limits of MindSpore's static graphs."""

from __future__ import annotations

import enum
import functools

import numpy as np

from tests.helpers.values import f32, i32
from tests.limits.limits import Peer
from weft import Parameter, Tensor, nn, ops

MINDSPORE = Peer("MindSpore")
limit = MINDSPORE.limit

SYNTAX = "https://www.mindspore.cn/docs/en/r2.4.10/model_train/program_form/static_graph.html"
STATEMENTS = "https://www.mindspore.cn/docs/en/r2.4.10/model_train/program_form/static_graph_syntax/statements.html"
OPERATORS = "https://www.mindspore.cn/docs/en/r2.4.10/model_train/program_form/static_graph_syntax/operators.html"
BUILTINS = (
    "https://www.mindspore.cn/docs/en/r2.4.10/model_train/program_form/static_graph_syntax/"
    "python_builtin_functions.html"
)
EARLIER = "https://www.mindspore.cn/docs/en/r2.0/note/static_graph_syntax_support.html"
FAQ = "https://www.mindspore.cn/docs/en/r2.0/faq/network_compilation.html"


@limit(SYNTAX, "`try` cannot be compiled.", calls=[(f32(1, 2), 2), (f32(3, 4), 0), (f32(5, 6), 4)], graphs=3)
def try_statement(x, parts):
    scaled = x * 2
    try:
        share = 100 // parts
    except ZeroDivisionError:
        print("no parts, so no shares")
        share = 0
    else:
        scaled = scaled + 1
    finally:
        print("divided by", parts)
    return scaled * share


@limit(
    FAQ,
    "`yield` cannot be compiled.",
    calls=[(f32(1, 2, 3, 4), 2), (f32(5, 6, 7, 8), 2), (f32(1, 2, 3, 4), 3)],
    graphs=2,
)
def yield_expression(x, size):
    def windows(sequence):
        for start in range(len(sequence) - size + 1):
            yield sequence[start : start + size]

    total = 0
    for number, window in enumerate(windows(x)):
        total = total + window.sum() * (number + 1)
    return total


@limit(SYNTAX, "`yield from` cannot be compiled.", calls=[f32(1, 2), f32(3, -4)])
def yield_from(x):
    def halves(value, depth):
        if depth == 0:
            yield value
        else:
            yield from halves(value / 2, depth - 1)
            yield from halves(-value / 2, depth - 1)

    result = 0
    for number, part in enumerate(halves(x, 2)):
        result = result + part * number
    return result


@limit(FAQ, "`trainable_params()` cannot be called in compiled code.", calls=[f32([1, 2]), f32([3, 4])], factory=True)
def walk_over_parameters():
    class Penalized(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(2, 3, weight_init="ones")
            self.second = nn.Dense(3, 1, weight_init="ones")

        def construct(self, x):
            loss = self.second(ops.tanh(self.first(x))).sum()
            penalty = 0
            for parameter in self.trainable_params():
                if parameter.name.endswith("weight"):
                    penalty = penalty + (parameter * parameter).sum()
            return loss + 0.01 * penalty

    return Penalized()


@limit(SYNTAX, "`nonlocal` cannot be compiled.", calls=[f32(1, 2), f32(3, 4), f32(5, 6)], factory=True, graphs=2)
def nonlocal_statement():
    calls = 0
    largest = None

    def remember(x):
        nonlocal calls, largest
        calls += 1
        peak = x.max()
        largest = peak if largest is None else ops.maximum(largest, peak)
        return x / largest, calls

    return remember


@limit(SYNTAX, "Assignment expressions cannot be compiled.", calls=[f32(9, 8), f32(0.5, 0.25), f32(40, 2)])
def assignment_expression(x):
    steps = 0
    while (size := x.sum()) > 1:
        x = x / 2
        steps = steps + 1
    if (rest := 1 - size) > 0.5:
        return x + rest, steps
    return x, steps


@limit(
    SYNTAX,
    "`match` cannot be compiled.",
    calls=[(f32(1, 2), ("scale", 3)), (f32(1, 2), ("shift", 1, 2)), (f32(1, 2), {"power": 2}), (f32(1, 2), None)],
    graphs=4,
)
def match_statement(x, order):
    match order:
        case ("scale", factor):
            return x * factor
        case ("shift", *steps) if len(steps) > 1:
            for step in steps:
                x = x + step
            return x
        case {"power": exponent}:
            return x**exponent
        case _:
            raise ValueError(f"cannot do {order!r}")


@limit(
    SYNTAX,
    "Sets, set displays and set comprehensions cannot be compiled.",
    calls=[(f32(1, 2), ["relu", "tanh"]), (f32(-1, 2), ["tanh", "tanh"]), (f32(1, 2), ["swish"])],
    graphs=3,
)
def sets(x, wanted):
    known = {"relu", "tanh", "sigmoid"}
    chosen = {name.lower() for name in wanted}
    unknown = chosen - known
    if unknown:
        raise KeyError(sorted(unknown)[0])
    if "relu" in chosen:
        x = ops.relu(x)
    if {"tanh"} <= chosen:
        x = ops.tanh(x)
    return x, len(chosen)


@limit(SYNTAX, "`del` cannot be compiled.", calls=[f32(1, 2), f32(3, 4)])
def delete_statement(x):
    stages = {"raw": x, "scaled": x * 2, "shifted": x + 1}
    history = [x, x * 2, x * 3, x * 4]
    del stages["raw"]
    del history[1:3]
    scratch = x * 100
    del scratch
    try:
        return scratch
    except UnboundLocalError:
        return stages, history


@limit(
    SYNTAX, "Starred expressions cannot be compiled.", calls=[f32([1, 2], [3, 4], [5, 6]), f32([0, 1], [1, 0], [2, 2])]
)
def starred(x):
    def weigh(first, *others, scale=1.0):
        return first * scale + sum(others)

    head, *tail = ops.unbind(x)
    options = {"scale": 2.0}
    both = [*tail, head]
    return weigh(*both, **options), (*both, *tail)


@limit(SYNTAX, "Annotated assignments cannot be compiled.", calls=[f32(1, 2), f32(-3, 4)])
def annotated_assignment(x):
    total: Tensor = x.sum()
    scale: float
    scale = 0.5
    parts: list[Tensor] = []
    for power in range(3):
        term: Tensor = x**power * scale
        parts.append(term)
    return total + sum(parts)


@limit(SYNTAX, "`import` in a function cannot be compiled.", calls=[f32(1, 2), f32(3, 4)])
def import_statement(x):
    import math
    from collections import OrderedDict

    scales = OrderedDict(circle=math.pi, square=4.0)
    result = 0
    for name, scale in scales.items():
        result = result + x * scale * len(name)
    return result


@limit(FAQ, "A comparison has one operator at most.", calls=[f32(2), f32(0.5), f32(7)])
def chained_comparison(x):
    if 1 < x < 3:
        y = x * 10
    elif 3 <= x <= 5 or 6 < x < 8 < 9:
        y = x * 100
    else:
        y = -x
    return y


@limit(FAQ, "`is` compares with `None`, `True` and `False` only.", calls=[f32(1, 2), f32(3, 4)], factory=True, graphs=1)
def identity_of_objects():
    missing = object()
    defaults = {"scale": missing, "shift": 1.0}

    def normalize(x, cache=[]):
        y = x if defaults["scale"] is missing else x * defaults["scale"]
        same = y is x
        if defaults["shift"] is not missing:
            y = y + defaults["shift"]
        return y, same, y is x

    return normalize


@limit(SYNTAX, "A change of an attribute from outside is not noticed.", graphs=3)
def attribute_changed_outside(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.step = 1
            self.mode = "add"

        def construct(self, x):
            if self.mode == "add":
                return x + self.step
            return x - self.step

    net = jit(Net())
    x = Tensor([1.0, 2.0])
    yield net(x)
    net.step = 2
    yield net(x)
    net.mode = "subtract"
    yield net(x)
    net.step, net.mode = 1, "add"
    yield net(x)


@limit(SYNTAX, "A `classmethod` of a Cell cannot be called.", calls=[f32(1, 2), f32(3, 4)], factory=True)
def class_method():
    class Net(nn.Cell):
        scale = 3.0

        @classmethod
        def scaled(cls, x, y):
            return (x + y) * cls.scale

        @staticmethod
        def shifted(x):
            return x - 1

        def construct(self, x):
            return self.scaled(self.shifted(x), x)

    return Net()


@limit(FAQ, "Only an attribute that is a Parameter can be assigned.", graphs=2)
def attributes_assigned(jit):
    class RunningMean(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0
            self.mean = None

        def construct(self, x):
            self.count += 1
            if self.mean is None:
                self.mean = x
            else:
                self.mean = self.mean + (x - self.mean) / self.count
            self.last = x
            return x - self.mean

    cell = jit(RunningMean())
    for k in range(5):
        yield cell(Tensor([1.0, 2.0]) * k)
        yield cell.count, cell.mean, cell.last


@limit(SYNTAX, "Complex numbers are not supported.", calls=[(f32(1, 2), 1.0), (f32(3, 4), 0.5)], graphs=2)
def complex_numbers(x, angle):
    turn = complex(0, 1) ** 2 * angle
    point = (3 + 4j) * turn
    z = x * point
    return z.real() + abs(point), z.imag() * 2, point.conjugate()


@limit(
    SYNTAX,
    "`sorted` and `reversed` cannot be called.",
    calls=[(f32(1, 2), {"b": 2.0, "a": 3.0}), (f32(3, 4), {"z": 1.0, "c": 5.0, "d": 2.0})],
    graphs=2,
)
def sorted_and_reversed(x, weights):
    result = x
    for name, weight in sorted(weights.items(), key=lambda item: -item[1]):
        result = result * weight + len(name)
    order = list(reversed(sorted(weights)))
    return result, order


@limit(
    SYNTAX,
    "`iter`, `next`, `divmod`, `chr`, `ord`, `hex`, `callable`, `vars` and others cannot be called.",
    calls=[(f32(1, 2), 17), (f32(3, 4), 17), (f32(1, 2), 23)],
    graphs=2,
)
def other_builtins(x, number):
    whole, rest = divmod(number, 5)
    source = iter([x, x + 1, x * 2])
    first, second = next(source), next(source)
    label = chr(ord("a") + 2) + hex(255) + bin(5) + repr(frozenset([1]))
    if callable(ops.tanh) and issubclass(bool, int):
        first = ops.tanh(first)
    return first * whole + second * rest, next(source, None), next(source, None), label


@limit(
    SYNTAX,
    "An item of a NumPy array cannot be assigned.",
    calls=[(f32(1, 2, 3), 1), (f32(4, 5, 6), 1), (f32(7, 8, 9), 2)],
    graphs=2,
)
def numpy_item_assignment(x, keep):
    mask = np.zeros(3, np.float32)
    mask[keep:] = 1
    mask[0] += 0.5
    return x * Tensor(mask)


@limit(
    SYNTAX,
    "A list that is an argument is copied, so that changes of it are lost.",
    calls=[([f32(1), f32(2)], 3), ([f32(4), f32(5)], 6)],
    graphs=2,
)
def list_argument_written(values, extra):
    values.reverse()
    values.append(values[0] * extra)
    values[1] = values[1] + 1
    first = values.pop(0)
    values.insert(0, first * 2)
    return first


@limit(
    FAQ, "Both sides of a branch give tensors of one element type.", calls=[(f32(1, 2), f32(2)), (f32(1, 2), f32(-2))]
)
def branches_of_two_dtypes(x, gate):
    y = ops.relu(x)
    if gate > 0:
        return y
    else:
        return y.astype("float16")


@limit(
    FAQ,
    "Both sides of a branch give tensors of one shape.",
    calls=[(f32([1, 2], [3, 4]), f32(2)), (f32([1, 2], [3, 4]), f32(-2))],
)
def branches_of_two_shapes(x, gate):
    y = ops.relu(x) + 1
    if gate > 0:
        z = y
    else:
        z = y.sum()
    return z * 2


@limit(STATEMENTS, "Loops have no `else`.", calls=[f32(1, 2, 3), f32(1, -2, 3), f32(9, 9, 9)])
def else_of_loops(x):
    for value in x:
        if value < 0:
            y = x.abs()
            break
    else:
        y = x * 2
    steps = 0
    while y.sum() > 4:
        y = y / 2
        steps += 1
        if steps == 3:
            break
    else:
        y = y + 100
    return y, steps


@limit(STATEMENTS, "A comprehension has one `for` only.", calls=[f32([1, 2], [3, 4]), f32([5, 6], [7, 8])])
def comprehensions_with_two_loops(x):
    products = [row * other for row in x for other in x if row is not other]
    names = {f"{a}{b}": len(a + b) for a in ("x", "yy") for b in ("z", "ww")}
    total = sum(weight * value for weight in names.values() for value in products)
    return total, names


@limit(
    STATEMENTS,
    "The default of a parameter cannot be a tensor.",
    calls=[(f32(1, 2),), (f32(1, 2), f32(3, 4))],
    factory=True,
    graphs=2,
)
def tensor_as_default():
    def shift(x, by=Tensor([10.0, 20.0]), *, scale=Tensor(2.0)):
        return x * scale + by

    def shifted_twice(x, *by):
        return shift(shift(x, *by))

    return shifted_twice


@limit(
    STATEMENTS,
    "Functions with keyword arguments cannot be differentiated.",
    calls=[(f32(1, 2), f32(3, 4)), (f32(5, 6), f32(7, 8))],
)
def gradient_through_keywords(x, y):
    def loss(x, *, scale, **others):
        return (x * x * scale).sum() + sum((value * x).sum() for value in others.values())

    return loss(x, scale=2.0, first=y, second=y * y)


@limit(
    STATEMENTS,
    "A context manager is a Cell or a class marked with `jit_class`.",
    calls=[f32(1, 2), f32(3, -4)],
    factory=True,
)
def context_manager():
    class Scaled:
        def __init__(self, factor):
            self.factor, self.log = factor, []

        def __enter__(self):
            self.log.append("enter")
            return self.factor

        def __exit__(self, kind, error, traceback):
            self.log.append(kind.__name__ if kind else "exit")
            return kind is ValueError

    def run(x):
        manager = Scaled(2.0)
        with manager as factor:
            y = x * factor
            if y.shape[0] > 1:
                raise ValueError("left early")
        return y, manager.log

    return run


@limit(
    OPERATORS,
    "Behind `and` and `or` with a tensor stands a tensor of one element and the same type.",
    calls=[(f32(1), f32(2, 3)), (f32(0), f32(2, 3)), (f32(-1), f32(4, 5))],
)
def and_or_with_other_types(gate, x):
    chosen = gate and x
    fallback = gate or "nothing"
    if gate > 0 and len(x) == 2:
        x = x * 2
    return chosen, fallback, x


@limit(
    OPERATORS,
    "`in` looks in tuples, lists and the strings of a dictionary only.",
    calls=[(f32(1, 2), 3), (f32(1, 2), 4), (f32(1, 2), 7)],
    graphs=3,
)
def membership(x, layer):
    skipped = {1, 4, 9}
    scales = {3: 2.0, (7, "last"): 0.5}
    if layer in skipped:
        return x
    if layer in scales:
        return x * scales[layer]
    if (layer, "last") in scales and layer in range(6, 9):
        return x + 1
    return -x


@limit(BUILTINS, "The sequences that `map` takes have one length.", calls=[f32(1, 2), f32(3, 4)])
def map_over_two_lengths(x):
    def weigh(value, weight):
        return value * weight

    weighted = list(map(weigh, [x, x + 1, x + 2], (1.0, 2.0)))
    lengths = [*map(len, ["a", "bc"])]
    return weighted, lengths


@limit(BUILTINS, "`type` does not make classes.", calls=[f32(1, 2), f32(3, 4)])
def class_made_by_type(x):
    Point = type("Point", (), {"__init__": lambda self, a, b: vars(self).update(a=a, b=b), "dimensions": 2})
    point = Point(x, x * 2)
    return point.a + point.b, Point.__name__, Point.dimensions


@limit(BUILTINS, "`round` of a tensor takes no number of digits.", calls=[f32(1.256, -2.344), f32(3.149, 4.05)])
def round_to_digits(x):
    return round(x * 10, 1), round(2.71828, 3)


@limit(
    SYNTAX,
    "A Cell takes positional arguments only.",
    calls=[(f32(1, 2), f32(3, 4)), (f32(5, 6), f32(7, 8))],
    factory=True,
)
def cell_called_with_keywords():
    class Gate(nn.Cell):
        def construct(self, value, gate, scale=1.0):
            return value * ops.sigmoid(gate) * scale

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gate = Gate()

        def construct(self, x, y):
            return self.gate(gate=y, value=x, scale=2.0) + self.gate(y, gate=x)

    return Net()


@limit(SYNTAX, "Attributes of a Cell are read through `self` only.", calls=[f32([1, 2]), f32([3, 4])], factory=True)
def attributes_of_another_cell():
    layer = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    layer.note = 3.0

    def run(x):
        y = layer(x) * layer.note
        return y + layer.weight.sum() * layer.in_channels, layer.cls_name, len(layer.parameters_dict())

    return run


@limit(EARLIER, "`str.format` takes no keyword arguments.", calls=[(f32(1, 2), "conv"), (f32(3, 4), "dense")], graphs=2)
def format_with_keywords(x, name):
    label = "{name}/{index:02d}".format(name=name, index=x.shape[0])
    print("{label}: {value}".format(label=label, value=x.sum()))
    return {label: x * 2}


class Mode(enum.Enum):
    """What a program does, as the key of a dictionary."""

    TRAIN = 1
    EVAL = 2


@limit(
    SYNTAX,
    "Keys of dictionaries are strings, numbers and tuples of them.",
    calls=[(f32(1, 2), Mode.TRAIN), (f32(1, 2), Mode.EVAL)],
    graphs=2,
)
def other_keys(x, mode):
    scales = {Mode.TRAIN: 0.5, Mode.EVAL: 1.0, None: 0.0, frozenset(["a"]): 7.0}
    scales[Tensor] = 3.0
    return x * scales[mode] + scales[frozenset("a")], {mode: x * scales[type(x)]}


@limit(
    SYNTAX,
    "Cells that a tensor selects have the same inputs and outputs, and stand in no branch.",
    calls=[(f32([1, 2]), i32(0)), (f32([1, 2]), i32(1))],
    factory=True,
    graphs=4,
    breaks=2,
)
def cell_chosen_by_a_tensor():
    class Experts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.narrow = nn.Dense(2, 1, weight_init="ones")
            self.wide = nn.Dense(2, 3, weight_init="ones")

        def construct(self, x, index):
            if x.sum() > 0:
                expert = (self.narrow, self.wide)[int(index)]
                return expert(x).sum()
            return x.sum()

    return Experts()


@limit(
    STATEMENTS,
    "`raise` takes exceptions of a fixed list of classes.",
    calls=[f32(1, 2), f32(-1, 2), f32(3, 4)],
    factory=True,
    graphs=3,
    breaks=2,
)
def exceptions_of_own_classes():
    class NegativeInput(ValueError):
        def __init__(self, worst):
            super().__init__(f"negative input, at worst {worst}")

    def root(x):
        if x.min() < 0:
            raise NegativeInput(round(float(x.min()), 2)) from KeyError("x")
        return ops.sqrt(x)

    return root


@limit(FAQ, "The source of a function is in a file.", calls=[f32(1, 2), f32(-3, 4)], factory=True)
def function_without_source():
    namespace = {"ops": ops}
    exec("def typed(x):\n    if x.sum() > 0:\n        return ops.tanh(x)\n    return -x\n", namespace)
    return functools.partial(namespace["typed"])


@limit(FAQ, "`getattr` takes no object of another library.", calls=[(f32(1, 2), "ndim"), (f32(3, 4), "size")], graphs=2)
def getattr_of_an_array(x, name):
    array = np.arange(6).reshape(2, 3)
    number = getattr(array, name) * getattr(array, "missing", 10)
    return x * number


@limit(EARLIER, "Members of a network that are no Parameters cannot be modified.", graphs=4)
def parameters_and_counters(jit):
    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.total = Parameter(Tensor([0.0, 0.0]), name="total")
            self.seen = {"calls": 0}

        def construct(self, x):
            self.total += x
            self.seen["calls"] += 1
            self.seen[self.seen["calls"]] = x.sum()
            return self.total * 2

    cell = jit(Counter())
    for k in range(4):
        yield cell(Tensor([1.0, 2.0]) + k), cell.total, dict(cell.seen)
