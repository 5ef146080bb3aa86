"""The calibration of a model of collectives to measured replicas, and what it predicts.

measured = read_measured("fugaku.csv", "gather", "default-binomial")
found = calibrate_collective(measured.on([8, 64]), seed=1)
found.predict([CollectiveTest(512, 16384, shape=(8, 8, 8))]).to_frame()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.uq.collectives.measured import COORDINATES, MeasuredCollective, columns_of, nodes_of
from workbench.uq.collectives.models import (
    CollectiveModel,
    CollectiveTest,
    known_algorithms,
    model_named,
    models_of,
)
from workbench.uq.collectives.pilot import Pilot, pilot_fit
from workbench.uq.designs import design
from workbench.uq.parameters import ParameterBox
from workbench.uq.posterior import PartTask, Posterior, calibrate
from workbench.uq.prediction import Prediction, Simulator, predict
from workbench.uq.problem import CalibrationProblem
from workbench.uq.replicas import Replicas
from workbench.uq.surrogate import EXACT, Surrogate, fit_surrogate

if TYPE_CHECKING:
    import pandas as pd


NOISE = "gaussian-process"
"""The noise model that held up best on the measured collectives."""


@dataclass(frozen=True)
class BeyondErrors:
    """Relative errors of a model on other numbers of nodes than the calibrated ones.

    Of another job, which all its sizes share, and by one doubling of the nodes beyond the
    calibrated ones; the latter grows as a random walk, with the square root of the doublings.
    """

    another_job: float
    per_doubling: float


KNOWN, UNKNOWN = BeyondErrors(0.05, 0.05), BeyondErrors(0.08, 0.15)
"""Of models of rounds, and of models without an algorithm.

Found on the collectives of Fugaku and Leonardo, the largest number of nodes predicted from the
others: the former are off by 5 to 20 % over three doublings, the latter by 40 to 80 %.
"""

DRAWS, BURN_IN, _STEPS = 4000, 2000, 24
"""Of each chain, and its steps for each draw, which make draws more independent than more of them
would in the same memory; most shipped collectives then converge, within some seconds."""

# Points to fit to and to check at: 512, 1024 and 2048 leave errors of 10, 6 to 8 and 4 to 5 % (two
# shipped collectives, before the box is narrowed); 50 and 200 checks find the same.
_DESIGN, _CHECKS = 1024, 100
_HANDICAP = 1.5  # of models without an algorithm where the algorithm is known
# Chosen: they leave out no nodes of the shipped defaults, nor does half of either; half of both
# does on aws-hpc7g and gke-h3-standard-88.
_ODD_ERROR, _ODD_FACTOR = 0.25, 2.5


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
        left_out: numbers of nodes that no model describes together with the others.
    """

    system: str
    collective: str
    label: str
    model: str
    tests: tuple[CollectiveTest, ...]
    posterior: Posterior
    surrogate_error: NDArray[np.float64]
    left_out: tuple[int, ...] = ()

    plot = Drawing("plot_posterior", lambda one: one.posterior)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the predictions, each a sentence."""
        found = []
        if self.left_out:
            found.append(
                f"{', '.join(map(str, self.left_out))} nodes were left out: no model describes "
                "them together with the others; the library may have taken another algorithm"
            )
        if not self.posterior.converged:
            found.append(self.posterior.verdict)
        worst = int(np.argmax(self.surrogate_error))
        if self.surrogate_error[worst] > EXACT:
            found.append(
                f"the surrogate is up to {100 * self.surrogate_error[worst]:.1f} % off, at "
                f"{self.tests[worst].label}; predictions use the model itself"
            )
        return tuple(found)

    @property
    def calibrations(self) -> tuple[CollectiveCalibration, ...]:
        """The calibration itself, as the only one."""
        return (self,)

    @property
    def is_empty(self) -> bool:
        """Whether a stop came before the first draw."""
        return not self.posterior.draws

    @property
    def stopped(self) -> str:
        """What a stop left, in words; empty if it is all that was requested."""
        draws, requested = self.posterior.draws, self.posterior.requested
        return f"{draws} of {requested} draws of each chain" if draws < requested else ""

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
        check_ranks(tests, self.tests)
        return predict(
            self.posterior,
            self.simulator(tests),
            [test.label for test in tests],
            columns_of(tests),
            draws=draws,
            levels=levels,
            seed=seed,
            beyond=self.beyond(tests),
        )

    def beyond(self, tests: Sequence[CollectiveTest]) -> FloatArray | None:
        """Return the further relative error of each test with another number of nodes.

        ``BeyondErrors`` says where it comes from. None for a noise model without relative errors.

        Args:
            tests: what is predicted.
        """
        if not self.posterior.noise.of_logarithm:
            return None
        errors = KNOWN if self.model.startswith("rounds:") else UNKNOWN
        nodes = nodes_of(self.tests)
        asked = np.array([test.nodes for test in tests], np.float64)
        doublings = np.maximum(np.log2(asked / nodes[-1]), np.log2(nodes[0] / asked))
        squares = errors.another_job**2 + errors.per_doubling**2 * np.maximum(doublings, 0.0)
        return np.where(np.isin(asked, nodes), 0.0, np.sqrt(squares))

    def simulator(self, tests: Sequence[CollectiveTest]) -> Simulator:
        """Return the model's times of tests in s as a function of float64[n, parameters].

        Args:
            tests: what the times are of.
        """
        model = model_named(self.model, self.collective)
        return lambda values: model.times(values, tests)

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
    draws: int = DRAWS,
    burn_in: int = BURN_IN,
    seed: int = 0,
    resume: CollectiveCalibration | None = None,
    task: Task | None = None,
) -> CollectiveCalibration:
    """Return the posterior of a model's parameters, given measured replicas.

    A surrogate stands for the model while chains run. Where it is off by more than 1 % it is made
    again within what the posterior leaves, and the chains run again.

    Args:
        measured: the replicas, of two numbers of nodes or more to extrapolate from.
        model: ``rounds:ALGORITHM``, ``growth`` or ``power``; None takes the one that fits best and,
            fitted to fewer nodes, predicts the largest number best.
        noise: noise of the runs: ``constant``, ``relative``, ``hierarchical``, ``gaussian-process``
            or ``student-t``.
        chains: number of chains.
        draws: draws kept of each chain.
        burn_in: before these.
        seed: seed of designs and chains.
        resume: what a stop left of the same call; it goes on to ``draws``, and the result is that
            of one run.
        task: gets the draws of each chain; its result so far is the calibration for ``resume``.
            Once it is stopped, the draws so far are returned.

    Raises:
        ParameterError: an argument is not accepted, or ``resume`` comes from other arguments.
    """
    task = task_of(task)
    measured, left_out = (measured, ()) if model else without_odd_nodes(measured, seed)
    if resume is not None:
        check_resumed(_made_by(resume), resume.posterior.replicas, measured, noise, seed)
    pilot = _pilot(measured, model, seed)
    if resume is not None and resume.model != pilot.model.name:
        raise not_resumed("model", resume.model, pilot.model.name)
    tests, replicas = measured.tests, measured.to_replicas()
    box, last = pilot.box(), False
    before = None if resume is None else resume.posterior
    if before is not None and before.box != box:  # it was made again
        box, last = before.box, True
    while True:
        surrogate, error = _surrogate(pilot.model, tests, box, seed)
        found = partial(
            CollectiveCalibration,
            measured.system,
            measured.collective,
            measured.label,
            pilot.model.name,
            tests,
            surrogate_error=error,
            left_out=left_out,
        )
        posterior = calibrate(
            surrogate,
            replicas,
            noise=noise,
            chains=chains,
            draws=draws,
            burn_in=burn_in,
            thin=_STEPS,
            seed=seed,
            coordinates=COORDINATES if noise == "gaussian-process" else None,
            resume=before,
            task=PartTask(task, found),
        )
        if last or error.max() <= EXACT or task.stopping:
            return found(posterior)
        box, last, before = posterior.around(), True, None


def collective_problem(
    measured: MeasuredCollective, *, model: str | None = None, seed: int = 0
) -> CalibrationProblem:
    """Return the measured tests with the fitted model's times and its surrogate.

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


def check_ranks(tests: Sequence[CollectiveTest], calibrated: Sequence[CollectiveTest]) -> None:
    """Raise ParameterError where there is no test, or one has other ranks a node than these."""
    if not tests:
        raise ParameterError("tests must not be empty; name nodes and bytes", key="tests")
    per_node = calibrated[0].ranks_per_node
    if wrong := next((test for test in tests if test.ranks_per_node != per_node), None):
        raise ParameterError(
            f"tests must have {per_node} ranks a node, as the calibration's; got "
            f"{wrong.ranks_per_node}",
            key="tests",
        )


def check_resumed(
    stored: Mapping[str, object],  # by the names below
    replicas: Replicas,
    measured: MeasuredCollective,
    noise: str,
    seed: int,
) -> None:
    """Raise ParameterError where a stored calibration comes from other data, noise or seed."""
    now = {
        "system": measured.system,
        "collective": measured.collective,
        "algorithm": measured.label,
        "noise": noise,
        "seed": seed,
    }
    for what, value in now.items():
        if stored[what] != value:
            raise not_resumed(what, stored[what], value)
    tests = tuple(test.label for test in measured.tests)
    if replicas.tests != tests:
        raise not_resumed("nodes and bytes", f"{len(replicas)} tests", f"{len(tests)} others")
    values = np.concatenate(measured.replicas)
    if not np.array_equal(replicas.values, values):
        raise not_resumed("times", f"{len(replicas.values)} replicas", f"{len(values)} others")


def _made_by(found: CollectiveCalibration) -> dict[str, object]:
    return {
        "system": found.system,
        "collective": found.collective,
        "algorithm": found.label,
        "noise": found.posterior.noise.name,
        "seed": found.posterior.seed,
    }


def not_resumed(what: str, was: object, now: object) -> ParameterError:
    """Return the error of a stored calibration that comes from another call."""
    return ParameterError(
        f"the stored calibration must come from the same {what}: it has {was or 'none'}, the call "
        f"has {now or 'none'}; repeat the arguments of the first call, or calibrate anew without "
        "resuming",
        key="resume",
    )


def _pilot(measured: MeasuredCollective, model: str | None, seed: int) -> Pilot:
    """Return the fit of the named model, or of the one that predicts best."""
    if model is None:
        return best_pilot(measured, seed)
    chosen = model_named(model, measured.collective)
    return pilot_fit(chosen, measured.tests, measured.medians, seed)


def best_pilot(measured: MeasuredCollective, seed: int = 0) -> Pilot:
    """Return the fit of the model that fits all tests and predicts the largest number of nodes.

    A model's error is that of its fit to all tests and, from three numbers of nodes on, that of its
    prediction of the largest one by a fit to the others, added up as squares. With a single number
    models without an algorithm cannot tell what grows: then a model of the known algorithm. Models
    without one must be better by a factor of 1.5 where the algorithm is known.
    """
    nodes = nodes_of(measured.tests)
    known = known_algorithms(measured.collective, measured.label)
    models = candidate_models(measured)
    if len(nodes) == 1 and known:
        models = models[: len(known)]
    pilots, errors = [], []
    for at, one in enumerate(models):
        pilots.append(pilot_fit(one, measured.tests, measured.medians, seed))
        squares = pilots[-1].error ** 2
        if len(nodes) > 2:
            fewer, most = measured.on(nodes[:-1]), measured.on(nodes[-1:])
            values = pilot_fit(one, fewer.tests, fewer.medians, seed).values
            squares += np.mean(np.log(one.times(values[None], most.tests)[0] / most.medians) ** 2)
        handicap = _HANDICAP if known and at >= len(known) else 1.0
        errors.append(handicap * float(np.sqrt(squares)))
    return pilots[int(np.argmin(errors))]


def without_odd_nodes(
    measured: MeasuredCollective, seed: int = 0
) -> tuple[MeasuredCollective, tuple[int, ...]]:
    """Return the tests without the smallest number of nodes if that is odd, and what is left out.

    It is odd if the model that fits best is off by more than 25 %, and a fit to the others alone is
    more than 2.5 times as close. Two other numbers of nodes must be left.
    """
    nodes = nodes_of(measured.tests)
    if len(nodes) < 3:
        return measured, ()
    others = measured.on(nodes[1:])
    whole, fewer = (best_fit_error(each, seed) for each in (measured, others))
    if whole > _ODD_ERROR and fewer < whole / _ODD_FACTOR:
        return others, (nodes[0],)
    return measured, ()


def best_fit_error(measured: MeasuredCollective, seed: int = 0) -> float:
    """Return the root mean square error of the model that fits best, of log time."""
    models = candidate_models(measured)
    return min(pilot_fit(one, measured.tests, measured.medians, seed).error for one in models)


def candidate_models(measured: MeasuredCollective) -> tuple[CollectiveModel, ...]:
    """Return the models that may describe what was measured."""
    on_torus = all(test.shape for test in measured.tests)
    return models_of(measured.collective, measured.label, on_torus)


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
