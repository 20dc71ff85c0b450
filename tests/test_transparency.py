"""Where library code calls what it was given: each such place is declared, and captured, left to Python, or our own.

The table below is complete: the test finds the places in the source.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft import nn
from weft.core.transparency import KEEPING, TRANSPARENT

ROOT = Path(weft.__file__).parent
#: folders whose code runs around captures and graphs, not inside of what is captured
AROUND = {
    *("cache", "capture", "compile", "data", "ir", "passes", "explain", "jit", "mindspore", "demo", "cli.py"),
    "testing.py",
}

#: functions that capture enters
ENTERED = {
    "weft.autodiff.backward:run_hook",
    "weft.autodiff.composite:_map",
    "weft.autodiff.custom:BpropRule.pull",
    "weft.autodiff.custom:CellWatch.run_hooks",
    "weft.autodiff.custom:CellWatch.run_pre_hooks",
    "weft.autodiff.custom:HookRule.pull",
    "weft.autodiff.custom:InsertGradientOf._apply",
    "weft.autodiff.custom:call_with_bprop",
    "weft.autodiff.custom:cell_backward_hook",
    "weft.autodiff.higher:_orders",
    "weft.autodiff.higher:_orders.<locals>.up_to",
    "weft.autodiff.higher:jet",
    "weft.autodiff.higher:jet.<locals>.along",
    "weft.autodiff.pausing:no_grad.__call__",
    "weft.autodiff.pausing:no_grad.__call__.<locals>.paused",
    "weft.autodiff.recompute:recompute",
    "weft.autodiff.registry:GetterRule.__call__",
    "weft.autodiff.session:call",
    "weft.core.operators:_implementation",
    "weft.core.operators:Operator._bprop",
    "weft.core.operators:differentiated",
    "weft.core.operators:prim_attr_register",
    "weft.core.operators:prim_attr_register.<locals>.initialize",
    "weft.core.operators:spread_call",
    "weft.nn.hooks:_after",
    "weft.nn.hooks:_construct",
    "weft.nn.hooks:call_with_extras",
    "weft.nn.layer.calculus:TimeDistributed.construct",
    "weft.nn.optim.optimizer:opt_init_args_register",
    "weft.nn.optim.optimizer:opt_init_args_register.<locals>.constructor",
    "weft.nn.wrap:loss_and_gradients",
    "weft.parallel.strategies:call",
    "weft.parallel.strategies:spread_around",
    "weft.nn.wrap:loss_and_gradients.<locals>.scaled",
    "weft.ops.legacy:Morph.__call__",
    "weft.ops.loops:fori_loop",
    "weft.ops.loops:scan",
    "weft.ops.loops:while_loop",
    "weft.ops.sparse:_Matrix.of_values",
    "weft.vectorize:EnsembleFunction.__call__",
    "weft.vectorize:VmapFunction.traced",
}
#: functions whose call with code of the user's runs in Python
BREAKS = {
    "weft.autodiff.check:_check",
    "weft.autodiff.check:_check.<locals>.objective",
    "weft.autodiff.check:_check.<locals>.gradient",
    "weft.autodiff.check:_difference",
    "weft.autodiff.registry:BpropRegistry.replaced",
    "weft.nn.cell:Cell.apply",
    "weft.nn.state:State._load_from_state_dict",
    "weft.nn.state:State.state_dict",
    "weft.nn.state:_load",
    "weft.nn.lazy_inline:lazy_inline",
    "weft.nn.lazy_inline:lazy_inline.<locals>.initialize",
    "weft.nn.optim.lars:LARS.__init__",
    "weft.nn.experimental.lr_scheduler:CyclicLR._height",
    "weft.nn.experimental.lr_scheduler:LambdaLR.get_lr",
    "weft.nn.experimental.lr_scheduler:MultiplicativeLR.get_lr",
    "weft.train.callback:LearningRateScheduler.step_end",
    "weft.train.callback_manager:_moment",
    "weft.train.callback_manager:_moment.<locals>.call",
    "weft.train.feeding:data_sink",
    "weft.train.likeness_metrics:OcclusionSensitivity._scores",
    "weft.train.metrics:rearrange_inputs",
    "weft.train.metrics:rearrange_inputs.<locals>.update",
    "weft.train.feeding:data_sink.<locals>.sunk",
    "weft.parallel.holdings:_by_sharding",
    "weft.parallel.rows:call",
    "weft.parallel.spanning:Spanning.__call__",
    "weft.parallel.spanning:Spanning._digest",
    "weft.parallel.spanning:_run",
    "weft.train.model:Model.predict.<locals>.<lambda>",
    "weft.train.model:_call",
    "weft.train.folders:merged",
    "weft.train.loading:chooser",
    "weft.train.loading:chooser.<locals>.chosen",
    "weft.train.serialization:collected",
    "weft.train.loading:from_file",
    "weft.train.loading:from_folders",
    "weft.train.summary:SummaryRecord.record",
    "weft.train.transforming:unified_safetensors",
}
#: functions that make host calls, whose functions run in Python when the graph comes to them
HOST = {"weft.ops.host:HostCall.perform", "weft.ops.host:host_call"}
#: modules and functions that call functions of the library only
OWN = {
    "weft._jax_compat",
    "weft.autodiff.custom:BpropRule.on",
    "weft.autodiff.custom:CellRule.on",
    "weft.autodiff.custom:HookRule.on",
    "weft.autodiff.custom:TensorHookRule.on",
    "weft.autodiff.custom:on_objects.<locals>.<lambda>",
    "weft.autodiff.recompute:Recomputed.pull",
    "weft.autodiff.recompute:_Operations.__call__",
    "weft.autodiff.rules:GraphRule.gradients",
    "weft.autodiff.session:_track",
    "weft.lazily:lazily",
    "weft.nn.declared:_compute_with",
    "weft.nn.optim.keeping:_program",
    "weft.nn.optim.keeping:_program.<locals>.run",
    "weft.parallel.spanning:told_of",
    "weft.autodiff.tree:map_tensors",
    "weft.autodiff.whole",
    "weft.context",
    "weft.core",
    "weft.mindir.exporting:_stablehlo",
    "weft.parallel.attendance",
    "weft.parallel.coordinator",
    "weft.parallel.exchange",
    "weft.parallel.wire",
    "weft.mindir.graph_cell:_check_conditions",
    "weft.mindir.reading:_check_operations",
    "weft.mint.extended",
    "weft.mint.functional:_averaged",
    "weft.mint.functional:_convolved",
    "weft.mint.rows",
    "weft.mindir.samples:_Samples._sample",
    "weft.nn.declared:_Operator.__get__",
    "weft.nn.declared:_OfLayer.construct",
    "weft.nn.declared:_checked",
    "weft.nn.declared:_checked.<locals>.checked",
    "weft.nn.declared:_applying",
    "weft.nn.declared:_applying.<locals>.construct",
    "weft.nn.declared:calling",
    "weft.nn.declared:calling.<locals>.construct",
    "weft.nn.declared:keep",
    "weft.nn.layer.embedding:_spread_rows",
    "weft.nn.dynamic_lr:_decay",
    "weft.nn.layer.container:CellList.__getitem__",
    "weft.nn.layer.container:SequentialCell.__getitem__",
    "weft.nn.learning_rate_schedule:_schedule.<locals>.<lambda>",
    "weft.nn.loss:_Compared.__init_subclass__.<locals>.construct",
    "weft.nn.probability.distribution:_drawn",
    "weft.ops",
    "weft.rewrite",
    "weft.train.amp:_each",
    "weft.parallel.slices:assembled.<locals>.<lambda>",
    "weft.train.serialization:write_later.<locals>.write",
    "weft.train.sliced:Sliced.__init__",
    "weft.train.sliced:Sliced.of_folders",
    "weft.vectorize:VmapCall._example",
    "weft.vectorize:_mapped",
}


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every function of a module with its qualified name and the class it is a method of."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            for name, function, owner in functions(node, f"{prefix}{node.name}."):
                yield name, function, owner or f"{prefix}{node.name}"
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            name = prefix + getattr(node, "name", "<lambda>")
            yield name, node, ""
            for inner, function, _ in functions(node, f"{name}.<locals>."):
                yield inner, function, ""
        else:
            yield from functions(node, prefix)


def own_nodes(function: Any) -> Iterator[ast.AST]:
    """The nodes of a function's body that belong to no function inside."""
    pending = list(function.body) if isinstance(function.body, list) else [function.body]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(
            child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.FunctionDef, ast.Lambda))
        )


def parameters_of(function: Any) -> set[str]:
    arguments = function.args
    return {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]} - {"self", "cls"}


def stored(owner: Any, name: str) -> bool:
    """Whether an attribute of a class's instances is no method."""
    found = inspect.getattr_static(owner, name, None)
    return found is None or not (inspect.isroutine(found) or isinstance(found, (staticmethod, classmethod, type)))


def calls_in(function: Any, owner: Any, variables: set[str]) -> Iterator[str]:
    """The parameters, stored attributes and variables over them that a function calls."""
    loops = {
        target.id
        for node in own_nodes(function)
        if isinstance(node, (ast.For, ast.comprehension))
        for target in ast.walk(node.target)
        if isinstance(target, ast.Name)
    }
    for node in own_nodes(function):
        if not isinstance(node, ast.Call):
            continue
        callee = node.func
        if isinstance(callee, ast.Name) and callee.id in variables | loops:
            yield callee.id
        elif isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
            if callee.value.id == "self" and owner is not None and stored(owner, callee.attr):
                yield f"self.{callee.attr}"
        elif isinstance(callee, (ast.Subscript, ast.Call)):
            yield ast.unparse(callee)


def places() -> dict[str, tuple[str, str]]:
    """module:function -> the file, and what the function calls."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(ROOT.rglob("*.py")):
        relative = file.relative_to(ROOT)
        if relative.parts[0] in AROUND or file.name == "__main__.py":
            continue
        module = ".".join(["weft", *relative.with_suffix("").parts]).removesuffix(".__init__")
        loaded = importlib.import_module(module)
        tree = ast.parse(file.read_text())
        outer: dict[str, set[str]] = {}
        for name, function, owner_name in functions(tree):
            owner: Any = None
            if owner_name and ".<locals>" not in owner_name:
                owner = loaded
                for part in owner_name.split("."):
                    owner = getattr(owner, part)
            around = outer.get(name.rpartition(".<locals>.")[0], set())
            variables = outer[name] = parameters_of(function) | around
            called = sorted(set(calls_in(function, owner, variables)))
            if called:
                found[f"{module}:{name}"] = (str(file), ", ".join(called))
    return found


PLACES = places()


def codes(table: set[Any]) -> set[tuple[str, str]]:
    return {(code.co_filename, code.co_qualname) for code in table}


def is_of_cell(place: str) -> bool:
    """Whether a function is a method of a library Cell, which capture enters where the Cell holds the user's code."""
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split(".")[:-1]:
        found = getattr(found, part, None)
    return isinstance(found, type) and issubclass(found, nn.Cell) and not name.endswith("__init__")


def is_own(place: str) -> bool:
    return place in OWN or place.partition(":")[0] in OWN or ".".join(place.split(".")[:2]) in OWN


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_calls_what_it_was_given_is_declared(place: str) -> None:
    file, called = PLACES[place]
    code = file, place.partition(":")[2]
    if place in ENTERED:
        assert code in codes(TRANSPARENT)
        return
    assert code not in codes(TRANSPARENT), f"{place} is entered; say so in the table"
    if is_of_cell(place) and place not in BREAKS and place not in OWN:
        return
    assert place in BREAKS or place in HOST or is_own(place), f"{place} calls {called}: declare what capture does"
    if place in BREAKS:
        assert code not in codes(KEEPING), f"{place} calls {called}, so it does not just keep it"


def test_the_tables_name_what_there_is() -> None:
    named = {place for place in ENTERED | BREAKS | HOST | OWN if ":" in place}
    assert named <= set(PLACES)


def test_what_keeps_the_functions_it_is_given_does_not_call_them() -> None:
    keeping = codes(KEEPING)
    wrong = [place for place, (file, _) in PLACES.items() if (file, place.partition(":")[2]) in keeping]
    assert [place for place in wrong if not is_own(place)] == []
