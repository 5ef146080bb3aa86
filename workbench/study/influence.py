"""Influence of each parameter of a model on latency and bandwidth at each message size.

    found = influence("snappr")         # a second for LogP, ten to thirty for SNAPPR
    found.strongest(8, "latency"), found.to_frame(), found.plot()

Figure 2 of Suetterlein et al., HPC Network Simulation Tuning via Automatic Extraction of Hardware
Parameters, shows such correlations without saying which design, scale or coefficient they are of.
Here the design is a scrambled Sobol sequence over the search space, each parameter counts by its
position on the scale it is searched on, and latency and bandwidth by their logarithm: a cost that
grows as a power of a parameter is then a straight line, and the few configurations that are slower
than the rest by orders of magnitude do not decide Pearson's coefficient alone. Spearman's, which
sees ranks only, is the same on either scale.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench import tasks
from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted, WorkbenchError
from workbench.fit.defaults import model_to_fit
from workbench.fit.space import SearchSpace
from workbench.html_table import code, html_table
from workbench.measure import OSU_SIZES
from workbench.models import NetworkModel
from workbench.result import Drawing, StoredResult
from workbench.simulate import BENCHMARKS, simulate_osu
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd


DEFAULT_CONFIGURATIONS = 512
"""Rank correlations with SNAPPR are within 0.15 of those of 2048 configurations (three seeds), as
chance gives; 256 are within 0.17 in half the time, 1024 within 0.09 in twice the time. With LogP
256, 512 and 1024 are within 0.04, 0.02 and 0.01."""

METHODS = ("pearson", "spearman")
_LEAST = 3  # two points always lie on a line


@dataclass(frozen=True, eq=False, repr=False)
class Influence(StoredResult):
    """Correlations of latency and bandwidth with each parameter over a space, by message size.

    Attributes:
        model: the model whose other parameters were kept.
        space: what was varied, and between which bounds.
        sizes: int64[sizes], message sizes in bytes.
        pearson: float64[parameters, 2, sizes], of a parameter's position on its own scale with the
            logarithm of the latency (0) and of the bandwidth (1); nan where nothing varied.
        spearman: float64[parameters, 2, sizes], the same of ranks.
        design: float64[parameters, parameters], Pearson's coefficient of the positions of two
            parameters over the configurations that could be simulated. The drawn ones have none;
            where two parameters must suit each other, refusing what does not ties them together.
        configurations: how many were asked for.
        used: how many could be simulated.
        refused: how many could not.
        seed: what made the design repeatable.
    """

    model: NetworkModel
    space: SearchSpace
    sizes: NDArray[np.int64]
    pearson: FloatArray = field(metadata={"axes": 3})
    spearman: FloatArray = field(metadata={"axes": 3})
    design: FloatArray = field(metadata={"axes": 2})
    configurations: int
    used: int
    refused: int
    seed: int

    plot = Drawing("plot_influence")

    def __post_init__(self) -> None:
        object.__setattr__(self, "space", self.space.described_by(self.model))

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the parameters, in the order of the first axis."""
        return self.space.keys

    @property
    def chance(self) -> float:
        """The size of a correlation that chance alone passes once in twenty times."""
        return min(1.96 / math.sqrt(self.used), 1.0) if self.used else 1.0

    @property
    def tied(self) -> tuple[tuple[str, str, float], ...]:
        """Pairs of parameters that are correlated because configurations were refused.

        Their effects cannot be separated. Named are those beyond 0.2
        and beyond chance, the strongest first.
        """
        bound = max(0.2, self.chance)
        found = [
            (self.keys[i], self.keys[j], float(self.design[i, j]))
            for i, j in zip(*np.triu_indices(len(self.keys), 1), strict=True)
            if abs(self.design[i, j]) > bound
        ]
        return tuple(sorted(found, key=lambda pair: -abs(pair[2])))

    def correlations(self, method: str = "spearman") -> FloatArray:
        """Return ``pearson`` or ``spearman``, float64[parameters, 2, sizes].

        Args:
            method: which of the two.

        Raises:
            ParameterError: it is neither.
        """
        if method not in METHODS:
            raise ParameterError(
                f"method must be one of {', '.join(METHODS)}; got {method!r}"
                f"{did_you_mean(method, METHODS)}",
                key="method",
            )
        return self.pearson if method == "pearson" else self.spearman

    def strongest(
        self, size: int, benchmark: str = "latency", method: str = "spearman"
    ) -> tuple[str, float]:
        """Return the key of the parameter that matters most at a size, and its correlation.

        Args:
            size: bytes; one of ``sizes``.
            benchmark: ``latency`` or ``bandwidth``.
            method: ``pearson`` or ``spearman``.

        Raises:
            ParameterError: the size was not simulated, an argument is not known, or no
                correlation is known there.
        """
        at = np.flatnonzero(self.sizes == size)
        if not len(at):
            raise ParameterError(
                f"size must be one of the {len(self.sizes)} simulated, {self.sizes[0]} to "
                f"{self.sizes[-1]} B; got {size}",
                key="size",
            )
        if benchmark not in BENCHMARKS:
            raise ParameterError(
                f"benchmark must be one of {', '.join(BENCHMARKS)}; got {benchmark!r}"
                f"{did_you_mean(benchmark, BENCHMARKS)}",
                key="benchmark",
            )
        here = self.correlations(method)[:, BENCHMARKS.index(benchmark), int(at[0])]
        if not np.isfinite(here).any():
            raise ParameterError(
                f"no correlation is known at {size} B: {self.used} configurations could be "
                f"simulated; draw more than {self.configurations}",
                key="configurations",
            )
        first = int(np.nanargmax(np.abs(here)))
        return self.keys[first], float(here[first])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter, benchmark and size: ``parameter`` to ``spearman``."""
        import pandas as pd

        keys, benchmarks, sizes = (
            grid.ravel()
            for grid in np.meshgrid(
                np.array(self.keys, dtype=object),
                np.array(BENCHMARKS, dtype=object),
                self.sizes,
                indexing="ij",
            )
        )
        return pd.DataFrame(
            {
                "parameter": keys,
                "benchmark": benchmarks,
                "size_bytes": sizes.astype(np.int64),
                "pearson": self.pearson.ravel(),
                "spearman": self.spearman.ravel(),
            }
        )

    def __repr__(self) -> str:
        return (
            f"Influence({type(self.model).__name__}, {len(self.keys)} parameters, "
            f"{len(self.sizes)} sizes, {self.used} configurations, {self.refused} refused, "
            f"seed {self.seed}{self._summary()})"
        )

    def _repr_html_(self) -> str:
        ends = (int(self.sizes[0]), int(self.sizes[-1]))
        at = [(0, 0, ends[0]), (0, -1, ends[1]), (1, 0, ends[0]), (1, -1, ends[1])]
        head = ("parameter", *(f"{BENCHMARKS[which]} at {size} B" for which, _, size in at))
        rows = (
            (code(key), *(f"{self.spearman[row, which, end]:+.2f}" for which, end, _ in at))
            for row, key in enumerate(self.keys)
        )
        caption = (
            f"simulated: Spearman's correlation over {self.used} configurations of "
            f"{type(self.model).__name__}, {self.refused} refused"
        )
        return html_table(rows, head, caption)

    def _summary(self) -> str:
        if self.used < _LEAST:
            return ""
        key, value = self.strongest(int(self.sizes[0]))
        return f"; strongest at {self.sizes[0]} B: {key} {value:+.2f}"


def influence(
    model: str | NetworkModel = "snappr",
    sizes: Sequence[int] | NDArray[np.int64] = OSU_SIZES,
    configurations: int = DEFAULT_CONFIGURATIONS,
    *,
    seed: int = 0,
    space: SearchSpace | None = None,
    workers: int | None = None,
    task: Task | None = None,
) -> Influence:
    """Return the correlations of latency and bandwidth with each parameter over a search space.

    The same arguments give the same numbers on any number of threads. Any first part of the design
    is evenly spread too, so a run that is stopped, or read, early is a smaller design.

    Args:
        model: name of a model, or one whose other parameters are to be kept.
        sizes: message sizes in bytes, ascending.
        configurations: how many to draw; those the model refuses are left out and counted.
        seed: scrambles the design.
        space: what to vary; ``SearchSpace.for_model`` where it is None.
        workers: threads; one for each core where it is None.
        task: gets the progress after each configuration; once it is stopped, what has been
            simulated is returned.

    Raises:
        ParameterError: an argument is not accepted.
    """
    design = _Design(model, sizes, configurations, seed, space)
    design.run(workers, task_of(task))
    return design.result()


class _Design:
    """A seeded set of configurations, and their simulated results so far."""

    def __init__(
        self,
        model: str | NetworkModel,
        sizes: Sequence[int] | NDArray[np.int64],
        configurations: int,
        seed: int,
        space: SearchSpace | None,
    ) -> None:
        configurations = whole(configurations, "configurations", _LEAST)
        self.seed = whole(seed, "seed", 0)
        self.base = model_to_fit(model)
        self.space = space if space is not None else SearchSpace.for_model(self.base)
        self.sizes = np.array(sizes, np.int64)
        self.positions = sobol(len(self.space), configurations, self.seed)
        self._fixed = self.base.with_values(self.space.fixed)
        self._curves: dict[int, FloatArray | None] = {}
        self._lock = threading.Lock()

    def run(self, workers: int | None, task: Task) -> None:
        """Simulate all configurations, in their order, a few at a time."""
        task.partial_from(self.result)
        threads = workers if workers is not None else tasks.cores()
        waiting = iter(range(len(self.positions)))
        with ThreadPoolExecutor(max_workers=max(threads, 1)) as pool:

            def more(count: int) -> Iterator[Future[None]]:
                if not task.stopping:
                    yield from (
                        pool.submit(self._simulate, n, task) for n in islice(waiting, count)
                    )

            running = set(more(2 * max(threads, 1)))
            try:
                while running:
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        future.result()
                        done, total = len(self._curves), len(self.positions)
                        task.report(done, total, f"{done} of {total} configurations")
                    running |= set(more(len(finished)))
            finally:
                if running:
                    task.stop()

    def result(self) -> Influence:
        """Return the correlations over the configurations simulated so far, from any thread."""
        with self._lock:
            done = sorted(self._curves.items())
        used = [number for number, curve in done if curve is not None]
        curves = np.array([curve for _, curve in done if curve is not None])
        positions = self.positions[used]
        shape = (len(self.space), len(BENCHMARKS), len(self.sizes))
        if len(used) < _LEAST:
            pearson = spearman = np.full(shape, np.nan)
            design = np.full((len(self.space), len(self.space)), np.nan)
        else:
            flat = curves.reshape(len(used), -1)
            pearson = correlation(positions, flat).reshape(shape)
            spearman = correlation(ranks(positions), ranks(flat)).reshape(shape)
            design = correlation(positions, positions)
        return Influence(
            model=self._fixed,
            space=self.space,
            sizes=self.sizes,
            pearson=pearson,
            spearman=spearman,
            design=design,
            configurations=len(self.positions),
            used=len(used),
            refused=len(done) - len(used),
            seed=self.seed,
        )

    def _simulate(self, number: int, task: Task) -> None:
        values = {
            d.key: d.at(x)
            for d, x in zip(self.space.dimensions, self.positions[number], strict=True)
        }
        try:
            curve = simulate_osu(self._fixed.with_values(values), self.sizes, task=task)
        except SimulationHalted:
            return
        except WorkbenchError:
            logs = None
        else:
            rates = np.stack([curve.latency_s, curve.bandwidth_Bps])
            positive = np.isfinite(rates).all() and (rates > 0).all()
            logs = np.log(rates) if positive else None
        with self._lock:
            self._curves[number] = logs


def sobol(dimensions: int, count: int, seed: int) -> FloatArray:
    """Return float64[count, dimensions] in 0 to 1, the beginning of a scrambled Sobol sequence."""
    from scipy.stats import qmc

    drawn = qmc.Sobol(dimensions, scramble=True, rng=seed).random_base2((count - 1).bit_length())
    return np.asarray(drawn[:count], np.float64)


def ranks(columns: FloatArray) -> FloatArray:
    """Return the rank of each value in its column, float64[n, k]; ties get their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(columns, axis=0), np.float64)


def correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's float64[a, b] of the columns of x[n, a] and y[n, b]; nan if constant."""
    x, y = _standardised(x), _standardised(y)
    return np.clip(x.T @ y, -1.0, 1.0)


def _standardised(columns: FloatArray) -> FloatArray:
    """Return the columns with mean 0 and length 1; nan where all values are equal."""
    varies = np.ptp(columns, axis=0) > 0
    centred = columns - columns.mean(axis=0)
    lengths = np.where(varies, np.linalg.norm(centred, axis=0), np.nan)
    return np.asarray(centred / lengths, np.float64)
