"""A collective whose algorithm is unknown: several models with probabilities, and their mixture.

measured = read_measured("lassen.csv", "allreduce")  # whose labels are empty: the library's choice
found = calibrate_unknown(measured, seed=1)
found.to_frame()
found.predict([CollectiveTest(128, 16384)]).to_frame()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.uq.collectives.calibration import (
    BURN_IN,
    DRAWS,
    NOISE,
    CollectiveCalibration,
    calibrate_collective,
    check_ranks,
    check_resumed,
    not_resumed,
)
from workbench.uq.collectives.measured import MeasuredCollective, columns_of, nodes_of, split_tests
from workbench.uq.collectives.models import CollectiveTest, candidates_of
from workbench.uq.posterior import PartTask
from workbench.uq.prediction import Prediction, joint_log_score, predict_mixture
from workbench.uq.replicas import Replicas

if TYPE_CHECKING:
    import pandas as pd


LEAST_PROBABILITY = 1e-3
"""Less probable models are left out of predictions."""

_SCORED = 1500  # draws of each chain, and as many before, to score a model
_SCORE_DRAWS = 1000  # seeds then move scores of Lassen's allreduce by 0.015, models by 0.03 or 0.4


@dataclass(frozen=True, eq=False, repr=False)
class AlgorithmMixture(StoredResult):
    """Models of one collective with the probability of each, and calibrations of the likely ones.

    A probability is that of the model given the data, where all were equally likely before. It
    follows from held-out log scores: calibrated to fewer nodes, what density does the model predict
    for the medians of the next larger number, all together (``workbench.uq.joint_log_score``)? Such
    scores add up over the numbers of nodes (Dawid 1984, prequential). The density has the errors
    that predictions have: those that other numbers of nodes share are in it too. The scatter of
    replicas is not scored, because all models describe it alike. The marginal likelihood of all
    times is not used: it depends on how wide the parameters' ranges are, which a first fit to the
    same data chooses, and it does not ask the question that a prediction asks.

    The tests of one number of nodes count as one: no model is the whole truth, and each errs in all
    sizes alike. Counted one by one, ten tests would make a model that is little better than another
    look likely: of Lassen's allreduce on 64 nodes the 90 % intervals then hold 4 of 10 medians, as
    one test 7 (``cover_systems(["lassen"])``).

    One model is meant for all sizes and numbers of nodes. A library that changes its algorithm
    with the size is none of them; then the best description wins, often ``growth``.

    Attributes:
        system: what was measured, as the data name it.
        collective: such as ``allreduce``.
        label: of the algorithm in the data; empty is the library's default.
        noise: name of the noise model.
        seed: what made it repeatable.
        held_out: the tests that were predicted for the scores, in words; each number of nodes by
            the smaller ones.
        models: names of the models, the most probable first.
        log_scores: float64[models], of the held-out medians of a number of nodes, divided by the
            number of their tests, and added up; nan where a stop came before.
        tests: that the calibrations are to.
        replicas: of all tests.
        calibrations: of the first models, those that are likely; none after an early stop.
    """

    system: str
    collective: str
    label: str
    noise: str
    seed: int
    held_out: str
    models: tuple[str, ...]
    log_scores: NDArray[np.float64]
    tests: tuple[CollectiveTest, ...]
    replicas: Replicas
    calibrations: tuple[CollectiveCalibration, ...]

    plot = Drawing("plot_algorithms")

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each model, float64[models]; nan if not all were scored."""
        return _probabilities(self.log_scores)

    @property
    def draws(self) -> int:
        """Draws of each chain of the likely model that has fewest, 0 before all are calibrated."""
        if len(self.calibrations) < self._likely:
            return 0
        return min((each.posterior.draws for each in self.calibrations), default=0)

    @property
    def _likely(self) -> int:
        """Number of models that predictions mix; 0 before all are scored."""
        return int((self.probabilities >= LEAST_PROBABILITY).sum())

    @property
    def is_empty(self) -> bool:
        """Whether a stop came before the first model was scored."""
        return not np.isfinite(self.log_scores).any()

    @property
    def stopped(self) -> str:
        """What a stop left, in words; empty if it is all that was requested."""
        scored = int(np.isfinite(self.log_scores).sum())
        if scored < len(self.models):
            return f"{scored} of {len(self.models)} models were scored"
        words = [f"{one.model} has {one.stopped}" for one in self.calibrations if one.stopped]
        made, wanted = len(self.calibrations), self._likely
        if made < wanted:
            words.append(f"{made} of {wanted} likely models were calibrated")
        return "; ".join(words)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the predictions, each a sentence."""
        return tuple(
            f"{each.model}: {text}" for each in self.calibrations for text in each.warnings
        )

    def predict(
        self,
        tests: Sequence[CollectiveTest],
        *,
        draws: int = 400,
        levels: Sequence[float] = (0.5, 0.9),
        seed: int = 0,
        replicas: int = 1,
    ) -> Prediction:
        """Predict one more replica of each test by all likely models, each as often as it is so.

        The part of the parameters includes the choice of the model.

        Args:
            tests: may have other nodes, bytes and shapes than those of the calibration.
            draws: of all posteriors together.
            levels: of the intervals.
            seed: makes the prediction repeatable.
            replicas: whose median the intervals are of; 1 is a single run.

        Raises:
            ParameterError: a test cannot be had, or the calibration was stopped before its end.
        """
        check_ranks(tests, self.tests)
        if not self.draws:
            raise ParameterError(
                "each likely model must be calibrated; the calibration was stopped before: resume "
                "it first",
                key="resume",
            )

        members, beyond = [], []
        for probability, one in zip(self.probabilities, self.calibrations, strict=False):
            simulators = one.simulators(tests)
            members += [
                (float(probability) / len(simulators), one.posterior, s) for s in simulators
            ]
            beyond += [one.beyond(tests)] * len(simulators)
        labels = [test.label for test in tests]
        return predict_mixture(
            members,
            labels,
            columns_of(tests),
            draws=draws,
            levels=levels,
            seed=seed,
            beyond=None if beyond[0] is None else np.array(beyond),
            replicas=replicas,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a model: ``model``, ``probability``, ``log score`` less the best.

        ``surrogate error (%)`` is the largest root mean square of a test at draws of the posterior;
        nan for models that are not likely.
        """
        import pandas as pd

        errors = {one.model: 100 * float(one.posterior_error.max()) for one in self.calibrations}
        return pd.DataFrame(
            {
                "model": self.models,
                "probability": self.probabilities,
                "log score": self.log_scores - self.log_scores.max(),
                "surrogate error (%)": [errors.get(model, np.nan) for model in self.models],
            }
        )

    def __repr__(self) -> str:
        likely = ", ".join(
            f"{model} {probability:.1%}"
            for model, probability in zip(self.models, self.probabilities, strict=True)
            if not probability < LEAST_PROBABILITY
        )
        nodes = ", ".join(map(str, nodes_of(self.tests)))
        return (
            f"AlgorithmMixture({self.collective} {self.label or 'by default'} on {self.system}, "
            f"{nodes} nodes, {len(self.tests)} tests, scored on {self.held_out}: {likely})"
        )


def calibrate_unknown(
    measured: MeasuredCollective,
    *,
    noise: str = NOISE,
    chains: int = 4,
    draws: int = DRAWS,
    burn_in: int = BURN_IN,
    seed: int = 0,
    resume: AlgorithmMixture | None = None,
    task: Task | None = None,
) -> AlgorithmMixture:
    """Return the probabilities of all models of a collective, and calibrations of the likely ones.

    Each model is calibrated to the smallest number of nodes and scored on the next, to both and
    scored on the third, and so on; if there is one number only, to every other size. Models of at
    least 0.1 % are then calibrated to all tests.

    Args:
        measured: the replicas, of two numbers of nodes or more to extrapolate from.
        noise: one of ``NOISE_MODELS``.
        chains: number of chains.
        draws: kept of each chain of the final calibrations.
        burn_in: before these.
        seed: makes the result repeatable.
        resume: what a stop left of the same call; the result is that of one run.
        task: gets the draws of each chain, and what they are for; its result so far is the mixture
            for ``resume``. Once it is stopped, what there is so far is returned; a model whose
            scoring was stopped is scored anew when resumed.

    Raises:
        ParameterError: an argument is not accepted, or ``resume`` comes from other arguments.
    """
    task, replicas = task_of(task), measured.to_replicas()
    names = tuple(one.name for one in candidates_of(measured.collective, measured.label))
    known = _resumed(resume, measured, names, noise, seed)
    splits, words = _splits(measured)
    scores = np.array([known.get(name, np.nan) for name in names])
    made = {} if resume is None else {one.model: one for one in resume.calibrations}

    def so_far(running: CollectiveCalibration | None = None) -> AlgorithmMixture:
        now = scores.copy()
        order = np.argsort(-now, kind="stable")
        models = tuple(names[at] for at in order)
        found = made if running is None else made | {running.model: running}
        return AlgorithmMixture(
            measured.system,
            measured.collective,
            measured.label,
            noise,
            seed,
            words,
            models,
            now[order],
            measured.tests,
            replicas,
            tuple(found[name] for name in models if name in found),
        )

    task.partial_from(so_far)
    for at, name in enumerate(names):
        if not np.isnan(scores[at]):
            continue
        score = 0.0
        for fewer, kept in splits:
            if task.stopping:
                break
            found = calibrate_collective(
                fewer,
                model=name,
                noise=noise,
                chains=chains,
                draws=_SCORED,
                burn_in=_SCORED,
                seed=seed,
                task=PartTask(task, lambda _: so_far(), f"score {name}: "),
            )
            if not task.stopping:
                score += _score(found, kept, noise, seed)
        if not task.stopping:
            scores[at] = score
    scored = so_far()
    for name, probability in zip(scored.models, scored.probabilities, strict=True):
        if probability >= LEAST_PROBABILITY:
            made[name] = calibrate_collective(
                measured,
                model=name,
                noise=noise,
                chains=chains,
                draws=draws,
                burn_in=burn_in,
                seed=seed,
                resume=made.get(name),
                task=PartTask(task, so_far, f"calibrate {name}: "),
            )
    return so_far()


def _splits(
    measured: MeasuredCollective,
) -> tuple[list[tuple[MeasuredCollective, MeasuredCollective]], str]:
    """Return the tests to calibrate to and those to predict, for each score; and which, in words.

    Each number of nodes is predicted from all smaller ones.
    """
    nodes = nodes_of(measured.tests)
    if len(nodes) < 2:
        fewer, kept, words = split_tests(measured)
        return [(fewer, kept)], words
    splits = [(measured.on(nodes[:at]), measured.on([nodes[at]])) for at in range(1, len(nodes))]
    return splits, f"{', '.join(map(str, nodes[1:]))} nodes"


def _score(found: CollectiveCalibration, kept: MeasuredCollective, noise: str, seed: int) -> float:
    """Return the log density of held-out medians together, over the number of their tests."""
    medians = replace(kept, replicas=tuple(kept.medians[:, None])).to_replicas()
    # The tails of student-t stand for it.
    beyond = None if noise == "student-t" else found.beyond(kept.tests)
    densities = [
        joint_log_score(found.posterior, one, medians, draws=_SCORE_DRAWS, seed=seed, beyond=beyond)
        for one in found.simulators(kept.tests)
    ]
    together = np.logaddexp.reduce(densities) - np.log(len(densities))
    return float(together / len(kept.tests))


def _probabilities(log_scores: FloatArray) -> FloatArray:
    """Return the probability of each model; nan if not all were scored."""
    if np.isnan(log_scores).any():
        return np.full(len(log_scores), np.nan)
    weights = np.exp(log_scores - log_scores.max())
    return np.asarray(weights / weights.sum())


def _resumed(
    resume: AlgorithmMixture | None,
    measured: MeasuredCollective,
    names: tuple[str, ...],
    noise: str,
    seed: int,
) -> dict[str, float]:
    """Return the scores by model that a stopped calibration has; refuse one of another call."""
    if resume is None:
        return {}
    stored = {
        "system": resume.system,
        "collective": resume.collective,
        "algorithm": resume.label,
        "noise": resume.noise,
        "seed": resume.seed,
    }
    check_resumed(stored, resume.replicas, measured, noise, seed)
    if set(resume.models) != set(names):
        raise not_resumed("models", ", ".join(resume.models), ", ".join(names))
    return dict(zip(resume.models, resume.log_scores.tolist(), strict=True))
