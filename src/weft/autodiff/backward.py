"""The backward pass: walk a tape backwards, once for eager and symbolic tensors alike.

Where the pass comes to code of the user's, a hook or a rule, it does not call it: it says what to call, and goes on
with the answer. So whoever drives it decides how that code runs: eagerly it is called, in a capture it is entered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final

from weft.autodiff.marks import own_gradient
from weft.autodiff.perhaps import Gradient, Perhaps, arrived, joined, settled, under
from weft.autodiff.rules import call_of_rule, fit, fitted, pull, pull_compiled, whole_pass
from weft.autodiff.starts import Start, hooks_from, may_have_hooks
from weft.autodiff.structure import VARIANTS, describe, habit_of, key_of
from weft.autodiff.whole import Beginning, Pass
from weft.cache.programs import compiled
from weft.core import trace as trace_module
from weft.core.primitive import ACROSS, Primitive
from weft.core.recording import GraphNode, KnownNode, PrimitiveNode, Recording
from weft.core.tape import RELEASED, SPLITS, SYMBOL, ConditionalNode, Edge, Hooks, TapeNode
from weft.core.tensor import Tensor, data_of, wrap
from weft.core.transparency import keeps, transparent
from weft.errors import Refusal, Unsupported
from weft.ir.graph import Value

_new = object.__new__
#: by when entries were recorded
_AGE: Final = attrgetter("sequence")
#: hooks by when they were registered
_NUMBER: Final = itemgetter(0)
#: gradients that arrived at the outputs of entries, as far as the pass has come
_Pending = dict[TapeNode, list[Gradient]]


def backward(
    outputs: Sequence[Tensor],
    douts: Sequence[Tensor | None],
    targets: Sequence[TapeNode],
    record: bool,
    release: bool = False,
) -> list[Tensor | None]:
    """Gradients of outputs with respect to nodes of the tape; the walk stops at them. Calls the user's code it meets.

    Args:
        outputs: tensors computed on the tape.
        douts: the gradient with respect to each output; None for zero.
        targets: leaf nodes, or leaves of an inner gradient that link to an outer one.
        record: leave tape entries for the computation, so that it can be differentiated again.
        release: cut the tape to pieces afterwards; a tensor that outlives the gradient then keeps nothing alive.

    Returns:
        list: one gradient for each target, None where no path leads to it.
    """
    return walked(start_walk(outputs, douts, targets, record, release))


@transparent
def walked(walk: Walk) -> list[Tensor | None]:
    """The gradients that a pass comes to."""
    return ended(walk).results


@transparent
def ended(walk: Walk) -> Walk:
    """A pass at its end."""
    while walk.function is not None:
        walk = walk.answered(walk.function(*walk.args, **walk.keywords))
    return walk


@transparent
def run_hook(hook: Callable[[Tensor], Any], gradient: Tensor) -> Tensor:
    """The gradient of a tensor as a hook leaves it."""
    gradient = own_gradient(gradient)
    given = hook(gradient)
    return replaced(given, (gradient,), (gradient,), "a tensor hook")[0]


class Tape:
    """The part of a tape that a backward pass goes over.

    Args:
        targets: where it stops.
        record: whether the pass itself is recorded.
        release: whether the tape is cut to pieces afterwards.
        seen: all entries, oldest first.
        order: those that lead to a target.
        relevant: they and the targets.
        starts: the tensors of the program for which targets stand.
    """

    __slots__ = ("targets", "record", "release", "seen", "order", "relevant", "starts", "compiled", "splits")

    def __init__(
        self,
        targets: Sequence[TapeNode],
        record: bool,
        release: bool,
        seen: list[TapeNode],
        order: list[TapeNode],
        relevant: set[TapeNode],
        starts: Mapping[TapeNode, Start | Tensor],
    ) -> None:
        self.targets = targets
        self.record = record
        self.release = release
        self.seen = seen
        self.order = order
        self.relevant = relevant
        self.starts = starts
        #: on a tape that another computation builds on, or under a trace, gradients are computed by operations
        self.compiled = not record and trace_module.current() is None
        self.splits = SPLITS.count

    @classmethod
    def leading(
        cls,
        pending: _Pending,
        targets: Sequence[TapeNode],
        record: bool,
        release: bool,
        starts: Mapping[TapeNode, Start | Tensor],
    ) -> Tape:
        """The part of a tape from where gradients arrived to the targets."""
        wanted = set(targets)
        seen = _reachable(pending, wanted) if targets else []
        relevant = set(wanted)
        order: list[TapeNode] = []
        for node in seen:
            if node not in wanted:
                for edge in node.edges:
                    if _leads(edge, relevant):
                        relevant.add(node)
                        order.append(node)
                        break
        return cls(targets, record, release, seen, order, relevant, starts)

    def hooks_at(self, node: TapeNode) -> Sequence[tuple[int, Any]]:
        """The hooks of an entry, with the numbers of their outputs, in the order in which they run.

        Those of a tensor at which the gradient starts belong to the passes that end there, and to no other that comes
        through its entry.
        """
        start = self.starts.get(node)
        asked = hooks_from(start) if start is not None else ()
        if not asked:
            return _one_by_one(node)
        hooks = node.hooks or ()
        inside = [entry for _, those in hooks for entry in those] if hooks.__class__ is Hooks else hooks
        return [(0, hook) for _, hook in sorted([*asked, *inside], key=_NUMBER)]


class Walk:
    """A backward pass that has come to its end, or to a call of the user's code.

    A walk does not change: an answer makes another one, so that a capture may follow two answers.

    Args:
        tape: what it goes over.
        pending: gradients that arrived.
        position: the entry of the order at which it is; below 0 at the targets.
        hooks: hooks of that entry that are still to be called.
    """

    __slots__ = ("tape", "pending", "position", "hooks", "hooked", "function", "args", "keywords", "arrived", "results")

    #: what to call it with
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    #: at the end: one gradient for each target, None where no path leads to it
    arrived: list[Gradient]
    #: the same for those who take zeros where the run decides that none arrives
    results: list[Tensor | None]

    def __init__(
        self, tape: Tape, pending: _Pending, position: int, hooks: tuple[Any, ...] | None = None,
        hooked: TapeNode | None = None,
    ) -> None:  # fmt: skip
        self.tape = tape
        self.pending = pending
        self.position = position
        self.hooks = hooks
        #: the entry whose hooks are called
        self.hooked = hooked
        #: what to call; None at the end
        self.function: Callable[..., Any] | None = None
        if position < 0:
            self._finish()
        else:
            self._go_on()

    @keeps
    def answered(self, given: Any) -> Walk:
        """The walk after the call that it asked for.

        Args:
            given: what the call returned.
        """
        pending = {node: list(slots) for node, slots in self.pending.items()}
        if self.hooks is not None:
            assert self.hooked is not None
            index, _ = self.hooks[0]
            pending[self.hooked][index] = given
            tape, position = self._found_again(pending, self.position)
            return Walk(tape, pending, position, self.hooks[1:], self.hooked)
        node: Any = self.tape.order[self.position]
        needs = self._needs(node)
        del pending[node]
        _give(pending, node, needs, fitted(given, node.inputs, needs))
        tape, position = self._found_again(pending, self.position - 1)
        return Walk(tape, pending, position)

    def _found_again(self, pending: _Pending, position: int) -> tuple[Tape, int]:
        """The tape and the position on it, after code of the program's may have split entries."""
        tape = self.tape
        if tape.splits == SPLITS.count:
            return tape, position
        found = Tape.leading(pending, tape.targets, tape.record, tape.release, tape.starts)
        found.seen = list({*tape.seen, *found.seen})
        if position < 0:
            return found, position
        here = tape.order[position]
        # entries that are younger than this one have given what they had
        return found, sum(node.sequence <= here.sequence for node in found.order) - 1

    def _needs(self, node: TapeNode) -> tuple[bool, ...]:
        relevant = self.tape.relevant
        return tuple([_leads(edge, relevant) for edge in node.edges])

    def _ask_hooks(self, node: TapeNode) -> bool:
        """Ask for the next hook of an entry; False if there is none any more."""
        if self.hooks is None:
            tape = self.tape
            relevant = tape.relevant
            self.hooks = tuple([entry for entry in tape.hooks_at(node) if _leads((node, entry[0]), relevant)])
            self.hooked = node
            if node.hooks.__class__ is Hooks:
                node.hooks.called = True
        douts = self.pending[node]
        while self.hooks:
            index, hook = self.hooks[0]
            dout = douts[index]
            if dout is not None:
                _refuse_undecided(dout)
                self.function, self.args, self.keywords = run_hook, (hook, dout), {}
                return True
            self.hooks = self.hooks[1:]
        self.hooks = None
        return False

    def _go_on(self) -> None:
        tape, pending = self.tape, self.pending
        order, compiled, record = tape.order, tape.compiled, tape.record
        while self.position >= 0:
            node = order[self.position]
            douts = pending.get(node)
            past = node.hooks.past if node.hooks.__class__ is Hooks else None
            if past is not None and past in pending:
                if douts is None:
                    douts = pending[node] = [None] * node.output_count
            elif douts is None:
                self.position -= 1
                continue
            if node.pullback is None and node.__class__ is TapeNode:  # its gradients wait for those that pass hooks
                self.position -= 1
                continue
            if (node.hooks or self.hooks is not None) and self._ask_hooks(node):
                return
            if past is not None and past in pending:
                douts = pending[node] = [joined(*both) for both in zip(douts, pending.pop(past), strict=True)]
            if node.__class__ is PrimitiveNode:
                primitive = node.primitive
                if primitive.asks:
                    _refuse_undecided(*douts)
                    self.function, self.args, self.keywords = call_of_rule(node, arrived(douts)[0], record)
                    return
            del pending[node]
            needs = self._needs(node)
            if node.__class__ is ConditionalNode:
                assert node.pullback is not None
                _give(pending, node, needs, node.pullback(douts, list(needs), record))
                self.position -= 1
                continue
            given, present = arrived(douts)
            alone = node.__class__ is PrimitiveNode and node.primitive.effect != ACROSS
            if compiled and alone and node.level is None:
                gradients: Sequence[Gradient] = pull_compiled(node, given, needs)
                _give(pending, node, needs, under(gradients, present))
            else:
                with _located(node):
                    gradients = pull(node, given, needs, record)
                    _give(pending, node, needs, under(gradients, present))
            self.position -= 1
        self._finish()

    def _finish(self) -> None:
        """Run the hooks of the targets; with the last one done, this is the end."""
        tape, pending = self.tape, self.pending
        targets: Sequence[TapeNode] = tuple(dict.fromkeys(tape.targets))
        if self.hooks is not None and self.hooked in targets:  # it goes on there
            targets = targets[targets.index(self.hooked) :]
        for target in targets:
            asks = target.hooks or self.hooks is not None or (tape.starts and may_have_hooks())
            if asks and target in pending and self._ask_hooks(target):
                return
        self.arrived = [pending[target][0] if target in pending else None for target in tape.targets]
        self.results = [settled(gradient) for gradient in self.arrived]
        if tape.release:
            _cut(tape.seen)


@contextlib.contextmanager
def _located(node: TapeNode) -> Iterator[None]:
    """Within this block what a graph computes has the line of the operation of which it is the gradient."""
    trace = trace_module.current()
    made = node.results[0] if trace is not None and isinstance(node, KnownNode) and node.results else None
    if trace is None or made.__class__ is not Value or made.node is None or made.node.location is None:
        yield
        return
    outer, location = trace.location, made.node.location
    trace.location = lambda: location
    try:
        yield
    finally:
        trace.location = outer


def _leads(producer: Edge, relevant: set[TapeNode]) -> bool:
    """Whether gradients of an output lead to a target.

    Args:
        producer: the entry and the number of the output.
        relevant: the targets, and the entries of which some output leads to one.
    """
    if producer is None or producer[0] not in relevant:
        return False
    node, index = producer
    if node.__class__ is not GraphNode or not node.edges:  # a released one
        return True
    return any(_leads(edge, relevant) for edge in node.behind(index))


def _one_by_one(node: TapeNode) -> tuple[tuple[int, Any], ...]:
    """The hooks of an entry, with the numbers of their outputs, in the order in which they run."""
    hooks = node.hooks or ()
    if hooks.__class__ is not Hooks:
        return tuple([(0, hook) for _, hook in hooks])
    found = [(index, hook) for index, registered in hooks for _, hook in registered]
    if node.__class__ is GraphNode and len({index for index, _ in found}) > 1:
        found.sort(key=lambda entry: -node.age(entry[0]))
    return tuple(found)


def _cut(nodes: Iterable[TapeNode]) -> None:
    """Cut entries to pieces: a tensor that outlives the gradient then keeps nothing alive."""
    for node in nodes:
        node.edges = ()
        node.pullback = None
        if node.__class__ is GraphNode:
            node.split = None
        node.level = RELEASED
        if node.__class__ is not TapeNode and isinstance(node, KnownNode):
            node.operands = node.results = ()


def whole(
    recording: Recording,
    outputs: Sequence[Tensor],
    douts: Sequence[Tensor | None] | None,
    targets: Sequence[TapeNode],
    release: bool,
) -> Walk | Beginning | None:
    """A backward pass in one call.

    Args:
        recording: that of the tape.
        outputs: tensors computed on the tape.
        douts: the gradient with respect to each output, None for zero; None for ones everywhere.
        targets: where it ends.
        release: see `backward`.

    Returns:
        The pass, done. If it was not compiled as a whole before, where it begins; None if the form of the tape is not
        known, or the pass does not end at all leaves.
    """
    form = recording.form
    if form is None or recording.leaves != len(targets) or trace_module.current() is not None:
        return None
    where = [douts is None, Primitive.rules_epoch]
    roots: list[Any] = []
    given: list[Any] = []
    for position, output in enumerate(outputs):
        node: Any = output._node
        if node is None or node is SYMBOL:
            continue
        if douts is not None:
            dout = douts[position]
            if dout is None:
                continue
            given.append(data_of(dout))
        if node.recording is not recording or node.__class__ is TapeNode:
            return None
        roots.append(node)
        where.append(node.place + output._index)
    if not roots:
        return None
    key = tuple(where)
    found = form.passes.get(key)
    if found is None:
        return Beginning(recording, key, roots, given)
    arrays, nodes = found.arrays(roots)
    walk: Walk = _new(Walk)
    walk.function = None
    walk.results = [None if gradient is None else wrap(gradient) for gradient in found.run(*arrays, *given)]
    if release:
        for target in targets:
            target.edges = ()
            target.level = RELEASED
        for node in nodes:
            node.operands = node.results = node.edges = ()
            node.pullback = None
            if node.__class__ is GraphNode:
                node.split = None
            node.level = RELEASED
    return walk


@keeps
def start_walk(
    outputs: Sequence[Tensor],
    douts: Sequence[Gradient],
    targets: Sequence[TapeNode],
    record: bool,
    release: bool = False,
    begin: Beginning | None = None,
    starts: Mapping[TapeNode, Start | Tensor] = MappingProxyType({}),
) -> Walk:
    """A backward pass, as far as it comes without the user's code; for the other arguments see `backward`.

    Args:
        outputs: tensors computed on the tape.
        douts: the gradient with respect to each output.
        targets: where it stops.
        record: whether the pass itself is recorded.
        release: whether the tape is cut to pieces afterwards.
        begin: where it begins, if it may be compiled as a whole.
        starts: the tensors of the program for which targets stand, whose hooks run.
    """
    pending: _Pending = {}
    if targets:
        for output, dout in zip(outputs, douts, strict=True):
            node = output._node
            if dout is not None and node is not None and node is not SYMBOL:
                _accumulate(pending, node, output._index, dout)  # type: ignore[arg-type]
    tape = Tape.leading(pending, targets, record, release, starts)
    if tape.compiled and len(tape.order) > 1 and _pull_all(tape.order, tape.relevant, pending, targets, begin):
        tape.order = []
    return Walk(tape, pending, len(tape.order) - 1)


@keeps
def replaced(given: Any, before: Sequence[Any], likes: Sequence[Tensor | None], what: str) -> list[Any]:
    """The gradients that a hook returned in place of others."""
    if given is None:
        return list(before)
    if not isinstance(given, (tuple, list)):
        given = (given,)
    if len(given) != len(before):
        raise TypeError(f"{what} returned {len(given)} gradients, it was given {len(before)}")
    results: list[Any] = []
    for new, old, like in zip(given, before, likes, strict=True):
        if new is None or like is None:
            results.append(old)
        elif not isinstance(new, Tensor):
            raise TypeError(f"{what} must return tensors or None, not {type(new).__name__}")
        elif new.shape != like.shape:
            raise ValueError(f"{what} returned a gradient of shape {new.shape} for a tensor of shape {like.shape}")
        else:
            results.append(fit(new, like))
    return results


def _give(
    pending: _Pending, node: TapeNode, needs: Sequence[bool], gradients: Sequence[Gradient]
) -> None:  # fmt: skip
    """Add the gradients of an entry's inputs to those that arrived at their producers."""
    for edge, need, gradient in zip(node.edges, needs, gradients, strict=True):
        if need and gradient is not None:
            assert edge is not None
            _accumulate(pending, edge[0], edge[1], gradient)


def _accumulate(pending: _Pending, node: TapeNode, index: int, dout: Gradient) -> None:
    slots = pending.get(node)
    if slots is None:
        slots = pending[node] = [None] * node.output_count
    slots[index] = joined(slots[index], dout)


def _reachable(roots: Iterable[TapeNode], targets: set[TapeNode]) -> list[TapeNode]:
    """The nodes from the roots down to the targets, oldest first; what is older than every target is left out."""
    oldest = min([target.sequence for target in targets])
    seen = set()
    stack = [root for root in roots if root.sequence >= oldest]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in targets:
                for edge in node.edges:
                    if edge is not None and edge[0].sequence >= oldest:
                        stack.append(edge[0])
    return sorted(seen, key=_AGE)


def _pull_all(
    order: list[TapeNode],
    relevant: set[TapeNode],
    pending: _Pending,
    targets: Sequence[TapeNode],
    begin: Beginning | None,
) -> bool:
    """Run the whole pass in one call if tapes of this structure are common; whether it was done."""
    form = None if begin is None else begin.recording.form
    habit = habit_of(order, form)
    if habit is None:
        return False
    if begin is not None and form is not None:
        key = key_of(form, begin.seeds())
    else:
        key, arrays = describe(order, relevant, pending.items(), targets)
    run: Any = habit.compiled.get(key)
    if run is None:
        if len(habit.compiled) >= VARIANTS:
            return False
        compute, text = whole_pass(key)
        run = compiled(compute, text) if begin is None else Pass(compute, text, begin)
        habit.compiled[key] = run
    if begin is not None and form is not None:
        if not habit.unproven:
            form.passes[begin.where] = run
        arrays = [*run.arrays(begin.roots)[0], *begin.given]
        run = run.run
    for target, gradient in zip(targets, run(*arrays), strict=True):
        if gradient is not None:
            pending[target] = [wrap(gradient)]
    return True


def _refuse_undecided(*douts: Gradient) -> None:
    """Refuse to call a rule or hook of the program's of which only the run knows whether Python would call it: whether
    a gradient arrives there, or follows what was computed there.
    """
    trace = trace_module.current()
    if Perhaps in [dout.__class__ for dout in douts] or (trace is not None and trace.watched and trace.partly_followed):
        raise Unsupported(
            Refusal.TENSOR_CONDITION,
            "whether a gradient arrives at a rule or hook of the program depends on a tensor",
            "compute with the parameters on all paths",
        )
