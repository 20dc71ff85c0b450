"""Generated programs that change what lies around them: a seed gives the source of a module with one of them.

A program writes to containers, objects, cells, parameters, globals, closures and classes from outside, makes objects
that escape, advances iterators, and computes with tensors meanwhile; some of its calls cannot be in a graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

#: what every program finds around it
WORLD: Final = '''
import contextlib
from collections import defaultdict, deque, OrderedDict
from dataclasses import dataclass, field
import numpy as np
from weft import nn, ops
from weft.core.tensor import Parameter, Tensor

class Box:
    made = 0
    names = []
    def __init__(self, a=None):
        self.a = a
        self.count = 0
        self.items = []
        Box.made += 1
    def bump(self, by=1):
        self.count += by
        self.items.append(self.count)
        return self
    @property
    def twice(self):
        return self.count * 2
    @twice.setter
    def twice(self, value):
        self.count = value // 2

class Slotted:
    __slots__ = ("a", "b", "count")
    def __init__(self, a):
        self.a = a
        self.count = 0

@dataclass
class Record:
    a: object
    tags: list = field(default_factory=list)
    count: int = 0

class Log(list):
    def note(self, value):
        self.append(value)
        self.last = value

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([1.0, 2.0, 3.0], np.float32)), name="w")
        self.calls = 0
        self.seen = []
    def construct(self, x):
        self.calls += 1
        return x * self.w

class Guard:
    """A context manager that keeps what happened."""
    def __init__(self, log, swallow):
        self.log = log
        self.swallow = swallow
    def __enter__(self):
        self.log.append("enter")
        return self
    def __exit__(self, kind, error, traceback):
        self.log.append("exit" if kind is None else kind.__name__)
        return self.swallow and kind is not None and issubclass(kind, ValueError)

@contextlib.contextmanager
def noted(log):
    log.append("begin")
    try:
        yield log
    finally:
        log.append("end")

def outside(v):
    """A call that no graph can hold."""
    return Tensor(np.tanh(v.asnumpy()))

def measured(v):
    return float(np.sum(v.asnumpy()) * 0.25)

def helper(box, v):
    box.bump()
    box.a = v
    return v + box.count

def deep(box, v, levels):
    if levels:
        box.items.append(levels)
        w = deep(box, v * 1.5, levels - 1)
        box.items.append(w)
        return w + 1
    return outside(v)

def steps(v, n, log):
    log.append(("start", n))
    try:
        for i in range(n):
            sent = yield v * i
            log.append(sent)
    finally:
        log.append("closed")

def breaking_steps(v, n):
    for i in range(n):
        v = outside(v)
        yield v + i

total = 0
latest = None
numbers = [3, 1, 2]
table = {"a": 1, "b": [1]}
tags = {1, 2}
queue = deque([1, 2], maxlen=6)
groups = defaultdict(list)
ordered = OrderedDict(x=1, y=2)
box = Box(0)
slotted = Slotted(1)
record = Record(1)
log = Log()
net = Net()
alias = numbers
pair = (numbers, table)
generators = []
feed = iter([5, 6, 7, 8, 9, 10])
running = (i * i for i in range(50))

def make():
    k = 1
    kept = []
    def program(x, y, n, items, obj, it):
        nonlocal k, kept
        global total, latest
{body}
    return program, lambda: (k, kept)

program, closed_over = make()
'''
_INDENT: Final = "    "

#: lists from outside that are no variables of the program
_NOT_REBOUND: Final = ("items", "numbers", "alias", "log")


class Writer:
    """Writes one program.

    Args:
        seed: which one.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0
        self.budget = self.rng.randint(6, 11)
        self.in_loop = 0
        #: names in scope by kind
        self.names: dict[str, list[str]] = {
            "tensor": ["x", "y", "net.w", "x", "y"],
            "int": ["n", "k", "total", "box.count", "len(numbers)"],
            "list": ["items", "numbers", "kept", "box.items", "obj.items", "log", "alias", "net.seen", "Box.names"],
            "dict": ["table", "groups", "ordered"],
            "set": ["tags"],
            "deque": ["queue"],
            "object": ["obj", "box", "slotted", "record", "net"],
            "box": ["obj", "box"],
            "iterator": ["it", "feed", "running"],
        }

    def source(self) -> str:
        """The module."""
        while self.budget > 0:
            self.statement()
        self.emit(f"return {', '.join(self.value() for _ in range(3))}")
        return WORLD.replace("{body}", "\n".join(self.lines))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        self.lines.append(_INDENT * self.depth + text)

    def new(self, kind: str, text: str) -> str:
        """Bind a new variable."""
        self.count += 1
        name = f"{kind[0]}{self.count}"
        self.emit(f"{name} = {text}")
        self.names[kind].append(name)
        return name

    def pick(self, kind: str) -> str:
        pool = self.names[kind]
        return self.rng.choice(pool if self.rng.random() < 0.5 else pool[-3:])

    def tensor(self) -> str:
        a, b = self.pick("tensor"), self.pick("tensor")
        return self.rng.choice([
            f"{a} * {b}", f"{a} + {self.integer()}", f"ops.relu({a} - {b})", f"{a} - {b} * 0.5", f"ops.tanh({a})",
            f"net({a})", f"helper({self.pick('box')}, {a})", f"({a} if {self.condition()} else {b})", a,
        ])  # fmt: skip

    def broken(self) -> str:
        """A tensor by way of a call that leaves the graph."""
        a = self.pick("tensor")
        return self.rng.choice([
            f"outside({a})", f"{a} * measured({a})", f"deep({self.pick('box')}, {a}, 2)", f"outside({a}) + {a}",
        ])  # fmt: skip

    def integer(self) -> str:
        return self.rng.choice([self.pick("int"), str(self.rng.randint(0, 4)), f"{self.pick('int')} + 1"])

    def key(self) -> str:
        return self.rng.choice(["'a'", "'b'", "'c'", "n", "len(items)"])

    def value(self) -> str:
        """Anything that can be kept."""
        kind = self.rng.choice(
            ["tensor", "tensor", "int", "list", "dict", "object", "tuple", "new", "text", "iterator"]
        )
        if kind == "tuple":
            return f"({self.value()}, {self.pick('tensor')})"
        if kind == "new":
            return self.rng.choice(
                [f"[{self.pick('tensor')}]", f"{{'k': {self.pick('tensor')}}}", f"Box({self.pick('tensor')})"]
            )
        if kind == "text":
            return self.rng.choice(["'word'", f"f'<{{{self.integer()}}}>'"])
        return self.pick(kind)

    def condition(self) -> str:
        return self.rng.choice([
            f"{self.pick('int')} > 2", f"{self.pick('int')} % 2 == 0", f"len({self.pick('list')}) > 3",
            f"{self.key()} in {self.pick('dict')}", f"{self.integer()} in tags",
            f"{self.pick('list')} is {self.pick('list')}",
            f"hasattr({self.pick('object')}, 'extra')", "isinstance(latest, Tensor)", "queue",
            f"{self.pick('object')} is {self.pick('object')}",
        ])  # fmt: skip

    # -- statements ----------------------------------------------------------------------------------------------------

    def statement(self) -> None:
        self.budget -= 1
        table = _COMPOUND if self.depth < 5 and self.rng.random() < 0.35 else _SIMPLE
        self.rng.choice(table)(self)

    def block(self, most: int = 3) -> None:
        """An indented suite; what it binds is not known after it."""
        saved = {kind: list(names) for kind, names in self.names.items()}
        self.depth += 1
        first = len(self.lines)
        for _ in range(self.rng.randint(1, most)):
            self.statement()
        if len(self.lines) == first:
            self.emit("pass")
        self.depth -= 1
        self.names = saved


Rule = Callable[[Writer], None]
_SIMPLE: Final[list[Rule]] = []
_COMPOUND: Final[list[Rule]] = []


def simple(rule: Rule) -> Rule:
    _SIMPLE.append(rule)
    return rule


def compound(rule: Rule) -> Rule:
    _COMPOUND.append(rule)
    return rule


@simple
def write_list(w: Writer) -> None:
    a, v = w.pick("list"), w.value()
    w.emit(w.rng.choice([
        f"{a}.append({v})", f"{a}.append({v})", f"{a}.insert({w.integer()}, {v})", f"{a}.extend([{v}, {w.value()}])",
        f"{a}[len({a}):] = [{v}]", f"{a}[:1] = [{v}, {w.value()}]", f"if {a}: {a}[-1] = {v}", f"if {a}: {a}.pop()",
        f"if {a}: {a}.pop(0)", f"if len({a}) > 5: del {a}[1:4]", f"{a}.reverse()", f"{a}.clear()", f"{a}.append({a})",
        f"{a}.append({v})" if "." in a or a in _NOT_REBOUND else f"if len({a}) < 20: {a} += [{v}]",
        f"if len({a}) < 20: {a} *= 2" if a.startswith("l") and a != "log" else f"{a}.extend(())",
        f"log.note({v})", "numbers.sort(key=lambda v: v if isinstance(v, int) else 0)",
    ]))  # fmt: skip


@simple
def write_dict(w: Writer) -> None:
    a, v, key = w.pick("dict"), w.value(), w.key()
    w.emit(w.rng.choice([
        f"{a}[{key}] = {v}", f"{a}[{key}] = {v}", f"{a}.pop({key}, None)", f"{a}.setdefault({key}, []), {v}",
        f"{a}.update(a={v}, z={w.integer()})", f"groups[{key}].append({v})" , f"if {key} in {a}: del {a}[{key}]",
        f"ordered.move_to_end({a!r} if {a!r} in ordered else next(iter(ordered), None)) if ordered else None",
        f"if {a}: {a}.popitem()", f"{a}[{key}] = {a}", f"{a}.clear()",
        f"{a} |= {{'m': {v}}}" if a.startswith("d") else f"{a}['m'] = {v}",
    ]))  # fmt: skip


@simple
def write_set_or_deque(w: Writer) -> None:
    s, q, i, v = w.pick("set"), w.pick("deque"), w.integer(), w.value()
    w.emit(w.rng.choice([
        f"{s}.add({i})", f"{s}.discard({i})", f"{s}.update((1, {i}))",
        f"{s} -= {{1}}" if s != "tags" else f"{s}.clear()",
        f"{q}.append({v})", f"{q}.appendleft({v})", f"if {q}: {q}.popleft()", f"{q}.rotate(1)", f"{q}.extend([{v}])",
        f"if {q}: {q}[0] = {v}",
    ]))  # fmt: skip


@simple
def write_object(w: Writer) -> None:
    o, v, b = w.pick("object"), w.value(), w.pick("box")
    w.emit(w.rng.choice([
        f"{o}.a = {v}", f"{o}.a = {v}", f"{b}.count += {w.integer()}", f"{b}.bump({w.integer()})", f"{b}.extra = {v}",
        f"{b}.__dict__.pop('extra', None)", f"slotted.b = {v}", "if hasattr(slotted, 'b'): del slotted.b",
        f"setattr({o}, 'a', {v})", f"{b}.twice = {w.integer()}", f"record.tags.append({v})", f"{o}.a = {o}",
        f"{b}.items = [{v}]", "net.calls += 1", f"net.seen.append({v})",
        f"slotted.a, slotted.count = {v}, {w.integer()}",
    ]))  # fmt: skip


@simple
def write_handle(w: Writer) -> None:
    t = w.tensor()
    w.emit(w.rng.choice([
        f"net.w.set_data({t})", f"ops.assign(net.w, {t})", "net.w.set_data(net.w * 0.5)",
        f"{w.pick('box')}.a = net.w",
    ]))  # fmt: skip


@simple
def write_name(w: Writer) -> None:
    v = w.value()
    w.emit(w.rng.choice([
        f"total += {w.integer()}", f"latest = {v}", f"latest = {v}", f"k += {w.integer()}", "k = (k + 1) % 5",
        f"kept = [{v}]", f"kept = kept + [{v}]", "Box.made += 1", f"Box.latest = {v}", f"Box.names.append({v})",
        f"globals()['added'] = {v}",
    ]))  # fmt: skip


@simple
def make_tensor(w: Writer) -> None:
    w.new("tensor", w.tensor())


@simple
def make_tensor_twice(w: Writer) -> None:
    name = w.new("tensor", w.tensor())
    w.emit(f"{w.pick('list')}.append({name})")
    w.emit(f"{w.pick('box')}.a = {name}")


@simple
def leave_graph(w: Writer) -> None:
    w.new("tensor", w.broken())


@simple
def make_object(w: Writer) -> None:
    r = w.rng.choice(["list", "dict", "set", "deque", "box", "slotted", "record", "cycle", "log", "alias", "comp"])
    if r == "list":
        w.new("list", f"[{w.value()}, {w.value()}]")
    elif r == "comp":
        w.new("list", f"[{w.pick('tensor')} * i for i in range({w.rng.randint(0, 3)}) if i != {w.integer()}]")
    elif r == "dict":
        w.new("dict", f"{{'a': {w.value()}, n: {w.value()}}}")
    elif r == "set":
        w.new("set", f"{{1, {w.integer()}}}")
    elif r == "deque":
        w.new("deque", f"deque([{w.value()}], maxlen={w.rng.choice(['None', '3'])})")
    elif r == "box":
        name = w.new("box", f"Box({w.value()})")
        w.names["object"].append(name)
        w.names["list"].append(f"{name}.items")
    elif r == "slotted":
        w.new("object", f"Slotted({w.value()})")
    elif r == "record":
        name = w.new("object", f"Record({w.value()})")
        w.names["list"].append(f"{name}.tags")
    elif r == "cycle":
        name = w.new("list", f"[{w.value()}]")
        w.emit(f"{name}.append({name})")
        w.emit(f"{w.pick('box')}.a = {name}")
    elif r == "log":
        w.new("list", "Log()")
        w.emit(f"{w.names['list'][-1]}.note({w.value()})")
    else:
        w.new("list", w.pick("list"))


@simple
def make_iterator(w: Writer) -> None:
    a = w.pick("list")
    t = w.pick("tensor")
    name = w.new("iterator", w.rng.choice([
        f"iter({a})", f"steps({t}, {w.integer()}, {a})", f"breaking_steps({t}, 3)", f"({t} * i for i in range(3))",
        f"enumerate({a})", f"zip({a}, {w.pick('list')})", f"map(lambda v: v, {a})", f"reversed([{t}, 1])",
        f"steps({t}, 3, {a})",
    ]))  # fmt: skip
    w.emit(f"generators.append({name})")
    if w.rng.random() < 0.5:
        w.emit(f"next({name}, None)")


@simple
def advance(w: Writer) -> None:
    i, inside = w.pick("iterator"), "\n" + _INDENT * (w.depth + 1)
    w.emit(w.rng.choice([
        f"latest = next({i}, None)", f"next({i}, 0)", f"{w.pick('list')}.append(next({i}, 'end'))",
        f"if hasattr({i}, 'close'): {i}.close()",
        f"for v in {i}:{inside}latest = v{inside}break",
        f"first = [v for v, _ in zip({i}, range(2))]",
    ]))  # fmt: skip


@simple
def make_closure(w: Writer) -> None:
    w.count += 1
    name, held = f"f{w.count}", w.pick("tensor")
    w.emit(f"c{w.count} = {w.integer()}")
    w.emit(f"def {name}(v, more={w.pick('list')}):")
    w.depth += 1
    w.emit(f"nonlocal c{w.count}")
    w.emit(f"c{w.count} += 1")
    w.emit(f"more.append(c{w.count})")
    w.emit(f"return v + {held} * c{w.count}" if "." not in held else f"return v + c{w.count}")
    w.depth -= 1
    w.names["int"].append(f"c{w.count}")
    w.new("tensor", f"{name}({w.pick('tensor')})")
    if w.rng.random() < 0.5:
        w.emit(f"latest = {name}")


@simple
def say(w: Writer) -> None:
    w.emit(w.rng.choice([
        f"print('at', {w.integer()}, len({w.pick('list')}))", f"print({w.pick('tensor')}.shape)",
        f"print(f'{{{w.integer()}:>4}}', end='|')", f"print({w.pick('tensor')}.sum() > -1000)",
    ]))  # fmt: skip


@simple
def fail(w: Writer) -> None:
    if w.rng.random() < 0.3:
        w.emit(f"if {w.condition()}: raise ValueError('failed', {w.integer()})")
    elif w.rng.random() < 0.3:
        w.emit(f"if {w.condition()}: return {w.value()}, {w.pick('tensor')}")
    else:
        leave_graph(w)


@compound
def if_python(w: Writer) -> None:
    w.emit(f"if {w.condition()}:")
    w.block()
    if w.rng.random() < 0.6:
        w.emit("else:")
        w.block()


@compound
def if_tensor(w: Writer) -> None:
    w.emit(f"if {w.pick('tensor')}.sum() > {w.rng.choice(['0', '1.7', '-3.1'])}:")
    w.block(2)
    if w.rng.random() < 0.7:
        w.emit("else:")
        w.block(2)


@compound
def for_range(w: Writer) -> None:
    w.count += 1
    name = f"i{w.count}"
    w.emit(f"for {name} in range({w.rng.randint(1, 3)}):")
    w.names["int"].append(name)
    w.in_loop += 1
    w.block()
    w.in_loop -= 1
    w.names["int"].remove(name)


@compound
def for_items(w: Writer) -> None:
    a = w.pick("list")
    over = w.rng.choice(
        [
            f"list({a})[:3]",
            f"{a}[:2]",
            f"breaking_steps({w.pick('tensor')}, 2)",
            f"zip({a}[:2], range(2))",
            f"list({w.pick('dict')}.items())[:2]",
        ]
    )
    w.emit(f"for v in {over}:")
    w.depth += 1
    w.emit("latest = v")
    w.depth -= 1
    w.block(2)


@compound
def while_python(w: Writer) -> None:
    w.count += 1
    name = f"w{w.count}"
    w.emit(f"{name} = 0")
    w.emit(f"while {name} < {w.rng.randint(1, 3)}:")
    w.depth += 1
    w.emit(f"{name} += 1")
    w.depth -= 1
    w.block(2)


@compound
def while_tensor(w: Writer) -> None:
    name = w.new("tensor", f"{w.pick('tensor')} * 1")
    w.emit(f"while ({name} * {name}).sum() < 20:")
    w.depth += 1
    w.emit(f"{name} = {name} * 2 + 1")
    if w.rng.random() < 0.3:
        w.emit(f"{w.pick('list')}.append({name})")
    w.depth -= 1


@compound
def try_except(w: Writer) -> None:
    w.emit("try:")
    w.block(2)
    if w.rng.random() < 0.6:
        w.depth += 1
        w.emit(
            w.rng.choice(
                [
                    f"if {w.condition()}: raise ValueError({w.integer()})",
                    "raise KeyError('k')",
                    "{}['missing']",
                    "[][3]",
                ]
            )
        )
        w.depth -= 1
    kind = w.rng.choice(["except", "finally", "both"])
    if kind != "finally":
        w.emit("except (ValueError, LookupError) as error:")
        w.depth += 1
        w.emit(w.rng.choice(["latest = error", "items.append(str(error))", "pass", "box.a = error.args"]))
        w.depth -= 1
        w.block(1)
        if w.rng.random() < 0.2:
            w.depth += 1
            w.emit(w.rng.choice(["raise", "raise RuntimeError('again') from error", "raise RuntimeError('other')"]))
            w.depth -= 1
    if kind != "except":
        w.emit("finally:")
        w.block(1)


@compound
def with_block(w: Writer) -> None:
    a = w.pick("list")
    managers = [f"Guard({a}, True)", f"Guard({a}, False)", f"noted({a})", "contextlib.suppress(ValueError)"]
    w.emit(f"with {w.rng.choice(managers)}:")
    w.block(2)
    if w.rng.random() < 0.3:
        w.depth += 1
        w.emit(f"if {w.condition()}: raise ValueError('inside')")
        w.depth -= 1


def program(seed: int) -> str:
    """The source of a module with `program` and `closed_over`.

    Args:
        seed: which one.
    """
    return Writer(seed).source()
