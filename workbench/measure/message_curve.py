"""Measured times over message size, read between and beyond the sizes that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.errors import ParameterError

_STREAM_BYTES = 2**18
"""Messages of at least this size show the rate of the wire."""

_MOST_BYTES = 2.0**62
"""Sizes are counted in int64 elsewhere."""


@dataclass(frozen=True, eq=False, repr=False)
class MessageCurve:
    """Times over message size: straight lines between the measured sizes.

    Below the smallest measured size the time is that of the smallest one; beyond the largest it
    grows as between large messages.

    Attributes:
        sizes: bytes, float64[n], ascending.
        times: s, float64[n].

    Raises:
        ParameterError: there is no size, a time is not above 0, or the sizes do not ascend.
    """

    sizes: FloatArray
    times: FloatArray

    def __post_init__(self) -> None:
        for name in ("sizes", "times"):
            array = np.array(getattr(self, name), np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        alike = self.sizes.ndim == 1 and self.sizes.shape == self.times.shape
        if not (alike and len(self.sizes) and (np.diff(self.sizes) > 0).all()):
            raise ParameterError(
                "a curve must have ascending sizes and as many times; got "
                f"{self.sizes.shape} sizes and {self.times.shape} times",
                key="sizes",
            )
        if not (np.isfinite(self.times) & (self.times > 0)).all():
            raise ParameterError("times of messages must be above 0 s and finite", key="times")
        if not (self.sizes < _MOST_BYTES).all():
            raise ParameterError(
                f"sizes of messages must be below 2^62 bytes; got {self.sizes.max():g}", key="sizes"
            )

    def at(self, size: ArrayLike) -> FloatArray:
        """Return the time of messages of these bytes in s, float64 of the shape of ``size``."""
        wanted = np.asarray(size, np.float64)
        found = np.interp(wanted, self.sizes, self.times)
        beyond = np.maximum(wanted - self.sizes[-1], 0.0)
        return np.asarray(found + beyond * self.per_byte)

    @cached_property
    def per_byte(self) -> float:
        """Time for each further byte of a large message, s/B: a line through the largest sizes."""
        large = self.sizes >= min(_STREAM_BYTES, self.sizes[-1])
        sizes, times = self.sizes[large], self.times[large]
        if len(sizes) < 2:
            return float(self.times[-1] / max(self.sizes[-1], 1.0))
        # least squares of the relative errors, so that the largest size does not rule alone
        weighed = np.stack([1.0 / times, sizes / times], axis=1)
        slope = float(np.linalg.lstsq(weighed, np.ones(len(times)), rcond=None)[0][1])
        return slope if slope > 0 else float(times[-1] / sizes[-1])

    @property
    def start(self) -> float:
        """Time of the smallest message in s."""
        return float(self.times[0])

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold; ``from_dict`` reads them back."""
        return {"sizes": self.sizes.tolist(), "times": self.times.tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MessageCurve:
        """Return the curve that ``to_dict`` wrote.

        Args:
            values: what it returned.

        Raises:
            ParameterError: it is no curve.
            KeyError: something is missing.
        """
        return cls(np.array(values["sizes"], float), np.array(values["times"], float))

    def __repr__(self) -> str:
        rate = 1e-9 / self.per_byte
        return f"MessageCurve({len(self.sizes)} sizes, {1e6 * self.start:.3g} us, {rate:.3g} GB/s)"
