"""The times of a program's recording, for comparison with its replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import ParameterError
from workbench.units import format_quantity


@dataclass(frozen=True)
class LeftOutCalls:
    """Calls of one MPI function that a replay leaves out.

    Attributes:
        name: of the function, such as ``MPI_Put``.
        calls: number of calls, all ranks together.
        ns: time inside them, all ranks together, on the recording's clock.
    """

    name: str
    calls: int
    ns: int


@dataclass(frozen=True)
class RecordedRun:
    """The times of a recording, by rank, from the end of MPI_Init to MPI_Finalize.

    ``compute + MPI = time`` for each rank, on the recording's clock.

    Attributes:
        time_ns: by rank; duration of its run.
        compute_ns: by rank, between MPI calls. Calls that reach no other rank, such as
            ``MPI_Type_commit``, count here if the recorder does not write them.
        mpi_ns: by rank, inside MPI calls.
        left_out_ns: by rank, the part of ``mpi_ns`` inside calls that are not replayed.
        left_out: these calls by function, the longest first.
        elapsed_ns: by rank; wall-clock time; empty if the trace lacks it.
        clock: ``elapsed``, or ``cpu`` if computation is the thread's CPU time.
        ranks_of_node: ranks on the node with the fewest cores for its ranks; 0 if not known.
        cores_of_node: cores that these ranks could use; 0 if not known.
        start_ns: by rank, the end of MPI_Init on the recording's clock; empty if not known.
    """

    time_ns: tuple[int, ...]
    compute_ns: tuple[int, ...]
    mpi_ns: tuple[int, ...]
    left_out_ns: tuple[int, ...]
    left_out: tuple[LeftOutCalls, ...] = ()
    elapsed_ns: tuple[int, ...] = ()
    clock: str = "elapsed"
    ranks_of_node: int = 0
    cores_of_node: int = 0
    start_ns: tuple[int, ...] = ()

    @property
    def makespan_ns(self) -> int:
        """Time until the last rank reached MPI_Finalize, ns; wall clock where recorded."""
        return max(self.elapsed_ns or self.time_ns, default=0)

    @property
    def makespan_s(self) -> float:
        """Time until the last rank reached MPI_Finalize, s; wall clock where recorded."""
        return self.makespan_ns / 1e9

    @property
    def span_s(self) -> float:
        """Time from when the last rank had left MPI_Init until the last reached MPI_Finalize, s.

        Ranks of several machines leave MPI_Init one after the other, the more so the longer the
        network's latency; the recorder lets those of one machine go together.
        """
        ends = [start + ns for start, ns in zip(self.start_ns, self.time_ns, strict=False)]
        return (max(ends) - max(self.start_ns)) / 1e9 if ends else self.makespan_s

    def shares(self) -> dict[str, float]:
        """Return percent of all ranks' time: ``compute``, ``replayed`` MPI and ``left out`` MPI."""
        total = sum(self.time_ns) or 1
        left_out = sum(self.left_out_ns)
        return {
            "compute": 100 * sum(self.compute_ns) / total,
            "replayed": 100 * (sum(self.mpi_ns) - left_out) / total,
            "left out": 100 * left_out / total,
        }

    def describe(self) -> str:
        """Return a sentence on the recorded time and its shares inside and between MPI calls."""
        shares = self.shares()
        text = (
            f"Recorded: {_time(self.makespan_ns)} until the last rank ended; "
            f"{shares['compute']:.3g} % of the ranks' time between MPI calls, "
            f"{shares['replayed']:.3g} % inside calls that are replayed"
        )
        if self.left_out:
            text += f", {shares['left out']:.3g} % inside calls that are not"
        return text + "."

    def describe_left_out(self) -> str:
        """Return a sentence that names the calls not replayed, empty without any."""
        if not self.left_out:
            return ""
        shown = [f"{c.name} × {c.calls:,} ({_time(c.ns)})" for c in self.left_out]
        return (
            "Not replayed, where they move no data and take no time: "
            f"{', '.join(shown)}; times of all ranks together."
        )

    def reasons(self) -> tuple[str, ...]:
        """Return the reasons why a replay differs from the recording, a sentence each."""
        found = []
        if self.ranks_of_node > self.cores_of_node > 0:
            waited = (
                "a rank that waits in MPI keeps its core busy"
                if self.clock == "elapsed"
                else "its CPU clock leaves out of the computations what ranks waited for cores"
            )
            found.append(
                f"{self.ranks_of_node} ranks shared {self.cores_of_node} "
                f"core{'s' if self.cores_of_node > 1 else ''} while recording, and {waited}; in a "
                "replay each rank has a core of its own."
            )
        elif self.clock == "cpu":
            found.append(
                "The recording's CPU clock leaves out of the computations what ranks slept or "
                "waited for a core."
            )
        if sum(self.left_out_ns):
            found.append(
                f"{_time(sum(self.left_out_ns))} inside calls that are not replayed are missing "
                "from it."
            )
        found.append(
            "The times of messages follow from L, o, g, G, O and S, not from the recording's "
            "machine."
        )
        return tuple(found)

    def sentences(self, simulated_s: float) -> tuple[str, ...]:
        """Return sentences that compare a replay with the recording and explain the differences.

        Args:
            simulated_s: the replay's makespan, s.
        """
        ratio = f"{simulated_s / self.makespan_s:.3g}" if self.makespan_ns else "?"
        found = (
            f"{self.describe()} The replay's time is {ratio} × the recorded one.",
            " ".join(self.reasons()),
            self.describe_left_out(),
        )
        return tuple(filter(None, found))

    def compare(self, simulated_s: float) -> str:
        """Return ``sentences`` as one text.

        Args:
            simulated_s: the replay's makespan, s.
        """
        return " ".join(self.sentences(simulated_s))

    def to_dict(self) -> dict[str, Any]:
        """Return the times as plain numbers, for JSON."""
        return {
            "makespan_ns": self.makespan_ns,
            "time_ns": list(self.time_ns),
            "compute_ns": list(self.compute_ns),
            "mpi_ns": list(self.mpi_ns),
            "left_out_ns": list(self.left_out_ns),
            "left_out": [vars(calls) for calls in self.left_out],
            "elapsed_ns": list(self.elapsed_ns),
            "clock": self.clock,
            "ranks_of_node": self.ranks_of_node,
            "cores_of_node": self.cores_of_node,
            "start_ns": list(self.start_ns),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecordedRun:
        """Return the times that ``to_dict`` has written.

        Args:
            values: its numbers.

        Raises:
            ParameterError: a number is missing or is not a number.
        """
        try:
            return cls(
                time_ns=_each(values["time_ns"]),
                compute_ns=_each(values["compute_ns"]),
                mpi_ns=_each(values["mpi_ns"]),
                left_out_ns=_each(values["left_out_ns"]),
                left_out=tuple(
                    LeftOutCalls(str(c["name"]), int(c["calls"]), int(c["ns"]))
                    for c in values["left_out"]
                ),
                elapsed_ns=_each(values["elapsed_ns"]),
                clock=str(values["clock"]),
                ranks_of_node=int(values["ranks_of_node"]),
                cores_of_node=int(values["cores_of_node"]),
                start_ns=_each(values.get("start_ns", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(f"the times of a recording are damaged: {error!r}") from error


def _each(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(int(ns) for ns in values)


def _time(ns: float) -> str:
    return format_quantity(ns / 1e9, "time")
