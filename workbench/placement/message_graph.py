"""A program whose messages each have a latency and a time for their bytes of their own.

For searches, which give thousands of sets of latencies one after the other: a pass takes 6 ns an
operation and nothing is made ready anew (0.70 ms for 109,000; ``tests/benchmarks/test_placement``).
The time is that of ``Sweep.along`` to the picosecond (Shen et al., LLAMP, appendix I).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import SEND
from workbench.simulate.picoseconds import CLOCK_END, PS_PER_NS, PS_PER_S, PicosecondCosts


@dataclass(frozen=True, eq=False)
class MessagePath:
    """A longest path through a program, and its messages' latencies and bytes on it."""

    T_ps: int  # the program's time
    ops: IntArray  # (k,) in the order of time
    latencies: IntArray  # (messages,) number on the path; eager 1, above S 3 or 4 (appendix B)
    bytes_times: IntArray  # (messages,) number of times of the bytes on the path


class MessageGraph:
    """A program prepared for passes with a latency for each message, in the order of the sends."""

    def __init__(
        self,
        graph: ProgramLike,
        model: LogGPS,
        *,
        match: NDArray[np.int32] | None = None,
    ) -> None:
        """Match the program's messages and order its operations; ``match`` is int32[n] if known."""
        from workbench.simulate.llamp import forward_pass

        self.graph = graph_of(graph)
        self.model = model
        self.costs = PicosecondCosts.of(model)
        # The pass raises for programs that cannot run, and for times beyond the clock.
        self.match = forward_pass(self.graph, model, match=match).match  # int32[n]
        sends = np.flatnonzero(self.graph.kind == SEND)
        self.source: NDArray[np.int32] = self.graph.rank_of(sends)  # (messages,) sender
        self.destination: NDArray[np.int32] = self.graph.peer[sends]  # the receiving rank
        self.beyond_first: IntArray = np.maximum(self.graph.size[sends] - 1, 0)  # bytes
        self.meets: NDArray[np.bool_] = self.graph.size[sends] > self.costs.S  # above S
        self.sends: IntArray = sends  # (messages,) the sending operations
        self.bytes_time_ps: IntArray = self.costs.G.of(self.graph.size[sends])
        self._put_in_order()
        self.makespan_ps(np.full(len(sends), self.costs.L))

    @property
    def num_messages(self) -> int:
        """Number of messages."""
        return len(self.sends)

    def makespan_ps(self, latency_ps: IntArray, bytes_time_ps: IntArray | None = None) -> int:
        """Return the time in ps for times of each message, int64[messages]; None: the model's G."""
        from kernels import longest_path as kernel

        self._latency = latency_ps
        self._bytes_time = self.bytes_time_ps if bytes_time_ps is None else bytes_time_ps
        last = kernel.forward(
            self._code,
            self._before_start,
            self._before,
            self._other,
            self._message,
            self._compute,
            self.costs.o,
            self._latency,
            self._bytes_time,
            self._start,
            self._end,
        )
        if last == kernel.RAN_OUT:
            raise ParameterError(
                f"the program must end before {CLOCK_END / PS_PER_S:.0f} s; this one does not: "
                "lower the latencies",
                key="program",
            )
        self._last = int(last)
        return self._last

    def path(self) -> MessagePath:
        """Return one longest path of the last ``makespan_ps``."""
        from kernels import longest_path as kernel

        latencies = np.empty(self.num_messages, np.int64)
        bytes_times = np.empty(self.num_messages, np.int64)
        places = np.empty(2 * len(self._code) + 2, np.int32)
        length = kernel.walk_back(
            self._code,
            self._before_start,
            self._before,
            self._other,
            self._message,
            self.costs.o,
            self._latency,
            self._bytes_time,
            self._start,
            self._end,
            self._last,
            latencies,
            bytes_times,
            places,
        )
        ops = self._order[places[:length][::-1]].astype(np.int64)
        return MessagePath(self._last, ops, latencies, bytes_times)

    def by_pair(self, path: MessagePath) -> tuple[IntArray, IntArray]:
        """Return latencies and bytes on a path by sender and receiver, int64[ranks, ranks] each."""
        ranks = self.graph.num_ranks
        held = np.flatnonzero(path.latencies + path.bytes_times)
        between = self.source[held], self.destination[held]
        found = np.zeros((2, ranks, ranks), np.int64)
        np.add.at(found[0], between, path.latencies[held])
        np.add.at(found[1], between, path.bytes_times[held] * self.beyond_first[held])
        return found[0], found[1]

    def _put_in_order(self) -> None:
        """Renumber the operations, so that a pass reads its arrays from front to back."""
        from kernels import longest_path as kernel

        graph, n = self.graph, self.graph.num_ops
        order = np.empty(n, np.int32)
        kernel.put_in_order(
            graph.kind,
            graph.size,
            self.match,
            graph.requires.start,
            graph.requires.ops,
            graph.irequires.start,
            graph.irequires.ops,
            self.costs.S,
            graph.in_degree(),
            order,
        )
        place = np.empty(n, np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        after, before = graph.requires.pairs()
        started_after, started = graph.irequires.pairs()
        waiting = place[np.concatenate((after, started_after))]
        awaited = np.concatenate((place[before], -1 - place[started]))
        by_waiting = np.argsort(waiting, kind="stable")
        self._order = order
        self._before = awaited[by_waiting].astype(np.int32)
        self._before_start = np.zeros(n + 1, np.int32)
        np.cumsum(np.bincount(waiting, minlength=n), out=self._before_start[1:])
        message = np.full(n, -1, np.int32)
        message[self.sends] = np.arange(self.num_messages, dtype=np.int32)
        message[self.match[self.sends]] = message[self.sends]
        meets = np.zeros(n, np.bool_)
        carries = message >= 0
        meets[carries] = self.meets[message[carries]]
        sends = graph.kind == SEND
        code = np.select(
            [~carries, sends & ~meets, ~sends & ~meets, sends],
            [kernel.COMPUTE, kernel.EAGER_SEND, kernel.EAGER_RECV, kernel.MEETING_SEND],
            kernel.MEETING_RECV,
        )
        self._code = code[order].astype(np.uint8)
        self._message = message[order]
        self._other = np.where(carries, place[self.match], -1)[order].astype(np.int32)
        self._compute = np.where(carries, 0, graph.size * PS_PER_NS)[order]
        self._start, self._end = np.empty(n, np.int64), np.empty(n, np.int64)
