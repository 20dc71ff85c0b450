"""Which files of CPython's `test` package are run under capture."""

from __future__ import annotations

import importlib.util
from typing import Final

#: modules of the `test` package whose subject is the language or a library written in it
FILES: Final = (
    "test_augassign", "test_baseexception", "test_binop", "test_bisect", "test_bool", "test_call", "test_class",
    "test_compare", "test_complex", "test_contains", "test_contextlib", "test_copy", "test_dataclasses",
    "test_decorators", "test_defaultdict", "test_deque", "test_dict", "test_dictcomps", "test_dictviews",
    "test_dynamic", "test_dynamicclassattribute", "test_enum", "test_enumerate", "test_except_star",
    "test_exception_group", "test_exception_variations", "test_exceptions", "test_float", "test_format",
    "test_fstring", "test_funcattrs", "test_functools", "test_generator_stop", "test_generators", "test_genericclass",
    "test_global", "test_grammar", "test_heapq", "test_index", "test_int", "test_isinstance",
    "test_iter", "test_iterlen", "test_itertools", "test_keywordonlyarg", "test_list", "test_listcomps",
    "test_long", "test_named_expressions", "test_numeric_tower", "test_opcodes", "test_operator", "test_ordered_dict",
    "test_patma", "test_positional_only_arg", "test_pow", "test_property", "test_raise", "test_range",
    "test_reprlib", "test_richcmp", "test_scope", "test_set", "test_slice", "test_sort",
    "test_string", "test_subclassinit", "test_super", "test_textwrap", "test_tuple", "test_types", "test_unary",
    "test_unpack", "test_userdict", "test_userlist", "test_with", "test_yield_from",
)  # fmt: skip

#: a choice that takes a minute or two, for each run of the test suite
SAMPLE: Final = (
    "test_augassign", "test_binop", "test_bool", "test_class", "test_dictcomps", "test_enumerate",
    "test_except_star", "test_exception_variations", "test_generators", "test_opcodes", "test_property", "test_raise",
    "test_scope", "test_slice", "test_unpack", "test_with", "test_yield_from",
)  # fmt: skip


def available(name: str) -> bool:
    """Whether this Python has a file of the `test` package (distributions often leave the package out)."""
    try:
        return importlib.util.find_spec(f"test.{name}") is not None
    except ModuleNotFoundError:
        return False
