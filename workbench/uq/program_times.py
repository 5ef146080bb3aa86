"""Run times of programs as a function of LogGPS parameters, to be calibrated to measured ones.

times = ProgramTimes(["cg-64", "ring-pipeline-64"], model, ("L", "G"))
box = times.box(factor=4)
points = design(box, 64)
surrogate = fit_surrogate(box, points, times(points))
posterior = calibrate(surrogate, Replicas.of(measured, times.tests), noise="relative")
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench import tasks
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.loggps import LOGGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.simulate import replay
from workbench.simulate.replay_result import Semantics
from workbench.suggestions import did_you_mean
from workbench.uq.parameters import ParameterBox

CONTINUOUS = tuple(name for name in LOGGPS if name != "S")
"""Parameters on which a run time depends continuously: all but the threshold S."""


class ProgramTimes:
    """Replays of programs on machines whose LogGPS parameters are points of a design."""

    def __init__(
        self,
        programs: Sequence[ProgramLike],
        model: LogGPS,
        parameters: Sequence[str] = ("L", "o", "G"),
        *,
        semantics: Semantics = "loggopsim",
    ) -> None:
        """Find the programs.

        Args:
            programs: each is a test, labelled by its name or source.
            model: the values of the parameters that do not vary, and the middle of ``box``.
            parameters: those that vary, among L, o, g, G and O.
            semantics: of the replay.

        Raises:
            ParameterError: there is no program, two have one name, or a parameter is not among
                these.
        """
        if not programs:
            raise ParameterError("programs must hold at least one; got none", key="programs")
        for name in parameters:
            if name not in CONTINUOUS:
                raise ParameterError(
                    f"parameters must be among {', '.join(CONTINUOUS)}; got {name!r}"
                    f"{did_you_mean(name, CONTINUOUS)}",
                    key="parameters",
                )
        if not parameters or len(set(parameters)) < len(parameters):
            raise ParameterError(
                f"parameters must name one or more, each once; got {list(parameters)}",
                key="parameters",
            )
        self.model, self.parameters, self.semantics = model, tuple(parameters), semantics
        self._graphs = [graph_of(program) for program in programs]
        self.tests = tuple(
            str(program) if isinstance(program, str | Path) else graph.source
            for program, graph in zip(programs, self._graphs, strict=True)
        )
        if twice := next((name for name in self.tests if self.tests.count(name) > 1), None):
            raise ParameterError(
                f"programs must differ in name; {twice!r} is there twice", key="programs"
            )

    def box(self, factor: float = 4.0) -> ParameterBox:
        """Return the ranges from a ``factor``-th of the model's values to ``factor`` times them.

        Args:
            factor: above 1; the priors are uniform in the logarithm.

        Raises:
            ParameterError: a value of the model is 0, or the factor is not above 1.
        """
        factor = number(factor, "factor")
        if factor <= 1:
            raise ParameterError(f"factor must be above 1; got {factor:g}", key="factor")
        for name in self.parameters:
            if getattr(self.model, name) == 0:
                raise ParameterError(
                    f"{name} must be above 0 to be multiplied; the model has 0: make a "
                    "ParameterBox with bounds of your own, or leave it out",
                    key=name,
                )
        return ParameterBox(
            LOGGPS[name].within(value / factor, value * factor)
            for name in self.parameters
            for value in [getattr(self.model, name)]
        )

    def __call__(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the run times at points, float64[n, programs], seconds.

        Replays run in threads.

        Args:
            points: float64[n, parameters], s, or s/B for G and O.

        Raises:
            ParameterError: the points have other columns, or a value is not accepted.
        """
        rows = np.atleast_2d(np.asarray(points, np.float64))
        if rows.ndim != 2 or rows.shape[1] != len(self.parameters):
            raise ParameterError(
                f"points must have {len(self.parameters)} columns, {', '.join(self.parameters)}; "
                f"got shape {rows.shape}",
                key="points",
            )
        with ThreadPoolExecutor(tasks.cores()) as pool:
            return np.array(list(pool.map(self._row, rows)), np.float64)

    def _row(self, values: NDArray[np.float64]) -> list[float]:
        model = self.model.replace(**dict(zip(self.parameters, map(float, values), strict=True)))
        return [replay(graph, model, semantics=self.semantics).makespan_s for graph in self._graphs]

    def __repr__(self) -> str:
        return f"ProgramTimes({', '.join(self.tests)}; {', '.join(self.parameters)} vary)"
