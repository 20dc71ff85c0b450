"""How generated code spells names and values: the one place that knows what may be written and what needs a name."""

from __future__ import annotations

import keyword


def is_spelled(name: str) -> bool:
    """Whether an attribute of this name can be written after a dot, and is then the attribute of this name.

    Python turns identifiers into their NFKC form, so others than those of ASCII are not the text that one reads.
    """
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
