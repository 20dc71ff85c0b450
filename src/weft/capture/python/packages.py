"""What capture takes for granted about packages: which hold no code of the user's, and which never change."""

from __future__ import annotations

import os
import sys
import types
from typing import Final

from weft.core.tracebacks import WEFT

#: the folder of captures
CAPTURE: Final = os.path.join(WEFT, "capture", "")
#: packages whose Python functions run natively: they hold no code that must be captured
NATIVE_PACKAGES: Final = frozenset(
    {
        "numpy", "jax", "jaxlib", "scipy", "re", "enum", "abc", "typing", "string",
        "textwrap", "json", "fractions", "decimal", "numbers", "dataclasses", "inspect", "reprlib",
        "operator", "math", "linecache", "keyword",
        "importlib", "ml_dtypes", "builtins", "statistics",
    }
)  # fmt: skip
#: functions of those packages that are entered all the same: they take objects of the program apart, or make them
ENTERED: Final = frozenset(
    {
        ("typing", "_BaseGenericAlias.__call__"),
        *(
            ("dataclasses", name)
            for name in (
                "replace", "_replace", "asdict", "_asdict_inner", "astuple", "_astuple_inner", "fields",
                "is_dataclass", "_is_dataclass_instance", "_dataclass_getstate", "_dataclass_setstate",
            )
        ),
    }
)  # fmt: skip
#: modules of C functions that depend on nothing but their arguments
PURE_MODULES: Final = frozenset(
    {
        "builtins", "math", "cmath", "_operator", "operator", "itertools", "functools", "_functools", "collections",
        "_collections", "_collections_abc", "re", "_sre", "string", "_string", "struct", "_struct", "binascii",
        "unicodedata", "_bisect", "_heapq", "copy", "types", "typing", "_typing", "_abc", "enum", "numpy",
        "ml_dtypes", "_stat", "array", "_statistics",
    }
)  # fmt: skip
#: C modules that change the interpreter itself: a call of them runs in Python as a whole
INTERNALS: Final = frozenset({"_testcapi", "_testinternalcapi", "_testlimitedcapi"})
#: packages of debuggers, which look at the frames of the program
DEBUGGERS: Final = frozenset({"pdb", "bdb", "ipdb", "IPython", "pudb", "debugpy"})
#: packages whose modules and classes are taken not to change: the framework and what it stands on
TRUSTED_PACKAGES: Final = frozenset({"weft", "mindspore", "jax", "jaxlib", "numpy"})
#: the framework by both of its names
OWN_PACKAGES: Final = frozenset({"weft", "mindspore"})


#: where the standard library lies
_STANDARD: Final = os.path.join(os.path.dirname(os.__file__), "")


def is_standard(name: str) -> bool:
    """Whether a module is of the standard library: one of the program may have the same name.

    Example:
        >>> import enum
        >>> is_standard("enum"), is_standard("numpy")
        (True, False)
    """
    module = sys.modules.get(name)
    if module is None or name == "builtins" or name.partition(".")[0] not in sys.stdlib_module_names:
        return False
    file = module.__dict__.get("__file__")
    return file is None or file.startswith(_STANDARD)


#: a flag of classes that are made while the program runs, as those of class statements are
_HEAP_TYPE: Final = 1 << 9


def is_heap_type(cls: type) -> bool:
    """Whether a class was made by a class statement, or as if by one, and not built into the interpreter."""
    return not issubclass(type(cls), type) or bool(cls.__flags__ & _HEAP_TYPE)


def is_ours(function: types.FunctionType) -> bool:
    """Whether a function is the framework's own."""
    return module_of_function(function).startswith("weft.")


def module_of_function(function: types.FunctionType) -> str:
    """The module of a function, "" where what it says and where its code stands are of different packages.

    `functools.wraps` gives a function of the program the name of a library's, and one of a library a program's.
    """
    declared, written = function.__module__, function.__globals__.get("__name__")
    if declared is written and type(declared) is str:  # as for almost all
        return declared
    if not isinstance(declared, str) or not isinstance(written, str):
        return ""
    return declared if declared.partition(".")[0] == written.partition(".")[0] else ""


def module_of(cls: type) -> str:
    """The module that a class names, "" if none: asking the class itself may be code of a metaclass."""
    try:
        found = type.__dict__["__module__"].__get__(cls)
    except AttributeError:
        return ""
    return found if isinstance(found, str) else ""
