"""A simulator of one's own: a posterior from its runs, a prediction from runs at its draws.

The procedure of Wilke et al., section 6, where another program simulates.

replicas = read_replicas("replicas.csv")
found = calibrate_runs("runs.csv", replicas)
found.to_run(100).to_csv("draws.csv", index=False)    # where to run the larger tests
found.predict("larger.csv").to_frame()                # draws.csv with a column of times a test

``replicas.csv`` has a row a measured time: ``test``, ``time_s``, and any numbers that place a test,
such as ``nodes`` and ``bytes``. ``runs.csv`` has a row a run: a column a parameter, as ``name`` or
``name (unit)``, and a column of times in s a test of the replicas; ``run`` is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError, ParseError
from workbench.parameters import Parameter
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task
from workbench.text_table import parsed_numbers, read_text_table
from workbench.uq.design_plan import column_names
from workbench.uq.noise import NoiseModel
from workbench.uq.parameters import ParameterBox
from workbench.uq.posterior import Posterior, calibrate
from workbench.uq.prediction import Prediction, predict_draws
from workbench.uq.replicas import Replicas
from workbench.uq.runs import FAILED, RUN, SimulatorRuns, number_of, read_runs, read_table
from workbench.uq.surrogate import EXACT

if TYPE_CHECKING:
    import pandas as pd

DRAW = "draw"
"""Column of a table of runs at draws: the number of the draw, counted over all chains."""

_WITH_UNIT = re.compile(r"^(.*?)\s*\(([^()]*)\)$")
_SAME = 1e-6  # relative, of a parameter's value in a table of draws: people round on the way


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedRuns(StoredResult):
    """The posterior of a simulator that is known by its runs.

    Attributes:
        posterior: of the simulator's parameters and of the noise model's.
        surrogate_error: float64[tests], of the polynomial that stood for the simulator: the largest
            at the hold-out points, or leave-one-out and a root mean square where there are none.
        notes: what of the tables was left out.
    """

    posterior: Posterior
    surrogate_error: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_posterior", lambda one: one.posterior)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the predictions, each a sentence."""
        worst = int(np.argmax(self.surrogate_error))
        found = [] if self.posterior.converged else [self.posterior.verdict]
        if self.surrogate_error[worst] > EXACT:
            found.append(
                f"the surrogate is {100 * self.surrogate_error[worst]:.2g} % off, at "
                f"{self.posterior.replicas.tests[worst]}; run the simulator at more points, or at "
                "points of the posterior's box (posterior.around())"
            )
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a draw, as ``Posterior.to_frame`` does."""
        return self.posterior.to_frame()

    def to_run(self, count: int = 100, seed: int = 0) -> pd.DataFrame:
        """Return draws of the posterior at which to run the simulator next, a row a draw.

        Args:
            count: number of draws; the paper has 100.
            seed: makes the choice repeatable.

        Raises:
            ParameterError: the posterior has no draws.
        """
        import pandas as pd

        at = self.posterior.pick(whole(count, "count", 1), seed)
        names = column_names(self.posterior.box)
        values = self.posterior.parameters.reshape(-1, len(names))[at]
        return pd.DataFrame({DRAW: at, **dict(zip(names, values.T, strict=True))})

    def predict(
        self, path: str | Path, *, levels: Sequence[float] = (0.5, 0.9), seed: int = 0
    ) -> Prediction:
        """Predict one more replica of each test of a table of runs at draws of the posterior.

        Args:
            path: the table of ``to_run`` as CSV, with a column of times in s a test.
            levels: of the intervals, between 0 and 1.
            seed: makes the prediction repeatable.

        Raises:
            ParseError: the file is no such table, or a row's values are not those of its draw.
            ParameterError: the noise model is ``gaussian-process``, which places tests.
        """
        if self.posterior.noise.name == "gaussian-process":
            raise ParameterError(
                "noise must be hierarchical, relative, constant or student-t to predict tests of a "
                "table; calibrate with one of them",
                key="noise",
            )
        at, tests, times = _runs_at_draws(path, self.posterior)
        return predict_draws(self.posterior, at, times, tests, levels=levels, seed=seed)

    def __repr__(self) -> str:
        return (
            f"CalibratedRuns({', '.join(self.posterior.names)}; {len(self.posterior.replicas)} "
            f"tests; {self.posterior.verdict})"
        )


def read_replicas(path: str | Path) -> Replicas:
    """Return measured times of a CSV file with a row a time: ``test``, ``time_s`` and columns.

    Args:
        path: the file. Further columns, such as ``nodes`` and ``bytes``, hold a number a test; a
            column with other cells is left out.

    Raises:
        ParseError: the file is no such table, a time is not above 0, or a test's rows differ in a
            further column; names the line.
    """
    table = read_text_table(path, "a table of replicas", ("test", "time_s"))
    times = np.asarray(parsed_numbers(table["time_s"]), np.float64)
    for at in np.flatnonzero(~(np.isfinite(times) & (times > 0))).tolist():
        raise ParseError(
            f"time_s must be above 0 s and finite; got {table['time_s'].iloc[at]!r}; remove the "
            "row or measure again",
            source=str(path),
            line=int(table.index[at]),
        )
    labels = list(dict.fromkeys(table["test"]))
    rows = [times[(table["test"] == label).to_numpy()] for label in labels]
    columns = {}
    for name in table.columns.difference(["test", "time_s"], sort=False):
        numbers = np.asarray(parsed_numbers(table[name]), np.float64)
        if not np.isfinite(numbers).all():
            continue
        per_test = [numbers[(table["test"] == label).to_numpy()] for label in labels]
        for label, found in zip(labels, per_test, strict=True):
            if len(set(found)) > 1:
                line = table.index[table["test"] == label].tolist()[0]
                raise ParseError(
                    f"rows of a test must agree in {name}; {label} has "
                    f"{', '.join(f'{one:g}' for one in sorted(set(found)))}",
                    source=str(path),
                    line=line,
                )
        columns[name] = np.array([found[0] for found in per_test])
    return Replicas.of(rows, labels, columns)


def runs_for(
    path: str | Path, replicas: Replicas, parameters: Sequence[Parameter] = ()
) -> SimulatorRuns:
    """Return the runs of a table, or of a folder of ``workbench uq evaluate --save``.

    Args:
        path: a CSV file or that folder.
        replicas: whose tests are columns of times; every other column is a parameter.
        parameters: those whose bounds or prior are known; of others the bounds are the least and
            the greatest value of the runs, with a uniform prior.

    Raises:
        ParseError: the file is no table of runs of these tests.
        ParameterError: a parameter has one value only.
    """
    if Path(path).is_dir():
        return SimulatorRuns.load(path)
    head, rows, _ = read_table(path)
    known = {one.key: one for one in parameters}
    found = []
    for at, column in enumerate(head):
        if column == RUN or column in replicas.tests:
            continue
        named = _WITH_UNIT.match(column)
        key, unit = named.groups() if named else (column, "")
        values = np.array([number_of(cells[at]) for _, cells in rows])
        if key not in known and not np.ptp(values) > 0:
            raise ParameterError(
                f"{path} must have two values or more of a parameter, and numbers only; column "
                f"{column!r} has not; remove it, or name it as a test of the replicas",
                key="runs",
            )
        ends = float(values.min()), float(values.max())
        found.append(known.pop(key) if key in known else Parameter(key, unit, *ends))
    if known:
        raise ParameterError(
            f"parameters must be columns of {path}; it has no {', '.join(known)}", key="parameter"
        )
    return read_runs(path, ParameterBox(found), replicas.tests)


def calibrate_runs(
    runs: SimulatorRuns | str | Path,
    replicas: Replicas | str | Path,
    *,
    noise: str | NoiseModel = "hierarchical",
    chains: int = 4,
    draws: int = 5000,
    burn_in: int = 3000,
    seed: int = 0,
    resume: CalibratedRuns | None = None,
    task: Task | None = None,
) -> CalibratedRuns:
    """Return the posterior of a simulator's parameters, from its runs and measured times.

    Args:
        runs: with the tests of the replicas, or their file as ``runs_for`` reads it.
        replicas: what was measured, or its file as ``read_replicas`` reads it.
        noise: as for ``calibrate``.
        chains: number of chains.
        draws: kept of each chain.
        burn_in: draws of each chain before these.
        seed: makes the result repeatable.
        resume: what a stop left of the same call.
        task: gets the draws of each chain; its result so far is for ``resume``.

    Raises:
        ParseError: a file is no such table.
        ParameterError: the tables do not fit one another, or there are too few runs.
    """
    from workbench.uq.posterior import PartTask

    measured = replicas if isinstance(replicas, Replicas) else read_replicas(replicas)
    made = runs if isinstance(runs, SimulatorRuns) else runs_for(runs, measured)
    chosen = made.only(measured.tests)
    surrogate = chosen.surrogate()
    error = chosen.surrogate_error(surrogate)

    def found(posterior: Posterior) -> CalibratedRuns:
        return CalibratedRuns(posterior, error, made.all_failed)

    posterior = calibrate(
        surrogate,
        measured,
        noise=noise,
        chains=chains,
        draws=draws,
        burn_in=burn_in,
        seed=seed,
        resume=None if resume is None else resume.posterior,
        task=None if task is None else PartTask(task, found),
    )
    return found(posterior)


def _runs_at_draws(
    path: str | Path, posterior: Posterior
) -> tuple[NDArray[np.int64], tuple[str, ...], NDArray[np.float64]]:
    """Return numbers of draws, labels of tests, times[draws, tests] in s; without failed runs."""
    head, rows, _ = read_table(path)
    names = column_names(posterior.box)
    missing = [name for name in (DRAW, *names) if name not in head]
    tests = tuple(name for name in head if name not in (DRAW, *names))
    if missing or not tests:
        raise ParseError(
            f"a table of runs at draws must have the columns {DRAW}, {', '.join(names)} and one of "
            f"times a test; it lacks {', '.join(missing) or 'times'}",
            source=str(path),
            line=1,
        )
    flat = posterior.parameters.reshape(-1, len(names))
    at, times = [], []
    for line, cells in rows:
        row = dict(zip(head, cells, strict=True))
        if any(row[test].lower() in FAILED for test in tests):
            continue
        numbers = np.array([number_of(row[name]) for name in (DRAW, *names, *tests)])
        draw, values, mine = numbers[0], numbers[1 : 1 + len(names)], numbers[1 + len(names) :]
        if not (0 <= draw < len(flat) and draw == int(draw)) or not np.allclose(
            values, flat[int(draw)], rtol=_SAME, atol=0.0
        ):
            raise ParseError(
                f"a row must hold a draw of the posterior as written; draw {row[DRAW]} has other "
                "values; write the draws again, and run the simulator at them",
                source=str(path),
                line=line,
            )
        if not (np.isfinite(mine) & (mine > 0)).all():
            raise ParseError(
                "times must be above 0 s and finite; write failed where the run failed",
                source=str(path),
                line=line,
            )
        at.append(int(draw))
        times.append(mine)
    if not at:
        raise ParseError(
            "a table of runs at draws must have a run that did not fail", source=str(path)
        )
    return np.array(at, np.int64), tests, np.array(times)
