"""Classes and modules gain and lose what answers for their attributes, between calls."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.compiled import compiler
from weft import Tensor

#: makes a program and what changes it: returns (the program, the change, what takes it back)
Case = Callable[[list[Any]], tuple[Callable[[Any], Any], Callable[[], None], Callable[[], None]]]
X = Tensor([1.0])


def _class() -> Any:
    class Plain:
        q = 2

    return Plain


def _descriptor() -> tuple[Any, Any, Any]:
    class Seven:
        def __get__(self, instance: Any, owner: Any) -> int:
            return 7

    class Holder:
        v = Seven()

    return Seven, Holder, Holder()


def property_over_a_written_attribute(log: list[Any]) -> Any:
    cls = _class()
    obj = cls()

    def program(x: Any) -> Any:
        obj.v = 5
        return x * 2, len(log), obj.__dict__.pop("v", None)

    made = property(lambda self: 3, lambda self, value: log.append(value))
    return program, lambda: setattr(cls, "v", made), lambda: delattr(cls, "v")


def set_of_a_descriptor_that_is_written(log: list[Any]) -> Any:
    kind, _, obj = _descriptor()

    def program(x: Any) -> Any:
        obj.v = 5
        return x * 2, obj.v, len(log), obj.__dict__.pop("v", None)

    def write(self: Any, instance: Any, value: Any) -> None:
        log.append(value)

    return program, lambda: setattr(kind, "__set__", write), lambda: delattr(kind, "__set__")


def set_of_a_descriptor_that_is_read(log: list[Any]) -> Any:
    kind, _, obj = _descriptor()

    def change() -> None:
        kind.__set__ = lambda self, instance, value: None
        obj.__dict__["v"] = 100

    return lambda x: (x * 2, obj.v), change, lambda: delattr(kind, "__set__")


def entry_that_hides_a_descriptor(log: list[Any]) -> Any:
    _, _, obj = _descriptor()
    return lambda x: (x * 2, obj.v), lambda: obj.__dict__.update(v=100), obj.__dict__.clear


def get_of_a_descriptor(log: list[Any]) -> Any:
    kind, cls, obj = _descriptor()
    before = kind.__get__
    eight = lambda self, instance, owner: 8  # noqa: E731
    return (
        lambda x: (x * 2, cls.v, obj.v),
        lambda: setattr(kind, "__get__", eight),
        lambda: setattr(kind, "__get__", before),
    )


def getattr_of_a_class(log: list[Any]) -> Any:
    cls = _class()
    obj = cls()
    return (
        lambda x: (x * 2, getattr(obj, "w", 1), hasattr(obj, "w")),
        lambda: setattr(cls, "__getattr__", lambda self, name: 9),
        lambda: delattr(cls, "__getattr__"),
    )


def getattribute_of_a_class(log: list[Any]) -> Any:
    cls = _class()
    obj = cls()
    return (
        lambda x: (x * 2, getattr(obj, "w", 1), obj.q),
        lambda: setattr(cls, "__getattribute__", lambda self, name: 9),
        lambda: delattr(cls, "__getattribute__"),
    )


def property_of_a_metaclass(log: list[Any]) -> Any:
    class Meta(type):
        pass

    class Plain(metaclass=Meta):
        v = 1

    return (lambda x: (x * 2, Plain.v), lambda: setattr(Meta, "v", property(lambda cls: 3)), lambda: delattr(Meta, "v"))


def delattr_of_a_class(log: list[Any]) -> Any:
    cls = _class()
    obj = cls()

    def program(x: Any) -> Any:
        obj.v = 1
        del obj.v
        return x * 2, hasattr(obj, "v"), len(log), obj.__dict__.pop("v", None)

    return (
        program,
        lambda: setattr(cls, "__delattr__", lambda self, name: log.append(name)),
        lambda: delattr(cls, "__delattr__"),
    )


def getattr_of_a_module(log: list[Any]) -> Any:
    module: Any = types.ModuleType("settings")
    return (
        lambda x: (x * 2, getattr(module, "b", 0), hasattr(module, "b")),
        lambda: setattr(module, "__getattr__", lambda name: 55),
        lambda: delattr(module, "__getattr__"),
    )


def property_of_a_class_of_modules(log: list[Any]) -> Any:
    class Settings(types.ModuleType):
        pass

    module: Any = Settings("settings")
    module.a = 1
    return (
        lambda x: (x * 2, module.a),
        lambda: setattr(Settings, "a", property(lambda self: 4)),
        lambda: delattr(Settings, "a"),
    )


CASES: list[Case] = [
    property_over_a_written_attribute, set_of_a_descriptor_that_is_written, set_of_a_descriptor_that_is_read,
    entry_that_hides_a_descriptor, get_of_a_descriptor, getattr_of_a_class, getattribute_of_a_class,
    property_of_a_metaclass, delattr_of_a_class, getattr_of_a_module, property_of_a_class_of_modules,
]  # fmt: skip


def answers(case: Case, decorate: Callable[[Any], Any]) -> list[Any]:
    log: list[Any] = []
    program, change, take_back = case(log)
    call = decorate(program)
    found = []
    for number in range(6):
        if number in (2, 5):
            change()
        if number == 3:
            take_back()
        found.append((call(X)[1:], tuple(log)))
    return found


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
@pytest.mark.parametrize("case", CASES)
def test_what_answers_for_an_attribute_is_asked_in_each_call(case: Case, mode: str) -> None:
    compiled = answers(case, compiler(mode))
    assert compiled == answers(case, lambda f: f)


def sentinels(decorate: Callable[[Any], Any]) -> Any:
    missing, nan, infinity = "<missing value>", float("nan"), float("inf")
    state: dict[str, Any] = {}

    @decorate
    def program(x: Any) -> Any:
        state["kept"] = missing
        return (
            x * 2, state["text"] is missing, state["nan"] in [nan], state["best"] is infinity, [missing],
            state["method"],
        )  # fmt: skip

    found = []
    for text, first, best in (
        (missing, nan, infinity),
        ("".join(["<missing ", "value>"]), float("nan"), float("inf")),
        (missing, nan, infinity),
    ):
        state |= {"text": text, "nan": first, "best": best, "method": state.values}
        _, *asked, returned, method = program(X)
        found.append((*asked, returned[0] is missing, state["kept"] is missing, method is state["method"]))
    return found


@pytest.mark.parametrize("mode", ["auto", "PIJit"])
def test_a_value_that_stands_for_none_is_known_by_its_identity(mode: str) -> None:
    found = sentinels(compiler(mode))
    assert found == sentinels(lambda f: f)
