"""LogGOPS parameters in whole picoseconds, as the replay counts them.

LogGOPSim counts nanoseconds in whole numbers. A picosecond clock gives the same figures wherever
the parameters are whole nanoseconds, and leaves room for a G of 0.018 ns/B: each product
(s - 1) G is rounded to a picosecond once, never a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.parameter import INT32_MAX

# Whole numbers: times in ps, int64, stay exact.
PS_PER_S = 10**12
PS_PER_NS = 1000  # of GOAL's computations

CLOCK_END = 2**62
"""The picosecond at which a replay is given up: 53 days."""

LONGEST_COST = 2**61
"""The longest single computation or transfer of bytes, in ps: 26 days."""

LONGEST_PARAMETER = 2**58
"""The longest L, o or g, in ps: 80 hours."""

_DOUBLE = Decimal("1e-15")

UNLIMITED = 2**63 - 1
"""An eager limit that no message exceeds."""


@dataclass(frozen=True)
class ByteCost:
    """The cost of each byte after the first, in ps.

    Attributes:
        whole: ps/B if that is a whole number, else -1.
        real: ps/B.
    """

    whole: int
    real: float

    def of(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (s - 1) times the cost, int64[n], rounded to a picosecond; 0 for empty messages.

        Args:
            sizes: int64[n], bytes.
        """
        beyond_first = np.maximum(sizes - 1, 0)
        if self.whole >= 0:
            return beyond_first * self.whole
        return np.rint(beyond_first * self.real).astype(np.int64)


@dataclass(frozen=True)
class PicosecondCosts:
    """A model's parameters as the kernels take them.

    Attributes:
        L: ps.
        o: ps.
        g: ps.
        G: per byte of a message after the first.
        O: per byte after the first, on each host.
        S: largest eager message in bytes, ``UNLIMITED`` if all are eager.
    """

    L: int
    o: int
    g: int
    G: ByteCost
    O: ByteCost  # noqa: E741 - the field's letter
    S: int

    @classmethod
    def of(cls, model: LogGPS) -> PicosecondCosts:
        """Return a model's parameters rounded to picoseconds; G and O keep their fractions.

        S of 2147483647, the largest that a model can hold, stands for no limit.

        Args:
            model: in s and s/B.

        Raises:
            ParameterError: L, o or g is longer than 80 hours.
        """
        fixed = {}
        for name in ("L", "o", "g"):
            value = round(_picoseconds(getattr(model, name)))
            if value > LONGEST_PARAMETER:
                raise ParameterError(
                    f"{name} must be at most {LONGEST_PARAMETER / PS_PER_S:.0f} s for a replay; "
                    f"got {getattr(model, name)} s",
                    key=name,
                )
            fixed[name] = value
        return cls(
            **fixed,
            G=_byte_cost(model.G),
            O=_byte_cost(model.O),
            S=UNLIMITED if model.S == INT32_MAX else model.S,
        )

    def check_sizes(self, least: int, largest_message: int, longest_computation_ns: int) -> None:
        """Refuse sizes that one step of the clock could not hold.

        Args:
            least: smallest of all sizes, bytes or ns.
            largest_message: bytes.
            longest_computation_ns: ns.

        Raises:
            ParameterError: the bytes or the computation take more than 26 days, or a size
                is negative.
        """
        if least < 0:
            raise ParameterError(f"sizes must not be negative; got {least}", key="program")
        for name, cost in (("G", self.G), ("O", self.O)):
            if largest_message * cost.real > LONGEST_COST:
                raise ParameterError(
                    f"a message must take less than {LONGEST_COST / PS_PER_S:.0f} s; "
                    f"{largest_message} B take longer with {name}={cost.real / 1000:g} ns/B: "
                    f"lower {name} or the size",
                    key=name,
                )
        if longest_computation_ns * PS_PER_NS > LONGEST_COST:
            raise ParameterError(
                f"a computation must take less than {LONGEST_COST / PS_PER_S:.0f} s; one takes "
                f"{longest_computation_ns} ns",
                key="program",
            )

    def send_ps(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the time that each send occupies its host, o + (s - 1) O, int64[n] ps.

        Args:
            sizes: int64[n], bytes.
        """
        return self.o + self.O.of(sizes)

    def receive_ps(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the time that each arrival occupies its host, o + (s - 1) max(O, G), int64[n] ps.

        Args:
            sizes: int64[n], bytes.
        """
        return self.o + np.maximum(self.O.of(sizes), self.G.of(sizes))


def shown_ns(picoseconds: int) -> int | float:
    """Return a time in ns, as an int where it is whole."""
    whole, rest = divmod(picoseconds, PS_PER_NS)
    return picoseconds / PS_PER_NS if rest else whole


def _picoseconds(seconds: float) -> Decimal:
    # By its decimal digits: 6e-9 s is 6000 ps, which a product of doubles need not give.
    return Decimal(repr(float(seconds))) * PS_PER_S


def _byte_cost(seconds: float) -> ByteCost:
    exact = _picoseconds(seconds)
    nearest = exact.to_integral_value()
    # 9 * 1e-9 is not the double nearest to 9e-9, and is meant to be 9000 ps/B all the same.
    if abs(exact - nearest) <= exact * _DOUBLE and nearest < 2**53:
        return ByteCost(int(nearest), float(nearest))
    return ByteCost(-1, float(exact))
