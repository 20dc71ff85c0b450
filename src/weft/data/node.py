"""The tree of a pipeline: what every source and operation is, and what a run through it knows."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from weft.data import config
from weft.data.chunks import Chunk, flattened
from weft.data.conversion import Row


class Run:
    """One way through a pipeline: the seed, which steps there are, and the epoch.

    Args:
        seed: the seed of all random numbers.
        steps: number of each node in the tree.
        epoch: number of the epoch.
        stopped: set when nobody reads any more.
    """

    __slots__ = ("epoch", "seed", "steps", "stopped")

    def __init__(
        self, seed: int, steps: dict[int, int], epoch: int = 0, stopped: threading.Event | None = None
    ) -> None:
        self.seed = seed
        self.steps = steps
        self.epoch = epoch
        self.stopped = threading.Event() if stopped is None else stopped

    @classmethod
    def through(cls, root: Node, seed: int | None = None) -> Run:
        """A run through the tree under a node.

        Args:
            root: the node.
            seed: the seed; that of the settings where none is given, any where they have none.
        """
        if seed is None:
            seed = config.chosen_seed()
        if seed is None:
            seed = int.from_bytes(os.urandom(4), "little")
        steps: dict[int, int] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if id(node) not in steps:
                steps[id(node)] = len(steps)
                waiting.extend(node.children)
        return cls(seed, steps)

    def at(self, epoch: int) -> Run:
        """The same in another epoch."""
        return Run(self.seed, self.steps, epoch, self.stopped)

    def reseeded(self, seed: int) -> Run:
        """The same with another seed."""
        return Run(seed, self.steps, self.epoch, self.stopped)

    def anew(self, epoch: int) -> Run:
        """The same in another epoch, which can be stopped by itself."""
        return Run(self.seed, self.steps, epoch)

    def entropy(self, node: Node) -> tuple[int, ...]:
        """The numbers that tell a node, in this epoch, from others.

        Args:
            node: the node.
        """
        return (self.seed, self.steps.get(id(node), 0), self.epoch)

    def generator(self, node: Node) -> np.random.Generator:
        """Random numbers of a node in this epoch.

        Args:
            node: the node.
        """
        return np.random.default_rng(self.entropy(node))


class Node:
    """A source or an operation: columns with names, and rows.

    Args:
        children: what it reads from.
    """

    #: classes of nodes by name: methods of datasets make operations, whose classes are made from them
    kinds: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Node.kinds.setdefault(cls.__name__, cls)

    #: the arguments that it was made with
    made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self.made_with = (args, kwargs)
        return self

    def __init__(self, children: tuple[Node, ...] = ()) -> None:
        self.children = list(children)

    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.children[0].columns()

    def rows(self, run: Run, begin: int = 0) -> Iterator[Row]:
        """The rows of one epoch.

        Args:
            run: the run.
            begin: how many rows to leave out at the start.
        """
        return itertools.islice(self.all_rows(run), begin, None)

    def all_rows(self, run: Run) -> Iterator[Row]:
        """The rows of one epoch, from the first: what a class defines that cannot leave out any cheaply."""
        raise NotImplementedError(f"{type(self).__name__} has no rows")

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        """The rows of one epoch in chunks of any size, each as soon as it is there.

        Args:
            run: the run.
            begin: how many rows to leave out at the start.
        """
        return ([row] for row in self.rows(run, begin))

    def size(self) -> int:
        """The number of rows of one epoch."""
        return self.children[0].size()

    def reads_alone(self) -> bool:
        """Whether it reads files, and arrays of its own: no objects of the program."""
        return all(child.reads_alone() for child in self.children)

    def counted(self) -> int:
        """The number of rows, by counting them."""
        return sum(1 for _ in self.rows(Run.through(self)))


class InChunks(Node):
    """A node that says by `chunks` which rows there are."""

    def rows(self, run: Run, begin: int = 0) -> Iterator[Row]:
        return flattened(self.chunks(run, begin))

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        raise NotImplementedError(f"{type(self).__name__} has no rows")
