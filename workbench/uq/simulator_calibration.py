"""A simulator calibrated to replicas, with a surrogate that is made exact where it has to be.

found = calibrate_simulator(simulator, box, replicas)
found.verdict, found.posterior, found.sample(100)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.result import Drawing, StoredResult
from workbench.tasks import JobError, Task, task_of
from workbench.uq.noise import NoiseModel
from workbench.uq.parameters import ParameterBox
from workbench.uq.posterior import LEAST_DRAWS, Posterior, calibrate
from workbench.uq.prediction import Simulator
from workbench.uq.replicas import Replicas
from workbench.uq.surrogate import EXACT
from workbench.uq.surrogate_choice import SurrogateChoice, choose_surrogate
from workbench.uq.weighing import effective_draws, simulator_weights

if TYPE_CHECKING:
    import pandas as pd

_ROUNDS = 3  # of surrogates, each where the last posterior was
_WORTH = 0.8  # of the last error, that another round would have to go below
_WEIGHED = 400  # draws that the simulator is run at
_FEWEST = 0.2  # effective draws, as a share, below which intervals are doubtful


@dataclass(frozen=True, eq=False, repr=False)
class SimulatorCalibration(StoredResult):
    """A posterior, the surrogates that led to it, and weights where the simulator itself decided.

    Attributes:
        posterior: of the chains on the last surrogate.
        choices: the surrogates, each within what the last posterior left.
        at: int64[draws], the draws of the posterior that were simulated, counted over all chains;
            none where the last surrogate is exact.
        times: float64[draws, tests], the simulator's times of them, s.
        weights: float64[draws], of sum 1: likelihood of the simulator over that of its surrogate.
    """

    posterior: Posterior
    choices: tuple[SurrogateChoice, ...]
    at: NDArray[np.int64]
    times: NDArray[np.float64] = field(metadata={"axes": 2})
    weights: NDArray[np.float64]

    plot = Drawing("plot_posterior", lambda one: one.posterior)

    @property
    def remedy(self) -> str:
        """What made the surrogate good enough, in words."""
        if len(self.at):
            return "the simulator itself"
        return "a local surrogate" if len(self.choices) > 1 else "one surrogate of the whole box"

    @property
    def effective(self) -> float:
        """The number of equally weighed draws that would be as good; nan without weights."""
        return effective_draws(self.weights) if len(self.at) else float("nan")

    @property
    def verdict(self) -> str:
        """What was done about the surrogate and why, and whether the chains have converged."""
        parts = [f"the surrogate of the whole box is {self.choices[0].short}"]
        if len(self.choices) > 1:
            parts.append(f"the one where the posterior is, {self.choices[-1].short}")
        if len(self.at):
            parts.append(
                f"so {len(self.at)} draws were weighed by the simulator's likelihood, and are "
                f"worth {self.effective:.0f}"
                + (": take intervals as rough" if self.effective < _FEWEST * len(self.at) else "")
            )
        return f"{self.remedy}: {'; '.join(parts)}; {self.posterior.verdict}"

    def sample(self, n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
        """Return draws of the posterior, by their weights where the simulator has weighed them.

        Args:
            n: how many.
            seed: makes the choice repeatable.

        Returns:
            Parameters float64[n, parameters] and hyper-parameters float64[n, hyper-parameters].

        Raises:
            ParameterError: there are no draws.
        """
        if not len(self.at):
            return self.posterior.sample(n, seed)
        rng = np.random.default_rng(seed)
        at = self.at[rng.choice(len(self.at), whole(n, "draws", 1), p=self.weights)]
        posterior = self.posterior
        return (
            posterior.parameters.reshape(-1, len(posterior.names))[at],
            posterior.hyper.reshape(-1, len(posterior.noise.hyper))[at],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a remedy: ``round``, ``remedy``, ``points``, ``largest error (%)``."""
        import pandas as pd

        frames = [choice.to_frame() for choice in self.choices]
        for number, frame in enumerate(frames):
            frame.insert(0, "round", number + 1)
        return pd.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        return (
            f"SimulatorCalibration({', '.join(self.posterior.names)}; "
            f"{len(self.posterior.replicas)} tests; {self.verdict})"
        )

    def _check(self) -> None:
        self._check_lengths({"times": len(self.at), "weights": len(self.at)})


def calibrate_simulator(
    simulator: Simulator,
    box: ParameterBox,
    replicas: Replicas,
    *,
    target: float = EXACT,
    most_points: int = 2048,
    noise: str | NoiseModel = "hierarchical",
    chains: int = 4,
    draws: int = 2000,
    burn_in: int = 2000,
    seed: int = 0,
    task: Task | None = None,
) -> SimulatorCalibration:
    """Calibrate a simulator, and do about its surrogate's error what is needed.

    The surrogate is that of ``choose_surrogate``: more degrees, the logarithm, more points. Where
    it is not within the target then, as at a kink, it is made again within what the posterior
    leaves, while that helps, up to three rounds. Where even the last one is not exact, a kink is
    within the posterior: then draws are simulated and weighed by the simulator's likelihood over
    the surrogate's.

    Args:
        simulator: gives times float64[n, tests] in s for values float64[n, parameters].
        box: the parameters with their priors.
        replicas: what was measured, a test for each column of the simulator's times.
        target: relative error of the surrogate; 0.01 is 1 %.
        most_points: of one surrogate.
        noise: one of ``NOISE_MODELS``, or one whose priors or fixed values were changed.
        chains: number of chains.
        draws: kept of each chain.
        burn_in: draws of each chain before these.
        seed: makes the result repeatable.
        task: gets the draws of each chain, anew in each round, and has their posterior as its
            result so far; once it is stopped, the calibration ends with the draws so far.

    Raises:
        ParameterError: an argument is not accepted, the simulator gives other than finite times
            for the tests of ``replicas``, or it refuses all draws of the posterior.
        JobError: it was stopped before the first draws.
    """
    seed, choices, task = whole(seed, "seed", 0), [], task_of(task)
    while True:
        choice = choose_surrogate(
            box, simulator, replicas.tests, target=target, most_points=most_points, seed=seed
        )
        choices.append(choice)
        posterior = calibrate(
            choice.surrogate,
            replicas,
            noise=noise,
            chains=chains,
            draws=draws,
            burn_in=burn_in,
            seed=seed,
            task=task,
        )
        stopped = task.stopping
        if stopped and posterior.draws < LEAST_DRAWS:
            raise JobError("the chains were stopped before the first draws; run them again")
        largest = [float(each.errors.min()) for each in choices[-2:]]
        if choice.reached or stopped or len(choices) == _ROUNDS:
            break
        if len(choices) > 1 and largest[1] > _WORTH * largest[0]:
            break
        box = posterior.around()
    at = np.empty(0, np.int64)
    times = np.empty((0, len(replicas)))
    weights = np.empty(0)
    if not (choice.reached or stopped):
        at = posterior.pick(_WEIGHED, seed)
        values = posterior.parameters.reshape(-1, len(box))[at]
        times = np.asarray(simulator(values), np.float64)
        weights = simulator_weights(posterior, at, times)
    return SimulatorCalibration(posterior, tuple(choices), at, times, weights)
