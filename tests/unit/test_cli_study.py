"""The command ``workbench study``: runs, stops politely, says how far it is and shows errors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.study import StudyPlan, StudyResult, status

PLAN = """\
name: little
machines: [azure-hb96v3-hdr, llnl-dane-omnipath]
losses: [rmsre, mae]
targets: [both]
models: [logp]
trials: 6
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "little.yaml"
    path.write_text(PLAN)
    return path


def test_run_status_and_show_say_what_the_library_says(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "status", str(plan)]) == 0
    assert "0 of 4 cells, 0 of 24 trials" in capsys.readouterr().out
    assert main(["study", "run", str(plan), "--workers", "1", "--save", str(tmp_path / "p")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    result = StudyResult.read(StudyPlan.from_yaml(plan), plan.with_suffix(".db"))
    assert StudyResult.load(tmp_path / "p") == result
    assert out.splitlines()[0] == repr(result)
    assert "RMSPE of latency and bandwidth in percent\n" in out
    best = result.one(machine="azure-hb96v3-hdr", loss="rmsre")
    assert f"{best.rmspe['joint']:.1f}" in out

    assert main(["study", "show", str(plan)]) == 0
    assert capsys.readouterr().out == out
    assert main(["study", "show", str(plan), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [cell["joint"] for cell in shown["cells"]] == [c.rmspe["joint"] for c in result]
    assert main(["study", "status", str(plan), "--json"]) == 0
    now = json.loads(capsys.readouterr().out)
    assert now["cells"]["done"] == 4
    assert [cell["trials"] for cell in now["by_cell"]] == [6] * 4


def test_a_database_may_be_named(plan: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    assert main(["study", "run", str(plan), "--workers", "1", "--database", str(other)]) == 0
    assert status(StudyPlan.from_yaml(plan), other).finished
    assert not plan.with_suffix(".db").exists()


def test_a_wrong_plan_is_refused_in_one_paragraph(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(PLAN.replace("mae", "mean"))
    assert main(["study", "run", str(plan)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("workbench: error: little.yaml:3: no loss is named 'mean'")
    assert main(["study", "run", str(plan.with_name("absent.yaml"))]) == 1
    assert "absent.yaml: No such file" in capsys.readouterr().err


def test_ctrl_c_stops_politely_and_says_how_to_go_on(plan: Path) -> None:
    plan.write_text(PLAN.replace("trials: 6", "trials: 100000"))
    database = plan.with_suffix(".db")
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", "study", "run", str(plan), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        loaded = StudyPlan.from_yaml(plan)
        while status(loaded, database).trials < 4:
            assert command.poll() is None
            time.sleep(0.1)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=600)
    assert command.returncode == 128 + signal.SIGINT
    assert out.startswith("StudyResult(little, 0 of 4 cells done")
    assert "stopped with 0 of 4 cells done" in err
    assert f"stored in {database}: the same command continues from there" in err
    assert status(loaded, database).counts["running"] == 0
