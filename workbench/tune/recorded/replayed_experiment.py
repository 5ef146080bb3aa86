"""Experiments over recorded runs: every method tried on a real machine's times, in seconds."""

from __future__ import annotations

from typing import Unpack

from workbench.errors import ParameterError
from workbench.named_options import defaults_of, named_options
from workbench.tune.experiment import Experiment, ExperimentOptions, tune
from workbench.tune.recorded.recorded_space import RecordedSpace
from workbench.tune.runners.replay import Replay
from workbench.tune.target import Computed


@named_options(ExperimentOptions, defaults_of(tune))
def replayed(
    recorded: RecordedSpace,
    noise: str = "measured",  # a name in NOISES
    *,
    scale: float = 0.05,  # relative spread of ``normal`` and ``heavy-tails``
    **options: Unpack[ExperimentOptions],
) -> Experiment:
    """Return an experiment that draws its runs from recorded ones."""
    options.setdefault("target", recorded_target(recorded))
    return Experiment(recorded.space, Replay(recorded, noise, scale=scale), **options)


def recorded_target(recorded: RecordedSpace) -> Computed:
    """Return the target of recorded runs: their value in its unit, less being better."""
    if recorded.unit == "us":
        return Computed(_no_output, unit="µs", name="latency")
    return Computed(_no_output, unit=recorded.unit, name="value")


def _no_output(output: object) -> float:
    raise ParameterError("a replayed run has a value of its own; there is no output to read")
