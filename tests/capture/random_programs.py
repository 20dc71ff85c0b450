"""Random Python programs over tensors, for property tests: nested control flow with every kind of exit.

Programs end: each loop has a counter that its test bounds. Values stay small: all that is assigned is squashed.
"""

from __future__ import annotations

import textwrap
from random import Random

PREAMBLE = """
from weft import ops

class Logged:
    def __init__(self, log, name):
        self.log = log
        self.name = name
    def __enter__(self):
        self.log.append(self.name)
        return self
    def __exit__(self, kind, value, traceback):
        self.log.append(kind.__name__ if kind else "")
        return kind is KeyError

def helper(v, w, flag=True):
    if v.sum() > 0.217:
        return v * 0.5 + w
    return w - v if flag else v
"""


class ProgramWriter:
    """Writes one program ``f(x, y, n)``: two float tensors of the same shape and a scalar integer tensor.

    Args:
        random: where all choices come from.
        depth: how deep statements nest.
    """

    def __init__(self, random: Random, depth: int = 3) -> None:
        self.random = random
        self.depth = depth
        self.loops: list[str] = []  # kinds of the loops around, innermost last
        self.names = 0
        self.symbolic = 0  # how many tensor conditions are around: there, lists must not change their lengths
        self.budget = 14

    def program(self) -> str:
        body = self.block(0, least=2)
        first = "a, b, i, j = x, y, 0, 1\nlog = []\nstate = {'k': 0, 't': x}"
        last = "return a, b, i, j, log, state"
        return PREAMBLE + "\ndef f(x, y, n):\n" + textwrap.indent(f"{first}\n{body}\n{last}", "    ") + "\n"

    def fresh(self) -> str:
        self.names += 1
        return f"c{self.names}"

    # -- expressions -------------------------------------------------------------------------------------------------

    def number(self) -> str:
        return self.random.choice(["0.517", "-0.833", "1.291", "2", "i", "j", "-1", "state['k']"])

    def tensor(self, depth: int = 2) -> str:
        leaves = ["a", "b", "x", "y", "state['t']"]
        if not depth or self.random.random() < 0.2:
            return self.random.choice(leaves)
        one, two = self.tensor(depth - 1), self.tensor(depth - 1)
        return self.random.choice(
            [
                f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} * {self.number()})",
                f"({self.number()} - {one})", f"ops.sin({one})", f"ops.where({one} > {two}, {one}, {two})",
                f"({one} if {self.condition()} else {two})", f"helper({one}, {two})",
                f"helper({one}, w={two}, flag={self.random.choice(['True', 'False', 'i > 1'])})",
                f"sum([{one}, {two}, {one}])", f"ops.stack([{one}[0], {two}.max()])",
                f"(lambda q: q * {one})({two})", f"({one} + n)", f"(x * max([{one}.sum(), {two}.sum()]))",
            ]
        )  # fmt: skip

    def condition(self, tensor: bool | None = None) -> str:
        choose = self.random.choice
        if tensor is None:
            tensor = self.random.random() < 0.7
        plain = choose([f"i {choose(['<', '>', '==', '!='])} {choose(['0', '1', '2', 'j'])}", "j % 2", "not i", "log"])
        if not tensor:
            return plain
        name = choose(["a", "b", "x", "y"])
        limit = choose(["0.117", "-0.391", "0.777"])
        one = choose(
            [
                f"{name}.sum() > {limit}", f"{name}.max() < {limit}", f"n > {choose(['0', '1', 'i'])}",
                f"{name}[0] > {choose('ab')}[1]", f"-0.713 < {name}.sum() < {limit}", f"n == {choose('ij')}",
                f"({name} > {limit}).all()", f"({name} < {limit}).any()",
            ]
        )  # fmt: skip
        other = choose([plain, "n < 3", f"{choose('ab')}.min() < 0.253"])
        return choose(
            [one, one, one, f"(not {one})", f"({one} and {other})", f"({other} or {one})", f"(not ({one} or {other}))"]
        )

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, level: int, least: int = 1) -> str:
        return "\n".join(self.statement(level) for _ in range(self.random.randint(least, 3)))

    def statement(self, level: int) -> str:
        self.budget -= 1
        kinds = ["tensor", "tensor", "number", "item", "walrus"]
        if not self.symbolic:
            kinds += ["append"]
        if level < self.depth and self.budget > 0:
            kinds += ["branch", "branch", "loop", "loop", "attempt", "managed", "nested"]
        if self.loops and level:
            kinds += ["leave"]
        elif level:
            kinds += ["give"]
        return str(getattr(self, "write_" + self.random.choice(kinds))(level))

    def write_tensor(self, level: int) -> str:
        return f"{self.random.choice('ab')} = ops.tanh({self.tensor()} + x)"

    def write_number(self, level: int) -> str:
        return self.random.choice(["i += 1", "j = i + 2", "i, j = j, i", "i = i * 2 % 5", "j -= 1"])

    def write_item(self, level: int) -> str:
        return self.random.choice([f"state['t'] = ops.tanh({self.tensor(1)})", "state['k'] = i + 1", "state['k'] += 1"])

    def write_walrus(self, level: int) -> str:
        return f"b = ops.tanh((a := ops.tanh({self.tensor(1)} + y)) * {self.number()} + x)"

    def write_append(self, level: int) -> str:
        return self.random.choice(["log.append(i)", "log.append(a)", "log.append(f'{i}-{j:02d}')", "log += [b, j]"])

    def write_give(self, level: int) -> str:
        return self.random.choice(["return a, i", "return b * 1.0", f"if {self.condition()}:\n    return a"])

    def write_leave(self, level: int) -> str:
        leave = self.random.choice(["break", "continue", "break", "return a, i, log"])
        return f"if {self.condition()}:\n    {leave}"

    def under(self, test: str, level: int) -> str:
        """A block that runs under a condition."""
        self.symbolic += 1
        body = self.block(level + 1)
        self.symbolic -= 1
        return textwrap.indent(body, "    ")

    def write_branch(self, level: int) -> str:
        lines = []
        test = self.condition()
        lines += [f"if {test}:", self.under(test, level)]
        if self.random.random() < 0.3:
            test = self.condition()
            lines += [f"elif {test}:", self.under(test, level)]
        if self.random.random() < 0.6:
            lines += ["else:", self.under(test, level)]
        return "\n".join(lines)

    def write_loop(self, level: int) -> str:
        counter, choose = self.fresh(), self.random.choice
        head = choose(
            [
                f"while {counter} < {choose('234')}:", f"while {counter} < n and {counter} < 4:",
                f"while {self.condition(True)} and {counter} < 4:", f"while {counter} < 4 and {self.condition(True)}:",
                f"while ({self.condition(True)} or {counter} < 2) and {counter} < 4:", "while True:",
                f"for {counter} in range({choose('23')}):", f"for {counter} in range(n):",
                f"for {counter} in [1, i, 3]:", f"for {counter}, v in enumerate([a, b]):",
                f"for v, {counter} in zip((x, y, a), range(5)):",
            ]
        )  # fmt: skip
        counted = head.startswith("while")
        self.loops.append(head)
        self.symbolic += 1
        body = self.block(level + 1)
        self.symbolic -= 1
        self.loops.pop()
        lines = [f"{counter} = 0"] if counted else []
        lines += [head]
        inside = [f"{counter} += 1"] if counted else []
        if head == "while True:":
            inside.append(f"if {counter} > 3:\n    break")
        lines.append(textwrap.indent("\n".join([*inside, body]), "    "))
        if self.random.random() < 0.25:
            lines += ["else:", self.under(head, level)]
        return "\n".join(lines)

    def write_attempt(self, level: int) -> str:
        body = self.under("", level)
        error = self.random.choice(["ValueError", "KeyError"])
        lines = ["try:", body]
        if self.random.random() < 0.7:
            lines.append(textwrap.indent(f"if {self.condition()}:\n    raise {error}('stop', i)", "    "))
        final = self.random.random() < 0.4
        lines += ["except ValueError as problem:", "    i = len(problem.args)", self.under("", level)]
        if self.random.random() < 0.3:
            lines += ["else:", self.under("", level)]
        if final:
            lines += ["finally:", "    j += 1", f"    a = ops.tanh({self.tensor(1)})"]
        return "\n".join(lines)

    def write_managed(self, level: int) -> str:
        if self.symbolic:
            return self.write_tensor(level)
        name = self.random.choice(["one", "two"])
        return f"with Logged(log, {name!r}) as manager:\n{self.under('', level)}\n    j += len(manager.name)"

    def write_nested(self, level: int) -> str:
        name = self.fresh()
        lines = [
            f"def {name}(p, q=a):",
            f"    if {self.condition()}:",
            f"        return ops.tanh(p * {self.number()} + q)",
            f"    return ops.tanh({self.tensor(1)} - p)",
            f"b = {name}({self.tensor(1)})",
        ]
        return "\n".join(lines)


def random_program(random: Random, depth: int = 3) -> str:
    """The source of a module that defines `f`."""
    return ProgramWriter(random, depth).program()
