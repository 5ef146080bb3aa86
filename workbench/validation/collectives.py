"""Collectives on the emulated cluster: predicted from two hosts, measured with forced algorithms.

    found = measure_collectives("collectives-4", ranks=4)
    found.best_within(5)         # share of cases whose predicted best is among the measured best

What two hosts take for a message is measured with all pairs of hosts busy, as OSU's multi-pair
latency is; nothing is fitted to the collectives.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import above_zero, number, whole
from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.measure import OSUCurve
from workbench.measure.cluster import Cluster, measure_collective, measure_costs
from workbench.measure.cluster.collective_times import COLLECTIVES
from workbench.predict import machine_of, point_to_point_of_curve, predict_collective
from workbench.predict.published_spread import INTERVAL_PERCENT, SystemKind, published_spread
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.validation.open_mpi import FORCED, forced_algorithms

if TYPE_CHECKING:
    import pandas as pd


MEASURED = tuple(one for one in FORCED if one in COLLECTIVES)
"""The collectives that are measured."""

SIZES = tuple(4 * 4**power for power in range(2, 8))  # 64 B to 64 KiB
# Bytes: the latency, the sizes of ``SIZES``, and the largest eager one (see campaign._MOST_EAGER).
_MESSAGES = (1, 64, 256, 1024, 4096, 16384, 32768, 65536)
_KIND: SystemKind = "one rank a node"  # of the cluster's hosts, whose own messages are measured
_LATENCY_S = 500e-6  # ten times what a message takes without it (datasets/validation/*/costs.csv)
_BANDWIDTH = 12.5e6  # B/s: 100 Mbit/s
_TIMEOUT_S = 300.0  # chosen: eight sizes; the default of 120 s serves the two of a campaign


@dataclass(frozen=True, eq=False, repr=False)
class EmulatedCollectives(StoredResult):
    """Times of collectives with forced algorithms, measured on the emulated cluster and predicted.

    Attributes:
        ranks: number of hosts, each with one rank.
        latency_s: added to each packet, one way, s.
        bandwidth: of each host's port, B/s.
        message_bytes: int64[messages], sizes of messages measured between two hosts.
        message_s: float64[messages], half a round trip, median, s.
        collective: of each row.
        algorithm: forced in Open MPI.
        size_bytes: int64[rows], of the vector.
        repeat: int64[rows], number of the repeat.
        measured_s: float64[rows], median over calls of the slowest rank's time, s.
        predicted_s: float64[rows], from the messages alone, s.
        load_average: float64[rows], load average of the machine before the run.
        provenance: where the measured times come from.
    """

    ranks: int
    latency_s: float
    bandwidth: float
    message_bytes: NDArray[np.int64]
    message_s: FloatArray
    collective: tuple[str, ...]
    algorithm: tuple[str, ...]
    size_bytes: NDArray[np.int64]
    repeat: NDArray[np.int64]
    measured_s: FloatArray
    predicted_s: FloatArray
    load_average: FloatArray
    provenance: Provenance

    plot = Drawing("plot_emulated_collectives")

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each collective, algorithm and size: medians over the repeats.

        ``90 % from`` and ``to`` are the interval that published times of other systems give a
        prediction from two nodes (``workbench.predict.spread_coverage``).
        """
        import pandas as pd

        spread = published_spread(_KIND)

        rows = pd.DataFrame(
            {
                "collective": self.collective,
                "algorithm": self.algorithm,
                "bytes": self.size_bytes,
                "measured (µs)": 1e6 * self.measured_s,
                "predicted (µs)": 1e6 * self.predicted_s,
            }
        )
        keys = ["collective", "algorithm", "bytes"]
        table = rows.groupby(keys, sort=False).median().reset_index()
        table[f"{INTERVAL_PERCENT} from (µs)"] = spread.low * table["predicted (µs)"]
        table["to (µs)"] = spread.high * table["predicted (µs)"]
        table["error (%)"] = 100 * (table["predicted (µs)"] / table["measured (µs)"] - 1)
        return table

    def choices(self) -> pd.DataFrame:
        """Return one row for each collective and size: the best algorithms, measured and predicted.

        ``lost (%)`` is by how much the predicted best takes longer than the measured best, both as
        measured.
        """
        import pandas as pd

        rows = []
        for (collective, size), case in self.to_frame().groupby(["collective", "bytes"]):
            measured = case["measured (µs)"].to_numpy()
            names = case["algorithm"].tolist()
            best, chosen = int(measured.argmin()), int(case["predicted (µs)"].to_numpy().argmin())
            lost = 100 * (measured[chosen] / measured[best] - 1)
            rows.append((collective, size, names[best], names[chosen], lost))
        columns = ["collective", "bytes", "measured best", "predicted best", "lost (%)"]
        return pd.DataFrame(rows, columns=columns)

    def best_within(self, percent: float) -> float:
        """Return the share of (collective, size) in which the predicted best loses so little.

        Args:
            percent: by how much it may take longer than the measured best.
        """
        lost = self.choices()["lost (%)"]
        return float((lost <= percent).mean())

    @property
    def held(self) -> float:
        """Share of the cases whose measured time lies in the interval of its prediction."""
        rows = self.to_frame()
        ratio, spread = rows["measured (µs)"] / rows["predicted (µs)"], published_spread(_KIND)
        return float(ratio.between(spread.low, spread.high).mean())

    @property
    def median_error_percent(self) -> float:
        """Median of the absolute errors of the predictions, percent."""
        return float(self.to_frame()["error (%)"].abs().median())

    def __repr__(self) -> str:
        return (
            f"EmulatedCollectives({self.ranks} ranks, {len(self.to_frame())} cases; median error "
            f"{self.median_error_percent:.1f} %; predicted best within 5 % of the measured best in "
            f"{100 * self.best_within(5):.0f} %)"
        )

    def _check(self) -> None:
        count = len(self.measured_s)
        self._check_lengths(
            dict.fromkeys(("size_bytes", "repeat", "predicted_s", "load_average"), count)
        )
        if {len(self.collective), len(self.algorithm)} != {count}:
            raise ParameterError("each row must have a collective and an algorithm", key="rows")


def measure_collectives(
    path: str | Path,
    *,
    ranks: int = 4,
    latency_s: float = _LATENCY_S,
    bandwidth: float = _BANDWIDTH,
    sizes: Sequence[int] = SIZES,
    collectives: Sequence[str] = MEASURED,
    repeats: int = 3,
    mpirun: str | Path | None = None,
    task: Task | None = None,
) -> EmulatedCollectives:
    """Measure collectives with forced algorithms on an emulated cluster, and predict them.

    Args:
        path: of the result, saved after each repeat.
        ranks: hosts, each with one rank; an even number.
        latency_s: added to each packet, one way, s.
        bandwidth: of each host's port, B/s.
        sizes: of the vectors, bytes, each the one before times the same factor.
        collectives: of ``MEASURED``.
        repeats: runs of all algorithms, each in an order of its own.
        mpirun: launcher of Open MPI; None takes the path's ``mpirun``.
        task: gets the progress after each run; once it is stopped, the measurement ends after the
            run under way, and finished repeats stay.

    Raises:
        ParameterError: a value is out of range.
        NamespaceError: the system allows no network namespaces.
        ClusterError: a part of the cluster failed.
        MPIError: there is no Open MPI.
    """
    if whole(ranks, "ranks", 2, 64) % 2:
        raise ParameterError(f"ranks must be even, for pairs; got {ranks}", key="ranks")
    whole(repeats, "repeats", 1, 1000)
    number(latency_s, "latency_s", 0, 10, unit="s")
    above_zero(bandwidth, "bandwidth", unit="B/s")
    task = task_of(task)
    cases = [(one, label) for one in collectives for label in _algorithms(one)]
    with Cluster(ranks, latency_s=latency_s, bandwidth=bandwidth, mpirun=mpirun) as cluster:
        # No algorithm has larger messages, rounded up to the next size.
        largest = min(size for size in _MESSAGES if size >= min(ranks * max(sizes), _MESSAGES[-1]))
        messages = [size for size in _MESSAGES if size <= largest]
        costs = measure_costs(cluster, messages, repeats=40, timeout=_TIMEOUT_S)
    trips = {cost.size_bytes: cost.half_trip.median for cost in costs}
    found: EmulatedCollectives | None = None
    rows: list[tuple[str, str, int, int, float, float, float]] = []
    finished, total = 0, repeats * len(cases)
    predicted = _predictions(trips, ranks, cases, sizes)
    for repeat in range(repeats):
        new = []
        for at in np.random.default_rng(repeat).permutation(len(cases)).tolist():
            if task.stopping:
                break
            collective, label = cases[at]
            times, load = _measured(collective, label, ranks, latency_s, bandwidth, sizes, mpirun)
            for size in sizes:
                expected = predicted[collective, label, size]
                new.append((collective, label, size, repeat, times[size], expected, load))
            finished += 1
            task.report(finished, total, f"{finished} of {total} runs")
        if len(new) < len(cases) * len(sizes):
            break
        rows += new
        found = _result(ranks, latency_s, bandwidth, trips, rows)
        found.save(path)
    if found is None:
        raise ParameterError("at least one repeat must end before a measurement is stopped")
    return found


def shipped_collectives() -> dict[int, EmulatedCollectives]:
    """Return the shipped measurements of collectives, by number of ranks."""
    folder = data_folder() / "validation-collectives"
    found = [EmulatedCollectives.load(path) for path in sorted(folder.glob("*.json"))]
    return {one.ranks: one for one in found}


def _algorithms(collective: str) -> Mapping[str, tuple[int, str]]:
    if collective not in MEASURED:
        raise ParameterError(
            f"collectives must be of {', '.join(MEASURED)}; got {collective!r}", key="collectives"
        )
    return FORCED[collective]


def _measured(
    collective: str,
    label: str,
    ranks: int,
    latency_s: float,
    bandwidth: float,
    sizes: Sequence[int],
    mpirun: str | Path | None,
) -> tuple[dict[int, float], float]:
    """Return the median times of a collective by size, in s, and the load before it."""
    settings = forced_algorithms({collective: label})
    with Cluster(
        ranks, latency_s=latency_s, bandwidth=bandwidth, mpirun=mpirun, mca=settings
    ) as cluster:
        load = os.getloadavg()[0]
        times = measure_collective(cluster, collective, sizes)
    return {size: times[size].median for size in sizes}, load


def _predictions(
    messages: Mapping[int, float],
    ranks: int,
    cases: Sequence[tuple[str, str]],
    sizes: Sequence[int],
) -> dict[tuple[str, str, int], float]:
    """Return predicted times in s by collective, algorithm and size."""
    curve = OSUCurve(
        "emulated cluster",
        np.array(list(messages), np.int64),
        np.array(list(messages.values())),
        np.full(len(messages), np.nan),
        Provenance("emulated", "two hosts of an emulated cluster"),
    )
    machine = machine_of(point_to_point_of_curve(curve), library="open-mpi")
    found = {}
    for collective, label in cases:
        name = FORCED[collective][label][1]
        times = predict_collective(machine, collective, ranks, sizes, algorithm=name).times
        for size, time in zip(sizes, times.tolist(), strict=True):
            found[collective, label, size] = time
    return found


def _result(
    ranks: int,
    latency_s: float,
    bandwidth: float,
    messages: Mapping[int, float],
    rows: Sequence[tuple[str, str, int, int, float, float, float]],
) -> EmulatedCollectives:
    columns = list(zip(*rows, strict=True))
    command = f"workbench validate collectives --ranks {ranks}"
    title = f"Open MPI's collectives on an emulated cluster of {ranks} hosts"
    return EmulatedCollectives(
        ranks,
        latency_s,
        bandwidth,
        np.array(list(messages), np.int64),
        np.array(list(messages.values())),
        columns[0],
        columns[1],
        np.array(columns[2], np.int64),
        np.array(columns[3], np.int64),
        np.array(columns[4]),
        np.array(columns[5]),
        np.array(columns[6]),
        Provenance("emulated", title, source=command, licence="BSD-3-Clause"),
    )
