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
    """Write the names of weft, a line each."""
    importlib.import_module("weft.mindspore")
    lines = []
    for module in MODULES:
        here = holder(module)
        for name in dir(here):
            found = getattr(here, name)
            if name.startswith("_") or isinstance(found, type) or inspect.ismodule(found):
                continue
            lines.append(f"{module}.{name}({parameters(found) or ''})" if callable(found) else f"{module}.{name}")
    (Path(__file__).parent / "names.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
