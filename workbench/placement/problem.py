"""A program, the places its ranks can have, and what a mapping of ranks to places costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.placement.message_graph import MessageGraph
from workbench.placement.swaps import Term, symmetric
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tasks import Task
from workbench.tolerance.wires import Wires

MOST_SLOTS = 4096
"""Most places; matrices over pairs of them are held."""


@dataclass(eq=False)
class PlacementProblem:
    """A program and slots for its ranks; in a mapping, ``mapping[r]`` is the slot of rank r.

    Where there are more slots than ranks, the remaining ranks are idle: a move to a free slot is
    a swap with an idle rank.
    """

    messages: MessageGraph
    wires: Wires  # between slots
    latency_ps: IntArray  # (slots, slots) L
    G: FloatArray | None = None  # (slots, slots) gap per byte, s/B; None: the model's
    evaluations: int = 0  # number of mappings evaluated so far
    deadline: float | None = None  # of time.perf_counter(), where searches end
    task: Task = field(default_factory=Task)  # once it is stopped, a search ends

    def __post_init__(self) -> None:
        self._latency = self.latency_ps.astype(np.float64)

    @property
    def num_ranks(self) -> int:
        """Number of ranks of the program."""
        return self.messages.graph.num_ranks

    @property
    def slots(self) -> IntArray:
        """The host of each slot, int64[slots]."""
        return self.wires.hosts

    @property
    def num_slots(self) -> int:
        """Number of places."""
        return len(self.wires.hosts)

    @property
    def must_end(self) -> bool:
        """Whether a search has to end: its time is over, or it was asked to."""
        late = self.deadline is not None and time.perf_counter() >= self.deadline
        return late or self.task.stopping

    def makespan_ps(self, mapping: IntArray) -> int:
        """Return the program's time with a mapping, int64[slots], in ps."""
        self.evaluations += 1
        return self.messages.makespan_ps(*self._costs(mapping))

    def terms(self) -> tuple[Term, ...]:
        """Return the critical path of the mapping evaluated last, as weights and distances.

        The weights are latencies by pair of ranks and, where G varies between slots, bytes.
        """
        in_L, in_G = self.messages.by_pair(self.messages.path())
        found: list[Term] = [(symmetric(self._with_idle(in_L)), self._latency)]
        if self.G is not None:
            found.append((symmetric(self._with_idle(in_G)), self.G * PS_PER_S))
        return tuple(found)

    def volume(self) -> IntArray:
        """Return the bytes that each two ranks exchange in both directions, int64[slots, slots]."""
        ranks = self.num_ranks
        sizes = self.messages.graph.size[self.messages.sends]
        between = np.zeros((ranks, ranks), np.int64)
        np.add.at(between, (self.messages.source, self.messages.destination), sizes)
        return symmetric(self._with_idle(between))

    def _costs(self, mapping: IntArray) -> tuple[IntArray, IntArray | None]:
        here, there = mapping[self.messages.source], mapping[self.messages.destination]
        latency = self.latency_ps[here, there]
        if self.G is None:
            return latency, None
        times = self.messages.beyond_first * (self.G[here, there] * PS_PER_S)
        return latency, np.rint(times).astype(np.int64)

    def _with_idle(self, matrix: IntArray) -> IntArray:
        idle = self.num_slots - len(matrix)
        return np.pad(matrix, (0, idle)) if idle else matrix
