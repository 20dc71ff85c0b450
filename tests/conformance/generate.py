"""The table of calls: made from names, parameters and values for them; runs where MindSpore is installed.

`names.txt` says which functions there are, `arguments.txt` which values their parameters take, `patterns.txt` has
calls as they stand, with alternatives in braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.names import holder, parameters

HERE = Path(__file__).parent
#: element types that the first tensors of a call take besides float32, by module
SWEPT = {
    "ops": ("f2", "f8", "i1", "i4", "i8", "u1", "b", "c8"),
    "mint": ("f2", "f8", "i4", "i8", "u1", "b", "c8"),
    "F": ("f2", "f8", "i8"),
    "mnp": ("f2", "f8", "i4", "i8", "b"),
    "linalg": ("f8", "i8"),
    "special": ("f2", "f8", "i8"),
    "Tensor": ("f2", "i4", "i8", "b"),
    "npfft": ("f8", "i4", "c8"),
    "dct": ("f8", "i4"),
    "sla": ("f8", "i4", "f2", "c8"),
}
#: shapes that take the place of the usual one
SHAPES = {"2, 3": ("", "0, 3"), "2, 2, 3": ()}
_HEADING = re.compile(r"\[([a-z ]+)\]")
_ALTERNATIVES = re.compile(r"\{([^{}]*\|[^{}]*)\}")


def expanded(pattern: str) -> Iterator[str]:
    """A pattern with each choice of its alternatives ``{a|b}``."""
    found = _ALTERNATIVES.search(pattern)
    if found is None:
        yield pattern
        return
    for each in found[1].split("|"):
        yield from expanded(pattern[: found.start()] + each + pattern[found.end() :])


class Arguments:
    """Values of parameters: by name, and by function."""

    def __init__(self) -> None:
        self.common: dict[str, list[str]] = {}
        self.own: dict[str, dict[str, list[str]]] = {}
        self.random: set[str] = set()
        self.skipped: set[str] = set()
        self.needed: set[tuple[str, str]] = set()
        for line in (HERE / "arguments.txt").read_text(encoding="utf-8").splitlines():
            head, _, rest = line.partition(":")
            if not line or line.startswith("#"):
                continue
            if head == "skip":
                self.skipped.update(rest.split())
            elif head == "random":
                self.random.update(rest.split())
            elif head.startswith("@"):
                values = dict(part.split("=", 1) for part in rest.split(";"))
                found = {key.strip(): [v.strip() for v in text.split(" | ")] for key, text in values.items()}
                for name in head[1:].split():
                    self.own[name] = {key.strip("+"): value for key, value in found.items()}
                    self.needed.update((name, key[1:]) for key in found if key.startswith("+"))
            else:
                for name in head.split():
                    self.common[name] = [value.strip() for value in rest.split(" | ")]

    def values(self, module: str, name: str, parameter: str) -> list[str]:
        """What a parameter of a function takes: the first for the plain call, the others for calls besides."""
        own = self.own.get(f"{module}.{name}", self.own.get(name, {}))
        return own.get(parameter, self.common.get(parameter, []))

    def always(self, module: str, name: str, parameter: str) -> bool:
        """Whether a parameter is given in each call although it has a default."""
        return (name, parameter) in self.needed or (f"{module}.{name}", parameter) in self.needed

    def itself(self, module: str, name: str) -> str:
        """The tensor whose method is called: of what a function takes, the first."""
        own = self.own.get(f"{module}.{name}", self.own.get(name, {}))
        return next(iter(own.values()))[0] if own else self.common["input"][0]


def _calls_of(module: str, name: str, written: str, given: Arguments) -> Iterator[str]:
    """The calls of a function whose parameters are `written`."""
    head = f"{module}.{name}"
    required, optional, keyword, starred = [], [], [], False
    for each in filter(None, written.split(", ")):
        if each == "*":
            starred = True
        elif each.startswith("*"):
            values = given.values(module, name, each)
            required.append((each, values))
            starred = True
        elif each.endswith("=") and given.always(module, name, each[:-1]):
            (keyword if starred else required).append((each[:-1], given.values(module, name, each[:-1])))
        elif each.endswith("="):
            optional.append(each[:-1])
        else:
            (keyword if starred else required).append((each, given.values(module, name, each)))
    if module == "Tensor":
        required = required[1:]
        head = f"{given.itself(module, name)}.{name}"
    if any(not values for _, values in required + keyword):
        return

    def call(positional: list[str], *named: str) -> str:
        return f"{head}({', '.join([*positional, *named])})"

    base = [values[0] for _, values in required]
    always = [f"{parameter}={values[0]}" for parameter, values in keyword]
    plain = call(base, *always)
    yield plain
    if required and not any(parameter.startswith("*") for parameter, _ in required):
        yield call([], *[f"{parameter}={values[0]}" for parameter, values in required], *always)
    for at, (_, values) in enumerate(required):
        for other in values[1:]:
            yield call([*base[:at], other, *base[at + 1 :]], *always)
    for parameter in optional:
        for value in given.values(module, name, parameter):
            yield call(base, *always, f"{parameter}={value}")
    for swept in SWEPT[module]:
        if '"f4"' in plain:
            yield plain.replace('"f4"', f'"{swept}"')
    for shape in SHAPES["2, 3"]:
        if "2, 3)" in plain:
            yield re.sub(r", 2, 3\)", f", {shape})" if shape else ")", plain)
    if base and module != "Tensor":
        yield call(['"x"', *base[1:]], *always)
        yield call(["None", *base[1:]], *always)
    elif base:
        yield call(['"x"', *base[1:]], *always)


def calls() -> Iterator[tuple[str, str]]:
    """Group and call, each call once."""
    given = Arguments()
    seen: set[str] = set()
    for line in (HERE / "names.txt").read_text(encoding="utf-8").splitlines():
        path, parenthesis, rest = line.partition("(")
        module, _, name = path.partition(".")
        if name in given.skipped or path in given.skipped or not hasattr(holder(module), name):
            continue
        if not parenthesis:
            found: Iterator[str] = iter([f"{given.itself(module, name)}.{name}"] if module == "Tensor" else [])
        else:
            theirs = parameters(getattr(holder(module), name))
            found = _calls_of(module, name, theirs or rest[:-1], given)
        for call in found:
            text = f"like({call})" if name in given.random else call
            if text not in seen:
                seen.add(text)
                yield module, text
    group = ""
    for line in (HERE / "patterns.txt").read_text(encoding="utf-8").splitlines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            group = heading[1]
        elif line and not line.startswith("#"):
            for text in expanded(line):
                if text not in seen:
                    seen.add(text)
                    yield group, text
