"""The options of `jit`: which values each takes, and what they mean for the entries of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft.jit.signature import Signature

MODES: Final = ("PSJit", "PIJit")
CAPTURE_MODES: Final = ("ast", "bytecode", "trace")
JIT_LEVELS: Final = ("", "O0", "O1", "O2", "O3")
BACKENDS: Final = ("", "ms_backend", "GE")
SYNTAX_LEVELS: Final = ("", "STRICT", "LAX")
#: back-end options and the values they take (None: any)
BACKEND_OPTIONS: Final[dict[str, tuple[Any, ...] | None]] = {
    "disable_format_transform": (False, True),
    "exec_order": ("", "bfs", "dfs"),
    "ge_options": None,
    "infer_boost": ("off", "on"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What a decorated function was asked to do.

    Args:
        guarded: whether values read from outside are guarded; else they are constants of each capture.
        absent_in_graph_mode: whether the decorator counts as absent in graph mode.
        fullgraph: whether leaving the graph is an error.
        compile_once: whether functions made from the same code share their entries.
        hash_args: objects whose hashes are part of the key of an entry.
        signature: what the arguments must agree with, None if nothing was stated.
    """

    guarded: bool = True
    absent_in_graph_mode: bool = False
    fullgraph: bool = False
    compile_once: bool = False
    hash_args: tuple[Any, ...] = ()
    signature: Signature | None = None


def one_of(option: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Check an option's value.

    Raises:
        ValueError: it is none of those allowed; the message lists them.
    """
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        raise ValueError(f"jit({option}={value!r}): the choices are {', '.join(map(repr, allowed))}")


def options_of(
    mode: str | None,
    capture_mode: str | None,
    input_signature: Any,
    hash_args: Any,
    jit_config: Any,
    compile_once: Any,
    jit_level: Any,
    dynamic: Any,
    fullgraph: Any,
    backend: Any,
    others: Mapping[str, Any],
) -> Options:
    """The checked options of a call of `jit`, see there.

    Raises:
        ValueError: a value is none of the option's choices, or two options contradict each other.
        TypeError: an option is unknown, or has the wrong type.
    """
    if mode is not None:
        one_of("mode", mode, MODES)
    if capture_mode is not None:
        one_of("capture_mode", capture_mode, CAPTURE_MODES)
    static, guarding = mode == "PSJit", mode == "PIJit"
    if (static and capture_mode in ("bytecode", "trace")) or (guarding and capture_mode == "ast"):
        raise ValueError(
            f"jit(mode={mode!r}, capture_mode={capture_mode!r}) contradict each other: 'PSJit' is 'ast', and 'PIJit' "
            "is 'bytecode'; give one of the two"
        )
    one_of("compile_once", compile_once, (False, True))
    one_of("fullgraph", fullgraph, (False, True))
    one_of("dynamic", int(dynamic) if isinstance(dynamic, bool) else dynamic, (0, 1))
    one_of("jit_level", jit_level, JIT_LEVELS)
    one_of("backend", backend, BACKENDS)
    for option, value in others.items():
        if option not in BACKEND_OPTIONS:
            known = ", ".join(BACKEND_OPTIONS)
            raise TypeError(f"jit() got an unexpected keyword argument {option!r}; the back-end options are {known}")
        allowed = BACKEND_OPTIONS[option]
        if allowed is not None:
            one_of(option, value, allowed)
    return Options(
        guarded=not (static or capture_mode == "ast"),
        absent_in_graph_mode=guarding or capture_mode == "bytecode",
        fullgraph=fullgraph or _is_strict(jit_config),
        compile_once=compile_once,
        hash_args=_hashable(hash_args),
        signature=None if input_signature is None else Signature(input_signature),
    )


def _is_strict(jit_config: Any) -> bool:
    """Whether a `JitConfig`, or a dict with the same keys, asks for the strict syntax level."""
    if jit_config is None:
        return False
    if isinstance(jit_config, Mapping):
        values = dict(jit_config)
    elif hasattr(jit_config, "jit_level") and hasattr(jit_config, "jit_syntax_level"):
        values = vars(jit_config)
    else:
        raise TypeError(f"jit(jit_config=...) takes a JitConfig or a dict, not {type(jit_config).__name__}")
    one_of("jit_config: jit_level", values.get("jit_level", ""), JIT_LEVELS)
    one_of("jit_config: jit_syntax_level", values.get("jit_syntax_level", ""), SYNTAX_LEVELS)
    return bool(values.get("jit_syntax_level") == "STRICT")


def _hashable(hash_args: Any) -> tuple[Any, ...]:
    if hash_args is None:
        return ()
    values = tuple(hash_args) if isinstance(hash_args, (list, tuple)) else (hash_args,)
    for value in values:
        try:
            hash(value)
        except TypeError as error:
            raise TypeError(
                f"jit(hash_args=...): {type(value).__name__} has no hash, so a change of it cannot be noticed; "
                "give a tuple, a number, a string, or an object with __hash__"
            ) from error
    return values
