"""The designs that ship with the workbench, and how good the surrogates of each are.

runs = shipped_design("gather-grid")
design_comparison().to_frame()
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.datapackage import DESCRIPTOR
from workbench.datasets import data_folder
from workbench.errors import DatasetError
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.uq.design_plan import DesignPlan
from workbench.uq.runs import SimulatorRuns
from workbench.uq.surrogate import EXACT

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = "designs"


def shipped_designs() -> tuple[str, ...]:
    """Return the names of the designs that ship with the workbench."""
    folders = (data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}")
    return tuple(sorted(path.parent.name for path in folders))


@lru_cache(maxsize=8)
def shipped_design(name: str) -> SimulatorRuns:
    """Return the runs of a design that ships with the workbench.

    Args:
        name: folder of ``datasets/designs``.

    Raises:
        DatasetError: there is no such design, or its files are not the ones that were shipped.
    """
    known = shipped_designs()
    if name not in known:
        raise DatasetError(
            f"no shipped design is named {name!r}{did_you_mean(name, known)}; known: "
            f"{', '.join(known)}"
        )
    return SimulatorRuns.load(data_folder() / _FOLDER / name)


@dataclass(frozen=True, eq=False, repr=False)
class DesignComparison(StoredResult):
    """Surrogates of one degree fitted to designs, judged at points that none was fitted to.

    Attributes:
        collectives: of each row.
        designs: to whose runs the surrogate was fitted.
        judged_at: of whose hold-out points the errors are.
        parameters: int64[rows], number that vary in the design.
        runs: int64[rows], number of runs of the design.
        terms: int64[rows], of the polynomial.
        largest: float64[rows], largest relative error over all tests and points.
        rms: float64[rows], root of the mean square.
        above: int64[rows], number of tests whose largest error is above 1 %.
        tests: int64[rows], number of tests.
        degree: total degree of the polynomials.
    """

    collectives: tuple[str, ...]
    designs: tuple[str, ...]
    judged_at: tuple[str, ...]
    parameters: NDArray[np.int64]
    runs: NDArray[np.int64]
    terms: NDArray[np.int64]
    largest: NDArray[np.float64]
    rms: NDArray[np.float64]
    above: NDArray[np.int64]
    tests: NDArray[np.int64]
    degree: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row a design and hold-out: sizes, and errors in percent."""
        import pandas as pd

        return pd.DataFrame(
            {
                "collective": self.collectives,
                "fitted to": self.designs,
                "parameters": self.parameters,
                "runs": self.runs,
                "terms": self.terms,
                "judged at": self.judged_at,
                "largest error (%)": 100 * self.largest,
                "rms error (%)": 100 * self.rms,
                "tests above 1 %": self.above,
                "tests": self.tests,
            }
        )

    def __repr__(self) -> str:
        return (
            f"DesignComparison(degree {self.degree}; {len(self.designs)} fits of "
            f"{', '.join(dict.fromkeys(self.collectives))}; largest error "
            f"{100 * self.largest.min():.2g} to {100 * self.largest.max():.2g} %)"
        )


def design_comparison(
    collectives: tuple[str, ...] = ("allgather", "scatter", "gather"), degree: int = 3
) -> DesignComparison:
    """Return the errors of surrogates of the paper's grids and of 256 Sobol' points.

    Polynomials of total degree, of the times themselves, as in the validation of SST/macro (Wilke
    et al., section 6), which reports about 1 % at 100 points. The grid has the paper's three or
    four parameters, the Sobol' design all seven; it is judged at its own hold-out points and at
    the grid's, where the others are nominal.

    Args:
        collectives: among ``allgather``, ``scatter`` and ``gather``.
        degree: of the polynomials.

    Raises:
        DatasetError: a design does not ship.
        ParameterError: the degree is not accepted, or too high for a design.
    """
    rows = []
    for collective in collectives:
        grid, sobol = (shipped_design(f"{collective}-{kind}") for kind in ("grid", "sobol"))
        for runs, judge in ((grid, grid), (sobol, sobol), (sobol, grid)):
            surrogate = runs.surrogate(degrees=(degree,), hyperbolic=(1.0,), transform="none")
            error = surrogate.holdout_error(*_judged(judge, runs.box.names))
            names = collective, *(_plan(each).name for each in (runs, judge))
            rows.append((names, runs, len(surrogate.indices), error))
    collective_names, designs, judged_at = zip(*(names for names, *_ in rows), strict=True)
    return DesignComparison(
        collective_names,
        designs,
        judged_at,
        np.array([len(runs.box) for _, runs, *_ in rows]),
        np.array([len(runs.points) for _, runs, *_ in rows]),
        np.array([terms for *_, terms, _ in rows]),
        np.array([error.maximum.max() for *_, error in rows]),
        np.array([np.sqrt((error.rms**2).mean()) for *_, error in rows]),
        np.array([np.count_nonzero(error.maximum > EXACT) for *_, error in rows]),
        np.array([len(runs.tests) for _, runs, *_ in rows]),
        degree,
    )


def _judged(
    runs: SimulatorRuns, names: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the hold-out points of a design in other parameters of its model, and the times."""
    plan, held = _plan(runs), runs.holdout
    if plan.simulator is None or held is None:
        raise DatasetError(f"{plan.name} must name its model and have hold-out points")
    known = plan.simulator.box.names
    return plan.completed(held.points)[:, [known.index(name) for name in names]], held.times


def _plan(runs: SimulatorRuns) -> DesignPlan:
    if runs.plan is None:
        raise DatasetError(f"{runs!r} must have the plan that it was made by")
    return runs.plan
