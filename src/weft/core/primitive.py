"""What a primitive is: a name, a JAX implementation, traits, an optional derivative rule, sample inputs."""

from __future__ import annotations

import functools
import hashlib
import re
import weakref
from collections.abc import Callable
from marshal import dumps, loads
from typing import Any, ClassVar, Final

import jax

from weft import dtypes, lazily
from weft._jax_compat import compiled_programs, on_compilation, without_notes
from weft.cache import inferred
from weft.cache.programs import compiled
from weft.ir.sizes import has_open, is_open_size
from weft.ir.types import TensorType

#: effects a primitive may have; passes ask for these, never for names
PURE = "pure"
RANDOM = "random"  # reads and advances the random stream
READ = "read"  # depends on what lies outside when the graph runs
IO = "io"  # visible outside the program, ordered: takes a token first and gives one first
ACROSS = "across"  # meets other processes, which come to the same ones in the same order

#: version of the marshal format whose bytes depend on values only (later ones note shared objects)
PACKED: Final = 2
#: results of inference that a primitive remembers
_TYPES: Final = 512
#: compiled programs that a primitive keeps, for all attributes and shapes together; beyond it all are dropped
PROGRAMS: Final = 192
#: compilations between two times that the programs are counted
_COUNTED: Final = 32
#: classes whose values, left as they are, equal nothing else in a key
_OWN: Final = frozenset({int, str, type(None), dtypes.DType})
#: the words of an annotation
_WORDS: Final = re.compile(r"\w+")
_PACKABLE: Final = frozenset({int, str, type(None), bool, float, complex})


def exact(value: Any) -> Any:
    """An attribute value, or a tuple of them, as a key that tells ``1`` from ``True`` and ``0.0`` from ``-0.0``."""
    kind = value.__class__
    if kind is tuple:
        for item in value:
            if item.__class__ not in _OWN:
                return tuple([exact(item) for item in value])
        return value
    if kind in _OWN:
        return value
    return (kind, repr(value) if kind is float or kind is complex else value)


def _integral(annotation: Any) -> bool:
    """Whether an annotation, as written, admits integers only: ``int``, ``tuple[int, ...]``, ``int | None``..."""
    words = set(_WORDS.findall(annotation)) if isinstance(annotation, str) else set()
    return "int" in words and words <= {"int", "tuple", "None"}


def _stray(value: Any) -> Any:
    """The first among attribute values that is no integer, or None."""
    if value.__class__ is tuple:
        return next((found for item in value if (found := _stray(item)) is not None), None)
    return None if hasattr(value, "__index__") or is_open_size(value) else value


#: a text of this length is kept as its digest
_LONG: Final = 256
#: the Python numbers for which a value may stand, by name
_WEAK: Final[dict[str | None, type | None]] = {None: None, "bool": bool, "int": int, "float": float}


def _on(text: str, inputs: tuple[TensorType | None, ...]) -> str:
    """The text of an operation on operands of some types."""
    operands = [None if t is None else (t.dtype.name, t.shape, t.weak and t.weak.__name__) for t in inputs]
    text = f"{text} {operands!r}"
    return text if len(text) < _LONG else hashlib.sha256(text.encode()).hexdigest()


def _has_text(value: Any) -> bool:
    kind = value.__class__
    return kind in _PACKABLE or kind is dtypes.DType or (kind is tuple and all(map(_has_text, value)))


def _packable(value: Any) -> bool:
    return value.__class__ in _PACKABLE or (value.__class__ is tuple and all(map(_packable, value)))


class Primitive:
    """One computation that every mode knows by name.

    Args:
        name: CamelCase name, unique; shown in IR text.
        implementation: JAX function; arrays positional, attributes keyword.
        attr_names: names of the static attributes, in the order of the attribute tuple.
        outputs: None for a single array, else the implementation returns a tuple.
        effect: `PURE`, `RANDOM`, `READ`, `IO` or `ACROSS`.
        promotes: whether a Python number among the operands takes the tensors' dtype; where False it
            becomes a tensor by itself.
        commutative: whether the operands may be swapped.
        elementwise: whether each output element depends on the same element of the operands only.
        derivative: ``rule(*inputs, out, dout, **attrs) -> gradients``, written with framework operations;
            None asks for the one that JAX derives from the implementation.
        no_gradient: why no derivative exists (integer result...), in place of a rule.
        required: how many of the first operands may not be left out.
    """

    __slots__ = (
        "name", "implementation", "attr_names", "multiple", "effect", "promotes", "commutative", "elementwise",
        "derivative", "no_gradient", "rule_version", "executables", "types", "pullbacks", "generic",
        "packs", "asks", "known_as", "required", "conditional", "__weakref__",
    )  # fmt: skip
    table: ClassVar[dict[str, Primitive]] = {}
    #: all primitives, those without a name in the table too
    everyone: ClassVar[weakref.WeakSet[Primitive]] = weakref.WeakSet()
    #: makes primitives that have no place in the table, by the name under which other processes know them
    makers: ClassVar[dict[str, Callable[[], Primitive]]] = {}
    #: counts the replacements of derivative rules, so that graphs derived before are derived again
    rules_epoch: ClassVar[int] = 0

    @classmethod
    def made_for(cls, owner: type, make: Callable[[], Primitive]) -> None:
        """Other processes may ask for the primitive of a class; not if it is inside of a function, as they cannot.

        Args:
            owner: the class.
            make: gives the primitive.
        """
        if "<locals>" not in owner.__qualname__:
            cls.makers[f"{owner.__module__}.{owner.__qualname__}"] = make

    def __init__(
        self,
        name: str,
        implementation: Callable[..., Any],
        *,
        attr_names: tuple[str, ...] = (),
        multiple: bool = False,
        effect: str = PURE,
        promotes: bool = False,
        commutative: bool = False,
        elementwise: bool = False,
        derivative: Callable[..., Any] | None = None,
        no_gradient: str = "",
        register: bool = True,
        required: int = 0,
    ) -> None:
        if register and name in Primitive.table:
            raise ValueError(f"primitive {name!r} is declared twice")
        self.name = name
        self.implementation = implementation
        self.attr_names = attr_names
        self.multiple = multiple
        self.effect = effect
        self.promotes = promotes
        self.commutative = commutative
        self.elementwise = elementwise
        self.derivative = derivative
        self.no_gradient = no_gradient
        self.required = required
        #: the name under which other processes know what it computes; None where code of the program's may take part
        self.known_as: str | None = None
        #: gives for its attributes those with which it takes a condition as the last operand and, where that does not
        #: hold, gives operands back; and the position of the one for its first result, behind which the others stand
        self.conditional: Callable[..., tuple[tuple[Any, ...], int]] | None = None
        if register and str(getattr(implementation, "__module__", "")).startswith("weft."):
            self.known_as = name
        #: bumped when a user replaces the rule, so that compiled rules are not reused
        self.rule_version = 0
        #: whether the rule is, or calls, code of the user's, so that a backward pass asks for its call
        self.asks = False
        #: whether all attributes so far were plain Python values; their key is then made at the speed of C
        self.packs = True
        #: by `key`
        self.executables: dict[Any, Callable[..., Any]] = {}
        self.types: dict[Any, tuple[TensorType, ...]] = {}
        self.pullbacks: dict[Any, Callable[..., Any]] = {}
        self.generic: Primitive | None = None
        Primitive.everyone.add(self)
        if register:
            Primitive.table[name] = self

    @classmethod
    def named(cls, name: str) -> Primitive | None:
        """The primitive that is declared under a name, maybe in a module that was not needed so far; else None."""
        if name not in cls.table:
            lazily.bring_all()
        return cls.table.get(name)

    def bound(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        """The JAX function of the operands alone, with these attributes."""
        if not attrs:
            return self.implementation
        return functools.partial(self.implementation, **dict(zip(self.attr_names, attrs, strict=True)))

    def key(self, attrs: tuple[Any, ...]) -> Any:
        """Attribute values as a key that tells ``1`` from ``True`` and ``0.0`` from ``-0.0``."""
        if not attrs:
            return attrs
        try:
            return dumps(attrs, PACKED) if self.packs else exact(attrs)
        except ValueError:
            return self._checked_key(attrs)

    def _checked_key(self, attrs: tuple[Any, ...]) -> Any:
        """The key under which something is kept: from the first attributes that cannot be packed on, none is."""
        if self.packs and not _packable(attrs):
            self.packs = False
            self.executables = {exact(loads(k)) if k else k: run for k, run in self.executables.items()}
        return self.key(attrs)

    def executable(self, attrs: tuple[Any, ...]) -> Callable[..., Any]:
        """The compiled function of the operands, with these attributes."""
        found = self.executables.get(self.key(attrs))
        if found is None:
            key = self._checked_key(attrs)
            self._check(attrs)
            found = self.executables.get(key) or compiled(self.bound(attrs), lambda: self.text(attrs))
            self.executables[key] = found
        return found

    def text(self, attrs: tuple[Any, ...]) -> str | None:
        """What the implementation computes, as text that is the same in all processes; None if it has none."""
        return f"{self.known_as} {attrs!r}" if self.known_as is not None and all(map(_has_text, attrs)) else None

    def _check(self, attrs: tuple[Any, ...]) -> None:
        """Refuse what is no integer where the implementation declares integers.

        JAX keeps what it checked under keys in which ``1.0`` is ``1``, so its answer would depend on earlier calls.
        """
        annotations = getattr(self.implementation, "__annotations__", {})
        for name, value in zip(self.attr_names, attrs, strict=True):
            annotation = annotations.get(name, "")
            found = _stray(value) if _integral(annotation) else None
            if found is not None:
                wanted = "an int" if annotation.startswith("int") else "integers"
                where = f"{self.implementation.__name__.strip('_')}: {name}"
                raise TypeError(f"{where} must be {wanted}, not {type(found).__name__} ({found!r:.40})")

    def make_room(self) -> None:
        """Drop the compiled programs if there are too many, as where each call brings a new shape."""
        kept = [*self.executables.values(), *self.pullbacks.values()]
        if len(kept) <= PROGRAMS and sum(map(compiled_programs, kept)) <= PROGRAMS:
            return
        for run in kept:
            run.clear_cache()  # type: ignore[attr-defined]
        for attributes in list(self.executables):
            if attributes:  # operator methods hold the executable without attributes
                del self.executables[attributes]
        self.pullbacks.clear()

    def infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        """Types of the outputs for these attributes and operand types, memoised."""
        has_sizes = bool(attrs) and has_open(attrs)
        found = self.types.get((exact(attrs) if has_sizes else self.key(attrs), inputs))
        if found is None:
            if len(self.types) >= _TYPES:
                self.types.clear()
            key = exact(attrs) if has_sizes else self._checked_key(attrs)
            found = self.types[key, inputs] = self._infer(attrs, inputs)
        return found

    def _infer(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        self._check(attrs)
        kept = None if any(t is not None and t.is_open for t in inputs) else inferred.current()
        text = None if kept is None else self.text(attrs)
        if kept is None or text is None:
            return self._ask_jax(attrs, inputs)
        text = _on(text, inputs)
        known = kept.find(text)
        if known is not None:
            return tuple([TensorType.of(dtypes.of(name), tuple(shape), _WEAK[weak]) for name, shape, weak in known])
        found = self._ask_jax(attrs, inputs)
        kept.note(text, [[t.dtype.name, t.shape, t.weak and t.weak.__name__] for t in found])
        return found

    def _ask_jax(self, attrs: tuple[Any, ...], inputs: tuple[TensorType | None, ...]) -> tuple[TensorType, ...]:
        structs = [None if t is None else jax.ShapeDtypeStruct(t.shape, t.dtype.np_dtype) for t in inputs]
        with without_notes():
            result = jax.eval_shape(self.bound(attrs), *structs)
        outputs = result if self.multiple else (result,)
        weak = bool(inputs) and all(t is not None and t.weak is not None for t in inputs)
        return tuple(
            TensorType.of(
                dtype := dtypes.of_np(o.dtype),
                tuple(o.shape),
                dtypes.to_python(dtype) if weak and not o.shape else None,
            )
            for o in outputs
        )

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


def _count_programs(name: str, seconds: float) -> None:
    """Once in a while, see whether some primitive holds too many compiled programs."""
    global _compilations
    del name, seconds
    _compilations += 1
    if _compilations % _COUNTED == 0:
        for primitive in list(Primitive.everyone):
            primitive.make_room()


_compilations = 0
on_compilation(_count_programs)
