"""Fits as profiles of machines, for ``workbench.models.profiles`` to hand out.

    to_profile(fit(curve, "protocol")).save("azure-hb96v3-hdr.json")

``write_profiles(folder)`` fits and writes every shipped machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit.engines import DEFAULT_ENGINE
from workbench.fit.fitting import fit
from workbench.fit.losses import DEFAULT_LOSS, Loss
from workbench.fit.result import FitResult
from workbench.fit.study import DEFAULT_TRIALS
from workbench.fit.trust.bootstrap import Intervals
from workbench.models.profiles import Profile
from workbench.models.protocol import Protocol
from workbench.provenance import Provenance

Ends = Mapping[str, tuple[float, float]]


def to_profile(result: FitResult, intervals: Intervals | Ends | None = None) -> Profile:
    """Return the profile of a machine from a fit of the protocol-aware model.

    Args:
        result: a fit of ``protocol`` that succeeded.
        intervals: what ``workbench.fit.intervals`` returned for it, or lower and upper end of the
            90 % interval of parameters, SI by key.

    Raises:
        ParameterError: the fit failed or is of another model, or an interval is not accepted.
    """
    if not result.success:
        raise ParameterError(
            f"a profile needs a fit that succeeded; this one did not: {result.message}",
            key="result",
        )
    if not isinstance(result.model, Protocol):
        raise ParameterError(
            "a profile needs a fit of the model protocol, whose costs are those of LogGPS; got "
            f"{result.model.name}; fit with model='protocol'",
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
    return Profile(
        machine=result.measured.name,
        model=result.model,
        rmspe=result.rmspe,
        provenance=Provenance("simulated", source.title, source.source, details=details),
        intervals=_ends(intervals) if isinstance(intervals, Intervals) else intervals or {},
    )


def write_profiles(
    folder: str | Path,
    machines: Iterable[str] | None = None,
    *,
    intervals: Callable[[FitResult], Intervals | Ends] | None = None,
    loss: str | Loss = DEFAULT_LOSS,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    engine: str = DEFAULT_ENGINE,
) -> tuple[Profile, ...]:
    """Fit machines, and write their profiles to ``<folder>/<machine>.json``.

    Args:
        folder: where to write; made where it does not exist.
        machines: names of datasets; all shipped ones where it is None.
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
    for machine in datasets.list() if machines is None else machines:
        result = fit(
            datasets.load(machine), "protocol", loss=loss, trials=trials, seed=seed, engine=engine
        )
        known = intervals is not None and result.measured.latency_spread is not None
        made.append(to_profile(result, intervals(result) if intervals and known else None))
        made[-1].save(target / f"{machine}.json")
    return tuple(made)


def _ends(intervals: Intervals) -> Ends:
    found = {key: intervals.percentiles(key) for key in intervals.values}
    return {key: (low, high) for key, (low, _, high) in found.items()}
