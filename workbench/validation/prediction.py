"""What a recorded program should have taken under added latency, beside what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.tolerance import RunPrediction, TracePredictions, predict_from_traces, predict_runs
from workbench.tolerance.curve import PERCENT
from workbench.validation.recording import ProgramRecording

Latency = Literal["seen", "set"]
"""Added latency as messages between two hosts showed it, or as it was set."""


def predict_recording(
    recording: ProgramRecording,
    *,
    latency: Latency = "seen",
    traced_s: float = 0.0,
    percent: Sequence[float] = PERCENT,
    arrivals: bool = True,
) -> RunPrediction:
    """Return the predicted run times of a recorded program beside the measured ones.

    The trace and the model are those of the network with nothing added; nothing else is
    taken from the run times.

    Args:
        recording: of the program.
        latency: added latency as it was ``set``, or as it was ``seen``: by how much half a round
            trip between two hosts grew before each run. Processors that sleep longer wake later, so
            the second is a few percent more.
        traced_s: the added latency at which the trace was recorded, s.
        percent: tolerances to compute, percent.
        arrivals: let arrivals decide whom receives from any source answer, where the trace makes it
            plain, instead of the trace.

    Raises:
        ParameterError: there is no such trace, or ``latency`` is not known.
        ProgramError: the program cannot run to its end.
    """
    return predict_runs(
        recording.program(traced_s),
        recording.model(),
        _runs(recording, latency),
        percent=percent,
        name=recording.name,
        algorithms=recording.algorithms,
        arrivals=arrivals,
    )


def predict_traces(
    recording: ProgramRecording,
    *,
    latency: Latency = "seen",
    percent: Sequence[float] = PERCENT,
) -> TracePredictions:
    """Return predictions from every trace of a recorded program (LLAMP, Fig. 12).

    Whom receives from any source answer is as each trace has it: that is how they differ.

    Args:
        recording: of the program.
        latency: of the measured runs, as for ``predict_recording``.
        percent: tolerances to compute, percent.

    Raises:
        ParameterError: ``latency`` is not known.
        ProgramError: the program cannot run to its end.
    """
    return predict_from_traces(
        {added: recording.program(added) for added in recording.traces},
        recording.model(),
        _runs(recording, latency),
        percent=percent,
        name=recording.name,
        algorithms=recording.algorithms,
    )


def seen_runs(recording: ProgramRecording) -> MeasuredRuns:
    """Return the runs with the added latency that messages between two hosts showed.

    Args:
        recording: of the program.
    """
    runs, base = recording.runs, recording.half_trips()
    seen = {
        added: max(recording.half_trips(added)[min(base)] - base[min(base)], 0.0)
        for added in np.unique(runs.added_s).tolist()
    }
    return replace(runs, added_s=np.array([seen[added] for added in runs.added_s.tolist()]))


def _runs(recording: ProgramRecording, latency: Latency) -> MeasuredRuns:
    """Return the runs by the added latency that is asked for."""
    if latency not in get_args(Latency):
        raise ParameterError(f"latency must be seen or set; got {latency!r}", key="latency")
    return recording.runs if latency == "set" else seen_runs(recording)
