"""Groups of the same processes, and threads that exchange over groups."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

import numpy as np
import pytest

import weft
from weft import Tensor, ops
from weft.ops import distributed, exchanges
from weft.parallel import communication as comm

comm.init()
rank, count = comm.get_rank(), comm.get_group_size()
everyone = list(range(count))
for group in ("grads", "metrics", "mine"):
    comm.create_group(group, everyone)


def total(group: str, value: float) -> float:
    return float(ops.AllReduce(group=group)(Tensor([value])).asnumpy()[0])


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    """What some works give or raise, each in a thread of its own."""
    found: list[Any] = [None] * len(works)

    def work(number: int) -> None:
        try:
            found[number] = works[number]()
        except RuntimeError as error:
            found[number] = error

    threads = [threading.Thread(target=work, args=(number,), name=f"work{number}") for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def check_that_groups_in_threads_have_nothing_to_do_with_each_other() -> None:
    reduce = weft.jit(lambda x: ops.AllReduce(group="metrics")(x * 2) + 1)

    def grads() -> list[float]:
        return [total("grads", 1.0 + i) for i in range(40)]

    def metrics() -> list[float]:
        return [float(reduce(Tensor([1000.0 + i])).asnumpy()[0]) for i in range(40)]

    own, others = in_threads(*((grads, metrics) if rank else (metrics, grads)))[:: -1 if not rank else 1]
    assert own == [count * (1.0 + i) for i in range(40)]
    assert others == [2 * count * (1000.0 + i) + 1 for i in range(40)]


def check_messages_beside_reductions() -> None:
    """Those between two processes go both ways at once."""
    if rank > 1:
        return
    comm.create_group("pair", [0, 1])
    other = 1 - rank

    def messages() -> list[float]:
        found = []
        for i in range(20):
            sent = exchanges.isend(Tensor(np.full(5, 10.0 * rank + i, np.float32)), other)
            got, handle = exchanges.irecv(Tensor(np.zeros(5, np.float32)), other)
            sent.wait()
            handle.wait()
            found.append(float(got.asnumpy()[4]))
        return found

    heard, totals = in_threads(messages, lambda: [total("pair", float(i)) for i in range(20)])
    assert heard == [10.0 * other + i for i in range(20)]
    assert totals == [2.0 * i for i in range(20)]


def check_messages_under_way_while_all_reduce() -> None:
    other = 1 - rank
    sent = exchanges.isend(Tensor([1.0 + rank]), other)
    assert float(ops.AllReduce()(Tensor([2.0])).asnumpy()[0]) == 2.0 * count
    got, handle = exchanges.irecv(Tensor([0.0]), other)
    assert float(ops.AllReduce()(Tensor([3.0])).asnumpy()[0]) == 3.0 * count
    sent.wait()
    handle.wait()
    assert float(got.asnumpy()[0]) == 1.0 + other


def check_several_messages_at_once() -> None:
    for batch in (exchanges.batch_isend_irecv, distributed.batch_isend_irecv):
        given, room = Tensor([5.0 + rank]), Tensor([0.0])
        messages = [exchanges.P2POp("isend", given, 1 - rank), exchanges.P2POp("irecv", room, 1 - rank)]
        found = batch(messages)
        if batch is distributed.batch_isend_irecv:
            for handle in found:
                handle.wait()
            found = (Tensor(0.0), room)
        else:
            assert float(room.asnumpy()[0]) == 0.0
        assert [float(each.asnumpy().sum()) for each in found] == [0.0, 6.0 - rank]


def check_a_thread_first() -> None:
    comm.create_group("first", everyone)
    assert in_threads(lambda: total("first", 2.0)) == [2.0 * count]
    assert total("first", 3.0) == 3.0 * count
    with futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(total, "first", 4.0).result() == 4.0 * count
    assert total("first", 5.0) == 5.0 * count


def check_one_thread_after_the_other() -> None:
    assert total("mine", 1.0) == count
    for _ in range(3):
        assert in_threads(lambda: total("mine", 2.0)) == [2.0 * count]
    assert total("mine", 3.0) == 3.0 * count


def check_groups_without_names() -> None:
    first, second = distributed.new_group(everyone), distributed.new_group(everyone)
    assert first != second
    assert comm.get_process_group_ranks(second) == everyone
    found = in_threads(*[lambda name=name, i=i: total(name, i) for i, name in enumerate((first, second))])
    assert found == [0.0, count]


def check_two_threads_over_one_group() -> None:
    """Last, since the processes do not come to the same."""
    started, at_work, go_on = threading.Event(), threading.Event(), threading.Event()

    def keeps() -> float:
        started.wait(20)
        found = total("mine", 1.0)
        at_work.set()
        go_on.wait(20)
        return found

    def disturbs() -> float:
        started.set()
        at_work.wait(20)
        try:
            return total("mine", 2.0)
        finally:
            go_on.set()

    kept, refused = in_threads(keeps, disturbs)
    assert kept == count
    words = (
        "AllReduce.*: the thread 'work1' exchanges over group 'mine', as the thread 'work0' does, which runs beside "
        "it: .* A thread needs a group of its own: create_group"
    )
    assert isinstance(refused, RuntimeError)
    with pytest.raises(RuntimeError, match=words):
        raise refused


def differ() -> None:
    gather = ops.AllGather("mine")
    gather(Tensor([1.0] * (1 + rank)))


if sys.argv[1:] == ["shape"]:
    in_threads(differ)
    sys.exit(0)
if sys.argv[1:] == ["order"]:
    for each in ("grads", "metrics") if rank else ("metrics", "grads"):
        total(each, 1.0)
for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
print("all agree")
