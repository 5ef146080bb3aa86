"""Programs are found by path or name; the package loads nothing before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench import programs, simulate
from workbench.cli import main
from workbench.errors import DatasetError, ParameterError, ParseError, WorkbenchError
from workbench.models import LogGPS
from workbench.panels.program_sources import source_of
from workbench.programs import ExecutionGraph, Program, generate
from workbench.tolerance import analyse

MODEL = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=65535)
ONE_GOAL = "num_ranks 1\nrank 0 {\ncalc 1234\n}\n"
GOAL = "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n"
TRACE = (
    "# trace\n\nMPI_Init:-:0:0:1000.5\n"
    "MPI_Barrier:1100.5:91,{rank},2:1200.5\nMPI_Finalize:1300.5:-\n"
)


@for_each(
    "text",
    [
        GOAL,
        "\n\n  " + GOAL,
        "// made by hand\n/* num_ranks 7 */\n" + GOAL,
        "/**/ " * 10_000 + GOAL,
    ],
)
def test_goal_text_is_recognised(tmp_path: Path, text: str) -> None:
    path = tmp_path / "program.txt"
    path.write_text(text)
    graph = programs.read(path)
    assert isinstance(graph, ExecutionGraph)
    assert graph.num_ops == 1


def test_binary_goal_is_recognised(tmp_path: Path) -> None:
    graph = generate.cg(4, iterations=1).graph()
    path = tmp_path / "program"
    graph.to_goal(path, binary=True)
    assert programs.read(str(path)) == graph


def test_a_trace_is_recognised_as_folder_and_as_file(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"trace-rank-{rank}.txt").write_text(TRACE.format(rank=rank))
    whole = programs.read(tmp_path)
    assert isinstance(whole, Program)
    assert whole.operations == {"barrier": 1}
    assert programs.read(tmp_path / "trace-rank-0.txt") == whole


@for_each("content", [b"", b"\0" * 100, b"/* " * 30_000, b"rank 0 {\n}\n"])
def test_what_is_none_of_these_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "0.txt"
    path.write_bytes(content)
    with pytest.raises(WorkbenchError):
        programs.read(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"missing\.goal"):
        programs.read(tmp_path / "missing.goal")


@for_each("name", programs.__all__)
def test_each_name_of_the_package_is_there(name: str) -> None:
    assert getattr(programs, name) is not None
    assert name in dir(programs)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="read_goal"):
        _ = programs.read_gaol


def test_the_package_imports_no_compiler() -> None:
    code = (
        "import sys\nfrom workbench.programs import Program, generate, list\ngenerate.cg(4)\n"
        "heavy = {'numba', 'pandas', 'bokeh', 'scipy'} & {*sys.modules}\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_replay_and_an_analysis_take_names_and_paths(tmp_path: Path) -> None:
    expected = simulate.replay(programs.load("halo-4"), MODEL).makespan_ns
    assert simulate.replay("halo-4", MODEL).makespan_ns == expected
    tolerances = [analyse(given, MODEL).tolerance for given in ("halo-4", programs.load("halo-4"))]
    assert tolerances[0] == tolerances[1]
    path = tmp_path / "one.goal"
    path.write_text(ONE_GOAL)
    assert simulate.replay(path, MODEL).makespan_ns == 1234
    assert simulate.replay(str(path), MODEL).makespan_ns == 1234


def test_a_path_goes_before_a_shipped_name_and_both_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert programs.find("halo-4").notes[0] == "halo-4 is the shipped program of that name."
    Path("halo-4").write_text(ONE_GOAL)
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
    out = tmp_path / "trees.goal"
    assert (
        main(["goal", "from-trace", "cg-4", str(out), "--algorithm", "allreduce=reduce-bcast"]) == 0
    )
    assert programs.read_goal(out) == programs.load("cg-4").graph(allreduce="reduce-bcast")
    assert programs.read_goal(out) != programs.load("cg-4").graph()
    binary = tmp_path / "cg.bin"
    assert main(["goal", "from-trace", "cg-4", str(binary)]) == 0
    assert "binary, 4 ranks" in capsys.readouterr().out
    assert main(["goal", "from-trace", "cg-4", str(out), "--algorithm", "allreduce=rung"]) == 1
