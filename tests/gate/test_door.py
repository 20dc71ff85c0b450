"""Native code gets what it is given through one door: programs of which the sample of the matrix has too few."""

from __future__ import annotations

from typing import Final

import pytest

from tests.gate.matrix import operand
from tests.gate.programs import Operation, Program
from tests.gate.running import run

#: statements, and kinds of operands with the way in which each arrives
PROGRAMS: Final = (
    # construction and initialization read what they are given
    ("r = []\nr.__init__(v)", "list kept", "tuple", "dict", "set"),
    ("r = {}\nr.__init__(v)", "dict", "nested", "dict kept"),
    ("r = set()\nset.__init__(r, v)", "list", "set"),
    ("class L(list):\n    def __init__(self, a):\n        super().__init__(a)\nr = L(v)", "list", "list global"),
    ("class E2(Exception):\n    def __init__(self, n):\n        self.n = n\n        super().__init__(n)\n"
     "e = E2(v)\nr = e.args, e.n", "run-time small int", "branch int"),
    # what an instance holds: values, names, slots, items
    ("r = copy.copy(v)", "special object", "special object kept", "object kept", "dataclass kept"),
    ("if v.k is True:\n    v.extra = 1\nr = copy.copy(v), object.__dir__(v)", "object kept"),
    ("w = Mine(v)\nw.k = 1\nr = copy.copy(w)", "list", "list kept"),
    # methods called by class, bound, and of iterators
    ("r = list(list.__iter__([*v])), [*tuple.__iter__((*v, 1))]", "list", "tuple"),
    ("r = v.bit_length(), int.bit_length(v), Num(v).__add__(2)", "int", "own int", "run-time small int"),
    ("r = []\nlist.extend(r, v)\nlist.append(r, v[0])", "list of run-time", "list of tensors"),
    ("def inner():\n    yield from v\nr = list(inner())", "named tuple", "dict", "set", "str"),
    ("i = iter(v)\nnext(i)\nr = iter(v), i", "tensor", "list of tensors"),
    # data that only the call knows
    ("r = {0: 1}\nr.update([v])", "array", "array nested"),
    ("r = [v] == [1.5], [v, 1] != [2, 1]", "array", "scalar"),
    ("r = bytearray(b'a-b 1').replace(b'a', v)", "scalar"),
    ("r = {1, 2}.issuperset(v)", "array", "list of objects"),
    ("r = TABLE.__getitem__(v)", "scalar"),
    ("r = dataclasses.astuple(D(v))", "array"),
    # the same object, or an equal one
    ("r = list(iter(lambda: v, v))", "float", "float global", "plain float"),
    ("r = keyed(k=v), (v, ())", "tuple", "tuple kept attribute", "tuple nested"),
    ("r = tuple(v), tuple(v) is v", "tuple", "equal tuples", "named tuple"),
    ("r = frozenset(v), frozenset(v) is v", "frozenset", "set", "frozenset global"),
    ("r = v is (1, 2), operator.is_(v, (1, 2)), operator.is_not(v, 1)", "branch tuple", "branch int", "tuple"),
    # what cannot be taken back
    ("v *= 2\nr = operator.imul(v, 2), operator.iadd(v, v)", "array kept attribute", "array kept", "list kept", "int"),
    # what is refused stays refused, and messages show Python's own classes
    ("r = len(v) if v else -1", "run-time sum", "int"),
    ("r = b'a-b 1'.__contains__(v), b'abc'.count(v)", "int tensor", "run-time small int"),
    ("r = '%*d' % (v, 1), '%.*f' % (v, 1.5)", "run-time small int", "run-time bool"),
    ("if x[0] > 0:\n    r = v\nelse:\n    r = 1", "run-time huge"),
    # what native code made holds what the graph has
    ("r = dataclasses.replace(D(v))", "tensor", "list of tensors", "int"),
    ("r = np.array(v)", "dict of tensors"),
    ("r = functools.wraps(v), functools.partial(keyed, v, k=v)", "tensor"),
    ("r = np.dtype('<q', v), np.dtype('q')", "int", "object"),
    # numbers keep every bit
    ("r = sum([v]), v + 0, 0 + v, v + 0.0, v - 0, 0 - v, v * 1, v + -0.0, v * 0", "run-time float"),
    ("r = float(v) / 3, v / 7, v / 0.1, v * 0.1 * 3, v + 0.1 + 0.2", "run-time plain float", "run-time small int"),
)  # fmt: skip
#: ways of arriving that the names above end with
_ARRIVALS: Final = ("kept attribute", "kept", "global", "nested")


@pytest.mark.parametrize(("lines", "kind"), [(lines, kind) for lines, *kinds in PROGRAMS for kind in kinds])
def test_does_what_python_does(lines: str, kind: str) -> None:
    arrival = next((way for way in _ARRIVALS if kind.endswith(f" {way}")), "argument")
    outcome = run(Program(Operation(lines, lines), operand(kind.removesuffix(f" {arrival}"), arrival)))
    assert not outcome["findings"], outcome["findings"]
