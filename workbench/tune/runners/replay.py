"""Runs that were measured once and are drawn again, so that searches are compared in seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, WorkbenchError
from workbench.suggestions import did_you_mean
from workbench.tune.runners.function import Ended, virtual_run
from workbench.tune.runners.runner import RunHandle, Runner, RunOutput, RunRequest
from workbench.tune.space.space import Configuration, TuningSpace

FloatArray = NDArray[np.float64]


class Recorded(Protocol):
    """A table of configurations and their repeats.

    Attributes:
        name: such as ``allreduce/65536``.
        recording: name of the dataset it is part of, empty where it is in none.
        checksum: of the file it was read from, empty where it was in none.
        space: what was recorded.
    """

    @property
    def name(self) -> str:
        """Name of the recorded space, such as ``allreduce/65536``."""

    @property
    def recording(self) -> str:
        """Name of the dataset it is part of, empty where it is in none."""

    @property
    def checksum(self) -> str:
        """Checksum of the file it was read from, empty where it was in none."""

    @property
    def space(self) -> TuningSpace:
        """The space that was recorded."""

    def repeats(self, configuration: Configuration) -> tuple[FloatArray, FloatArray]:
        """Return values and seconds of the repeats of a configuration, float64[repeats] each.

        Args:
            configuration: one of the space.

        Raises:
            ParameterError: it was not recorded.
        """


NOISES: Mapping[str, str] = MappingProxyType(
    {
        "measured": "a repeat drawn from those measured",
        "none": "the median of the repeats",
        "normal": "the median times a log-normal factor of that relative spread",
        "heavy-tails": "normal, and one run in ten takes a Pareto-distributed multiple",
    }
)
"""The value of a replayed run, by name of the noise."""


def describe_noise(noise: str) -> str:
    """Return a noise of ``NOISES`` in words, for a sentence."""
    return {"measured": "noise as recorded", "none": "no noise"}.get(noise, f"{noise} noise")


_STALLED = 0.1  # of the runs, as ``NOISES`` says; chosen
_PARETO_SHAPE = 2.0  # the least whole one with a mean: a stall adds one run time; infinite variance


class Replay(Runner):
    """Gives what was recorded; the seconds are the recorded ones and nothing is waited for.

    Args:
        recorded: table of configurations and their repeats.
        noise: a name in ``NOISES``.
        scale: relative spread of ``normal`` and ``heavy-tails``.

    Raises:
        ParameterError: there is no such noise, or the scale is none.
    """

    name = "replay"
    needs_program = False

    def __init__(
        self, recorded: Recorded, noise: str | bool = "measured", *, scale: float = 0.05
    ) -> None:
        chosen = {True: "measured", False: "none"}[noise] if isinstance(noise, bool) else noise
        if chosen not in NOISES:
            raise ParameterError(
                f"noise must be one of {', '.join(NOISES)}; got {noise!r}"
                f"{did_you_mean(noise, NOISES)}",
                key="noise",
            )
        if not 0.0 <= scale < math.inf:
            raise ParameterError(f"scale must be 0 or more; got {scale}", key="scale")
        self.recorded = recorded
        self.noise = chosen
        self.scale = scale

    def start(self, request: RunRequest) -> RunHandle:
        """Return a run that has ended.

        Args:
            request: its configuration, seed and limit count.
        """
        try:
            values, seconds = self.recorded.repeats(request.configuration)
        except (WorkbenchError, LookupError) as error:
            return Ended(RunOutput(0.0, state="failed", reason=f"not recorded: {error}"))
        rng = np.random.default_rng(request.seed)
        if self.noise == "measured":
            one = int(rng.integers(len(values)))
            value, took = float(values[one]), float(seconds[one])
        else:
            factor = 1.0 if self.noise == "none" else noise_factor(self.noise, self.scale, rng)
            value = float(np.median(values)) * factor
            took = float(np.median(seconds)) * factor
        return Ended(virtual_run(value, took, request.timeout_s))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are equal in experiments with comparable runs, for JSON."""
        rest = {"scale": self.scale} if self.noise in ("normal", "heavy-tails") else {}
        recorded = self.recorded
        return {
            "kind": self.name,
            "recorded": recorded.name,
            "recording": recorded.recording,
            "checksum": recorded.checksum,
            "noise": self.noise,
            **rest,
        }


def noise_factor(noise: str, scale: float, rng: np.random.Generator) -> float:
    """Return a random factor above 0 of a run's time; ``scale`` is its relative spread."""
    factor = math.exp(scale * float(rng.standard_normal()))
    if noise == "heavy-tails" and rng.random() < _STALLED:
        factor *= 1.0 + float(rng.pareto(_PARETO_SHAPE))
    return factor
