"""Calibration: the distribution of a simulator's parameters, given measured times.

    posterior = calibrate(surrogate, replicas, noise="hierarchical")
    posterior.verdict, posterior.summary()

Bayes' formula with a likelihood of ``workbench.uq.noise``, sampled by adaptive Metropolis.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.uq import metropolis
from workbench import tasks
from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError, WorkbenchError
from workbench.html_table import html_table
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.uq.diagnostics import bulk_ess, split_rhat, tail_ess
from workbench.uq.noise import (
    NoiseModel,
    as_noise_model,
    coordinate_names,
    noise_model,
    places,
    squared_distances,
)
from workbench.uq.parameters import ParameterBox
from workbench.uq.replicas import Replicas
from workbench.uq.sampling import (
    ChainState,
    Streams,
    advance,
    candidates_of,
    log_prior_tables,
    make_scratch,
    make_target,
    values_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from workbench.uq.surrogate import Surrogate


BLOCK = 500
"""Draws of a chain between two reports."""
MOST_RHAT, LEAST_ESS_PER_CHAIN = 1.01, 100.0
"""Of Vehtari et al. 2021, for R-hat of ranks and for the effective sample size."""
LEAST_DRAWS = 8
"""Of each chain, to be judged at all."""

_EDGE = 0.02  # of a parameter's range
_MARGIN = 0.3  # of a new box around a posterior, of its width


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(StoredResult):
    """Draws from the posterior distribution of a simulator's parameters.

    Attributes:
        box: the parameters with their bounds and priors.
        noise: the noise model, with the priors of its hyper-parameters.
        coordinates: columns that place the tests for ``gaussian-process``, else none.
        replicas: what was measured.
        parameters: float64[chains, draws, parameters], in their units.
        hyper: float64[chains, draws, hyper-parameters]: sigma in s, the others are ratios.
        log_posterior: float64[chains, draws], up to a constant.
        times: float64[chains, draws, tests], predicted by the surrogate at each draw, seconds.
        state: where the chains are, for ``calibrate(..., resume=...)``.
        seed: what made the draws repeatable.
        burn_in: draws of each chain before these, which were not kept.
        thin: steps of a chain for each draw.
        requested: draws that were requested of each chain; there are fewer after a stop.
        seconds: time that the sampling took.
    """

    box: ParameterBox
    noise: NoiseModel
    coordinates: tuple[str, ...]
    replicas: Replicas
    parameters: NDArray[np.float64] = field(metadata={"axes": 3})
    hyper: NDArray[np.float64] = field(metadata={"axes": 3})
    log_posterior: NDArray[np.float64] = field(metadata={"axes": 2})
    times: NDArray[np.float64] = field(metadata={"axes": 3})
    state: ChainState
    seed: int
    burn_in: int
    thin: int
    requested: int
    seconds: float

    plot = Drawing("plot_posterior")

    def _check(self) -> None:
        chains, draws = self.log_posterior.shape
        for name, last in (
            ("parameters", len(self.names)),
            ("hyper", len(self.noise.hyper)),
            ("times", len(self.replicas)),
        ):
            if getattr(self, name).shape != (chains, draws, last):
                raise ParameterError(f"{name} must be float64[{chains}, {draws}, {last}]", key=name)
        if self.noise.names != (names := noise_model(self.noise.name, self.replicas).names):
            raise ParameterError(
                f"{self.noise.name} noise must have {', '.join(names)}; it has "
                f"{', '.join(self.noise.names)}, of an earlier version: calibrate again",
                key="noise",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.box.names)

    @property
    def chains(self) -> int:
        """Number of chains."""
        return len(self.log_posterior)

    @property
    def draws(self) -> int:
        """Draws of each chain."""
        return int(self.log_posterior.shape[1])

    @property
    def steps(self) -> int:
        """Steps of each chain so far, burn-in included."""
        return int(self.state.whole[0, metropolis.STEPS])

    @property
    def acceptance(self) -> float:
        """Share of the proposals after the burn-in that were accepted; nan without draws."""
        if not self.draws:
            return float("nan")
        steps = self.chains * self.draws * self.thin
        return float(self.state.whole[:, metropolis.ACCEPTED].sum() / steps)

    @property
    def evaluations_per_s(self) -> float:
        """Evaluations of the posterior density per second, all chains together."""
        return self.chains * self.steps / self.seconds if self.seconds > 0 else float("nan")

    @cached_property
    def _diagnosed(self) -> list[tuple[str, str, FloatArray, float, float, float]]:
        """Name, unit, draws[chains, draws], R-hat, bulk and tail ESS of what was inferred."""
        columns = [
            (name, unit, self.parameters[:, :, i])
            for i, (name, unit) in enumerate(zip(self.names, self.box.units, strict=True))
        ] + [
            (h.name, h.unit, self.hyper[:, :, i])
            for i, h in enumerate(self.noise.hyper)
            if h.fixed is None
        ]
        return [(*c, split_rhat(c[2]), bulk_ess(c[2]), tail_ess(c[2])) for c in columns]

    def summary(self) -> pd.DataFrame:
        """Return one row for each parameter and inferred hyper-parameter.

        Returns:
            Mean, standard deviation and quantiles in the row's unit, split R-hat, and effective
            sample sizes of the bulk and of the tails. Without rows if there are fewer than 8 draws.
        """
        import pandas as pd

        rows = []
        for name, unit, drawn, rhat, bulk, tail in (
            self._diagnosed if self.draws >= LEAST_DRAWS else ()
        ):
            low, middle, high = np.quantile(drawn, [0.05, 0.5, 0.95])
            row = (name, unit, drawn.mean(), drawn.std(ddof=1), low, middle, high, rhat, bulk, tail)
            rows.append(row)
        head = ["quantity", "unit", "mean", "sd", "5 %", "50 %", "95 %"]
        return pd.DataFrame(rows, columns=[*head, "R-hat", "bulk ESS", "tail ESS"])

    @property
    def converged(self) -> bool:
        """Whether R-hat and effective sample sizes of all quantities are good enough."""
        return not self.shortcoming

    @property
    def shortcoming(self) -> str:
        """What is worst about the chains, empty if nothing is."""
        if self.draws < LEAST_DRAWS:
            return f"there are {self.draws} draws of each chain"
        worst = max(self._diagnosed, key=lambda row: np.nan_to_num(row[3], nan=np.inf))
        if not worst[3] <= MOST_RHAT:
            return f"R-hat of {worst[0]} is {worst[3]:.3f}, above {MOST_RHAT:g}"
        name, least = min(
            ((row[0], float(np.nan_to_num(row[4:], nan=0.0).min())) for row in self._diagnosed),
            key=lambda each: each[1],
        )
        needed = LEAST_ESS_PER_CHAIN * self.chains
        if least < needed:
            return f"{name} has an effective sample size of {least:.0f}, below {needed:.0f}"
        return ""

    @property
    def further(self) -> int:
        """Draws of each chain to go on to: those that were requested, or twice as many."""
        if self.draws < self.requested:
            return self.requested
        return max(2 * self.requested, 1000)

    @property
    def advice(self) -> str:
        """What to do about chains that have not converged."""
        return f"run longer, with resume= and draws={self.further}"

    @property
    def verdict(self) -> str:
        """One sentence on whether the draws may be trusted, and what to do if not."""
        if self.shortcoming:
            return f"not converged: {self.shortcoming}; {self.advice}"
        rhat = max(row[3] for row in self._diagnosed)
        least = min(min(row[4:]) for row in self._diagnosed)
        return (
            f"converged: R-hat is at most {rhat:.3f} and effective sample sizes are at least "
            f"{least:.0f}"
        )

    @property
    def at_bounds(self) -> tuple[str, ...]:
        """Parameters that crowd at an end of their range: ``Max BW at its upper bound``.

        A tenth of the draws or more is then in the last 2 % of the range, on the scale of its
        prior: of the logarithm where that is log-uniform.
        """
        coordinates = self.box.to_unit(self.parameters.reshape(-1, len(self.box)))
        found = []
        for name, column in zip(self.names, coordinates.T, strict=True):
            for where, towards in (("lower", -column), ("upper", column)):
                if len(column) and (towards > 1 - 2 * _EDGE).mean() >= 5 * _EDGE:
                    found.append(f"{name} at its {where} bound")
        return tuple(found)

    def pick(self, n: int, seed: int | np.random.Generator = 0) -> NDArray[np.int64]:
        """Return numbers of draws, counted over all chains, each at most once if there are enough.

        Args:
            n: how many.
            seed: makes the choice repeatable.

        Raises:
            ParameterError: there are no draws.
        """
        whole(n, "draws", 1)
        total = self.chains * self.draws
        if not total:
            raise ParameterError(
                "the posterior must have draws; it was stopped in its burn-in: resume it with "
                "calibrate(..., resume=posterior)",
                key="posterior",
            )
        rng = np.random.default_rng(seed)
        return np.asarray(rng.choice(total, n, replace=n > total), np.int64)

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> tuple[FloatArray, FloatArray]:
        """Return some of the draws.

        Args:
            n: how many, each at most once if there are enough.
            seed: makes the choice repeatable.

        Returns:
            Parameters float64[n, parameters] and hyper-parameters float64[n, hyper-parameters].

        Raises:
            ParameterError: there are no draws.
        """
        at = self.pick(n, seed)
        d, h = len(self.names), len(self.noise.hyper)
        return self.parameters.reshape(-1, d)[at], self.hyper.reshape(-1, h)[at]

    def around(self) -> ParameterBox:
        """Return the box around the draws, with a margin but never beyond its own; priors stay."""
        units = self.box.to_unit(self.parameters.reshape(-1, len(self.box)))
        low, high = np.quantile(units, (0.001, 0.999), axis=0)
        margin = _MARGIN * (high - low)
        ends = self.box.from_unit(np.clip(np.stack([low - margin, high + margin]), -1.0, 1.0))
        return ParameterBox(one.within(*both) for one, both in zip(self.box, ends.T, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a draw: chain, draw, parameters, hyper-parameters and log posterior."""
        import pandas as pd

        chain, draw = np.indices((self.chains, self.draws))
        frame = pd.DataFrame({"chain": chain.ravel(), "draw": draw.ravel()})
        for i, name in enumerate(self.names):
            frame[name] = self.parameters[:, :, i].ravel()
        for i, name in enumerate(self.noise.names):
            frame[name] = self.hyper[:, :, i].ravel()
        frame["log posterior"] = self.log_posterior.ravel()
        return frame

    def to_arviz(self) -> Any:
        """Return the draws as ArviZ holds them, for its figures and its diagnostics.

        Raises:
            WorkbenchError: ArviZ is not installed.
        """
        try:
            arviz = import_module("arviz")
        except ImportError as error:
            raise WorkbenchError(
                "to_arviz needs the package arviz, which is not installed; install it with "
                "`pip install arviz`"
            ) from error
        drawn = {name: self.parameters[:, :, i] for i, name in enumerate(self.names)}
        drawn |= {name: self.hyper[:, :, i] for i, name in enumerate(self.noise.names)}
        groups = {"posterior": drawn, "sample_stats": {"lp": self.log_posterior}}
        # From 1.0 on the groups are one argument, before they are an argument each.
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, verdict and summary as values that JSON can hold."""
        return {
            "noise": self.noise.name,
            "tests": list(self.replicas.tests),
            "chains": self.chains,
            "draws": self.draws,
            "burn_in": self.burn_in,
            "seed": self.seed,
            "acceptance": self.acceptance,
            "verdict": self.verdict,
            "summary": self.summary().to_dict("records"),
        }

    def __repr__(self) -> str:
        drawn = f"{self.chains} x {self.draws} draws"
        if self.draws < self.requested:
            drawn += f" of {self.requested}"
        more = "".join(f", {text}" for text in self.at_bounds)
        return (
            f"Posterior({', '.join(self.names)}; {self.noise.name} noise, "
            f"{len(self.replicas)} tests, {drawn}{more}; {self.verdict})"
        )

    def _repr_html_(self) -> str:
        frame = self.summary()
        rows = (
            [f"{v:.5g}" if isinstance(v, float) else str(v) for v in row]
            for row in frame.itertuples(index=False)
        )
        return html_table(rows, [str(name) for name in frame.columns], repr(self))


def calibrate(
    surrogate: Surrogate,
    replicas: Replicas,
    *,
    noise: str | NoiseModel = "hierarchical",
    chains: int = 4,
    draws: int = 5000,
    burn_in: int = 3000,
    thin: int = 5,
    seed: int = 0,
    coordinates: Sequence[str] | None = None,
    resume: Posterior | None = None,
    task: Task | None = None,
) -> Posterior:
    """Sample the posterior distribution of a simulator's parameters, given measured times.

    By adaptive Metropolis, whose proposals adapt in the burn-in only. Chains run in threads; the
    same arguments give the same draws on any number of them.

    Args:
        surrogate: predicts the tests of ``replicas``, in their order, within its box.
        replicas: what was measured.
        noise: name of a noise model, or one whose priors or fixed values were changed.
        chains: number of chains, each from a start of its own.
        draws: draws of each chain to keep.
        burn_in: draws of each chain before these.
        thin: steps of a chain for each draw; more of them make the draws more independent.
        seed: makes the draws repeatable.
        coordinates: columns of the replicas that place the tests for ``gaussian-process``, on a
            scale of log2; all of them by default.
        resume: a posterior of the same call with fewer draws, or one that was stopped; it goes on
            to ``draws``, and the result is that of one run.
        task: gets the draws of each chain, burn-in included, every 500 of them; its result so far
            is the posterior for ``resume``. Once it is stopped, the draws so far are returned.

    Raises:
        ParameterError: an argument is not accepted, the surrogate has other tests than the
            replicas, or ``resume`` comes from other arguments.
    """
    chains, draws = whole(chains, "chains", 1), whole(draws, "draws", 1)
    burn_in, thin = whole(burn_in, "burn_in", 0), whole(thin, "thin", 1)
    seed = whole(seed, "seed", 0)
    _check_tests(surrogate, replicas)
    model = as_noise_model(noise, replicas)
    names: tuple[str, ...] = ()
    distances = None
    if model.name == "gaussian-process":
        names = coordinate_names(replicas, coordinates)
        placed = places({name: replicas.columns[name] for name in names}, replicas)
        distances = squared_distances(placed, placed)
    box = surrogate.box
    target = make_target(
        surrogate, model, replicas.statistics, replicas.starts, distances, log_prior_tables(box)
    )
    k, tests = len(target.free), len(replicas)
    points = np.zeros((chains, draws, k))
    log_posterior, times = np.empty((chains, draws)), np.empty((chains, draws, tests))
    streams = [Streams.of(seed, chain) for chain in range(chains)]
    began, seconds = time.perf_counter(), 0.0
    if resume is None:
        at = 0
        state = ChainState.empty(chains, k, tests)
    else:
        _check_resumed(
            resume, surrogate, replicas, model, names, chains, draws, burn_in, thin, seed
        )
        at, kept, seconds = resume.steps // thin, resume.draws, resume.seconds
        state = resume.state.copy()
        log_posterior[:, :kept], times[:, :kept] = resume.log_posterior, resume.times
        for stream in streams:
            stream.take(at * thin, k)
    candidates = [candidates_of(target, box, model, stream.start) for stream in streams]
    scratch = [make_scratch(target) for _ in range(chains)]
    # No block has both burn-in and draws.
    burnt = (
        np.empty((chains, BLOCK, k)),
        np.empty((chains, BLOCK)),
        np.empty((chains, BLOCK, tests)),
    )

    def step(chain: int, rows: int) -> None:
        first = 0 if at < burn_in else at - burn_in
        a, b, c = burnt if at < burn_in else (points, log_posterior, times)
        part = np.s_[chain, first : first + rows]
        advance(
            target,
            state.chain(chain),
            candidates[chain],
            burn_in * thin,
            streams[chain].take(rows * thin, k),
            (a[part], b[part], c[part]),
            scratch[chain],
        )

    reached = at, state.copy()

    def so_far() -> Posterior:
        # Of whole blocks: other threads may ask while the next one runs.
        at, state = reached
        kept = max(at - burn_in, 0)
        parameters, hyper = values_of(points[:, :kept], target, box)
        if resume is not None:
            parameters[:, : resume.draws] = resume.parameters
            hyper[:, : resume.draws] = resume.hyper
        return Posterior(
            box=box,
            noise=model,
            coordinates=names,
            replicas=replicas,
            parameters=parameters,
            hyper=hyper,
            log_posterior=log_posterior[:, :kept].copy(),
            times=times[:, :kept].copy(),
            state=state,
            seed=seed,
            burn_in=burn_in,
            thin=thin,
            requested=draws,
            seconds=seconds + time.perf_counter() - began,
        )

    task, total = task_of(task), burn_in + draws
    task.partial_from(so_far)
    with ThreadPoolExecutor(min(chains, tasks.cores())) as pool:
        while at < total and not task.stopping:
            rows = min(BLOCK, (burn_in if at < burn_in else total) - at)
            list(pool.map(step, range(chains), [rows] * chains))
            at += rows
            reached = at, state.copy()
            task.report(at, total, f"{at} of {total} draws")
    return so_far()


class PartTask(Task):
    """The task of a part of a calibration: it stops with the whole, and reports to it."""

    def __init__(
        self,
        whole: Task,
        made: Callable[[Any], Any],  # the whole's result so far, of the part's
        words: str = "",  # before the part's messages
    ) -> None:
        super().__init__(
            lambda now: whole.report(now.done, now.total, words + now.message), whole.stop_event
        )
        self._whole, self._made = whole, made

    def partial_from(self, supplier: Callable[[], Any]) -> None:
        """Set the function that builds the part's result so far, and thereby the whole's."""
        self._whole.partial_from(lambda: self._made(supplier()))


def _check_tests(surrogate: Surrogate, replicas: Replicas) -> None:
    predicted = surrogate.coefficients.shape[1]
    if predicted != len(replicas):
        raise ParameterError(
            f"surrogate must predict the tests of replicas, {len(replicas)}; it predicts "
            f"{predicted}: fit it to the same tests in the same order",
            key="surrogate",
        )


def _check_resumed(
    resume: Posterior,
    surrogate: Surrogate,
    replicas: Replicas,
    noise: NoiseModel,
    coordinates: tuple[str, ...],
    chains: int,
    draws: int,
    burn_in: int,
    thin: int,
    seed: int,
) -> None:
    """Raise ParameterError where a posterior comes from other arguments or is longer."""
    for what, was, now in (
        ("box", resume.box, surrogate.box),
        ("tests", resume.replicas.tests, replicas.tests),
        ("noise", resume.noise, noise),
        ("coordinates", resume.coordinates, coordinates),
        ("chains", resume.chains, chains),
        ("burn_in", resume.burn_in, burn_in),
        ("thin", resume.thin, thin),
        ("seed", resume.seed, seed),
    ):
        if was != now:
            raise ParameterError(
                f"resume must come from the same {what}: it has {was}, the call has {now}; repeat "
                "the arguments of the first call",
                key="resume",
            )
    if not np.array_equal(resume.replicas.values, replicas.values):
        raise ParameterError(
            "resume must come from the same times; calibrate anew without resume", key="resume"
        )
    if draws < resume.draws:
        raise ParameterError(
            f"draws must be at least the {resume.draws} that resume has; got {draws}", key="draws"
        )
