"""Programs that span processes: what is compiled for tensors of all of them runs in all of them at once.

A tensor spans processes where its devices are those of several. Before such a program runs, all processes have come to
it, with the same program and types; and of what each of them brings as a whole (a weight, a batch that all load) they
have made sure that it is the same everywhere.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from weft._jax_compat import devices_of_layout
from weft.cache import programs
from weft.core import tensor as tensor_module
from weft.parallel import exchange
from weft.parallel.groups import Group
from weft.parallel.processes import attending, processes

#: where an object lies in the memory of one process
_ADDRESS: Final = re.compile(r"0x[0-9a-f]+")


class _Among(threading.local):
    #: the processes that the program in progress is one of; None for all that its arrays are on
    group: tuple[int, ...] | None = None


_AMONG: Final = _Among()


@contextlib.contextmanager
def among(group: tuple[int, ...]) -> Iterator[None]:
    """A block in which programs are those of some processes: of the stage of a pipeline.

    Args:
        group: their ranks.
    """
    before, _AMONG.group = _AMONG.group, group
    try:
        yield
    finally:
        _AMONG.group = before


#: operands of which the types are named where processes come with different ones, and elements that are shown
_NAMED: Final = 6
_FEW: Final = 8


def digest_of(text: str) -> str:
    """What tells the text of a program from others, the same in all processes."""
    return hashlib.sha256(_ADDRESS.sub("", text).encode()).hexdigest()[:12]


def spans(array: Any) -> bool:
    """Whether an array has parts on devices of other processes."""
    return isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer) and not array.is_fully_addressable


class Spanning:
    """A compiled function that also takes arrays which span processes.

    Args:
        function: the function.
        text: says what it computes; None where that has no text.
        spreads: whether it lays arrays out over processes, whatever it gets.
        graph: gives the graph that it computes; None for one that has none.
    """

    def __init__(
        self, function: Any, text: Callable[[], str | None], spreads: bool, graph: Callable[[], Any] | None
    ) -> None:
        self.function = function
        self.text = text
        self.spreads = spreads
        self.graph = graph
        self._name = getattr(getattr(function, "_fun", function), "__name__", "a program")
        self._known: str | None = None

    def _digest(self, arrays: Sequence[Any]) -> str:
        """What tells this program from others, in all processes."""
        if self._known is None:
            text = self.text()
            if text is None:  # code of the program takes part: what JAX makes of it
                text = str(jax.make_jaxpr(self.function._fun)(*arrays))
            self._known = digest_of(text)
        return self._known

    def __call__(self, *arrays: Any) -> Any:
        group = _AMONG.group
        if group is None:
            _refuse_parts(self._name, arrays)
        together_with_others = (self.spreads or any(map(spans, arrays))) and (group is None or len(group) > 1)
        if together_with_others and not any(isinstance(array, jax.core.Tracer) for array in arrays):
            told = functools.partial(told_of, self.graph, arrays)
            return together(f"{self._name} {self._digest(arrays)}", self.function, arrays, told)
        return self.function(*arrays)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


def _refuse_parts(name: str, arrays: Sequence[Any]) -> None:
    """Refuse what some of the processes have no part of."""
    for array in arrays:
        if is_in_part(array) and not is_for_any(array):
            ranks = sorted(device.process_index for device in array.sharding.device_set)
            raise RuntimeError(
                f"{name}: a tensor {array.dtype}{list(array.shape)} lies in the ranks {ranks} only, as what a stage of "
                "a pipeline has does. Compute with it in a compiled function (weft.jit, GRAPH_MODE) that calls the "
                "Cells of the stages, or read it with asnumpy() in all processes. If it is in one, a break took it out "
                "or other stages were set since: see the function's report()"
            )


def is_in_part(array: Any) -> bool:
    """Whether an array is laid out over some of the processes, so that others have nothing of it."""
    if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
        return False
    place = array.sharding
    return isinstance(place, NamedSharding) and len(place.device_set) < processes().count


#: begins the names of axes along which the rows of a batch lie that each stage has
_ANY: Final = "any_"


def is_for_any(array: Any) -> bool:
    """Whether an array is that of each stage: a batch, of which all stages have all rows."""
    place = getattr(array, "sharding", None)
    return isinstance(place, NamedSharding) and str(place.mesh.axis_names[0]).startswith(_ANY)


def for_any(where: NamedSharding) -> NamedSharding:
    """A layout over the devices of a stage for what each stage has."""
    return _renamed(where, {name: f"{_ANY}{name}" for name in where.mesh.axis_names})


def _renamed(where: NamedSharding, names: dict[Any, str]) -> NamedSharding:
    spec = [
        tuple([names[name] for name in axes]) if isinstance(axes, tuple) else names.get(axes) for axes in where.spec
    ]
    return NamedSharding(Mesh(where.mesh.devices, tuple(names.values())), PartitionSpec(*spec))


def for_this(array: Any) -> Any:
    """An array, or one that each stage has as that of this stage: in a program all arrays lie on one grid."""
    if not is_for_any(array):
        return array
    where = array.sharding
    names = {name: str(name).removeprefix(_ANY) for name in where.mesh.axis_names}
    return _relabelled(array, _renamed(where, names))


def for_each(array: Any) -> Any:
    """An array that was computed of such ones alone as one that each stage has."""
    return _relabelled(array, for_any(array.sharding)) if spans(array) and not is_for_any(array) else array


def _relabelled(array: Any, where: NamedSharding) -> Any:
    parts = [shard.data for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, where, parts)


def together(
    name: str, function: Callable[..., Any], arrays: Sequence[Any], told: Callable[[], list[str]] | None = None
) -> Any:
    """Run a function of arrays in all processes at once.

    Args:
        name: what it is, the same in all processes.
        function: compiled by JAX.
        arrays: those of this process alone are values that all have.
        told: gives what it is in full, see `weft.parallel.attendance.Attendance.meet`.

    Raises:
        ProcessFault: a process is gone, or came with something else.
        ValueError: the arrays that span processes lie on grids of different devices.
    """
    _check_one_grid(name, arrays)
    what = said(name, arrays)
    group = processes_of(arrays)
    return exchange.computed(name, Group("", group), what, functools.partial(_run, function, arrays), told)


def _check_one_grid(name: str, arrays: Sequence[Any]) -> None:
    """Refuse arrays on different grids, which only one process could bring together by itself."""
    grids = dict.fromkeys(tuple(map(_rank, devices_of_layout(array.sharding))) for array in arrays if spans(array))
    if len(grids) > 1:
        named = " and ".join(str(list(grid)) for grid in grids)
        raise ValueError(
            f"{name}: its tensors lie on grids of different processes, {named}; "
            "bring them to one grid with `reshard` from weft.parallel.layout"
        )


def _rank(device: Any) -> int:
    rank: int = device.process_index
    return rank


def processes_of(arrays: Sequence[Any]) -> tuple[int, ...]:
    """The processes that have parts of some arrays; all of them where no array spans processes."""
    found = [array.sharding.device_set for array in arrays if spans(array)]
    chosen = {device.process_index for devices in found for device in devices}
    return tuple(sorted(chosen)) or _AMONG.group or tuple(range(processes().count))


def agree(what: str, ranks: tuple[int, ...] | None = None, told: Callable[[], list[str]] | None = None) -> None:
    """Make sure that processes have come to the same.

    Args:
        what: to what this one has.
        ranks: of the processes; None for those of the program in progress, or all.
        told: gives the same in full, see `weft.parallel.attendance.Attendance.meet`.

    Raises:
        ProcessFault: a process is gone, or came to something else.
    """
    chosen = ranks or _AMONG.group or tuple(range(processes().count))
    attending(what).meet(Group("", chosen), what, told=told)


def said(name: str, arrays: Sequence[Any]) -> str:
    """What a process says of a program that it comes to, the same in all processes.

    Args:
        name: of the program.
        arrays: its operands.
    """
    kinds = list(map(_kind, arrays))
    if len(kinds) > _NAMED:
        digest = hashlib.sha256(" ".join(kinds).encode()).hexdigest()[:12]
        return f"{name}({', '.join(kinds[:_NAMED])}, ... {len(kinds)} operands {digest})"
    return f"{name}({', '.join(kinds)})"


def _kind(array: Any) -> str:
    """What processes must agree on of an array: its type, and where it lies or, if each has it, its contents."""
    if array is None:
        return "-"
    differs = _where(array) if spans(array) or is_in_part(array) else f"={contents_of(array)}"
    return f"{array.dtype}{list(array.shape)}{differs}"


def told_of(graph: Callable[[], Any] | None, arrays: Sequence[Any]) -> list[str]:
    """What a process says of a program where others came with another one: each operand, then the graph.

    Args:
        graph: gives the graph, if it has one.
        arrays: its operands.
    """
    program = None if graph is None else graph()
    names = [f"%{value.name}" if value.name else "" for value in getattr(program, "params", ())]
    if len(names) != len(arrays):
        names = [""] * len(arrays)
    operands = [
        f"operand {number}{name and f' ({name})'}: {_kind(array)}{_elements(array)}"
        for number, (name, array) in enumerate(zip(names, arrays, strict=True))
    ]
    return [*operands, *("" if program is None else str(program)).splitlines()]


def _elements(array: Any) -> str:
    """The elements of an array that each process has, if they are few."""
    if array is None or spans(array) or is_in_part(array) or array.size > _FEW:
        return ""
    return f", which is {np.asarray(array).tolist()}"


def _where(array: Any) -> str:
    """How an array lies on its devices."""
    place = array.sharding
    return f"@{dict(place.mesh.shape)}{tuple(place.spec)}" if isinstance(place, NamedSharding) else f"@{place}"


def contents_of(array: Any) -> str:
    """A number that differs where the elements of an array do."""
    return f"{zlib.crc32(np.ascontiguousarray(array).tobytes()):08x}"


def _run(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    mesh = next((array.sharding.mesh for array in arrays if spans(array)), None)
    if mesh is None:  # JAX puts them where the program wants them
        return jax.block_until_ready(function(*arrays))
    where = NamedSharding(mesh, PartitionSpec())
    everywhere = [array if array is None or spans(array) else _everywhere(array, where) for array in arrays]
    return jax.block_until_ready(function(*everywhere))


def _everywhere(array: Any, where: NamedSharding) -> Any:
    """An array that each process has, as one of all processes."""
    local = array if isinstance(array, jax.Array) else jax.numpy.asarray(array)
    return jax.make_array_from_single_device_arrays(local.shape, where, [local])


def moved(array: Any, where: NamedSharding, name: str = "") -> Any:
    """An array laid out over processes.

    Args:
        array: spans them already, or is the same in each that the layout is of. Between different processes it moves
            by way of all, which all come to it.
        where: its layout.
        name: of the Parameter whose value it is, for messages.
    """
    if spans(array) or is_in_part(array):
        if array.sharding.is_equivalent_to(where, array.ndim):
            return array
        if array.sharding.device_set == where.device_set and where.addressable_devices:
            return together(f"a move to {where.spec}", _mover(where), [array])
        if array.sharding.device_set != where.device_set:
            array = whole(array)
    if not where.addressable_devices:  # those of another stage of a pipeline have it
        return nothing_of(array.shape, array.dtype, where)
    what = f"the Parameter {name!r}, which begins the same in all (set_seed) " if name else f"a move to {where.spec}"
    told = functools.partial(told_of, None, [array])
    agree(said(what, [array]), tuple(sorted(map(_rank, where.device_set))), told)
    elements = np.asarray(array)
    return jax.make_array_from_callback(elements.shape, where, lambda part: elements[part])


def nothing_of(shape: tuple[int, ...], dtype: Any, where: Any) -> Any:
    """An array that other processes have.

    Args:
        shape: of the whole.
        dtype: its element type.
        where: its layout, over devices of others.
    """
    return jax.make_array_from_single_device_arrays(shape, where, [], dtype=dtype)


@functools.cache
def _mover(where: NamedSharding) -> Callable[..., Any]:
    return jax.jit(_same, out_shardings=where)


def _same(array: Any) -> Any:
    return array


def shared(arrays: Sequence[Any], types: Sequence[tuple[tuple[int, ...], Any]], ranks: tuple[int, ...]) -> list[Any]:
    """What some of the processes have, as arrays of each. All processes come to it.

    Args:
        arrays: laid out over those processes; anything in the others.
        types: shape and element type of each.
        ranks: the processes.
    """
    here, count = processes().rank, processes().count
    mesh = Mesh(exchange.mesh_of(tuple(range(count))).devices, ("ranks",))
    given = []
    for array, (shape, dtype) in zip(arrays, types, strict=True):
        own = jax.numpy.zeros((1, *shape), dtype)
        if here in ranks:
            with among(ranks):
                own = whole(array, ranks)[None]
        where = NamedSharding(mesh, PartitionSpec("ranks"))
        given.append(jax.make_array_from_single_device_arrays((count, *shape), where, [own]))
    results = together(f"what rank {ranks[0]} has", _hander(ranks[0], mesh), given)
    return [result.addressable_data(0) for result in results]


@functools.cache
def _hander(root: int, mesh: Mesh) -> Callable[..., Any]:
    def hand(*arrays: Any) -> Any:
        return tuple([array[root] for array in arrays])

    return jax.jit(hand, out_shardings=NamedSharding(mesh, PartitionSpec()))


def whole(array: Any, group: tuple[int, ...] | None = None) -> Any:
    """An array with all elements in this process, of one that may span several.

    Args:
        array: the array.
        group: the processes that come to it; None for all.
    """
    if group is None and is_in_part(array) and not is_for_any(array):
        ranks = tuple([device.process_index for device in array.sharding.mesh.devices.flat])
        return shared([array], [(array.shape, array.dtype)], ranks)[0]
    if not spans(array):
        return array.addressable_data(0) if isinstance(array, jax.Array) and group is not None else array
    if not array.is_fully_replicated:
        where = NamedSharding(array.sharding.mesh, PartitionSpec())
        array = together("reading a tensor that is spread", _mover(where), [array])
    return array.addressable_data(0)


def _operand(array: Any, group: tuple[int, ...]) -> Any:
    """What an exchange of the program's own gets: the value that the processes of its group have.

    Raises:
        ValueError: the array lies in parts in processes of which some do not come to it.
    """
    if not spans(array) or array.is_fully_replicated:
        return array.addressable_data(0) if spans(array) else array
    ranks = tuple(sorted(map(_rank, array.sharding.device_set)))
    if ranks != group:
        raise ValueError(
            f"an exchange among the ranks {list(group)} is given a tensor {array.dtype}{list(array.shape)} that lies "
            f"in parts in the ranks {list(ranks)}; exchange it among all of these, or bring it to one layout with "
            "`reshard` from weft.parallel.layout before"
        )
    return whole(array, group)


if processes().count > 1:
    programs.call_by(Spanning)
    tensor_module.read_by(whole)
    exchange.read_by(_operand)
