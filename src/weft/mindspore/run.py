"""Run a script or module as `python` would, with `mindspore` answered by weft."""

from __future__ import annotations

import builtins
import importlib
import io
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from multiprocessing import spawn
from types import ModuleType, TracebackType
from typing import Any, Final

from weft.core.tracebacks import is_full, kept
from weft.mindspore.finder import install
from weft.parallel.processes import processes

_OWN_FILES: Final = frozenset({__file__, runpy.__file__, "<frozen runpy>"})


class CannotRun(Exception):
    """The program to run was not found or cannot be read."""


def run_script(path: str, arguments: list[str]) -> int:
    """Run a file as the main program.

    Args:
        path: the script; a folder runs its ``__main__.py``.
        arguments: what follows the script in ``sys.argv``.

    Returns:
        int: exit status; `SystemExit` of the script passes through.

    Raises:
        CannotRun: the file cannot be read.
    """
    script, folder = path, os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        script, folder = os.path.join(path, "__main__.py"), os.path.abspath(path)
    try:
        with io.open_code(os.path.abspath(script)) as file:
            source = file.read()
    except OSError as error:
        raise CannotRun(f"can't open file {script!r}: {error.strerror}") from None
    _open()
    _enter(path, arguments, folder)
    main = _fresh_main(script)

    def body() -> None:
        exec(compile(source, script, "exec", dont_inherit=True), main.__dict__)

    return _run(body)


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module as the main program, like ``python -m``.

    Args:
        name: dotted name.
        arguments: what follows the module in ``sys.argv``.

    Returns:
        int: exit status; `SystemExit` of the module passes through.

    Raises:
        CannotRun: there is no such module.
    """
    _open()
    _enter(name, arguments, os.getcwd())
    try:
        runpy._get_module_details(name)  # type: ignore[attr-defined]
    except ImportError as error:
        raise CannotRun(str(error)) from None
    return _run(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


class _Door:
    """Opens the door where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, ("weft.mindspore",)


def _open() -> None:
    """Have `mindspore` answered by weft, also in processes that `multiprocessing` spawns, which run the program too."""
    install()
    prepared = spawn.get_preparation_data

    def with_door(name: str) -> dict[str, Any]:
        return {"door": _Door(), **prepared(name)}

    spawn.get_preparation_data = with_door


def _enter(program: str, arguments: list[str], folder: str) -> None:
    sys.argv[:] = [program, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _fresh_main(script: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=script,
        __builtins__=builtins,
        __cached__=None,
        __loader__=SourceFileLoader("__main__", script),
        __package__=None,
        __spec__=None,
    )
    sys.modules["__main__"] = main
    return main


def _run(body: Any) -> int:
    """Run the program; an exception that ends it is shown as Python shows it, without the frames above it."""
    try:
        body()
    except SystemExit as error:
        attendance = processes().attendance
        if attendance is not None:
            attendance.note_exit(error)
        raise
    except BaseException as error:
        attendance = processes().attendance
        if attendance is not None:
            attendance.fail(error)  # before a hook of the program's own, which may end the process
        sys.excepthook(type(error), error.with_traceback(_users(error.__traceback__)), _users(error.__traceback__))
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _users(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OWN_FILES:
        traceback = traceback.tb_next
    return traceback if is_full() else kept(traceback) or traceback
