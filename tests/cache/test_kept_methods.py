"""Kept entries of methods, and of graphs that hold graphs: what leads to their objects, and each edit of it."""

from __future__ import annotations

import logging

import pytest

from tests.cache.edited import (
    Memory,
    check_edited,
    check_found_again,
    compiled_once,
    found_of,
    loaded,
    outcomes,
    results,
    same,
)

_TRAINER = """
from weft import Parameter, Tensor, nn, ops, value_and_grad
class Base:
    power = 2
    def loss(self, x): return ((self.net(x) - self.target) ** self.power).mean() * self.scale
class Trainer(Base):
    def __init__(self, rate=0.5, scale=1.5, momentum=0.75):
        self.net = nn.SequentialCell(nn.Dense(3, 2, weight_init="ones"), nn.Tanh(), nn.Dense(2, 1, weight_init="ones"))
        self.target, self.scale = 0.25, scale
        self.optimizer = nn.Momentum(self.net.trainable_params(), rate, momentum)
        self.gradient = value_and_grad(self.loss, None, self.optimizer.parameters)
    def step(self, x):
        loss, grads = self.gradient(x)
        self.optimizer(grads)
        return loss, self.net[0].weight * 1, grads[0]
"""
_TRAINER_EDITS = [
    ("power = 2", "power = 4"), ("- self.target", "+ self.target"), ("0.25, scale", "0.5, scale"),
    ("scale=1.5", "scale=2.5"), ("rate=0.5", "rate=0.25"), ("momentum=0.75", "momentum=0.5"), ("Tanh()", "Sigmoid()"),
    ('2, 1, weight_init="ones"', '2, 1, weight_init="ones", activation="relu"'), (".mean()", ".sum()"),
    ("self.optimizer.parameters)", "self.optimizer.parameters[1:])"),
    ("self.optimizer.parameters)", "self.optimizer.parameters[::-1])"),
    ("value_and_grad(self.loss,", "value_and_grad(lambda x: self.loss(x) * 2,"),
    ("value_and_grad(self.loss,", "value_and_grad(super().loss,"),
    ("def step(self", "def loss(self, x): return super().loss(x) * 3\n    def step(self"),
    ("def __init__(self,", "power = 3\n    def __init__(self,"),
    ("self.target, self", "self.power = 3\n        self.target, self"),
    ("class Trainer(Base)", "class Mix:\n    power = 4\nclass Trainer(Mix, Base)"),
    ("loss, self.net[0]", "loss * 2, self.net[0]"), ("self.net[0].weight", "self.net[2].weight"),
    ("nn.Momentum(", "nn.Adagrad("), ("        self.optimizer(grads)\n", ""), ("grads[0]\n", "grads[-1]\n"),
]  # fmt: skip

#: name -> source, the arguments of `f`, and edits as (old text, new text)
PROGRAMS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "bound method": (_TRAINER + "f = Trainer().step\n", "(M,)", _TRAINER_EDITS),
    "decorated method": (
        _TRAINER.replace("    def step", "    @deco\n    def step") + "f = Trainer().step\n",
        "(M,)",
        _TRAINER_EDITS[:8],
    ),
    "object as argument": (
        _TRAINER + "trainer = Trainer()\ndef f(trainer, x): return trainer.step(x)\n",
        "(trainer, M)",
        _TRAINER_EDITS[:8],
    ),
    "partial": (
        _TRAINER + "import functools\ndef call(x, trainer=None): return trainer.step(x)\n"
        "f = functools.partial(call, trainer=Trainer())\n",
        "(M,)",
        _TRAINER_EDITS[:8],
    ),
    "callable object": (
        _TRAINER.replace("def step", "def __call__") + "f = Trainer()\n",
        "(M,)",
        [edit for edit in _TRAINER_EDITS[:8] if "step" not in edit[0]],
    ),
    "dictionary as argument": (
        _TRAINER + "parts = {'trainer': Trainer(), 'gains': [0.5]}\n"
        "def f(parts, x): return [parts['trainer'].step(x)[0] * gain for gain in parts['gains']][0]\n",
        "(parts, M)",
        [*_TRAINER_EDITS[:8], ("'gains': [0.5]", "'gains': [0.75]")],
    ),
    "schedule": (
        _TRAINER + "f = Trainer(nn.CosineDecayLR(0.01, 0.5, 4)).step\n",
        "(M,)",
        [("CosineDecayLR(0.01", "CosineDecayLR(0.1"), ("0.5, 4", "0.5, 5"), ("nn.CosineDecayLR(0.01, 0.5, 4)", "0.01"),
         ("nn.CosineDecayLR(0.01, 0.5, 4)", "nn.ExponentialDecayLR(0.5, 0.5, 4)")],
    ),
    "list of rates": (
        _TRAINER + "f = Trainer([0.5, 0.25, 0.125]).step\n",
        "(M,)",
        [("[0.5, 0.25, 0.125]", "[0.5, 0.125, 0.25]"), ("[0.5, 0.25, 0.125]", "[0.5, 0.25]")],
    ),
    "forward of parts": (
        """
from weft import Parameter, Tensor, nn, ops
class Part:
    def __init__(self, cells, gain): self.cells, self.gain = cells, gain
    def run(self, x):
        for cell in self.cells: x = cell(x) * self.gain
        return x
class Model:
    def __init__(self):
        self.first = nn.Dense(3, 3, weight_init="ones")
        self.second = nn.Dense(3, 3, weight_init="zeros")
        self.part = Part([self.first, self.second, self.first], 0.5)
        a, b = Parameter(Tensor([1.0, 2.0, 3.0]), name="a"), Parameter(Tensor([4.0, 5.0, 6.0]), name="b")
        self.shift = {"a": a, "b": b}
        self.fns = (lambda x: x + self.shift["a"], ops.tanh)
    def forward(self, x):
        for fn in self.fns: x = fn(x)
        return self.part.run(x) - self.shift["b"]
f = Model().forward
""",
        "(M,)",
        [
            ("self.first, self.second, self.first]", "self.first, self.first, self.second]"),
            ("self.first, self.second, self.first]", "self.first, self.second, self.second]"),
            ('"zeros")', '"zeros", activation="tanh")'), ("self.first], 0.5", "self.first], 0.75"),
            ('x + self.shift["a"]', 'x + self.shift["b"]'), ('- self.shift["b"]', '- self.shift["a"]'),
            ("ops.tanh)", "ops.sin)"), ("* self.gain", "+ self.gain"), ('"b": b}', '"b": a}'), ('"a": a,', '"a": b,'),
        ],
    ),
    "decorated functions that others call": (
        """
from weft import grad, nn
class Model:
    gain = 2.0
    def __init__(self, cells): self.cells = cells
    @deco
    def forward(self, x): return self.cells[(0, 1)](x).sum() * self.gain
@deco
def inner(x): return (x * x * 3.0).sum()
model = Model({(0, 1): nn.Dense(3, 2, weight_init="ones"), (1, 0): nn.Dense(3, 2, weight_init="zeros")})
def f(x): return model.forward(x), grad(model.forward)(x), inner(x), grad(inner)(x)
""",
        "(M,)",
        [
            ("gain = 2.0", "gain = 2.5"), ("x * x * 3.0", "x * x * 4.0"), ("* self.gain", "+ self.gain"),
            ("self.cells[(0, 1)]", "self.cells[(1, 0)]"), ("{(0, 1): nn.Dense", "{(0, 1): nn.ReLU(), (2, 2): nn.Dense"),
            ("@deco\ndef inner", "@deco\ndef other(x): return x.sum()\n@deco\ndef inner"),
            ("def f(x)", "def other(x): return x.sum()\ninner = deco(other)\ndef f(x)"),
        ],
    ),
    "slots": (
        """
from weft import nn
class Model:
    __slots__ = ("net", "gain", "__weakref__")
    def __init__(self, gain): self.net, self.gain = nn.Dense(3, 2, weight_init="ones"), gain
    def forward(self, x): return self.net(x) * self.gain
class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.model = Model(1.5)
        self.net = nn.Dense(2, 2, weight_init="ones")
    def construct(self, x): return self.net(self.model.forward(x))
outer = Outer()
def f(x): return outer(x) * outer.model.gain
""",
        "(M,)",
        [("Model(1.5)", "Model(2.5)"), ("self.net(x) * self.gain", "self.net(x) + self.gain"),
         ('Dense(2, 2, weight_init="ones")', 'Dense(2, 2, weight_init="ones", activation="tanh")')],
    ),
    "deep": (
        """
from weft import nn
def chain(depth, last):
    cell = nn.Dense(3, 3, weight_init="ones", activation=last)
    for _ in range(depth): cell = nn.SequentialCell(cell)
    return cell
class Model:
    def __init__(self): self.net = chain(9, "tanh")
    def forward(self, x): return self.net(x)
f = Model().forward
""",
        "(M,)",
        [('chain(9, "tanh")', 'chain(9, "sigmoid")')],
    ),
    "vmap": (
        """
from weft import grad, ops, vmap
SCALE, AXES = 1.5, (0, 1)
def row(a, b=0.5): return ops.sin(a * SCALE).sum() + b
def both(a, b): return (a * 2 - b).sum()
def nested(a): return vmap(lambda v: v * 7)(a)
def f(x):
    y = vmap(both, AXES)(x, x.T * 3)
    return vmap(row)(x), vmap(grad(row))(x), y, vmap(lambda a: a * 4.0, 0, 0)(x), vmap(nested)(x)
""",
        "(M,)",
        [
            ("SCALE, AXES = 1.5", "SCALE, AXES = 1.25"), ("ops.sin", "ops.cos"), (".sum() + b", ".mean() + b"),
            ("b=0.5", "b=0.75"), ("(0, 1)", "(1, 0)"), ("* 2 - b", "* 2 + b"), ("a * 4.0", "a * 5.0"),
            ("4.0, 0, 0)", "4.0, 1, 0)"), ("4.0, 0, 0)", "4.0, 0, 1)"), ("v * 7", "v - 7"),
            ("vmap(grad(row))(x)", "vmap(grad(nested))(x)"),
            ("vmap(row)(x)", "ops.stack([row(x[0]), row(x[1]) * 2])"),
        ],
    ),
    "held transforms": (
        """
from weft import Parameter, Tensor, grad, ops, vmap
class Model:
    def __init__(self, gain):
        self.gain, self.weight = gain, Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
        self.other = Parameter(Tensor([3.0, 2.0, 1.0]), name="o")
        self.mapped = vmap(self.one, (0, 1), 0)
        self.gradients = grad(lambda x, y: (x * x * y).sum(), (0, 1))
        self.weights = grad(self.product, None, (self.weight, self.other))
    def product(self, x): return (x * self.weight * self.weight * self.other).sum()
    def one(self, a, b): return (a * self.gain - b * self.weight[0]).sum()
    def forward(self, x):
        return self.mapped(x, x.T * 3), self.gradients(x, x * 2 + 1), self.weights(x)
f = Model(1.5).forward
""",
        "(M,)",
        [
            ("self.one, (0, 1), 0", "self.one, (0, 1), -1"), ("Model(1.5)", "Model(2.5)"), ("(0, 1))", "(1, 0))"),
            ("(0, 1))", "(1,))"), ("(self.weight, self.other))", "(self.other, self.weight))"),
            ("(self.weight, self.other))", "(self.other,))"), ("b * self.weight", "b * self.other"),
            ("(x * x * y)", "(x * y * y)"), ("a * self.gain", "a + self.gain"),
        ],
    ),
}  # fmt: skip
EDITS = [(name, number) for name, (_, _, edits) in PROGRAMS.items() for number in range(len(edits))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_finds_its_entries(name: str, memory: Memory) -> None:
    source, arguments, _ = PROGRAMS[name]
    expected = check_found_again(source, arguments)
    assert not any(isinstance(value, str) for value in expected)  # it raises nothing


@pytest.mark.parametrize(("name", "number"), EDITS)
def test_an_edited_program_gets_nothing_old(name: str, number: int, memory: Memory) -> None:
    source, arguments, edits = PROGRAMS[name]
    check_edited(source, arguments, edits[number])


#: methods with two objects of one class that differ in one setting, or in which of their parts are one
PAIRS: dict[str, tuple[str, str]] = {
    "scale": ("Trainer()", "Trainer(scale=2.5)"),
    "rate": ("Trainer(0.5)", "Trainer(0.25)"),
    "schedule": ("Trainer(nn.CosineDecayLR(0.01, 0.5, 4))", "Trainer(nn.CosineDecayLR(0.01, 0.25, 4))"),
    "momentum": ("Trainer()", "Trainer(momentum=0.5)"),
    "layer": ("Trainer()", "changed(Trainer(), 'net[2].activation = nn.ReLU()')"),
    "other parameter": ("Trainer()", "changed(Trainer(), 'net[2].bias = Parameter(Tensor([0.5]), name=\"b\")')"),
    "attribute": ("Trainer()", "changed(Trainer(), 'power = 4')"),
    "weights": ("Model(1.5)", "changed(Model(1.5), 'weights.weights = t.weights.weights[::-1]')"),
    "axes": ("Model(1.5)", "changed(Model(1.5), 'mapped.in_axes = (1, 0)')"),
    "positions": ("Model(1.5)", "changed(Model(1.5), 'gradients.positions = (1, 0)')"),
    "tied": ("Model(1.5)", "changed(Model(1.5), 'other = t.weight')"),
}


@pytest.mark.parametrize("deco", ["", "    @deco\n"])
@pytest.mark.parametrize("pair", PAIRS)
def test_objects_of_one_class_get_what_is_theirs(pair: str, deco: str, memory: Memory) -> None:
    method = "step" if "Trainer" in PAIRS[pair][0] else "forward"
    source = _TRAINER if method == "step" else PROGRAMS["held transforms"][0]
    source = source.replace(f"    def {method}(", f"{deco}    def {method}(")
    source += "def changed(t, how):\n    exec('t.' + how)\n    return t\n"
    source += f"steps = [{', '.join(f'{made}.{method}' for made in PAIRS[pair])}]\n"
    expected = [outcomes(step, "(M,)") for step in loaded(source, compiled=False).steps]
    for order in ([0, 1], [1, 0], [0, 1]):
        steps = [compiled_once(step) for step in loaded(source, compiled=True).steps]
        for number in order:
            same(outcomes(steps[number], "(M,)"), expected[number])
    assert all(found_of(step) for step in steps)


_RULE = """
from weft import nn, vmap
class Twice(nn.Cell):
    def construct(self, x): return x * 2
    def bprop(self, x, out, dout): return (dout * 5,)
cell = Twice()
"""
#: programs whose graphs are not kept: source, the arguments of `f`, and what the log says
UNKEPT: dict[str, tuple[str, str]] = {
    "rule of the program": (
        _RULE + "def f(x): return cell(x)\n",
        "rules or hooks of the program run in the backward pass",
    ),
    "rule of the program, mapped": (
        _RULE + "def f(x): return vmap(lambda v: cell(v))(x)\n",
        "rules or hooks of the program run",
    ),
    "break": ("def f(x):\n    y = x * 2\n    open('/dev/null').close()\n    return y + 1\n", "the call breaks"),
    "after a break": (
        "def f(x):\n    y = x * 2\n    open('/dev/null').close()\n    return y + 1\n",
        "it goes on where the call has left another graph",
    ),
    "static": ("import weft\nf = weft.jit(lambda x: x * 2, mode='PSJit')\n", "the static policy"),
    "hash_args": ("import weft\nf = weft.jit(lambda x: x * 2, hash_args=(3,))\n", "hash_args"),
    "without a place": (
        "import io\nclass Holder:\n    def __init__(self): self.factors = {io.StringIO: 2}\n"
        "    def step(self, x): return x * 2 if int in self.factors else x\nf = Holder().step\n",
        "where a list that it uses can be found is not known",
    ),
}


@pytest.mark.parametrize("name", UNKEPT)
def test_the_log_says_why_a_graph_is_not_kept(name: str, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    source, reason = UNKEPT[name]
    expected, _ = results(source, "(M,)", compiled=False)
    with caplog.at_level(logging.INFO, "weft.cache"):
        same(results(source, "(M,)", compiled=True)[0], expected)
    assert any(reason in record.getMessage() for record in caplog.records)
    again, found = results(source, "(M,)", compiled=True)
    same(again, expected)
    assert found == 0


def test_nothing_is_said_of_a_graph_that_is_kept(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    source, arguments, _ = PROGRAMS["vmap"]
    with caplog.at_level(logging.INFO, "weft.cache"):
        results(source, arguments, compiled=True)
    assert not caplog.records


_BRANCHES = """
from weft import grad, vmap
def row(a): return (a ** 3).sum() if a.sum() > 0 else a[0] * 2
inner = deco(lambda x: vmap(row)(x).sum())
def f(x): return vmap(row)(x), grad(inner)(x)
"""


@pytest.mark.parametrize("edit", [("> 0", "> 9"), ("** 3", "** 2"), ("a[0]", "a[1]")])
def test_branches_in_mapped_functions(edit: tuple[str, str], memory: Memory) -> None:
    sources = {False: _BRANCHES, True: _BRANCHES.replace(*edit)}
    expected = {}
    for edited, source in sources.items():
        expected[edited] = results(source, "(M,)", compiled=True)[0]
        memory.clear()
    for edited, found in ((False, 0), (True, 0), (False, 1), (True, 1)):
        given, count = results(sources[edited], "(M,)", compiled=True)
        same(given, expected[edited])
        assert bool(count) is bool(found)
    assert expected[False] != expected[True]


def test_a_kept_graph_is_differentiated(memory: Memory) -> None:
    expected = [[[0.75, 3.0, 12.0], [3.0, 12.0, 48.0]]] * 2 + [[[2.0, 0.0, 0.0]] * 2]
    for found in (0, 1):
        module = loaded(_BRANCHES + "def g(x): return grad(inner)(x)\n", compiled=True)
        same(outcomes(module.g, "(M,)"), expected)
        assert found_of(module.inner) == found
