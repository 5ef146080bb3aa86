"""Why a surrogate errs: the simulator and the surrogate along one parameter, where it is worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.uq.prediction import Simulator
from workbench.uq.pushed import value_text
from workbench.uq.surrogate import HoldoutError, Surrogate

if TYPE_CHECKING:
    import pandas as pd

Shape = Literal["kink", "jump", "smooth"]

_SHARP = 4.0  # times what the simulator bends on both sides, from which a bend is a kink
_APART = 2  # points to both sides; one kink bends the two points beside it
_STRAIGHT = 1e-9  # of a time: what it bends by rounding


@dataclass(frozen=True, eq=False, repr=False)
class SurrogateSlice(StoredResult):
    """A simulator's times along one parameter, the others as where a surrogate is worst.

    Attributes:
        test: label of the test.
        parameter: along which the surrogate's error changes most.
        unit: of the parameter.
        x: float64[points], its values.
        simulated: float64[points], the simulator's times, s.
        predicted: float64[points], the surrogate's, s.
        shape: ``kink`` where the simulator's slope changes at once, ``jump`` where its time does,
            else ``smooth``.
        place: value of the parameter where that is; nan where it is smooth.
        degree: highest degree of the surrogate's terms.
        points: that the surrogate was fitted to.
    """

    test: str
    parameter: str
    unit: str
    x: NDArray[np.float64]
    simulated: NDArray[np.float64]
    predicted: NDArray[np.float64]
    shape: Shape
    place: float
    degree: int
    points: int

    plot = Drawing("plot_surrogate_slice")

    @property
    def error(self) -> FloatArray:
        """Relative error of the surrogate, float64[points]."""
        return np.asarray(self.predicted / self.simulated - 1.0)

    @property
    def reason(self) -> str:
        """A sentence on why the surrogate errs here."""
        if self.shape == "smooth":
            return (
                f"along {self.parameter} the simulator is smooth and bends more than degree "
                f"{self.degree} with {self.points} points follows"
            )
        what = "slope" if self.shape == "kink" else "time"
        return (
            f"along {self.parameter} the simulator has a {self.shape}: its {what} changes at once "
            f"near {value_text(self.place, self.unit)}, which polynomials of any degree round off"
        )

    @property
    def remedy(self) -> str:
        """What to do about it, in words."""
        if self.shape == "smooth":
            return "take more points or a higher degree"
        return (
            "take a local surrogate, in a box that the posterior leaves (calibrate_simulator), or "
            "the simulator itself"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a point: the parameter, both times in s, and the error in percent."""
        import pandas as pd

        return pd.DataFrame(
            {
                f"{self.parameter} ({self.unit or 'ratio'})": self.x,
                "simulated (s)": self.simulated,
                "surrogate (s)": self.predicted,
                "error (%)": 100 * self.error,
            }
        )

    def __repr__(self) -> str:
        worst = 100 * float(np.abs(self.error).max())
        return (
            f"SurrogateSlice({self.test}, along {self.parameter}: up to {worst:.2g} % off; "
            f"{self.reason})"
        )

    def _check(self) -> None:
        self._check_lengths({"simulated": len(self.x), "predicted": len(self.x)})


def worst_slice(
    surrogate: Surrogate,
    simulator: Simulator,
    holdout: HoldoutError,
    tests: Sequence[str] | None = None,
    points: int = 33,
) -> SurrogateSlice:
    """Return the slice through a surrogate's worst point along which its error changes most.

    The simulator is run at ``points`` places along each parameter.

    Args:
        surrogate: that errs.
        simulator: gives times float64[n, tests] in s for values float64[n, parameters].
        holdout: of ``surrogate.holdout_error``.
        tests: label of each test; its number by default.
        points: along each parameter.

    Raises:
        ParameterError: the hold-out error has not kept its worst points, or is not of the
            surrogate's tests, or ``points`` is below 5.
    """
    points = whole(points, "points", 5)
    if holdout.worst is None or len(holdout.maximum) != surrogate.tests:
        raise ParameterError(
            f"holdout must be of the surrogate's {surrogate.tests} tests, with their worst points; "
            "make it with surrogate.holdout_error",
            key="holdout",
        )
    test = int(np.argmax(holdout.maximum))
    box = surrogate.box
    coordinates = np.linspace(-1.0, 1.0, points)
    lines = np.repeat(box.to_unit(holdout.worst[test])[None], len(box) * points, axis=0)
    lines = np.clip(lines, -1.0, 1.0).reshape(len(box), points, len(box))
    for i in range(len(box)):
        lines[i, :, i] = coordinates
    values = box.from_unit(lines)
    times = np.asarray(simulator(values.reshape(-1, len(box))), np.float64)
    simulated = times.reshape(len(box), points, -1)[:, :, test]
    predicted = surrogate.predict(values)[:, :, test]
    chosen = int(np.argmax(np.ptp(predicted / simulated, axis=1)))
    shape, place = bend_of(simulated[chosen])
    parameter = box.parameters[chosen]
    x = values[chosen, :, chosen]
    return SurrogateSlice(
        f"test {test}" if tests is None else tests[test],
        parameter.key,
        parameter.unit,
        x,
        simulated[chosen],
        predicted[chosen],
        shape,
        float(x[place]) if shape != "smooth" else float("nan"),
        surrogate.degree,
        surrogate.points,
    )


def bend_of(times: FloatArray) -> tuple[Shape, int]:
    """Return how times at equal distances bend, and at which of them they bend most."""
    bends = np.diff(times, 2)
    most = int(np.argmax(np.abs(bends)))
    sharpest = float(np.abs(bends[most]))
    if sharpest <= _STRAIGHT * np.abs(times).max():
        return "smooth", most + 1
    sides = most - _APART, most + _APART
    if sides[0] < 0 or sides[1] >= len(bends):  # at an end there is nothing to compare with
        return "smooth", most + 1
    if sharpest < _SHARP * np.abs(bends[list(sides)]).max():
        return "smooth", most + 1
    # After a jump the time bends back as much.
    beside = bends[max(most - 1, 0) : most + 2]
    back = (beside * np.sign(bends[most])).min() < -0.5 * sharpest
    return ("jump" if back else "kink"), most + 1
