"""The chain of operations that set a program's makespan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.programs.graph import RECV, SEND
from workbench.simulate.replay_result import CAUSE_NAMES, CPU, DEPENDENCY, NIC, times_of

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult, ReplayTimes

# Where in an operation the path arrives: at its end, at the time the host began to work on it,
# or at the time it was started or posted.
_END, _BEGIN, _START = range(3)


@dataclass(frozen=True)
class PathStep:
    """One operation of a critical path, with the interval of time that it accounts for.

    Attributes:
        op: number of the operation.
        reason: how the next step in time waited for this one: ``dependency``, ``cpu``, ``nic``,
            ``message``, ``started`` (by ``irequires``), ``receiver`` (it released a synchronous
            send), or ``end`` for the last operation.
        from_ps: start of its interval, ps.
        to_ps: end of its interval, ps: the start of the next step's.
    """

    op: int
    reason: str
    from_ps: int
    to_ps: int


def critical_path(result: ReplayResult) -> tuple[PathStep, ...]:
    """Return the operations that set the makespan, the last first; one may occur twice."""
    times = times_of(result)
    if not result.graph.num_ops:
        return ()
    walk = _Walk(result, times)
    op: int = int(times.end_ps.argmax())
    point, reason = _END, "end"
    now = int(times.end_ps[op])
    steps: list[PathStep] = []
    # Each visit is at an earlier time or place; where LogGOPSim's quirks break this, the walk ends.
    while op >= 0 and len(steps) <= 3 * result.graph.num_ops:
        back, following = walk.back(op, point, now)
        steps.append(PathStep(op, reason, back, now))
        op, point, reason = following
        now = back
    return tuple(steps)


class _Walk:
    """The walk back along the critical path, one step at a time."""

    def __init__(self, result: ReplayResult, times: ReplayTimes) -> None:
        graph = result.graph
        self._sync = (graph.kind == SEND) & (graph.size > result.costs.S)
        self._receives = graph.kind == RECV
        self._times = times
        if times.post_cause is None or times.post_cause_kind is None:
            self._post_cause, self._post_kind = times.cause, times.cause_kind
        else:
            self._post_cause, self._post_kind = times.post_cause, times.post_cause_kind

    def back(self, op: int, point: int, now: int) -> tuple[int, tuple[int, int, str]]:
        """Return an interval's start (ps) and the (operation, point, reason) before it."""
        times = self._times
        begin, start = int(times.begin_ps[op]), int(times.start_ps[op])
        if point == _END and self._sync[op]:
            receive = int(times.match[op])
            posted = int(times.start_ps[receive])
            if now == max(posted, int(times.begin_ps[receive])):
                return now, (receive, _START if posted == now else _BEGIN, "receiver")
        if point == _END and self._receives[op]:
            point = _START if start == now and start > begin else _BEGIN
        if point == _BEGIN:
            return self._before(begin, int(times.cause[op]), int(times.cause_kind[op]))
        return self._before(start, int(self._post_cause[op]), int(self._post_kind[op]))

    def _before(self, back: int, op: int, kind: int) -> tuple[int, tuple[int, int, str]]:
        """Return an interval's start (ps) and the (operation, point, reason) to go on with."""
        if op < 0:
            return back, (-1, _END, "")
        if kind == DEPENDENCY:
            point = _END
        elif kind in (CPU, NIC) and self._receives[op]:
            point = _BEGIN
        else:
            point = _START
        return back, (op, point, CAUSE_NAMES[kind])
