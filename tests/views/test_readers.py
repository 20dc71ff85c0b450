"""Code of the library that reads tensors reads them by `data_of`, which knows of arrays that share their memory."""

from __future__ import annotations

import ast
from pathlib import Path

import weft

#: functions that read the slot itself: what they read cannot share its memory, or they ask when the slot is not set
ALLOWED = {
    "core/tensor.py": {"data_of", "type", "is_symbolic", "rebind"},
    "core/dispatch.py": {"apply", "method"},
    "core/lending.py": {"lend", "look", "write", "_renewed", "share_again", "_take_away", "_close", "_join"},
    "core/recording.py": {"arrays"},  # constants
    "autodiff/whole.py": {"arrays", "_taken"},  # constants
    "ops/reduce.py": {"counting"},  # element types; a slot that is not set is asked otherwise
    "ops/_accepting.py": {"checked"},  # element types; a slot that is not set is looked at closer
}


def test_readers() -> None:
    root = Path(weft.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith("data/"):  # other classes
            continue
        tree = ast.parse(path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "_data" and isinstance(node.ctx, ast.Load):
                inner = [f for f in functions if f.lineno <= node.lineno <= (f.end_lineno or 0)]
                function = max(inner, key=lambda f: f.lineno).name if inner else ""
                if function not in ALLOWED.get(name, ()):
                    found.append(f"{name}:{node.lineno} in {function}")
    assert not found, "read by weft.core.tensor.data_of"
