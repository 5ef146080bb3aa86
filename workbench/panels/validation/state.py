"""What the validation panel shows, and the Python code for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.measure import MeasuredRuns
from workbench.tolerance import LatencySensitivity, RunPrediction
from workbench.validation import ProgramRecording, predict_recording, predict_traces, recording_of
from workbench.validation.prediction import Latency

ALL = "all"
"""In the place of a trace's latency: every trace has its curve."""

HERE = "measured here"
"""The name of a measurement on this machine, in the figure and in files."""

US_PER_S = 1e6  # controls, labels and a recording's file have µs


@dataclass(frozen=True)
class ValidationState:
    """The state of the controls."""

    recording: str  # a shipped one, or a folder
    latency: Latency = "seen"
    traced_us: float | str = 0.0  # latency that was added as the trace was recorded, or ALL
    arrivals: bool = True  # decide whom receives from any source answer, but where ALL are drawn


@dataclass(frozen=True, eq=False)
class ShownValidation:
    """What the figure is drawn from: a recording, and what was measured here, if anything."""

    state: ValidationState
    recording: ProgramRecording
    predictions: dict[str, RunPrediction]  # by the names of the curves, the recording's first
    own: ProgramRecording | None = None
    measured: dict[str, MeasuredRuns] = field(default_factory=dict)  # drawn beside which curve

    @property
    def name(self) -> str:
        """Name of the first curve."""
        return next(iter(self.predictions))

    @property
    def result(self) -> RunPrediction:
        """The prediction of the recording, from its first trace where all are drawn."""
        return self.predictions[self.name]

    @property
    def analyses(self) -> dict[str, LatencySensitivity]:
        """T over L, by the names of the curves."""
        return {name: one.analysis for name, one in self.predictions.items()}


def predicted(state: ValidationState, own: ProgramRecording | None = None) -> ShownValidation:
    """Return the predictions for a state of the controls, and of the same program here."""
    recording = recording_of(state.recording)
    found = _curves(state, recording)
    (name, first), *others = found.items()
    predictions, measured = {name: first}, {name: first.runs}
    if own is not None:
        here = predict_recording(own, latency=state.latency, arrivals=state.arrivals)
        predictions[HERE], measured[HERE] = here, here.runs
    # The curves with points come first: figures colour both by their places.
    predictions |= dict(others)
    return ShownValidation(state, recording, predictions, own, measured)


def _curves(state: ValidationState, recording: ProgramRecording) -> dict[str, RunPrediction]:
    if state.traced_us == ALL:
        found = predict_traces(recording, latency=state.latency)
        return dict(zip(found.analyses, found.predictions, strict=True))
    traced_s = traced_at(recording, float(state.traced_us))
    name = f"{recording.name}, {recording.ranks} ranks"
    options: dict[str, Any] = {"latency": state.latency, "arrivals": state.arrivals}
    return {name: predict_recording(recording, traced_s=traced_s, **options)}


def traced_at(recording: ProgramRecording, traced_us: float) -> float:
    """Return the latency in s of the recording's trace that is nearest to one in µs."""
    return min(recording.traces, key=lambda added: abs(added * US_PER_S - traced_us))


def some_latencies(recording: ProgramRecording, points: int) -> tuple[float, ...]:
    """Return so many of the recording's added latencies, evenly picked, in s; the first is 0."""
    known = np.unique(recording.runs.added_s)
    picked = np.unique(np.linspace(0, len(known) - 1, min(points, len(known))).round())
    return tuple(known[picked.astype(int)].tolist())


def python_lines(shown: ShownValidation) -> str:
    """Return Python code that makes what is shown; the prediction is ``result``."""
    state, latency = shown.state, f'latency="{shown.state.latency}"'
    here = latency if state.arrivals else f"{latency}, arrivals=False"
    every = state.traced_us == ALL
    predict = "predict_traces" if every else "predict_recording"
    names = {predict, "recording_of"}
    if shown.own is not None:
        names |= {"measure_program", "predict_recording"}
    traced_s = 0.0 if every else traced_at(shown.recording, float(state.traced_us))
    more = f", traced_s={traced_s:g}" if traced_s else ""
    more += "" if state.arrivals or every else ", arrivals=False"
    lines = [
        f"from workbench.validation import {', '.join(sorted(names))}",
        "",
        f'recording = recording_of("{state.recording}")',
        f"result = {predict}(recording, {latency}{more})",
        "result.plot()",
    ]
    return "\n".join(lines + (_own_lines(shown.own, here) if shown.own else [])) + "\n"


def _own_lines(own: ProgramRecording, options: str) -> list[str]:
    added = ", ".join(f"{one:g}" for one in np.unique(own.runs.added_s).tolist())
    repeats = 1 + int(own.runs.repeat.max())
    return [
        "own = measure_program(",
        f'    "{own.name}", "{own.name}-here", ranks={own.ranks}, repeats={repeats},',
        f"    latencies_s=({added}),",
        ")",
        f"here = predict_recording(own, {options})",
        "here.plot()",
    ]
