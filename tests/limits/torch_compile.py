"""Limits of `torch.compile`."""

from __future__ import annotations

import bisect
import inspect
import io
import json
import logging
import os
import tempfile
import warnings
import zlib

import numpy as np

from tests.helpers.values import f32
from tests.limits.limits import Peer, raised
from weft import Parameter, Tensor, grad, nn, ops, value_and_grad

TORCH = Peer("torch.compile")
limit = TORCH.limit

_MODEL = "https://docs.pytorch.org/docs/stable/compile/programming_model"
COMMON_BREAKS = f"{_MODEL}.common_graph_breaks.html"
CONCEPTS = f"{_MODEL}.dynamo_core_concepts.html"
FULLGRAPH = f"{_MODEL}.fullgraph_true.html"
NESTED = f"{_MODEL}.nested_graph_breaks.html"
NON_STRICT = f"{_MODEL}.non_strict_tracing_model.html"
RECOMPILATION = f"{_MODEL}.recompilation.html"
SKIPPED = f"{_MODEL}.skipped_functions.html"
FAQ = "https://docs.pytorch.org/docs/stable/torch.compiler_faq.html"
MODULES = "https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html"
TROUBLESHOOTING = "https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html"


@limit(
    COMMON_BREAKS, "A test on a tensor, and `item()`, break the graph.", calls=[f32(1, 2), f32(-1, -2), f32(0.5, 0.25)]
)
def branch_and_item(x):
    y = x.sum()
    if y > 0:
        return x + y.item()
    return x - y.item() * 2


@limit(COMMON_BREAKS, "A test on a tensor from outside the function breaks the graph.")
def branch_on_an_outside_tensor(jit):
    gate = Tensor([1.0, 2.0])

    @jit
    def f(y):
        if gate.sum() > 0:
            return y + gate
        return y - gate

    y = Tensor([3.0, 4.0])
    yield f(y)
    gate[0] = -9.0
    yield f(y)
    gate = Tensor([5.0, 5.0])
    yield f(y)


@limit(COMMON_BREAKS, "A loop on a tensor breaks the graph.", calls=[f32(9, 8), f32(0.1, 0.2), f32(50, 1)])
def loop_on_a_tensor(x):
    norm = (x * x).sum()
    steps = 0
    while norm > 1 and steps < 20:
        x = x * 0.5
        norm = (x * x).sum()
        steps += 1
    return x, norm, steps


@limit(COMMON_BREAKS, "`print` breaks the graph.", calls=[f32(1, 2), f32(3, 4)])
def print_in_the_middle(x):
    x = x + 1
    print("log!", x.shape, x.sum())
    y = ops.sin(x)
    print(f"mean {y.mean()}", end="\n\n")
    return y


@limit(COMMON_BREAKS, "Logging and warnings break the graph.", graphs=2)
def logging_and_warnings(jit):
    stream = io.StringIO()
    logger = logging.getLogger("tests.limits")
    logger.handlers[:] = [logging.StreamHandler(stream)]
    logger.setLevel(logging.INFO)

    @jit
    def f(x):
        logger.info("sum is %s", x.sum())
        if x.shape[0] > 2:
            warnings.warn("many rows", UserWarning, stacklevel=1)
        logger.debug("not shown %s", x)
        return x * 2

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for values in ([1.0, 2.0], [3.0, 4.0], [1.0, 2.0, 3.0]):
            yield f(Tensor(values))
    yield stream.getvalue(), [str(warning.message) for warning in caught]


@limit(COMMON_BREAKS, "Reordered prints show what a later write made of their arguments.", calls=[f32(1, 2), f32(3, 4)])
def print_before_a_write(x):
    values = [1, 2]
    print(values, x)
    values.append(3)
    x[0] = 100.0
    print(values, x)
    return x * len(values)


@limit(TROUBLESHOOTING, "`open` breaks the graph.", remains=True, graphs=3, breaks=3)
def reading_a_file(jit):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scale.txt")

        @jit
        def scaled(x):
            x = x + 1
            with open(path) as file:
                return x * float(file.read())

        for scale in ("2.0", "3.5", "2.0"):
            with open(path, "w") as file:
                file.write(scale)
            yield scaled(Tensor([1.0, 2.0]))


@limit(CONCEPTS, "Saving a tensor breaks the graph.", remains=True, graphs=2, breaks=1)
def saving_a_tensor(jit):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "y.npy")

        @jit
        def step(x):
            y = x**2 / 2
            np.save(path, y.asnumpy())
            return y**3 / 6

        for k in range(3):
            yield step(Tensor([1.0, 2.0]) + k)
            yield np.load(path).tolist()


@limit(
    CONCEPTS,
    "Many builtin functions and functions in C break the graph.",
    calls=[(f32(1, 2), [1, 5, 9], 6), (f32(3, 4), [1, 5, 9], 2), (f32(1, 2), [1, 5, 9], 6)],
    remains=True,
    graphs=4,
    breaks=1,
)
def functions_in_c(x, borders, value):
    bucket = bisect.bisect(borders, value)
    checksum = zlib.crc32(repr(borders).encode()) % 7
    text = json.dumps({"bucket": bucket, "borders": borders}, sort_keys=True)
    return x * bucket + checksum, text, max(borders, key=lambda border: -abs(border - value))


@limit(RECOMPILATION, "Each new value of an int or a float is compiled again.", graphs=2)
def changing_numbers(jit):
    @jit
    def f(x, c, n):
        return x * c + n

    x = Tensor([1.0, 2.0, 3.0])
    for i in range(12):
        yield f(x, 0.5 + i, i)


@limit(RECOMPILATION, "A learning rate that a schedule changes compiles the step again each time.", graphs=2)
def learning_rate_schedule(jit):
    class SGD:
        def __init__(self, lr):
            self.lr, self.steps = lr, 0

        def step(self, parameter, gradient):
            self.steps += 1
            parameter -= self.lr * gradient

    weight, optimizer = Parameter(Tensor([1.0, 2.0, 3.0]), name="weight"), SGD(0.1)

    @jit
    def train(x):
        loss, gradient = value_and_grad(lambda w: ((w * x).sum() - 1) ** 2)(weight)
        optimizer.step(weight, gradient)
        optimizer.lr *= 0.9
        return loss

    for _ in range(12):
        yield train(Tensor([0.1, 0.2, 0.3]))
    yield weight, optimizer.lr, optimizer.steps


@limit(RECOMPILATION, "After eight recompilations a function runs in Python.", graphs=2)
def many_shapes(jit):
    @jit
    def f(x):
        return (x + 1).sum() * x

    for size in [*range(1, 13), *range(12, 0, -1)]:
        yield f(ops.ones(size))


@limit(SKIPPED, "A break in a loop gives the whole function up.", calls=[f32(1, 2), f32(3, 4)], graphs=3, breaks=1)
def break_in_a_loop(x):
    for i in range(5):
        x = x + 1
        if i == 3:
            order = np.argsort(-x.asnumpy())
            x = x[Tensor(order)]
        x = x * 1.5
    return x


@limit(
    SKIPPED,
    "A break in a context manager gives the whole function up.",
    calls=[f32(1, 2), f32(3, 4)],
    graphs=9,
    breaks=2,
)
def break_in_a_context_manager(x):
    events = []

    class Section:
        def __enter__(self):
            events.append("enter")
            return self

        def __exit__(self, kind, error, traceback):
            events.append("exit")

    with Section():
        x = x + 1
        events.append(x.asnumpy().tolist())
        y = ops.tanh(x)
    return y, events


@limit(SKIPPED, "A break in `try` gives the whole function up.", calls=[f32(1, 2), f32(-1, 2)], graphs=3, breaks=1)
def break_in_try(x):
    try:
        y = x + 1
        order = y.asnumpy().tolist().index(3.0)
        if order == 1 and x.shape[0] > 5:
            raise ValueError("not reached")
        y = y * order
        return y[5]
    except IndexError:
        return x * 2
    finally:
        x = x + 1
        print("done", x)


@limit(
    NESTED, "A break in a nested call breaks each of the callers too.", calls=[f32(1, 2), f32(3, 4)], graphs=3, breaks=1
)
def break_in_nested_calls(x):
    def innermost(v):
        v = v + 1
        print(sorted(v.asnumpy().tolist()))
        return v + 2

    def middle(v):
        v = v * 4
        return innermost(v) * 8

    x = x * 16
    x = middle(x)
    return x + 32


@limit(FULLGRAPH, "`next` cannot be called on an iterator that is an argument.", graphs=2)
def iterator_as_argument(jit):
    @jit
    def f(xs):
        a = next(xs)
        b = next(xs)
        return a + 2 * b

    for k in range(3):
        xs = iter([Tensor(1.0) * k, Tensor(2.0), Tensor(5.0)])
        yield f(xs)
        yield next(xs)
    yield raised(f, iter([Tensor(1.0)]))


@limit(NON_STRICT, "Under non-strict tracing, a tensor in a global keeps the value that it had in the trace.")
def global_tensor_replaced(jit):
    shift = Tensor([1, 1, 1])

    @jit
    def shifted(y):
        return y + shift

    y = Tensor([0, 1, 2])
    yield shifted(y)
    shift = Tensor([2, 2, 2])
    yield shifted(y)
    shift += 5
    yield shifted(y)


@limit(NON_STRICT, "Under non-strict tracing, a list that is an argument shrinks in the trace only.", graphs=4)
def list_argument_popped(jit):
    @jit
    def take(queue, x):
        return queue.pop() * x

    queue, x = [Tensor([1.0]), Tensor([2.0]), Tensor([3.0])], Tensor([10.0])
    while queue:
        yield take(queue, x), len(queue)
    yield raised(take, queue, x)


@limit(
    NON_STRICT,
    "Under non-strict tracing, numbers, shapes and all that is not a tensor are constants.",
    calls=[(f32(1, 2, 3), 3.14), (f32(4, 5), 3.14), (f32(1, 2, 3), 2.5)],
    graphs=3,
)
def shapes_and_numbers(x, y):
    if x.shape[0] > 2:
        return x**2 / 6 + y
    return x * 3 - y


@limit(MODULES, "Hooks that are added or removed after compilation are not noticed.", graphs=5)
def hooks_change(jit):
    seen = []
    layer = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    net = nn.SequentialCell(layer, nn.Tanh())
    compiled, x = jit(net), Tensor([[1.0, -0.5]])
    yield compiled(x)
    handle = layer.register_forward_hook(lambda cell, inputs, output: seen.append("hook") or output * 2)
    yield compiled(x)
    before = layer.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,))
    yield compiled(x)
    handle.remove()
    yield compiled(x)
    before.remove()
    yield compiled(x), seen


@limit(MODULES, "Hooks of the backward pass run after the whole compiled region.")
def backward_hooks(jit):
    order = []
    first = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    second = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    first.register_backward_hook(lambda cell, given, out: order.append("first"))
    second.register_backward_hook(lambda cell, given, out: order.append("second"))

    @jit
    def loss(x):
        hidden = ops.tanh(first(x))
        order.append("forward")
        return second(hidden).sum()

    for k in range(2):
        yield grad(loss)(Tensor([[0.1, 0.2]]) * (k + 1))
        yield list(order)


@limit(
    FAQ,
    "Scalars of NumPy are arrays of no dimensions in compiled code.",
    calls=[(f32(1, 2), 3), (f32(3, 4), 3), (f32(1, 2), 5)],
    graphs=2,
)
def numpy_scalars(x, count):
    scale = np.float32(count) / np.float32(2)
    kind = type(scale).__name__, isinstance(scale, np.floating), scale.shape
    return x * scale, kind, float(scale).hex(), hash(np.int64(count))


@limit(FAQ, "`np.flip` and negative steps copy instead of giving a view.", calls=[f32(1, 2, 3), f32(4, 5, 6)])
def numpy_views(x):
    base = np.arange(4.0, dtype=np.float32)
    backwards = base[::-1]
    backwards[0] = 30.0
    np.flip(base)[3] = -1.0
    return x * float(base[3]), base.tolist(), x + float(base.sum())


@limit(FAQ, "NumPy's text, record and masked arrays are not traced.", calls=[f32(1, 2, 3), f32(4, 5, 6)])
def unusual_arrays(x):
    table = np.array([("a", 1.0), ("b", 2.0), ("c", 0.5)], dtype=[("name", "U1"), ("weight", "f4")])
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    dates = np.array(["2024-01-01", "2024-03-01"], dtype="datetime64[D]")
    days = int((dates[1] - dates[0]).astype(int))
    return x * Tensor(table["weight"].copy()) + float(masked.mean()), days, "".join(table["name"])


@limit(
    FAQ,
    "Methods of ufuncs and `np.poly1d` are not traced.",
    calls=[f32(1, 2, 3), f32(4, 5, 6)],
    remains=True,
    graphs=7,
    breaks=6,
)
def ufunc_methods_and_polynomials(x):
    array = x.asnumpy()
    total = np.add.reduce(array)
    steps = np.multiply.accumulate(array)
    table = np.subtract.outer(array, array)
    curve = np.poly1d([1.0, -2.0, 3.0])
    return Tensor(steps) * float(total) + Tensor(table.sum(axis=0)), curve(2.0), x * curve(1.0)


@limit(
    FAQ,
    "NumPy code that writes in place, uses `out=` and masks breaks the graph.",
    calls=[f32(1, -2, 3), f32(-4, 5, 6)],
    remains=True,
    graphs=2,
    breaks=3,
)
def numpy_in_place(x):
    array = np.array(x.asnumpy())
    array[array < 0] = 0
    np.multiply(array, 2, out=array)
    array += 1
    return Tensor(array) * x.abs()


@limit(
    TROUBLESHOOTING,
    "Code that uses `inspect` is supported in part.",
    calls=[(f32(1, 2), {"scale": 2.0, "unused": 1}), (f32(3, 4), {"shift": 1.0, "unused": 1})],
    graphs=4,
)
def inspection(x, options):
    def layer(value, scale=1.0, *, shift=0.0):
        return value * scale + shift

    accepted = inspect.signature(layer).parameters
    chosen = {name: value for name, value in options.items() if name in accepted}
    bound = inspect.signature(layer).bind(x, **chosen)
    bound.apply_defaults()
    return layer(*bound.args, **bound.kwargs), sorted(chosen), inspect.isfunction(layer)


@limit(
    TROUBLESHOOTING,
    "Code with an error breaks the graph, and the error is hard to see behind it.",
    calls=[(f32(1, 2), 2), (f32(1, 2, 3), 2)],
    graphs=2,
)
def wrong_code(x, rows):
    y = x * 2
    try:
        return ops.sin(y, y)
    except TypeError:
        print("sin takes one argument")
    return y.reshape(rows, -1)


@limit(FAQ, "What is assumed of locals and globals compiles a function again when it changes, up to a limit.", graphs=2)
def counter_on_a_module(jit):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def construct(self, x):
            self.calls += 1
            return x * self.calls + 0.5

    net = jit(Net())
    for k in range(12):
        yield net(Tensor([1.0, 2.0]) + k), net.calls
