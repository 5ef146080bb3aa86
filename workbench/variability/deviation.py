"""Which counters say by how much a step deviates from the mean of its run's program.

found = deviation(read_steps("steps.csv"))
found.to_frame()                       # relevance of each counter, with intervals
found.mape                             # of the time of a step, by model and by kind of folds
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.variability.counter_groups import groups_of
from workbench.variability.elimination import Elimination, Trees, eliminate, grow
from workbench.variability.folds import (
    FEW_RUNS,
    LEAST_RUNS,
    drawn_mapes,
    ends,
    folds_of_runs,
    halt_if_stopped,
    in_threads,
    share_interval,
)
from workbench.variability.step_means import means_of
from workbench.variability.tables.steps import FEATURES, StepTable, feature_of

if TYPE_CHECKING:
    import pandas as pd


DeviationModel = Literal["trees", "ridge", "mean-trajectory"]
DEVIATION_MODELS: tuple[DeviationModel, ...] = get_args(DeviationModel)
DeviationWay = Literal["by-run", "by-step", "paper"]
DEVIATION_WAYS: tuple[DeviationWay, ...] = get_args(DeviationWay)
TREES: tuple[Trees, ...] = get_args(Trees)

_LEAST_LEARNT = 2  # a run's deviation is that from the mean of others
_STRENGTHS = np.logspace(-3, 4, 15)


@dataclass(frozen=True, eq=False, repr=False)
class Deviation(StoredResult):
    """How well counters say by how much steps deviate from the mean, and which counters do.

    A sample is a step of a run. From its time and its counters the means at this step over the runs
    learned from are taken away, and boosted trees learn the deviation of the time from those of the
    counters (Bhatele et al. 2020, IV-B). Counters are set aside one by one inside each fold; its
    relevance is the share of the folds in which a counter is among those that are needed. The time
    of a step is the mean plus the deviation predicted, and MAPE is that of this time. Counters are
    read in the same step: they explain a time, they do not forecast it.

    There are three ways. ``by-run`` holds whole runs out, as a new run will be: its figures are the
    ones to rely on. ``by-step`` holds single steps out, while others of the same run are learned
    from. ``paper`` does so too and takes the means over all runs, those held out among them.

    Attributes:
        counters: names.
        per_second: whether counters are rates, what they rose by over the time of the step.
        trees: ``histogram`` or ``exact``.
        ways: names, ``by-run`` first.
        models: ``trees`` with the counters needed, ``ridge`` with all and ``mean-trajectory``.
        run_names: of the runs.
        run: int64[samples], position of the run.
        step: int64[samples].
        actual_s: float64[samples], s.
        predicted_s: float64[models, samples], s, each ``by-run``.
        mape: float64[ways, models], %.
        mape_interval: float64[ways, models, 2], %, of 95 % of bootstrap draws of runs.
        r2: float64[ways, models], share of the deviations' variance that is explained.
        relevance: float64[ways, counters], share of the folds in which the counter is needed.
        relevance_interval: float64[ways, counters, 2], 95 %, by Wilson for as many cases as folds;
            they share most of their runs, so it is rather too narrow.
        place: float64[ways, counters], mean place in the elimination; 1 was left last.
        stability: float64[ways], of the counters needed over folds (Nogueira, Sechidis and Brown
            2018): 1 where they are always the same, 0 where they are drawn by chance.
        error: float64[ways, counters], %, mean MAPE in elimination with 1, 2, ... counters left.
        group: int64[counters], of counters that go up and down together.
        group_relevance: float64[groups], ``by-run``, share of folds in which one of the group is
            needed.
        group_importance: float64[groups], by how many points the MAPE ``by-run`` rises where all
            counters of the group are those of other samples.
        folds: their number.
        seed: of folds, trees and intervals.
        provenance: of the steps.
        notes: what a reader must know, each a sentence.
    """

    counters: tuple[str, ...]
    per_second: bool
    trees: Trees
    ways: tuple[str, ...]
    models: tuple[str, ...]
    run_names: tuple[str, ...]
    run: NDArray[np.int64]
    step: NDArray[np.int64]
    actual_s: NDArray[np.float64]
    predicted_s: NDArray[np.float64] = field(metadata={"axes": 2})
    mape: NDArray[np.float64] = field(metadata={"axes": 2})
    mape_interval: NDArray[np.float64] = field(metadata={"axes": 3})
    r2: NDArray[np.float64] = field(metadata={"axes": 2})
    relevance: NDArray[np.float64] = field(metadata={"axes": 2})
    relevance_interval: NDArray[np.float64] = field(metadata={"axes": 3})
    place: NDArray[np.float64] = field(metadata={"axes": 2})
    stability: NDArray[np.float64]
    error: NDArray[np.float64] = field(metadata={"axes": 2})
    group: NDArray[np.int64]
    group_relevance: NDArray[np.float64]
    group_importance: NDArray[np.float64]
    folds: int
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_deviation")

    @property
    def features(self) -> tuple[str, ...]:
        """Where the counters were read: some of ``app``, ``placement``, ``io`` and ``sys``."""
        there = {feature_of(name) for name in self.counters}
        return tuple(name for name in FEATURES if name in there)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Counters that go up and down together, the most relevant of each first."""
        order = np.argsort(-self.relevance[0], kind="stable")
        return tuple(
            tuple(self.counters[at] for at in order if self.group[at] == group)
            for group in range(len(self.group_relevance))
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a counter, the most relevant ``by-run`` first."""
        import pandas as pd

        low, high = self.relevance_interval[0].T
        found = {
            "counter": self.counters,
            "relevance": self.relevance[0],
            "relevance from": low,
            "relevance to": high,
            "mean place": self.place[0],
        }
        for at, way in enumerate(self.ways[1:], 1):
            found[f"relevance {way}"] = self.relevance[at]
        found["group"] = self.group
        found["group's importance (points)"] = self.group_importance[self.group]
        return pd.DataFrame(found).sort_values(
            ["relevance", "mean place"], ascending=[False, True], kind="stable", ignore_index=True
        )

    def mape_frame(self) -> pd.DataFrame:
        """Return a row a way and model: MAPE with its interval, and the R² of the deviations."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "folds": way,
                    "model": model,
                    "MAPE (%)": self.mape[at, row],
                    "MAPE from": self.mape_interval[at, row, 0],
                    "MAPE to": self.mape_interval[at, row, 1],
                    "R2 of deviations": self.r2[at, row],
                }
                for at, way in enumerate(self.ways)
                for row, model in enumerate(self.models)
            ]
        )

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{model} {error:.2f}" for model, error in zip(self.models, self.mape[0], strict=True)
        )
        order = np.lexsort((self.place[0], -self.relevance[0]))[:3]
        most = ", ".join(f"{self.counters[at]} {self.relevance[0, at]:.1f}" for at in order)
        return (
            f"Deviation({len(np.unique(self.run))} runs, {len(self.run)} steps, "
            f"{len(self.counters)} counters; {self.folds} folds by run, seed {self.seed}; MAPE "
            f"(%): {errors}; most relevant: {most})"
        )


def deviation(
    steps: StepTable,
    *,
    features: Iterable[str] | None = ("app",),
    folds: int = 10,
    ways: Iterable[str] = DEVIATION_WAYS,
    per_second: bool = False,
    trees: Trees = "histogram",
    seed: int = 0,
    task: Task | None = None,
) -> Deviation:
    """Return how well counters explain the deviations of steps, and the relevance of each counter.

    Args:
        steps: of runs of one program with one input.
        features: counters that explain: some of ``app``, ``placement``, ``io`` and ``sys``; None is
            all that the table has. The paper has those of the job's own routers (V-B). Placement
            has one value a run: folds by step can tell runs apart by it.
        folds: number of parts, each predicted by models trained on the others; at most one a run.
        ways: some of ``by-run``, ``by-step`` and ``paper``; the first is always there.
        per_second: divide counters by the time of their step. What a counter rises by contains that
            time, which it is to explain.
        trees: ``histogram``, or ``exact`` ones as in the paper, which take many times as long and
            find the same.
        seed: of the folds, the trees and the intervals.
        task: gets the progress after each fold; once it is stopped, the work ends.

    Raises:
        ParameterError: there are fewer than 3 runs, no counter can be used, or an argument is not
            accepted.
        SimulationHalted: the task was stopped.
    """
    known = _known(ways, DEVIATION_WAYS, "ways")
    names = tuple(name for name in DEVIATION_WAYS if name == "by-run" or name in known)
    _known((trees,), TREES, "trees")
    folds, seed = whole(folds, "folds", 2), whole(seed, "seed", 0)
    table = steps if features is None else steps.only(features)
    question = _question(table, folds, per_second, trees, seed)
    work = [partial(question.fold, way, at) for way in names for at in range(question.parts)]
    with one_thread():
        pieces = in_threads(work, task_of(task), "fold")
    found = [_Found.of(question, [piece for piece in pieces if piece.way == way]) for way in names]
    first = found[0]
    groups = int(question.group.max()) + 1
    chosen = [
        [one.elimination.chosen[question.group == at].any() for at in range(groups)]
        for one in first.pieces
    ]
    return Deviation(
        counters=question.counters,
        per_second=per_second,
        trees=trees,
        ways=names,
        models=DEVIATION_MODELS,
        run_names=steps.run,
        run=question.run,
        step=question.step,
        actual_s=question.actual,
        predicted_s=first.predicted,
        mape=np.array([one.mape for one in found]),
        mape_interval=np.array([one.interval for one in found]),
        r2=np.array([one.r2 for one in found]),
        relevance=np.array([one.relevance for one in found]),
        relevance_interval=np.array(
            [share_interval(one.relevance, len(one.pieces)) for one in found]
        ),
        place=np.array([one.place for one in found]),
        stability=np.array([one.stability for one in found]),
        error=100 * np.array([one.error for one in found]),
        group=question.group,
        group_relevance=np.mean(chosen, axis=0),
        group_importance=np.mean([piece.group_rise for piece in first.pieces], axis=0),
        folds=len(first.pieces),
        seed=seed,
        provenance=steps.provenance,
        notes=(*steps.notes, *question.notes),
    )


@dataclass(frozen=True)
class _Piece:
    """What one fold found."""

    way: DeviationWay
    held: NDArray[np.intp]  # positions of samples
    predicted: FloatArray  # s, [models, held]
    centre: FloatArray  # s, [held], mean of the runs learned from
    elimination: Elimination
    group_rise: FloatArray


@dataclass(frozen=True)
class _Question:
    """What all folds have in common."""

    counters: tuple[str, ...]
    time_s: FloatArray  # [runs, steps]
    values: FloatArray  # [runs, steps, counters]
    run: NDArray[np.int64]
    step: NDArray[np.int64]
    actual: FloatArray
    group: NDArray[np.int64]
    trees: Trees
    folds: int
    seed: int
    notes: tuple[str, ...]

    @property
    def parts(self) -> int:
        """Number of folds, at most one a run."""
        return min(self.folds, len(np.unique(self.run)))

    def fold(self, way: DeviationWay, at: int, task: Task) -> _Piece:
        """Learn from the samples of the other folds and explain those of this one."""
        rng = np.random.default_rng([self.seed, DEVIATION_WAYS.index(way), at])
        held = self._held(way, at)
        time, values = self._deviations(None if way == "paper" else held)
        learn = ~held
        cluster = self.run if way == "by-run" else np.arange(len(self.run))
        elimination = eliminate(
            values[learn],
            time[learn],
            1 / self.actual[learn],
            cluster[learn],
            self.trees,
            rng,
            task,
        )
        halt_if_stopped(task)
        chosen, seen, nothing = elimination.chosen, values[held], np.zeros(held.sum())
        predicted = nothing
        if chosen.any():
            seed = int(rng.integers(2**31))
            model = grow(values[np.ix_(learn, chosen)], time[learn], self.trees, seed)
            predicted = model.predict(seen[:, chosen])
        deviations = [predicted, _ridge(values[learn], time[learn], seen), nothing]
        centre = self.actual[held] - time[held]
        rises = np.zeros(int(self.group.max()) + 1)
        if way == "by-run" and chosen.any():
            order = rng.permutation(len(seen))
            for group in np.unique(self.group[chosen]):
                changed = seen.copy()
                changed[:, self.group == group] = seen[order][:, self.group == group]
                again = model.predict(changed[:, chosen])
                more = np.abs(again - time[held]) - np.abs(predicted - time[held])
                rises[group] = 100 * float(np.mean(more / self.actual[held]))
        return _Piece(
            way, np.flatnonzero(held), np.array(deviations) + centre, centre, elimination, rises
        )

    def _held(self, way: DeviationWay, at: int) -> NDArray[np.bool_]:
        """Return whether each sample is held out, bool[samples]."""
        if way == "by-run":
            runs = np.unique(self.run)
            fold = folds_of_runs(len(self.time_s), runs, self.parts, self.seed)
            return np.asarray(fold[self.run] == at)
        order = np.random.default_rng([self.seed, 1]).permutation(len(self.run))
        return np.asarray(order % self.parts == at)

    def _deviations(self, held: NDArray[np.bool_] | None) -> tuple[FloatArray, FloatArray]:
        """Return the deviations of time and counters from means at each step.

        float64[samples] in s, and float64[samples, counters] with 0 for what is missing. Each is
        that from the mean of other runs, without samples held out; None takes the means of all.
        """
        together = np.concatenate([self.time_s[:, :, None], self.values], axis=2)
        if held is None:
            centres = np.broadcast_to(
                means_of(together, np.arange(len(together)))[0], together.shape
            )
        else:
            seen = together.copy()
            seen[self.run[held], self.step[held]] = np.nan
            centres = means_of(seen, np.arange(len(together)))[1]
        found = (together - centres)[self.run, self.step]
        return found[:, 0], np.nan_to_num(found[:, 1:], nan=0.0)


@dataclass(frozen=True)
class _Found:
    """What all folds of one way found."""

    pieces: list[_Piece]
    predicted: FloatArray
    mape: FloatArray
    interval: FloatArray
    r2: FloatArray
    relevance: FloatArray
    place: FloatArray
    stability: float
    error: FloatArray

    @classmethod
    def of(cls, question: _Question, pieces: list[_Piece]) -> _Found:
        """Return the scores of a way."""
        actual = question.actual
        predicted = np.empty((len(DEVIATION_MODELS), len(actual)))
        centre = np.empty(len(actual))
        for piece in pieces:
            predicted[:, piece.held] = piece.predicted
            centre[piece.held] = piece.centre
        error = np.abs(predicted - actual)
        chosen = np.array([piece.elimination.chosen for piece in pieces])
        variance = np.mean((actual - centre) ** 2)
        return cls(
            pieces,
            predicted,
            100 * (error / actual).mean(axis=1),
            ends(drawn_mapes(error / actual, question.run, question.seed)),
            1 - (error**2).mean(axis=1) / (variance or 1.0),
            chosen.mean(axis=0),
            np.mean([piece.elimination.place for piece in pieces], axis=0),
            _stability(chosen),
            np.mean([piece.elimination.error for piece in pieces], axis=0),
        )


def _question(steps: StepTable, folds: int, per_second: bool, trees: Trees, seed: int) -> _Question:
    """Check a table and return the data that all folds share."""
    timed = np.isfinite(steps.time_s)
    runs = int(timed.any(axis=1).sum())
    if runs < LEAST_RUNS:
        raise ParameterError(
            f"at least {LEAST_RUNS} runs must have times, so that one is explained from others; "
            f"got {runs}; add runs",
            key="steps",
        )
    left = runs - -(-runs // min(folds, runs))
    if left < _LEAST_LEARNT:
        raise ParameterError(
            f"each fold must leave {_LEAST_LEARNT} runs to learn from; {runs} runs in {folds} "
            f"folds leave {left}: take more folds, at most one a run, or add runs",
            key="folds",
        )
    kept, notes = [], []
    for at, name in enumerate(steps.counters):
        one = steps.values[:, :, at][timed]
        one = one[np.isfinite(one)]
        if not one.size or np.ptp(one) <= 1e-12 * np.abs(one).max():
            notes.append(f"{name} is not used: it is constant or was never read")
        else:
            kept.append(at)
    if not kept:
        raise ParameterError(
            "deviations are explained by counters, and the table must have one that varies; got "
            f"{', '.join(steps.counters) or 'no counters'}; add a column for a counter, or take "
            "more features",
            key="steps",
        )
    values = steps.values[:, :, kept]
    if per_second:
        values = values / steps.time_s[:, :, None]
    if missing := int((~np.isfinite(values[timed])).sum()):
        notes.append(f"{missing} readings of counters are missing: each is taken as the mean")
    if runs < FEW_RUNS:
        notes.append(f"with {runs} runs the intervals are too narrow")
    run, step = np.nonzero(timed)
    counters = tuple(steps.counters[at] for at in kept)
    return _Question(
        counters,
        steps.time_s,
        values,
        run,
        step,
        steps.time_s[timed],
        groups_of(values - means_of(values, np.arange(len(values)))[0], timed),
        trees,
        folds,
        seed,
        tuple(notes),
    )


def _ridge(learn: FloatArray, target: FloatArray, seen: FloatArray) -> FloatArray:
    """Return ridge's predictions; leave-one-out errors choose its strength."""
    from sklearn.linear_model import RidgeCV

    spread = learn.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    model = RidgeCV(alphas=_STRENGTHS * len(learn)).fit(learn / spread, target)
    found: FloatArray = model.predict(seen / spread)
    return found


def _stability(chosen: NDArray[np.bool_]) -> float:
    """Return the stability of ``chosen[folds, counters]`` (Nogueira et al. 2018, eq. 4)."""
    folds, counters = chosen.shape
    share = chosen.mean(axis=0)
    mean = chosen.sum(axis=1).mean() / counters
    if folds < 2 or mean in (0.0, 1.0):
        return 1.0
    spread = folds / (folds - 1) * share * (1 - share)
    return float(1 - spread.mean() / (mean * (1 - mean)))


def _known(given: Iterable[str], names: tuple[str, ...], key: str) -> tuple[str, ...]:
    wanted = (given,) if isinstance(given, str) else tuple(given)
    for name in wanted:
        if name not in names:
            raise ParameterError(
                f"{key} must be of {', '.join(names)}; got {name!r}{did_you_mean(name, names)}",
                key=key,
            )
    return wanted
