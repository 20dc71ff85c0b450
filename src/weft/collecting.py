"""The garbage collector while weft is imported, and what it looks at afterwards.

Importing makes over 100,000 objects and no garbage, so no collection runs meanwhile. The objects live as long as the
process; where nobody else's are among them they are frozen: a full collection, of which some run when the process ends,
then takes half as long.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LIBRARIES: Final = tuple(
    os.path.join(path, "")
    for name, path in sysconfig.get_paths().items()
    if name in ("stdlib", "platstdlib", "purelib", "platlib")
)
#: what a script has that did nothing so far but import and define
_DEFINED: Final = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type, str, bytes, int, float, complex, type(None),
)  # fmt: skip


@contextmanager
def importing() -> Iterator[None]:
    """Within the block weft is imported."""
    enabled, nothing_else = gc.isenabled(), _only_libraries()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                if not nothing_else:
                    gc.unfreeze()  # all in the oldest generation now, where they wait for their time
            gc.enable()


def _only_libraries() -> bool:
    """Whether all objects so far are those of libraries: what is frozen is never found to be garbage."""
    if _thread._count():
        return False
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name != "<module>" and not code.co_filename.startswith((*_LIBRARIES, "<frozen ", __file__)):
            return False
        frame = frame.f_back
    for name, module in list(sys.modules.items()):
        if name == "__main__":
            if not all(isinstance(value, _DEFINED) for key, value in vars(module).items() if key[:2] != "__"):
                return False
        elif name.partition(".")[0] != "weft":
            file = getattr(module, "__file__", None)
            if file is not None and not os.path.abspath(file).startswith(_LIBRARIES):
                return False
    return True
