"""A session that cannot be opened says why and changes nothing; own files travel with it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.panels.test_fit_panel import OSU
from tests.unit.panels.test_tuning_panel import FILE
from workbench import programs
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.panels import (
    BlamePanel,
    ComparePanel,
    ExplorePanel,
    FitPanel,
    ReplayPanel,
    Session,
    StudyPanel,
    TolerancePanel,
    TuningPanel,
    read_session,
)
from workbench.provenance import Provenance

PATIENCE_S = 60.0
GOAL = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\n}\nrank 1 {\na: recv 8b from 0 tag 1\n}\n"
RUNS = "run,start,end\n" + "".join(f"r{n},{n * 100},{n * 100 + 50 + n}\n" for n in range(12))
JOBS = "job,user,nodes,start,end\nj1,bad,64,0,500\nj2,good,64,600,2000\n"


@pytest.fixture(scope="module")
def explore() -> ExplorePanel:
    return ExplorePanel()


def passed_on(session: Session) -> Session:
    """Return a session as it comes out of its file."""
    return read_session(session.to_json().encode())


@for_each(
    "change, message",
    [
        ({"machine": "cray-1"}, "cray-1 is not a known machine"),
        ({"machine": 3}, "the session's machine must be a text; got 3"),
        ({"injection_latency": "1us"}, "injection_latency must be a number; got '1us'"),
        ({"injection_latency": -1.0}, "injection"),
        ({"mtu": [1]}, r"mtu must be a number; got \[1\]"),
        ({"as_table": 1}, "as_table must be true or false; got 1"),
        ({"size": 7}, "7 is not a known size"),
    ],
)
def test_what_is_not_accepted_changes_nothing(
    explore: ExplorePanel, change: dict[str, object], message: str
) -> None:
    explore.machine, explore.injection_latency = "aws-hpc6a-efa", 3e-7
    explore.wait(PATIENCE_S)
    before, text = explore.session(), explore.text
    settings = {**before.settings, "injection_bandwidth": 1e9, **change}
    with pytest.raises(ParameterError, match=message):
        explore.load_session(replace(before, settings=settings))
    assert explore.session() == before
    explore.wait(PATIENCE_S)  # on a busy machine what was set back is still being simulated
    assert explore.text == text


def test_a_session_of_another_panel_or_version_says_so(explore: ExplorePanel) -> None:
    with pytest.raises(ParameterError, match="must be of ExplorePanel; it is of FitPanel: open"):
        explore.load_session(Session("FitPanel", {}))
    said = explore.load_session(Session("ExplorePanel", {"machne": "x"}, notes=("no chains",)))
    assert said[0] == "machne is no setting here; did you mean machine?; it is left out"
    assert "does not say machine, " in said[1] and "stays as it was" in said[1]
    assert said[2] == "no chains"
    with pytest.raises(ParameterError, match="takes no files for 'machine'"):
        explore.load_session(Session("ExplorePanel", {}, {"machine": {"own": {}}}))


def test_uploaded_measurements_travel(tmp_path: Path) -> None:
    panel = FitPanel()
    panel.upload({"mine.txt": OSU})
    panel.save_session(tmp_path / "state.json")
    again = FitPanel.from_session(tmp_path / "state.json")
    while panel.refresh() or again.refresh():  # a busy machine still simulates
        time.sleep(0.02)
    assert again.machine == "mine" and again.text == panel.text
    assert again.measured.latency_s.tolist() == panel.measured.latency_s.tolist()
    assert again.load_session(panel.session()) == ()
    again.upload({"mine.txt": OSU + "16384 9.5\n"})
    held = again.measured
    with pytest.raises(ParameterError, match="another machine named 'mine' here"):
        again.load_session(panel.session())
    assert again.measured is held


def test_an_uploaded_program_travels_and_a_python_one_is_named() -> None:
    panel = ReplayPanel()
    panel.upload({"pair.goal": GOAL.encode()})
    panel.algorithms = {}
    panel.L_us = 7
    session = passed_on(panel.session())
    assert session.notes == ()
    again = ReplayPanel.from_session(session)
    assert again.wait(PATIENCE_S).makespan_s == panel.wait(PATIENCE_S).makespan_s
    assert again.program == "pair.goal" and again.L_us == 7
    panel.program = programs.load("cg-8")
    [note] = panel.session().notes
    assert note.startswith("the program 'program' was given in Python")
    with pytest.raises(ParameterError, match="program is not a known program"):
        again.load_session(panel.session())
    assert again.session() == session
    again.program = panel.graph
    assert ReplayPanel.from_session(passed_on(again.session())).program == "program"


@pytest.mark.deep
def test_kept_programs_and_measured_times_travel() -> None:
    panel = TolerancePanel()
    panel.program = "cg"
    panel.controls["ranks"].value = 8
    panel.keep()
    panel.algorithms = {"allreduce": "ring"}
    panel.interval_us = (3.3, 21.7)
    added, took = np.array([0.0, 2e-5]), np.array([0.01, 0.011])
    about = Provenance("emulated", "a namespace", "runs.csv")
    panel.measured = MeasuredRuns.of(added, took, provenance=about, program="cg", ranks=8)
    panel.wait(PATIENCE_S)
    panel.probe_L_us = 12
    panel.wait(PATIENCE_S)
    session = passed_on(panel.session())
    again = TolerancePanel.from_session(session)
    assert again.session() == session, "also before its jobs have ended"
    again.wait(PATIENCE_S)
    assert again.session() == session
    assert again.programs == panel.programs and again.probe_L_us == pytest.approx(12)
    assert again.measured.time_s.tolist() == [0.01, 0.011]
    assert again.result.tolerance == panel.result.tolerance


@pytest.mark.deep
def test_own_graphs_and_traffic_travel() -> None:
    panel = ComparePanel(["torus:4x4"], simulate=False)
    panel.upload({"ring.txt": b"0 1\n1 2\n2 3\n3 0\n"})
    panel.upload_traffic({"mine.csv": b"src,dst,weight\n0,3,1\n"})
    panel.wait(PATIENCE_S)
    session = passed_on(panel.session())
    again = ComparePanel(["torus:2x2"], simulate=False)
    again.load_session(session)
    again.wait(PATIENCE_S)
    assert again.topologies == panel.topologies and again.traffic == "file:mine.csv"
    assert again.loads["ring.txt"].channel.tolist() == panel.loads["ring.txt"].channel.tolist()
    again.upload({"ring.txt": b"0 1\n1 2\n2 0\n"})
    with pytest.raises(ParameterError, match=r"another 'file:ring\.txt' here"):
        again.load_session(session)


def test_own_tables_travel(tmp_path: Path) -> None:
    panel = BlamePanel()
    panel.stop()
    for name, text, take in (("r.csv", RUNS, panel.take_runs), ("j.csv", JOBS, panel.take_jobs)):
        (tmp_path / name).write_text(text)
        take(tmp_path / name)
    panel.view = "runs"
    panel.wait(PATIENCE_S)
    panel.run = 3
    session = passed_on(panel.session())
    again = BlamePanel()
    again.stop()
    again.load_session(session)
    again.wait(PATIENCE_S)
    assert again.session() == session and again.run == 3 and again.text == panel.text


@pytest.mark.deep
def test_a_pinned_fit_travels_and_a_study_is_named() -> None:
    panel = StudyPanel()
    panel.pin()
    panel.loss = "mae"
    again = StudyPanel.from_session(passed_on(panel.session()))
    assert again.pinned.title == panel.pinned.title and again.chosen.title == panel.chosen.title
    other = replace(panel.session(), settings={**panel.session().settings, "study": "mine"})
    with pytest.raises(ParameterError, match="of the study 'mine'; this panel shows 'which-loss'"):
        again.load_session(other)


def test_a_component_file_and_the_places_of_this_machine_do_not_travel() -> None:
    panel = TuningPanel("sort", start=False)
    panel.store, panel.slurm, panel.application = "secret.db", "--wrap=x", "rm -r /"
    text = panel.session().to_json()
    assert "secret.db" not in text and "--wrap" not in text and "rm -r" not in text
    session = Session("TuningPanel", {"slurm": "--wrap=x", "store": "/etc/passwd"})
    said = panel.load_session(session)
    assert [one for one in said if one.startswith(("slurm is no setting", "store is no"))]
    assert panel.store == "secret.db"
    panel.upload({"own.yaml": FILE.encode()})
    session = passed_on(panel.session())
    assert "component file 'own.yaml' is not in a session: upload it" in session.notes[0]
    assert not session.files
    with pytest.raises(ParameterError, match=r"no subject is named 'file:own\.yaml/greeting'"):
        TuningPanel(start=False).load_session(session)


def test_a_session_opens_after_values_that_would_deadlock() -> None:
    panel = FitPanel()
    usual = panel.session()
    panel.load_session(replace(usual, settings={**usual.settings, "nic_credits": 0}))
    assert "credits must hold one packet" in panel.error
    panel.load_session(usual)
    assert panel.session() == usual
    assert panel.error == ""
