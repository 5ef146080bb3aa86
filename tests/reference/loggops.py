"""A program on LogGOPS, slow and plain: one heap of (time, number), busy ones go back into it.

Written from the rules alone: no queues, no channels, lists that are searched from the front, and
whole numbers of any size. Times are in ps.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

import numpy as np

SEND, RECV, CALC = 1, 2, 3
ANY_SOURCE, ANY_TAG = -1, 2**32 - 1
WRAP = 2**64


class Stuck(Exception):
    """Operations are left that nothing can start or complete."""

    def __init__(self, waiting):
        super().__init__(f"{len(waiting)} operations wait")
        self.waiting = waiting


@dataclass
class Run:
    finish_ps: list[int]
    events: int
    start_ps: list[int]
    begin_ps: list[int]
    end_ps: list[int]
    match: list[int]
    order: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Parameters:
    """L, o, g in ps, G and O in ps/B (whole or real), S in bytes."""

    L: int
    o: int
    g: int
    G: float
    O: float  # noqa: E741 - the field's letter
    S: float


def replay(graph, p, compatible=False, wrap=WRAP * 1000):
    """Return a program's run, stable ties.

    With ``compatible`` as LogGOPSim computes: times wrap below 0, and so on. Without: an empty
    message costs no bytes, what waits for an operation waits for its end on whichever core, and
    the message's size decides whether it is synchronous, at the core of its send.
    """
    n = graph.num_ops
    kind, size, peer = graph.kind.tolist(), graph.size.tolist(), graph.peer.tolist()
    tag, cpu, nic = graph.tag.tolist(), graph.cpu.tolist(), graph.nic.tolist()
    host_of = graph.rank_of(np.arange(n)).tolist()
    hosts = graph.num_ranks
    after_end = [graph.requires.of(op).tolist() for op in range(n)]
    after_start = [graph.irequires.of(op).tolist() for op in range(n)]
    open_dependencies = [0] * n
    for op in itertools.chain(*after_end, *after_start):
        open_dependencies[op] += 1

    def per_byte(op, rate):
        beyond = size[op] - 1 if compatible else max(size[op] - 1, 0)
        return round(beyond * rate) if isinstance(rate, float) else beyond * rate

    def wrapped(t):
        return t % wrap if compatible else t

    cores, ports = range(graph.num_cpus), range(graph.num_nics)
    core_free = {(h, c): 0 for h in range(hosts) for c in cores}
    out_free = {(h, c): 0 for h in range(hosts) for c in ports}
    in_free = {(h, c): 0 for h in range(hosts) for c in ports}
    posted = [[] for _ in range(hosts)]
    arrived = [[] for _ in range(hosts)]
    ready = [0] * n
    start, begin, end, match = [-1] * n, [-1] * n, [-1] * n, [-1] * n
    taken_at, taken_end = [0] * n, [0] * n
    numbers = itertools.count()
    heap = []
    order = []

    def queue(h, freed):
        for op in sorted(freed, key=lambda op: kind[op]):
            t = core_free[h, cpu[op]]
            if kind[op] == SEND:
                t = max(t, out_free[h, nic[op]])
            if not compatible:
                t = max(t, ready[op])
            heapq.heappush(heap, (t, next(numbers), "op", op))

    def release(freed, ops, when):
        for op in ops:
            open_dependencies[op] -= 1
            ready[op] = max(ready[op], when)
            if open_dependencies[op] == 0:
                freed.setdefault(host_of[op], []).append(op)

    for h in range(hosts):
        queue(h, [op for op in graph.ops_of(h) if open_dependencies[op] == 0])
    while heap:
        t, number, what, op = heapq.heappop(heap)
        freed = {}
        receive = message = -1
        if what == "message":
            h = peer[op]
            free = max(core_free[h, cpu[op]], in_free[h, nic[op]])
        else:
            h = host_of[op]
            free = core_free[h, cpu[op]] if kind[op] != RECV else 0
            if kind[op] == SEND:
                free = max(free, out_free[h, nic[op]])
        if free > t:
            heapq.heappush(heap, (free, number, what, op))
            continue
        order.append((what, op, t))
        if what == "op":
            start[op] = t
            release(freed, after_start[op], t)
        if what == "op" and kind[op] == CALC:
            core_free[h, cpu[op]] = end[op] = begin[op] = wrapped(t + 1000 * size[op])
            begin[op] = t
            release(freed, after_end[op], end[op])
        elif what == "op" and kind[op] == SEND:
            begin[op] = t
            core_free[h, cpu[op]] = end[op] = wrapped(t + p.o + per_byte(op, p.O))
            out_free[h, nic[op]] = wrapped(t + p.g + per_byte(op, p.G))
            heapq.heappush(heap, (wrapped(t + p.o + p.L), next(numbers), "message", op))
            if size[op] <= p.S:
                release(freed, after_end[op], end[op])
        elif what == "op":
            for waiting in arrived[h]:
                if agree(op, waiting, peer, tag, host_of):
                    receive, message = op, waiting
                    arrived[h].remove(waiting)
                    break
            else:
                posted[h].append(op)
            synchronous = size[op if compatible else message] > p.S if message >= 0 else False
            at = op if compatible else message
        else:
            taken_at[op] = t
            bytes_at_host = max((per_byte(op, p.O), per_byte(op, p.G)), key=lambda x: x % wrap)
            core_free[h, cpu[op]] = taken_end[op] = wrapped(t + p.o + bytes_at_host)
            in_free[h, nic[op]] = wrapped(t + p.g + per_byte(op, p.G))
            for waiting in posted[h]:
                if agree(waiting, op, peer, tag, host_of):
                    receive, message = waiting, op
                    posted[h].remove(waiting)
                    break
            else:
                arrived[h].append(op)
            synchronous = size[op] > p.S
            at = op
        if message >= 0:
            match[receive], match[message] = message, receive
            if synchronous:
                source = host_of[message]
                let_go = max(t, end[message])
                for free_at, key in ((core_free, (source, cpu[at])), (out_free, (source, nic[at]))):
                    free_at[key] = max(free_at[key], t)
                release(freed, after_end[message], let_go)
                end[message] = let_go
            begin[receive] = taken_at[message]
            end[receive] = max(start[receive], taken_end[message])
            release(freed, after_end[receive], end[receive])
        for released_host in sorted(freed):
            queue(released_host, freed[released_host])
    unmet = [op for h in range(hosts) for op in posted[h] + arrived[h]]
    never = [op for op in range(n) if start[op] < 0]
    if unmet or (never and not compatible):
        raise Stuck(sorted(unmet + never))
    return Run(
        finish_ps=[max(core_free[h, c] for c in cores) for h in range(hosts)],
        events=next(numbers),
        start_ps=start,
        begin_ps=begin,
        end_ps=end,
        match=match,
        order=order,
    )


def agree(receive, message, peer, tag, host_of):
    """Return whether a receive takes a message; wildcards on either side."""
    return peer[receive] in (ANY_SOURCE, host_of[message]) and (
        tag[receive] == tag[message] or ANY_TAG in (tag[receive], tag[message])
    )
