"""Which form of the benchmark is taken: on paths with and without a compiler and an mpi4py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.mpi import MPIError, find_launcher
from workbench.tune.benchmark.forms import find_benchmark
from workbench.tune.recorded.files import read_tables
from workbench.tune.recorded.record_open_mpi import record_open_mpi

# Starts the program once, and takes its options for granted.
MPIRUN = """\
[ "$1" = --version ] && { echo 'mpirun (Open MPI) 9.9'; exit; }
while [ "$1" != -n ]; do shift; done
shift 2
exec "$@"
"""
WORKS = 'while [ "$1" ] && [ "$1" != -o ]; do shift; done; [ "$2" ] && echo built >"$2"; true'
ANSWERS = "echo ranks 2 4.1.2 3.12.1"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path with an MPI without a compiler, and this Python without an mpi4py."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own" / "python"))
    (tmp_path / "own").mkdir()
    script(folder / "mpirun", MPIRUN)
    script(tmp_path / "own" / "python", "echo 'lacks No module named mpi4py'")
    return folder


def script(place: Path, text: str) -> None:
    """Write a program for the shell."""
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


def test_c_is_taken_where_it_compiles(path: Path) -> None:
    script(path / "mpicc", WORKS)
    script(path / "python3", ANSWERS)
    found = find_benchmark(find_launcher())
    assert found.caller == "C"
    assert Path(found.words[0]).read_text() == "built\n"
    assert find_benchmark(find_launcher(), "mpi4py").caller.startswith("mpi4py")


@for_each("mpicc", ["", "echo no gcc >&2; exit 1"])
def test_mpi4py_is_taken_where_nothing_compiles(path: Path, mpicc: str) -> None:
    if mpicc:
        script(path / "mpicc", mpicc)
    script(path / "python3", ANSWERS)
    found = find_benchmark(find_launcher())
    assert found.caller == "mpi4py 4.1.2 on Python 3.12.1"
    assert found.words[0] == str(path / "python3")
    assert Path(found.words[1]).name == "collective.py"
    with pytest.raises(MPIError, match="; C: "):
        find_benchmark(find_launcher(), "C")


def test_this_python_is_asked_first(path: Path) -> None:
    script(path / "python3", ANSWERS)
    script(Path(sys.executable), "echo ranks 2 3.1.4 3.11.2")
    assert find_benchmark(find_launcher()).caller == "mpi4py 3.1.4 on Python 3.11.2"


def test_an_mpi4py_of_another_mpi_is_none(path: Path) -> None:
    # Its ranks do not find each other: each would time a world of its own.
    script(path / "python3", "echo ranks 1 4.1.2 3.12.1; echo ranks 1 4.1.2 3.12.1")
    with pytest.raises(MPIError, match=r"python3: its mpi4py is of another MPI than .*mpirun"):
        find_benchmark(find_launcher())


def test_neither_names_both_ways(path: Path) -> None:
    script(path / "python3", "echo cannot open libmpi >&2; exit 1")
    with pytest.raises(MPIError) as refusal:
        find_benchmark(find_launcher())
    said = str(refusal.value)
    assert "mpicc was not found beside" in said
    assert "own/python: No module named mpi4py" in said
    assert "python3: cannot open libmpi" in said
    assert "libopenmpi-dev" in said
    assert "pip install mpi4py" in said


def test_an_unknown_form(path: Path) -> None:
    with pytest.raises(ParameterError, match="C, mpi4py; got 'fortran'"):
        find_benchmark(find_launcher(), "fortran")


def test_a_recording_keeps_what_called_and_goes_on_with_it_alone(
    path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "gathers"

    def recorded() -> None:
        record_open_mpi(folder, ranks=2, collectives=("gather",), sizes=(64, 128), limit_s=0.0)

    script(path / "python3", ANSWERS)
    recorded()
    description, _ = read_tables(folder)
    assert description.context["benchmark"] == "mpi4py 4.1.2 on Python 3.12.1"
    assert description.title.endswith("called from mpi4py 4.1.2 on Python 3.12.1")
    assert any("from mpi4py 4.1.2" in caveat for caveat in description.caveats)
    recorded()
    script(path / "mpicc", WORKS)
    with pytest.raises(ParameterError, match=r"benchmark mpi4py 4\.1\.2 .*; got C; use the same"):
        recorded()


def test_a_recording_that_does_not_say_was_called_from_c(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gathers"
    script(path / "mpicc", WORKS)
    script(path / "python3", ANSWERS)
    record_open_mpi(folder, ranks=2, collectives=("gather",), sizes=(64, 128), limit_s=0.0)
    descriptor = folder / "datapackage.json"
    assert descriptor.read_text().count('"benchmark": "C"') == 1
    descriptor.write_text(descriptor.read_text().replace('  "benchmark": "C",\n', ""))
    with pytest.raises(ParameterError, match="benchmark C; got mpi4py"):
        record_open_mpi(
            folder, ranks=2, collectives=("gather",), sizes=(64, 128), benchmark="mpi4py"
        )
