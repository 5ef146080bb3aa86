"""The calibration of a model of collectives to measured replicas, and what it predicts.

measured = read_measured("fugaku.csv", "gather", "default-binomial")
found = calibrate_collective(measured.on([8, 64]), seed=1)
found.predict([CollectiveTest(512, 16384, shape=(8, 8, 8))]).to_frame()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.programs.collectives.registry import find_algorithm
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.uq.collectives.measured import (
    COORDINATES,
    MeasuredCollective,
    columns_of,
    nodes_of,
)
from workbench.uq.collectives.models import (
    CollectiveModel,
    CollectiveTest,
    GrowthModel,
    RoundModel,
    models_of,
)
from workbench.uq.collectives.pilot import Pilot, pilot_fit
from workbench.uq.designs import design
from workbench.uq.parameters import ParameterBox, UncertainParameter
from workbench.uq.posterior import Posterior, calibrate
from workbench.uq.prediction import Prediction, predict
from workbench.uq.problem import CalibrationProblem
from workbench.uq.surrogate import Surrogate, fit_surrogate

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

NOISE = "gaussian-process"
"""The noise model that held up best on the measured collectives."""

_DESIGN, _CHECKS = 1024, 100
_EXACT = 0.01  # of the surrogate, as the paper has it
_MARGIN = 0.3  # around a posterior, of its width


@dataclass(frozen=True, eq=False, repr=False)
class CollectiveCalibration(StoredResult):
    """A calibrated model of one collective.

    Attributes:
        system: what was measured, as the data name it.
        collective: such as ``gather``.
        label: of the algorithm in the data; empty is the library's default.
        model: name of the model, such as ``rounds:binomial``.
        tests: that it was calibrated to.
        posterior: of the model's parameters and of the noise model's.
        surrogate_error: float64[tests], greatest relative error of the surrogate at configurations
            that it was not fitted to.
    """

    system: str
    collective: str
    label: str
    model: str
    tests: tuple[CollectiveTest, ...]
    posterior: Posterior
    surrogate_error: NDArray[np.float64]

    plot = Drawing("plot_posterior", lambda one: one.posterior)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the predictions, each a sentence."""
        found = []
        if not self.posterior.converged:
            found.append(self.posterior.verdict)
        worst = int(np.argmax(self.surrogate_error))
        if self.surrogate_error[worst] > _EXACT:
            found.append(
                f"the surrogate is up to {100 * self.surrogate_error[worst]:.1f} % off, at "
                f"{self.tests[worst].label}; predictions use the model itself"
            )
        return tuple(found)

    def predict(
        self,
        tests: Sequence[CollectiveTest],
        *,
        draws: int = 400,
        levels: Sequence[float] = (0.5, 0.9),
        seed: int = 0,
    ) -> Prediction:
        """Predict one more replica of each test, by the model itself at draws of the posterior.

        Args:
            tests: may have other nodes, bytes and shapes than those of the calibration.
            draws: of the posterior.
            levels: of the intervals.
            seed: makes the prediction repeatable.

        Raises:
            ParameterError: a test cannot be had, such as a shape with another number of nodes.
        """
        if not tests:
            raise ParameterError("tests must not be empty; name nodes and bytes", key="tests")
        per_node = self.tests[0].ranks_per_node
        if wrong := next((test for test in tests if test.ranks_per_node != per_node), None):
            raise ParameterError(
                f"tests must have {per_node} ranks a node, as the calibration's; got "
                f"{wrong.ranks_per_node}",
                key="tests",
            )
        model = model_named(self.model, self.collective)
        return predict(
            self.posterior,
            lambda values: model.times(values, tests),
            [test.label for test in tests],
            columns_of(tests),
            draws=draws,
            levels=levels,
            seed=seed,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the posterior's summary: a row per parameter, with its interval and R-hat."""
        return self.posterior.summary()

    def __repr__(self) -> str:
        nodes = ", ".join(map(str, nodes_of(self.tests)))
        return (
            f"CollectiveCalibration({self.collective} {self.label or 'by default'} on "
            f"{self.system}, {nodes} nodes, {len(self.tests)} tests, {self.model}; "
            f"{self.posterior.verdict})"
        )


def calibrate_collective(
    measured: MeasuredCollective,
    *,
    model: str | None = None,
    noise: str = NOISE,
    chains: int = 4,
    draws: int = 4000,
    burn_in: int = 3000,
    seed: int = 0,
    stop: threading.Event | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> CollectiveCalibration:
    """Return the posterior of a model's parameters, given measured replicas.

    A surrogate stands for the model while chains run. Where it is off by more than 1 % it is made
    again within what the posterior leaves, and the chains run again.

    Args:
        measured: the replicas, of two numbers of nodes or more to extrapolate from.
        model: ``rounds:ALGORITHM`` or ``growth``; None takes the one that, fitted to fewer nodes,
            predicts the largest number best.
        noise: one of ``NOISE_MODELS``.
        chains: number of chains.
        draws: kept of each chain.
        burn_in: before these.
        seed: makes the result repeatable.
        stop: once set, the draws so far are returned.
        on_progress: called with the draws of each chain done and to do.

    Raises:
        ParameterError: an argument is not accepted.
    """
    pilot = _pilot(measured, model, seed)
    tests = measured.tests
    replicas = measured.to_replicas()
    box = pilot.box()
    for last in (False, True):
        surrogate, error = _surrogate(pilot.model, tests, box, seed)
        posterior = calibrate(
            surrogate,
            replicas,
            noise=noise,
            chains=chains,
            draws=draws,
            burn_in=burn_in,
            seed=seed,
            coordinates=COORDINATES if noise == "gaussian-process" else None,
            stop=stop,
            on_progress=on_progress,
        )
        if last or error.max() <= _EXACT or (stop is not None and stop.is_set()):
            break
        box = _narrowed(box, posterior)
    return CollectiveCalibration(
        measured.system,
        measured.collective,
        measured.label,
        pilot.model.name,
        tests,
        posterior,
        error,
    )


def collective_problem(
    measured: MeasuredCollective, *, model: str | None = None, seed: int = 0
) -> CalibrationProblem:
    """Return what a calibration begins with: the fitted model's times, and its surrogate.

    Args:
        measured: the replicas.
        model: as for ``calibrate_collective``.
        seed: makes the result repeatable.

    Raises:
        ParameterError: an argument is not accepted.
    """
    pilot = _pilot(measured, model, seed)
    tests = measured.tests
    surrogate, error = _surrogate(pilot.model, tests, pilot.box(), seed)
    return CalibrationProblem(
        f"{measured.collective} ({measured.label or 'the default'}) on {measured.system}",
        pilot.model.name,
        measured.provenance,
        measured.to_replicas(),
        tuple(f"{test.nodes} nodes" for test in tests),
        np.array([test.block_bytes for test in tests], np.int64),
        pilot.model.times(pilot.values[None], tests)[0],
        surrogate,
        error,
    )


def held_out(
    measured: MeasuredCollective,
    *,
    model: str | None = None,
    noise: str = NOISE,
    draws: int = 4000,
    seed: int = 0,
    levels: Sequence[float] = (0.5, 0.9),
) -> pd.DataFrame:
    """Predict the largest number of nodes by a calibration to the others, and compare.

    Args:
        measured: of two numbers of nodes or more.
        model: as for ``calibrate_collective``.
        noise: one of ``NOISE_MODELS``.
        draws: kept of each chain.
        seed: makes the result repeatable.
        levels: of the intervals.

    Returns:
        One row a test of the largest number: nodes, block_bytes, measured and predicted median in
        µs, and for each level the ends of its interval and whether it holds the measured median.

    Raises:
        ParameterError: there is one number of nodes, or an argument is not accepted.
    """
    import pandas as pd

    nodes = nodes_of(measured.tests)
    if len(nodes) < 2:
        raise ParameterError(
            f"there must be two numbers of nodes or more, to predict one from others; got {nodes}",
            key="nodes",
        )
    fewer = measured.on(nodes[:-1])
    found = calibrate_collective(fewer, model=model, noise=noise, draws=draws, seed=seed)
    kept = measured.on(nodes[-1:])
    predicted = found.predict(kept.tests, levels=levels)
    columns: dict[str, Any] = {
        "nodes": [test.nodes for test in kept.tests],
        "block_bytes": [test.block_bytes for test in kept.tests],
        "measured (µs)": 1e6 * kept.medians,
        "predicted (µs)": 1e6 * predicted.median,
    }
    for row, level in enumerate(levels):
        low, high = predicted.low[row], predicted.high[row]
        name = f"{100 * level:g} %"
        columns |= {f"low {name} (µs)": 1e6 * low, f"high {name} (µs)": 1e6 * high}
        columns[f"within {name}"] = (low <= kept.medians) & (kept.medians <= high)
    return pd.DataFrame(columns)


def _pilot(measured: MeasuredCollective, model: str | None, seed: int) -> Pilot:
    """Return the fit of the named model, or of the one that predicts best."""
    if model is None:
        return best_pilot(measured, seed)
    chosen = model_named(model, measured.collective)
    return pilot_fit(chosen, measured.tests, measured.medians, seed)


def best_pilot(measured: MeasuredCollective, seed: int = 0) -> Pilot:
    """Return the fit of the model that predicts the largest number of nodes best.

    Each is fitted to the other numbers of nodes first. With a single number there is nothing to
    predict: then the one that fits best.
    """
    nodes = nodes_of(measured.tests)
    errors = {}
    models = models_of(measured.collective, measured.label)
    for one in models:
        if len(nodes) == 1:
            errors[one.name] = pilot_fit(one, measured.tests, measured.medians, seed).error
            continue
        fewer, most = measured.on(nodes[:-1]), measured.on(nodes[-1:])
        values = pilot_fit(one, fewer.tests, fewer.medians, seed).values
        off = np.log(one.times(values[None], most.tests)[0] / most.medians)
        errors[one.name] = float(np.sqrt(np.mean(off**2)))
    best = min(models, key=lambda one: errors[one.name])
    return pilot_fit(best, measured.tests, measured.medians, seed)


def model_named(name: str, collective: str) -> CollectiveModel:
    """Return the model of a name such as ``rounds:binomial`` or ``growth``."""
    kind, colon, algorithm = name.partition(":")
    if name == GrowthModel.name:
        return GrowthModel()
    if kind == "rounds" and colon:
        return RoundModel(collective, find_algorithm(collective, algorithm).label)
    raise ParameterError(
        f"model must be growth or rounds:ALGORITHM, such as rounds:binomial; got {name!r}"
        f"{did_you_mean(name, ('growth', 'rounds:binomial', 'rounds:ring'))}",
        key="model",
    )


def _surrogate(
    model: CollectiveModel, tests: Sequence[CollectiveTest], box: ParameterBox, seed: int
) -> tuple[Surrogate, FloatArray]:
    """Return a surrogate and its greatest relative error of each test at further points."""
    points = design(box, _DESIGN + _CHECKS, seed=seed)
    times = model.times(points, tests)
    found = fit_surrogate(
        box,
        points[:_DESIGN],
        times[:_DESIGN],
        degrees=(3, 4),
        hyperbolic=(1.0,),
        transform="log",
    )
    checked = times[_DESIGN:]
    off = np.abs(found.predict(points[_DESIGN:]) / checked - 1.0)
    return found, np.asarray(off.max(axis=0))


def _narrowed(box: ParameterBox, posterior: Posterior) -> ParameterBox:
    """Return the box around what the posterior leaves, never beyond the one before."""
    units = box.to_unit(posterior.parameters.reshape(-1, len(box)))
    low, high = np.quantile(units, (0.001, 0.999), axis=0)
    margin = _MARGIN * (high - low)
    ends = np.clip(np.stack([low - margin, high + margin]), -1.0, 1.0)
    least, most = box.from_unit(ends)
    return ParameterBox(
        tuple(
            UncertainParameter(one.name, one.unit, float(a), float(b), one.prior)
            for one, a, b in zip(box, least, most, strict=True)
        )
    )
