"""Predictions beside programs that ran: run times under added latency, on an emulated cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.validation.campaign import (
        LATENCIES_S as LATENCIES_S,
        measure_program as measure_program,
    )
    from workbench.validation.collectives import (
        EmulatedCollectives as EmulatedCollectives,
        measure_collectives as measure_collectives,
        shipped_collectives as shipped_collectives,
    )
    from workbench.validation.figure import (
        plot_program_recording as plot_program_recording,
        plot_validation_report as plot_validation_report,
    )
    from workbench.validation.injectors import (
        InjectorComparison as InjectorComparison,
        compare_injectors as compare_injectors,
    )
    from workbench.validation.prediction import (
        predict_recording as predict_recording,
        predict_traces as predict_traces,
        seen_runs as seen_runs,
    )
    from workbench.validation.recording import (
        CostAtLatency as CostAtLatency,
        ProgramRecording as ProgramRecording,
    )
    from workbench.validation.report import (
        ValidationReport as ValidationReport,
        recording_of as recording_of,
        shipped_names as shipped_names,
        shipped_recordings as shipped_recordings,
        validation_report as validation_report,
    )
    from workbench.validation.suite import SUITE as SUITE, ValidationProgram as ValidationProgram
    from workbench.validation.two_messages import (
        InjectedMessages as InjectedMessages,
        measure_two_messages as measure_two_messages,
        shipped_two_messages as shipped_two_messages,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
