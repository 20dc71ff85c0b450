"""Limits of TensorFlow's AutoGraph and `tf.function`."""

from __future__ import annotations

from tests.helpers.values import f32, i32
from tests.limits.limits import Peer
from weft import Parameter, Tensor, grad, nn, ops

AUTOGRAPH = Peer("AutoGraph and tf.function")
limit = AUTOGRAPH.limit

_REFERENCE = "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference"
LIMITATIONS = f"{_REFERENCE}/limitations.md"
CONTROL_FLOW = f"{_REFERENCE}/control_flow.md"
GUIDE = "https://www.tensorflow.org/guide/function"


@limit(
    LIMITATIONS,
    "A variable that is used behind a branch on a tensor is defined on both sides.",
    calls=[f32(1, 2), f32(-1, -2)],
)
def defined_on_one_side(x):
    if x.sum() > 0:
        bonus = x * 10
    try:
        return x + bonus
    except UnboundLocalError:
        return x - 1


@limit(
    LIMITATIONS, "No side of a branch on a tensor may give `None`.", calls=[(f32(1, 2), f32(0.5)), (f32(1, 2), f32(2))]
)
def none_on_one_side(x, threshold):
    if threshold < 1:
        mask = x > threshold
    else:
        mask = None
    y = x * 3
    if mask is not None:
        y = y * mask
    return y, mask


@limit(
    LIMITATIONS,
    "A variable that is used behind a loop on a tensor is defined before it.",
    calls=[f32(9, 8), f32(3, 4), f32(0.1, 0.2)],
    breaks=0,
)
def defined_in_a_loop(x):
    while x.sum() > 2:
        last = x
        x = x / 2
    if x.sum() > 1:
        return last - x
    return x


GLOBAL_STATE = {"unused": 0}
_counted = 0


def _count(amount):
    global _counted
    _counted = _counted + amount


@limit(LIMITATIONS, "In a loop on a tensor, what another function does to globals is not seen.", calls=None)
def globals_changed_in_another_function(jit):
    global _counted

    def halve(x):
        while x.sum() > 1:
            _count(x.max())
            x = x / 2
        return x

    halve = jit(halve)
    for values in ([8.0, 4.0], [1.0, 2.0], [0.1, 0.2]):
        _counted = 0
        yield halve(Tensor(values)), _counted


@limit(
    LIMITATIONS,
    "In a loop on a tensor, what a method does to its object is not seen.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def objects_changed_by_methods(x):
    class Meter:
        def __init__(self):
            self.total, self.steps = 0.0, 0

        def update(self, value):
            self.total = self.total + value
            self.steps += 1

    meter = Meter()
    while x.sum() > 1:
        x = x / 2
        meter.update(x.sum())
    return x, meter.total, meter.steps


@limit(
    LIMITATIONS,
    "A lambda that is called behind a loop on a tensor sees what its variables were before.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def lambda_over_a_loop_variable(x):
    level = x * 0
    read = lambda: level * 10
    while x.sum() > 1:
        level = level + x
        x = x / 2
    return read() + x


@limit(
    LIMITATIONS,
    "Lists cannot grow in a loop on a tensor.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
    graphs=2,
    breaks=2,
)
def list_grows_in_a_loop(x):
    history = []
    while x.sum() > 1:
        history.append(x.sum())
        x = x / 2
    return x, history, len(history)


@limit(
    LIMITATIONS,
    "In a loop on a tensor, a dictionary is not written under a key that changes.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def dictionary_written_in_a_loop(x):
    totals = {"sum": x.sum() * 0, "peak": x.max()}
    step = 0
    while x.sum() > 1:
        for key in totals:
            totals[key] += x.mean() * len(key) + step
        x = x / 2
        step += 1
    return totals, step


@limit(
    LIMITATIONS,
    "Both sides of a branch are checked for indices, also the side that is not taken.",
    calls=[(f32(1, 2, 3), i32(2)), (f32(1, 2, 3), i32(7))],
)
def index_guarded_by_a_tensor(x, position):
    if position < x.shape[0]:
        value = x[position]
    else:
        value = x.mean()
    return value * 2


@limit(
    LIMITATIONS,
    "A tensor has one element type on both sides of a branch.",
    calls=[f32(1, 2), f32(-1, 2), f32(-3, -4)],
    graphs=3,
    breaks=1,
)
def dtype_changes_in_a_branch(x):
    if x.min() > 0:
        y = x.astype("int32")
    elif x.max() > 0:
        y = x.astype("float64")
    else:
        y = x > -3
    return y


@limit(LIMITATIONS, "A tensor keeps its element type in a loop.", calls=[i32(9, 8), i32(1, 0)])
def dtype_changes_in_a_loop(x):
    steps = 0
    while x.sum() > 1:
        x = x * 0.5
        steps = steps + 1
    return x, steps


@limit(LIMITATIONS, "A tensor keeps its shape in a loop.", calls=[f32(1), f32(9), f32(30)], graphs=3, breaks=3)
def shape_changes_in_a_loop(x):
    x = x.reshape(1)
    while x.sum() < 20:
        x = ops.concat([x, x * 2])
    return x


@limit(
    LIMITATIONS,
    "Functions made by `exec` and `eval` cannot be converted.",
    calls=[f32(1, 2), f32(-1, -2)],
    graphs=5,
    breaks=2,
)
def functions_made_by_exec(x):
    namespace = {"ops": ops}
    exec("def gate(v):\n    while v.sum() > 1:\n        v = ops.tanh(v) * 0.5\n    return v\n", namespace)
    double = eval("lambda v: v * 2 if v.max() > 0 else -v")
    return namespace["gate"](double(x))


@limit(LIMITATIONS, "Nested lambdas with the same parameters cannot be told apart.", calls=[f32(1, 2), f32(3, -4)])
def nested_lambdas(x):
    make = lambda x: lambda x: x + 1
    curried = lambda x: lambda x: x * 3 - 1
    pair = ("shift", lambda x: x * 2), ("scale", lambda x: x * 5 if x.sum() > 0 else x)
    return make(None)(x), curried(x)(x), [f(x) for _, f in pair]


@limit(
    CONTROL_FLOW,
    "A `break` on a tensor in a loop on Python values is not allowed.",
    calls=[f32(9, 8), f32(1, 2), f32(0.1, 0.2)],
)
def while_true_with_a_break(x):
    steps = 0
    while True:
        if x.sum() < 1:
            break
        x = x / 2
        steps += 1
    for scale in (3, 5, 7):
        if x.max() * scale > 1:
            break
    return x, steps, scale


@limit(CONTROL_FLOW, "A `return` under a test on a tensor needs one on the other side.", calls=[f32(1, 2), f32(-1, -2)])
def return_on_one_side(x):
    def first_positive(values):
        for number, value in enumerate(values):
            if value > 0:
                return number, value * 2

    found = first_positive(x)
    if found is None:
        return x
    number, value = found
    return x * value + number


@limit(CONTROL_FLOW, "The test of a loop stays a Python value or a tensor.", calls=[f32(1, 2), f32(30, 40)])
def test_becomes_a_tensor(x):
    size = 2
    while size < 10:
        size = x.sum() + 3
        x = x + 2
    return x, size


@limit(
    CONTROL_FLOW,
    "A Python number that is assigned under a test on a tensor becomes a tensor.",
    calls=[f32(1, 2), f32(-1, -2)],
    graphs=2,
    breaks=1,
)
def numbers_stay_numbers(x):
    sign, label = 0, "zero"
    if x.sum() > 0:
        sign, label = 1, "positive"
    elif x.sum() < 0:
        sign, label = -1, "negative"
    return x * sign, sign, isinstance(sign, int), label


@limit(
    CONTROL_FLOW,
    "All sides of a branch on a tensor run once in Python, with what they print.",
    calls=[f32(1, 2), f32(-1, -2)],
)
def prints_of_the_side_taken(x):
    print("before the branch")
    if x.sum() > 0:
        print("positive", x.shape)
        y = x
    else:
        print("not positive")
        y = -x
    print("behind the branch", y)
    return y


@limit(
    GUIDE,
    "`print` and other effects run when the function is traced, not in each call.",
    calls=[(f32(1, 2), 1), (f32(3, 4), 1), (f32(5, 6), 2)],
    graphs=2,
)
def print_in_each_call(x, step):
    print("step", step)
    total = x.sum()
    print(f"the sum is {total}")
    return x * step


@limit(GUIDE, "What is appended to a list outside is appended once.", graphs=1)
def append_to_a_list_outside(jit):
    losses = []

    @jit
    def step(x):
        loss = (x * x).sum()
        losses.append(loss)
        return x - 0.1 * x

    x = Tensor([1.0, 2.0])
    for _ in range(4):
        x = step(x)
    yield x, losses, len(losses)


@limit(GUIDE, "A Python counter does not keep an assignment from running again.", graphs=2)
def counter_guards_an_assignment(jit):
    class Model(nn.Cell):
        def __init__(self):
            super().__init__()
            self.value = Parameter(Tensor([0.0, 1.0]), name="value")
            self.counter = 0

        def construct(self, x):
            if self.counter == 0:
                self.counter += 1
                self.value += 1
            return self.value * x

    model = jit(Model())
    for k in range(3):
        yield model(Tensor([2.0, 3.0]) + k), model.counter, model.value


@limit(GUIDE, "An iterator outside gives its first value in each call.", graphs=5, breaks=1)
def iterators_go_on(jit):
    rates = iter([0.5, 0.25, 0.125])

    def countdown(n):
        while n:
            n -= 1
            yield n

    numbers = countdown(3)

    @jit
    def step(x):
        return x * next(rates) + next(numbers)

    x = Tensor([1.0, 2.0])
    for _ in range(3):
        yield step(x)
    try:
        step(x)
    except StopIteration:
        yield "exhausted"


LEAKED = None


@limit(GUIDE, "A tensor that is stored in a global leaks out of the graph and cannot be used.", graphs=2)
def tensor_stored_in_a_global(jit):
    @jit
    def leaky(a):
        global LEAKED
        LEAKED = a + 1
        return a + 2

    @jit
    def uses(b):
        return b + LEAKED

    for k in range(3):
        yield leaky(Tensor([1.0]) * k), LEAKED, uses(Tensor([10.0]))


@limit(GUIDE, "Tensors that are stored in objects and lists outside leak too.", graphs=3)
def tensors_stored_in_objects(jit):
    class Box:
        field = None

    box, kept = Box(), []

    @jit
    def store(a):
        square = a * a
        kept.append(square)
        box.field = {"last": square, "all": list(kept)}
        return square.sum()

    for k in range(3):
        yield store(Tensor([1.0, 2.0]) + k)
    yield kept, box.field


@limit(GUIDE, "Recursive functions are not supported.", calls=[i32(5), i32(0), i32(9)], graphs=6, breaks=1)
def recursion_on_a_tensor(n):
    def steps(value, count):
        if value > 0:
            return steps(value - 2, count + 1)
        return count

    return steps(n, 0)


SCALE = 1.0


@limit(GUIDE, "Globals and variables of enclosing functions keep the value of the first call.", graphs=3)
def globals_that_change(jit):
    global SCALE
    shift = 0.0

    @jit
    def transformed(x):
        return x * SCALE + shift

    x = Tensor([1.0, 2.0])
    for k in range(4):
        SCALE, shift = 1.0 + k, 0.5 * k
        yield transformed(x)
    SCALE = Tensor([3.0, 4.0])
    yield transformed(x)
    SCALE = 1.0


@limit(GUIDE, "A changed attribute of an object that is an argument is not noticed.", graphs=4)
def arguments_that_change(jit):
    class Model:
        def __init__(self):
            self.bias, self.weight, self.layers = 0.0, 2.0, []

    @jit
    def evaluate(model, x):
        y = model.weight * x + model.bias
        for layer in model.layers:
            y = layer(y)
        return y

    model, x = Model(), Tensor([10.0, 20.0])
    yield evaluate(model, x)
    model.bias += 5.0
    yield evaluate(model, x)
    model.layers.append(ops.tanh)
    yield evaluate(model, x)
    model.layers[0] = ops.relu
    yield evaluate(model, -x)


@limit(GUIDE, "Variables are made in the first call only.", graphs=2, breaks=1)
def parameter_made_in_each_call(jit):
    @jit
    def fit(x, steps):
        weight = Parameter(Tensor([1.0, 1.0]), name="weight")
        for _ in range(steps):
            weight -= 0.1 * grad(lambda w: ((w * x - 3) ** 2).sum())(weight)
        return weight

    for k in range(3):
        weight = fit(Tensor([1.0, 2.0]) + k, 2)
        yield weight, weight.name
