"""Programs with fluid messages, slow and obviously right: all rates anew after every change.

Fractions are exact; times are whole ticks of 1e-16 s, as a flow's end is rounded to one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

SEND, RECV, CALC = 1, 2, 3


def max_min(
    paths: Sequence[Sequence[int]],
    capacity: Mapping[int, Fraction] | Sequence[Fraction],
    weights: Sequence[Sequence[Fraction]] | None = None,
    limit: Fraction | None = None,
) -> list[Fraction]:
    """Return the max-min fair rate of each flow, by progressive filling.

    All rates grow together; those on a channel that is full stop there, the others go on. A flow
    loads each channel of its path with its rate times its weight there, 1 unless given. A limit of
    each flow is a channel of its own.
    """
    if weights is None:
        weights = [[Fraction(1)] * len(path) for path in paths]
    if limit is not None:
        shared = dict(capacity) if isinstance(capacity, Mapping) else dict(enumerate(capacity))
        capacity = shared | {-1 - flow: limit for flow in range(len(paths))}
        paths = [[*path, -1 - flow] for flow, path in enumerate(paths)]
        weights = [[*own, Fraction(1)] for own in weights]
    loads = [
        {c: sum(w for d, w in zip(path, own, strict=True) if c == d) for c in path}
        for path, own in zip(paths, weights, strict=True)
    ]
    rates: list[Fraction] = [Fraction(0)] * len(paths)
    growing = {i for i, path in enumerate(paths) if path}
    used = {channel: Fraction(0) for path in paths for channel in path}
    while growing:
        on = {c: sum(loads[i].get(c, Fraction(0)) for i in growing) for c in used}
        step = min((capacity[c] - used[c]) / n for c, n in on.items() if n)
        for channel, count in on.items():
            used[channel] += step * count
        for i in growing:
            rates[i] += step
        full = {c for c, n in on.items() if n and used[c] == capacity[c]}
        growing = {i for i in growing if not full & set(paths[i])}
    return rates


@dataclass
class FlowSimulator:
    """A program on a fluid network.

    Attributes:
        kind, size, match: of each operation.
        after: pairs (waiting, awaited, whether its start is enough).
        core: of each operation.
        paths: of each send's message, None within a host.
        source: host of each send.
        capacity: bytes a tick of each channel.
        latency: ticks of each send's path.
        o, O, S: ticks, ticks a byte, bytes.
        in_turn: whether a host's messages go one after the other.
        limit: bytes a tick that one message has at most, None for no limit.
        startup: ticks before a message with bytes enters the network.
        control: ticks of what has no bytes, by send; None is the latency.
    """

    kind: Sequence[int]
    size: Sequence[int]
    match: Sequence[int]
    after: Sequence[tuple[int, int, bool]]
    core: Sequence[int]
    paths: Mapping[int, Sequence[int] | None]
    source: Mapping[int, int]
    capacity: Sequence[Fraction]
    latency: Mapping[int, int]
    o: int = 0
    O: int = 0  # noqa: E741 - the field's letter
    S: int = 2**62
    in_turn: bool = True
    limit: Fraction | None = None
    startup: int = 0
    control: Mapping[int, int] | None = None
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    arrived: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        """Run to the end; fills ``start``, ``end`` and ``arrived``."""
        n = len(self.kind)
        self.short = self.latency if self.control is None else self.control
        self.missing = [sum(1 for a in self.after if a[0] == op) for op in range(n)]
        self.ready_at = [0] * n
        self.events: list[tuple[int, int, str]] = []
        self.core_free: dict[int, int] = {}
        self.headers: set[int] = set()
        self.requested: set[int] = set()
        self.flows: dict[int, dict[str, Any]] = {}
        self.queues: dict[int, deque[int]] = {}
        self.busy: set[int] = set()
        for op in range(n):
            if not self.missing[op]:
                self.push(0, op, "ready")
        now = 0
        while self.events or self.flows:
            self.share(now)
            ends = min((f["finish"], op) for op, f in self.flows.items()) if self.flows else None
            if ends and (not self.events or ends[0] <= self.events[0][0]):
                now, op = ends
                self.flows.pop(op)
                self.push(now + self.latency[op], op, "there")
                self.next_of(self.source[op], now)
            else:
                now, code, what = heapq.heappop(self.events)
                getattr(self, what[1:])(code, now)

    def push(self, time: int, op: int, what: str) -> None:
        """Add an event; of an operation's own at one time the kinds go in this order."""
        place = ("ready", "inject", "there", "told", "enter").index(what)
        heapq.heappush(self.events, (time, op, f"{place}{what}"))

    def share(self, now: int) -> None:
        """Give all flows their rates, where the flows have changed."""
        live = list(self.flows)
        for op in live:
            flow = self.flows[op]
            flow["left"] = max(flow["left"] - flow["rate"] * (now - flow["since"]), Fraction(0))
            flow["since"] = now
        for op, rate in zip(
            live,
            max_min([self.paths[op] for op in live], self.capacity, limit=self.limit),
            strict=True,
        ):
            flow = self.flows[op]
            if rate != flow["rate"]:
                flow["rate"] = rate
                flow["finish"] = now + round(flow["left"] / rate)

    def work(self, op: int, now: int, ticks: int) -> int:
        """Occupy the core; return when that begins."""
        begin = max(now, self.core_free.get(self.core[op], 0))
        self.core_free[self.core[op]] = begin + ticks
        return begin

    def handling(self, op: int) -> int:
        """Return a host's ticks for a message."""
        return self.o + max(self.size[op] - 1, 0) * self.O

    def release(self, op: int, time: int, by_start: bool) -> None:
        """Tell those that wait."""
        for waiting, awaited, start in self.after:
            if awaited == op and start == by_start:
                self.ready_at[waiting] = max(self.ready_at[waiting], time)
                self.missing[waiting] -= 1
                if not self.missing[waiting]:
                    self.push(self.ready_at[waiting], waiting, "ready")

    def begins(self, op: int, time: int) -> None:
        """Note a start."""
        self.start[op] = time
        self.release(op, time, True)

    def ends(self, op: int, time: int) -> None:
        """Note an end."""
        self.end[op] = time
        self.release(op, time, False)

    def ready(self, op: int, now: int) -> None:
        """An operation's dependencies are met."""
        if self.kind[op] == CALC:
            ticks = self.size[op] * 10**7
            begin = self.work(op, now, ticks)
            self.begins(op, begin)
            self.ends(op, begin + ticks)
        elif self.kind[op] == RECV:
            self.begins(op, now)
            send = self.match[op]
            if send in self.arrived:
                self.take(send, now)
            elif send in self.headers:
                self.request(send, now)
        elif self.size[op] > self.S:
            self.begins(op, now)
            self.push(now + self.short[op], op, "there")
        else:
            begin = self.work(op, now, self.handling(op))
            self.begins(op, begin)
            self.push(begin + self.handling(op), op, "inject")
            self.ends(op, begin + self.handling(op))

    def inject(self, op: int, now: int) -> None:
        """A message reaches its host's interface, where those with bytes start up."""
        if self.startup and self.paths[op] is not None and self.size[op]:
            self.push(now + self.startup, op, "enter")
        else:
            self.enter(op, now)

    def enter(self, op: int, now: int) -> None:
        """A message may enter the network."""
        host = self.source[op]
        if self.paths[op] is None:
            self.push(now, op, "there")
        elif self.in_turn and host in self.busy:
            self.queues.setdefault(host, deque()).append(op)
        elif self.size[op] == 0:
            self.push(now + self.short[op], op, "there")
        else:
            self.busy.add(host)
            self.flow(op, now)

    def flow(self, op: int, now: int) -> None:
        """A message enters the network."""
        left = Fraction(self.size[op])
        self.flows[op] = {"left": left, "since": now, "rate": Fraction(0), "finish": 2**63}

    def next_of(self, host: int, now: int) -> None:
        """A host's interface is free."""
        if not self.in_turn:
            return
        self.busy.discard(host)
        queue = self.queues.get(host, deque())
        while queue and host not in self.busy:
            self.enter(queue.popleft(), now)

    def there(self, send: int, now: int) -> None:
        """A header or a message is at its receiver."""
        posted = self.match[send] in self.start
        if self.size[send] > self.S and send not in self.requested:
            self.headers.add(send)
            if posted:
                self.request(send, now)
            return
        self.arrived[send] = now
        if posted:
            self.take(send, now)

    def request(self, send: int, now: int) -> None:
        """The receiver asks for a message's bytes."""
        self.requested.add(send)
        begin = self.work(self.match[send], now, self.o)
        self.push(begin + self.o + self.short[send], send, "inject")

    def take(self, send: int, now: int) -> None:
        """The receiver takes a message."""
        ticks = self.handling(send)
        begin = self.work(self.match[send], now, ticks)
        self.ends(self.match[send], begin + ticks)
        if self.size[send] > self.S:
            self.push(begin + ticks + self.short[send], send, "told")

    def told(self, send: int, now: int) -> None:
        """The sender of a message above S hears that it is there."""
        begin = self.work(send, now, self.o)
        self.ends(send, begin + self.o)
