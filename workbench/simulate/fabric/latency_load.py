"""Latency and accepted load over offered load: open-loop runs at several loads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted
from workbench.result import Drawing, StoredResult
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.open_loop import Process, run_traffic
from workbench.simulate.fabric.result import FabricResult
from workbench.tasks import Task, task_of
from workbench.topology.traffic import Traffic, traffic

if TYPE_CHECKING:
    import pandas as pd


LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The default loads of a curve."""

MOST_RUNS = 10_000
"""Most runs of a curve: loads times seeds."""

_MOST_WORKERS = 1024  # chosen: above the cores of a node; a slip such as 10**6 is refused


def load_curve(
    fabric: Fabric,
    pattern: str | Traffic = "uniform",
    loads: ArrayLike = LOADS,
    *,
    seeds: Sequence[int] = (0,),
    workers: int = 1,
    message_bytes: int | None = None,
    process: Process = "poisson",
    messages: int = 20_000,
    warm_up_s: float | None = None,
    measure_s: float | None = None,
    task: Task | None = None,
) -> LatencyLoad:
    """Return latency and accepted load at several loads (simulated).

    The runs are independent of one another, so the result is the same with any number of workers.

    Args:
        fabric: the network.
        pattern: as for ``run_traffic``.
        loads: float[n], offered loads, shares of the hosts' bandwidth, above 0 up to 1.
        seeds: of the traffic; each load is run with each.
        workers: runs at a time, each in a thread; the result is the same.
        message_bytes: as for ``run_traffic``.
        process: as for ``run_traffic``.
        messages: as for ``run_traffic``.
        warm_up_s: as for ``run_traffic``.
        measure_s: as for ``run_traffic``.
        task: gets the curve so far after each run; once it is stopped, the runs end, and those
            that are finished are returned.

    Raises:
        ParameterError: an argument is not accepted.
        ConfigurationError: packets could not move, or the clock would run out.
        SimulationHalted: the task was stopped before the first run had ended.
    """
    load_values = np.unique(np.asarray(loads, np.float64)).tolist()
    chosen = tuple(islice(seeds, MOST_RUNS + 1))
    if not 1 <= len(load_values) * len(chosen) <= MOST_RUNS:
        got = f"more than {MOST_RUNS}" if len(chosen) > MOST_RUNS else f"{len(chosen)}"
        raise ParameterError(
            f"a curve needs at least one load and one seed, and at most {MOST_RUNS} runs; got "
            f"{len(load_values)} loads and {got} seeds",
            key="loads",
        )
    workers = whole(workers, "workers", 1, _MOST_WORKERS)
    drawn = traffic(fabric.topology, pattern) if isinstance(pattern, str) else pattern
    task = task_of(task)
    quiet = task.part()
    fabric.checked()
    found: dict[tuple[float, int], FabricResult] = {}

    def run(load: float, seed: int) -> FabricResult:
        # A run that has not started at the stop is not built.
        if task.stopping:
            raise SimulationHalted("the run was stopped before it started")
        return run_traffic(
            fabric,
            drawn,
            load,
            message_bytes=message_bytes,
            process=process,
            messages=messages,
            warm_up_s=warm_up_s,
            measure_s=measure_s,
            seed=seed,
            task=quiet,
        )

    def curve() -> LatencyLoad:
        return LatencyLoad(fabric, drawn.name, tuple(found[key] for key in sorted(found)))

    task.partial_from(lambda: curve() if found else None)
    with ThreadPoolExecutor(workers) as pool:
        futures = {
            pool.submit(run, load, seed): (load, seed) for load in load_values for seed in chosen
        }
        try:
            for future in as_completed(futures):
                try:
                    found[futures[future]] = future.result()
                except SimulationHalted:
                    continue
                task.report(
                    len(found), len(futures), f"{len(found)} of {len(futures)} runs", curve()
                )
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    if not found:
        raise SimulationHalted("the traffic was stopped before the first run finished")
    return curve()


@dataclass(frozen=True, eq=False)
class LatencyLoad(StoredResult):
    """Runs of one pattern on one fabric at several loads (simulated).

    Attributes:
        fabric: the network.
        pattern: of the traffic.
        runs: one for each load and seed, by load and then seed.
    """

    fabric: Fabric
    pattern: str
    runs: tuple[FabricResult, ...]

    plot = Drawing("plot_latency_load")

    @property
    def offered(self) -> FloatArray:
        """The loads offered, each once, ascending, float64[n]."""
        return np.unique([run.nominal_load for run in self.runs])

    def of(self, name: str) -> FloatArray:
        """Return the mean over the seeds of an attribute at each load, float64[n].

        Args:
            name: of a number of ``FabricResult``, such as ``accepted``.
        """
        values = [
            np.mean([getattr(run, name) for run in self.runs if run.nominal_load == load])
            for load in self.offered
        ]
        return np.array(values, np.float64)

    @property
    def accepted(self) -> FloatArray:
        """Accepted load at each offered one, float64[n]."""
        return self.of("accepted")

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Whether most seeds saturate at each load, bool[n]."""
        return self.of("saturated") > 0.5

    @property
    def mean_latency_s(self) -> FloatArray:
        """Mean latency at each load, s; nan where the network is saturated, float64[n]."""
        return np.where(self.saturated, np.nan, self.of("mean_latency_s"))

    def latency_s(self, percent: float) -> FloatArray:
        """Return a percentile of the latency at each load, s; nan where saturated, float64[n].

        Args:
            percent: 0 to 100; of all seeds' latencies together.
        """
        found = []
        for load in self.offered:
            kept = [run.latencies_s for run in self.runs if run.nominal_load == load]
            joined = np.concatenate(kept)
            found.append(np.percentile(joined, percent) if len(joined) else np.nan)
        return np.where(self.saturated, np.nan, np.array(found))

    @property
    def num_runs(self) -> NDArray[np.int64]:
        """Runs of each load, one with each seed, int64[n]."""
        return np.unique([run.nominal_load for run in self.runs], return_counts=True)[1]

    @property
    def latency_ends_s(self) -> FloatArray:
        """Least and largest mean latency of each load, s; nan where saturated, float64[2, n]."""
        found = [
            [run.mean_latency_s for run in self.runs if run.nominal_load == load]
            for load in self.offered
        ]
        ends = np.array([[min(one), max(one)] for one in found], np.float64).reshape(-1, 2).T
        return np.where(self.saturated, np.nan, ends)

    @property
    def throughput(self) -> float:
        """The most that was accepted at any load, as a share of the hosts' bandwidth."""
        return float(self.accepted.max(initial=0.0))

    @property
    def saturation(self) -> float:
        """The lowest load at which the network saturates; nan if it never does."""
        beyond = self.offered[self.saturated]
        return float(beyond[0]) if len(beyond) else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each run with the figures of `FabricResult.figures`."""
        import pandas as pd

        return pd.DataFrame([run.figures() for run in self.runs])

    def to_dict(self, *, tables: bool = False) -> dict[str, Any]:
        """Return plain values that JSON can hold.

        Args:
            tables: as for `FabricResult.to_dict`.
        """
        return {
            "simulated": True,
            "topology": self.fabric.topology.name,
            "routing": self.fabric.routing_name,
            "pattern": self.pattern,
            "throughput": self.throughput,
            "saturation": self.saturation if np.isfinite(self.saturation) else None,
            "runs": [run.to_dict(tables=tables) for run in self.runs],
        }

    def __repr__(self) -> str:
        ends = f"saturates at {self.saturation:.3g}" if self.saturated.any() else "not saturated"
        return (
            f"LatencyLoad(simulated: {self.fabric.topology.name}, {self.fabric.routing_name} "
            f"routing, {self.pattern} traffic, {len(self.offered)} loads; accepts up to "
            f"{self.throughput:.3g}, {ends})"
        )
