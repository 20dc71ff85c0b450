"""What is imported when it is first used: all names are there, and nobody sees that some came later."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import weft
from weft import lazily

SOURCE = Path(weft.__file__).parent
PACKAGES = ("weft", "weft.nn", "weft.explain")
#: what few programs need, so that importing weft does without
LATER = (
    "bytecode", "concurrent.futures.thread", "jax.scipy.linalg", "jax.scipy.special", "weft.explain.findings",
    "weft.explain.page", "weft.nn.layer.conv", "weft.nn.optim", "weft.train",
)  # fmt: skip


def run(program: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_importing_weft_leaves_out_what_few_programs_need() -> None:
    assert run(f"import sys, weft; print([m for m in {LATER!r} if m in sys.modules])") == "[]\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_and_programs_see_the_same_names(package: str) -> None:
    path = SOURCE.joinpath(*package.split(".")[1:], "__init__.py")
    (branch,) = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    static = {
        alias.name: node.module for node in branch.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    waiting = dict(lazily._WAITING[package])
    for module in [name for name, where in waiting.items() if where == package]:
        del waiting[module]
        assert static.pop(module, package) == package
        assert (path.parent / f"{module}.py").exists() or (path.parent / module / "__init__.py").exists()
    if "*" in static:  # all names of the modules, of which `__all__` lists those that are meant
        modules = {node.module for node in branch.body if isinstance(node, ast.ImportFrom)}
        static = {name: module for name, module in waiting.items() if module in modules}
        for name, module in static.items():
            assert name in vars(importlib.import_module(str(module))), (module, name)
            assert name in importlib.import_module(package).__all__
    assert static == waiting


def test_nothing_waits_for_what_is_imported_later() -> None:
    """A module that some programs never import puts nothing into another one."""
    there = run("import sys, weft; print(*[m for m in sys.modules if m.startswith('weft')])").split()
    for path in SOURCE.rglob("*.py"):
        name = ".".join(("weft", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        if name in there:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            assert not any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets), (
                name,
                node.lineno,
            )


def test_optimizers_need_no_layer() -> None:
    program = "from weft import Parameter, Tensor, nn; print(nn.Adam([Parameter(Tensor([1.0]), name='w')]).moment1[0])"
    assert run(program) == "Parameter (name=moment1.w, shape=(1,), dtype=Float32, requires_grad=False)\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_public_name_is_there_and_listed_before_it_is_used(package: str) -> None:
    program = f"""
import importlib
package = importlib.import_module({package!r})
missing = set(package.__all__) - set(dir(package))
found = {{}}
exec("from {package} import *", found)
print(missing, set(package.__all__) - set(found), hasattr(package, "missing_name"))
"""
    assert run(program) == "set() set() False\n"


def test_pickles_of_what_was_not_imported_yet_are_read() -> None:
    write = "import pickle, weft; print(pickle.dumps([weft.nn.ReLU, weft.train.Model]).hex())"
    read = f"import pickle, weft; print(pickle.loads(bytes.fromhex({run(write).strip()!r})))"
    assert run(read) == "[<class 'weft.nn.layer.activation.ReLU'>, <class 'weft.train.model.Model'>]\n"


def test_threads_may_read_a_name_at_once() -> None:
    program = """
import threading, weft
start, found = threading.Barrier(8), []
def read():
    start.wait()
    found.append(weft.nn.Adam)
threads = [threading.Thread(target=read) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(found)))
"""
    assert run(program) == "8 1\n"


def test_a_compiled_function_finds_every_name_in_its_place() -> None:
    """A name read for the first time while a function is captured is neither a break nor a guard that fails later."""
    program = """
import sys, weft
from weft import Tensor, nn
before = "weft.nn.layer.activation" in sys.modules
@weft.jit
def function(x):
    layer = nn.ReLU() if hasattr(nn, "ReLU") and not hasattr(nn, "Missing") else None
    return layer(x)
x = Tensor([-1.0, 2.0])
print(before, function(x), function(x), function.report())
print(weft.explain(function)(x).functions[0].name)
"""
    first, *rest = run(program).splitlines()
    assert first.startswith("False [0. 2.] [0. 2.] function ")
    assert "1 graph, 0 breaks, 0 recompiles" in first
    assert rest[-1] == "function"


def test_a_deferred_module_is_imported_by_the_first_attribute() -> None:
    program = """
import sys
from weft import lazily
module = lazily.deferred("this_is_no_module"), lazily.deferred("wave")
print("wave" in sys.modules, module[1].Error.__name__, "wave" in sys.modules)
print(lazily.deferred("wave") is sys.modules["wave"])
try:
    module[0].name
except ModuleNotFoundError as error:
    print(error)
"""
    assert run(program) == "False Error True\nTrue\nNo module named 'this_is_no_module'\n"


def test_bringing_all_twice_changes_nothing() -> None:
    lazily.bring_all()
    before = dict(vars(weft.nn))
    thread = threading.Thread(target=lazily.bring_all)
    thread.start()
    thread.join()
    assert dict(vars(weft.nn)) == before


def test_compiling_imports_only_what_the_function_reads() -> None:
    program = f"""
import sys, weft
from weft import Tensor
compiled = weft.jit(lambda x: weft.ops.relu(x) * 2)
print(compiled(Tensor([-1.0, 2.0])))
print([m for m in {LATER!r} if m in sys.modules])
"""
    assert run(program) == "[0. 4.]\n['bytecode']\n"  # capture makes code


def test_what_a_capture_imports_is_the_same_as_outside() -> None:
    """Modules imported while a function is captured make no tensors of that graph that stay in them."""
    program = """
import sys, types, weft
from weft import Tensor, lazily
places = [(sys.modules[package], name) for package, names in lazily._WAITING.items() for name in names]
@weft.jit
def function(x):
    count = 0
    for module, name in places:
        count += getattr(module, name) is not None
    return x + count
print(int(function(Tensor([0]))[0]) == len(places), function.report().breaks)
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "weft":
        for value in vars(module).values():
            if isinstance(value, Tensor):
                value.asnumpy()
            elif isinstance(value, type):
                for held in vars(value).values():
                    if isinstance(held, Tensor):
                        held.asnumpy()
"""
    assert run(program) == "True ()\n"


def test_modules_that_call_themselves_anything_are_read() -> None:
    program = """
import types, weft
from weft import Tensor
strange, nameless = types.ModuleType("strange"), types.ModuleType("nameless")
strange.__name__ = []
del nameless.__name__
strange.value, nameless.value = 2.0, 3.0
@weft.jit
def function(x):
    return x * strange.value * nameless.value if not hasattr(nameless, "other") else x
print(function(Tensor([1.0])))
class Claimed:
    scale = 2.0
Claimed.__module__ = "mindspore.that_is_not_there"
weft.set_context(enable_compile_cache=True, compile_cache_path=FOLDER)
print(weft.jit(lambda x: x * Claimed.scale)(Tensor([1.0])))
"""
    with tempfile.TemporaryDirectory() as folder:
        assert run(f"FOLDER = {folder!r}\n{program}") == "[6.]\n[2.]\n"


def test_the_next_process_finds_what_only_a_capture_imported(tmp_path: Path) -> None:
    program = f"""
import sys, weft
from weft import Tensor, nn
from weft.capture.machine.interpreter import Interpreter
weft.set_context(compile_cache_path={str(tmp_path)!r}, enable_compile_cache=True)
if sys.argv[1:]:
    Interpreter.__init__ = None
@weft.jit
def function(x):
    from weft.nn import Conv2d
    return weft.ops.relu(x) if issubclass(Conv2d, nn.Cell) and issubclass(weft.train.Model, object) else x
print(function(Tensor([-1.0, 2.0])))
"""
    for arguments in ((), ("only what was kept",)):
        command = [sys.executable, "-c", program, *arguments]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        assert found.stdout == "[0. 2.]\n"
