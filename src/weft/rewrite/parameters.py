"""Names of parameters: those of what was inserted are paths, all others stay as they were."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Iterator

from weft.core.parameters import rename
from weft.core.tensor import Parameter
from weft.nn.cell import Cell
from weft.rewrite.numbered import numbered

#: the names of parameters of networks that trees were made of, or that trees have made, by identity
_names: dict[int, tuple[weakref.ref[Parameter], str]] = {}


def _note(parameter: Parameter) -> None:
    key = id(parameter)
    _names[key] = weakref.ref(parameter, lambda _: _names.pop(key, None)), parameter.name


def note_names(network: Cell) -> None:
    """Note the names that the parameters of a network have.

    Args:
        network: the network; they are to keep these names wherever they are inserted.
    """
    for each in network.get_parameters():
        _note(each)


def name_parameters(whole: Cell, original: Cell, inserted: Iterable[tuple[Cell, Iterable[str]]]) -> None:
    """Name the parameters of what was inserted: as before where they had a name in a network, else by their paths.

    Args:
        whole: the network.
        original: the network that it was made of, whose parameters have their names in any case.
        inserted: cells in the network, with the names of the attributes that they were given.
    """
    added = {id(cell): tuple(names) for cell, names in inserted}
    places = [
        (_joined(path, name), list(_held(getattr(cell, name))))
        for path, cell in whole.cells_and_names()
        for name in added.get(id(cell), ())
    ]
    met = {id(each): each for _, held in places for _, each in held}
    own = {id(each) for each in original.get_parameters()}
    for key in [key for key in met if key in _names]:
        rename(met[key], _names[key][1])
    taken = {each.name for each in whole.get_parameters() if id(each) in own or id(each) not in met}
    named = set(own)
    for key in [key for key in met if key in _names and key not in own]:
        if met[key].name not in taken:
            taken.add(met[key].name)
            named.add(key)
    for place, held in places:
        new = {path: each for path, each in held if id(each) not in named}
        prefix = numbered(place, functools.partial(_clashes, new, taken))
        for path, each in new.items():
            rename(each, _joined(prefix, path))
            taken.add(each.name)
            named.add(id(each))
            _note(each)


def _held(value: object) -> Iterator[tuple[str, Parameter]]:
    """The parameters of what was inserted, with their paths from there."""
    if isinstance(value, Cell):
        yield from value.parameters_and_names()
    elif isinstance(value, Parameter):
        yield "", value


def _clashes(paths: Iterable[str], taken: set[str], prefix: str) -> bool:
    """Whether a path has a name behind a prefix that another parameter has."""
    return any(_joined(prefix, path) in taken for path in paths)


def _joined(prefix: str, path: str) -> str:
    return ".".join(filter(None, (prefix, path)))
