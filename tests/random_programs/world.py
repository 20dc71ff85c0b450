"""What random programs find around them: definitions by name, of which a program gets those that it names."""

from __future__ import annotations

import re
from typing import Final

#: name -> its definition; a later one may use earlier ones
DEFINITIONS: Final[dict[str, str]] = {
    "w": 'w = Parameter(Tensor([1.0, -0.5]), name="w")',
    "u": 'u = Parameter(Tensor([0.25, 2.0]), name="u")',
    "const": "const = Tensor([0.5, 1.5])",
    "twin": "twin = const",
    "scale": "scale = 2",
    "flag": "flag = True",
    "count": "count = 0",
    "latest": "latest = None",
    "items": "items = [1, 2]",
    "alias": "alias = items",
    "seen": "seen = []",
    "table": 'table = {"a": 1.0, 0: 2.0, 1: 0.5}',
    "handles": "handles = [w, u]",
    "named": 'named = {"w": w, "u": u, "t": const}',
    "nested": 'nested = {"in": [const, [w]], "n": 1}',
    "outside": '''
def outside(v):
    """No graph can hold this."""
    return Tensor(np.sort(v.asnumpy(), axis=-1))
''',
    "Box": """
class Box:
    def __init__(self):
        self.n = self.m = 1
        self.t = Tensor([1.0, 0.0])
        self.items = [0]
    @property
    def twice(self):
        return self.n * 2
    @twice.setter
    def twice(self, value):
        self.n = value - 1
    def bump(self, by):
        self.n = (self.n + by) % 5
        return self
""",
    "box": "box = Box()",
    "Lazy": """
class Lazy:
    def __init__(self):
        self.asked = []
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.asked.append(name)
        return len(self.asked) * scale
""",
    "lazy": "lazy = Lazy()",
    "Watched": """
class Watched:
    def __init__(self):
        self.n = self.m = 1
        self.t = None
    def __setattr__(self, name, value):
        seen.append(name)
        super().__setattr__(name, value)
""",
    "watched": "watched = Watched()",
    "Looked": """
class Looked:
    def __init__(self):
        self.n = 1
        self.t = Tensor([2.0, 1.0])
    def __getattribute__(self, name):
        if name == "n":
            seen.append("asked")
            return super().__getattribute__(name) + scale
        return super().__getattribute__(name)
""",
    "looked": "looked = Looked()",
    "Slots": """
class Slots:
    __slots__ = ("n", "t")
    def __init__(self):
        self.n = 1
        self.t = Tensor([2.0, 1.0])
""",
    "slots": "slots = Slots()",
    "Net": """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.5, 0.5]), name="net.w")
        self.k = self.m = 2
        self.on = True
        self.t = Tensor([1.0, 1.0])
        self.seen = []
    def construct(self, v):
        if self.on:
            return v * self.w + self.k
        return v - self.t
""",
    "net": "net = Net()",
    "Tied": """
class Tied(nn.Cell):
    def __init__(self, shared):
        super().__init__()
        self.shared = shared
        self.n = 0
    def __setattr__(self, name, value):
        seen.append(name)
        super().__setattr__(name, value)
    def construct(self, v):
        self.n = self.n + 1
        return v * self.shared
""",
    "tied": "tied = Tied(w)",
    "hook": """
def hook(g):
    global count
    count += 1
    return g * scale
""",
    "watch": """
def watch(g):
    seen.append(count)
""",
    "show": """
def show(g):
    print("gradient", g)
""",
    "keep": """
def keep(g):
    seen.append(g)
    return g + 1
""",
    "forward_hook": """
def forward_hook(cell, inputs, output):
    global count
    count += 1
    if scale > 2:
        return output * scale
""",
    "pre_hook": """
def pre_hook(cell, inputs):
    seen.append(len(inputs))
    return (inputs[0] + scale,)
""",
    "backward_hook": """
def backward_hook(cell, grad_input, grad_output):
    global count
    count += 1
    seen.append(count)
    print("backward", scale)
""",
    "hooked": """
hooked = Net()
handle = hooked.register_forward_hook(forward_hook)
""",
    "prepared": """
prepared = Net()
prepared.register_forward_pre_hook(pre_hook)
""",
    "tapped": """
tapped = Net()
tapped.register_backward_hook(backward_hook)
""",
    "Custom": """
class Custom(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = 3
        self.calls = 0
    def construct(self, v):
        return v * 2
    def bprop(self, v, out, dout):
        global count
        self.calls += 1
        count += 1
        print("bprop", self.k)
        return (dout * self.k + scale,)
""",
    "custom": "custom = Custom()",
    "Branching": """
class Branching(nn.Cell):
    def construct(self, v):
        return v * 2
    def bprop(self, v, out, dout):
        if v.sum() > 0:
            return (dout * scale,)
        seen.append("negative")
        return (dout - 1,)
""",
    "branching": "branching = Branching()",
    "Guard": """
class Guard:
    def __init__(self, swallow):
        self.swallow = swallow
    def __enter__(self):
        seen.append("enter")
        return self
    def __exit__(self, kind, error, traceback):
        seen.append("exit" if kind is None else kind.__name__)
        return self.swallow
""",
    "noted": """
@contextlib.contextmanager
def noted(value):
    seen.append("begin")
    try:
        yield value
    finally:
        seen.append("end")
""",
    "steps": """
def steps(v, n):
    try:
        for i in range(n):
            seen.append(i)
            yield v + i
    finally:
        seen.append("closed")
""",
    "choose": """
def choose(condition, one, other):
    return one if condition else other
""",
    "checked": """
def checked(v):
    if v.sum() > 2:
        raise ValueError(f"too large: {scale}")
    return v
""",
    "make_counter": """
def make_counter():
    n = 0
    kept = []
    def counter(v):
        nonlocal n
        n += 1
        kept.append(n)
        return v + n
    return counter
""",
    "counter": "counter = make_counter()",
    "Level": """
class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1
    TOP = 2
""",
    "double": """
def double(v):
    return v * scale
""",
}
#: where names of the first line come from
IMPORTS: Final[dict[str, str]] = {
    "contextlib": "import contextlib",
    "enum": "import enum",
    "np": "import numpy as np",
    **{name: f"from weft import {name}" for name in ("Parameter", "Tensor", "nn", "ops")},
    **{
        name: f"from weft import {name}"
        for name in ("grad", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap")
    },
    "hessian": "from weft.autodiff.jacobian import hessian",
}


def _named(text: str) -> set[str]:
    return set(re.findall(r"\b[A-Za-z]\w*\b", text))


def completed(program: str) -> str:
    """A module's text: a program and the definitions and imports that it needs.

    Args:
        program: functions and classes.
    """
    needed = _named(program)
    for name in reversed(DEFINITIONS):
        if name in needed:
            needed |= _named(DEFINITIONS[name])
    definitions = [text.strip("\n") for name, text in DEFINITIONS.items() if name in needed]
    imports = [text for name, text in IMPORTS.items() if name in needed]
    return "\n".join([*sorted(imports), "", *definitions, "", program])
