"""Operating-system noise: what takes a core away from a program for a while."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernels.loggops import layout
from kernels.loggops import noise as kernel
from workbench.checks import whole
from workbench.errors import ParameterError, ParseError
from workbench.simulate.picoseconds import PS_PER_S
from workbench.text_table import CUT

Distribution = Literal["fixed", "exponential"]

IntArray = NDArray[np.int64]

_SLOWEST_HZ, _FASTEST_HZ = 1e-4, 1e6  # one in _LONGEST_S; gaps of 1 µs, 10**6 ticks of a ps
_LONGEST_S = 1e4  # chosen: hours; the clock of a replay goes to 53 days
_MOST = 0.9  # chosen: work takes ten times as long; at 1.0 it would never end


@dataclass(frozen=True, eq=False)
class Noise:
    """Disturbances of every core, random or as they were recorded.

    A computation or overhead that a disturbance falls into takes that much longer; one that finds
    the core idle costs nothing. As in LogGOPSim the message of a send leaves on time.
    ``Noise.random`` and ``Noise.recorded`` make one.

    Attributes:
        mode: ``fixed`` or ``exponential`` for random ones of that length, or ``recorded``.
        gap_s: mean time between the end of one random disturbance and the next, in s.
        length_s: their (mean) length, in s.
        begin_ps: int64[events], ps from the beginning of the recording; empty for random ones.
        length_ps: int64[events], ps.
        period_ps: after which the recording is repeated, ps.
        seed: the same gives the same disturbances.
    """

    mode: Literal["fixed", "exponential", "recorded"]
    gap_s: float
    length_s: float
    begin_ps: IntArray
    length_ps: IntArray
    period_ps: int
    seed: int

    @classmethod
    def random(
        cls,
        rate_hz: float,
        length_s: float,
        *,
        distribution: Distribution = "fixed",
        seed: int = 0,
    ) -> Noise:
        """Return disturbances that come at random, each core's independent of the others'.

        Args:
            rate_hz: how many begin in each second that is free of them; the time between them is
                exponential.
            length_s: their length, or its mean, in s.
            distribution: ``fixed`` or ``exponential`` lengths.
            seed: at least 0; the same gives the same disturbances.

        Raises:
            ParameterError: a value is not positive, or too long or too short for a clock in ps.
        """
        if distribution not in ("fixed", "exponential"):
            raise ParameterError(
                f"distribution must be fixed or exponential; got {distribution!r}",
                key="distribution",
            )
        if not _SLOWEST_HZ <= rate_hz <= _FASTEST_HZ:
            raise ParameterError(
                f"rate_hz must be {_SLOWEST_HZ:g} to {_FASTEST_HZ:g}; got {rate_hz}", key="rate_hz"
            )
        if not 1e-12 <= length_s <= _LONGEST_S:
            raise ParameterError(
                f"length_s must be 1e-12 to {_LONGEST_S:g} s; got {length_s}", key="length_s"
            )
        nothing = np.empty(0, np.int64)
        noise = cls(
            distribution, 1 / rate_hz, float(length_s), nothing, nothing, 0, whole(seed, "seed", 0)
        )
        return noise._checked()

    @classmethod
    def recorded(
        cls, begin_s: ArrayLike, length_s: ArrayLike, period_s: float, *, seed: int = 0
    ) -> Noise:
        """Return disturbances as recorded, over and over, from a random point for each core.

        Args:
            begin_s: float[events], s from the beginning of the recording, ascending from 0.
            length_s: float[events], s; each is over before the next begins.
            period_s: length of the recording, s.
            seed: at least 0; decides where each core begins.

        Raises:
            ParameterError: there is no event, or two overlap.
        """
        begin, length = (np.asarray(values, float) for values in (begin_s, length_s))
        if begin.ndim != 1 or begin.shape != length.shape or not len(begin):
            raise ParameterError(
                "a recording must have at least one event, each with its begin and length",
                key="begin_s",
            )
        values = np.concatenate([begin, length, [period_s]])
        if not np.isfinite(values).all() or values.min() < 0 or values.max() > _LONGEST_S:
            raise ParameterError(
                f"times of a recording must be from 0 to {_LONGEST_S:g} s", key="begin_s"
            )
        begin_ps = np.rint(begin * PS_PER_S).astype(np.int64)
        length_ps = np.rint(length * PS_PER_S).astype(np.int64)
        period_ps = round(period_s * PS_PER_S)
        following = np.append(begin_ps[1:], begin_ps[0] + period_ps)
        overlap = np.flatnonzero(begin_ps + length_ps > following)
        if len(overlap) or (following <= begin_ps).any():
            first = int(overlap[0]) if len(overlap) else int((following <= begin_ps).argmax())
            raise ParameterError(
                "each event of a recording must be over before the next begins, the last before "
                f"the recording begins again; event {first} is not",
                key="length_s",
            )
        noise = cls("recorded", 0.0, 0.0, begin_ps, length_ps, period_ps, whole(seed, "seed", 0))
        return noise._checked()

    @classmethod
    def from_text(cls, text: str, *, period_s: float | None = None, seed: int = 0) -> Noise:
        """Return the recording that a file of Netgauge's noise module holds, as LogGOPSim reads it.

        Args:
            text: lines of a begin and a length, both in ns; ``#`` begins a comment. A last one that
                the text ends within is left out, with a warning.
            period_s: length of the recording, s; by default up to the last event's end.
            seed: as for ``recorded``.

        Raises:
            ParseError: a line is not two numbers.
            ParameterError: there is no event, or two overlap.
        """
        rows, lines = list[tuple[float, float]](), text.splitlines()
        for number, line in enumerate(lines, start=1):
            fields = line.partition("#")[0].split()
            if not fields:
                continue
            if rows and len(fields) < 2 and number == len(lines) and line == text[-len(line) :]:
                warnings.warn(f"line {number}: {CUT}", stacklevel=2)
                break
            try:
                begin, length = (float(field) * 1e-9 for field in fields)
            except ValueError as error:
                raise ParseError(
                    f"a line of noise must be a begin and a length in ns; got {line!r}", line=number
                ) from error
            rows.append((begin, length))
        begins, lengths = [b for b, _ in rows], [n for _, n in rows]
        if period_s is None:
            period_s = begins[-1] + lengths[-1] if rows else 0.0
        return cls.recorded(begins, lengths, period_s, seed=seed)

    @property
    def load(self) -> float:
        """Share of a core's time that the disturbances take."""
        if self.mode == "recorded":
            return float(self.length_ps.sum() / self.period_ps)
        return self.length_s / (self.length_s + self.gap_s)

    def _checked(self) -> Noise:
        if self.load > _MOST:
            raise ParameterError(
                f"noise must leave a core a tenth of its time; this takes {100 * self.load:.3g} %",
                key="length_s",
            )
        return self

    def __repr__(self) -> str:
        what = (
            f"{len(self.begin_ps)} recorded in {self.period_ps / PS_PER_S:g} s"
            if self.mode == "recorded"
            else f"every {self.gap_s:g} s, {self.mode} {self.length_s:g} s"
        )
        return f"Noise({what}, {100 * self.load:.3g} % of the time, seed {self.seed})"


def kernel_noise(noise: Noise | None, cores: int, ranks: int) -> layout.Noise:
    """Return noise as the kernels take it; ``cores`` are those of all ranks together."""
    total = np.zeros(ranks, np.int64)
    if noise is None:
        nothing = np.zeros((1, kernel.N_CELLS), np.int64)
        return layout.Noise(kernel.SILENT, nothing, np.zeros(2), np.zeros((2, 1), np.int64), total)
    rng = np.random.default_rng(noise.seed)
    cells = np.zeros((cores, kernel.N_CELLS), np.int64)
    if noise.mode == "recorded":
        cells[:, kernel.PHASE] = rng.integers(0, noise.period_ps, cores)
        begins = np.append(noise.begin_ps, noise.begin_ps[0] + noise.period_ps)
        recorded = np.stack([begins, np.append(noise.length_ps, 0)])
        return layout.Noise(kernel.RECORDED, cells, np.zeros(2), recorded, total)
    cells[:, kernel.STATE] = rng.integers(1, kernel.MULTIPLIER * 2**32 - 1, cores)
    mode = kernel.RANDOM_FIXED if noise.mode == "fixed" else kernel.RANDOM_EXPONENTIAL
    real = np.array([noise.gap_s, noise.length_s]) * PS_PER_S
    return layout.Noise(mode, cells, real, np.zeros((2, 1), np.int64), total)
