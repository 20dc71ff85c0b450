"""Operations on rows: map, filter, shuffle, repeat, take, skip, split, project, rename, zip, concat."""

from __future__ import annotations

import copy
import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from weft.core.workers import waiting
from weft.data import config
from weft.data.checks import integer, names_of, places
from weft.data.chunks import Chunk, Columns, after, cells, first_of, flattened, packed, packed_values
from weft.data.conversion import Array, Row, array_of
from weft.data.dataset import Dataset
from weft.data.debug import hooked
from weft.data.drawing import may_draw
from weft.data.kinds import UnionBaseDataset
from weft.data.node import InChunks, Run
from weft.data.operation import Operation
from weft.data.samplers import DistributedSampler
from weft.data.shuffling import shuffled
from weft.data.workers import LEFT_OUT, ByColumns, Job, in_order

_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def takes(function: Any) -> int | None:
    """How many arguments without a default a function takes by position, None where that is not known.

    Args:
        function: the function.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return None
    return sum(each.kind in _POSITIONAL and each.default is inspect.Parameter.empty for each in parameters)


def called(function: Any) -> str:
    """The name of a function for messages."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


class _Mapped(ByColumns):
    """What `map` does to a row; travels to worker processes.

    Args:
        operations: the functions.
        inputs: the places of the columns that the first is called with.
        outputs: how many columns the last returns.
        kept: the places of the columns that stay.
        order: where the outputs, and the columns that stay after them, go; None for this order.
        all_stay: whether the outputs stand where the inputs did, beside all other columns.
        lenient: whether a row for which a function raises is left out.
    """

    def __init__(
        self,
        operations: list[Any],
        inputs: list[int],
        outputs: int,
        kept: list[int],
        order: list[int] | None,
        all_stay: bool,
        lenient: bool,
    ) -> None:
        self.operations = operations
        self.inputs = inputs
        self.outputs = outputs
        self.kept = kept
        self.order = order
        self.lenient = lenient
        #: whether one function makes one column of one, which stays where it is
        self.is_by_columns = len(operations) == len(inputs) == outputs == 1 and all_stay and not lenient
        self.one = operations[0]
        #: whether all are of the library, of one column that stays where it is
        self.is_for_all = len(inputs) == outputs == 1 and all_stay and all(map(_is_of_library, operations))

    def for_all(self, chunk: Chunk) -> Chunk | None:
        if not self.is_for_all or not isinstance(chunk, Columns):
            return None
        (place,) = self.inputs
        array: Array | None = chunk.arrays[place]
        try:
            for operation in self.operations:
                if array is not None:
                    array = operation.for_all(array)
        except Exception:
            return None  # raised again, and named, by the element that is wrong
        return None if array is None else Columns([*chunk.arrays[:place], array, *chunk.arrays[place + 1 :]])

    def arguments(self, chunk: Chunk) -> list[Array]:
        (place,) = self.inputs
        return cells(chunk.arrays[place]) if isinstance(chunk, Columns) else [row[place] for row in chunk]

    def failed(self, argument: Array, error: Exception) -> Exception:
        return self._failed(self.one, error)

    def collected(self, chunk: Chunk, found: list[Any]) -> Chunk | None:
        (place,) = self.inputs
        array = packed_values(found)
        whole = packed(chunk) if array is not None and type(chunk) is list else chunk
        if array is not None and isinstance(whole, Columns):
            return Columns([*whole.arrays[:place], array, *whole.arrays[place + 1 :]])
        return None

    def __call__(self, row: Row) -> Any:
        if not self.is_by_columns:
            return self._any(row)
        (place,) = self.inputs
        try:
            value = self.one(row[place])
        except Exception as error:
            raise self._failed(self.one, error) from error
        return self.finished(row, value)

    def finished(self, item: Row, value: Any) -> Row:
        if type(value) is np.ndarray and value.dtype.kind != "O":
            (place,) = self.inputs
            return (*item[:place], value, *item[place + 1 :])
        return self._arranged(value, self.one, item)

    def _failed(self, operation: Any, error: Exception) -> RuntimeError:
        return RuntimeError(f"map operation: [{called(operation)}] failed. {type(error).__name__}: {error}")

    def _any(self, row: Row) -> Any:
        values: Any = [row[place] for place in self.inputs]
        operation = None
        try:
            for operation in self.operations:
                values = operation(*values)
                if not isinstance(values, tuple):
                    if values is None:
                        break
                    values = (values,)
        except Exception as error:
            if self.lenient:
                return LEFT_OUT
            raise self._failed(operation, error) from error
        return self._arranged(values, operation, row)

    def _arranged(self, value: Any, operation: Any, row: Row) -> Row:
        """The new row of what the last function returned."""
        if value is None:
            raise RuntimeError(f"map operation: [{called(operation)}] failed. It returned None.")
        values = value if isinstance(value, tuple) else (value,)
        if len(values) != self.outputs:
            raise RuntimeError(
                f"map operation: {len(values)} columns were returned by [{called(operation)}], "
                f"but there are {self.outputs} output_columns"
            )
        found = [
            each
            if type(each) is np.ndarray and each.dtype.kind != "O"
            else array_of(each, f"map operation [{called(operation)}]")
            for each in values
        ]
        for place in self.kept:
            found.append(row[place])
        order = self.order
        return tuple(found) if order is None else tuple([found[place] for place in order])


def _is_of_library(operation: Any) -> bool:
    """Whether an operation is one of the library, which no class of the program derives from."""
    return isinstance(operation, Operation) and type(operation).__module__.startswith("weft.")


class MapDataset(InChunks, UnionBaseDataset):
    """See `Dataset.map`."""

    def __init__(
        self,
        input_dataset: Dataset,
        operations: Any = None,
        input_columns: Any = None,
        output_columns: Any = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        cache: Any = None,
        callbacks: Any = None,
        max_rowsize: Any = None,
        offload: Any = None,
    ) -> None:
        del max_rowsize, offload
        super().__init__(input_dataset, num_parallel_workers, cache)
        listed = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        if not listed:
            raise ValueError("map: operations must not be empty")
        for operation in listed:
            if not callable(operation):
                raise TypeError(f"map: an operation must be callable, not {type(operation).__name__}")
        self.operations = listed
        self.python_multiprocessing = python_multiprocessing
        listed_callbacks = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
        self.callbacks: list[Any] = [] if callbacks is None else list(listed_callbacks)
        self._asked = None if input_columns is None or input_columns == [] else names_of("input_columns", input_columns)
        self._given = None if output_columns is None else names_of("output_columns", output_columns)

    def _layout(self) -> tuple[list[int], list[str], list[int], bool]:
        """Places of inputs, names of outputs, places of columns that stay, whether outputs stand where inputs did."""
        before = self.children[0].columns()
        if self._asked is None:
            count = takes(self.operations[0])
            names = before[: count if count else len(before)] if count is not None else before[:1]
        else:
            names = self._asked
        inputs = places(before, names, "map")
        outputs = names if self._given is None else self._given
        kept = [place for place in range(len(before)) if place not in inputs and before[place] not in outputs]
        in_place = len(outputs) == len(names)
        return inputs, outputs, kept, in_place

    def columns(self) -> list[str]:
        before = self.children[0].columns()
        inputs, outputs, kept, in_place = self._layout()
        if not in_place:
            return [*outputs, *(before[place] for place in kept)]
        renamed = dict(zip(inputs, outputs, strict=True))
        return [renamed.get(place, before[place]) for place in sorted([*inputs, *kept])]

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        if not self.callbacks:
            return self._made(self.children[0].chunks(run, begin), run, begin)
        return self._told(run, begin)

    def _tell(self, when: str, epoch: int, step: int) -> None:
        before = epoch * self.children[0].size() if epoch else 0
        facts = SimpleNamespace(cur_epoch_num=epoch + 1, cur_step_num_in_epoch=step, cur_step_num=before + step)
        for callback in self.callbacks:
            if "step" not in when or step % callback.step_size == 0:
                getattr(callback, when)(facts)

    def _told(self, run: Run, begin: int) -> Iterator[Chunk]:
        """The rows one by one, with what the callbacks want to do before and after each."""

        def taken() -> Iterator[Chunk]:
            for step, row in enumerate(self.children[0].rows(run, begin), begin + 1):
                self._tell("ds_step_begin", run.epoch, step)
                yield [row]

        if not run.epoch:
            self._tell("ds_begin", run.epoch, begin)
        self._tell("ds_epoch_begin", run.epoch, begin)
        step = begin
        for row in flattened(self._made(taken(), run, begin)):
            step += 1
            self._tell("ds_step_end", run.epoch, step)
            yield [row]
        self._tell("ds_epoch_end", run.epoch, step)

    def _made(self, source: Iterator[Chunk], run: Run, begin: int) -> Iterator[Chunk]:
        inputs, outputs, kept, in_place = self._layout()
        lenient = config.get_error_samples_mode() != config.ErrorSamplesMode.RETURN
        library = all(type(each).__module__.startswith("weft.") for each in self.operations)
        workers = config.workers_of(self.num_parallel_workers, library)
        processes = self.python_multiprocessing and workers > 1
        operations = hooked(self.operations, config.debug_hooks())
        places_now = [*inputs, *kept]
        order = None
        if in_place and places_now != sorted(places_now):
            order = sorted(range(len(places_now)), key=places_now.__getitem__)
        all_stay = in_place and len(places_now) == len(self.children[0].columns())
        mapped = _Mapped(operations, inputs, len(outputs), kept, order, all_stay, lenient)
        job = Job(mapped, run.entropy(self), processes and may_draw(operations))
        if lenient:  # rows may be missing, so that those to leave out must be made
            return after(in_order(job, self.children[0].chunks(run), 0, workers, processes), begin)
        return in_order(job, source, begin, workers, processes)


class _Chosen:
    """What `filter` does to a row."""

    def __init__(self, predicate: Callable[..., Any], inputs: list[int]) -> None:
        self.predicate = predicate
        self.inputs = inputs

    def __call__(self, row: Row) -> Any:
        try:
            found = self.predicate(*[row[place] for place in self.inputs])
        except Exception as error:
            raise RuntimeError(
                f"filter operation: [{called(self.predicate)}] failed. {type(error).__name__}: {error}"
            ) from error
        return row if found else LEFT_OUT


class FilterDataset(UnionBaseDataset):
    """See `Dataset.filter`."""

    def __init__(
        self,
        input_dataset: Dataset,
        predicate: Callable[..., Any],
        input_columns: Any = None,
        num_parallel_workers: int | None = None,
    ) -> None:
        super().__init__(input_dataset, num_parallel_workers)
        if not callable(predicate):
            raise TypeError("filter: predicate must be a function")
        self.predicate = predicate
        self._asked = None if not input_columns else names_of("input_columns", input_columns)

    def all_rows(self, run: Run) -> Iterator[Row]:
        before = self.children[0].columns()
        inputs = places(before, before if self._asked is None else self._asked, "filter")
        job = Job(_Chosen(self.predicate, inputs), run.entropy(self))
        workers = config.workers_of(self.num_parallel_workers, False)
        return flattened(in_order(job, self.children[0].chunks(run), 0, workers, False))

    def size(self) -> int:
        return self.counted()


class ShuffleDataset(InChunks, UnionBaseDataset):
    """See `Dataset.shuffle`."""

    def __init__(self, input_dataset: Dataset, buffer_size: int) -> None:
        super().__init__(input_dataset)
        self.buffer_size = integer(buffer_size, "buffer_size", 2)

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        found = shuffled(self.children[0].chunks(run), self.buffer_size, run.generator(self))
        return after(found, begin) if begin else found

    def is_shuffled(self) -> bool:
        return True


class RepeatDataset(InChunks, UnionBaseDataset):
    """See `Dataset.repeat`."""

    def __init__(self, input_dataset: Dataset, count: int | None = None) -> None:
        super().__init__(input_dataset)
        self.count = -1 if count is None else count
        if self.count != -1:
            integer(self.count, "count")

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        child = self.children[0]
        skipped = begin
        rounds = itertools.count() if self.count == -1 else range(self.count)
        epoch_before = 0 if self.count == -1 else run.epoch * self.count
        # a run that is repeated for ever in another epoch: other random numbers
        base = run.reseeded(run.seed + run.epoch) if self.count == -1 and run.epoch else run
        size = child.size() if skipped else 0
        for number in rounds:
            if skipped >= size > 0:
                skipped -= size
                continue
            any_row = False
            for chunk in child.chunks(base.at(epoch_before + number), skipped):
                any_row = True
                yield chunk
            if not any_row and not skipped:
                return  # nothing, for ever
            skipped = 0

    def size(self) -> int:
        return self.children[0].size() * max(1, self.count)


class TakeDataset(InChunks, UnionBaseDataset):
    """See `Dataset.take`."""

    def __init__(self, input_dataset: Dataset, count: int = -1) -> None:
        super().__init__(input_dataset)
        if count != -1:
            integer(count, "count")
        self.count = count

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        source = self.children[0].chunks(run, begin)
        return source if self.count == -1 else first_of(source, self.count - begin)

    def size(self) -> int:
        size = self.children[0].size()
        return size if self.count == -1 else min(size, self.count)


class SkipDataset(InChunks, UnionBaseDataset):
    """See `Dataset.skip`."""

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        super().__init__(input_dataset)
        self.count = integer(count, "count", 0)

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        return self.children[0].chunks(run, begin + self.count)

    def size(self) -> int:
        return max(0, self.children[0].size() - self.count)


class SplitPart(InChunks, Dataset):
    """One part of what `Dataset.split` gives.

    Args:
        input_dataset: the dataset that is split.
        first: place of the part's first row.
        count: number of its rows.
        order: the seed of the order that all parts share; None for the dataset's own.
    """

    def __init__(self, input_dataset: Dataset, first: int, count: int, order: int | None) -> None:
        super().__init__(input_dataset)
        self.first = first
        self.count = count
        self.order = order

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        child = self.children[0]
        end = self.first + self.count
        if self.order is None:
            return first_of(child.chunks(run, self.first + begin), self.count - begin)
        # always of the same epoch: a row is in one part, however often the parts are read
        fixed = run.reseeded(self.order).at(0)
        order = np.random.default_rng(self.order).permutation(child.size())
        chosen = order[self.first : end][begin:]
        sampled = getattr(child, "chunks_at", None)
        if sampled is not None:
            return sampled(fixed, chosen)
        return ([row] for row in self._picked(child.rows(fixed), chosen.tolist()))

    @staticmethod
    def _picked(rows: Iterable[Row], chosen: list[int]) -> Iterator[Row]:
        wanted = set(chosen)
        found = {place: row for place, row in enumerate(rows) if place in wanted}
        for place in chosen:
            yield found[place]

    def size(self) -> int:
        return self.count

    def is_shuffled(self) -> bool:
        return self.order is not None or super().is_shuffled()


class ProjectDataset(InChunks, UnionBaseDataset):
    """See `Dataset.project`."""

    def __init__(self, input_dataset: Dataset, columns: Any) -> None:
        super().__init__(input_dataset)
        self._names = names_of("columns", columns)

    def columns(self) -> list[str]:
        return self._names

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        found = places(self.children[0].columns(), self._names, "project")
        return (_projected(chunk, found) for chunk in self.children[0].chunks(run, begin))


def _projected(chunk: Chunk, found: list[int]) -> Chunk:
    if isinstance(chunk, Columns):
        return Columns([chunk.arrays[place] for place in found])
    return [tuple([row[place] for place in found]) for row in chunk]


class RenameDataset(InChunks, UnionBaseDataset):
    """See `Dataset.rename`."""

    def __init__(self, input_dataset: Dataset, input_columns: Any, output_columns: Any) -> None:
        super().__init__(input_dataset)
        old = names_of("input_columns", input_columns)
        new = names_of("output_columns", output_columns)
        if len(old) != len(new):
            raise ValueError(f"rename: {len(old)} input_columns, but {len(new)} output_columns")
        self._new = dict(zip(old, new, strict=True))

    def columns(self) -> list[str]:
        before = self.children[0].columns()
        places(before, list(self._new), "rename")
        after = [self._new.get(name, name) for name in before]
        if len(set(after)) != len(after):
            raise RuntimeError(f"rename: a new name is that of another column: {after}")
        return after

    def chunks(self, run: Run, begin: int = 0) -> Iterator[Chunk]:
        self.columns()
        return self.children[0].chunks(run, begin)


class ZipDataset(UnionBaseDataset):
    """See `Dataset.zip`."""

    def __init__(self, datasets: Any) -> None:
        for each in datasets:
            if not isinstance(each, Dataset):
                raise TypeError(f"zip: a dataset is expected, not {type(each).__name__}")
        super().__init__(list(datasets))

    def columns(self) -> list[str]:
        names = [name for child in self.children for name in child.columns()]
        if len(set(names)) != len(names):
            raise RuntimeError(f"zip: duplicate columns in {names}: rename them first")
        return names

    def rows(self, run: Run, begin: int = 0) -> Iterator[Row]:
        self.columns()
        for parts in zip(*[child.rows(run, begin) for child in self.children], strict=False):
            yield tuple(itertools.chain.from_iterable(parts))

    def size(self) -> int:
        return min(child.size() for child in self.children)


class ConcatDataset(UnionBaseDataset):
    """See `Dataset.concat`."""

    def __init__(self, datasets: Any) -> None:
        for each in datasets:
            if not isinstance(each, Dataset):
                raise TypeError(f"concat: a dataset is expected, not {type(each).__name__}")
        super().__init__(list(datasets))
        self._sampler: Any = None

    def use_sampler(self, sampler: Any) -> None:
        """Read only the rows that a sampler chooses.

        Args:
            sampler: the sampler.
        """
        self._sampler = copy.copy(sampler)
        if isinstance(sampler, DistributedSampler):
            self._sampler.wraps = False
        self.dataset_size = None

    def rows(self, run: Run, begin: int = 0) -> Iterator[Row]:
        names = self.children[0].columns()
        for child in self.children[1:]:
            if child.columns() != names:
                raise RuntimeError(f"concat: the datasets have different columns: {names} and {child.columns()}")
        if self._sampler is None:
            return self._joined(run, begin)
        total = sum(child.size() for child in self.children)
        chosen = self._sampler.chosen(total, run.generator(self)).tolist()[begin:]
        return SplitPart._picked(self._joined(run, 0), chosen)

    def _joined(self, run: Run, begin: int) -> Iterator[Row]:
        types: list[np.dtype[Any]] | None = None
        for child in self.children:
            if begin:
                size = child.size()
                if begin >= size:
                    begin -= size
                    continue
            for place, row in enumerate(child.rows(run, begin)):
                if not place:
                    if types is None:
                        types = [each.dtype for each in row]
                    elif any(_differs(a, b.dtype) for a, b in zip(types, row, strict=True)):
                        raise RuntimeError(
                            f"concat: the data types of the datasets should be the same, but got: "
                            f"{types} and {[each.dtype for each in row]}"
                        )
                yield row
            begin = 0

    def size(self) -> int:
        total = sum(child.size() for child in self.children)
        return total if self._sampler is None else self._sampler.count(total)


def _differs(left: np.dtype[Any], right: np.dtype[Any]) -> bool:
    return left != right and not left.kind == right.kind in "US"


class SyncWaitDataset(UnionBaseDataset):
    """See `Dataset.sync_wait`."""

    def __init__(self, input_dataset: Dataset, condition_name: str, num_batch: int = 1, callback: Any = None) -> None:
        super().__init__(input_dataset)
        self.condition_name = condition_name
        self._each = integer(num_batch, "num_batch")
        self._callback = callback
        self._free = threading.Semaphore(num_batch)
        self._disabled = False

    def all_rows(self, run: Run) -> Iterator[Row]:
        for row in self.children[0].rows(run):
            with waiting():
                while not self._disabled and not self._free.acquire(timeout=0.05):
                    if run.stopped.is_set():
                        return
            yield row

    def release(self, num_batch: int | None, data: Any) -> None:
        """Let rows through.

        Args:
            num_batch: how many; as many as before the first call, if None.
            data: what the callback is called with.
        """
        if self._callback is not None:
            self._callback(data)
        self._free.release(self._each if num_batch is None else num_batch)

    def disable(self) -> None:
        """Let all rows through."""
        self._disabled = True


def zip_datasets(datasets: Any) -> Any:
    """The columns of several datasets side by side.

    Args:
        datasets: a tuple of datasets.

    Example:
        >>> from weft import data as ds
        >>> pairs = ds.zip((ds.NumpySlicesDataset([1], ["x"]), ds.NumpySlicesDataset([2], ["y"])))
        >>> pairs.get_col_names()
        ['x', 'y']
    """
    if len(datasets) < 2:
        raise ValueError("zip: can't zip less than two datasets")
    return ZipDataset(datasets)
