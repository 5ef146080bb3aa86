"""The manual baseline: a configuration typed in from a data sheet, and what tuning gains on it.

Fig. 1 of Suetterlein et al., HPC Network Simulation Tuning via Automatic Extraction of Hardware
Parameters: best-effort configurations from the makers' hardware descriptions miss the measured
curves by 560 % to 650 % there, and tuning gains a factor of up to five.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit.losses import rmspe_by_target
from workbench.measure import OSUCurve
from workbench.measure.datasheet import DataSheet, datasheet
from workbench.models import SNAPPR, LogPOverlay
from workbench.result import Drawing, StoredResult
from workbench.simulate import simulate_osu
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

SSTMACRO_NEGLIGIBLE = 256
"""SST/macro's default for ``node.nic.negligible_size`` in bytes."""


class HasErrors(Protocol):
    """Anything with errors by target in percent: a fit's result, a cell of a study, a baseline."""

    @property
    def rmspe(self) -> Mapping[str, float]:
        """RMSPE ``joint``, ``latency`` and ``bandwidth`` in percent."""


def best_effort(sheet: str | DataSheet, *, negligible_size: int = SSTMACRO_NEGLIGIBLE) -> SNAPPR:
    """Return the configuration that an architect would read off a data sheet.

    Every bandwidth is the link rate. The NIC's latency goes to the injection latency and the
    switch's to the link latency, which SST/macro takes for the ejection latency where none is
    given; the LogP overlay for small messages gets the same figures. A data sheet says nothing of
    packets, credits, host copies or MPI thresholds, so those stay at the model's defaults.

    Args:
        sheet: name of a shipped machine, or a data sheet.
        negligible_size: largest message in bytes that takes the overlay; 0 for SNAPPR alone.

    Raises:
        DatasetError: there is no such machine.
    """
    known = datasheet(sheet) if isinstance(sheet, str) else sheet
    rate, nic, switch = known.link_rate.value, known.nic_latency.value, known.switch_latency.value
    return SNAPPR(
        injection_bandwidth=rate,
        nic_bandwidth=rate,
        link_bandwidth=rate,
        injection_latency=nic,
        ejection_latency=switch,
        link_latency=switch,
        negligible_size=negligible_size,
        logp=LogPOverlay(bandwidth=rate, out_in_latency=nic, hop_latency=switch),
    )


@dataclass(frozen=True, eq=False)
class Baseline(StoredResult):
    """A machine beside the configuration that its data sheet suggests.

    Attributes:
        sheet: what is stated about the network.
        model: the configuration.
        measured: the machine's curve.
        simulated: the configuration's curve at the same sizes.
        rmspe: its errors ``joint``, ``latency`` and ``bandwidth`` in percent.
    """

    sheet: DataSheet
    model: SNAPPR
    measured: OSUCurve
    simulated: OSUCurve
    rmspe: dict[str, float]

    plot = Drawing("plot_baseline", lambda one: {one.machine: one})

    @property
    def machine(self) -> str:
        """Name of the machine."""
        return self.sheet.machine

    def percent_error(self) -> pd.DataFrame:
        """Return 100 (simulated - measured) / measured in percent, size by benchmark.

        Returns:
            Rows by ``size_bytes``, columns ``latency`` and ``bandwidth``.
        """
        import pandas as pd

        latency, bandwidth = self.measured.percent_error(self.simulated)
        index = pd.Index(self.measured.sizes, name="size_bytes")
        return pd.DataFrame({"latency": latency, "bandwidth": bandwidth}, index=index)

    def to_frame(self) -> pd.DataFrame:
        """Return ``percent_error`` with the sizes as the column ``size_bytes``."""
        return self.percent_error().reset_index()

    def __repr__(self) -> str:
        assumed = ", ".join(name.replace("_", " ") for name in self.sheet.assumed) or "nothing"
        return (
            f"Baseline({self.machine}, RMSPE {self.rmspe['joint']:.1f} % "
            f"(latency {self.rmspe['latency']:.1f}, bandwidth {self.rmspe['bandwidth']:.1f}), "
            f"assumed: {assumed})"
        )


def baseline(machine: str | OSUCurve, *, negligible_size: int = SSTMACRO_NEGLIGIBLE) -> Baseline:
    """Return the manual baseline of a shipped machine, by name, or of a part of its curve."""
    measured = datasets.load(machine) if isinstance(machine, str) else machine
    sheet = datasheet(measured.name.partition("[")[0])
    model = best_effort(sheet, negligible_size=negligible_size)
    simulated = simulate_osu(model, measured.sizes)
    return Baseline(sheet, model, measured, simulated, rmspe_by_target(simulated, measured))


def gain(manual: HasErrors, tuned: HasErrors, target: str = "joint") -> float:
    """Return the factor by which tuning lowers the error.

    Args:
        manual: the baseline.
        tuned: a fit's result, or anything else with an ``rmspe``.
        target: ``joint``, ``latency`` or ``bandwidth``.

    Returns:
        Error of the baseline over error of the fit; nan where either was not measured, inf where
        the fit is exact.

    Raises:
        ParameterError: there is no such target.
    """
    if target not in manual.rmspe:
        raise ParameterError(
            f"target must be one of {', '.join(manual.rmspe)}; got {target!r}"
            f"{did_you_mean(target, manual.rmspe)}",
            key="target",
        )
    before, after = np.float64(manual.rmspe[target]), np.float64(tuned.rmspe[target])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(before / after)


def baseline_table(
    results: Mapping[str, HasErrors] | None = None,
    *,
    negligible_size: int = SSTMACRO_NEGLIGIBLE,
) -> pd.DataFrame:
    """Return the manual baselines by machine, beside fits of the same machines.

    Args:
        results: fits, or anything else with an ``rmspe``, by name of the machine; None gives the
            baselines of all shipped machines alone.
        negligible_size: as ``best_effort``.

    Returns:
        Rows by ``machine``; columns ``manual_joint``, ``manual_latency`` and ``manual_bandwidth``,
        RMSPE in percent; with fits also ``tuned_…`` and ``gain_…``, the factors; and ``assumed``,
        the figures of the data sheet that no vendor publishes.

    Raises:
        DatasetError: there is no such machine.
    """
    import pandas as pd

    rows = []
    for machine in datasets.list() if results is None else results:
        manual = baseline(machine, negligible_size=negligible_size)
        row: dict[str, Any] = {"machine": machine}
        row |= {f"manual_{name}": error for name, error in manual.rmspe.items()}
        if results is not None:
            tuned = results[machine]
            row |= {f"tuned_{name}": tuned.rmspe[name] for name in manual.rmspe}
            row |= {f"gain_{name}": gain(manual, tuned, name) for name in manual.rmspe}
        rows.append(row | {"assumed": ", ".join(manual.sheet.assumed)})
    return pd.DataFrame(rows).set_index("machine")
