"""`python -m bench.data_peers NAME [COUNT]`: the seconds that an engine takes for the records of `bench.records`.

NAME is plain-one, plain-threads, plain-processes, plain-stacking, weft-one, weft-threads, weft-processes, torch,
grain-threads or grain-processes. PyTorch and grain are needed by nothing else: run it by a Python that has them. They
permute the records as a whole.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from bench.records import BATCH, BUFFER, COUNT, Records, change, plain


def _changed(record: Any) -> Any:
    return change(record[0]), record[1]


class _Changed(Records):
    """The records as `map` makes them."""

    def __getitem__(self, place: int) -> tuple[Any, Any]:
        return _changed(super().__getitem__(place))


def torch_batches(count: int) -> Any:
    """The batches of PyTorch's DataLoader, whose two workers read, change and stack."""
    import torch

    torch.set_num_threads(1)
    return torch.utils.data.DataLoader(_Changed(count), batch_size=BATCH, shuffle=True, num_workers=2)


def grain_batches(count: int, workers: str) -> Any:
    """The batches of grain, whose two workers read, change and stack."""
    import grain
    from absl import flags

    flags.FLAGS(["bench"])
    data = grain.MapDataset.source(Records(count)).shuffle(seed=0).map(_changed).batch(BATCH)
    if workers == "threads":
        return data.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=16))
    found = data.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))
    return found.mp_prefetch(grain.MultiprocessingOptions(num_workers=2))


def weft_batches(count: int, workers: str) -> Any:
    """The batches of weft: two workers read, and two change."""
    from weft import data as ds

    two = None if workers == "one" else 2
    processes = workers == "processes"
    data = ds.GeneratorDataset(
        Records(count), ["x", "y"], shuffle=False, num_parallel_workers=two or 1, python_multiprocessing=processes
    )
    data = data.map(change, ["x"], num_parallel_workers=two, python_multiprocessing=processes)
    return data.shuffle(BUFFER).batch(BATCH).create_tuple_iterator(num_epochs=1, output_numpy=True)


def main() -> None:
    """Measure the engine that the command names."""
    name, _, workers = sys.argv[1].partition("-")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    made = {"torch": torch_batches, "grain": grain_batches, "weft": weft_batches}.get(name)
    batches = None if made is None else made(count, *([workers] if workers else []))
    records = Records(count)
    begin = time.perf_counter()
    found = plain(records, workers) if batches is None else sum(len(batch[0]) for batch in batches)
    print(f"{sys.argv[1]}: {found} records in {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
