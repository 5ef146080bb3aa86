"""Fit a network model to a measured curve.

    result = fit("azure-hb96v3-hdr", "snappr", trials=500)
    result = fit("osu.txt", "protocol", fixed={"eager_max": "16KiB"})

``tasks.submit(fit, ...)`` does the same as a job, in a thread: its ``partial`` is the best so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.fit.defaults import DEFAULT_MODEL
from workbench.fit.engines import DEFAULT_ENGINE
from workbench.fit.losses import DEFAULT_LOSS, Loss
from workbench.fit.result import FitResult
from workbench.fit.space import SearchSpace
from workbench.fit.study import DEFAULT_TRIALS, FitStudy
from workbench.models import NetworkModel
from workbench.parameters import Value
from workbench.tasks import Task

if TYPE_CHECKING:
    from workbench.fit.measured import Measured, Size


def fit(
    curve: Measured,
    model: str | NetworkModel = DEFAULT_MODEL,
    *,
    loss: str | Loss = DEFAULT_LOSS,
    target: str = "both",
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    engine: str = DEFAULT_ENGINE,
    study: str | Path | None = None,
    name: str | None = None,
    space: SearchSpace | None = None,
    fixed: Mapping[str, Value | None] | None = None,
    without: str | Sequence[Size] = (),
    task: Task | None = None,
) -> FitResult:
    """Fit a model to a measured curve, and return the result.

    The search is over Table II of Suetterlein et al., HPC Network Simulation Tuning via Automatic
    Extraction of Hardware Parameters; ``engine="tpe"`` searches as they do. The same arguments
    give the same result.

    Args:
        curve: what was measured: a curve, the name of a shipped machine, the path of a file, or a
            table with columns ``size_bytes``, ``latency_us`` and ``bandwidth_MBps``.
        model: ``protocol``, or a model of SST/macro: ``snappr``, ``logp`` or ``pisces``. A fit by
            the name ``snappr`` turns SST/macro's protocol for small messages off, see
            ``model_to_fit``; a model instead of its name keeps its other parameters.
        loss: how errors count: ``rmsre``, ``rmspe``, ``mae``, ``mse``, ``rmse`` or ``huber``. A
            ``Loss`` of your own is taken too.
        target: what is fitted: ``latency``, ``bandwidth`` or ``both``.
        trials: configurations to try, those of earlier runs of a study included.
        seed: seed of the search.
        engine: what searches: ``least-squares``, ``tpe``, ``tpe-univariate`` or ``cma-es``.
        study: SQLite file that stores every trial, so that a fit can be resumed; None keeps none.
        name: name of the study in the file; None takes one made of the other arguments.
        space: what to search; ``SearchSpace.for_model`` where it is None.
        fixed: parameters to be held, by key or attribute such as ``mtu``, at a value in SI or
            as a text with a unit, or where it is None at the model's.
        without: measured message sizes that are left out, such as ``4KiB,8KiB``. A sequence of
            sizes is taken too.
        task: gets a ``TrialReport`` after each trial; once it is stopped, the fit returns the best
            so far.

    Raises:
        DatasetError: there is no machine and no file of that name.
        ParseError: the file or table cannot be read.
        ParameterError: an argument is not accepted, or the target was not measured.
        StudyError: the study is another problem's or another process's, or cannot be written.
    """
    with FitStudy(
        curve,
        model,
        loss=loss,
        target=target,
        seed=seed,
        engine=engine,
        study=study,
        name=name,
        space=space,
        fixed=fixed,
        without=without,
    ) as running:
        return running.run(trials, task=task)
