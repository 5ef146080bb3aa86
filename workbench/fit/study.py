"""A fit that can be watched while it runs, stopped, and resumed."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import math
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted, StudyError
from workbench.fit.defaults import DEFAULT_MODEL, model_to_fit
from workbench.fit.engines import (
    DEFAULT_ENGINE,
    ENGINES,
    PAPER_ENGINE,
    RANK_ENGINES,
    FitProblem,
    Values,
    find_engine,
)
from workbench.fit.evaluation import Evaluator
from workbench.fit.initial_guess import starting_points
from workbench.fit.losses import (
    DEFAULT_LOSS,
    Loss,
    find_loss,
    find_target,
    rmspe_by_target,
    target_points,
)
from workbench.fit.measured import Size, as_curve, left_out
from workbench.fit.result import FitResult
from workbench.fit.space import SearchSpace
from workbench.fit.store import StoredTrial, StudyFile
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.models.parameter import key_named
from workbench.parameters import Value
from workbench.simulate import simulate_osu
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    from workbench.fit.measured import Measured

DEFAULT_TRIALS = 2000  # Suetterlein et al., IV-B: most losses converge well before 2000


@dataclass(frozen=True)
class TrialReport:
    """The state of a fit after a trial.

    Attributes:
        done: trials finished, earlier runs of the study included.
        total: trials there will be.
        loss: loss of this trial, inf where it could not be simulated.
        invalid: why it could not be, empty where it could.
        values: what it tried, SI by key.
        best_loss: the least loss so far, inf where there is none.
        best_values: what gave it; empty where there is none.
    """

    done: int
    total: int
    loss: float
    invalid: str
    values: Mapping[str, float | int]
    best_loss: float
    best_values: Mapping[str, float | int]


class FitStudy:
    """A fit that can be read while it runs, stopped and resumed.

    Args:
        curve: what was measured: a curve, the name of a shipped machine, the path of a file, or a
            table with columns ``size_bytes``, ``latency_us`` and ``bandwidth_MBps``.
        model: name of a model, or one whose other parameters are to be kept.
        loss: name in ``LOSSES``, or a loss.
        target: ``latency``, ``bandwidth`` or ``both``.
        seed: makes the search repeatable.
        engine: name in ``ENGINES`` of what searches.
        study: SQLite file that keeps every trial; None keeps none.
        name: name of the study in the file.
        space: what to search.
        fixed: parameters to be held, by key or attribute such as ``mtu``, at a value in SI or
            as a text with a unit, or where it is None at the model's.
        without: measured message sizes that are left out, such as ``["4KiB"]`` or ``"4KiB,8KiB"``.

    Raises:
        ParameterError: an argument is not accepted, or the target was not measured.
        StudyError: the study is another problem's or another process's, or cannot be opened.
    """

    def __init__(
        self,
        curve: Measured,
        model: str | NetworkModel = DEFAULT_MODEL,
        *,
        loss: str | Loss = DEFAULT_LOSS,
        target: str = "both",
        seed: int = 0,
        engine: str = DEFAULT_ENGINE,
        study: str | Path | None = None,
        name: str | None = None,
        space: SearchSpace | None = None,
        fixed: Mapping[str, Value | None] | None = None,
        without: str | Sequence[Size] = (),
    ) -> None:
        self.curve = curve = left_out(as_curve(curve), without)
        self.base, held = _holding(model_to_fit(model, curve=curve), fixed)
        self.loss = find_loss(loss)
        self.target = find_target(target)
        self.seed = whole(seed, "seed", 0)
        self.engine = find_engine(engine)
        if not isinstance(space, SearchSpace | None):
            raise ParameterError(
                f"space must be a SearchSpace, such as SearchSpace.for_model(model); got {space!r}",
                key="space",
            )
        self.space = space if space is not None else SearchSpace.for_model(self.base)
        for key in held:
            self.space = self.space.fix(key, self.base.get(key))
        self._check_measured()
        # Fixed values are checked here, once, and not refused trial by trial.
        self._fixed = self.base.with_values(self.space.fixed)
        self._sizes = tuple(curve.sizes.tolist())
        # A benchmark outside the target must not influence the fit, not even its start.
        self._aimed_at = curve if self.target == "both" else curve.alone(self.target)
        self._evaluate = Evaluator(self._fixed, curve, self.loss, self.target)
        self._search = ENGINES[self.engine](
            FitProblem(
                space=self.space,
                seed=self.seed,
                first=starting_points(self._fixed, self._aimed_at, self.space),
                measured=self._evaluate.observed,
                sizes=self._sizes,
                loss=self.loss,
            )
        )
        self._untold: deque[StoredTrial] = deque()
        self._lock = threading.Lock()
        self._running = threading.Lock()
        self._losses: list[float] = []
        self._best: tuple[float, Values] = (math.inf, {})
        self._last_invalid = ""
        self._seconds = 0.0
        self._message = "no trials yet"
        self._shown: _Shown | None = None
        self.name = name or study_name(
            curve.name,
            self.base.label,
            self.loss.name,
            self.target,
            self.seed,
            self.engine,
            held=held,
        )
        self._file = StudyFile(study, self.name, self.problem()) if study is not None else None
        if self._file is not None:
            try:
                self._load_stored(self._file)
            except BaseException:
                self._file.close()
                raise

    def run(
        self,
        trials: int = DEFAULT_TRIALS,
        *,
        task: Task | None = None,
    ) -> FitResult:
        """Run until the study holds ``trials`` trials or the task is stopped; return the best.

        Args:
            trials: configurations to try in all, those of earlier runs included.
            task: gets a ``TrialReport`` after each trial; its stop also ends the trial in flight,
                which is tried again when the fit is resumed.

        Raises:
            ParameterError: ``trials`` is not a positive whole number.
            StudyError: the study is running already, or its file cannot be written.
        """
        total = whole(trials, "trials", 1)
        task = task_of(task)
        if not self._running.acquire(blocking=False):
            raise StudyError(f"the fit {self.name!r} is running already; stop it first")
        task.partial_from(self.result)
        try:
            with contextlib.suppress(SimulationHalted):
                while self.done < total and not task.stopping:
                    trial = self._trial(total, task)
                    task.report(trial.done, trial.total, f"best loss {trial.best_loss:.4g}", trial)
                    task.breathe()
            with self._lock:
                done = len(self._losses)
                self._message = (
                    f"{done} trials"
                    if done >= total
                    else (f"stopped after {done} of {total} trials")
                )
        finally:
            self._running.release()
        return self.result()

    def copy_trials(self, trials: Sequence[StoredTrial]) -> None:
        """Take over the trials of a study of the loss that this one's ``rises_with``.

        A search that uses the order of losses only tries the same configurations for both, so
        nothing needs to be simulated again.

        Args:
            trials: of a study that differs in its loss alone, from its first on.

        Raises:
            StudyError: the losses or the engine do not allow it, or this study has trials already.
        """
        if self.loss.risen is None or self.engine not in RANK_ENGINES or self.done:
            raise StudyError(
                f"the fit {self.name!r} cannot reuse trials: its loss must be an increasing "
                f"function of another loss, its engine one of {', '.join(RANK_ENGINES)}, and it "
                "must have no trials; "
                f"it has loss {self.loss.name}, engine {self.engine} and {self.done} trials"
            )
        for trial in trials:
            loss = trial.loss if trial.invalid else self.loss.risen(trial.loss)
            own = dataclasses.replace(trial, number=self.done, loss=loss)
            if self._file is not None:
                self._file.append(own)
            self._learn(own, len(trials))
            self._untold.append(own)

    @property
    def done(self) -> int:
        """Number of trials finished."""
        return len(self._losses)

    def result(self) -> FitResult:
        """Return the best so far, from any thread, whether the fit runs or not."""
        with self._lock:
            losses = np.array(self._losses, dtype=np.float64)
            _, values = self._best
            seconds, message, reason = self._seconds, self._message, self._last_invalid
            shown = self._shown
        # A panel asks ten times a second; the best changes a few dozen times in a whole fit.
        if shown is None or shown.values is not values:
            shown = self._show(values)
            with self._lock:
                self._shown = shown
        if not values and reason:
            message = f"{message}; no configuration could be simulated: {reason}"
        return FitResult(
            model=shown.model,
            measured=self.curve,
            simulated=shown.simulated,
            loss=self.loss.name,
            target=self.target,
            space=self.space,
            rmspe=dict(shown.rmspe),
            losses=losses,
            seed=self.seed,
            engine=self.engine,
            seconds=seconds,
            success=bool(values),
            message=message,
        )

    def close(self) -> None:
        """Release the study's file; the result stays readable."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _show(self, values: Values) -> _Shown:
        if not values:
            nothing = dict.fromkeys(("joint", "latency", "bandwidth"), math.nan)
            return _Shown(values, self._fixed, None, nothing)
        model = self._fixed.with_values(values)
        simulated = simulate_osu(model, self._sizes)
        return _Shown(values, model, simulated, rmspe_by_target(simulated, self.curve))

    def _trial(self, total: int, task: Task) -> TrialReport:
        self._tell_stored(task)
        began = time.perf_counter()
        values = self._search.propose()
        outcome = self._evaluate(values, limit=self._search.indifferent_above(), task=task)
        trial = StoredTrial(
            self.done,
            values,
            outcome.loss,
            outcome.invalid,
            time.perf_counter() - began,
            outcome.ended_early,
        )
        if self._file is not None:
            self._file.append(trial)
        self._search.tell(values, outcome.loss, lambda: outcome.points)
        self._learn(trial, total)
        best_loss, best_values = self._best
        return TrialReport(
            done=self.done,
            total=total,
            loss=self._losses[-1],
            invalid=outcome.invalid,
            values=values,
            best_loss=best_loss,
            best_values=best_values,
        )

    def _tell_stored(self, task: Task) -> None:
        """Pass the trials of earlier runs to the engine, before its first new proposal."""
        while self._untold:
            trial = self._untold[0]
            values = dict(trial.values)
            again = functools.partial(self._points, values, task)
            self._search.tell(values, trial.loss, again)
            self._untold.popleft()

    def _points(self, values: Values, task: Task) -> NDArray[np.float64] | None:
        return self._evaluate(values, task=task).points

    def _learn(self, trial: StoredTrial, total: int) -> None:
        with self._lock:
            self._losses.append(math.inf if trial.invalid else trial.loss)
            self._seconds += trial.seconds
            self._message = f"{len(self._losses)} of {total} trials"
            if trial.invalid:
                self._last_invalid = trial.invalid
            elif trial.loss < self._best[0]:
                self._best = (trial.loss, dict(trial.values))

    def _load_stored(self, file: StudyFile) -> None:
        for trial in file.trials:
            if set(trial.values) != set(self.space.keys):
                raise StudyError(
                    f"trial {trial.number} of the study {self.name!r} in {file.where} does not "
                    "hold the parameters of its space; choose another name"
                )
            self._learn(trial, len(file.trials))
            self._untold.append(trial)
        loss, values = self._best
        # Stored losses cannot be compared with new ones if the simulator has changed.
        now = self._evaluate(values).loss if values else loss
        if now != loss:
            raise StudyError(
                f"the study {self.name!r} in {file.where} holds losses that this release computes "
                f"differently (best {loss:.6g}, now {now:.6g}); choose another name to fit again"
            )

    def _check_measured(self) -> None:
        wanted = ("latency", "bandwidth") if self.target == "both" else (self.target,)
        for what in wanted:
            if not np.isfinite(target_points(self.curve, find_target(what))).any():
                other = "bandwidth" if what == "latency" else "latency"
                raise ParameterError(
                    f"target {self.target!r} needs measured {what}; {self.curve.name} has none; "
                    f"add it, or choose target {other!r}",
                    key="target",
                )

    def problem(self) -> dict[str, Any]:
        """Return the settings that a resumed study must share, and the release that made it."""
        import workbench

        # Searched parameters start from the model's values, so those are part of the problem too.
        problem: dict[str, Any] = {
            "workbench": workbench.__version__,
            "curve": self.curve.name,
            "measurements": _fingerprint(
                self.curve.sizes.tolist(),
                self.curve.latency_s.tolist(),
                self.curve.bandwidth_Bps.tolist(),
            ),
            "model": self.base.name,
            "variant": self.base.variant,
            "model values": _fingerprint(self._fixed.to_ini()),
            "loss": self.loss.title,
            "target": self.target,
            "seed": self.seed,
            "space": self.space.to_dict(),
        }
        # Studies that were made when there was but one engine do not name it.
        return problem if self.engine == PAPER_ENGINE else {**problem, "engine": self.engine}


def study_name(
    curve_name: str,
    label: str,
    loss: str,
    target: str,
    seed: int,
    engine: str = PAPER_ENGINE,
    *,
    held: Mapping[str, str] | None = None,
) -> str:
    """Return the name a study has in its file unless another is chosen.

    Args:
        curve_name: name of the measured curve.
        label: of the model, see ``NetworkModel.label``.
        loss: name of the loss.
        target: benchmarks it is summed over.
        seed: of the search.
        engine: what searches.
        held: texts of the values that parameters are held at, by key.
    """
    name = f"{curve_name}-{label}-{loss}-{target}-seed{seed}"
    if engine != PAPER_ENGINE:
        name = f"{name}-{engine}"
    return "-".join([name, *(f"{key}={text}" for key, text in (held or {}).items())])


def _holding(
    model: NetworkModel, fixed: Mapping[str, Value | None] | None
) -> tuple[NetworkModel, dict[str, str]]:
    """Return the model with the values that are held, and their texts by key."""
    if fixed is None:
        return model, {}
    if not isinstance(fixed, Mapping):
        raise ParameterError(
            f"fixed must give values by parameter, such as {{'mtu': '4KiB'}}; got {fixed!r}",
            key="fixed",
        )
    keyed = {key_named(str(name), model.parameters()): value for name, value in fixed.items()}
    model = model.with_values({key: value for key, value in keyed.items() if value is not None})
    described = {one.key: one for one in model.parameters()}
    return model, {key: described[key].spelt() for key in keyed}


@dataclass(frozen=True)
class _Shown:
    """The best configuration as a result shows it."""

    values: Values
    model: NetworkModel
    simulated: OSUCurve | None
    rmspe: dict[str, float]


def _fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
