"""Predictions beside programs that ran: run times under added latency, on an emulated cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.validation.campaign import LATENCIES_S, measure_program
    from workbench.validation.collectives import (
        EmulatedCollectives,
        measure_collectives,
        shipped_collectives,
    )
    from workbench.validation.injectors import InjectorComparison, compare_injectors
    from workbench.validation.prediction import predict_recording, predict_traces, seen_runs
    from workbench.validation.recording import CostAtLatency, ProgramRecording
    from workbench.validation.report import (
        ValidationReport,
        recording_of,
        shipped_names,
        shipped_recordings,
        validation_report,
    )
    from workbench.validation.suite import SUITE, ValidationProgram
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "LATENCIES_S",
    "SUITE",
    "CostAtLatency",
    "EmulatedCollectives",
    "InjectorComparison",
    "ProgramRecording",
    "ValidationProgram",
    "ValidationReport",
    "compare_injectors",
    "measure_collectives",
    "measure_program",
    "predict_recording",
    "predict_traces",
    "recording_of",
    "seen_runs",
    "shipped_collectives",
    "shipped_names",
    "shipped_recordings",
    "validation_report",
]
