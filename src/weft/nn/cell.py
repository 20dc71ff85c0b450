"""Cell: a network or a part of one, with its parameters, sub-cells, mode and hooks.

A Cell's parameters and sub-cells are ordinary attributes, listed in `_params` and `_cells` besides. `_version`
counts the attribute writes that change something, so that one integer tells whether anything that a compiled graph took
from the cell has changed. It counts in twos: its last bit is whether the cell trains, so that a cell which goes back to
a mode has the version back that it had there.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from weft import context
from weft.autodiff.starts import is_hooked
from weft.capture.python.namespaces import set_state
from weft.capture.python.users import users_code
from weft.capture.state import events
from weft.core import Parameter, Tensor, described, keeps, trace, transparent
from weft.core.home import Home
from weft.core.parameters import ParameterTuple, rename
from weft.nn.hooks import Hooked, call_with_extras, cast_floating
from weft.nn.remarks import ELEMENTS, Remarks
from weft.nn.state import STATE_HOOKS, State, buffer_error, check_name
from weft.ops._checks import strings

#: installed by the compiler: runs a cell as a graph in GRAPH_MODE; NotImplemented where compiling is switched off
graph_call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] | None = None

_REGISTRIES = ("_params", "_cells")
#: attributes of every Cell that hold no code of the user's; hooks show in `_extras`
_OWN_STATE = frozenset(
    {"_params", "_compiled", "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"}
).union(STATE_HOOKS)
#: ids of Cells that are being asked whether they hold code of the user's
_asked: set[int] = set()
_NO_SUPER = (
    "{name}.__init__ did not call super().__init__() before using the cell.\n"
    "  wrong:\n    def __init__(self):\n        self.fc = nn.Dense(2, 3)\n"
    "  right:\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Dense(2, 3)"
)


_taking_inputs = described(args="the inputs.", cast_inputs="the inputs.", kwargs="the inputs given by name.")
_walking = described(
    name_prefix="path of this cell.", expand="also those of sub-cells.", recurse="also those of sub-cells."
)


def _next_version(state: dict[str, Any]) -> int:
    """The version of a cell with these attributes after a change; its last bit is whether the cell trains."""
    version: int = state["_version"]
    return (version + 2 & -2) | (state.get("training") is True)


class Cell(State, Remarks, Hooked):
    """Base class of all networks: assign parameters and sub-cells in `__init__`, compute in `construct`.

    Args:
        auto_prefix: put the attribute name of a sub-cell before the names of its parameters.
        flags: settings by name, see `add_flags`.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = nn.Dense(2, 3)
        ...     def construct(self, x):
        ...         return self.fc(x)
        >>> net = Net()
        >>> [p.name for p in net.trainable_params()]
        ['fc.weight', 'fc.bias']
        >>> net(weft.Tensor([[1.0, 2.0]])).shape
        (1, 3)
    """

    #: attributes in which instances remember what follows from the others
    __weft_remembers__: ClassVar[tuple[str, ...]] = ("_compiled",)
    #: attributes with containers whose changes the version counts
    __weft_counted__: ClassVar[frozenset[str]] = _OWN_STATE | {"_cells", "_buffer_names", "_flags", "_settings"}
    #: fewest and most positional arguments of `construct`; the most is -1 for any number
    _arity: ClassVar[tuple[int, int]] = (0, -1)
    _has_bprop: ClassVar[bool] = False
    #: how many positional arguments `construct` takes; None where that is not one number, or there is a bprop
    _takes: ClassVar[int | None] = None
    #: what `lazy_inline` says of how an instance was made
    _init_args: str = ""

    _params: dict[str, Parameter | None]
    _cells: dict[str, Cell | None]
    _version: int
    _extras: bool
    _exact: int | None
    training: bool
    requires_grad: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "construct" in cls.__dict__:
            cls._arity = _arity_of(cls.__dict__["construct"])
        if "bprop" in cls.__dict__:
            cls._has_bprop = cls.__dict__["bprop"] is not None
        least, most = cls._arity
        cls._takes = least if least == most and not cls._has_bprop else None

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        state = self.__dict__
        state["_version"] = 0
        state["_params"] = OrderedDict()
        state["_cells"] = OrderedDict()
        state["_buffer_names"] = {}
        state["_auto_prefix"] = bool(auto_prefix)
        state["_param_prefix"] = ""
        state["training"] = False
        state["requires_grad"] = False
        state["_phase"] = "train"
        state["_flags"] = {}
        state["_settings"] = {}
        state["_cast_type"] = None
        state["_forward_pre_hooks"] = OrderedDict()
        state["_forward_hooks"] = OrderedDict()
        state["_backward_pre_hooks"] = OrderedDict()
        state["_backward_hooks"] = OrderedDict()
        # whether a call needs more than construct: hooks, a custom bprop, a cast of the inputs
        state["_extras"] = type(self)._has_bprop
        # with how many positional arguments a call is no more than construct, None for no number
        state["_exact"] = type(self)._takes
        state["cls_name"] = type(self).__name__
        state["instance_name"] = ""
        state["_compiled"] = Home(self)
        if flags:
            self.add_flags(**flags)

    # -- calling ---------------------------------------------------------------------------------------

    @transparent
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if context.MODE == 0 and graph_call is not None and trace.current() is None:
            result = graph_call(self, args, kwargs)
            if result is not NotImplemented:
                return result
        if not kwargs and len(args) == self._exact:
            return self.construct(*args)
        extras = self._extras
        if not kwargs:
            least, most = self._arity
            count = len(args)
            if count < least or (count > most and most >= 0):
                raise argument_error(self, count)
        if self._init_args:
            trace.reuse_blocks()
        if extras:
            return call_with_extras(self, args, kwargs)
        return self.construct(*args, **kwargs)

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """State what the Cell takes; graph mode checks each call against it. Sizes that change need no statement.

        Args:
            inputs: one for each argument: a Tensor (``Tensor(shape=[None, 3], dtype=...)`` leaves a size open), a
                sequence or dict of them, or None for anything.
            kwargs: the same by name, in place of all of `inputs`.

        Raises:
            ValueError: both kinds are given.

        Example:
            >>> import weft
            >>> from weft import nn, Tensor
            >>> net = nn.Dense(3, 2)
            >>> net.set_inputs(Tensor(shape=[None, 3], dtype=weft.float32))
            >>> net.get_inputs()[0].shape
            (-1, 3)
        """
        if inputs and kwargs:
            raise ValueError("set_inputs takes its arguments by position or by name, not both")
        object.__setattr__(self, "_inputs", kwargs or inputs)

    def get_inputs(self) -> Any:
        """What `set_inputs` was given: a tuple, a dict, or None."""
        return self.__dict__.get("_inputs")

    @_taking_inputs
    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every network defines its own."""
        raise AttributeError(
            f"{type(self).__name__} defines no construct method; add:\n    def construct(self, x):\n        return ..."
        )

    @_taking_inputs
    def run_construct(self, cast_inputs: Any, kwargs: dict[str, Any]) -> Any:
        """Compute the outputs without hooks and casts."""
        return self.construct(*cast_inputs, **kwargs)

    def cast_inputs(self, inputs: Any, dst_type: Any) -> Any:
        """Inputs with the floating tensors among them cast.

        Args:
            inputs: tensors, perhaps in tuples, lists and dicts.
            dst_type: the element type.
        """
        return cast_floating(inputs, dst_type)

    @_taking_inputs
    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Check inputs against `construct`; the first call with them compiles the graph.

        Raises:
            TypeError: `construct` does not take them.
        """
        inspect.signature(self.construct).bind(*args, **kwargs)

    @_taking_inputs
    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the cell as a graph, in every mode."""
        if graph_call is not None and trace.current() is None:
            result = graph_call(self, args, kwargs)
            if result is not NotImplemented:
                return result
        return self(*args, **kwargs)

    def report(self) -> Any:
        """Everything that happened to this Cell in graph mode so far: graphs, breaks, recompiles.

        Returns:
            Report: see `weft.explain`.
        """
        return events.report_of(self)

    @transparent
    def __copy__(self) -> Cell:
        reduced: Any = self.__reduce_ex__(4)
        make, args, state = reduced[:3]
        made: Cell = make(*args)
        set_state(made, state)
        own = made.__dict__.get("construct")
        if isinstance(own, types.MethodType) and own.__self__ is self and hasattr(own.__func__, "__weft_inline__"):
            made.__dict__["construct"] = types.MethodType(own.__func__, made)  # the compiled one computes with the copy
        return made

    # -- capture ---------------------------------------------------------------------------------------

    def __weft_user_code__(self) -> bool:
        """Whether calling this cell runs code of the user's: in a sub-cell, a hook, a stored function or a gradient."""
        state = self.__dict__
        if "_cells" not in state:
            return True
        if self._extras or not type(self).__module__.startswith("weft.") or any(map(is_hooked, self._params.values())):
            return True
        if id(self) in _asked:  # it holds itself
            return False
        _asked.add(id(self))
        try:
            return users_code([value for name, value in state.items() if name not in _OWN_STATE]) is not None
        finally:
            _asked.discard(id(self))

    def __weft_versions__(self) -> Iterator[Cell]:
        """The cells whose attributes a call of this library cell may read."""
        yield self
        yield from [each for cell in self._cells.values() if cell is not None for each in cell.__weft_versions__()]

    # -- attributes ------------------------------------------------------------------------------------

    @keeps
    def __getattr__(self, name: str) -> Any:
        if "_params" not in self.__dict__ and not (name.startswith("__") and name.endswith("__")):
            raise AttributeError(_NO_SUPER.format(name=type(self).__name__))
        for registry in _REGISTRIES:  # an entry made directly in a registry
            found = self.__dict__.get(registry, {}).get(name)
            if found is not None:
                return found
        raise AttributeError(f"the cell {type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_params" not in state:
            if isinstance(value, (Parameter, Cell, ParameterTuple)):
                raise AttributeError(_NO_SUPER.format(name=type(self).__name__))
            object.__setattr__(self, name, value)
            return
        params, cells = state["_params"], state["_cells"]
        if name in state["_buffer_names"] and (error := buffer_error(self, name, value)) is not None:
            raise error
        if isinstance(value, Parameter):
            if params.get(name) is value and state.get(name) is value:
                return  # as after `self.count += 1`, which writes in place
            cells.pop(name, None)
            self._register_parameter(name, value)
        elif isinstance(value, Cell):
            params.pop(name, None)
            self._register_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._register_group(value)
        elif name in params:
            self._replace_parameter(name, value)
            return
        elif name in cells:
            if value is not None:
                raise TypeError(
                    f"{type(self).__name__}.{name} is a cell; it can become another Cell or None, "
                    f"not a {type(value).__name__} (to give up the name: del self.{name})"
                )
            cells[name] = None
        elif name == "bprop":
            state["_extras"], state["_exact"] = True, None
        old = state.get(name, self)
        object.__setattr__(self, name, value)
        if name == "training" and type(old) is bool and type(value) is bool:
            state["_version"] = (state["_version"] & -2) | value
        elif name != "_phase" and (  # that goes with `training`; who else reads it is guarded by its value
            old is not value or isinstance(value, (Parameter, Cell, ParameterTuple)) or name == "bprop"
        ):
            state["_version"] = _next_version(state)
        if self._operator_names and name in self._operator_names:
            self._operator_set(name)

    #: attributes that a layer computes with when a program sets them, see `weft.nn.declared.with_operators`
    _operator_names: ClassVar[frozenset[str]] = frozenset()

    def _operator_set(self, name: str) -> None:
        """A program has set one of them."""

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        listed = any(state.get(registry, {}).pop(name, self) is not self for registry in _REGISTRIES)
        state.get("_buffer_names", {}).pop(name, None)
        if name in state or not listed:
            object.__delattr__(self, name)
        if "_version" in state:
            state["_version"] = _next_version(state)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.__dict__.get("_params", ()), *self.__dict__.get("_cells", ())})

    def _count_change(self) -> None:
        """Something that a graph may have taken from the cell has changed, but for whether it trains."""
        self.__dict__["_version"] += 2

    def _register_parameter(self, name: str, value: Parameter) -> None:
        if value.name == "Parameter":
            rename(value, name)
        self._params[name] = value

    def _register_cell(self, name: str, value: Cell) -> None:
        if value is self:
            raise ValueError(f"{type(self).__name__}.{name}: a cell cannot hold itself")
        if self._auto_prefix and "_params" in value.__dict__:
            value.update_parameters_name(name + ".")
        self._cells[name] = value

    def _register_group(self, value: ParameterTuple) -> None:
        listed = {id(p) for p in self._params.values()}
        for position, item in enumerate(value):
            if item.name == "Parameter":
                rename(item, f"Parameter${position}")
            if id(item) not in listed:
                self._params[item.name] = item

    def _replace_parameter(self, name: str, value: Any) -> None:
        current = self._params[name]
        if value is None:
            self._params[name] = None
            object.__setattr__(self, name, None)
            self._count_change()
        elif current is not None and isinstance(value, Tensor if current.ndim else (Tensor, int, float)):
            current.set_data(value)  # the parameter stays, its value changes
        else:
            raise TypeError(
                f"{type(self).__name__}.{name} is a Parameter; it can become another Parameter, a Tensor (its new "
                f"value) or None, not a {type(value).__name__}"
            )

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Add a parameter under a name.

        Args:
            param_name: attribute name.
            param: the parameter, or None for a placeholder.
            check_name_contain_dot: refuse names with a dot.

        Raises:
            KeyError: the name contains a dot, or is taken by something that is no parameter.
            TypeError: `param` is no Parameter.
        """
        check_name("insert_param_to_cell", self, param_name, "_params", check_name_contain_dot)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"insert_param_to_cell: {param_name!r} must be a Parameter, not {type(param).__name__}")
        if param is not None:
            self._register_parameter(param_name, param)
        else:
            self._params[param_name] = None
        self.__dict__[param_name] = param
        self._count_change()

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a sub-cell under a name.

        Args:
            child_name: attribute name.
            child_cell: the cell, or None for a placeholder.

        Raises:
            KeyError: the name contains a dot, or is taken.
            TypeError: `child_cell` is no Cell.
        """
        check_name("insert_child_to_cell", self, child_name, "_cells")
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(f"insert_child_to_cell: {child_name!r} must be a Cell, not {type(child_cell).__name__}")
        if child_cell is self:
            raise ValueError(f"insert_child_to_cell: {child_name!r}: a cell cannot hold itself")
        self._cells[child_name] = child_cell  # its parameters keep their names, as in MindSpore
        self.__dict__[child_name] = child_cell
        self._count_change()

    # -- walking ---------------------------------------------------------------------------------------

    @transparent
    def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below it with their paths, each once, parents first.

        Args:
            cells: ids of cells to leave out (filled while walking).
            name_prefix: path of this cell.
        """
        seen: set[int] = cells if isinstance(cells, set) else set()
        found: list[tuple[str, Cell]] = []
        ahead = [(name_prefix, self)]
        while ahead:
            path, cell = ahead.pop()
            if id(cell) not in seen:
                seen.add(id(cell))
                found.append((path, cell))
                below = [(f"{path}.{name}" if path else name, c) for name, c in cell._cells.items() if c is not None]
                ahead += below[::-1]
        return iter(found)

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The direct sub-cells by name, each once."""
        found: OrderedDict[str, Cell] = OrderedDict()
        seen: set[int] = set()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells(self) -> Any:
        """The direct sub-cells."""
        return self.name_cells().values()

    @_walking
    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths, each once."""
        found: dict[int, tuple[str, Parameter]] = {}
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for path, cell in cells:
            for name, param in cell._params.items():
                if param is not None:
                    found.setdefault(id(param), (f"{path}.{name}" if path else name, param))
        return iter([*found.values()])

    @_walking
    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return iter([param for _, param in self.parameters_and_names(expand=expand)])

    @_walking
    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their own names."""
        return OrderedDict((param.name, param) for param in self.get_parameters(expand=recurse))

    @_walking
    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters with ``requires_grad``."""
        return [param for param in self.get_parameters(expand=recurse) if param.requires_grad]

    @_walking
    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters without ``requires_grad``."""
        return [param for param in self.get_parameters(expand=recurse) if not param.requires_grad]

    @_walking
    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """The parameters that every device holds alike, by name."""
        found = OrderedDict((p.name, p) for p in self.get_parameters(recurse) if not p.layerwise_parallel)
        return found or None

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name the parameters by their paths, after a prefix.

        Args:
            prefix: put before each path.
            recurse: also those of sub-cells.
        """
        strings("update_parameters_name", prefix=prefix)
        for path, param in self.parameters_and_names(expand=recurse):
            rename(param, prefix + path)

    def check_names(self) -> None:
        """Check that no two parameters have the same name.

        Raises:
            ValueError: two do.
        """
        seen: dict[str, Parameter] = {}
        for param in self.get_parameters():
            if seen.setdefault(param.name, param) is not param:
                raise ValueError(f"{type(self).__name__}: two parameters are named {param.name!r}; give them names")

    check_names_and_refcount_if_necessary = check_names_and_refresh_name = check_names

    def update_cell_prefix(self) -> None:
        """Note on every sub-cell its path as the prefix of its parameters."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    @property
    def exist_names(self) -> set[str]:
        """The names of the parameters that came in tuples."""
        return {name for name, param in self._params.items() if param is not None and name not in self.__dict__}

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call a function on every sub-cell, then on this cell.

        Args:
            fn: called with each cell.
        """
        for cell in list(self.cells()):
            cell.apply(fn)
        fn(self)
        return self

    # -- modes and settings ----------------------------------------------------------------------------

    def set_train(self, mode: bool = True) -> Cell:
        """Switch training behaviour (dropout, batch statistics) on or off, here and below.

        Args:
            mode: whether the network trains.
        """
        for _, cell in self.cells_and_names():
            cell.training = bool(mode)
            cell._phase = "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Say whether the cell is meant to be differentiated (kept; gradients follow from their use).

        Args:
            requires_grad: whether it is.
        """
        self.requires_grad = requires_grad
        return self

    @property
    def phase(self) -> str:
        """What the cell is used for: ``"train"`` or ``"predict"``, or what was assigned."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        self.__dict__["_phase"] = value

    @property
    def param_prefix(self) -> str:
        """Prefix of the names of the cell's direct parameters."""
        for name, param in self._params.items():
            if param is not None:
                return param.name.removesuffix(name).removesuffix(".")
        return self._param_prefix

    @property
    def cell_init_args(self) -> str:
        """How the cell was made: equal for equal arguments to an `__init__` with `lazy_inline`; else the class name."""
        return self._init_args or type(self).__name__

    def to_float(self, dst_type: Any) -> Cell:
        """Compute this cell and all below it in a floating type: inputs and weights are cast on the way in.

        Args:
            dst_type: float16, bfloat16, float32 or None to stop casting.

        Raises:
            ValueError: another type.
        """
        if all(dst_type is not each for each in (None, *ELEMENTS.values())):
            raise ValueError(f"to_float takes float16, bfloat16 or float32, not {dst_type}")
        self._compute_in(dst_type, True)
        self._flags["fp16"] = dst_type is not None and dst_type.itemsize == 2
        return self

    def _refresh_extras(self) -> None:
        """Recompute whether a call needs more than construct."""
        self._extras = bool(
            type(self)._has_bprop
            or "bprop" in self.__dict__
            or self._cast_type is not None
            or any([self._settings.get("recompute"), self._settings.get("shard"), "pipeline_stage" in self._settings])
            or self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_pre_hooks
            or self._backward_hooks
            or self.__dict__.get("_parameter_hooks")
        )
        self._exact = None if self._extras or self._init_args else type(self)._takes
        self._count_change()  # whatever of it has changed

    def add_flags(self, **flags: Any) -> Cell:
        """Attach settings, each also readable as an attribute.

        Args:
            flags: settings by name.
        """
        self._flags.update(flags)
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Attach settings to this cell and all below it.

        Args:
            flags: settings by name.
        """
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def generate_scope(self) -> None:
        """Note on every sub-cell the path that graph listings show."""
        for path, cell in self.cells_and_names():
            if path:
                cell.__dict__["_scope"] = path

    def recompute(self, mode: bool = True, **kwargs: Any) -> None:
        """Have backward passes compute again what this cell computes on the way, see `weft.autodiff.recompute`.

        Args:
            mode: whether to.
            kwargs: settings of parallel training, kept.
        """
        self._settings.update(kwargs, recompute=bool(mode))
        self._refresh_extras()

    # -- printing --------------------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """What a subclass wants shown of itself between the angle brackets."""
        return ""

    def __repr__(self) -> str:
        head = type(self).__name__ + "("
        extra = self.extend_repr()
        if not self._cells:
            return f"{head}{extra})"
        lines = [extra] if extra else []
        lines += [f"({name}): {cell!r}" for name, cell in self._cells.items()]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{head}\n  {body}\n)"


def argument_error(cell: Cell, count: int) -> TypeError:
    """The error of a call with the wrong number of positional arguments."""
    least, most = cell._arity
    if most == least:
        takes = f"{least} argument{'' if least == 1 else 's'}"
    else:
        takes = f"at least {least} arguments" if most < 0 else f"{least} to {most} arguments"
    signature = ""
    with contextlib.suppress(TypeError, ValueError):
        signature = f": {type(cell).__name__}{inspect.signature(cell.construct)}"
    verb = "was" if count == 1 else "were"
    return TypeError(f"{type(cell).__name__} takes {takes} but {count} {verb} given{signature}")


def _arity_of(construct: Any) -> tuple[int, int]:
    """Fewest and most positional arguments of a construct method, `self` aside; -1: any number."""
    skip = 1
    if isinstance(construct, staticmethod):
        construct, skip = construct.__func__, 0
    try:
        parameters = list(inspect.signature(construct).parameters.values())
    except (TypeError, ValueError):
        return 0, -1
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < skip:
        return 0, -1
    positional = positional[skip:]
    least = sum(1 for p in positional if p.default is p.empty)
    most = -1 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    return least, most
