"""What was asked of the library's objects, of classes and of settings: guards ask the same again."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from weft import context
from weft.autodiff.starts import HANDLE_HOOKS
from weft.capture.python.classes import is_changeable
from weft.capture.python.namespaces import class_namespace
from weft.capture.sources.contents import Contents
from weft.capture.sources.numbers import is_call_number
from weft.capture.state.guards import KEPT
from weft.core.bounds import in_bounds
from weft.core.lending import lends, overlap
from weft.core.sharing import contiguous, layout, share_nothing
from weft.core.tensor import Parameter, Tensor
from weft.errors import Refusal, Unsupported


class Asked(Contents):
    """Questions with answers that are values."""

    def is_read(self, cell: Any) -> bool:
        """Whether the version of a Cell was read, and nothing was written since but tensors."""
        seen = self._versions_read.get(id(cell))
        return seen is not None and seen[1] == cell._version and not self.wrote_objects()

    def version(self, cell: Any) -> None:
        """Library code read from a Cell: its version stands for all its attributes."""
        if self.is_read(cell):
            return
        self._versions_read[id(cell)] = cell, cell._version
        before = self.before(cell)
        if before is not None and "_version" not in before["attributes"]:
            return  # a copy, of which everything was read where it was made
        expression = self._expression(cell)
        path = f"settings of {self.path(expression)}" if self.is_known(cell) else f"settings of {type(cell).__name__}"
        version = cell._version if before is None else before["attributes"]["_version"]
        self._guard(f"{expression}._version == {version}", "version", path, version, f"{expression}._version")

    def trained(self, cell: Any) -> None:
        """Library code asked which parameters of a Cell are trained; the Cell's version stands for which it has."""
        for name, parameter in cell._params.items():
            if isinstance(parameter, Parameter):
                before = self.before(parameter)
                attributes = before.get("attributes") if isinstance(before, dict) else None
                flag = parameter.requires_grad if attributes is None else attributes["requires_grad"]
                asked = f"{self._expression(parameter)}.requires_grad"
                path = f"{self.path(self._expression(cell))}.{name}.requires_grad"
                self._guard(f"{asked} is {flag}", "value", path, flag, asked)

    def hooks(self, tensor: Tensor) -> None:
        """The hooks of a tensor from outside were read, or that there is none in the whole program."""
        outside = id(tensor) in self.known or self.is_outside(tensor)
        if id(tensor) in self.created or (tensor.is_symbolic and not outside):
            return
        if not HANDLE_HOOKS:
            self._guard(f"not {self.name(HANDLE_HOOKS, 'object')}", "absent", "hooks of tensors")
            return
        found = hooks_of(tensor)
        if found and id(tensor) not in self.known:
            raise Unsupported(
                Refusal.UNKNOWN_CALL,
                "a gradient starts at a tensor that library code found by itself, and it has hooks",
                "give the gradient the tensor, as weights=[net.weight]",
            )
        asked = f"{self.name(hooks_of, 'function')}({self._expression(tensor)})"
        self._guard(f"{asked} == {self._constant(found)}", "value", f"hooks of {self.path(self._expression(tensor))}")

    def bounds(self, index: Tensor, low: int, size: int, ignored: int | None) -> bool:
        """Whether indices from outside are in bounds, which is guarded if they are: the graph need not check them."""
        if not self.guarded or id(index) not in self.known or not in_bounds(index, low, size, ignored):
            return False
        expression = self.known[id(index)][1]
        asked = f"{self.name(in_bounds, 'function')}({expression}, {low}, {size}, {ignored})"
        self._guard(asked, "bounds", f"indices in {self.path(expression)}, from {low} to {size - 1}")
        return True

    def share_nothing(self, written: list[Tensor], used: list[Tensor]) -> None:
        """Tensors that a graph writes share no elements with each other, nor with others that it uses."""
        if len(written) + len(used) < 2:
            return
        asked = [self._expression(tensor) for tensor in (*written, *used)]
        alone = " and ".join(f"{text}._member is None" for text in asked[: len(written)])
        check = f"{self.name(share_nothing, 'function')}(({', '.join(asked)}), {len(written)})"
        self._guard(f"({alone}) or {check}", "relation", "which tensors share elements")

    def lend_nothing(self, written: list[Tensor], arrays: list[Any]) -> None:
        """Tensors that a graph writes share their memory with no array of the program that the call reads."""
        if arrays:
            asked = [self._expression(tensor) for tensor in written]
            alone = " and ".join(f"{text}._member is None" for text in asked)
            read = ", ".join(map(self._expression, arrays))
            check = f"not {self.name(overlap, 'function')}(({', '.join(asked)},), ({read},))"
            self._guard(f"({alone}) or {check}", "relation", "which tensors share memory with arrays")

    def replaced(self, tensor: Tensor) -> None:
        """The value of a tensor is replaced, and arrays of the program that share its memory keep what they hold."""
        if id(tensor) in self.created:
            return
        if lends(tensor):
            raise Unsupported(
                Refusal.IMPURE_CALL,
                "the value of a tensor is replaced while a NumPy array shares its memory",
                "write the tensor in place (ops.assign, x[...] = value), or drop the array first",
            )
        asked = self._expression(tensor)
        check = f"{asked}._member is None or not {self.name(lends, 'function')}({asked})"
        self._guard(check, "relation", f"whether {self.path(asked)} shares memory with an array")

    def layout(self, tensor: Tensor, found: Any) -> None:
        """It was asked how the elements of a tensor lie."""
        if id(tensor) in self.created or id(tensor) not in self.known:
            return
        asked = self._expression(tensor)
        same = f"{self.name(layout, 'function')}({asked}) == {self._sizes_text(found)}"
        plain = found[1] == contiguous(found[0])
        self._guard(
            f"{asked}._member is None or {same}" if plain else same, "relation", f"layout of {self.path(asked)}"
        )

    def _sizes_text(self, found: Any) -> str:
        """Tuples of numbers, those of the call as this one has them."""
        if type(found) is tuple:
            return f"({''.join(self._sizes_text(item) + ', ' for item in found)})"
        return self.numbers.name_of(found) if is_call_number(found) else repr(found)

    def flags(self, array: Any) -> None:
        """How the memory of an array lies, and whether it may be written, was read."""
        if id(array) not in self.created and isinstance(array, np.ndarray):
            asked = f"{self._expression(array)}.flags.num"
            found: Any = array.flags
            self._guard(f"{asked} == {found.num}", "value", f"flags of {self.path(self._expression(array))}")

    def instantiable(self, cls: type) -> None:
        """An instance of a class is made: whether it lacks methods that it has to have is noted in the class."""
        if type(cls) is not type and is_changeable(cls) and id(cls) not in self.created:
            lacking = class_namespace(cls).get("__abstractmethods__")
            same = f"{self.attributes(cls)}.get('__abstractmethods__') is {self._object(lacking)}"
            self._guard(same, "identity", f"{cls.__name__}.__abstractmethods__")

    def imported(self, name: str, builtins: dict[str, Any]) -> None:
        """A module was imported by its absolute name, as the packages around it were."""
        same = f"{self.name(builtins, 'builtins')}.get('__import__') is {self._object(builtins['__import__'])}"
        self._guard(same, "identity", "builtin '__import__'")
        while name:
            if name in sys.modules:
                kept = f"{self.name(sys.modules, 'modules')}.get({name!r}) is {self._object(sys.modules[name])}"
                self._guard(kept, "identity", f"module {name!r}")
            name = name.rpartition(".")[0]

    def answer(self, obj: Any, method: str, argument: Any, result: Any) -> None:
        """An object was asked something that it answers without effect: the guard asks it again."""
        asked = f"{self._expression(obj)}.{method}({self._constant(argument)})"
        what = f"{method} of a {type(obj).__name__}"
        self._guard(f"{asked} is {self._constant(result)}", "relation", what, result)

    def condition(self, check: Any, given: Any, result: Any) -> None:
        """A function of the library was asked about an object or a text: the guard asks it again."""
        if id(given) in self.created:
            return
        shown = repr(given) if type(given) is str else self._expression(given)
        asked = f"{self.name(check, 'function')}({shown}) is {self._constant(result)}"
        self._guard(asked, "relation", check.__name__, result)

    def instance(self, value: Any, kinds: Any, found: bool) -> None:
        """Whether a value is an instance was asked: classes that are told later who belongs to them are asked again."""
        pending, asked = [kinds], False
        while pending and not asked:
            kind = pending.pop()
            if isinstance(kind, (tuple, types.UnionType)):
                pending += kind if isinstance(kind, tuple) else kind.__args__
            else:
                asked = issubclass(type(type(kind)), type) and type(kind) is not type and is_changeable(kind)
        if not asked:
            return
        known = self.known.get(id(value))
        named = self.name(kinds, "object")
        if known is None or self.before(value) is not None:
            try:
                found = issubclass(type(value), kinds)
            except TypeError:  # a protocol with attributes: it is not the class alone that decides
                why = (
                    f"whether this {type(value).__name__} is an instance depends on the attributes it has in this call"
                )
                raise Unsupported(Refusal.IMPURE_CALL, why, "ask for a class instead of a protocol") from None
            condition = f"issubclass({self.name(type(value), 'class')}, {named}) is {found}"
        else:
            condition = f"isinstance({known[1]}, {named}) is {found}"
        self._guard(condition, "relation", f"classes of a {type(value).__name__}", found)

    def subclass(self, kind: Any, kinds: Any, found: bool, check: Any = None) -> None:
        """Whether a class is derived from others was asked, by a `__subclasscheck__` or by `issubclass`."""
        asked = [kinds] if not isinstance(kinds, types.UnionType) else kinds.__args__
        if any(issubclass(type(one), type) and type(one) is not type and is_changeable(one) for one in asked):
            first, second = self.name(kind, "class"), self.name(kinds, "object")
            call = (
                f"issubclass({first}, {second})" if check is None else f"{self.name(check, 'check')}({second}, {first})"
            )
            self._guard(f"{call} is {found}", "relation", f"classes of a {kind.__name__}", found)

    def setting(self, get: Any, args: list[Any], kwargs: dict[str, Any], found: Any) -> None:
        """A setting of the process was asked for."""
        asked = ", ".join([*map(repr, args), *[f"{name}={value!r}" for name, value in kwargs.items()]])
        call = f"{self.name(get, 'function')}({asked})"
        kept = self.name(found, KEPT) if type(found) in (list, dict) else self._constant(found)
        self._guard(f"{call} == {kept}", "setting", f"context setting {asked}", found, call)

    def settings(self) -> None:
        """What a graph depends on besides what the program reads: settings of the process, shapes of parameters."""
        before, self.guarded = self.guarded, True
        module, now = self.name(context, "module"), self.name(context.FINGERPRINT, "constant")
        self._guard(f"{module}.FINGERPRINT is {now}", "setting", "context settings", context.FINGERPRINT)
        parameters = self.name(Parameter, "class")
        self._guard(f"{parameters}.reshaped == {Parameter.reshaped}", "setting", "shapes of parameters")
        self.guarded = before


def hooks_of(tensor: Tensor) -> tuple[Any, ...]:
    """The hooks of a tensor on which no gradient runs yet."""
    return tuple([hook for _, hook in HANDLE_HOOKS.get(id(tensor), ())])
