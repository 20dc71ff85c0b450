"""The calls that a running graph makes of the host, in the thread that runs the graph.

The graph hands its calls over as it comes to them; the caller's thread makes them. So they see the caller's thread, may
themselves compute with tensors, and what they raise is the caller's. A graph without calls in loops is soon over: its
calls are made when it is done. Other graphs run in a thread of a pool, and their calls are made meanwhile.
"""

from __future__ import annotations

import functools
import itertools
import queue
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import jax
import numpy as np

from weft import lazily
from weft.core import trace as trace_module
from weft.core.control import WHILE, effect_of
from weft.core.primitive import IO
from weft.core.tracebacks import WEFT
from weft.errors import Location
from weft.ir.graph import Graph
from weft.ir.types import TOKEN
from weft.ops.host import ARRIVALS, Arrival, HostCall
from weft.ops.host_functions import HostFunction
from weft.passes.rewrite import graphs_of

if TYPE_CHECKING:
    from concurrent import futures
else:
    futures = lazily.deferred("concurrent.futures")

_NUMBERS: Final = itertools.count(1)


@functools.cache
def _pool() -> futures.ThreadPoolExecutor:
    """Runs that wait for each other's host calls (a host call may run another graph) need a thread each."""
    return futures.ThreadPoolExecutor(1024, "weft-graph")


def with_host_calls(function: Callable[..., Any], graph: Graph) -> Callable[..., Any]:
    """A compiled function whose host calls are made by whoever calls it.

    Args:
        function: the compiled graph, a function on arrays; tokens are the numbers of runs.
        graph: the graph.

    Returns:
        The same with ``()`` for every token. It returns when all host calls are done, and raises what one raises.
    """

    tokens = [position for position, value in enumerate(graph.params) if value.type is TOKEN]
    results = [position for position, value in enumerate(graph.outputs) if value.type is TOKEN]
    meanwhile = any(node.op is WHILE and effect_of(node) == IO for inner in graphs_of(graph) for node in inner.nodes)

    def run(*arrays: Any) -> tuple[Any, ...]:
        number = next(_NUMBERS) % (1 << 31)
        arguments = list(arrays)
        for position in tokens:
            arguments[position] = np.int32(number)
        arrivals: queue.SimpleQueue[Arrival | None] = queue.SimpleQueue()
        ARRIVALS[number] = arrivals
        try:
            future: futures.Future[Any]
            if meanwhile:
                future = _pool().submit(_finish, function, arguments)
                future.add_done_callback(lambda _: arrivals.put(None))
            else:
                future = futures.Future()
                try:
                    future.set_result(_finish(function, arguments))
                except Exception as error:  # what a function of the host raised arrived before
                    future.set_exception(error)
                arrivals.put(None)
            while (arrival := arrivals.get()) is not None:
                _perform(*arrival)
        finally:
            del ARRIVALS[number]
        found = list(future.result())
        for position in results:
            found[position] = ()
        return tuple(found)

    return run


def _finish(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    return jax.block_until_ready(function(*arguments))


def _perform(call: HostCall | HostFunction, arrays: Sequence[Any]) -> None:
    try:
        with trace_module.suspended():
            call.perform(arrays)
    except BaseException as error:
        location = call.location() if callable(call.location) else call.location
        error.__traceback__ = _from_user(error.__traceback__, location)
        raise


def _from_user(traceback: types.TracebackType | None, location: Location | None) -> types.TracebackType | None:
    """A traceback that goes on from the user's line in place of the frames of this package."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(WEFT):
        traceback = traceback.tb_next
    if location is None:
        return traceback
    code = _frame_here.__code__.replace(
        co_filename=location.file, co_firstlineno=location.line, co_name=location.scope.rpartition(".")[2]
    )
    frame = types.FunctionType(code, {"sys": sys})()
    return types.TracebackType(traceback, frame, 0, location.line)


def _frame_here() -> types.FrameType:
    return sys._getframe()
