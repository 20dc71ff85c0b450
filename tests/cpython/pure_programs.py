"""Random programs of pure Python, for comparing the interpreter with CPython: no tensors, every kind of statement.

Programs end: loops run over short sequences. Each is a function ``f(a, b)`` of two numbers that logs what happens.
"""

from __future__ import annotations

import textwrap
from random import Random

PREAMBLE = """
class Manager:
    def __init__(self, log, name, swallows=None):
        self.log, self.name, self.swallows = log, name, swallows
    def __enter__(self):
        self.log.append(("enter", self.name))
        return self
    def __exit__(self, kind, value, traceback):
        self.log.append(("exit", self.name, None if kind is None else kind.__name__, str(value)))
        return self.swallows is not None and kind is not None and issubclass(kind, self.swallows)

class Number:
    scale = 2
    def __init__(self, value):
        self.value = value
    def __add__(self, other):
        return Number(self.value + other.value) if isinstance(other, Number) else NotImplemented
    def __radd__(self, other):
        return Number(other + self.value) if isinstance(other, (int, float)) else NotImplemented
    def __iadd__(self, other):
        self.value += other if isinstance(other, int) else 1
        return self
    def __eq__(self, other):
        return self.value == other.value if isinstance(other, Number) else NotImplemented
    def __lt__(self, other):
        return self.value < other.value if isinstance(other, Number) else NotImplemented
    def __hash__(self):
        return hash(self.value)
    def __len__(self):
        return int(self.value)
    def __getitem__(self, index):
        if index > 3:
            raise IndexError(index)
        return self.value * index
    def __repr__(self):
        return f"Number({self.value!r})"
    def __getattr__(self, name):
        if name.startswith("x"):
            return name
        raise AttributeError(f"no {name}")
    @property
    def double(self):
        return self.value * self.scale
    @double.setter
    def double(self, value):
        self.value = value / self.scale
    @classmethod
    def of(cls, *values, start=0):
        return cls(sum(values, start))
    @staticmethod
    def twice(value):
        return value * 2

class Special(Number):
    scale = 3
    def __radd__(self, other):
        return Special(1)
    def __lt__(self, other):
        return False
    def __len__(self):
        return super().__len__() + 1

def counting(log, stop, *extra, **named):
    try:
        for i in range(stop):
            got = yield i
            if got is not None:
                log.append(("got", got))
    except ValueError as error:
        log.append(("thrown", str(error)))
        yield -1
    finally:
        log.append("closed")
    return stop

def delegating(log, stop):
    result = yield from counting(log, stop)
    log.append(("result", result))
    yield result

def fails(kind, *args):
    raise kind(*args)
"""

_ERRORS = ("ValueError", "KeyError", "TypeError", "ZeroDivisionError", "IndexError", "LookupError", "StopIteration")


class ProgramWriter:
    """Writes one program.

    Args:
        random: where all choices come from.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.loops = 0
        self.budget = 16

    def program(self) -> str:
        body = self.block(3, least=3)
        first = "log = []\nn, m, s, t = Number(a), Special(b), 'text', (a, b, 'x')"
        then = "d = {'a': a, 'b': b, 1: 'one'}\nv = [a, b, 3]"
        body = f"{first}\n{then}\n{body}\nreturn log, n.value, m.value, s, t, d, v"
        return PREAMBLE + "\ndef f(a, b):\n" + textwrap.indent(body, "    ") + "\n"

    def fresh(self) -> str:
        self.names += 1
        return f"c{self.names}"

    # -- expressions -------------------------------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        pick = self.random.choice
        if not depth:
            return pick(["a", "b", "1", "-2", "0", "7", "2.5", "len(v)", "n.value"])
        one, two = self.number(depth - 1), self.number(depth - 1)
        return pick(
            [
                f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} // {two})", f"({one} % {two})",
                f"({one} / {two})", f"divmod({one}, 3)[0]", f"({one} if {self.condition(depth - 1)} else {two})",
                f"min({one}, {two})", f"max([{one}, {two}], default=0)", f"int({one})", f"round({one}, 1)",
                f"abs({one})", f"sum([{one}, {two}])", f"n[{self.random.randrange(6)}]",
                f"(lambda q, r=2: q - r)({one})",
                "n.double", "len(m)", f"Number.twice({one})", "d['a']", f"d.get('z', {one})",
                f"v[{self.random.randrange(-4, 5)}]",
                f"hash(Number({self.random.randrange(9)}))", f"(-{one})", f"(k := {one})", f"bool({one})",
                f"int('{self.random.randrange(30)}')",
            ]
        )  # fmt: skip

    def condition(self, depth: int = 1) -> str:
        one, two = self.number(max(0, depth - 1)), self.number(0)
        return self.random.choice(
            [
                f"{one} < {two}", f"{one} == {two}", f"{one} > {two} > 0", f"not {one}", "n < m", "n == m", "m > n",
                f"{one} and {two}", f"{one} or {two}", "n", "'x' in t", f"{one} in v", "d", "n is None",
                f"isinstance({one}, (int, str))", "hasattr(n, 'xyz')", "hasattr(n, 'other')", "any(q > 2 for q in v)",
                "all(v)", f"{one} in n", "callable(n)", "m != n",
            ]
        )  # fmt: skip

    def value(self) -> str:
        number = self.number()
        return self.random.choice(
            [
                number, f"[q * 2 for q in v if q != {number}]", "{q: str(q) for q in v}", "sorted(v, key=lambda q: -q)",
                "f'{a!r:>6}|{s}|{n!s:^9}'", "s.upper() + '!'", "list(zip(v, reversed(v)))", "list(enumerate(s, 2))",
                "[*v, *t]", "{**d, 'c': 3}", "n + m", f"n + {number}", f"{number} + n", "'%s-%r' % (s, t)",
                "s.join(['1', '2'])", "list(map(lambda q: q + 1, v))", "dict(zip('ab', v))", "tuple(n)[:2]",
                "list(counting(log, 2))", "[*delegating(log, 2)]", f"Number.of({number}, 1, start=2)",
                "str(n) + repr(m)",
                "v[::-1]", "v[1:]", "n.xfield", "n.missing", "s[9]", "d['none']", "int(s)", "{1, 2} | set(v)",
                "(lambda *p, **q: (p, q))(*v, **{'z': 1})", "next(iter(v))", "next(iter([]), 'end')", "m.value.real",
                "list(filter(None, v))", "max(v, key=lambda q: q % 3)", "print('seen', *v, sep='-')",
                "type(n).__name__",
                "Number(*v)", "Number()", "counting(log)", "n(1)", "[] + 1", "1 + 's'", "s + 1", "-s", "n < 1", "v < 1",
                "list({'p': 1, 'q': 2}.items())", "sorted(d, key=str)", "t[0:2] + (n,)",
                "''.join(q for q in s if q > 'e')",
                "[[p * q for p in range(2)] for q in range(3)]", "(yielded := list(counting(log, 1)))", "s.format(1)",
                "'{} {x}'.format(a, x=b)", "locals().keys() >= {'a'}", "globals() is not None", "dict(a=1, **{'b': 2})",
            ]
        )  # fmt: skip

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, depth: int, least: int = 1) -> str:
        return "\n".join(self.guarded(self.statement(depth)) for _ in range(self.random.randint(least, least + 2)))

    def guarded(self, statement: str) -> str:
        """A statement, mostly with a handler for what it may raise: else nearly every program would end early."""
        if self.random.random() < 0.1:
            return statement
        handler = "except Exception as e:\n    log.append((type(e).__name__, str(e)))"
        return f"try:\n{self.indented(statement)}\n{handler}"

    def statement(self, depth: int) -> str:
        self.budget -= 1
        if depth and self.budget > 0 and self.random.random() < 0.55:
            return self.compound(depth)
        number = self.number()
        simple = [
            f"log.append({self.value()})", f"log.append({self.value()})", f"v.append({number})", f"n += {number}",
            f"d[{self.random.choice(['1', chr(39) + 'new' + chr(39)])}] = {number}", f"n.double = {number}", "s += 'x'",
            f"a = {number}", "a, *b_ = v\nlog.append(b_)", "v[0], v[-1] = v[-1], v[0]", "del d['a']", "m, n = n, m",
            f"assert {self.condition()}, {number}", "v.sort()", "del v[0]", f"v[1:] = [{number}]", "n.tag = s",
            f"raise {self.random.choice(_ERRORS)}({number})", f"fails({self.random.choice(_ERRORS)}, {number}, 'more')",
            "a, b = v", "log.append(undefined)", "del n.tag", "s = None", "v *= 2", "t += (1,)",
        ]  # fmt: skip
        if self.loops:
            simple += [f"if {self.condition()}: break", f"if {self.condition()}: continue"]
        simple.append(f"return log, {number}")
        return self.random.choice(simple)

    def indented(self, text: str) -> str:
        return textwrap.indent(text, "    ")

    def inside_loop(self, depth: int) -> str:
        self.loops += 1
        body = self.block(depth)
        self.loops -= 1
        return body

    def compound(self, depth: int) -> str:
        kind = self.random.choice(
            ["if", "for", "while", "try", "try", "finally", "with", "def", "generator", "match", "class", "star"]
        )
        deeper = depth - 1
        name = self.fresh()
        error = self.random.choice(_ERRORS)
        match kind:
            case "if":
                body, other = self.block(deeper), self.block(deeper)
                return f"if {self.condition()}:\n{self.indented(body)}\nelse:\n{self.indented(other)}"
            case "for":
                over = self.random.choice(
                    ["range(3)", "v[:3]", "d.copy()", "list(d.items())", "n", "counting(log, 3)", "enumerate(s[:2])"]
                )
                tail = f"\nelse:\n    log.append('else {name}')" if self.random.random() < 0.4 else ""
                body = f"log.append({name})\n{self.inside_loop(deeper)}"
                return f"for {name} in {over}:\n{self.indented(body)}{tail}"
            case "while":
                body = f"{name} -= 1\n{self.inside_loop(deeper)}"
                return f"{name} = 3\nwhile {name} > 0:\n{self.indented(body)}"
            case "try":
                caught = (
                    "log.append((type(e).__name__, str(e)))\n"
                    "log.append((type(e.__context__).__name__, type(e.__cause__).__name__))\n"
                    f"{self.block(deeper)}"
                )
                again = self.random.choice(["", "\nraise", f"\nraise {error}('again') from e", f"\nraise {error}(1)"])
                kinds = self.random.choice(["Exception", f"({error}, TypeError)", error])
                text = (
                    f"try:\n{self.indented(self.block(deeper))}\nexcept {kinds} as e:\n{self.indented(caught + again)}"
                )
                return text + (f"\nelse:\n{self.indented(self.block(deeper))}" if self.random.random() < 0.3 else "")
            case "finally":
                text = f"try:\n{self.indented(self.block(deeper))}\nfinally:\n    log.append('finally {name}')"
                return text + self.random.choice(["", "\n    n += 1", "\n    d['f'] = len(d)"])
            case "with":
                swallows = self.random.choice(["", ", KeyError", ", Exception"])
                managers = f"Manager(log, '{name}'{swallows}) as w"
                if self.random.random() < 0.3:
                    managers += f", Manager(log, 'inner {name}')"
                return f"with {managers}:\n{self.indented(self.block(deeper))}"
            case "def":
                loops, self.loops = self.loops, 0
                body = f"nonlocal a\nlog.append((p, q, r, o))\na = p\n{self.block(deeper)}\nreturn p"
                call = self.random.choice(
                    ["(1)", "(1, 2, 3, o=4)", "(*v)", "()", "(1, x=2)", "(1, 2, p=3)", "(q=1, p=2)"]
                )
                self.loops = loops
                return f"def {name}(p, q=2, *r, o=None):\n{self.indented(body)}\nlog.append({name}{call})"
            case "generator":
                steps = self.random.choice(
                    [
                        f"log.append(next({name}))\nlog.append({name}.send('sent'))\n{name}.close()",
                        f"next({name})\nlog.append({name}.throw(ValueError('in')))\nlog.append(next({name}, 'end'))",
                        f"{name}.close()\nlog.append(list({name}))", f"next({name})\n{name}.throw({error}('out'))",
                        f"log.append(sum(q for q in {name}))", f"{name}.send(1)",
                    ]
                )  # fmt: skip
                return f"{name} = {self.random.choice(['counting', 'delegating'])}(log, 3)\n{steps}"
            case "match":
                subject = self.random.choice(["v", "d", "n", "a", "t", "s"])
                return (
                    f"match {subject}:\n    case [1 | 2, *rest]:\n        log.append(rest)\n"
                    f"    case {{'a': int(q), **others}} if q > 0:\n        log.append(others)\n"
                    f"    case Number(value=0 | 1 as q):\n        log.append(q)\n    case str() | (_, _, 'x'):\n"
                    f"        log.append('text')\n    case _:\n{textwrap.indent(self.block(deeper), '        ')}"
                )
            case "class":
                more = "def more(self):\n    return super().__len__() + self.tag"
                return f"class {name}(Number):\n    tag = a\n{self.indented(more)}\nlog.append({name}(1).more())"
            case _:
                body = self.block(deeper)  # which may not leave the handler by `return`, `break` or `continue`
                for leaving, staying in (("return log,", "_ ="), ("break", "pass"), ("continue", "pass")):
                    body = body.replace(leaving, staying)
                return (
                    f"try:\n    raise ExceptionGroup('g', [{error}(1), KeyError('k'), TypeError(2)])\n"
                    f"except* (KeyError, {error}) as e:\n    log.append([repr(x) for x in e.exceptions])\n"
                    f"except* Exception as e:\n    log.append(str(e))\n{self.indented(body)}"
                )


def pure_program(random: Random) -> str:
    """The source of a random program.

    Args:
        random: where all choices come from.
    """
    return ProgramWriter(random).program()
