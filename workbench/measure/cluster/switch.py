"""The switch of an emulated cluster: a process that forwards packets, told what to do by lines."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench.measure.cluster.errors import ClusterError
from workbench.mpi import Recipe

_FOLDER = Path(__file__).resolve().parent
_SWITCH = Recipe(
    "the switch",
    "switch",
    "cluster",
    ("-std=gnu11", "-O2"),
    (_FOLDER / "switch.c",),
    "Linux 5.11 and glibc 2.35",
)
_NS_PER_S = 1_000_000_000  # the unit of switch.c, a whole number there
_SPIN_S = 60e-6  # timers of virtual machines wake about so late
_PRIORITY = 20  # above that of ranks
_END_S = 5.0  # chosen: it ends when its stdin does; a hung one is killed


@dataclass(frozen=True)
class SwitchReport:
    """What passed the switch since the last report."""

    packets: int
    bytes: int
    dropped: int
    lateness_median_s: float  # by how much packets left after they were due
    lateness_p99_s: float
    lateness_max_s: float


class Switch:
    """The running switch, a context manager."""

    def __init__(self, devices: Sequence[int], *, mpicc: Path, realtime: bool) -> None:
        path = _SWITCH.place(mpicc)
        _SWITCH.make(mpicc, path)
        priority = _PRIORITY if realtime else 0
        words = [path, len(devices), round(_SPIN_S * _NS_PER_S), priority, *devices]
        self._process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=devices,
            start_new_session=True,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def set_latency(self, latency_s: float) -> None:
        """Set the latency of all pairs."""
        self._tell(f"latency {round(latency_s * _NS_PER_S)}")

    def set_pair_latency(self, sender: int, receiver: int, latency_s: float) -> None:
        """Set the latency from one host to another."""
        self._tell(f"pair {sender} {receiver} {round(latency_s * _NS_PER_S)}")

    def set_jitter(self, jitter_s: float) -> None:
        """Set how much longer a packet may take, evenly drawn."""
        self._tell(f"jitter {round(jitter_s * _NS_PER_S)}")

    def set_rate(self, bandwidth: float | None) -> None:
        """Set the rate of each port, B/s; None is no limit."""
        self._tell(f"rate {0 if bandwidth is None else round(8 * bandwidth)}")

    def watch(self, process: int, seconds: float) -> None:
        """Kill a process after some time, or when this process ends."""
        self._tell(f"watch {process} {round(1000 * seconds)}")

    def unwatch(self) -> None:
        """Let the watched process be."""
        self._tell("unwatch")

    def report(self) -> SwitchReport:
        """Return what passed since the last report."""
        packets, size, dropped, *lateness = map(int, self._ask("report").split())
        return SwitchReport(packets, size, dropped, *(ns / _NS_PER_S for ns in lateness))

    def _tell(self, line: str) -> None:
        if (answer := self._ask(line)) != "ok":
            raise ClusterError(f"the switch must obey {line!r}; it answered {answer!r}")

    def _ask(self, line: str) -> str:
        if self._process.stdin is None or self._process.stdout is None:
            raise ClusterError("the switch must have been started with pipes")
        try:
            self._process.stdin.write(line + "\n")
            answer = self._process.stdout.readline()
        except OSError as error:
            raise ClusterError(f"the switch must be running; {error}") from error
        if not answer:
            raise ClusterError(f"the switch must be running; it ended at {line!r}")
        return answer.strip()
