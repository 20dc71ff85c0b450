"""The door: every row of the table resolves, missing names fail where they are imported, our modules win."""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

import weft
import weft.mindspore
from tests.helpers.processes import python
from weft.mindspore.finder import DoorModule, names_of, resolve
from weft.mindspore.table import MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_row_resolves(module: str) -> None:
    for name in names_of(module):
        assert resolve(module, name) is not None or name == "newaxis"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_and_lists_its_names(module: str) -> None:
    found = importlib.import_module(module)
    assert isinstance(found, DoorModule)
    assert sys.modules[module] is found
    assert set(names_of(module)) <= set(dir(found))
    parent, _, child = module.rpartition(".")
    if parent:
        assert parent in MODULES, "the module around it is a row too"
        inside = getattr(sys.modules[parent], child)
        assert inside is found or child in names_of(parent)


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    (
        (
            "from mindspore import Tensr",
            ImportError,
            "weft has no mindspore.Tensr; the nearest names are mindspore.Tensor",
        ),
        ("from mindspore.nn import conv2d", ImportError, "mindspore.nn.Conv2d"),
        ("from mindspore.nn import GradOperation", ImportError, "it is at mindspore.ops.GradOperation"),
        ("import mindspore\nmindspore.nn.Dens", AttributeError, "mindspore.nn.Dense"),
        ("import mindspore.ops as ops\nops.Nonesuch()", AttributeError, "weft has no mindspore.ops.Nonesuch"),
        ("import mindspore.nonesuch", ModuleNotFoundError, "weft has no module mindspore.nonesuch"),
        ("import mindspore.comon.dtype", ModuleNotFoundError, "weft has no module mindspore.comon"),
        ("import mindspore.common.dtpe", ModuleNotFoundError, "mindspore.common.dtype"),
        ("from mindspore.common.dtpe import float32", ModuleNotFoundError, "mindspore.common.dtype"),
        ("from mindspore import nonesuch", ImportError, "weft has no mindspore.nonesuch"),
    ),
)
def test_a_missing_name_fails_at_once_and_names_the_nearest(
    statement: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        exec(statement, {})
    assert type(caught.value) is error
    assert message in str(caught.value)


def test_feature_detection_works() -> None:
    import mindspore

    assert hasattr(mindspore, "Tensor")
    assert not hasattr(mindspore, "nonesuch")
    assert getattr(mindspore, "nonesuch", 3) == 3
    assert not hasattr(mindspore, "__wrapped__")


def test_objects_are_weft_objects() -> None:
    import mindspore as ms
    import mindspore.common.dtype as mstype
    import mindspore.context as context
    from mindspore import Tensor, nn, ops
    from mindspore.common import Parameter
    from mindspore.common.tensor import Tensor as same_tensor
    from mindspore.nn.layer.conv import Conv2d
    from mindspore.ops import functional as F
    from mindspore.ops import operations as P
    from mindspore.ops.composite import GradOperation

    assert Tensor is same_tensor is weft.Tensor
    assert Parameter is weft.Parameter
    assert nn.Cell is weft.nn.Cell
    assert Conv2d is nn.Conv2d
    assert mstype.float32 is ms.float32 is weft.float32
    assert context.set_context is ms.set_context
    assert P.Add is ops.Add
    assert F.grad is ops.grad
    assert GradOperation is ops.GradOperation


def test_a_module_does_not_hide_a_function_of_the_same_name() -> None:
    import mindspore.common.mutable
    from mindspore.common import mutable

    assert not isinstance(mutable, ModuleType)
    assert mindspore.mutable is mutable


def test_star_import_gives_all_public_names() -> None:
    scope: dict[str, object] = {}
    exec("from mindspore.nn import *", scope)
    assert scope["Cell"] is weft.nn.Cell
    assert set(names_of("mindspore.nn")) <= set(scope)


def test_an_installed_mindspore_is_not_used(tmp_path: Path) -> None:
    """Also where something was imported from it before."""
    package = tmp_path / "mindspore"
    (package / "nn").mkdir(parents=True)
    (package / "__init__.py").write_text("Tensor = 'theirs'\n")
    (package / "nn" / "__init__.py").write_text("")
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import mindspore, mindspore.nn
        assert mindspore.Tensor == "theirs"
        import weft, weft.mindspore
        import mindspore, mindspore.nn
        assert mindspore.Tensor is weft.Tensor
        assert mindspore.nn.Cell is weft.nn.Cell
    """
    assert python("-c", textwrap.dedent(program), str(tmp_path)).stderr == ""


def test_importing_weft_alone_installs_no_hook() -> None:
    program = "import sys, weft; assert not any('weft' in type(f).__module__ for f in sys.meta_path)"
    assert python("-c", program).stderr == ""


def test_importing_weft_compiles_nothing_and_loads_no_extras() -> None:
    program = """
        import sys
        import weft
        extras = {"sklearn", "rich", "matplotlib", "safetensors", "optax"}
        assert not extras & set(sys.modules), extras & set(sys.modules)
        from weft.core.primitive import Primitive
        compiled = [p.name for p in Primitive.table.values() for run in p.executables.values() if run._cache_size()]
        assert not compiled, compiled
    """
    assert python("-c", textwrap.dedent(program)).stderr == ""


def test_sync_waits() -> None:
    from mindspore.common.api import _pynative_executor

    x = weft.Tensor([[1.0, 2.0], [3.0, 4.0]]) * 2
    _pynative_executor.sync()
    assert x._data.is_ready()
    with pytest.raises(AttributeError, match="sync"):
        _pynative_executor.nonesuch()


def test_root_is_small() -> None:
    """At most 60 public names at the root besides MindSpore's own."""
    public = set(weft.__all__) - set(names_of("mindspore")) - {"nn", "ops"}
    assert len(public) <= 60
    assert all(hasattr(weft, name) for name in weft.__all__)
