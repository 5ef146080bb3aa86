"""What a calibration begins with: measured tests, the fitted model's times, and a surrogate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.uq.replicas import Replicas
from workbench.uq.surrogate import Surrogate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationProblem(StoredResult):
    """Measured tests, the best fit's times of them, and a surrogate of the model.

    Attributes:
        title: of what was measured.
        model: name of the model.
        provenance: of the measurement; None where it is not known.
        replicas: what was measured.
        series: of each test, the line that it belongs to, such as ``64 nodes``.
        sizes: int64[tests], message or block size in bytes.
        nominal: float64[tests], times of the model as fitted by least squares, seconds.
        surrogate: of the model, over the ranges that a calibration begins with.
        surrogate_error: float64[tests], greatest relative error of the surrogate at configurations
            that it was not fitted to.
    """

    title: str
    model: str
    provenance: Provenance | None
    replicas: Replicas
    series: tuple[str, ...]
    sizes: NDArray[np.int64]
    nominal: FloatArray
    surrogate: Surrogate
    surrogate_error: FloatArray

    plot = Drawing("plot_calibration_problem")

    @property
    def medians(self) -> FloatArray:
        """Median of each test's replicas, float64[tests], seconds."""
        return np.array([np.median(row) for row in self.replicas.rows])

    @property
    def nominal_error(self) -> FloatArray:
        """Nominal over measured median less 1, float64[tests]."""
        return np.asarray(self.nominal / self.medians - 1.0)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test: what it is, its measured median and nominal time, and errors."""
        import pandas as pd

        return pd.DataFrame(
            {
                "test": self.replicas.tests,
                "size (B)": self.sizes,
                "measured (µs)": 1e6 * self.medians,
                "nominal (µs)": 1e6 * self.nominal,
                "nominal error (%)": 100 * self.nominal_error,
                "surrogate error (%)": 100 * self.surrogate_error,
            }
        )

    def __repr__(self) -> str:
        return (
            f"CalibrationProblem({self.title}, {self.model}; {len(self.replicas)} tests, "
            f"{len(self.replicas.values)} replicas, {len(self.surrogate.box)} parameters; the "
            f"surrogate is up to {100 * self.surrogate_error.max():.2g} % off)"
        )
