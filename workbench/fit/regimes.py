"""Message regimes: one model for small messages, another for large ones, bolted together.

    bolted = fit_regimes(load("azure-hb96v3-hdr"), "logp", "snappr", threshold=512)

Section V and Fig. 17 of Suetterlein et al., HPC Network Simulation Tuning via Automatic Extraction
of Hardware Parameters: SST/macro's default pairs LogP with SNAPPR; two SNAPPR models bolted
together are better on some machines, but SST/macro cannot run them. The error of the whole is
computed from the relative error at each size.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import ParameterError
from workbench.fit.bolted import Bolted, HasCurve
from workbench.fit.engines import DEFAULT_ENGINE
from workbench.fit.losses import DEFAULT_LOSS, Loss
from workbench.fit.measured import as_curve
from workbench.fit.study import DEFAULT_TRIALS, FitStudy, TrialReport
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.parameters import Value
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fit.measured import Measured

DEFAULT_THRESHOLD = 512
"""Largest message in bytes of the lower regime: where the paper switches models.

SST/macro's own default, ``node.nic.negligible_size``, is 256 in every version from 10 to 16.
"""


def fit_regimes(
    curve: Measured,
    low: str | NetworkModel = "logp",
    high: str | NetworkModel = "snappr",
    *,
    threshold: int = DEFAULT_THRESHOLD,
    loss: str | Loss = DEFAULT_LOSS,
    target: str = "both",
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    engine: str = DEFAULT_ENGINE,
    study: str | Path | None = None,
    fixed: Mapping[str, Value | None] | None = None,
    task: Task | None = None,
) -> Bolted:
    """Return one model fitted to the sizes up to a threshold and one to those above it.

    The default pair is SST/macro's. Each model is fitted and simulated at the sizes of its own
    half only.

    Args:
        curve: what was measured.
        low: model for the small messages, a name or one whose other parameters are kept.
        high: model for the large messages, likewise; it may be the same.
        threshold: largest size in bytes of the lower half.
        loss: as for ``fit``.
        target: as for ``fit``.
        trials: configurations to try for each half.
        seed: as for ``fit``.
        engine: as for ``fit``.
        study: as for ``fit``; the studies of the halves are named after them.
        fixed: as for ``fit``, in both models.
        task: gets a ``TrialReport`` after each trial of either half; once it is stopped, both fits
            return the best so far. Its result so far is the pair.

    Raises:
        ParameterError: an argument is not accepted, or a half would hold no size.
        StudyError: as ``fit``.
    """
    open_study = partial(
        FitStudy, loss=loss, target=target, seed=seed, engine=engine, study=study, fixed=fixed
    )
    below, above = split(curve, threshold)
    whole = task_of(task)
    with open_study(below, low) as first, open_study(above, high) as second:
        whole.partial_from(lambda: Bolted(first.result(), second.result(), threshold))

        def report(trial: TrialReport) -> None:
            done = first.done + second.done
            whole.report(done, 2 * trials, f"best loss {trial.best_loss:.4g}", trial)
            whole.breathe()

        each = whole.part(report)
        results = [half.run(trials, task=each) for half in (first, second)]
    return Bolted(results[0], results[1], threshold)


def split(curve: Measured, threshold: int = DEFAULT_THRESHOLD) -> tuple[OSUCurve, OSUCurve]:
    """Return the curve up to a threshold and above it, named ``…[<=512]`` and ``…[>512]``.

    Args:
        curve: what was measured.
        threshold: largest size in bytes of the lower half.

    Raises:
        ParameterError: a half would hold no size.
    """
    curve = as_curve(curve)
    below = curve.sizes <= threshold
    if below.all() or not below.any():
        first, last = (int(curve.sizes[0]), int(curve.sizes[-1])) if len(curve) else (0, 0)
        raise ParameterError(
            f"the threshold must leave sizes on both sides; {curve.name} has {first} to {last} B; "
            f"got {threshold} B; choose one from {first} to {last - 1}",
            key="threshold",
        )
    return curve.select(below, f"<={threshold}"), curve.select(~below, f">{threshold}")


def bolt(low: HasCurve, high: HasCurve, threshold: int = DEFAULT_THRESHOLD) -> Bolted:
    """Return two finished fits bolted at any threshold, without fitting or simulating again.

    Fits over all sizes can be bolted anywhere, in milliseconds, so a slider may move the
    threshold. Each curve then is the one simulated at all sizes: what small messages leave on the
    network when the first large one starts is in it, unlike in ``fit_regimes``, where each half is
    simulated alone. ``Bolted.fitted_apart`` tells one from the other.

    Args:
        low: fit whose model serves sizes up to the threshold.
        high: fit whose model serves those above it.
        threshold: largest size in bytes of the lower half.

    Raises:
        ParameterError: the fits are of different measurements, or a size is in neither half.
    """
    return Bolted(low, high, threshold)


def errors_by_threshold(low: HasCurve, high: HasCurve) -> pd.DataFrame:
    """Return the error of two fits over all sizes bolted at every possible threshold.

    Args:
        low: fit whose model serves sizes up to the threshold.
        high: fit whose model serves those above it.

    Returns:
        Rows by ``threshold`` in bytes, from 0 (``high`` alone) to the largest size (``low``
        alone); columns ``joint``, ``latency`` and ``bandwidth``, RMSPE in percent over all sizes,
        and ``low_joint`` and ``high_joint``, those of the halves; nan for an empty half.

    Raises:
        ParameterError: the fits are not of one measurement over the same sizes.
    """
    import pandas as pd

    sizes = low.measured.sizes
    if not np.array_equal(sizes, high.measured.sizes):
        raise ParameterError(
            "both fits must be over the same sizes to move the threshold; got "
            f"{low.measured.name} and {high.measured.name}; fit both to the whole curve",
            key="threshold",
        )
    rows = []
    for threshold in (0, *sizes.tolist()):
        bolted = Bolted(low, high, threshold)
        halves = {"low_joint": bolted.rmspe_low["joint"], "high_joint": bolted.rmspe_high["joint"]}
        rows.append({"threshold": threshold, **bolted.rmspe, **halves})
    return pd.DataFrame(rows).set_index("threshold")
