from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from tests.unit.panels.waiting import PATIENCE_S, settled
from workbench import machines, models, programs
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.models.loggps import parse_loggps
from workbench.panels import job_controls
from workbench.panels.loggps_choice import LOGGOPSIM, SCALES
from workbench.panels.program_sources import GENERATED
from workbench.panels.replay import panel as panel_module
from workbench.panels.replay.panel import FIRST, FIRST_MACHINE, ReplayPanel
from workbench.panels.replay.state import ShownReplay
from workbench.programs import ExecutionGraph
from workbench.programs.collectives import ALGORITHMS, DEFAULTS
from workbench.simulate.replay import replay

CROSSED = """num_ranks 2
rank 0 {
a: send 1000b to 1
b: recv 1000b from 1
b requires a
}
rank 1 {
a: send 1000b to 0
b: recv 1000b from 0
b requires a
}
"""


@pytest.fixture(scope="module")
def small() -> programs.Program:
    """A program with two collectives and point-to-point messages."""
    builder = programs.ProgramBuilder(4, source="small")
    for _ in range(3):
        for rank in range(4):
            builder.compute(rank, 10_000 + 1000 * rank)
            builder.send(rank, (rank + 1) % 4, 64)
            builder.recv(rank, (rank - 1) % 4, 64)
        builder.collective("allreduce", 4096)
        builder.collective("bcast", 1024, root=1)
    return builder.build()


@pytest.fixture(scope="module")
def only_panel(small: programs.Program) -> ReplayPanel:
    """The panel that the tests share, outside of a kernel: its figures take a second to make."""
    return ReplayPanel(small, machine="loggopsim")


@pytest.fixture
def panel(only_panel: ReplayPanel, small: programs.Program) -> Iterator[ReplayPanel]:
    """The shared panel as it was when it was new, whatever a test before has done to it."""
    only_panel.unpin()
    only_panel.machine, only_panel.semantics = "loggopsim", "loggopsim"
    only_panel.program = small
    settled(only_panel)
    yield only_panel
    only_panel.stop()
    settled(only_panel)


def test_it_opens_on_a_recorded_program() -> None:
    panel = ReplayPanel()
    result = settled(panel)
    assert panel.program == FIRST
    assert programs.list()[FIRST].provenance.origin == "measured"
    assert panel.model == machines.load(FIRST_MACHINE).loggps
    assert result.finish_ns == replay(programs.load(FIRST), panel.model).finish_ns
    assert panel.error == ""


def test_a_slider_is_an_attribute(panel: ReplayPanel, small: programs.Program) -> None:
    panel.L_us, panel.o_us, panel.g_us = 5, 0.25, 0.1
    panel.G_ns, panel.O_ns, panel.S_bytes = 0.018, 0, 4096
    model = models.LogGPS(L=5e-6, o=2.5e-7, g=1e-7, G=1.8e-11, O=0.0, S=4096)
    assert panel.model == model
    assert (panel.L_us, panel.G_ns, panel.S_bytes) == pytest.approx((5, 0.018, 4096))
    assert settled(panel).finish_ns == replay(small, model).finish_ns
    assert panel.controls["L_us"].text.value == "5 µs"
    assert panel.controls["G_ns"].text.value == "0.018 ns/B"


def test_a_moved_slider_redraws(panel: ReplayPanel) -> None:
    before = settled(panel).makespan_ns
    row = panel.controls["L_us"]
    row.input.value = SCALES[0].position(1e-3)
    result = settled(panel)
    assert result.makespan_ns > before
    assert panel.L_us == pytest.approx(1000)
    assert max(panel.drawn("breakdown")["finish_ns"]) == result.makespan_ns
    assert panel._view is not None
    assert panel._view.spacetime.timeline.makespan_ns == result.makespan_ns  # before it is drawn


def test_small_programs_follow_while_a_slider_moves(
    panel: ReplayPanel, small: programs.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move is drawn before it returns; `make bench` prints how long that takes."""
    # On a busy machine the panel goes on in the background, where this test would not see it.
    monkeypatch.setattr(panel_module, "_AT_ONCE_S", PATIENCE_S)
    for place in (30, 60, 90, 120, 150):
        panel.controls["L_us"].input.value = place
        assert not panel.running
        drawn = max(panel.drawn("breakdown")["finish_ns"])
        assert drawn == replay(small, panel.model).makespan_ns


def test_algorithms_are_chosen_by_operation(panel: ReplayPanel, small: programs.Program) -> None:
    lists = {name: panel.controls[name] for name in small.operations}
    assert list(lists) == ["allreduce", "bcast"]
    assert lists["allreduce"].value == DEFAULTS["allreduce"]
    assert {value for _, value in lists["bcast"].options} >= set(ALGORITHMS["bcast"])
    lists["allreduce"].value = "ring"
    settled(panel)
    assert panel.algorithms == {"allreduce": "ring"}
    assert panel.graph == small.graph(allreduce="ring")
    panel.algorithms = {"bcast": "pipeline:512"}
    settled(panel)
    assert panel.graph == small.graph(bcast="pipeline:512")
    assert panel.algorithms == {"bcast": "pipeline:512"}
    panel.algorithms = {}
    settled(panel)
    assert panel.graph == small.graph()


@for_each(
    "chosen, said",
    [({"scan": "linear"}, "collectives are allreduce, bcast"), ({"bcast": "rnig"}, "bcast")],
)
def test_algorithms_that_are_not_there_are_refused(
    panel: ReplayPanel, chosen: dict[str, str], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        panel.algorithms = chosen
    assert panel.algorithms == {}


def test_parameters_from_a_machine_until_one_is_moved(panel: ReplayPanel) -> None:
    assert panel.controls["machine"].value == "loggopsim"
    panel.machine = "azure-hb96v3-hdr"
    assert panel.model == machines.load("azure-hb96v3-hdr").loggps
    assert 'machines.load("azure-hb96v3-hdr").loggps' in panel.python
    panel.L_us = 3
    assert panel.machine == ""
    assert panel.controls["machine"].value == ""
    assert panel.model.o == machines.load("azure-hb96v3-hdr").loggps.o


def test_the_other_semantics(panel: ReplayPanel, small: programs.Program) -> None:
    panel.semantics = "llamp"
    expected = replay(small, LOGGOPSIM, semantics="llamp")
    assert settled(panel).finish_ns == expected.finish_ns
    with pytest.raises(ParameterError, match="known are"):
        panel.semantics = "other"


def test_two_settings_side_by_side(panel: ReplayPanel) -> None:
    a = settled(panel)
    panel.pin()
    panel.L_us = 500
    b = settled(panel)
    assert panel.pinned is a
    assert f"{b.makespan_ns / a.makespan_ns:.3g} × A" in panel.text
    assert [title[:3] for title in panel.figures[1:3]] == ["A: ", "B: "]
    assert panel.drawn("pinned")["finish_ns"] == [float(ns) for ns in a.finish_ns]
    view = panel._view  # the axes are no data of a source
    assert view is not None
    assert view.pinned.figure.y_range.end == view.breakdown.figure.y_range.end
    panel.unpin()
    assert panel.pinned is None
    assert not [title for title in panel.figures if title.startswith(("A: ", "B: "))]


def test_a_deadlock_is_reported_and_the_last_figures_stay(panel: ReplayPanel) -> None:
    panel.upload({"crossed.goal": CROSSED.encode()})
    good = settled(panel)
    assert panel.program == "crossed.goal"
    assert good.graph == ExecutionGraph.from_goal(CROSSED)
    panel.S_bytes = 999
    assert settled(panel) is good
    assert "rank 0, line 3: send 1000 B to 1" in panel.error
    assert "send 1000 B to 0" in panel.error
    panel.S_bytes = 1000
    assert settled(panel) is not good
    assert panel.error == ""


def test_a_trace_is_uploaded_with_its_collectives(panel: ReplayPanel) -> None:
    found = programs.list()["cg-4"]
    path = found.path.parent / found.descriptor["resources"][0]["path"]
    panel.upload({path.name: path.read_bytes()})
    settled(panel)
    assert panel.graph == programs.load("cg-4").graph()
    assert "allreduce" in panel.controls
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, called in (("", "trace-0.txt and 3 more"), ("CG on my cluster", "CG on my cluster")):
        panel.upload(files, name)
        assert settled(panel).graph.source == panel.program == called


def test_a_program_is_read_from_a_path_of_the_kernels_machine(
    panel: ReplayPanel, tmp_path: Path
) -> None:
    (tmp_path / "crossed.goal").write_text(CROSSED)
    panel.controls["upload"].path.value = str(tmp_path)
    assert (panel.error, panel.program) == ("", "crossed.goal")


@for_each("files", [{}, {"a.goal": b"num_ranks"}, {"a": b"\x00\xff"}, {"": b""}])
def test_an_upload_that_is_no_program_is_refused(
    panel: ReplayPanel, files: dict[str, bytes]
) -> None:
    before = settled(panel)
    with pytest.raises((ParameterError, ParseError)):
        panel.upload(files)
    panel.controls["upload"].take(files)
    assert panel.error
    assert panel.result is before


@for_each("name", sorted(GENERATED))
def test_every_generator_is_made_and_replayed(panel: ReplayPanel, name: str) -> None:
    panel.program = name
    result = settled(panel)
    assert panel.error == ""
    assert result.makespan_ns > 0
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["result"].finish_ns == result.finish_ns


def test_the_fields_of_a_generator_change_the_program(panel: ReplayPanel) -> None:
    panel.program = "halo-2d"
    settled(panel)
    panel.controls["ranks"].value = 9
    assert settled(panel).graph.num_ranks == 9
    panel.controls["cells"].value = 1
    panel.controls["ranks"].value = 4
    assert settled(panel).graph.num_ranks == 4


def test_a_large_program_is_replayed_in_the_background(panel: ReplayPanel) -> None:
    large = programs.generate.halo(64, iterations=200, rng=1)
    panel.program = large
    settled(panel)
    assert panel.graph is not None
    assert panel.graph.num_ops > 100_000
    panel.L_us = 7
    assert panel.running
    assert panel.buttons["■ Stop"]
    result = settled(panel)
    assert result.model.L == 7e-6
    assert not panel.buttons["■ Stop"]


def test_of_several_in_a_row_the_last_one_is_shown(panel: ReplayPanel) -> None:
    panel.program = programs.generate.halo(64, iterations=200, rng=1)
    settled(panel)
    for latency in (3, 4, 5, 6):
        panel.L_us = latency
    assert settled(panel).model.L == 6e-6


def test_a_replay_can_be_stopped(panel: ReplayPanel) -> None:
    panel.program = programs.generate.halo(64, iterations=200, rng=1)
    before = settled(panel)
    panel.L_us = 7
    panel.stop()
    after = settled(panel)
    # It may have ended before it was asked to.
    assert after is before or after.model.L == 7e-6
    assert after is not before or "stopped" in panel.text
    assert panel.error == ""


def test_the_lines_of_python_give_what_is_shown(
    panel: ReplayPanel, small: programs.Program
) -> None:
    panel.algorithms = {"allreduce": "ring"}
    panel.semantics = "llamp"
    panel.G_ns = 0.25
    shown = settled(panel)
    scope: dict[str, Any] = {"program": small}
    lines = panel.python
    exec(lines, scope)
    assert scope["result"].finish_ns == shown.finish_ns
    panel.open("Python")
    assert lines in panel.text


def test_the_python_of_a_shipped_program_needs_nothing_else() -> None:
    panel = ReplayPanel("transpose-4")
    shown = settled(panel)
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["result"].finish_ns == shown.finish_ns


def test_files_hold_what_is_shown(panel: ReplayPanel, tmp_path: Path) -> None:
    result = settled(panel)
    frame = pd.read_csv(panel.save(tmp_path / "a.csv"))
    assert len(frame) == result.graph.num_ops
    assert frame["end_ns"].max() == result.makespan_ns
    content = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert content["finish_ns"] == result.finish_ns
    assert models.LogGPS.from_dict(content["parameters"]) == panel.model
    assert ExecutionGraph.from_goal(panel.save(tmp_path / "a.goal")) == panel.graph
    with pytest.raises(ParameterError, match="suffix"):
        panel.save(tmp_path / "a.txt")


def test_the_communication_is_drawn_when_it_is_looked_at(panel: ReplayPanel) -> None:
    settled(panel)
    assert "16" not in panel._communication.description.value  # of a tab that may be hidden
    panel.open("Python")
    panel.open("Communication")
    assert "pairs of ranks exchange messages" in panel.text
    panel.open("Notes")
    assert "simulated" in panel.text


def test_a_page_that_zooms_in_is_given_the_window(panel: ReplayPanel) -> None:
    settled(panel)
    view = panel._view
    assert view is not None
    makespan = view.spacetime.timeline.makespan_ns
    window = (0.2 * makespan, 0.4 * makespan)
    asked = {
        "x0": [window[0]],
        "x1": [window[1]],
        "y0": [-0.5],
        "y1": [3.5],
        "width": [800],
        "height": [200],
        "whole": [0],
        "revision": view.spacetime.moved.data["revision"],
    }
    view.view.receive(
        {"kind": "changed", "id": view.spacetime.asked.id, "attr": "data", "value": asked}
    )
    assert view.spacetime.window == (*window, -0.5, 3.5)
    left = np.asarray(view.spacetime.bars.data["left"])
    assert (left < window[1] + 0.3 * (window[1] - window[0])).all()


def test_what_cannot_be_set_says_what_can(panel: ReplayPanel) -> None:
    with pytest.raises(AttributeError, match="L_us"):
        panel.latency = 3
    with pytest.raises(ParameterError, match="L must be"):
        panel.L_us = -1
    with pytest.raises(ParameterError, match="L must be a time such as"):
        panel.L_us = "much"
    panel.L_us = "300 ns"
    assert pytest.approx(3e-7) == panel.model.L
    with pytest.raises(ParameterError, match="the name of a shipped program"):
        panel.program = 3
    with pytest.raises(
        DatasetError,
        match=r"no file or folder is called .nowhere.: no program is named",
    ):
        ReplayPanel("nowhere")
    with pytest.raises(DatasetError, match="no machine is named"):
        ReplayPanel(machine="nowhere")
    assert {"L_us", "algorithms", "run", "pin"} <= set(dir(panel))
    assert "\n" not in repr(panel)


@for_each("scale", SCALES)
def test_a_slider_returns_the_value_it_was_moved_to(scale: Any) -> None:
    last = scale.position(scale.about.high)
    for place in range(0, last + 1):
        value = scale.value_at(place)
        assert scale.position(value) == place
        assert parse_loggps(scale.about.key, scale.text(value)) == pytest.approx(value, rel=6e-3)
    assert scale.value_at(0) == 0


@for_each(
    "name, text, value",
    [
        ("L", "2.5", None),
        ("L", "2.5us", 2.5e-6),
        ("L", "800 ns", 8e-7),
        ("L", "1µs", 1e-6),
        ("G", "0.018", None),
        ("G", "0.018ns/B", 1.8e-11),
        ("G", "25GB/s", 4e-11),
        ("G", "200Gbit/s", 4e-11),
        ("G", "40 ps/B", 4e-11),
        ("O", "0", 0.0),
        ("S", "64KiB", 65536),
        ("S", "64 kB", 64000),
        ("S", "64 kb", None),
        ("S", "all", 2**31 - 1),
        ("S", "1.5 KiB", 1536),
        ("S", "-1", None),
        ("S", "0.1KiB", None),
        ("L", "-3", None),
        ("L", "three", None),
        ("L", "nan", None),
    ],
)
def test_typed_values_are_read_with_their_units(name: str, text: str, value: float | None) -> None:
    model = models.LogGPS(L=1e-6, o=1e-6, g=0.0, G=1e-10, O=0.0, S=1)
    if value is None:
        with pytest.raises(ParameterError, match=f"^{name} must be"):
            parse_loggps(name, text)
        with pytest.raises(ParameterError):
            model.replace(**{name: text})
    else:
        assert parse_loggps(name, text) == value
        assert getattr(model.replace(**{name: text}), name) == value


def test_a_typed_mistake_is_shown_beside_its_slider(panel: ReplayPanel) -> None:
    row = panel.controls["o_us"]
    row.text.value = "soon"
    assert "soon" in row.error.message
    assert "soon" in panel.error
    row.text.value = "3 us"
    assert panel.error == ""
    assert panel.o_us == pytest.approx(3)


def test_waiting_for_what_never_ends_has_an_end() -> None:
    began = time.monotonic()
    job_controls.wait_for(lambda: True, 0.1)
    assert time.monotonic() - began >= 0.1


def test_a_title_tells_one_replay_from_another(panel: ReplayPanel) -> None:
    settled(panel)

    def title() -> str:
        shown = panel._shown  # its title stands in the sentence of two replays only
        assert isinstance(shown, ShownReplay)
        return shown.title

    before = title()
    panel.algorithms = {"allreduce": "ring"}
    settled(panel)
    assert title() != before
    assert "allreduce ring" in title()


def test_a_number_out_of_range_leaves_the_program_as_it_was(panel: ReplayPanel) -> None:
    panel.program = "sweep"
    settled(panel)
    shown, ranks = panel.python, panel.controls["ranks"]
    ranks.typed.value = 99999
    assert panel.error == (
        "ranks must be a whole number from 2 to 4,096; got 99,999; "
        "the value stays 16 until a valid one is typed"
    )
    assert not panel.running
    assert panel.python == shown
    ranks.typed.value = 4
    settled(panel)
    assert panel.error == ""
    assert "ranks=4" in panel.python
