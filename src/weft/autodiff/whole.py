"""Backward passes compiled as a whole: what a pass takes from a tape, and where it finds it.

Tapes of one form are alike, so the way from the entries of the outputs to each array is found once. A pass gets the
arrays that its gradients depend on, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend import core

from weft.cache.mixing import for_devices
from weft.cache.programs import compiled, remembered
from weft.core.recording import Recording
from weft.core.tape import TapeNode
from weft.core.tensor import LiteralTensor


class Beginning:
    """Where a backward pass over a tape of a known form begins.

    Args:
        recording: that of the tape.
        where: whether the gradients are ones, the rules epoch, and the numbers of the outputs' arrays, as a key.
        roots: the entries of the outputs.
        given: the arrays of the gradients with respect to the outputs; empty for ones.
    """

    __slots__ = ("recording", "where", "roots", "given")

    def __init__(
        self, recording: Recording, where: tuple[Any, ...], roots: list[TapeNode], given: Sequence[Any]
    ) -> None:
        self.recording = recording
        self.where = where
        self.roots = roots
        self.given = given

    def seeds(self) -> list[tuple[int, int | None]]:
        """For each output the number of its array, and that of its gradient's; None for ones."""
        ones, _, *places = self.where
        form: Any = self.recording.form
        return [(place, None if ones else form.size + i) for i, place in enumerate(places)]


class Pass:
    """A compiled pass over the tapes of a form.

    Args:
        compute: gives the gradients; takes one array for each number of the form, None for those that lead to no
            output, and the gradients of the outputs.
        text: what it computes, None where that has no text.
        begin: where it begins on one of the tapes.
    """

    __slots__ = ("run", "visits", "takes")

    def __init__(self, compute: Callable[..., Any], text: Callable[[], str | None], begin: Beginning) -> None:
        recording, roots = begin.recording, begin.roots
        nodes: list[Any] = list(roots)
        known = set(roots)
        #: how the other entries are found: number of an entry that was found before, and of the operand it made
        self.visits: list[tuple[int, int]] = []
        for number, node in enumerate(nodes):  # which grows
            for position, edge in enumerate(node.edges):
                if edge is None or edge[0].recording is not recording or edge[0].__class__ is TapeNode:
                    continue
                if edge[0] not in known:
                    known.add(edge[0])
                    nodes.append(edge[0])
                    self.visits.append((number, position))
        places = _places(recording, nodes)
        arrays: list[Any] = [None] * recording.form.size  # type: ignore[union-attr]
        for place, found in places.items():
            arrays[place] = _taken(nodes, *found)
        described = [None if array is None else _described(array) for array in (*arrays, *begin.given)]
        traced = for_devices(lambda: _traced(compute, described))
        computed = text()
        types = [None if a is None else (a.shape, a.dtype.name, a.weak_type) for a in described]
        about = computed and f"{computed} of {types}"
        needed = remembered(about, lambda: traced()[1])
        #: where the arrays are: number of an entry, whether it is a result, and which
        self.takes = [places[place] for place in needed if place < len(arrays)]
        # all gradients that are given are taken, so that their number does not depend on the pass
        size, extra = len(arrays), len(begin.given)
        count, numbers = len(self.takes), [place for place in needed if place < len(arrays)]

        def run(*kept: Any) -> Any:
            full: list[Any] = [None] * (size + extra)
            for place, array in zip(numbers, kept[:count], strict=True):
                full[place] = array
            full[size:] = kept[count:]
            return traced()[0](full)

        self.run = compiled(run, lambda: about and f"what is needed of {about}")

    def arrays(self, roots: Sequence[TapeNode]) -> tuple[list[Any], list[Any]]:
        """What `run` takes of a tape, and the entries of the tape.

        Args:
            roots: the entries of the outputs.
        """
        nodes: list[Any] = list(roots)
        for number, position in self.visits:
            nodes.append(nodes[number].edges[position][0])
        arrays = []
        for number, result, position in self.takes:
            if result:
                arrays.append(nodes[number].results[position])
            else:
                array = nodes[number].operands[position]
                arrays.append(array._data if array.__class__ is LiteralTensor else array)
        return arrays, nodes


def _places(recording: Recording, nodes: Sequence[Any]) -> dict[int, tuple[int, bool, int]]:
    """For each number of a form the entry that has its array, whether it is one of its results, and which."""
    found: dict[int, tuple[int, bool, int]] = {}
    for number, node in enumerate(nodes):
        for position in range(len(node.results)):
            found[node.place + position] = (number, True, position)
        place = node.place
        for position in range(len(node.edges) - 1, -1, -1):
            edge = node.edges[position]
            if edge is not None and edge[0].recording is recording:
                found.setdefault(edge[0].place + edge[1], (number, False, position))
            elif node.operands[position] is not None:
                place -= 1
                found[place] = (number, False, position)
    return found


def _described(array: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, weak_type=bool(getattr(array, "weak_type", False)))


def _taken(nodes: Sequence[Any], number: int, result: bool, position: int) -> Any:
    found = (nodes[number].results if result else nodes[number].operands)[position]
    return found._data if found.__class__ is LiteralTensor else found


def _traced(compute: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Callable[[list[Any]], Any], list[int]]:
    """A function of a list of arrays that was traced, and which of them it needs."""
    there = [place for place, array in enumerate(arrays) if array is not None]

    def of_those(*kept: Any) -> Any:
        full: list[Any] = [None] * len(arrays)
        for place, array in zip(there, kept, strict=True):
            full[place] = array
        return compute(*full)

    closed, shapes = jax.make_jaxpr(of_those, return_shape=True)(*[arrays[place] for place in there])
    inner = closed.jaxpr
    used = {id(v) for equation in inner.eqns for v in equation.invars} | {id(v) for v in inner.outvars}
    needed = [place for place, v in zip(there, inner.invars, strict=True) if id(v) in used]
    structure = jax.tree.structure(shapes)
    again = core.jaxpr_as_fun(closed)

    def call(full: list[Any]) -> Any:
        return jax.tree.unflatten(structure, again(*[full[place] for place in there]))

    return call, needed
