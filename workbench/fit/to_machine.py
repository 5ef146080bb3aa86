"""Fits as machines, for every analysis to take.

    to_machine(fit(curve, "protocol")).save("my-machine.json")

``write_machines(folder)`` fits and writes every shipped machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit.engines import DEFAULT_ENGINE
from workbench.fit.fitting import fit
from workbench.fit.losses import DEFAULT_LOSS, Loss, rmspe_by_target
from workbench.fit.result import FitResult
from workbench.fit.study import DEFAULT_TRIALS
from workbench.fit.trust.bootstrap import Intervals
from workbench.machines import Machine, loggps_of
from workbench.machines.machine import standard_errors
from workbench.measure import OSUCurve
from workbench.models import NetworkModel, Protocol
from workbench.provenance import Provenance
from workbench.simulate import simulate_osu

Ends = Mapping[str, tuple[float, float]]


def to_machine(
    result: FitResult,
    intervals: Intervals | Ends | None = None,
    *,
    name: str = "",
    within: OSUCurve | None = None,
) -> Machine:
    """Return the machine of a fit, with the curve that was fitted.

    Args:
        result: a fit that succeeded.
        intervals: what ``workbench.fit.intervals`` returned for it, or lower and upper end of the
            90 % interval of parameters, SI by key.
        name: of the machine; that of the curve where it is empty.
        within: messages between two ranks of a node, where they were measured.

    Raises:
        ParameterError: the fit failed, or an interval is not accepted.
    """
    if not result.success:
        raise ParameterError(
            f"a machine needs a fit that succeeded; this one did not: {result.message}",
            key="result",
        )
    source = result.provenance
    details = {
        **source.details,
        "loss": result.loss,
        "target": result.target,
        "engine": result.engine,
        "trials": str(result.trials),
        "seed": str(result.seed),
        "measured": result.measured.provenance.caption(),
    }
    if isinstance(intervals, Intervals):
        details["intervals"] = (
            f"5th to 95th percentile of {intervals.draws} refits to resampled node pairs, "
            f"{intervals.of} of them, {intervals.dependence} level, seed {intervals.seed}"
        )
    ends = _ends(intervals) if isinstance(intervals, Intervals) else dict(intervals or {})
    return Machine(
        name=name or result.measured.name,
        model=result.model,
        loggps=loggps_of(result.model, result.measured, standard_errors(ends)),
        rmspe=result.rmspe,
        provenance=Provenance("simulated", source.title, source.source, details=details),
        intervals=ends,
        measured=result.measured,
        within=within,
    )


def machine_of_model(model: NetworkModel, measured: OSUCurve, name: str = "") -> Machine:
    """Return the machine of a model whose values were set by hand, beside measured messages.

    Args:
        model: such as a panel's, with its sliders' values.
        measured: messages between two nodes of the machine.
        name: of the machine; that of the curve where it is empty.

    Raises:
        ConfigurationError: the model cannot be simulated.
    """
    simulated = simulate_osu(model, measured.sizes.tolist())
    return Machine(
        name=name or measured.name,
        model=model,
        loggps=loggps_of(model, measured),
        rmspe=rmspe_by_target(simulated, measured),
        provenance=Provenance(
            "simulated",
            f"{model.name} with values set by hand",
            details={"measured": measured.provenance.caption()},
        ),
        measured=measured,
    )


def write_machines(
    folder: str | Path,
    machines: Iterable[str] | None = None,
    *,
    intervals: Callable[[FitResult], Intervals | Ends] | None = None,
    loss: str | Loss = DEFAULT_LOSS,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    engine: str = DEFAULT_ENGINE,
) -> tuple[Machine, ...]:
    """Fit the shipped machines, and write each to ``<folder>/<machine>.json``.

    With three regimes, whatever the curves show: the shipped recordings of tuning and the course
    are computed with these machines.

    Args:
        folder: where to write; made where it does not exist.
        machines: names of datasets, whose curves stay there; all where it is None.
        intervals: function that returns the intervals of a fit, such as
            ``workbench.fit.intervals``; it is not asked about a curve without spread, of which
            nothing is known.
        loss: as for ``fit``.
        trials: as for ``fit``.
        seed: as for ``fit``.
        engine: as for ``fit``.

    Raises:
        DatasetError: there is no such machine.
        ParameterError: an option is not accepted, or a fit failed.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    made = []
    for name in datasets.list() if machines is None else machines:
        result = fit(
            datasets.load(name), Protocol(), loss=loss, trials=trials, seed=seed, engine=engine
        )
        known = intervals is not None and result.measured.latency_spread is not None
        machine = to_machine(result, intervals(result) if intervals and known else None)
        made.append(replace(machine, measured=None))
        made[-1].save(target / f"{name}.json")
    return tuple(made)


def _ends(intervals: Intervals) -> Ends:
    found = {key: intervals.percentiles(key) for key in intervals.values}
    return {key: (low, high) for key, (low, _, high) in found.items()}
