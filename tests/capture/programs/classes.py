"""User classes: methods, properties, special methods, inheritance, dataclasses, named tuples, classes made inside."""

from __future__ import annotations

import dataclasses
import enum
from collections import namedtuple
from typing import Any, NamedTuple

from tests.helpers.programs import case
from tests.helpers.values import f32, i64

from weft import ops

X = [f32(1.0, 2.0, -0.5), f32(-1.0, -2.0, 0.5)]
N = [(f32(0.5, 1.5), i64(3)), (f32(0.5, 1.5), i64(0))]


class Affine:
    kind = "affine"

    def __init__(self, scale: Any, shift: Any = 0.0) -> None:
        self.scale = scale
        self.shift = shift

    def __call__(self, x: Any) -> Any:
        return x * self.scale + self.shift

    def then(self, other: Affine) -> Affine:
        return Affine(self.scale * other.scale, self.shift * other.scale + other.shift)

    @property
    def inverse(self) -> Affine:
        return Affine(1.0 / self.scale, -self.shift / self.scale)

    @classmethod
    def identity(cls) -> Affine:
        return cls(1.0)

    @staticmethod
    def square(x: Any) -> Any:
        return x * x


class Clipped(Affine):
    kind = "clipped"

    def __call__(self, x: Any) -> Any:
        y = super().__call__(x)
        if y.max() > 2:
            return y * 0.5
        return y


class Vector:
    def __init__(self, data: Any) -> None:
        self.data = data

    def __add__(self, other: Any) -> Vector:
        return Vector(self.data + (other.data if isinstance(other, Vector) else other))

    def __radd__(self, other: Any) -> Vector:
        return Vector(other + self.data)

    def __mul__(self, other: Any) -> Vector:
        return Vector(self.data * other)

    def __rmul__(self, other: Any) -> Vector:
        return Vector(other * self.data)

    def __neg__(self) -> Vector:
        return Vector(-self.data)

    def __iadd__(self, other: Any) -> Vector:
        self.data = self.data + other.data
        return self

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = value

    def __len__(self) -> int:
        return self.data.shape[0]

    def __iter__(self) -> Any:
        for i in range(len(self)):
            yield self.data[i]

    def __contains__(self, value: Any) -> bool:
        return value == "data"

    def __bool__(self) -> Any:
        return bool(self.data.sum() > 0)

    def __lt__(self, other: Vector) -> Any:
        return self.data.sum() < other.data.sum()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and other.data is self.data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vector of {len(self)}"


@dataclasses.dataclass
class State:
    x: Any
    steps: int = 0
    history: list[Any] = dataclasses.field(default_factory=list)

    def step(self, factor: float) -> None:
        self.x = self.x * factor
        self.steps += 1
        self.history.append(self.x)


class Point(NamedTuple):
    x: Any
    y: Any

    def length(self) -> Any:
        return ops.sqrt(self.x * self.x + self.y * self.y)


Pair = namedtuple("Pair", "first second")


class Mode(enum.Enum):
    ADD = "add"
    MULTIPLY = "multiply"


@case(X, second_order=True)
def instance_called(x: Any) -> Any:
    layer = Affine(x.sum(), 1.0)
    return layer(x)


@case(X)
def methods_and_properties(x: Any) -> Any:
    f = Affine(2.0, 1.0).then(Affine(3.0))
    return f(x), f.inverse(f(x)), Affine.identity()(x), Affine.square(x), f.kind


@case(X, second_order=True)
def super_call_with_branch(x: Any) -> Any:
    return Clipped(2.0, 0.5)(x)


@case(X)
def operators_of_user_class(x: Any) -> Any:
    v = 2 * Vector(x) + 1.0 + Vector(x * 3)
    v += -Vector(x)
    return (1.0 + v * 2).data


@case(X)
def container_protocol(x: Any) -> Any:
    v = Vector(x)
    return v[0], len(v), [e * 2 for e in v], "data" in v, 3 in v, v == v, v == 1


@case(X)
def truth_of_user_class(x: Any) -> Any:
    v = Vector(x)
    if v:
        return x
    return x * 2 if not v else x


@case(X)
def comparison_of_user_class(x: Any) -> Any:
    if Vector(x) < Vector(x * 2):
        return x
    return x * 5


@case(X)
def item_assignment_of_user_class(x: Any) -> Any:
    v = Vector(x * 1)
    v[0] = 5.0
    return v.data


@case(X)
def dataclass_state(x: Any) -> Any:
    state = State(x)
    for factor in (0.5, 2.0, 3.0):
        state.step(factor)
    return state.x, state.steps, state.history


@case(X)
def dataclass_returned(x: Any) -> Any:
    return State(x * 2, 3)


@case(X)
def dataclass_replaced(x: Any) -> Any:
    state = dataclasses.replace(State(x), steps=5)
    return state.x * state.steps, [f.name for f in dataclasses.fields(state)]


@case(N)
def attribute_in_tensor_loop(x: Any, n: Any) -> Any:
    state = State(x)
    while n > 0:
        state.x = state.x * 1.5
        state.steps += 1
        n -= 1
    return state.x, state.steps


@case(X, second_order=True)
def attribute_in_tensor_branch(x: Any) -> Any:
    state = State(x)
    if x.sum() > 0:
        state.x = x * x
    else:
        state.steps = 7
    return state.x * state.steps + state.x


@case(X)
def object_made_in_branch(x: Any) -> Any:
    if x.sum() > 0:
        f = Affine(2.0)
    else:
        f = Affine(3.0, 1.0)
    return f(x)


@case(X)
def named_tuples(x: Any) -> Any:
    p = Point(x, x * 2)
    q = Pair(p.length(), p._replace(y=x))
    return q, p.y, q.first


@case(X)
def enum_members(x: Any) -> Any:
    out = {}
    for mode in Mode:
        if mode is Mode.ADD:
            out[mode.value] = x + 1
        elif mode == Mode.MULTIPLY:
            out[mode.value] = x * 2
    return out


@case(X)
def class_made_inside(x: Any) -> Any:
    class Local:
        factor = 3

        def __init__(self, v: Any) -> None:
            self.v = v

        def scaled(self) -> Any:
            return self.v * self.factor

    return Local(x).scaled()


@case(X)
def class_made_inside_with_base_and_super(x: Any) -> Any:
    class Shifted(Affine):
        def __init__(self, shift: float) -> None:
            super().__init__(1.0, shift)

        def __call__(self, v: Any) -> Any:
            return super().__call__(v) + 10

    return Shifted(2.0)(x)


@case(X)
def multiple_inheritance(x: Any) -> Any:
    class Base:
        def run(self, v: Any) -> Any:
            return v

    class Left(Base):
        def run(self, v: Any) -> Any:
            return super().run(v) * 2

    class Right(Base):
        def run(self, v: Any) -> Any:
            return super().run(v) + 1

    class Both(Left, Right):
        def run(self, v: Any) -> Any:
            return super().run(v) * 10

    return Both().run(x)


@case(X)
def property_setter(x: Any) -> Any:
    class Holder:
        def __init__(self) -> None:
            self._value = x

        @property
        def value(self) -> Any:
            return self._value * 2

        @value.setter
        def value(self, new: Any) -> None:
            self._value = new + 1

    h = Holder()
    h.value = x * 3
    return h.value


@case(X)
def getattr_hook(x: Any) -> Any:
    class Lazy:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("times_"):
                return x * int(name[6:])
            raise AttributeError(name)

    lazy = Lazy()
    return lazy.times_3, hasattr(lazy, "other"), getattr(lazy, "missing", 5)


@case(X)
def slots_class(x: Any) -> Any:
    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    s = Slotted(x, 2)
    s.b = s.b + 1
    return s.a * s.b


@case(X)
def descriptor(x: Any) -> Any:
    class Doubled:
        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = "_" + name

        def __get__(self, obj: Any, owner: Any = None) -> Any:
            return getattr(obj, self.name) * 2

        def __set__(self, obj: Any, value: Any) -> None:
            setattr(obj, self.name, value)

    class Owner:
        field = Doubled()

    o = Owner()
    o.field = x
    return o.field


@case(X)
def class_attribute_changed(x: Any) -> Any:
    class Counter:
        count = 0

        def __init__(self) -> None:
            Counter.count += 1

    Counter()
    Counter()
    return x * Counter.count


@case(X)
def user_iterator(x: Any) -> Any:
    class Doubling:
        def __init__(self, v: Any, times: int) -> None:
            self.v, self.times = v, times

        def __iter__(self) -> Doubling:
            return self

        def __next__(self) -> Any:
            if self.times == 0:
                raise StopIteration
            self.times -= 1
            self.v = self.v * 2
            return self.v

    return list(Doubling(x, 3)), sum(v.sum() for v in Doubling(x, 2))


@case(X)
def bound_method_stored(x: Any) -> Any:
    f = Affine(2.0, 1.0).__call__
    g = Affine.then
    return f(x) + g(Affine(1.0), Affine(2.0))(x)


@case(X)
def isinstance_and_type(x: Any) -> Any:
    f = Clipped(1.0)
    return x * 2, isinstance(f, Affine), type(f).__name__, issubclass(Clipped, Affine), type(f) is Affine
