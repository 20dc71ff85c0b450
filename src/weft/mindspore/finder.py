"""The import hook: modules named `mindspore...` whose attributes are looked up in the table."""

from __future__ import annotations

import difflib
import dis
import importlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from weft.mindspore.edge import behind
from weft.mindspore.table import API_VERSION, MODULES

ROOT: Final = "mindspore"
#: names of Python types, which `from mindspore import *` does not replace
_TYPES: Final = frozenset({"bool", "int", "float"})
_IMPORT_FROM: Final = dis.opmap["IMPORT_FROM"]


@cache
def names_of(module: str) -> dict[str, tuple[str, str]]:
    """What a module of the table offers: name -> (weft module, attribute there)."""
    found: dict[str, tuple[str, str]] = {}
    for source, names in MODULES[module].items():
        for entry in names.split():
            if entry == "*":
                for name in public_names(importlib.import_module(source)):
                    found.setdefault(name, (source, name))
            else:
                name, _, original = entry.partition("=")
                found[name] = (source, original or name)
    return {name: behind(module, name, *where) for name, where in found.items()}


def public_names(module: ModuleType) -> list[str]:
    """The names that a weft module offers: its `__all__`, or all that are not private and no modules."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    return [name for name, value in vars(module).items() if name[0] != "_" and not isinstance(value, ModuleType)]


def children_of(module: str) -> Iterator[str]:
    """Last parts of the names of the modules directly inside a module of the table."""
    for path in MODULES:
        parent, _, child = path.rpartition(".")
        if parent == module:
            yield child


def resolve(module: str, name: str) -> Any:
    """The weft object behind a name of a module of the table.

    Raises:
        KeyError: the module does not offer the name.
    """
    source, attribute = names_of(module)[name]
    value: Any = importlib.import_module(source)
    for part in attribute.split(".") if attribute != "." else ():
        value = getattr(value, part)
    return value


def missing(module: str, name: str) -> str:
    """The message for a name that a module does not have: where it is instead, and what is nearest to it."""
    elsewhere = [other for other in MODULES if other != module and name in names_of(other)]
    hint = f"; it is at {min(elsewhere, key=len)}.{name}" if elsewhere else ""
    near = nearest(name, [*names_of(module), *children_of(module)])
    if near:
        hint += f"; the nearest names are {', '.join(f'{module}.{known}' for known in near)}"
    return f"weft has no {module}.{name}{hint}"


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The names most like a misspelt one; upper and lower case matter less than letters."""

    def likeness(candidate: str) -> float:
        folded = difflib.SequenceMatcher(None, name.lower(), candidate.lower()).ratio()
        return folded + 0.1 * difflib.SequenceMatcher(None, name, candidate).ratio()

    scores = {candidate: likeness(candidate) for candidate in known if not candidate.startswith("_")}
    return sorted((c for c in scores if scores[c] > 0.7), key=lambda c: (-scores[c], c))[:count]


class DoorModule(ModuleType):
    """A module whose names are rows of the table, looked up on first use."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__
        if name.startswith("__") and name != "__all__" and name not in names_of(module):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name == "__all__":
            value: Any = [known for known in dir(self) if not known.startswith("_") and known not in _TYPES]
        elif name in names_of(module):
            value = resolve(module, name)
        elif f"{module}.{name}" in MODULES:
            value = importlib.import_module(f"{module}.{name}")
        else:
            message = missing(module, name)
            frame = sys._getframe(1)
            # `from m import name` turns AttributeError into a message of its own, ImportError passes
            if frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM:
                raise ImportError(message, name=module)
            raise AttributeError(message, name=name, obj=None)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # importing mindspore.common.mutable must not hide the function mindspore.common.mutable
        if isinstance(value, DoorModule) and name in names_of(self.__name__):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *names_of(self.__name__), *children_of(self.__name__)})


class DoorLoader(Loader):
    """Makes the modules."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module of our kind."""
        return DoorModule(spec.name, f"`{spec.name}` as weft offers it.")

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs: names are looked up when asked for."""
        if module.__name__ == ROOT:
            module.__dict__["__version__"] = API_VERSION


class DoorFinder(MetaPathFinder):
    """Answers for every module named `mindspore...`, so that an installed MindSpore is never mixed in."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the table; a `mindspore` module outside of it is refused by name."""
        del path, target
        if fullname != ROOT and not fullname.startswith(ROOT + "."):
            return None
        if fullname not in MODULES:
            inside = [path.removeprefix(ROOT + ".") for path in MODULES]
            near = nearest(fullname.removeprefix(ROOT + "."), inside)
            hint = f"; the nearest modules are {', '.join(f'{ROOT}.{path}' for path in near)}" if near else ""
            raise ModuleNotFoundError(f"weft has no module {fullname}{hint}", name=fullname)
        return ModuleSpec(fullname, DoorLoader(), origin="weft.mindspore", is_package=True)


def install() -> None:
    """Make `import mindspore` give weft, in this process, from now on."""
    if not any(isinstance(finder, DoorFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, DoorFinder())
    for name in list(sys.modules):
        if (name == ROOT or name.startswith(ROOT + ".")) and not isinstance(sys.modules[name], DoorModule):
            del sys.modules[name]
