"""Programs are recognised by what their files hold; the package loads nothing before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench import programs
from workbench.errors import ParseError, WorkbenchError
from workbench.programs import ExecutionGraph, Program, generate

GOAL = "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n"
TRACE = (
    "# trace\n\nMPI_Init:-:0:0:1000.5\n"
    "MPI_Barrier:1100.5:91,{rank},2:1200.5\nMPI_Finalize:1300.5:-\n"
)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"/* " * 30_000, b"rank 0 {\n}\n"])
def test_what_is_none_of_these_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "0.txt"
    path.write_bytes(content)
    with pytest.raises(WorkbenchError):
        programs.read(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"missing\.goal"):
        programs.read(tmp_path / "missing.goal")


@pytest.mark.parametrize("name", programs.__all__)
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
