"""Control flow of one code object: where branches join, and which instructions form a loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from weft.capture.code.instructions import Decoded

_READS = frozenset({"LOAD_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_CLOSURE", "LOAD_DEREF", "DELETE_FAST"})
#: functions that may read every local variable
_READ_ALL = frozenset({"locals", "vars", "dir", "eval", "exec", "breakpoint", "set_trace"})
_WRITES = frozenset({"STORE_FAST", "STORE_FAST_MAYBE_NULL"})


class Flow:
    """Post-dominators and natural loops of a decoded code object.

    Args:
        decoded: the code.
    """

    def __init__(self, decoded: Decoded) -> None:
        count = len(decoded.instrs)
        self.successors = [decoded.successors(i) for i in range(count)]
        self.predecessors: list[list[int]] = [[] for _ in range(count)]
        for index, followers in enumerate(self.successors):
            for follower in followers:
                self.predecessors[follower].append(index)
        self._joins = _immediate_post_dominators(self.successors)
        #: loop header -> instructions of the loop
        self.loops = _natural_loops(decoded, self.predecessors)
        self._forward = [[f for f in s if i not in self.loops.get(f, ())] for i, s in enumerate(self.successors)]
        self._order = _topological([self._exits_of(i) + f for i, f in enumerate(self._forward)])
        self._meetings: dict[int, int | None] = {}
        self._header_meetings: dict[int, bool] = {}
        #: for each instruction, the slots that may be read at or after it before they are written
        self.live = _live_slots(decoded, self.successors)

    def join(self, index: int) -> int | None:
        """Where all paths from a branch meet again; None if that is only at the function's exit."""
        found = self._joins[index]
        return None if found == len(self.successors) else found

    def meeting(self, index: int) -> int | None:
        """The first instruction at which paths from a branch can meet without going round a loop; None if none can.

        It comes before the join where some path leaves earlier: by `break`, `continue`, `return` or an exception.
        """
        if index not in self._meetings:
            ahead = [self._ahead(target, self._joins[index]) for target in self.successors[index]]
            common = ahead[0] & ahead[1] if len(ahead) == 2 else ()  # the other way may be an exception
            self._meetings[index] = min(common, key=self._order.__getitem__, default=None)
        return self._meetings[index]

    def meets_at_header(self, index: int) -> bool:
        """Whether more than one path from a branch can come to the next iteration of a loop before they join."""
        if index not in self._header_meetings:
            join, targets = self._joins[index], self.successors[index]
            self._header_meetings[index] = any(
                all(self.may_return_to(header, [target], join) for target in targets)
                for header, _ in self.loops_around(index)
            )
        return self._header_meetings[index]

    def order(self, index: int) -> float:
        """The place of an instruction in an order in which paths that go round no loop ascend, loops in one piece.

        The header of a loop comes after it: who waits there has an iteration behind.
        """
        body = self.loops.get(index)
        return self._order[index] if body is None else max(self._order[i] for i in body) + 0.5

    def _exits_of(self, header: int) -> list[int]:
        body = self.loops.get(header, frozenset())
        return [f for i in body for f in self.successors[i] if f not in body]

    def _ahead(self, start: int, end: int) -> set[int]:
        """What can be reached without going round a loop, not looking beyond `end`."""
        seen: set[int] = set()
        stack = [start]
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                if index != end:
                    stack += self._forward[index]
        return seen

    def loops_around(self, index: int) -> list[tuple[int, frozenset[int]]]:
        """The loops that contain an instruction, innermost first, as (header, instructions)."""
        around = [(header, body) for header, body in self.loops.items() if index in body]
        return sorted(around, key=lambda item: len(item[1]))

    def cut_by(self, header: int, body: frozenset[int], ends: frozenset[int]) -> bool:
        """Whether every way round a loop passes one of some of its instructions."""
        return header not in self._reached([f for f in self.successors[header] if header not in ends], body - ends)

    def goes_round(self, inside: int, ends: frozenset[int], stops: frozenset[int]) -> bool:
        """Whether a way leads from the beginning of an iteration to one of its ends past no instruction of a set."""
        starts = self.successors[inside] if inside in ends else [inside]
        return not ends.isdisjoint(self._reached(starts, set(range(len(self.successors))) - stops))

    def may_return_to(self, header: int, starts: Sequence[int], join: int | None) -> bool:
        """Whether a way from some instructions reaches a loop's header before it reaches a join."""
        body = self.loops[header]
        return join != header and header in self._reached(starts, body - {join})

    def _reached(self, starts: Iterable[int], within: Collection[int | None]) -> set[int]:
        """The instructions that can be reached from some by steps within a set."""
        seen: set[int] = set()
        stack = [start for start in starts if start in within]
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                stack.extend(f for f in self.successors[index] if f in within)
        return seen


def flow_of(decoded: Decoded) -> Flow:
    """The control flow of a decoded code object, computed once."""
    if decoded._flow is None:
        decoded._flow = Flow(decoded)
    found: Flow = decoded._flow
    return found


def _live_slots(decoded: Decoded, successors: list[list[int]]) -> list[frozenset[int]]:
    """Live-variable analysis of the fast locals; cells are always live, a handler's needs hold in all it covers."""
    count = len(successors)
    cells = {i for i, name in enumerate(decoded.slot_names) if name in decoded.cell_names or name in decoded.free_names}
    if "__class__" in decoded.free_names and decoded.code.co_argcount:
        cells.add(0)  # `super()` takes it from the frame
    if _READ_ALL & set(decoded.code.co_names):
        cells = set(range(len(decoded.slot_names)))
    handlers = [decoded.handler_at(i) for i in range(count)]
    live: list[set[int]] = [set(cells) for _ in range(count)]
    changed = True
    while changed:
        changed = False
        for index in range(count - 1, -1, -1):
            instr = decoded.instrs[index]
            now: set[int] = set(cells)
            for follower in successors[index]:
                if follower < count:
                    now |= live[follower]
            if instr.name in _WRITES:
                now.discard(instr.arg)
            if instr.name in _READS:
                now.add(instr.arg)
            handler = handlers[index]
            if handler is not None:
                now |= live[handler.target]
            if now != live[index]:
                live[index] = now
                changed = True
    return [frozenset(slots) for slots in live]


def _immediate_post_dominators(successors: list[list[int]]) -> list[int]:
    """Immediate post-dominators; the virtual exit has the number `len(successors)`.

    Instructions that never reach the exit (endless loops) are treated as if they could leave from their last
    instruction.
    """
    exit_node = len(successors)
    predecessors: list[list[int]] = [[] for _ in range(exit_node + 1)]
    followers = [list(s) if s else [exit_node] for s in successors]
    for index, nexts in enumerate(followers):
        for follower in nexts:
            predecessors[follower].append(index)
    reached = set(_post_order(exit_node, predecessors))
    for index in range(exit_node - 1, -1, -1):
        if index not in reached:  # part of an endless loop
            followers[index].append(exit_node)
            predecessors[exit_node].append(index)
            reached = set(_post_order(exit_node, predecessors))
    dominator = _immediate_dominators(exit_node, predecessors, followers)
    return [dominator.get(i, exit_node) for i in range(exit_node)]


def _immediate_dominators(root: int, successors: list[list[int]], predecessors: list[list[int]]) -> dict[int, int]:
    """Immediate dominators of what a root reaches, by the algorithm of Cooper, Harvey and Kennedy (2001)."""
    order = _post_order(root, successors)
    number = {node: i for i, node in enumerate(order)}
    dominator: dict[int, int] = {root: root}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == root:
                continue
            best: int | None = None
            for before in predecessors[node]:
                if before in dominator:
                    best = before if best is None else _intersect(before, best, dominator, number)
            if best is not None and dominator.get(node) != best:
                dominator[node] = best
                changed = True
    return dominator


def _topological(successors: list[list[int]]) -> list[int]:
    """The position of each node of an acyclic graph in a topological order; first successors come late."""
    count = len(successors)
    virtual = [*successors, list(range(count - 1, -1, -1))]  # one root for all, handlers included
    order = [0] * count
    for position, node in enumerate(reversed(_post_order(count, virtual)[:-1])):
        order[node] = position
    return order


def _post_order(root: int, edges: list[list[int]]) -> list[int]:
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(edges[root]))]
    while stack:
        node, rest = stack[-1]
        for follower in rest:
            if follower not in seen:
                seen.add(follower)
                stack.append((follower, iter(edges[follower])))
                break
        else:
            stack.pop()
            order.append(node)
    return order


def _intersect(a: int, b: int, dominator: dict[int, int], number: dict[int, int]) -> int:
    while a != b:
        while number[a] < number[b]:
            a = dominator[a]
        while number[b] < number[a]:
            b = dominator[b]
    return a


def _natural_loops(decoded: Decoded, predecessors: list[list[int]]) -> dict[int, frozenset[int]]:
    """Loops by their headers: a jump to an instruction that dominates it closes one."""
    successors: list[list[int]] = []
    for index in range(len(decoded.instrs)):
        handler = decoded.handler_at(index)
        successors.append(decoded.successors(index) + ([handler.target] if handler is not None else []))
    before: list[list[int]] = [[] for _ in successors]
    for index, followers in enumerate(successors):
        for follower in followers:
            before[follower].append(index)
    dominator = _immediate_dominators(0, successors, before)
    bodies: dict[int, set[int]] = {}
    for index, followers in enumerate(successors):
        for follower in followers:
            if follower <= index and _dominates(follower, index, dominator):
                body = bodies.setdefault(follower, {follower})
                stack = [index]
                while stack:
                    node = stack.pop()
                    if node not in body:
                        body.add(node)
                        stack.extend(predecessors[node])
    return {header: frozenset(body) for header, body in bodies.items()}


def _dominates(node: int, other: int, dominator: dict[int, int]) -> bool:
    while other != node:
        above = dominator.get(other, other)
        if above == other:
            return False
        other = above
    return True
