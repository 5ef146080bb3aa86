"""A program given as itself, its path or its name: which it was is said, everywhere alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import programs, simulate
from workbench.cli import main
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.models import LogGPS
from workbench.panels.program_sources import source_of
from workbench.sensitivity import analyse

MODEL = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=65535)
GOAL = "num_ranks 1\nrank 0 {\ncalc 1234\n}\n"


def test_a_replay_and_an_analysis_take_names_and_paths(tmp_path: Path) -> None:
    expected = simulate.replay(programs.load("halo-4"), MODEL).makespan_ns
    assert simulate.replay("halo-4", MODEL).makespan_ns == expected
    tolerances = [analyse(given, MODEL).tolerance for given in ("halo-4", programs.load("halo-4"))]
    assert tolerances[0] == tolerances[1]
    path = tmp_path / "one.goal"
    path.write_text(GOAL)
    assert simulate.replay(path, MODEL).makespan_ns == 1234
    assert simulate.replay(str(path), MODEL).makespan_ns == 1234


def test_a_path_goes_before_a_shipped_name_and_both_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert programs.find("halo-4").notes[0] == "halo-4 is the shipped program of that name."
    Path("halo-4").write_text(GOAL)
    found = programs.find("halo-4")
    assert isinstance(found, programs.ExecutionGraph)
    assert f"{tmp_path / 'halo-4'}; the shipped program of that name was not" in found.notes[0]
    assert source_of("halo-4").make().num_ranks == 1
    assert main(["replay", "halo-4"]) == 0
    out, err = capsys.readouterr()
    assert "1,234 ns" in out
    assert "was not taken" in err
    Path("halo-4").unlink()
    assert source_of("halo-4").make().num_ranks == 4
    assert main(["replay", "halo-4", "--algorithm", "allreduce=ring"]) == 0
    assert "halo-4 is the shipped program" in capsys.readouterr().err


def test_what_is_none_of_it_is_reported(tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"no file or folder is called 'cg-9'.*did you mean cg-8"
    ):
        programs.find("cg-9")
    with pytest.raises(ParseError, match="No such file"):
        programs.find(tmp_path / "none.goal")
    with pytest.raises(ParseError, match="No such file"):
        programs.find("folder/none.goal")
    with pytest.raises(ParameterError, match="the path of a GOAL file or of a trace"):
        simulate.replay(7, MODEL)  # type: ignore[arg-type]


def test_a_trace_becomes_goal_in_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ring.goal"
    assert main(["goal", "from-trace", "cg-4", str(out), "--algorithm", "allreduce=ring"]) == 0
    assert programs.read_goal(out) == programs.load("cg-4").graph(allreduce="ring")
    assert programs.read_goal(out) != programs.load("cg-4").graph()
    binary = tmp_path / "cg.bin"
    assert main(["goal", "from-trace", "cg-4", str(binary)]) == 0
    assert "binary, 4 ranks" in capsys.readouterr().out
    assert main(["goal", "from-trace", "cg-4", str(out), "--algorithm", "allreduce=rung"]) == 1
