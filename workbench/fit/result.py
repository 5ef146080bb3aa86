"""The result of a fit: the fitted model, its errors, and how it was found."""

from __future__ import annotations

import functools
import html
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.fit.defaults import DEFAULT_MODEL
from workbench.fit.engines import DEFAULT_ENGINE, find_engine
from workbench.fit.losses import LossTarget, rmspe_by_target, target_points
from workbench.fit.space import SearchSpace
from workbench.html_table import bold, code, html_table
from workbench.measure import OSUCurve, contradiction, rail_step
from workbench.models import NetworkModel
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult, Uncertainty
from workbench.simulate import simulate_osu
from workbench.tasks import Task
from workbench.units import write_quantity

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fit.trust.identify import Identifiability


MUCH_LEFT = 20.0
"""RMSPE in percent above which a result names a better model; chosen: shipped machines are fitted
by the protocol-aware model to 3 to 13 %."""

CORRELATED = 0.9
"""Correlation from which a report names two parameters; chosen: lmfit's reports begin at 0.1,
which of 13 parameters names dozens."""

MOST_SECONDS = 10.0
"""Processor time that a report may take for standard errors; chosen: those of SNAPPR take 0.4 s,
those of packets of a few bytes minutes."""

PARAMETER_HEAD = ("parameter", "value", "±", "from", "to", "at bound")


@dataclass(frozen=True, eq=False)
class FitResult(StoredResult):
    """The best model found so far, whether the fit has ended or not.

    Two results are equal when everything they hold is, curves and losses included.

    Attributes:
        model: the fitted model; the one the fit began with where ``success`` is false.
        measured: the curve that was fitted.
        simulated: the fitted model's curve at the same sizes; None where ``success`` is false.
        loss: name of the loss that was minimised.
        target: benchmarks it was summed over.
        space: what was searched, and between which bounds.
        rmspe: root mean square percent errors ``joint``, ``latency`` and ``bandwidth``, in
            percent whatever the loss; nan for a benchmark that was not measured.
        losses: float64[trials], the loss of each trial; inf where it could not be simulated.
        seed: what made the search repeatable.
        seconds: time spent on the trials, over all runs of the study.
        success: whether any configuration could be simulated.
        message: how the fit ended, or how far it is.
        engine: name of what searched.
    """

    ONE_FILE: ClassVar[bool] = True

    model: NetworkModel
    measured: OSUCurve
    simulated: OSUCurve | None
    loss: str
    target: LossTarget
    space: SearchSpace
    rmspe: dict[str, float]
    losses: FloatArray
    seed: int
    seconds: float
    success: bool
    message: str
    engine: str = DEFAULT_ENGINE

    plot = Drawing("plot_fit")
    posterior = Uncertainty("posterior_of_fit")

    def __post_init__(self) -> None:
        object.__setattr__(self, "space", self.space.described_by(self.model))

    @property
    def trials(self) -> int:
        """Number of trials, refused configurations included."""
        return len(self.losses)

    @property
    def invalid(self) -> int:
        """Number of configurations that could not be simulated."""
        return int(np.count_nonzero(~np.isfinite(self.losses)))

    @property
    def best_loss(self) -> float:
        """The least loss; inf where no configuration could be simulated."""
        return float(self.losses.min()) if self.trials else math.inf

    @property
    def best_trial(self) -> int:
        """Number of the first trial that reached it, from 0; -1 where none did."""
        return int(self.losses.argmin()) if self.success else -1

    @property
    def convergence(self) -> FloatArray:
        """The least loss up to each trial, float64[trials]; inf before the first valid one."""
        return np.minimum.accumulate(self.losses)

    @property
    def points(self) -> int:
        """Number of measured points the loss was summed over."""
        return int(np.count_nonzero(np.isfinite(target_points(self.measured, self.target))))

    @property
    def aic(self) -> float:
        """Akaike's information criterion of the relative errors; of two models the lower is better.

        As lmfit counts it: n ln(sum of squares / n) + 2k for n points and k searched parameters.
        inf where nothing could be simulated.
        """
        return self._criterion(2.0)

    @property
    def bic(self) -> float:
        """Bayes's information criterion likewise: ln(n) instead of 2 for each parameter."""
        return self._criterion(math.log(self.points) if self.points else math.inf)

    def _criterion(self, for_each_parameter: float) -> float:
        if self.simulated is None or not self.points:
            return math.inf
        observed = target_points(self.measured, self.target)
        errors = target_points(self.simulated, self.target) / observed - 1.0
        square = float(np.nansum(errors**2)) / self.points
        likelihood = self.points * math.log(square) if square > 0 else -math.inf
        return likelihood + for_each_parameter * len(self.space)

    @property
    def criteria(self) -> str:
        """Both criteria in words."""
        return (
            f"AIC {self.aic:.1f}, BIC {self.bic:.1f} of relative errors ({self.points} points, "
            f"{len(self.space)} parameters): compare them with another model's, the lower is better"
        )

    @property
    def variant(self) -> str:
        """The model's variant: ``sstmacro``, as SST/macro computes, or ``repaired``."""
        return self.model.variant

    @property
    def values(self) -> dict[str, float | int]:
        """The fitted values, SI by key."""
        return {d.key: _number(self.model.get(d.key)) for d in self.space.dimensions}

    @property
    def at_bound(self) -> dict[str, str]:
        """``lower`` or ``upper`` for each value within 1 % of the range of a bound."""
        found = {d.key: d.at_bound(self.values[d.key]) for d in self.space.dimensions}
        return {key: where for key, where in found.items() if where}

    @property
    def contradiction(self) -> str:
        """Where the measured bandwidth contradicts the measured latency, empty where it does not.

        The errors there are not the model's: no model gives both.
        """
        return contradiction(self.measured)

    @property
    def rails(self) -> str:
        """Where the measured bandwidth steps up as of several rails; empty where it does not."""
        return rail_step(self.measured)

    @property
    def underdetermined(self) -> str:
        """That there are no more points than parameters; empty where there are.

        So many parameters follow any points, and their errors say nothing of the model.
        """
        searched = len(self.space)
        if self.points > searched:
            return ""
        count = "1 point" if self.points == 1 else f"{self.points} points"
        return (
            f"{count} cannot determine {searched} parameters: errors near 0 say nothing of the "
            "model; measure more sizes, or hold parameters at values that are known"
        )

    @functools.cached_property
    def nearby(self) -> Identifiability | None:
        """What the data determine by the slopes at the fit: ``identify`` without its scans.

        It takes two simulations a parameter. None where the fit failed, where these would take more
        than ``MOST_SECONDS``, or where a point of zero was measured, which has no logarithm.
        """
        if not self.success:
            return None
        began = time.thread_time()
        simulate_osu(self.model, self.measured.sizes.tolist())
        if 2 * len(self.space) * (time.thread_time() - began) > MOST_SECONDS:
            return None
        try:
            return self.identify(scan=False)
        except ParameterError:
            return None

    @property
    def correlated(self) -> str:
        """The pairs whose estimates are correlated above 0.9, in words; empty where none is."""
        if self.success and self.nearby is None:
            return (
                "standard errors and correlations are left to identify(scan=False): it takes long"
            )
        pairs = [] if self.nearby is None else self.nearby.correlated(CORRELATED)
        texts = [f"{one} and {other} ({value:+.2f})" for one, other, value in pairs]
        return f"correlated above {CORRELATED}: {', '.join(texts)}" if texts else ""

    @property
    def better(self) -> str:
        """What follows the curve better where more than 20 % are left; empty where nothing does.

        The protocol-aware model is tried as it is guessed from the curve, without a search.
        """
        left = self.rmspe["joint"]
        if not self.success or self.model.name == DEFAULT_MODEL or not left > MUCH_LEFT:
            return ""
        from workbench.fit.initial_guess import first_guess

        guess = first_guess(self.measured, DEFAULT_MODEL)
        simulated = simulate_osu(guess, self.measured.sizes.tolist())
        error = rmspe_by_target(simulated, self.measured)["joint"]
        if not error < left:
            return ""
        return (
            f"{self.model.name} leaves {left:.1f} % (RMSPE); the model {DEFAULT_MODEL} leaves "
            f"{error:.1f} % before any search"
        )

    @property
    def left_out(self) -> str:
        """Which of the measured sizes were fitted, where some were left out; empty where all."""
        selection = self.measured.provenance.details.get("selection", "")
        return f"fitted to a part of what was measured: {selection}" if selection else ""

    @property
    def unstated(self) -> str:
        """What the measurement does not state and the model assumes: its MPI's eager threshold.

        Section IV-A of Suetterlein et al. sets it to 8 KB on the machine and in the simulator. It
        is empty where the threshold was searched, or held at a value of the caller's.
        """
        key = "node.app1.mpi.max_eager_msg_size"
        usual = {one.key: one.value for one in type(self.model)().parameters()}
        assumed = {p.key: p for p in self.model.parameters() if p.value == usual[p.key]}
        if key not in assumed or key in self.space.keys:
            return ""
        return (
            f"the eager threshold of the machine's MPI is not stated; {assumed[key].spelt()} is "
            f"assumed ({key})"
        )

    @property
    def provenance(self) -> Provenance:
        """What the fitted curve was obtained from."""
        return Provenance(
            origin="simulated",
            title=f"{self._model_name()} fitted to {self.measured.provenance.title}",
            source=self.measured.provenance.source,
            details={
                "statistic": f"{self.loss} over {self.target}, {self.trials} {self.engine} trials, "
                f"seed {self.seed}, variant {self.variant}",
            },
        )

    def percent_error(self) -> pd.DataFrame:
        """Return 100 (simulated - measured) / measured in percent, size by benchmark.

        Returns:
            Rows by ``size_bytes``, columns ``latency`` and ``bandwidth``; nan where a point was
            not measured or nothing could be simulated.
        """
        import pandas as pd

        nothing = np.full(len(self.measured), np.nan)
        latency, bandwidth = (
            (nothing, nothing)
            if self.simulated is None
            else self.measured.percent_error(self.simulated)
        )
        index = pd.Index(self.measured.sizes, name="size_bytes")
        return pd.DataFrame({"latency": latency, "bandwidth": bandwidth}, index=index)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a fitted parameter: value, standard error, bounds, the bound it is at.

        In SI; the error is nan where the data do not determine the value, see ``nearby``.
        """
        import pandas as pd

        at_bound, near = self.at_bound, self.nearby
        return pd.DataFrame(
            [
                {
                    "parameter": d.key,
                    "value": self.values[d.key],
                    "stderr": math.nan if near is None else near.standard_error(d.key),
                    "unit": d.unit,
                    "low": d.low,
                    "high": d.high,
                    "at_bound": at_bound.get(d.key, ""),
                }
                for d in self.space.dimensions
            ]
        )

    def parameter_rows(self) -> list[tuple[str, ...]]:
        """Return the texts of the table of parameters, a row each below ``PARAMETER_HEAD``."""
        at_bound, near = self.at_bound, self.nearby
        rows: list[tuple[str, ...]] = [
            (
                d.key,
                d.text(self.values[d.key]),
                "" if near is None else near.error_text(d.key),
                d.text(d.low),
                d.text(d.high),
                at_bound.get(d.key, ""),
            )
            for d in self.space.dimensions
        ]
        return rows + [(key, text, "", "", "", "held") for key, text in self.fixed_texts().items()]

    def curves_frame(self) -> pd.DataFrame:
        """Return one row a size: measured and simulated latency and bandwidth, percent errors."""
        import pandas as pd

        nothing = np.full(len(self.measured), np.nan)
        errors = self.percent_error()
        simulated = self.simulated
        return pd.DataFrame(
            {
                "size_bytes": self.measured.sizes,
                "measured_latency_us": self.measured.latency_us,
                "simulated_latency_us": nothing if simulated is None else simulated.latency_us,
                "latency_error_percent": errors["latency"].to_numpy(),
                "measured_bandwidth_MBps": self.measured.bandwidth_MBps,
                "simulated_bandwidth_MBps": nothing
                if simulated is None
                else simulated.bandwidth_MBps,
                "bandwidth_error_percent": errors["bandwidth"].to_numpy(),
            }
        )

    def parameter_texts(self) -> dict[str, str]:
        """Return the fitted values as an .ini spells them, by key."""
        return {d.key: write_quantity(self.values[d.key], d.kind) for d in self.space.dimensions}

    def fixed_texts(self) -> dict[str, str]:
        """Return the values that were held, as an .ini spells them, by key."""
        described = {one.key: one for one in self.model.parameters()}
        return {key: described[key].spelt() for key in self.space.fixed}

    def to_ini(self) -> str:
        """Return the fitted model as an .ini; SST/macro reads it where it has such a model."""
        return self.model.to_ini()

    def identify(
        self,
        *,
        scan: bool = True,
        task: Task | None = None,
    ) -> Identifiability:
        """Return which parameters the data determine, and how well.

        Args:
            scan: as for ``workbench.fit.identify``.
            task: as for ``workbench.fit.identify``.
        """
        from workbench.fit.trust.identify import identify

        return identify(self, scan=scan, task=task)

    def to_dict(self) -> dict[str, Any]:
        """Return everything the result holds as values that JSON can hold, as ``save`` writes."""
        return self._saved()

    def _check(self) -> None:
        find_engine(self.engine)
        for name in ("joint", "latency", "bandwidth"):
            self.rmspe[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FitResult):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # results are compared by value, which is mutable

    def __repr__(self) -> str:
        by = "" if self.engine == DEFAULT_ENGINE else f" by {self.engine}"
        size = f"{len(self.space)} parameters, {self.points} points"
        head = f"FitResult({self._model_name()}{by}, {size}"
        if not self.success:
            return f"{head}, no valid configuration in {self.trials} trials)"
        doubt = ", measured bandwidth contradicts latency" if self.contradiction else ""
        doubt += ", no more points than parameters" if self.underdetermined else ""
        return f"{head}, {self._errors()}{self._bounds()}{doubt})"

    def _repr_html_(self) -> str:
        rows = [
            (code(key), *texts, bold(where) if where not in ("", "held") else where)
            for key, *texts, where in self.parameter_rows()
        ]
        errors = self._errors() if self.success else "no configuration could be simulated"
        caption = (
            f"{self.provenance.title}, variant {self.variant}: {errors}; {self.message}, "
            f"{self.invalid} of them refused"
        )
        criteria = self.criteria if self.success else ""
        doubts = (self.underdetermined, self.contradiction, self.rails, self.unstated)
        notes = filter(None, (self.left_out, self.correlated, criteria, *doubts))
        return html_table(rows, PARAMETER_HEAD, caption, align="lrlrrl") + "".join(
            f"<p>{html.escape(note)}</p>" for note in notes
        )

    def _model_name(self) -> str:
        usual = self.variant == self.model.variants[0]
        return f"{type(self.model).__name__}{'' if usual else f' {self.variant}'}"

    def _errors(self) -> str:
        parts = [
            f"{name} {self.rmspe[name]:.1f}"
            for name in ("latency", "bandwidth")
            if not math.isnan(self.rmspe[name])
        ]
        return f"RMSPE {self.rmspe['joint']:.1f} % ({', '.join(parts)})"

    def _bounds(self) -> str:
        return "".join(
            f", {short_key(key)} at {where} bound" for key, where in self.at_bound.items()
        )


def short_key(key: str) -> str:
    """Return the last two words of a dotted key, which differ among searched parameters."""
    return ".".join(key.split(".")[-2:])


def _number(value: float | int | bool | str) -> float | int:
    return value if isinstance(value, int) else float(value)
