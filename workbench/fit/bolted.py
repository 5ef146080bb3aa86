"""Two fitted models bolted together at a message size."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.fit.losses import rmspe_by_target
from workbench.fit.result import FitResult
from workbench.html_table import html_table
from workbench.measure import OSUCurve, Spread
from workbench.measure.curve import byte_label
from workbench.models import PISCES, SNAPPR, LogP, LogPOverlay, NetworkModel
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate import simulate_osu

if TYPE_CHECKING:
    import pandas as pd

_NOTHING = dict.fromkeys(("joint", "latency", "bandwidth"), math.nan)


@dataclass(frozen=True, eq=False)
class ModelCurve:
    """A model beside a measurement without a fit, such as one from a file."""

    model: NetworkModel
    measured: OSUCurve

    @functools.cached_property
    def simulated(self) -> OSUCurve:
        """The model's curve at the measured sizes."""
        return simulate_osu(self.model, self.measured.sizes)


HasCurve = FitResult | ModelCurve
"""A model beside a measurement."""


@dataclass(frozen=True, eq=False)
class Bolted(StoredResult):
    """One fit's model for messages up to a threshold, another's for those above it.

    The curve is the lower fit's at sizes up to the threshold and the upper fit's above it, each as
    it was simulated in its own fit.

    Attributes:
        low: fit, or model beside a measurement, that serves sizes up to the threshold.
        high: the one that serves those above it.
        threshold: largest size in bytes of the lower half; 0 leaves everything to ``high``.

    Raises:
        ParameterError: the fits are of different measurements, or a measured size is in neither
            half.
    """

    low: HasCurve
    high: HasCurve
    threshold: int

    plot = Drawing("plot_bolted_curves")

    def __post_init__(self) -> None:
        whole(self.threshold, "threshold", 0, unit="B")
        low, high = self.low.measured, self.high.measured
        _, at_low, at_high = np.intersect1d(low.sizes, high.sizes, return_indices=True)
        for what in ("latency_s", "bandwidth_Bps"):
            ours, theirs = getattr(low, what)[at_low], getattr(high, what)[at_high]
            if not np.array_equal(ours, theirs, equal_nan=True):
                raise ParameterError(
                    "both fits must be of one measurement; "
                    f"{low.name} and {high.name} differ at sizes they share",
                    key="high",
                )
        every = np.union1d(low.sizes, high.sizes)
        kept = np.concatenate([low.sizes[self._below(low)], high.sizes[~self._below(high)]])
        missing = np.setdiff1d(every, kept)
        if missing.size:
            raise ParameterError(
                f"each size must be in one half; with a threshold of {self.threshold} B "
                f"{', '.join(byte_label(size) for size in missing.tolist())} would be in neither "
                f"({low.name} is fitted to {_span(low)}, {high.name} to {_span(high)}); choose the "
                "threshold they were split at, or fit both to all sizes",
                key="threshold",
            )

    @property
    def success(self) -> bool:
        """Whether each half in use has a model that could be simulated."""
        halves = (
            (self.low, self._below(self.low.measured)),
            (self.high, ~self._below(self.high.measured)),
        )
        return all(fit.simulated is not None for fit, used in halves if used.any())

    @property
    def fitted_apart(self) -> bool:
        """Whether each model was fitted, and simulated, at the sizes of its own half only."""
        low, high = self.low.measured, self.high.measured
        return bool(self._below(low).all() and not self._below(high).any())

    @functools.cached_property
    def measured(self) -> OSUCurve:
        """What was measured, over all sizes."""
        return self._joined(self.low.measured, self.high.measured, self._source())

    @functools.cached_property
    def simulated(self) -> OSUCurve | None:
        """The bolted curve over all sizes; None where ``success`` is false."""
        if not self.success:
            return None
        low = self.low.simulated or self.high.simulated
        high = self.high.simulated or self.low.simulated
        return None if low is None or high is None else self._joined(low, high, self.provenance)

    @functools.cached_property
    def rmspe(self) -> dict[str, float]:
        """RMSPE ``joint``, ``latency`` and ``bandwidth`` in percent, over all sizes."""
        simulated = self.simulated
        if simulated is None:
            return dict(_NOTHING)
        return rmspe_by_target(simulated, self.measured)

    @functools.cached_property
    def rmspe_low(self) -> dict[str, float]:
        """The same over the sizes up to the threshold; nan where there are none."""
        return self._half(self.low, self._below(self.low.measured))

    @functools.cached_property
    def rmspe_high(self) -> dict[str, float]:
        """The same over the sizes above the threshold; nan where there are none."""
        return self._half(self.high, ~self._below(self.high.measured))

    @property
    def runs_in_sstmacro(self) -> bool:
        """Whether SST/macro can run this pair of models at once."""
        return not self.sstmacro_reason

    @property
    def sstmacro_reason(self) -> str:
        """Why SST/macro cannot run this pair; empty where it can."""
        low, high = self.low.model, self.high.model
        if not isinstance(low, LogP):
            return (
                "SST/macro can combine one detailed network model with LogP for small messages, "
                f"not {type(low).__name__} with {type(high).__name__}"
            )
        if not isinstance(high, SNAPPR | PISCES):
            return f"SST/macro combines LogP with SNAPPR or PISCES, not with {type(high).__name__}"
        for model in (low, high):
            if model.variant != "sstmacro":
                return f"SST/macro computes the variant 'sstmacro', not {model.variant!r}"
        return ""

    @property
    def provenance(self) -> Provenance:
        """What the bolted curve was obtained from."""
        source = self._source()
        return Provenance(
            origin="simulated",
            title=f"{self._pair()} at {byte_label(self.threshold)}, fitted to {source.title}",
            source=source.source,
            details={
                "statistic": "each half fitted to its own sizes"
                if self.fitted_apart
                else "both models fitted to all sizes",
            },
        )

    def as_sstmacro(self) -> SNAPPR | PISCES:
        """Return the one model that SST/macro would run for this pair.

        It is the upper model with ``node.nic.negligible_size`` at the threshold and the lower
        model's latency and bandwidth as the overlay. Its curve is not the bolted one, for three
        reasons: SST/macro applies the threshold to what is on the wire, so the 64 byte headers,
        requests and acknowledgements of large messages take the overlay too, and the overlay's
        latency is in the time of every large message; the overlay has no NIC that could be busy,
        so the lower model's injection latency and bandwidth are gone; and the upper model's host
        copies serve both halves.

        Raises:
            ParameterError: SST/macro cannot run this pair.
        """
        low, high, reason = self.low.model, self.high.model, self.sstmacro_reason
        if reason or not isinstance(low, LogP) or not isinstance(high, SNAPPR | PISCES):
            raise ParameterError(f"{reason}; bolt LogP to SNAPPR", key="low")
        overlay = LogPOverlay(
            bandwidth=low.bandwidth,
            out_in_latency=low.out_in_latency,
            hop_latency=low.hop_latency,
        )
        return high.replace(negligible_size=self.threshold, logp=overlay)

    def simulate_sstmacro(self) -> OSUCurve:
        """Return the curve of ``as_sstmacro`` over all sizes.

        Raises:
            ParameterError: SST/macro cannot run this pair.
            ConfigurationError: the combined model would deadlock.
        """
        return simulate_osu(self.as_sstmacro(), self.measured.sizes)

    def rmspe_sstmacro(self) -> dict[str, float]:
        """Return the RMSPE of ``as_sstmacro`` over all sizes, in percent.

        Raises:
            ParameterError: SST/macro cannot run this pair.
            ConfigurationError: the combined model would deadlock.
        """
        return rmspe_by_target(self.simulate_sstmacro(), self.measured)

    def percent_error(self) -> pd.DataFrame:
        """Return 100 (simulated - measured) / measured in percent, size by benchmark.

        Returns:
            Rows by ``size_bytes``, columns ``latency``, ``bandwidth`` and ``half`` (``low`` or
            ``high``); nan where a point was not measured or nothing could be simulated.
        """
        import pandas as pd

        measured, simulated = self.measured, self.simulated
        nothing = np.full(len(measured), np.nan)
        latency, bandwidth = (
            (nothing, nothing) if simulated is None else measured.percent_error(simulated)
        )
        half = np.where(measured.sizes <= self.threshold, "low", "high")
        index = pd.Index(measured.sizes, name="size_bytes")
        columns = {"latency": latency, "bandwidth": bandwidth, "half": half}
        return pd.DataFrame(columns, index=index)

    def to_frame(self) -> pd.DataFrame:
        """Return the errors by part, ``low``, ``high`` and ``whole``: model, sizes and RMSPE."""
        import pandas as pd

        below = int(np.count_nonzero(self.measured.sizes <= self.threshold))
        sizes = len(self.measured)
        parts = (
            ("low", self.low.model.name, below, self.rmspe_low),
            ("high", self.high.model.name, sizes - below, self.rmspe_high),
            ("whole", f"{self.low.model.name}+{self.high.model.name}", sizes, self.rmspe),
        )
        rows = [
            {"part": part, "model": model, "sizes": count, **errors}
            for part, model, count, errors in parts
        ]
        return pd.DataFrame(rows).set_index("part")

    def __repr__(self) -> str:
        return (
            f"Bolted({self._pair()} at {byte_label(self.threshold)}, {self._errors(self.rmspe)}, "
            f"low half {self.rmspe_low['joint']:.1f} %, "
            f"high half {self.rmspe_high['joint']:.1f} %, "
            f"{'SST/macro can run the pair' if self.runs_in_sstmacro else 'not in SST/macro'})"
        )

    def _repr_html_(self) -> str:
        parts = (("low", self.rmspe_low), ("high", self.rmspe_high), ("whole", self.rmspe))
        rows = ((part, *(f"{value:.1f}" for value in errors.values())) for part, errors in parts)
        note = self.sstmacro_reason or "SST/macro can run this pair; see as_sstmacro()"
        return html_table(rows, ("RMSPE (%)", *self.rmspe), f"{self.provenance.title}; {note}")

    def _below(self, curve: OSUCurve) -> NDArray[np.bool_]:
        return np.asarray(curve.sizes <= self.threshold)

    def _half(self, fit: HasCurve, used: NDArray[np.bool_]) -> dict[str, float]:
        if fit.simulated is None or not used.any():
            return dict(_NOTHING)
        return rmspe_by_target(fit.simulated.select(used, ""), fit.measured.select(used, ""))

    def _joined(self, low: OSUCurve, high: OSUCurve, provenance: Provenance) -> OSUCurve:
        below, above = self._below(low), ~self._below(high)

        def both(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([ours[below], theirs[above]])

        def spread(ours: Spread | None, theirs: Spread | None) -> Spread | None:
            if ours is None or theirs is None:
                return None
            names = ("minimum", "p25", "median", "p75", "maximum", "count")
            return Spread(*(both(getattr(ours, name), getattr(theirs, name)) for name in names))

        return OSUCurve(
            name=self._machine() if provenance.origin != "simulated" else self._pair(),
            sizes=both(low.sizes, high.sizes),
            latency_s=both(low.latency_s, high.latency_s),
            bandwidth_Bps=both(low.bandwidth_Bps, high.bandwidth_Bps),
            provenance=provenance,
            latency_spread=spread(low.latency_spread, high.latency_spread),
            bandwidth_spread=spread(low.bandwidth_spread, high.bandwidth_spread),
            notes=low.notes,
        )

    def _machine(self) -> str:
        name = self.low.measured.name
        return name.partition("[")[0] if self.fitted_apart else name

    def _source(self) -> Provenance:
        """Return the provenance of the measurement, without the selection of one half."""
        known = self.low.measured.provenance
        if not self.fitted_apart:
            return known
        details = {key: text for key, text in known.details.items() if key != "selection"}
        return Provenance(known.origin, known.title, known.source, known.licence, details)

    def _pair(self) -> str:
        return f"{type(self.low.model).__name__} low + {type(self.high.model).__name__} high"

    @staticmethod
    def _errors(rmspe: dict[str, float]) -> str:
        parts = [f"{k} {rmspe[k]:.1f}" for k in ("latency", "bandwidth") if rmspe[k] == rmspe[k]]
        return f"RMSPE {rmspe['joint']:.1f} % ({', '.join(parts)})"


def _span(curve: OSUCurve) -> str:
    return f"{byte_label(int(curve.sizes[0]))} to {byte_label(int(curve.sizes[-1]))}"
