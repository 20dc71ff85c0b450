"""The public names of weft, with their parameters: ``python -m tests.conformance.names`` writes `names.txt`."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

#: how calls name a module, and where it is
MODULES = {
    "ops": "mindspore.ops", "mint": "mindspore.mint", "F": "mindspore.mint.nn.functional", "mnp": "mindspore.numpy",
    "linalg": "mindspore.mint.linalg", "special": "mindspore.mint.special", "Tensor": "mindspore",
    "npfft": "mindspore.numpy.fft", "dct": "mindspore.scipy.fft", "sla": "mindspore.scipy.linalg",
}  # fmt: skip


def parameters(function: Any) -> str | None:
    """Parameters as ``input, axis=, *, dtype=``; None where `inspect` finds none."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = {each.kind for each in found}
    if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds:
        return None
    texts, starred = [], False
    for each in found:
        if each.kind is each.VAR_KEYWORD:
            continue
        if each.kind is each.VAR_POSITIONAL:
            texts.append(f"*{each.name}")
            starred = True
            continue
        if each.kind is each.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        texts.append(each.name + ("" if each.default is each.empty else "="))
    return ", ".join(texts)


def holder(module: str) -> Any:
    """The object whose attributes are the names."""
    found = importlib.import_module(MODULES[module])
    return found.Tensor if module == "Tensor" else found


def main() -> None:
    """Write the names of weft, a line each; where `inspect` finds no parameters, those that the file has stay."""
    importlib.import_module("weft.mindspore")
    to = Path(__file__).parent / "names.txt"
    written = dict(line.split("(", 1) for line in to.read_text(encoding="utf-8").splitlines() if "(" in line)
    lines = []
    for module in MODULES:
        here = holder(module)
        for name in dir(here):
            found = getattr(here, name)
            if name.startswith("_") or isinstance(found, type) or inspect.ismodule(found):
                continue
            path = f"{module}.{name}"
            if callable(found):
                known = parameters(found)
                path += f"({known})" if known is not None else "(" + written.get(path, ")")
            lines.append(path)
    to.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
