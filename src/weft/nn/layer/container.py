"""Containers: cells in a sequence, a list or a dict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weft.nn.cell import Cell


def _check_cell(container: str, value: Any) -> Cell:
    if not isinstance(value, Cell):
        raise TypeError(f"{container} holds Cells, not {type(value).__name__}: {value!r:.60}")
    return value


class _Ordered(Cell):
    """Cells by position: what CellList and SequentialCell share."""

    def _list(self) -> list[Cell]:
        return list(self._cells.values())  # type: ignore[arg-type]

    def _store(self, cells: Iterable[Cell], names: Iterable[str] | None = None) -> None:
        """Replace the contents, naming each cell and its parameters."""
        items = [_check_cell(type(self).__name__, cell) for cell in cells]
        for old in list(self._cells):
            self.__dict__.pop(old, None)
        self._cells.clear()
        for name, cell in zip(map(str, range(len(items))) if names is None else names, items, strict=True):
            self._put(name, cell)
        self._count_change()

    def _put(self, name: str, cell: Cell) -> None:
        if self._auto_prefix:
            cell.update_parameters_name(name + ".")
        self._cells[name] = cell
        self.__dict__[name] = cell

    def _position(self, index: Any) -> int:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(f"a {type(self).__name__} index must be an int or a slice, not {type(index).__name__}")
        count = len(self._cells)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range for a {type(self).__name__} of {count} cells")
        return index % count

    def __len__(self) -> int:
        return len(self._cells)

    def __bool__(self) -> bool:
        return bool(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._list())

    def __setitem__(self, index: int, cell: Cell) -> None:
        name = list(self._cells)[self._position(index)]
        self._put(name, _check_cell(type(self).__name__, cell))
        self._count_change()

    def append(self, cell: Cell) -> Any:
        """Add a cell at the end.

        Args:
            cell: the cell.
        """
        self._put(str(len(self._cells)), _check_cell(type(self).__name__, cell))
        self._count_change()
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Insert a cell before a position.

        Args:
            index: the position.
            cell: the cell.
        """
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"{type(self).__name__}.insert needs an int position, not {type(index).__name__}")
        cells = self._list()
        cells.insert(index, cell)
        self._store(cells)


class SequentialCell(_Ordered):
    """Runs cells one after the other.

    Args:
        args: cells, or one list of cells, or one OrderedDict of named cells.

    Example:
        >>> import weft
        >>> from weft import nn
        >>> net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
        >>> net(weft.Tensor([[1.0, 2.0]])).shape
        (1, 3)
        >>> [p.name for p in net.get_parameters()]
        ['0.weight', '0.bias']
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, dict)) else args
        if isinstance(given, dict):
            self._store(given.values(), list(given))
        else:
            self._store(given)

    @property
    def cell_list(self) -> list[Cell]:
        """The cells in order; set to others, they take the names of those before where they are as many."""
        return self._list()

    @cell_list.setter
    def cell_list(self, cells: Any) -> None:
        found = list(cells)
        self._store(found, list(self._cells) if len(found) == len(self._cells) else None)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._cells.items())[index]))
        return self._list()[self._position(index)]

    def __delitem__(self, index: Any) -> None:
        cells = list(self._cells.items())
        del cells[index if isinstance(index, slice) else self._position(index)]
        numbered = all(name.isdigit() for name, _ in cells)
        self._store([c for _, c in cells], None if numbered else [n for n, _ in cells])  # type: ignore[misc]

    def construct(self, input_data: Any) -> Any:
        for cell in self._cells.values():
            input_data = cell(input_data)  # type: ignore[misc]
        return input_data


class CellList(_Ordered):
    """A list of cells, whose parameters belong to the network; it is not called itself.

    Args:
        args: cells, or one list of cells.
        kwargs: `auto_prefix`, see Cell.

    Example:
        >>> from weft import nn
        >>> layers = nn.CellList([nn.Dense(2, 2) for _ in range(3)])
        >>> len(layers), len(layers.trainable_params())
        (3, 6)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        self._store(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)) else args)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self._list()[index])
        return self._list()[self._position(index)]

    def __delitem__(self, index: Any) -> None:
        cells = self._list()
        del cells[index if isinstance(index, slice) else self._position(index)]
        self._store(cells)

    def __iadd__(self, cells: Iterable[Cell]) -> CellList:
        return self.extend(cells)

    def extend(self, cells: Iterable[Cell]) -> CellList:
        """Add cells at the end.

        Args:
            cells: the cells.
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"CellList.extend takes a list of Cells, not {type(cells).__name__}")
        for cell in list(cells):
            self.append(cell)
        return self

    def construct(self, *inputs: Any) -> Any:
        raise NotImplementedError("a CellList is not called itself; call its cells: for cell in cells: x = cell(x)")


class CellDict(Cell):
    """A dict of cells, whose parameters belong to the network; it is not called itself.

    Args:
        args: a mapping of cells by name, or an iterable of (name, cell) pairs.
        kwargs: `auto_prefix`, see Cell.

    Example:
        >>> from weft import nn
        >>> cells = nn.CellDict({"a": nn.Dense(2, 2)})
        >>> [p.name for p in cells.get_parameters()]
        ['a.weight', 'a.bias']
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(kwargs.get("auto_prefix", True))
        if len(args) == 1:
            self.update(args[0])
        elif args:
            raise TypeError(f"CellDict takes one mapping, not {len(args)} arguments")

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]  # type: ignore[return-value]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"a CellDict key must be a str, not {type(key).__name__}")
        if not key or "." in key:
            raise KeyError(f"a CellDict key must be a name without dots, not {key!r}")
        if hasattr(Cell, key):
            raise KeyError(f"{key!r} is a method of Cell; choose another key")
        self._cells[key] = _check_cell("CellDict", cell)
        if self._auto_prefix:
            cell.update_parameters_name(key + ".")
        self._count_change()

    def __delitem__(self, key: str) -> None:
        del self._cells[key]
        self._count_change()

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """The names."""
        return self._cells.keys()

    def values(self) -> Any:
        """The cells."""
        return self._cells.values()

    def items(self) -> Any:
        """The names with their cells."""
        return self._cells.items()

    def pop(self, key: str) -> Cell:
        """Remove a cell and return it.

        Args:
            key: its name.
        """
        cell = self[key]
        del self[key]
        return cell

    def clear(self) -> None:
        """Remove all cells."""
        self._cells.clear()
        self._count_change()

    def update(self, cells: Any) -> None:
        """Add or replace cells.

        Args:
            cells: a mapping of cells by name, or an iterable of (name, cell) pairs.
        """
        if isinstance(cells, (Mapping, CellDict)):
            pairs = list(cells.items())
        elif isinstance(cells, Iterable):
            pairs = [tuple(pair) for pair in cells]
            if any(len(pair) != 2 for pair in pairs):
                raise ValueError("CellDict.update takes (name, cell) pairs")
        else:
            raise TypeError(f"CellDict.update takes a mapping or pairs, not {type(cells).__name__}")
        for key, cell in pairs:
            self[key] = cell

    def construct(self, *inputs: Any) -> Any:
        raise NotImplementedError("a CellDict is not called itself; call its cells: cells[name](x)")
