"""Which loop, if any, a branch on a symbolic condition decides, and where an iteration of it begins and ends."""

from __future__ import annotations

from weft.capture.code.flow import Flow, flow_of
from weft.capture.state.frame import Fork, Frame


class Loop:
    """A loop that a symbolic branch decides, and where one iteration begins and ends.

    Where every way round the loop passes copies of one test (compilers repeat the test of a `while` at the end of its
    body), iterations run from test to test, and the `while` of the graph has that test. Otherwise they run from header
    to header, and the `while` goes on until an iteration takes an exit.

    Args:
        decided_at: the branch.
        ends: the instructions at which an iteration ends: the copies of the test, or the header.
        inside: the instruction where an iteration begins.
        outside: the instruction where a false test leads; None for a loop from header to header.
        exits: all instructions outside the loop that it can jump to.
        stay_when: the test's truth on which the loop goes on.
        leaving: the other jumps out of the loop.
    """

    __slots__ = ("decided_at", "ends", "inside", "outside", "exits", "stay_when", "leaving")

    def __init__(
        self, decided_at: int, ends: frozenset[int], inside: int, outside: int | None, exits: frozenset[int],
        stay_when: bool, leaving: frozenset[int],
    ) -> None:  # fmt: skip
        self.decided_at = decided_at
        self.ends = ends
        self.inside = inside
        self.outside = outside
        self.exits = exits
        self.stay_when = stay_when
        self.leaving = leaving


def decided_loop(frame: Frame, pc: int, fork: Fork, stops: frozenset[int]) -> Loop | None:
    """What loop, if any, the branch at an instruction decides; None if it is an ordinary branch."""
    flow = flow_of(frame.decoded)
    around = flow.loops_around(pc)
    targets = (fork.true_pc, fork.false_pc)
    if around:
        header, body = around[0]
        if frame.instrs[header].name in ("FOR_ITER", "SEND") and header != pc:
            return None  # the iterator ends the loop: unroll
        if (targets[0] in body) != (targets[1] in body) or flow.may_return_to(header, targets, flow.join(pc)):
            return _unless_stopped(_loop(frame, flow, header, body, pc, fork), flow, stops)
    for header in targets:
        body = flow.loops.get(header, frozenset())
        if body and pc not in body:
            return _unless_stopped(_loop(frame, flow, header, body, pc, fork), flow, stops)
    return None


def _unless_stopped(loop: Loop, flow: Flow, stops: frozenset[int]) -> Loop | None:
    """The loop, unless an iteration cannot come to its end because the run stops before."""
    return loop if not loop.ends & stops and flow.goes_round(loop.inside, loop.ends, stops | loop.exits) else None


def _loop(frame: Frame, flow: Flow, header: int, body: frozenset[int], pc: int, fork: Fork) -> Loop:
    targets = (fork.true_pc, fork.false_pc)
    inside = next((target for target in targets if target in body), header)
    outside = targets[0] if inside == targets[1] else targets[1]
    exits = frozenset(f for i in body for f in flow.successors[i] if f not in body)
    tests = frozenset(i for i in body if i == pc or _same_test(frame, i, pc))
    by_test = outside not in body and flow.cut_by(header, body, tests)
    others = body - (tests if by_test else {pc})
    jumps = [i for i in others if frame.instrs[i].target >= 0]
    leaving = frozenset(i for i in jumps if any(f not in body for f in flow.successors[i]))
    if by_test:
        return Loop(pc, tests, inside, outside, exits, inside == targets[0], leaving)
    return Loop(pc, frozenset({header}), header, None, exits, True, leaving)


def _same_test(frame: Frame, index: int, pc: int) -> bool:
    """Whether two branches are copies of one test: same place in the source, and the same computation before."""
    instrs = frame.instrs
    instr, other = instrs[index], instrs[pc]
    if instr.target < 0 or instr.name == "JUMP" or instr.position != other.position:
        return False
    # a chained comparison has several branches at one place; what precedes each tells them apart
    return all(
        (instrs[index - back].name, instrs[index - back].arg) == (instrs[pc - back].name, instrs[pc - back].arg)
        for back in range(1, 4)
        if instrs[pc - back].position == other.position or back == 1
    )


def note_exit(frame: Frame, pc: int, fork: Fork) -> None:
    """Let a `for` loop know that a tensor decides whether it is left: see the handler of ``FOR_ITER``."""
    around = flow_of(frame.decoded).loops_around(pc)
    if around:
        header, body = around[0]
        if frame.instrs[header].name == "FOR_ITER" and (fork.true_pc in body) != (fork.false_pc in body):
            frame.unrolled.setdefault(~header, 1)
