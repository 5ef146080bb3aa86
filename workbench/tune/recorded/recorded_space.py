"""Spaces of which every configuration was run, several times: what searches are compared on.

    recording = shipped_recording("open-mpi-4-ranks")
    one = recording["allreduce/65536"]
    one.default_value, one.optimum, one.optimum_value

A folder holds one CSV file a component, one row a run, and ``datapackage.json`` with the spaces,
the columns, how it was made, and checksums. A search that draws its runs from a recorded space
costs no time on a machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.tune.space.space import Configuration, TuningSpace, Value

FloatArray = NDArray[np.float64]
Key = tuple[Value | None, ...]

_LEVEL = 0.95  # chosen: the usual one
_RESAMPLES = 1000  # 500 to 4000, over four seeds: at most one tie more or less of three or seven
_ROUNDING = 1e-6  # files hold seven digits


@dataclass(frozen=True, eq=False)
class RecordedSpace:
    """Every configuration of one tuning problem with its repeats; lower values are better.

    Attributes:
        name: such as ``allreduce/65536``: the component and the size in bytes.
        space: what was recorded.
        configurations: canonical, in the order of the space.
        values: float64[repeats] of each configuration, in ``unit``.
        seconds: float64[repeats] of each: how long a run of it takes, its start among that.
        loads: float64[repeats] of each: load average of the machine as the run began; nan where
            none is known.
        unit: unit of the values.
        context: what else was held, such as ``ranks``.
        provenance: how the values came to be.
        failed: configurations of the space without any good run.
        recording: name of the dataset it is part of, empty where it is in none.
        checksum: ``sha256:`` and the digest of the file it was read from, empty where in none.
    """

    name: str
    space: TuningSpace
    configurations: tuple[Configuration, ...]
    values: tuple[FloatArray, ...]
    seconds: tuple[FloatArray, ...]
    loads: tuple[FloatArray, ...]
    unit: str
    context: Mapping[str, Any]
    provenance: Provenance
    failed: tuple[Configuration, ...] = ()
    recording: str = ""
    checksum: str = ""

    def __len__(self) -> int:
        return len(self.configurations)

    def repeats(self, configuration: Configuration) -> tuple[FloatArray, FloatArray]:
        """Return values and seconds of the repeats of a configuration, float64[repeats] each.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it was not recorded.
        """
        row = self.row(configuration)
        return self.values[row], self.seconds[row]

    def row(self, configuration: Configuration) -> int:
        """Return the number of a configuration.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it was not recorded.
        """
        key = self.space.key(configuration)
        if key not in self._rows:
            raise ParameterError(
                f"{self.name} must hold the requested configuration; "
                f"{dict(configuration)} was not recorded or failed; it has {len(self)} others"
            )
        return self._rows[key]

    def median(self, configuration: Configuration) -> float:
        """Return the median of a configuration's repeats.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it was not recorded.
        """
        return float(self.medians[self.row(configuration)])

    @cached_property
    def medians(self) -> FloatArray:
        """Median of each configuration's repeats, float64[configurations]."""
        return np.array([np.median(each) for each in self.values])

    @property
    def optimum(self) -> Configuration:
        """The configuration with the least median."""
        return self.configurations[int(np.argmin(self.medians))]

    @property
    def optimum_value(self) -> float:
        """The least median."""
        return float(self.medians.min())

    @property
    def default(self) -> Configuration:
        """The configuration without tuning.

        Raises:
            ParameterError: the space has none, or it was not recorded.
        """
        found = self.space.default
        if found is None:
            raise ParameterError(f"{self.name} must have a default for each parameter; it has none")
        return self.configurations[self.row(found)]

    @property
    def default_value(self) -> float:
        """Median of the default configuration."""
        return self.median(self.default)

    @property
    def potential(self) -> float:
        """Gain of the optimum over the default, as a share of the default's value."""
        return 1.0 - self.optimum_value / self.default_value

    @property
    def confirmed_potential(self) -> float:
        """Gain of the configuration that is best by half of the repeats, measured by the others.

        The least of many noisy medians is partly luck, so that ``potential`` promises too much. The
        mean of both halves, the even repeats and the odd ones; nan where a configuration has fewer
        than four.
        """
        if min(map(len, self.values)) < 4:
            return math.nan
        halves = self.half(0), self.half(1)
        gains = [
            1.0 - judge.median(chooser.optimum) / judge.default_value
            for chooser, judge in (halves, halves[::-1])
        ]
        return 0.5 * math.fsum(gains)

    def half(self, start: int) -> RecordedSpace:
        """Return the same space with every second repeat alone.

        What was chosen by one half promises nothing about the other, which can judge it.

        Args:
            start: 0 for the even repeats, 1 for the odd ones.

        Raises:
            ParameterError: it is neither, or a configuration has fewer than two repeats.
        """
        if start not in (0, 1) or min(map(len, self.values)) < 2:
            raise ParameterError(
                f"a half must begin at 0 or 1 and have a repeat of each configuration; got {start} "
                f"and {min(map(len, self.values))} repeats",
                key="start",
            )
        columns = (self.values, self.seconds, self.loads)
        values, seconds, loads = (tuple(each[start::2] for each in column) for column in columns)
        return replace(self, values=values, seconds=seconds, loads=loads)

    @property
    def exhaustive_s(self) -> float:
        """Time in s to run every configuration once: the sum of each one's mean seconds."""
        return math.fsum(float(each.mean()) for each in self.seconds)

    @property
    def grid_s(self) -> float:
        """Time in s to run the whole grid once, every value of every parameter with every other.

        That is what a tool without conditions runs (SHAMan): a configuration counts once for each
        combination of the parameters that do not apply to it.
        """
        sizes = {name: axis.size or 1 for name, axis in self.space.axes.items()}
        total = 0.0
        for configuration, each in zip(self.configurations, self.seconds, strict=True):
            same = math.prod(
                size for name, size in sizes.items() if not self.space.active(name, configuration)
            )
            total += same * float(each.mean())
        return total

    @property
    def noise(self) -> float:
        """Spread of the repeats about their median, over it: half the quartile range, as a median.

        The median over the configurations with four repeats or more; nan where none has.
        """
        spreads = [
            0.5 * float(np.subtract(*np.quantile(each, (0.75, 0.25)))) / float(np.median(each))
            for each in self.values
            if len(each) >= 4
        ]
        return float(np.median(spreads)) if spreads else math.nan

    def ties(self, rng: np.random.Generator | int | None = 0) -> tuple[Configuration, ...]:
        """Return the configurations that do not differ significantly from the optimum.

        Those of which the bootstrap interval (95 %) of the difference of medians to the optimum
        holds 0; with fewer than three repeats of either, the two tie. Computed values have no
        noise: there only equal ones tie.

        Args:
            rng: source of randomness, or its seed.
        """
        if self.provenance.origin in ("synthetic", "simulated"):
            equal = self.medians <= self.optimum_value * (1.0 + _ROUNDING)
            return tuple(c for c, same in zip(self.configurations, equal, strict=True) if same)
        generator = np.random.default_rng(rng)
        best = int(np.argmin(self.medians))
        own = _medians(self.values[best], generator)
        low = 0.5 * (1.0 - _LEVEL)
        found = []
        for row, configuration in enumerate(self.configurations):
            few = min(len(self.values[row]), len(self.values[best])) < 3
            difference = _medians(self.values[row], generator) - own
            if row == best or few or float(np.quantile(difference, low)) <= 0.0:
                found.append(configuration)
        return tuple(found)

    def __repr__(self) -> str:
        counts = [len(each) for each in self.values]
        gain = f", gain of the optimum {100 * self.potential:.1f} %" if self._has_default else ""
        return (
            f"RecordedSpace({self.name}, {len(self)} configurations, "
            f"{min(counts)} to {max(counts)} repeats{gain}; {self.provenance.origin})"
        )

    @property
    def _has_default(self) -> bool:
        found = self.space.default
        return found is not None and self.space.key(found) in self._rows

    @cached_property
    def _rows(self) -> dict[Key, int]:
        return {self.space.key(each): row for row, each in enumerate(self.configurations)}


class Recording(Mapping[str, RecordedSpace]):
    """The recorded spaces of one dataset, by name such as ``allreduce/65536``.

    Args:
        name: name of the dataset.
        spaces: what was recorded.
        provenance: how it came to be.
        caveats: what a reader should know.

    Attributes:
        name: name of the dataset.
        provenance: how it came to be.
        caveats: what a reader should know.
    """

    def __init__(
        self,
        name: str,
        spaces: Sequence[RecordedSpace],
        provenance: Provenance,
        caveats: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.provenance = provenance
        self.caveats = tuple(caveats)
        self._spaces = {each.name: each for each in spaces}

    def __getitem__(self, name: str) -> RecordedSpace:
        if name not in self._spaces:
            raise ParameterError(
                f"{self.name} must hold the requested space; got {name!r}; it has "
                f"{', '.join(self._spaces) or 'none'}"
            )
        return self._spaces[name]

    def __contains__(self, name: object) -> bool:
        return name in self._spaces

    def __iter__(self) -> Iterator[str]:
        return iter(self._spaces)

    def __len__(self) -> int:
        return len(self._spaces)

    def __repr__(self) -> str:
        lines = [f"Recording({self.name}, {len(self)} spaces; {self.provenance.caption()})"]
        lines += [f"  {each!r}" for each in self._spaces.values()]
        return "\n".join(lines)


def _medians(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    drawn = values[generator.integers(len(values), size=(_RESAMPLES, len(values)))]
    found: FloatArray = np.median(drawn, axis=1)
    return found
