"""Reading and writing objects as Python does, entering the user's own special methods like any user code."""

from __future__ import annotations

import array
import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.capture.meaning import arithmetic
from weft.capture.meaning.gate import COPYING, Reads
from weft.capture.meaning.impostors import impostor, impostor_of, unsupported_operands
from weft.capture.meaning.lookups import is_in, item_at
from weft.capture.meaning.native import is_hashed_freely
from weft.capture.meaning.parts import Part
from weft.capture.meaning.ranges import SymbolicRange
from weft.capture.meaning.texts import percent, texted
from weft.capture.python.classes import MISSING, class_attribute
from weft.capture.python.containers import is_container
from weft.capture.python.packages import is_ours
from weft.capture.sources.numbers import CallNumber, is_open
from weft.capture.state.frame import Frame
from weft.capture.state.journal import Journaled
from weft.capture.state.lazytext import LazyText, needs_characters
from weft.capture.state.memory import owner_of_memory
from weft.core.choice import Case, Choice, choose
from weft.core.choice import refuse as refuse_choice
from weft.core.number import GraphNumber, require
from weft.core.run_number import RunNumber, settled
from weft.core.tensor import Parameter, Tensor
from weft.errors import Refusal, Unsupported
from weft.ops.select import where

PLAIN: Final = frozenset(
    {
        int, float, bool, str, complex, bytes, tuple, list, dict, set, frozenset, type(None), range, slice, Tensor,
        Parameter, Choice,
    }
)  # fmt: skip
#: operator functions in the order of CPython's BINARY_OP argument, with their special methods
BINARY: Final = tuple(
    (getattr(operator, function), f"__{name}__", f"__r{name}__")
    for function, name in (
        ("add", "add"), ("and_", "and"), ("floordiv", "floordiv"), ("lshift", "lshift"), ("matmul", "matmul"),
        ("mul", "mul"), ("mod", "mod"), ("or_", "or"), ("pow", "pow"), ("rshift", "rshift"), ("sub", "sub"),
        ("truediv", "truediv"), ("xor", "xor"),
    )
)  # fmt: skip
INPLACE: Final = tuple((getattr(operator, "i" + method.strip("_")), "__i" + method[2:]) for _, method, _ in BINARY)
COMPARE: Final = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
#: operators in the same order, and those of one operand, as they are written
_SYMBOLS: Final = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
_PREFIX: Final = {"UNARY_NEGATIVE": "-", "UNARY_POSITIVE": "+", "UNARY_INVERT": "~"}
UNARY: Final = {
    "UNARY_NEGATIVE": (operator.neg, "__neg__"),
    "UNARY_POSITIVE": (operator.pos, "__pos__"),
    "UNARY_INVERT": (operator.invert, "__invert__"),
}
#: the `__format__` that gives `str(value)` for an empty specification
_FORMAT_BY_STR: Final = tuple(kind.__dict__["__format__"] for kind in (object, int, float, complex, str))
#: what a class may have for a special method that Python does not call with the object
_UNBOUND: Final = (staticmethod, classmethod, functools.partial)
#: native classes whose `+` and `*` come after the other operand's special methods
SEQUENCES: Final = (list, tuple, str, bytes, bytearray, deque)


def leaf_kind(value: Any) -> Any:
    """What values must have in common for the graph to choose between them; None for what it cannot hold."""
    if isinstance(value, Tensor):
        return value.type
    return arithmetic.kind_of(value) if arithmetic.is_number(value) else None


class Objects(Part):
    """The part of the interpreter that reads and writes objects."""

    def user_method(self, obj: Any, name: str) -> types.FunctionType | None:
        """The special method of an object if it is Python code that must be entered."""
        kind = type(obj)
        if kind in PLAIN:
            return None
        found = self.look_up(kind, name)
        if not isinstance(found, types.FunctionType):
            return None
        if self.machine.calls.is_native(found, obj):
            self.machine.calls.note_native([obj])
            if not is_ours(found):  # it may read whatever is there
                self.sources.inside(obj)
            return None
        return found

    def look_up(self, kind: type, name: str) -> Any:
        """`class_attribute`, guarded: the class may be changed before the next call."""
        return self.sources.look_up(kind, name)

    # -- operators ---------------------------------------------------------------------------------------------------

    def binary(self, number: int, left: Any, right: Any) -> Any:
        """`left <op> right`, or the in-place form for numbers from 13."""
        inplace = number >= len(BINARY)
        function, method, reflected = BINARY[number % len(BINARY)]
        if issubclass(type(left), RunNumber) or issubclass(type(right), RunNumber):
            if arithmetic.is_number(left) and arithmetic.is_number(right):
                return self.of_numbers(function, _SYMBOLS[number % len(BINARY)], left, right)
            left, right = self._beside(left, right), self._beside(right, left)
        if type(left) is str and method == "__mod__" and self.user_method(right, "__rmod__") is None:
            return percent(self.machine, function, left, right)
        if inplace and method == "__or__" and self.machine.natives.updated(left, [right], {}):
            return left
        copies = method in COPYING and (is_container(left) or is_container(right))
        copied = copies and (not inplace or type(left) is tuple)
        if not (inplace and method == "__add__" and type(left) is list):  # which is only extended
            self.gate.operand(left, copied)
        self.gate.operand(right, copies)
        if type(left) in PLAIN and type(right) in PLAIN:
            left, right, compared = self.gate.operands(left, right, copied, copies)
            if method == "__mod__" and isinstance(left, bytes):  # which shows all of what it is given
                right = self.gate.read(Reads.ALL, right)
            if inplace:
                if type(left) is list and method == "__add__" and type(right) in (list, tuple):
                    self.journal.touch_list(left, "extend", [None] * len(right))
                elif not isinstance(left, (int, float, str, tuple, Tensor)) or isinstance(left, Parameter):
                    self.touch_if_mutable(left)
                result = self.machine.native.call(compared, INPLACE[number % len(BINARY)][0], left, right)
                return result if result is left else self.machine.made_if_container(result)
            return self.machine.made_if_container(self.machine.native.call(compared, function, left, right))
        left, right = self.machine.arrays.operands(left, right)
        self.machine.arrays.refuse_opaque(left, right)
        if method == "__add__" and self._are_texts(left, right, inplace):
            return LazyText.join((left, right))
        if inplace:
            inplace_function, inplace_name = INPLACE[number % len(BINARY)]
            own = self.user_method(left, inplace_name)
            if own is not None:
                result = self.machine.calls.call(own, [left, right], {})
                if result is not NotImplemented:
                    return result
            elif class_attribute(type(left), inplace_name) is not MISSING:
                self.touch_if_mutable(left)
                if isinstance(left, SEQUENCES) and (other := self.user_method(right, reflected)) is not None:
                    result = self.machine.calls.call(other, [right, left], {})
                    if result is not NotImplemented:
                        return result
                right = self.machine.natives.sequence_argument(self.gate.carried(right, copies))
                return self.machine.native.call((left, right), inplace_function, left, right)
        shown = INPLACE[number % len(BINARY)][0] if inplace else function
        own, other = self.user_method(left, method), self.user_method(right, reflected)
        if own is None and other is None:
            for value in (left, right):
                if not is_container(value):  # of which the items do not matter here
                    self.sources.inside(value)
            left, right, compared = self.gate.operands(left, right, copied, copies)
            return self.machine.made_if_fresh(self.machine.native.call(compared, shown, left, right))
        self.gate.operand(left, False)
        self.gate.operand(right, False)
        return self.binary_by(shown, method, reflected, left, right)

    def binary_by(self, function: Any, method: str, reflected: str, left: Any, right: Any) -> Any:
        """A binary operation where one operand's special methods are a user's; `function` words the refusal."""
        for asked, first, second in self.asked_in_turn(method, reflected, left, right):
            user = isinstance(asked, types.FunctionType) and not self.machine.calls.is_native(asked, first)
            result = (
                self.machine.calls.call(asked, [first, second], {})
                if user
                else self.machine.native.call((first, second), asked, first, second)
            )
            if result is not NotImplemented:
                return result
        return unsupported_operands(function, left, right)

    def asked_in_turn(self, method: str, reflected: str, left: Any, right: Any) -> list[tuple[Any, Any, Any]]:
        """The special methods that a binary operator asks until one has an answer, each with its two arguments."""
        own, other = self.user_method(left, method), self.user_method(right, reflected)
        right_first = other is not None and (
            (
                type(right) is not type(left)
                and issubclass(type(right), type(left))
                and class_attribute(type(left), reflected) is not other
            )
            or (own is None and isinstance(left, SEQUENCES) and method in ("__add__", "__mul__"))
        )
        order = [(own, left, right, method), (other, right, left, reflected)]
        asked: list[tuple[Any, Any, Any]] = []
        for user, first, second, name in reversed(order) if right_first else order:
            kind = type(first)
            defined = class_attribute(kind, name)
            if user is None and isinstance(defined, _UNBOUND):  # Python binds it otherwise than a method
                raise Unsupported(
                    Refusal.UNSUPPORTED_SYNTAX, f"{kind.__name__}.{name} is a {type(defined).__name__}, not a method"
                )
            found = user or (None if defined is MISSING else getattr(kind, name, None))
            if found is not None and not (name == reflected and kind is type(second)):
                asked.append((found, first, second))
        return asked

    def of_numbers(self, function: Any, symbol: str, left: Any, right: Any) -> Any:
        """The result of an operator on two numbers of which one is not known."""
        if arithmetic.is_graph_number(left) or arithmetic.is_graph_number(right):
            return arithmetic.binary(function, left, right)
        return self.sources.numbers.infix(function, symbol, left, right)

    def _are_texts(self, left: Any, right: Any, inplace: bool) -> bool:
        """Whether two operands are texts, one of them not complete, and neither has a special method of the user's."""
        return (
            LazyText in (type(left), type(right))
            and all(issubclass(type(value), (str, LazyText)) for value in (left, right))
            and self.user_method(left, "__add__") is None
            and self.user_method(right, "__radd__") is None
            and not (inplace and self.user_method(left, "__iadd__"))
        )

    def _beside(self, value: Any, other: Any) -> Any:
        """An operand that may be a run-time number: an operand of the graph beside a tensor, else a constant."""
        return value if isinstance(other, Tensor) else settled(value)

    def unary(self, name: str, value: Any) -> Any:
        """`-value`, `+value` or `~value`."""
        function: Any
        function, method = UNARY[name]
        self.machine.arrays.refuse_opaque(value)
        if type(value) is GraphNumber:
            return arithmetic.unary(function, value)
        if issubclass(type(value), RunNumber):
            return self.sources.numbers.prefix(function, _PREFIX[name], value)
        own = self.user_method(value, method)
        return self.machine.made_if_fresh(function(value)) if own is None else self.machine.calls.call(own, [value], {})

    def compare(self, symbol: str, left: Any, right: Any) -> Any:
        """`left <symbol> right`."""
        function, method, reflected = COMPARE[symbol]
        if issubclass(type(left), RunNumber) or issubclass(type(right), RunNumber):
            if arithmetic.is_number(left) and arithmetic.is_number(right):
                return self.of_numbers(function, symbol, left, right)
            left, right = self._beside(left, right), self._beside(right, left)
        if is_container(left) or is_container(right):
            left, right = [v if self.is_of_graph(v) else self.gate.read(Reads.ALL, v) for v in (left, right)]
        if type(left) in PLAIN and type(right) in PLAIN:
            return self.machine.native.call((left, right), function, left, right)
        left, right = self.machine.arrays.operands(left, right)
        self.machine.arrays.refuse_opaque(left, right)
        names = (method, reflected) if symbol != "!=" else (method, reflected, "__eq__")
        if all(self.user_method(obj, name) is None for obj in (left, right) for name in names):
            return self.machine.native.call((left, right), function, left, right)
        sides = [(left, right, method), (right, left, reflected)]
        if type(left) is not type(right) and issubclass(type(right), type(left)):
            sides.reverse()
        for first, second, name in sides:
            result = self._compare_by(first, second, name)
            if result is not NotImplemented:
                return result
        if symbol in ("==", "!="):
            self.sources.distinct(left, right)
            return (left is right) == (symbol == "==")
        return unsupported_operands(function, left, right)

    def _compare_by(self, obj: Any, other: Any, name: str) -> Any:
        """What one operand's special method says of a comparison."""
        own = self.user_method(obj, name)
        if own is not None:
            return self.machine.calls.call(own, [obj, other], {})
        found = class_attribute(type(obj), name)
        if found is MISSING:
            return NotImplemented
        if found is object.__ne__:
            result = self._compare_by(obj, other, "__eq__")
            if result is NotImplemented:
                return result
            truth = self.truth(result)
            return (not truth) if type(truth) is bool else arithmetic.negated(truth)
        if hasattr(type(found), "__get__"):
            bound = getattr(obj, name, None) if type(obj) is type(None) else found.__get__(obj, type(obj))
            return (
                bound(other)
                if isinstance(bound, types.MethodWrapperType)
                else self.machine.calls.call(bound, [other], {})
            )
        return self.machine.calls.call(found, [other], {})

    def contains(self, container: Any, item: Any) -> Any:
        """`item in container`."""
        self.machine.arrays.refuse_opaque(container, item)
        own = self.user_method(container, "__contains__")
        if own is not None:
            return self.truth(self.machine.calls.call(own, [container, item], {}))
        if type(container) in (list, tuple) and any(map(self.is_of_graph, (item, *container))):
            self.sources.inside(container)
            self.sources.inside(item)
            found: Any = False
            for other in container:
                equal = self.same_or_equal(other, item)
                if equal is True:
                    return True
                if equal is not False:
                    found = equal if found is False else arithmetic.disjunction(found, equal)
            return found
        if (answer := is_in(self.machine, container, item)) is not None:
            return answer
        item = self.gate.read(Reads.ALL, item)
        if isinstance(container, (dict, set, frozenset)):
            self.sources.has(container, item)
        else:
            container = self.gate.read(Reads.ALL, container)
        if type(container) in PLAIN or class_attribute(type(container), "__contains__") is not MISSING:
            hashed = isinstance(container, (dict, set, frozenset))
            return self.machine.native.call(
                (item,) if hashed else (item, container), operator.contains, container, item
            )
        if not self.machine.iteration.is_iterable(container):
            return operator.contains(container, item)  # Python's own error
        for other in self.machine.iteration.get_iter(container):  # noqa: SIM110 - no generator: its frame would turn StopIteration
            if self.same_or_equal(other, item):
                return True
        return False

    def same_or_equal(self, one: Any, other: Any) -> Any:
        """What native code takes for equal: the same object, or one that compares equal."""
        if Choice in (type(one), type(other)) and one is not other:
            refuse_choice("it is looked for among others")
        return one is other or self.truth(self.compare("==", one, other))

    def is_of_graph(self, value: Any) -> bool:
        """Whether only the running graph knows the value of a tensor or a number."""
        return type(value) is GraphNumber or (isinstance(value, Tensor) and self.machine.is_runtime(value))

    def truth(self, value: Any) -> Any:
        """The truth of a value: a bool, or a number of the graph where only that knows it."""
        self.machine.arrays.refuse_opaque(value)
        if type(value) is GraphNumber:
            return arithmetic.converted(bool, value)
        if issubclass(type(value), RunNumber):
            return self.sources.numbers.truth(value)
        if isinstance(value, Tensor):
            if not value.is_symbolic and id(value) in self.trace.created:
                return bool(value)
            if value.size != 1:
                raise ValueError(
                    f"the truth value of a tensor with {value.size} elements is ambiguous; use .any() or .all()"
                )
            return arithmetic.converted(bool, value)
        if type(value) is SymbolicRange:
            return value.is_filled()
        own = self.user_method(value, "__bool__")
        if own is not None:
            result = self.machine.calls.call(own, [value], {})
            if arithmetic.is_number(result) and arithmetic.kind_of(result) is bool:
                return self.truth(result)
            if not isinstance(result, bool):
                raise TypeError(f"__bool__ should return bool, returned {type(result).__name__}")
            return result
        own = self.user_method(value, "__len__")
        if own is not None and class_attribute(type(value), "__bool__") is MISSING:
            count = self.machine.calls.call(own, [value], {})
            return bool(impostor(value, __len__=lambda _: count))
        self.sources.length(value)
        return bool(value)

    # -- items -------------------------------------------------------------------------------------------------------

    def get_item(self, obj: Any, key: Any) -> Any:
        """`obj[key]`."""
        self.machine.arrays.refuse_opaque(obj, key)
        own = self.user_method(obj, "__getitem__")
        if own is not None:
            return self.machine.calls.call(own, [obj, key], {})
        if isinstance(obj, (list, tuple)) and self.is_of_graph(key) and arithmetic.is_integral(key):
            self.sources.contents(obj)
            return self.pick(obj, key if type(key) is GraphNumber else arithmetic.converted(int, key))
        if type(obj) is SymbolicRange and arithmetic.is_number(key) and arithmetic.kind_of(key) is not float:
            return obj.item(key)
        if isinstance(obj, Tensor):
            self.sources.inside(key)
        elif (found := item_at(self.machine, obj, key)) is not None:
            return found
        else:
            key = self.gate.read(Reads.ALL, key)
        misses = type(obj) is not dict and issubclass(type(obj), dict)
        misses = misses and self.look_up(type(obj), "__missing__") is not MISSING
        if misses and not self.machine.native.call((key,), dict.__contains__, obj, key):
            self.sources.has(obj, key)
            return self.machine.natives.missing_item(obj, key)
        if isinstance(obj, Journaled):
            return impostor_of(obj)[key]
        if isinstance(obj, type):
            found = class_attribute(type(obj), "__getitem__")
            if found is MISSING:
                item = class_attribute(obj, "__class_getitem__")
                if isinstance(item, classmethod) and isinstance(item.__func__, types.FunctionType):
                    return self.machine.calls.call(item.__func__, [obj, key], {})
        if type(key) is slice:
            obj = self.gate.carried(obj)
            return self.machine.made_if_container(self.machine.native.call((), operator.getitem, obj, key))
        try:
            if type(key) in (int, str):
                value = obj[key]
            else:
                value = self.machine.native.call((key,) if isinstance(obj, dict) else (), operator.getitem, obj, key)
        except LookupError:
            self.sources.has(obj, key) if isinstance(obj, dict) else self.sources.length(obj)
            raise
        return self.sources.item(obj, key, value)

    def pick(self, items: Any, position: GraphNumber) -> Any:
        """The item of a sequence at a position that only the running graph knows: all items must be alike."""
        kinds = {leaf_kind(item) for item in items}
        if len(kinds) != 1 or None in kinds:
            raise Unsupported(
                Refusal.TENSOR_VALUE,
                f"which item of this {type(items).__name__} is meant depends on a tensor, and the items are not alike",
                "index a stacked tensor, or choose with if/elif on the index",
            )
        index, count = position.tensor, len(items)
        require((index >= -count) & (index < count), f"whether an index fits a {type(items).__name__} of {count} items")
        (kind,) = kinds
        numbers = isinstance(kind, type)
        #: where each item stands: tensors by their identity, numbers by their place
        cases: dict[int, tuple[Any, Tensor]] = {}
        for number, item in enumerate(items):
            here = (index == number) | (index == number - count)
            key = number if numbers else id(item)
            cases[key] = (item, cases[key][1] | here if key in cases else here)
        *others, (last, _) = cases.values()
        if not others:
            return last
        chosen = arithmetic.tensor_of(last) if numbers else last
        for item, here in reversed(others):
            chosen = where(here, arithmetic.tensor_of(item) if numbers else item, chosen)
        if numbers:
            return arithmetic.number(chosen, kind)
        return choose([Case(item, here) for item, here in cases.values()], chosen, self.trace.graph)

    def set_item(self, obj: Any, key: Any, value: Any) -> None:
        """`obj[key] = value`."""
        self.machine.arrays.refuse_opaque(obj, key, value)
        own = self.user_method(obj, "__setitem__")
        if own is not None:
            self.machine.calls.call(own, [obj, key, value], {})
            return
        if isinstance(obj, Tensor):  # which notes its own writes
            self.sources.inside(key)
            self.sources.inside(value)
        else:
            key = self.gate.read(Reads.ALL, key)
            if isinstance(key, slice):
                self.sources.contents(obj)
                value = self.gate.carried(value)
            elif isinstance(obj, (list, deque)):
                self.sources.length(obj)
            self.sources.identity(key)
            self._read_old_item(obj, key, value)
            if isinstance(obj, list) and type(key) is int:
                self.journal.touch_list(obj, "__setitem__", key, None)
            else:
                self.touch_if_mutable(obj)
            if isinstance(key, slice) and isinstance(obj, list):
                items = self.machine.natives.iterable_argument(value)  # it is the iterator that is asked for its length
                value = items if items is value else self.machine.iteration.listed(items)
        self.machine.native.call((key,) if isinstance(obj, dict) else (), operator.setitem, obj, key, value)

    def _read_old_item(self, obj: Any, key: Any, value: Any) -> None:
        if not isinstance(obj, (list, dict)) or not self.sources.is_known(obj):
            return
        if isinstance(obj, list) and not isinstance(key, int):
            self.sources.contents(obj)
            return
        if isinstance(obj, dict) and not is_hashed_freely(key):  # which of the items it replaces only the program knows
            if any(held is value for held in (*dict.values(obj), *self.journal.first_values(obj))):
                self.sources.contents(obj)
            return
        try:  # asking a `defaultdict` itself would make the item
            old = list.__getitem__(obj, key) if isinstance(obj, list) else dict.get(obj, key, MISSING)
        except IndexError:
            return
        now, first = self.sources.item, self.sources.first_item
        self.read_old(obj, key, old, value, lambda held: (now if held is old else first)(obj, key, held))

    def delete_item(self, obj: Any, key: Any) -> None:
        """`del obj[key]`."""
        own = self.user_method(obj, "__delitem__")
        if own is not None:
            self.machine.calls.call(own, [obj, key], {})
            return
        key = self.gate.read(Reads.ALL, key)
        if isinstance(obj, list) and type(key) is int:
            self.sources.length(obj)
            self.journal.touch_list(obj, "__delitem__", key)
        else:
            self.sources.has(obj, key) if isinstance(obj, dict) else self.sources.contents(obj)
            self.touch_if_mutable(obj)
        self.machine.native.call((key,) if isinstance(obj, dict) else (), operator.delitem, obj, key)

    def touch_if_mutable(self, obj: Any) -> None:
        """Note an object in the journal before native code writes to it."""
        if isinstance(obj, (np.ndarray, array.array, memoryview)):
            if type(obj) is np.ndarray and not obj.dtype.hasobject and self.journal.is_of_now(owner_of_memory(obj)):
                return  # it goes with the capture
            kind = "a NumPy array" if isinstance(obj, np.ndarray) else f"a {type(obj).__name__}"
            raise Unsupported(
                Refusal.UNKNOWN_CALL, f"{kind} is written inside a graph", "use a Tensor for values of the graph"
            )
        if not isinstance(obj, (int, float, str, bytes, tuple, frozenset, Tensor)):
            self.journal.touch(obj)

    def depends_on_old(self, old: Any, value: Any) -> bool:
        """Whether a place's contents after a write depend on those before: a write of the same object would not be
        seen among the changes, and one on the side of a branch leaves the old contents on the other side.
        """
        return old is value or self.journal.on_a_side()

    def read_old(
        self, holder: Any, key: Any, old: Any, value: Any, read: Callable[[Any], Any], named: bool = False
    ) -> None:
        """Read what a write replaces, where the place's contents after it depend on that.

        Args:
            holder: the dictionary, list, closure cell or object with slots that is about to be written.
            key: the place in it.
            old: what it holds, `MISSING` if nothing.
            value: what is written.
            read: reads what the place holds from outside.
            named: whether the place is an attribute of a class or a slot.
        """
        if value is not old and value is self.journal.original_at(holder, key, named):  # it will seem kept
            with self.sources.constants():
                read(value)
        if old is MISSING or not self.depends_on_old(old, value):
            return
        if type(old) not in (int, float) or not self.journal.on_a_side() or not self.journal.can_exchange(holder):
            with self.sources.constants():
                read(old)
        elif type(number := read(old)) is CallNumber:
            self.journal.exchange(holder, key, number)

    # -- names -------------------------------------------------------------------------------------------------------

    def read_global(self, frame: Frame, name: str) -> Any:
        """A global or builtin name."""
        if type(frame.globals) is not dict:
            raise Unsupported(
                Refusal.UNSUPPORTED_SYNTAX,
                f"the globals are a {type(frame.globals).__name__}",
                "use a plain dictionary",
            )
        value = frame.globals.get(name, MISSING)
        if value is MISSING:
            value = frame.builtins.get(name, MISSING)
            if value is MISSING:
                self.sources.is_defined(frame.globals, name, False)
                self.sources.is_defined(frame.builtins, name, False, "builtins")
                raise NameError(f"name '{name}' is not defined", name=name)
            if not frame.transparent:
                self.sources.builtin(frame.globals, frame.builtins, name, value)
            return value
        if frame.transparent:
            return value
        return self.sources.global_(frame.globals, name, value)

    def read_cell(self, cell: types.CellType, value: Any, name: str = "") -> Any:
        """The contents of a closure cell."""
        return value if id(value) in self.created else self.sources.cell(cell, value, name)

    # -- text ---------------------------------------------------------------------------------------------------------

    def format(self, value: Any, spec: Any) -> Any:
        """`format(value, spec)`; a symbolic tensor gives text that is completed when the graph runs."""
        self.machine.arrays.refuse_opaque(value)
        if isinstance(spec, LazyText):
            raise needs_characters()
        if type(value) is GraphNumber or is_open(value):
            return LazyText.of(value, self.gate.read(Reads.ALL, spec))
        if isinstance(value, LazyText):
            if spec:
                raise needs_characters()
            return value
        self.sources.inside(value)
        spec = self.gate.read(Reads.ALL, spec)
        if issubclass(type(value), RunNumber):
            value = value.constant()
        own = self.user_method(value, "__format__")
        if own is not None:
            text = self.machine.calls.call(own, [value, spec], {})
            return text if isinstance(text, (str, LazyText)) else format(impostor(value, __format__=lambda *_: text))
        if not spec and class_attribute(type(value), "__format__") in _FORMAT_BY_STR:
            return self.machine.calls.call(str, [value], {})
        if isinstance(value, Journaled):
            return format(impostor_of(value), spec) if spec else self.machine.calls.call(str, [value], {})
        return texted(self.machine, (value,), format, value, spec)
