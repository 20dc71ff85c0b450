"""Operators and statements on containers of each kind, and on two kinds at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.containers.operands import KINDS, operand, ways
from tests.containers.running import by_turns, makes_sense, program
from tests.gate.matrix import turn
from tests.gate.programs import Program

#: what is done with one container, one operation each
EXPRESSIONS: Final = (
    "v + v", "v * 2", "2 * v", "v * x.shape[0]", "int(x[0]) % 3 * v", "v - v", "v & v", "v | v", "v ^ v", "-v", "v % 2", "v ** 2",
    "v @ v", "v == v", "v != v", "v < v", "v >= v", "v is v", "v is None", "v == None", "(v == v) is True", "v == [y, 1]",
    "x in v", "None in v", "1 in v", "'a' in v", "v[0] in v", "v in [v]", "v in (1, v)", "v not in {}.values()", "v[0]", "v[-1]", "v[1:]",
    "v[::-1]", "v['a']", "v['nothing']", "v[int(x[0]) % 2]", "v[x.shape[0] - 2]", "v[-x.shape[0]]", "v[5]", "v[None]", "v[...]", "v[0, 1]",
    "v[:x.shape[0] - 1]", "v[int(x[0]) % 2:]", "v[0] is v[0]", "v['a'] is v.get('a')", "v[0] + y", "v['a'] * 2", "v.a is v.a", "v.a, v.b",
    "[*v, y]", "(*v, y)", "[*v] is v", "tuple(v) is v", "{**v, 'z': y}", "{'a': y, **v}", "dict(v)", "dict(v, z=y)", "dict(v) == v",
    "list(v)", "list(v) == v", "len(v)", "len(v) + x.shape[0]", "not v", "bool(v)", "v and y", "v or y", "y if v else x", "[a for a in v]", "{a: y for a in v}",
    "[(i, a) for i, a in enumerate(v)]", "[(a, b) for a, b in zip(v, v)]", "[(a, b) for a, b in v.items()]", "{b: a for a, b in enumerate(v)}",
    "[a for a in v if a is not None]", "[a for a in v if isinstance(a, Tensor)]", "list(a for a in v)", "next(iter(v))", "sum(1 for _ in v)",
    "f'{v}'", "repr(v)", "str([v])", "'%s' % (v,)", "f'{v!r:>40}'", "hash(v) == hash(v)", "copy.copy(v)", "copy.copy(v) is v", "copy.copy(v) == v",
    "copy.deepcopy(v)", "copy.deepcopy([v, v])", "type(v)", "type(v)(v)", "type(v)()", "isinstance(v, (list, dict))", "isinstance(v, collections.abc.Sequence)",
    "isinstance(v, collections.abc.Mapping)", "isinstance(v, collections.abc.Hashable)", "callable(v)", "keyed(*v)", "keyed(**v)", "keyed(v, k=v)",
    "pair(*v)", "first(*v)", "(lambda a, *b: (b, a))(*v)", "(lambda a, b, c: (c, b))(**v)", "(lambda **a: a)(**v)", "(lambda *a: a)(*v, *v)", "ops.stack([a for a in v])",
    "ops.concat(v)", "ops.stack(v)", "sum(v)", "sum(v, y)", "sum(v, [])", "max(v)", "min(v, key=id) is not None", "sorted(v, key=repr)", "sorted(v, key=str, reverse=True)",
    "reversed(v)", "list(reversed(v))", "any(v)", "all(v)", "any(a is None for a in v)", "Tensor(v)", "y + v", "v + y", "y * v", "v * y", "y == v", "v - y", "y / v", "x[v]",
    "operator.itemgetter(0, 1)(v)", "operator.itemgetter('a')(v)", "operator.attrgetter('a')(v)", "operator.methodcaller('copy')(v)", "operator.contains(v, 'a')",
    "operator.length_hint(v)", "dataclasses.replace(v, a=y)", "dataclasses.asdict(v)", "dataclasses.astuple(v)", "[f.name for f in dataclasses.fields(v)]",
    "v._replace(b=y)", "v._asdict()", "getattr(v, 'a', y)", "hasattr(v, 'a'), hasattr(v, 'zz')", "vars(v)", "sorted(vars(v))", "dict(vars(v))", "getattr(v, 'label', None)",
    "functools.reduce(lambda a, b: [a, b], v)", "list(map(lambda a: [a], v))", "list(map(lambda a, b: (b, a), v, v))", "list(filter(None, v))",
    "list(filter(lambda a: a is not None, v))", "list(zip(v, [1, 2, 3], strict=True))", "list(itertools.chain(v, [y]))", "list(itertools.islice(v, 1, None))",
    "list(itertools.zip_longest(v, [1], fillvalue=y))", "list(itertools.accumulate(v, lambda a, b: b))", "list(itertools.pairwise(v))", "list(itertools.repeat(v, 2))",
    "collections.deque(v, maxlen=2)", "collections.OrderedDict(v)", "collections.ChainMap(v, {'z': y})['z']", "collections.Counter(v)", "collections.UserList(v)",
    "tuple(v)", "set(v) == set(v)", "frozenset(v) == frozenset(v)", "np.array(v)", "np.asarray(v).shape", "np.sum(v)", "np.stack([v, v])", "types.SimpleNamespace(v=v).v is v",
    "(w := v) is v", "[v, v][1] is v", "{'k': v}['k'] is v", "(v, [v])[1][0] is v", "id(v) == id([v][0])", "dict.fromkeys(v)", "dict.fromkeys(v, y)", "json.dumps(v)",
)  # fmt: skip
#: longer ones
BLOCKS: Final = (
    "a, b, c = v\nr = c, a",
    "a, *r = v",
    "*r, a = v",
    "a, (b, *c) = 1, v\nr = a, c, b",
    "r = []\nfor a in v:\n    r.append(a)\nelse:\n    r.append('end')",
    "r = []\nfor a in v:\n    if a is None:\n        break\n    r.append(a)",
    "r = []\nfor i, a in enumerate(v):\n    r.append((a, i + x.shape[0]))",
    "r = y\nfor a in v:\n    if isinstance(a, Tensor):\n        r = r + a.sum()",
    "r = []\nfor a, b in v.items():\n    r.append(b)",
    "r = []\nfor a in list(v):\n    v[a] = y\n    r.append(a)",
    "r = v[0]\nv[0] = y\nr = r, v[0] is y, v",
    "v['a'] = y\nr = v",
    "v['new'] = [y]\nv['new'].append(x)\nr = v",
    "v[0], v[1] = v[1], v[0]\nr = v",
    "v[int(x[0]) % 2] = y\nr = v",
    "v[x.shape[0] - 2] = None\nr = v",
    "v[1:] = [y, y, 1]\nr = v, v[1] is v[2]",
    "v[:0] = v\nr = len(v), v",
    "v[::2] = [y, x]\nr = v",
    "del v[0]\nr = v",
    "del v['a']\nr = v",
    "del v[1:]\nr = v",
    "del v['nothing']\nr = v",
    "v.a = y\nr = v.a is y, v",
    "v.a, v.b = v.b, v.a\nr = v",
    "v.new = y\nr = v.new",
    "del v.a\nr = hasattr(v, 'a')",
    "r = v\nr += [y]\nr = r is v, r, v",
    "r = v\nr += (y, 1)\nr = r is v, r",
    "r = v\nr *= 2\nr = r is v, r",
    "r = v\nr |= {'a': y, 'z': x}\nr = r is v, r",
    "r = v\nr |= {7, 8}\nr = r is v, r",
    "r = v\nr -= {1, 2}\nr = r is v, r",
    "r = v\nr += 1\nr = r is v, r",
    "v[0] += 1\nr = v",
    "v['a'] += 1\nr = v",
    "v[1] = [v[1]]\nv[1] += [y]\nr = v",
    "v.a = [v.a]\nv.a += [y]\nr = v",
    "w = v\nw.append(y)\nr = w is v, len(v), v",
    "w = v.copy()\nw.append(y)\nr = w is v, len(v), w",
    "w = copy.copy(v)\nw['z'] = y\nr = 'z' in v, w",
    "w = [v, v]\nw[0].append(y)\nr = w[1][-1] is y, w",
    "w = {'p': v, 'q': v}\nw['p']['a'] = y\nr = w['q']['a'] is y, w",
    "w = v\nv = None\nr = w, v",
    "match v:\n    case [a, b, *c]:\n        r = 'sequence', a, c\n    case {'a': a, **c}:\n        r = 'mapping', a, c\n    case None:\n        r = 'none'\n    case str() | bytes():\n        r = 'text'\n    case int(a) | float(a):\n        r = 'number', a\n    case _:\n        r = 'other'",
    "match v:\n    case Record(a, b):\n        r = 'record', b\n    case Triple(a=a) | Slots(a=a) | Box(a=a):\n        r = 'attribute', a\n    case {'a': Tensor() as a}:\n        r = 'tensor', a\n    case [Tensor(), *c]:\n        r = 'tensors', c\n    case [int(), *_] | {'a': int()}:\n        r = 'ints'\n    case _:\n        r = 'other'",
    "match v:\n    case (None, *_) | (_, None, *_):\n        r = 'has none'\n    case [[a, b], *_]:\n        r = a, b\n    case {'a': [a, 1]}:\n        r = a\n    case _ if v:\n        r = 'true'\n    case _:\n        r = 'false'",
    "try:\n    r = v[7]\nexcept (IndexError, KeyError, TypeError) as error:\n    r = type(error), str(error)",
    "try:\n    v['x'] = 1\n    r = v\nexcept Exception as error:\n    r = type(error), str(error)",
    "try:\n    v.append(y)\nexcept AttributeError as error:\n    r = str(error)\nelse:\n    r = v",
    "try:\n    r = {v: 1}\nexcept TypeError as error:\n    r = str(error)\nelse:\n    r = r == {v: 1}",
    "if x[0] > 1:\n    v.append(y)\nr = v",
    "if x[0] > 1:\n    v['a'] = y\nelse:\n    v['a'] = x\nr = v['a']",
    "if x[0] > 1:\n    v[0] = y\nr = v[0]",
    "if x[0] > 1:\n    v.a = y\nr = v.a",
    "r = v if x[0] > 1 else [1]\nr = r",
    "r = v if x[0] > 1 else v\nr = r is v",
    "n = 0\nwhile x[0] > n:\n    n += 1\nr = v * n, [v] * n",
    "s = x.sum() * 0\nwhile s < 3:\n    s = s + 1\n    v[0] = s\nr = v",
    "s = x.sum() * 0\nwhile s < 3:\n    s = s + 1\n    v['a'] = s\nr = v",
    "s = x.sum() * 0\nwhile s < 3:\n    s = s + 1\n    v.a = s\nr = v",
    "r = []\nfor i in range(int(x[0])):\n    r.append(v)\nr = r",
    "r = []\nwhile v and len(r) < 5:\n    r.append(v.pop())",
    "r = []\nwhile v and len(r) < 5:\n    r.append(v.popitem())",
    "def inner():\n    v.append(y)\n    return v\nr = inner() is v, v",
    "def inner(a, b=v):\n    return a, b\nr = inner(y), inner(y)[1] is v",
    "def inner(*a, **b):\n    return a, b\nr = inner(v, *[v], z=v)",
    "def inner():\n    yield from v\nr = [*inner()]",
    "def inner():\n    nonlocal v\n    v = [v, y]\ninner()\nr = v",
    "def inner(a):\n    a = a + a\n    return a\nr = inner(v), v",
    "def inner(a):\n    a += a\n    return a\nr = inner(v) is v, v",
    "class Local:\n    k = v\nr = Local.k is v, Local().k is v",
    "class Local:\n    def __init__(self):\n        self.k = v\nr = Local().k is v, vars(Local())",
    "r = iter(v)\nnext(r)\nr = list(r)",
    "r = iter(v)\nr = next(r), r",
    "r = iter(v)\nnext(r)\nr = r, r",
    "r = enumerate(v)\nr = next(r), r",
    "r = zip(v, v)\nr = next(r), list(r)",
    "r = (a for a in v)\nr = next(r), r",
    "r = reversed(v)\nr = next(r), list(r)",
    "global W\nW = v\nr = W is v",
    "global W\nW = [v]\nW[0].append(y)\nr = W",
    "O.k = v\nr = O.k is v",
    "O.k = [v, y]\nO.k[0] = x\nr = O",
    "with manager(v) as r:\n    r = r is v, r",
    "with contextlib.suppress(TypeError, AttributeError, KeyError):\n    v.update({'a': y})\nr = v",
    "print(v)\nr = v",
    "print(*v, sep='|')\nr = len(v)",
    "assert v, 'empty'\nr = v",
    "raise ValueError(v)",
    "try:\n    raise KeyError(v, y)\nexcept KeyError as error:\n    r = error.args[0] is v, error.args",
    "r = sorted(v, key=lambda a: str(type(a)))",
    "v.sort(key=lambda a: str(type(a)), reverse=True)\nr = v",
    "r = max(v, key=lambda a: str(type(a)), default=y)",
    "r = [v.pop(), v.pop()]\nv.extend(r)\nr = r, v",
    "r = v.setdefault('z', []), v.setdefault('z', y)\nr[0].append(x)\nr = r, r[0] is r[1]",
    "r = v.setdefault('a', y) is v['a'], v",
    "r = v.pop('a', y), v.pop('a', y) is y, v",
    "v.update(v)\nv.update(z=y)\nr = v",
    "v.insert(0, y)\nr = v.index(y), v.count(y), v.pop(0) is y, v",
    "v.remove(y)\nr = v",
    "v.clear()\nr = v, len(v), not v",
    "v.reverse()\nr = v",
    "v.extend(v)\nr = v",
    "v.add(x.shape[0])\nv.discard(2)\nr = v, len(v)",
    "v.rotate(1)\nv.appendleft(y)\nr = v, v.popleft() is y",
    "v.move_to_end('a')\nr = v, list(v)",
    "r = list(v.keys()), list(v.values()), 'a' in v.keys(), y in v.values(), len(v.items())",
    "a = v.keys()\nv['z'] = y\nr = list(a), len(a)",
    "a = v.items()\nr = a == v.items(), sorted(map(repr, a))",
)  # fmt: skip
#: what is done with a container `v` and another one `w`
PAIRS: Final = (
    "v + w", "v | w", "v & w", "v - w", "v ^ w", "v == w", "v != w", "v < w", "v <= w", "v is w", "w in v", "v % w", "v * w", "v @ w", "v[w]",
    "[*v, *w]", "{**v, **w}", "[v, w] == [w, v]", "dict(zip(v, w))", "list(zip(v, w, strict=True))", "list(map(lambda a, b: (a, b), v, w))", "(v and w, v or w)",
    "keyed(*v, *w)", "keyed(*v, **w)", "isinstance(v, type(w))", "type(v)(w)", "list(itertools.product(v, w))[:3]", "max(v, w)", "sorted([v, w])", "{'a': v, 'b': w}",
)  # fmt: skip
PAIR_BLOCKS: Final = (
    "r = v\nr += w\nr = r is v, r",
    "r = v\nr |= w\nr = r is v, r",
    "r = v\nr &= w\nr = r is v, r",
    "v[1:2] = w\nr = v",
    "v[0] = w\nr = v[0] is w, v",
    "v['a'] = w\nr = v['a'] is w, v",
    "v.a = w\nr = v.a is w, v",
    "v.extend(w)\nr = v",
    "v.update(w)\nr = v",
    "v.append(w)\nr = v[-1] is w, v",
    "v.add(w)\nr = w in v, len(v)",
    "v, w = w, v\nr = w, v",
    "r = v if x[0] > 1 else w",
    "if x[0] > 1:\n    v = w\nr = v is w",
)
#: how many kinds an operation is done with, if not all are wanted
MOST: Final = 6


def _lines(text: str) -> str:
    return text if "\n" in text or text.startswith(("print", "raise", "assert")) else f"r = {text}"


def of_one(share: int = 1, which: int = 0, most: int = MOST) -> Iterator[Program]:
    """Operations on one container, each with several kinds."""
    for text in (*EXPRESSIONS, *BLOCKS):
        lines = _lines(text)
        kinds = sorted(KINDS, key=lambda kind: turn("kind", text, kind))
        found = 0
        for kind in kinds:
            if found == most:
                break
            inside = by_turns(KINDS[kind].insides, "inside", text, kind)
            if not makes_sense(lines, kind, inside):
                continue
            found += 1
            if turn("share", text, kind) % share == which:
                way = by_turns(ways(kind), "way", text, kind)
                yield program(text.replace("\n", "; "), lines, operand(kind, inside, way))


def of_two(share: int = 1, which: int = 0, most: int = MOST) -> Iterator[Program]:
    """Operations on two containers, each with several pairs of kinds; the program makes the second one."""
    for text in (*PAIRS, *PAIR_BLOCKS):
        pairs = sorted(((a, b) for a in KINDS for b in KINDS), key=lambda pair: turn("pair", text, *pair))
        found = 0
        for kind, other in pairs:
            if found == most:
                break
            inside = by_turns(KINDS[kind].insides, "inside", text, kind)
            second = operand(other, by_turns(KINDS[other].insides, "other", text, kind), "made").code[0]
            lines = f"w{second[1:]}\n{_lines(text)}"
            if not makes_sense(lines, kind, inside):
                continue
            found += 1
            if turn("share", text, kind, other) % share == which:
                way = by_turns(ways(kind), "way", text, kind, other)
                yield program(f"{text} with {other}", lines, operand(kind, inside, way))
