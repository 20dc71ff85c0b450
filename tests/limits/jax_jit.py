"""Limits of `jax.jit`."""

from __future__ import annotations

import numpy as np

from tests.helpers.values import f32, f64, i32
from tests.limits.limits import Peer, raised
from weft import Tensor, grad, nn, ops, set_seed

JAX = Peer("jax.jit")
limit = JAX.limit

SHARP_BITS = "https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html"
CONTROL_FLOW = "https://docs.jax.dev/en/latest/control-flow.html"
JIT = "https://docs.jax.dev/en/latest/jit-compilation.html"
THINKING = "https://docs.jax.dev/en/latest/notebooks/thinking_in_jax.html"
FAQ = "https://docs.jax.dev/en/latest/faq.html"


@limit(
    SHARP_BITS,
    "`print` runs while the function is traced, not in later calls.",
    calls=[f32(4), f32(5), f32(6, 7)],
    graphs=2,
)
def impure_print(x):
    print("executing the function")
    y = x * 2
    if y.sum() > 9:
        print("large")
    return y


@limit(SHARP_BITS, "A global that a function reads has the value of the first call.", graphs=4)
def impure_read_of_a_global(jit):
    settings = {"gain": 0.0, "name": "low"}

    @jit
    def f(x):
        return x + settings["gain"] * len(settings["name"])

    yield f(Tensor(4.0))
    settings["gain"] = 10.0
    yield f(Tensor(5.0))
    settings["name"] = "higher"
    yield f(Tensor(5.0))
    del settings["gain"]
    yield raised(f, Tensor(5.0))


LAST = 0.0


@limit(SHARP_BITS, "A global that a function writes holds a tracer afterwards.", graphs=2)
def impure_write_of_a_global(jit):
    global LAST
    LAST = 0.0

    @jit
    def f(x):
        global LAST
        previous, LAST = LAST, x * 3
        return x + previous

    for k in range(3):
        yield f(Tensor([1.0, 2.0]) * k), LAST


@limit(
    SHARP_BITS,
    "Iterators give unexpected results in loops.",
    calls=[f32(0, 0), f32(1, 2), f32(9, 9)],
    graphs=3,
    breaks=2,
)
def iterator_in_a_loop(x):
    numbers = iter(range(10))
    while x.sum() < 10:
        x = x + next(numbers)
    return x, list(numbers)


@limit(
    SHARP_BITS,
    "Arrays cannot be changed in place.",
    calls=[(f32([1, 2, 3], [4, 5, 6]), i32(0)), (f32([1, 2, 3], [4, 5, 6]), i32(1))],
)
def in_place_update(x, row):
    y = ops.zeros((2, 3))
    y[1, :] = 1.0
    y[row] += x[row]
    x[:, 0] *= 2
    x[x > 5] = 0
    return y + x


@limit(
    SHARP_BITS,
    "An index out of bounds is clamped and raises nothing.",
    calls=[(f32(1, 2, 3), i32(1)), (f32(1, 2, 3), i32(11)), (f32(1, 2, 3), i32(-3))],
    graphs=5,
    breaks=1,
)
def index_out_of_bounds(x, position):
    try:
        picked = x[position]
    except IndexError:
        print("no such element")
        picked = x.sum()
    return picked * 2


@limit(SHARP_BITS, "Random numbers have no state: the same key gives the same numbers.", graphs=2)
def stateful_random_numbers(jit):
    @jit
    def noisy(x):
        first = ops.standard_normal((3,))
        second = ops.standard_normal((3,))
        return x + first, x - second

    drop = jit(nn.Dropout(p=0.5).set_train())
    set_seed(7)
    for _ in range(3):
        yield noisy(Tensor([1.0, 2.0, 3.0])), drop(ops.ones((4, 4)))
    set_seed(7)
    yield noisy(Tensor([1.0, 2.0, 3.0]))


@limit(CONTROL_FLOW, "`if` cannot test the value of an argument.", calls=[f32(2), f32(3.5), f32(-1)])
def if_on_a_value(x):
    if x < 3:
        return 3.0 * x**2
    else:
        return -4 * x


@limit(
    CONTROL_FLOW,
    "`and`, `or` and `not` cannot be used on values of arguments.",
    calls=[f32(2), f32(24), f32(-2), f32(0)],
)
def logical_operators(x):
    even = x % 2 == 0
    answer = even and (x > 0)
    other = not even or (x < 3 and x > -3)
    return answer, other, x if answer else -x


@limit(
    JIT, "`while` cannot test the values of arguments.", calls=[(f32(10), i32(20)), (f32(3), i32(0)), (f32(1), i32(5))]
)
def while_on_values(x, n):
    i = 0
    while i < n:
        i += 1
        x = x * 0.9
    return x + i, i


@limit(
    CONTROL_FLOW,
    "A shape cannot depend on the value of an argument.",
    calls=[(i32(5), f32(4)), (i32(3), f32(2)), (i32(5), f32(1))],
    graphs=5,
    breaks=2,
)
def shape_from_a_value(length, value):
    ramp = ops.arange(int(length)) * value
    ones = ops.ones((int(length), 2)) * value
    return ramp, ones.sum(axis=0)


@limit(
    THINKING,
    "A mask cannot select elements, as the size of the result depends on values.",
    calls=[f32(-1, 2, -3), f32(1, 2, 3), f32(-1, -2, -3)],
    graphs=5,
    breaks=2,
)
def boolean_mask(x):
    negative = x[x < 0]
    largest = x[x > x.mean()]
    return negative * 2, largest.sum()


@limit(CONTROL_FLOW, "A printed array shows a tracer instead of numbers.", calls=[f32(2), f32(3), f32(4)])
def print_of_an_array(x):
    print(x)
    y = 2 * x
    print("doubled:", y, f"{y} of {x}")
    return y


@limit(
    CONTROL_FLOW, "A loop on values has no derivative in reverse mode.", calls=[f32(5, 3), f32(0.5, 0.25), f32(30, 2)]
)
def gradient_of_a_loop(x):
    def loss(v):
        while v.sum() > 1:
            v = v * v / (v + 2)
        return (v * v).sum()

    return grad(loss)(x), loss(x)


@limit(FAQ, "A method cannot be compiled, as its object is no array.", graphs=3)
def methods_of_plain_classes(jit):
    class Scaler:
        def __init__(self, x, mul):
            self.x, self.mul = x, mul

        @jit
        def calc(self, y):
            if self.mul:
                return self.x * y
            return y

    y = Tensor([3.0, 4.0])
    yield Scaler(2, True).calc(y)
    yield Scaler(2, False).calc(y)
    yield Scaler(Tensor([5.0, 6.0]), True).calc(y)


@limit(FAQ, "A change of an object that is marked static is not noticed.", graphs=3)
def objects_that_change(jit):
    class Scaler:
        def __init__(self, x, mul):
            self.x, self.mul = x, mul

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return True

    @jit
    def calc(scaler, y):
        return scaler.x * y if scaler.mul else y

    scaler, y = Scaler(2, True), Tensor([3.0, 4.0])
    yield calc(scaler, y)
    scaler.mul = False
    yield calc(scaler, y)
    scaler.mul, scaler.x = True, 7
    yield calc(scaler, y)


@limit(FAQ, "A function with effects and global state changes its behaviour.", graphs=2)
def counter_beside_the_function(jit):
    calls = []

    @jit
    def f(x):
        calls.append(len(calls))
        print("inside:", calls[-1])
        return x + calls[-1]

    for k in range(3):
        yield f(Tensor([1.0, 2.0]) * k), list(calls)


@limit(
    FAQ,
    "XLA rewrites expressions, so that overflow and rounding differ from single operations.",
    calls=[f32(100, 1), f32(0, -200), f32(3.14159, 2)],
    gradients=False,
    fails="XLA makes `log(exp(x))` to `x`, so that an overflow between them is not seen",
)
def overflow_between_two_operations(x):
    scores = ops.log(ops.exp(x))
    return ops.maximum(scores, 0.0)


@limit(
    FAQ, "`log(sqrt(x))` is rounded otherwise in compiled code.", calls=[f32(3.14159265, 2), f32(1e-3, 1e3), f32(7, 11)]
)
def rounding_of_two_operations(x):
    root = ops.log(ops.sqrt(x))
    return root, x * 1e3 / 7 / 1e3


@limit(
    JIT,
    "A trace knows the side of a test that it took only.",
    calls=[f32([1, 2], [3, 4]), f32(1, 2), f32([5, 6], [7, 8])],
    graphs=2,
)
def rank_decides(x):
    if x.ndim == 2:
        return ops.log(x) / ops.log(Tensor(2.0))
    return x


@limit(
    SHARP_BITS, "64-bit numbers have to be switched on when the program starts.", calls=[f64(1.1, 2.2), f64(3.3, 4.4)]
)
def double_precision(x):
    third = x / 3
    whole = ops.cast(x * 1e10, "int64") if False else (x * 1e10).astype("int64")
    return third, whole * 1000, Tensor(np.arange(3)) + 2**40


@limit(
    THINKING,
    "A flag that is no array has to be marked static to be tested.",
    calls=[(f32(1, 2), True), (f32(1, 2), False), (f32(3, 4), True)],
    graphs=2,
)
def flag_as_argument(x, neg):
    return -x if neg else x
