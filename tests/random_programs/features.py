"""What random programs exercise: constructs by name, each told by the text of a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_TEXTS: Final[dict[str, str]] = {
    # aliases and writes in place
    "chosen handle": (
        r"= .*(\w+ if .*(sum|max|min)\(\).* else \w+|choose\(.*(sum|max|min)\(\))|handles\[int|named\['w' if"
    ),
    "second name": r"^\s*h\d+ = [\w.]+$",
    "assign": r"ops\.assign(_add)?\(",
    "set_data": r"\.set_data\(",
    "tensor item written": r"^\s*[\w.]+\[(0|1|:|int\(.*|.* > 1)\] \+?= ",
    "parameter written by an operator": r"^\s*\w+\.\w+ \+= ",
    "identity": r" is (not )?(w|u|y|x|const|net\.w|\w+\.v|\w+\.t)\b",
    "handle returned": r"return .*\b(w|u|const|x|y|net\.w|h\d+)\b(,|\]|\}|$)",
    "list written": r"\.(append|insert|extend|pop|clear)\(|\[:1\] = |\[-1\] = ",
    "dict written": r"(table|named|nested)(\[.*\])+ \+?= |table\.(pop|setdefault)\(",
    "attribute written": r"(box|watched|looked|slots|net|self|tied)\.\w+ [+]?= |setattr\(|__dict__\[",
    "global written": r"^\s*(scale|count|latest|flag) \+?= ",
    # control flow
    "tensor branch": r"\b(if|elif) .*(sum|max|min)\(\) [<>]",
    "for": r"^\s*for ",
    "while on a tensor": r"^\s*while .*(sum|max)\(\)",
    "break or continue": r"\b(break|continue)\b",
    "raise": r"^\s*(if .*: )?raise\b",
    "try": r"^\s*try:",
    "except": r"^\s*except ",
    "finally": r"^\s*finally:",
    "with": r"^\s*with ",
    "nonlocal written": r"^\s*(n|n\d+|i\d+) (\+?= .*int\(v\.|\+= )",
    "generator": r"steps\(|^\s*yield ",
    "comprehension": r"\[.* for .* in .*\]|\{.* for .* in .*\}|\(.* for .* in .*\)",
    "lambda": r"lambda",
    # the program's own classes
    "property": r"\.twice\b",
    "__getattr__": r"lazy\.\w+",
    "__getattribute__": r"looked\.n\b",
    "super().__setattr__": r"super\(\).__setattr__|watched\.(n|t) [+]?=",
    "Cell called": r"\b(net|tied|hooked|prepared|tapped|custom|branching)\(",
    "written on one side": r"(box|net|watched)\.m [+*]?= ",
    "walk over a network": r"trainable_params\(|parameters_and_names\(",
    "attribute of self": r"self\.(k|w|v|t|on|seen)\b",
    # derivatives
    "register_hook": r"\.register_hook\(",
    "forward hook": r"\b(hooked|prepared)\(",
    "backward hook": r"\btapped\(",
    "bprop": r"\b(custom|branching)\(",
    "grad": r"\bgrad\(",
    "value_and_grad": r"value_and_grad\(",
    "vjp": r"\bvjp\(",
    "jvp": r"\bjvp\(",
    "vmap": r"\bvmap\(",
    "jacrev": r"\bjacrev\(",
    "jacfwd": r"\bjacfwd\(",
    "hessian": r"\bhessian\(",
    "gradient outside": r"call\.gradient\(",
    # numbers and texts
    "number of a tensor": r"= .*(int\(.*(argmax|sum|max)\(|\.item\(\)|float\(.*\)|bool\(.*(sum|max|min))",
    "number as a key": r"\.get\(|table\[i\d|\{i\d+[:,]",
    "number repeats or counts": r"\] \* i\d|range\(.*int\(|range\(i\d",
    "number formatted": r"\{i\d+(!r|:03d)?\}|'%d'|\{f\d+:|str\([if]\d",
    "number's method": r"\.bit_length\(|\.is_integer\(|\)\.real",
    "text of a tensor": r"repr\(|'%r'|print\(.*sum\(\)\)|str\(",
    "print": r"\bprint\(",
    "NumPy": r"\.asnumpy\(|outside\(",
}
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _TEXTS.items()}
FEATURES: Final = tuple(_TEXTS)


def features(source: str, lines: Iterable[int] | None = None) -> set[str]:
    """What some lines of a program exercise.

    Args:
        source: the program.
        lines: numbers of the lines that ran; None: all.
    """
    texts = source.splitlines()
    numbers = set(range(1, len(texts) + 1)) if lines is None else {n for n in lines if n <= len(texts)}
    # a bare word does nothing itself: it runs if the line after it does
    numbers |= {n - 1 for n in numbers if n > 1 and texts[n - 2].strip() == "finally:"}
    chosen = [texts[number - 1] for number in sorted(numbers)]
    chosen = [text for text in chosen if not text.lstrip().startswith(("from ", "import ", "def step", "class "))]
    return {name for name, pattern in _PATTERNS.items() if any(pattern.search(text) for text in chosen)}
