"""In which order the parts of a pipeline run: as if each stage computed one part at a time, all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Job(NamedTuple):
    """What a stage has to do.

    Args:
        stage: the stage.
        micro: the micro batch that it is for; None for none.
        returns: whether the stage has worked on that micro batch before: its backward pass.
        needs: positions of the jobs that come before.
    """

    stage: int
    micro: int | None
    returns: bool
    needs: set[int]


def scheduled(jobs: Sequence[Job], stages: int, scheduler: str) -> list[int]:
    """The positions of jobs in the order in which they are begun.

    With ``"1f1b"`` a stage takes up a backward pass as soon as there is one, and has no more micro batches begun than
    there are stages from it on, so that it keeps the results of few (Narayanan et al. 2021, "Efficient Large-Scale
    Language Model Training on GPU Clusters Using Megatron-LM", section 2.2). With ``"gpipe"`` all forward passes come
    first (Huang et al. 2019, "GPipe", section 2.2).

    Args:
        jobs: each after those that it needs.
        stages: how many there are.
        scheduler: one of `weft.context.SCHEDULERS`.

    Example:
        >>> ways = [Job(0, 0, False, set()), Job(1, 0, False, {0}), Job(0, 0, True, {1})]
        >>> scheduled([*ways, *[job._replace(micro=1, needs={n + 3 for n in job.needs}) for job in ways]], 2, "1f1b")
        [0, 3, 1, 2, 4, 5]
    """
    left = {number: set(job.needs) for number, job in enumerate(jobs)}
    remaining = Counter((job.stage, job.micro) for job in jobs)
    begun: set[tuple[int, int]] = set()
    order: list[int] = []
    early = scheduler == "1f1b"

    def fits(job: Job) -> bool:
        """Whether a stage may take it up: it has few others begun."""
        if not early or job.micro is None or job.returns or (job.stage, job.micro) in begun:
            return True
        return sum(1 for stage, micro in begun if stage == job.stage and remaining[stage, micro]) < stages - job.stage

    def urgency(number: int) -> tuple[int, ...]:
        job = jobs[number]
        return (job.micro is not None, job.returns != early, -1 if job.micro is None else job.micro, number)

    users: dict[int, list[int]] = {}
    for number, job in enumerate(jobs):
        for need in job.needs:
            users.setdefault(need, []).append(number)
    ready = [number for number, needs in left.items() if not needs]
    while ready:
        chosen: dict[int, int] = {}
        for allowed in (fits, lambda job: True):  # rather too many than none
            for number in sorted(ready, key=urgency):
                if jobs[number].stage not in chosen and allowed(jobs[number]):
                    chosen[jobs[number].stage] = number
            if chosen:
                break
        for _, number in sorted(chosen.items()):
            job = jobs[number]
            ready.remove(number)
            order.append(number)
            remaining[job.stage, job.micro] -= 1
            if job.micro is not None:
                begun.add((job.stage, job.micro))
        for number in chosen.values():
            for user in users.get(number, ()):
                left[user].discard(number)
                if not left[user]:
                    ready.append(user)
    return order
