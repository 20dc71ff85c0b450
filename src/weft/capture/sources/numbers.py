"""Python numbers that change from call to call: known to a capture by an expression over what the call brings.

A counter, a learning rate, an int argument: after its second value such a number is no longer a constant of the graph.
Python arithmetic on it builds an expression that each call evaluates again; a condition on it is a guard, so that
`if step % 10 == 0` stays a Python condition; beside a tensor it is an input of the graph. Whatever else needs its value
gets the value, and a guard.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from weft import dtypes
from weft.capture.state.guards import Guard, is_long
from weft.core import trace as trace_module
from weft.core.number import STORAGE, limits
from weft.core.run_number import KINDS, RunNumber
from weft.core.tensor import Tensor, wrap
from weft.dtypes import DType
from weft.ir.graph import Value
from weft.ir.sizes import (
    ATOM,
    COMPARISONS,
    SIZE_FUNCTIONS,
    Size,
    at_least,
    atoms_of,
    constrained,
    evaluated,
    inequalities,
    is_open_size,
    settled,
    spelled,
)
from weft.ir.types import TensorType

_LABEL_LIMIT: Final = 60
#: functions whose result depends on their arguments alone, and is a number if they are numbers
PURE: Final = frozenset(
    {
        abs, round, int, float, bool, min, max,
        *(f for name, f in vars(math).items() if callable(f) and name not in ("prod", "fsum", "dist", "sumprod")),
    }
)  # fmt: skip
#: what raises for no numbers (but for an int that is too large for a float)
_TOTAL: Final = frozenset(
    getattr(operator, name) for name in ("add", "sub", "mul", "neg", "pos", "lt", "le", "eq", "ne", "gt", "ge")
)


class CallNumber(RunNumber):
    """A Python number of the call, with its value in the call that is being captured.

    Whatever native code asks of it makes its value a constant of the capture.

    Args:
        numbers: the numbers of the capture.
        value: the value now.
        text: how to compute it, over the names of `parts`.
        label: the same in the user's terms.
        parts: the numbers in `text`.
    """

    __slots__ = ("numbers", "value", "text", "label", "parts", "name", "pinned", "tensor", "size", "compared")

    def __init__(self, numbers: Numbers, value: Any, text: str, label: str, parts: tuple[CallNumber, ...]) -> None:
        super().__init__(type(value))
        self.numbers = numbers
        self.value = value
        self.text = text
        self.label = label
        self.parts = parts
        #: the local variable of the entry that holds it, "" before it is needed
        self.name = ""
        self.pinned = False
        self.tensor: Tensor | None = None
        #: the same over the sizes that the graph leaves open; None if it depends on more
        self.size: Size = None
        #: the comparison and the sizes of which it is the result
        self.compared: tuple[Any, Size, Size] | None = None

    @property
    def is_size(self) -> bool:
        return self.size is not None and not self.pinned

    def __bool__(self) -> bool:
        return self.numbers.truth(self) if self.is_size else bool(self.constant())

    def attribute(self) -> Any:
        return self.size if self.is_size else self.constant()

    def operand(self, dtype: DType | None = None) -> Any:
        return self.numbers.operand(self, dtype)

    def constant(self) -> Any:
        return self.numbers.constant(self)


def _natively(name: str, function: Callable[..., Any], symbol: str, reflected: bool) -> Callable[..., Any]:
    """What a special method does where library code computes with the size of an axis: the size stays open."""
    asks: Callable[..., Any] = getattr(RunNumber, name)

    def method(self: CallNumber, *others: Any) -> Any:
        if not self.is_size or not all(map(_has_size, others)):
            return asks(self, *others)
        numbers = self.numbers
        if not others:
            return numbers.prefix(function, symbol, self)
        trace = trace_module.current()
        operands = (*others, self) if reflected else (self, *others)
        if trace is not None and trace.is_certain and function in _CERTAIN:
            decided = _decided(function, *map(_size_in, operands))
            if decided is None:
                raise trace_module.Undecided
            return decided
        found = numbers.infix(function, symbol, *operands)
        return numbers.constant(found) if type(found) is CallNumber and found.kind is bool else found

    method.__name__ = name
    return method


def _has_size(value: Any) -> bool:
    return type(value) is int or (type(value) is CallNumber and value.size is not None)


def _size_in(value: Any) -> Size | None:
    """An int, or the size that a number stands for; None for what is neither."""
    if type(value) is CallNumber:
        return None if value.size is None else value.attribute()
    return value if type(value) is int else None


#: operators that give a size for sizes, and comparisons of sizes
_ON_SIZES: Final = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "truediv": "/",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip
for _name, _symbol in _ON_SIZES.items():
    _function = getattr(operator, _name)
    setattr(CallNumber, f"__{_name}__", _natively(f"__{_name}__", _function, _symbol, False))
    if f"__r{_name}__" in dir(int):
        setattr(CallNumber, f"__r{_name}__", _natively(f"__r{_name}__", _function, _symbol, True))
setattr(CallNumber, "__neg__", _natively("__neg__", operator.neg, "-", False))  # noqa: B010  as those above
#: functions that give a size for sizes, as functions of these
_GIVE_SIZES: Final[dict[Any, Callable[..., Size]]] = {
    **{f: f for f in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg)},
    max: lambda *sizes: functools.reduce(SIZE_FUNCTIONS["max"], sizes),
    min: lambda *sizes: functools.reduce(SIZE_FUNCTIONS["min"], sizes),
    int: lambda size: size,
}
#: the comparisons, with what is certain of them where the difference of the operands is at least 1, at least 0 (bounds
#: 1 and 0), at most 0, or at most -1 (bounds -1 and -2)
_CERTAIN: Final[dict[Any, list[tuple[int, bool]]]] = {
    operator.lt: [(0, False), (-2, True)], operator.le: [(1, False), (-1, True)],
    operator.eq: [(1, False), (-2, False)], operator.ne: [(1, True), (-2, True)],
    operator.gt: [(1, True), (-1, False)], operator.ge: [(0, True), (-2, False)],
}  # fmt: skip


#: what holds where a comparison does not
_OTHERWISE: Final = {
    operator.lt: operator.ge, operator.le: operator.gt, operator.gt: operator.le, operator.ge: operator.lt,
    operator.eq: operator.ne, operator.ne: operator.eq,
}  # fmt: skip


_COMPARED: Final = {function: comparison for comparison, function in COMPARISONS.items()}


class ObjectId(int):
    """The `id()` of a tensor that the call brings, or of an object that it makes: what leaves is the id in the call.

    Calls bring and make new objects all the time, and programs use their ids as keys for a while, so it is not guarded.
    """

    obj: Any

    @classmethod
    def of(cls, obj: Any) -> ObjectId:
        """The id of an object."""
        made = cls(id(obj))
        made.obj = obj
        return made


def is_call_number(value: Any) -> bool:
    """Whether a value is a number that this capture knows by an expression."""
    return type(value) is CallNumber


def is_open(value: Any) -> bool:
    """Whether a value is a number that this capture knows by an expression, of which no value is guarded yet."""
    return type(value) is CallNumber and not value.pinned


class Numbers:
    """The call's numbers in one capture.

    Args:
        add: adds a guard to those of the capture; steps and conditions are appended.
    """

    def __init__(self, add: Callable[[Guard], None]) -> None:
        self._add = add
        #: local variables of the entry that hold numbers
        self.names: list[str] = []
        #: parameters of the graph that carry numbers, with the expressions that load them
        self.inputs: dict[Value, str] = {}
        #: the same with the numbers
        self.carried: dict[Value, CallNumber] = {}
        self._bases: dict[str, CallNumber] = {}
        #: the numbers for sizes that the graph leaves open, and among them the atoms, by name
        self._sizes: dict[Size, CallNumber] = {}
        #: what guards say of these sizes, in order
        self.facts: dict[str, None] = {}
        #: the same as it was compared, in order: what holds between two sizes, and where in the program
        self.conditions: dict[tuple[str, Size, Size], Any] = {}
        #: guards that need an open size to be one value, or that no comparison of sizes says: what, and where
        self.held: list[tuple[CallNumber, Any]] = []
        self._atoms: dict[str, CallNumber] = {}
        #: names a class or function in the scope of the guards
        self.spell: Callable[[Any, str], str] = lambda obj, prefix: ""

    def base(self, expression: str, value: Any, path: str) -> CallNumber:
        """A number loaded from outside; its type is guarded."""
        found = self._bases.get(expression)
        if found is None:
            kind = type(value)
            found = self._bases[expression] = CallNumber(self, value, expression, path, ())
            found.name = self._fresh()
            condition = f"({found.name} := {expression}).__class__ is {kind.__name__}"
            self._add(Guard(condition, "type", path, kind, expression))
        return found

    def call(self, function: Callable[..., Any], args: list[Any], text: str, label: str) -> Any:
        """The result of a pure function of numbers.

        Args:
            function: the function.
            args: its arguments, some of them `CallNumber`.
            text: the expression with a `{}` for each argument.
            label: the same in the user's terms.
        """
        values = [arg.value if type(arg) is CallNumber else arg for arg in args]
        sizes = [_size_in(arg) for arg in args]
        if None not in sizes and function in _CERTAIN and (decided := _decided(function, *sizes)) is not None:
            return decided
        try:
            value = function(*values)
        except Exception:
            for arg in args:
                if type(arg) is CallNumber:
                    self.constant(arg)
            raise
        if type(value) not in KINDS:
            return function(*[self.constant(arg) if type(arg) is CallNumber else arg for arg in args])
        parts = tuple([arg for arg in args if type(arg) is CallNumber])
        spelled = text.format(*["{}" if type(arg) is CallNumber else self._literal(arg) for arg in args])
        labels = [_enclosed(arg.label) if type(arg) is CallNumber else self._literal(arg) for arg in args]
        number = CallNumber(self, value, spelled, label.format(*labels), parts)
        if function in _CERTAIN and None not in sizes:
            number.compared = (function, sizes[0], sizes[1])
        if function in _GIVE_SIZES and None not in sizes:
            number.size = _GIVE_SIZES[function](*sizes)
            if not is_open_size(number.size):
                return value
        if function not in _TOTAL:  # computed by each call, whether it is needed or not: it may raise
            self.name_of(number)
        return number

    def open_size(self, expression: str, size: Size, value: int, path: str) -> None:
        """The size of an axis of a tensor from outside that the graph leaves open: one that is not 0.

        Args:
            expression: loads it.
            size: what stands for it in types.
            value: the size now.
            path: the same in the user's terms.
        """
        known = self._sizes.get(size)
        if known is not None:
            self._add(Guard(f"{expression} == {known.name}", "same size", path, value, expression))
            return
        number = self.base(expression, value, path)
        number.size = size
        self._add(Guard(f"{number.name} >= 1", "relation", f"{path} >= 1", True))
        self._sizes[size] = number
        self._atoms[str(size)] = number

    def of_size(self, size: Size) -> CallNumber:
        """The number for a size that the graph leaves open."""
        found = self._sizes.get(size)
        if found is None:
            text = spelled(size)
            parts = tuple([self._atoms[name] for name in atoms_of(size)])
            spelling = ATOM.sub(lambda name: "{" + name[0] + "}", text)
            for function in SIZE_FUNCTIONS:
                if f"{function}(" in text:
                    spelling = spelling.replace(f"{function}(", f"{self.spell(SIZE_FUNCTIONS[function], 'function')}(")
            order = {str(part.size): f"{{{position}}}" for position, part in enumerate(parts)}
            value = evaluated(size, {str(part.size): part.value for part in parts})
            label = spelling.format(**{str(part.size): _enclosed(part.label) for part in parts})
            found = self._sizes[size] = CallNumber(self, value, spelling.format(**order), label, parts)
            found.size = size
        return found

    def settle_sizes(self, value: Any) -> Any:
        """A value with ints in place of the open sizes in it, all of which are guarded from now on."""
        names = atoms_of(value)
        return settled(value, {name: self.constant(self._atoms[name]) for name in names})

    def pure(self, function: Any, args: list[Any]) -> Any:
        """The result of a function in `PURE`."""
        places = ", ".join("{}" for _ in args)
        name = self.spell(function, "function")
        return self.call(function, args, f"{name}({places})", f"{function.__name__}({places})")

    def infix(self, function: Callable[..., Any], symbol: str, left: Any, right: Any) -> Any:
        """The result of an operator between two numbers."""
        return self.call(function, [left, right], f"({{}} {symbol} {{}})", f"{{}} {symbol} {{}}")

    def prefix(self, function: Callable[..., Any], symbol: str, value: Any) -> Any:
        """The result of an operator on one number."""
        return self.call(function, [value], f"({symbol}{{}})", f"{symbol}{{}}")

    def name_of(self, number: CallNumber) -> str:
        """The local variable of the entry that holds a number; computes it there."""
        if not number.name:
            text = number.text.format(*[self.name_of(part) for part in number.parts])
            number.name = self._fresh()
            kind = type(number.value).__name__
            self._add(Guard(f"({number.name} := {text}).__class__ is {kind}", "compute", number.label))
        return number.name

    def constant(self, number: CallNumber) -> Any:
        """The value, guarded from now on."""
        if not number.pinned:
            name, value = self.name_of(number), number.value
            if type(value) is bool:
                self._add(Guard(name if value else f"not {name}", "relation", number.label, value))
            elif type(value) is float and (value == 0 or value != value):
                self._add(Guard(f"repr({name}) == {repr(value)!r}", "pinned", number.label, value, name))
            else:
                kind = "pinned" if number.size is None else "size"
                self._add(Guard(f"{name} == {self._literal(value)}", kind, number.label, value, name))
            number.pinned = True
            if number.compared is None and self._depends(number):
                self.held.append((number, _place()))
            if number.size is not None:
                self._note_facts(operator.eq, number.size, value)
            elif number.compared is not None:
                function, left, right = number.compared
                self._note_facts(function if value else _OTHERWISE[function], left, right)
        return number.value

    def _note_facts(self, function: Any, left: Size, right: Size) -> None:
        """Note what a guard says of the sizes that the graph leaves open."""
        comparison = _COMPARED[function]
        self.conditions.setdefault((comparison, left, right), _place())
        self.facts.update(dict.fromkeys(inequalities(comparison, left, right)))

    def fixed(self) -> Iterator[tuple[CallNumber, Any]]:
        """The open sizes of which the guards leave one value only, and where in the program."""
        sizes = constrained(list(self._atoms), self.facts) if self.facts else {}
        for name, size in sizes.items():
            number = self._atoms[name]
            if at_least(size, number.value) and at_least(-size, -number.value):
                last = [place for (_, *sides), place in self.conditions.items() if name in atoms_of(tuple(sides))][-1]
                yield number, last

    def _depends(self, number: CallNumber) -> bool:
        """Whether a number depends on a size that the graph leaves open."""
        return number.size is not None or any(map(self._depends, number.parts))

    def truth(self, number: CallNumber) -> bool:
        """Whether a number counts as true, guarded; its value stays open."""
        if type(number.value) is not bool:
            number = self.call(operator.ne, [number, 0], "({} != {})", "{} != {}")
        return bool(self.constant(number) if type(number) is CallNumber else number)

    def operand(self, number: CallNumber, dtype: DType | None = None) -> Any:
        """The number as an input of the graph; one that does not fit the graph stays a constant."""
        value = number.value
        least, most = limits(dtype if dtype is not None and dtype.category == 1 else dtypes.int64)
        is_cut = type(value) is float and dtype is not None and dtype.category == 1  # Python's `int` of it
        fits = least - 1 < value < most + 1 if is_cut else type(value) is not int or least <= value <= most
        if number.pinned or not fits:
            return self.constant(number)
        if number.tensor is None:
            trace = trace_module.current()
            assert trace is not None
            name, kind = self.name_of(number), type(value)
            param = trace.root.add_param(TensorType.of(STORAGE[kind], (), kind), "")
            self.inputs[param] = f"{self.spell(STORAGE[kind].np_dtype.type, 'object')}({name})"
            self.carried[param] = number
            number.tensor = wrap(param)
        if number.kind is int:
            self._add(Guard(f"{least} <= {self.name_of(number)} <= {most}", "relation", number.label, True))
        elif is_cut:
            self._add(Guard(f"{least - 1} < {self.name_of(number)} < {most + 1}", "relation", number.label, True))
        return number.tensor

    def _fresh(self) -> str:
        self.names.append(f"n{len(self.names)}")
        return self.names[-1]

    def _literal(self, value: Any) -> str:
        if type(value) is float and not math.isfinite(value):
            return f"float('{value}')"
        if is_long(value):
            return self.spell(value, "constant")
        return f"({value!r})" if repr(value)[:1] == "-" else repr(value)


def _decided(function: Callable[..., Any], left: Size, right: Size) -> bool | None:
    """The result of a comparison of sizes, None where it depends on the call."""
    difference = left - right
    if not is_open_size(difference):
        found: bool = function(difference, 0)
        return found
    for bound, certain in _CERTAIN[function]:
        if at_least(difference, bound) if bound >= 0 else at_least(-difference, -bound - 1):
            return certain
    return None


def _place() -> Any:
    """What tells where the program is that is captured."""
    trace = trace_module.current()
    return None if trace is None or trace.location is None else trace.location()


def _enclosed(label: str) -> str:
    short = label if len(label) <= _LABEL_LIMIT else label[: _LABEL_LIMIT - 3] + "..."
    return f"({short})" if " " in short and not short.startswith("global ") else short
