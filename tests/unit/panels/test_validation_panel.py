"""The panel of programs that ran: what its lists change, what is saved, what is measured here."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.panels.waiting import settled
from workbench.errors import ParameterError
from workbench.measure import read_measured_runs
from workbench.mpi import MPIError
from workbench.namespaces import NamespaceError
from workbench.panels.validation import measure, panel as panel_module
from workbench.panels.validation.panel import ValidationPanel
from workbench.panels.validation.state import HERE, some_latencies
from workbench.validation import (
    SUITE,
    ProgramRecording,
    predict_recording,
    predict_traces,
    recording_of,
    shipped_names,
    validation_report,
)

NAME = "cg-4"


@pytest.fixture(scope="module")
def only_panel() -> ValidationPanel:
    """The panel that the tests share: its figures take a second to make."""
    return ValidationPanel(NAME)


@pytest.fixture
def panel(only_panel: ValidationPanel) -> Iterator[ValidationPanel]:
    """The shared panel as it was when it was new."""
    only_panel._own.clear()
    only_panel.recording, only_panel.latency = NAME, "seen"
    only_panel.points, only_panel.repeats = 4, 1
    only_panel._choose()
    settled(only_panel)
    yield only_panel
    only_panel.stop()
    settled(only_panel)


def part_of(recording: ProgramRecording, latencies_s: tuple[float, ...]) -> ProgramRecording:
    """Return the first repeat of a recording at some latencies, as if measured here."""
    runs = recording.runs
    kept = np.isin(runs.added_s, latencies_s) & (runs.repeat == 0)
    return replace(recording, runs=runs._of(kept))


@pytest.fixture
def one_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let further panels predict one recording, not all that ship."""
    monkeypatch.setattr(panel_module, "shipped_names", lambda: [NAME])


def measured_as_shipped(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Let measuring return the shipped runs, and return the list of what was asked for."""
    asked: list[dict[str, Any]] = []

    def measured(program: str, folder: Path, **options: Any) -> ProgramRecording:
        options.pop("task").report(1, len(options["latencies_s"]))
        asked.append({"program": program, **options})
        return part_of(recording_of(f"{program}-{options['ranks']}"), options["latencies_s"])

    monkeypatch.setattr(measure, "measure_program", measured)
    return asked


def test_it_shows_a_shipped_recording(panel: ValidationPanel) -> None:
    expected = predict_recording(recording_of(NAME))
    assert panel.result.rrmse_percent == expected.rrmse_percent
    assert panel.drawn("measured")["T"] == pytest.approx((expected.measured_s * 1e9).tolist())
    assert "Predicted and emulated run times differ by" in panel.text
    assert "emulated on one machine" in panel.text
    assert panel.error == ""
    assert [panel.controls["recording"].options[0][1]] == [NAME]
    assert {value for _, value in panel.controls["recording"].options} == set(shipped_names())


def test_latency_as_set_moves_the_points(panel: ValidationPanel) -> None:
    before = panel.drawn("measured")["L"]
    panel.latency = "set"
    assert (
        settled(panel).rrmse_percent
        == predict_recording(recording_of(NAME), latency="set").rrmse_percent
    )
    assert panel.drawn("measured")["L"] != before
    with pytest.raises(ParameterError, match="sett is not a known latency"):
        panel.latency = "sett"


def test_every_program_is_in_the_table_and_the_chosen_one_is_bold(panel: ValidationPanel) -> None:
    assert panel.report.rrmse_percent == pytest.approx(validation_report().rrmse_percent)
    rows = panel._programs.value.split("<tr")
    for name in shipped_names():
        of_name = [row for row in rows if is_row_of(row, recording_of(name))]
        assert len(of_name) == 1, name
        at = shipped_names().index(name)
        assert f">{panel.report.trust[at]}</td>" in of_name[0]
    for name in (NAME, shipped_names()[-1]):
        panel.recording = name
        settled(panel)
        [row] = [line for line in panel._programs.value.split("<tr") if "bold" in line]
        assert is_row_of(row, recording_of(name))
        assert panel.error == ""


def is_row_of(row: str, recording: ProgramRecording) -> bool:
    """Return whether a row of the table of programs is that of a recording."""
    named = any(f">{recording.name}</{cell}>" in row for cell in ("th", "td"))
    return named and f">{recording.ranks}</td>" in row


def test_each_point_has_its_numbers(panel: ValidationPanel) -> None:
    panel.open("This program")
    frame = panel.result.to_frame()
    assert f"{frame['error (%)'].iloc[-1]:+.1f} %" in panel.text
    assert "predicted tolerance\t1 % slower\t2 % slower\t5 % slower" in panel.text


def test_traces_of_several_latencies_have_a_curve_each(
    panel: ValidationPanel, one_shipped: None, tmp_path: Path
) -> None:
    shipped = recording_of(NAME)
    assert panel.controls["traced_us"].layout.display == ("" if len(shipped.traces) > 1 else "none")
    traces = {0.0: shipped.traces[0.0], 1e-3: shipped.traces[0.0]}
    two = replace(shipped, traces=traces)
    two.save(tmp_path / "two")
    other = ValidationPanel(tmp_path / "two")
    settled(other)
    assert other.controls["traced_us"].layout.display == ""
    other.traced_us = "all"
    settled(other)
    assert list(other.results) == list(predict_traces(two).analyses)
    assert "Traced with 1000 µs added: " in other.text
    assert len(other.drawn("measured")["L"]) == len(np.unique(two.runs.added_s))
    other.traced_us = 1000.0
    settled(other)
    assert "traced_s=0.001" in other.python


def test_the_code_makes_what_is_shown(panel: ValidationPanel) -> None:
    panel.latency = "set"
    settled(panel)
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["result"].rrmse_percent == panel.result.rrmse_percent


def test_files_hold_the_runs_and_the_errors(panel: ValidationPanel, tmp_path: Path) -> None:
    runs = read_measured_runs(panel.save(tmp_path / "runs.csv"))
    assert runs.time_s == pytest.approx(panel.result.runs.time_s)
    content = json.loads(panel.save(tmp_path / "errors.json").read_text())
    [found] = content["predictions"].values()
    assert found["rrmse_percent"] == panel.result.rrmse_percent
    assert "<html" in panel.save(tmp_path / "figure.html").read_text()
    with pytest.raises(ParameterError, match="suffix must be one of"):
        panel.save(tmp_path / "figure.ini")


def test_what_is_measured_here_stands_beside_the_shipped(
    panel: ValidationPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = measured_as_shipped(monkeypatch)
    panel.points = 3
    panel.press("▶ Measure here")
    settled(panel)
    assert panel.error == ""
    shipped = recording_of(NAME)
    [one] = asked
    assert (one["program"], one["ranks"], one["repeats"]) == (shipped.name, shipped.ranks, 1)
    assert one["latencies_s"] == some_latencies(shipped, 3)
    assert panel.own is not None
    assert list(panel.results) == [f"{shipped.name}, {shipped.ranks} ranks", HERE]
    assert panel.drawn("measured")["name"].count(HERE) == 3
    assert "Measured here: predicted run times are" in panel.text
    assert "3 runs in" in panel.text
    both = read_measured_runs(panel.save(tmp_path / "both.csv"))
    assert [name for name, _ in both.programs] == list(panel.results)
    # Another program is shown without it, and the choice of the first brings it back.
    panel.recording = shipped_names()[-1]
    settled(panel)
    assert panel.own is None
    assert len(panel.results) == 1
    panel.recording = NAME
    settled(panel)
    assert HERE in panel.results


@pytest.mark.parametrize("error", [NamespaceError("need root"), MPIError("an MPI must be there")])
def test_an_error_stands_beside_the_button(
    panel: ValidationPanel, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*words: Any, **options: Any) -> ProgramRecording:
        raise error

    monkeypatch.setattr(measure, "measure_program", refused)
    panel.run()
    settled(panel)
    assert panel._work.error.message.startswith(f"{error}. {measure.NEEDS}")
    assert panel.own is None
    assert panel.result is not None


def test_a_stopped_measurement_keeps_whole_repeats(
    panel: ValidationPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def stopped(keep: bool) -> Callable[..., ProgramRecording]:
        def run(program: str, folder: Path, **options: Any) -> ProgramRecording:
            if keep:
                part_of(recording_of(NAME), options["latencies_s"]).save(folder)
            started.set()
            options["task"].stop_event.wait(60)
            raise MPIError("stopped before the program had ended")

        return run

    for keep in (False, True):
        started.clear()
        monkeypatch.setattr(measure, "measure_program", stopped(keep))
        panel.run()
        assert started.wait(60)
        with pytest.raises(ParameterError, match="a measurement runs"):
            panel.run()
        panel.press("■ Stop")
        settled(panel)
        assert (panel.own is not None) == keep
        assert panel.error == ""
        assert "stopped" in panel._work.status.value


def test_a_program_without_a_source_is_not_measured(one_shipped: None, tmp_path: Path) -> None:
    replace(recording_of(NAME), name="other").save(tmp_path / "other")
    other = ValidationPanel(tmp_path / "other")
    other.run()
    settled(other)
    assert f"the program must be one of {', '.join(SUITE)}" in other.error


def test_what_cannot_be_shown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="recording must be one of"):
        ValidationPanel("nothing")
    monkeypatch.setattr(panel_module, "shipped_names", list)
    with pytest.raises(ParameterError, match="there is none; reinstall the package"):
        ValidationPanel()


def test_whom_a_master_answers_is_decided_by_arrivals_or_as_traced(panel: ValidationPanel) -> None:
    shown = panel.controls["arrivals"].layout
    assert shown.display == "none", "no receive of this program is from any source"
    panel.recording = "master_worker-4"
    assert settled(panel).by_arrival
    assert shown.display == ""
    assert "is decided by arrivals" in panel.text
    assert "arrivals" not in panel.python
    panel.arrivals = False
    found = settled(panel)
    traced = predict_recording(recording_of("master_worker-4"), arrivals=False)
    assert found.rrmse_percent == traced.rrmse_percent
    assert "arrivals=False" in panel.python
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["result"].rrmse_percent == traced.rrmse_percent
    panel.traced_us = "all"
    settled(panel)
    assert shown.display == "none"
    assert "arrivals" not in panel.python
    panel.traced_us, panel.arrivals = 0.0, True
