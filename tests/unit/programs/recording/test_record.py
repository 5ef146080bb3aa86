"""Recording programs from Python and from the shell, and what goes wrong."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.cli import trace as command
from workbench.errors import ParameterError, ParseError
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.programs.recording import RecordingError, build_recorder, record
from workbench.programs.traces import read_trace
from workbench.tasks import Task

Build = Callable[[Launcher, str], str]


def lines(folder: Path, rank: int, name: str) -> int:
    """Return how often a rank called a function."""
    text = (folder / f"trace-{rank}.txt").read_text("ascii")
    return sum(line.startswith(f"MPI_{name}:") for line in text.splitlines())


def test_a_halo_exchange(mpi: Launcher, build: Build, tmp_path: Path) -> None:
    said: list[str] = []
    program = record([build(mpi, "halo"), "32", "20"], 4, tmp_path, timeout=60, output=said.append)
    assert program.num_ranks == 4
    assert program.operations == {"allreduce": 2}
    assert [lines(tmp_path, r, "Irecv") for r in range(4)] == [80] * 4
    assert [lines(tmp_path, r, "Waitall") for r in range(4)] == [20] * 4
    # Two of the four sides of each of 2 x 2 parts have a neighbour.
    assert program.summary()["sends"] == program.summary()["receives"] == 4 * 2 * 20
    assert any("after 20 iterations" in line for line in said)


def test_conjugate_gradients(mpi: Launcher, build: Build, tmp_path: Path) -> None:
    program = record([build(mpi, "cg"), "24", "5"], 4, tmp_path, timeout=60)
    assert program.operations == {"bcast": 1, "allreduce": 2 * 11, "reduce": 1}
    members = sorted(ranks.tolist() for ranks in program.communicators)
    assert [0, 2] in members
    assert [1, 3] in members
    assert [lines(tmp_path, r, "Sendrecv") for r in range(4)] == [10] * 4


@for_each("ranks", [2, 3])
def test_a_transpose(mpi: Launcher, build: Build, tmp_path: Path, ranks: int) -> None:
    program = record([build(mpi, "transpose"), "12", "2"], ranks, tmp_path / str(ranks), timeout=60)
    # There and back, rows and columns, before and after: 8 exchanges a step for each row or
    # column of the grid, which is `ranks` x 1; a column of all, a row of each alone.
    assert program.operations["alltoall"] == 2 * 4 * (1 + ranks)
    assert program.operations["allreduce"] == 1


def test_a_program_that_fails_says_why(mpi: Launcher, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"must succeed.*status 3 and wrote: .*no such mesh"):
        record(["sh", "-c", "echo no such mesh >&2; exit 3"], 1, tmp_path, timeout=60)


def test_a_program_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"got 'no-such-program'$"):
        record(["no-such-program", "1"], 1, tmp_path)
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "halo", "true")
    with pytest.raises(ParameterError, match=r"got 'halo'; write \./halo$"):
        record(["halo"], 1, tmp_path)


def test_a_program_without_mpi_leaves_no_trace(mpi: Launcher, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="left no trace: it may be linked to another MPI"):
        record(["true"], 1, tmp_path, timeout=60)


def test_a_program_that_takes_too_long_is_ended(mpi: Launcher, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    # On a busy machine the program may not have begun by then; it gets more time.
    for limit_s in (1.5, 6.0, 24.0):
        with pytest.raises(RecordingError, match=rf"must end within {limit_s:g} s"):
            record(["sh", "-c", f"echo $$ > {mark}; exec sleep 300"], 1, tmp_path, timeout=limit_s)
        if mark.exists() and mark.read_text():
            break
    assert gone(int(mark.read_text()))


def test_a_stop_ends_the_program(mpi: Launcher, tmp_path: Path) -> None:
    task, mark = Task(), tmp_path / "pid"

    def when_it_runs() -> None:
        while not mark.exists() or not mark.read_text():
            time.sleep(0.01)
        task.stop()

    thread = threading.Thread(target=when_it_runs)
    thread.start()
    with pytest.raises(RecordingError, match="stopped before"):
        record(
            ["sh", "-c", f"echo $$ > {mark}; exec sleep 300"], 1, tmp_path, timeout=60, task=task
        )
    thread.join()
    assert gone(int(mark.read_text()))


def gone(pid: int) -> bool:
    """Return whether a process ends within a minute or two."""
    for _ in range(6000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_a_failed_recording_is_kept_apart_and_marked(
    mpi: Launcher, build: Build, tmp_path: Path
) -> None:
    folder, program = tmp_path / "trace", build(mpi, "halo")
    failing = ["sh", "-c", f"{program} 16 3 && exit 3"]
    with pytest.raises(
        RecordingError,
        match=r"status 3.*shell --mpirun; the partial recording is in .*trace/failed",
    ):
        record(failing, 2, folder, timeout=60)
    assert sorted(path.name for path in folder.iterdir()) == ["failed"]
    with pytest.raises(ParseError, match=r"the recording failed; .* record the program again"):
        read_trace(folder)
    kept = read_trace(folder / "failed")
    assert any("the recording is incomplete" in note for note in kept.notes)
    assert kept.num_ranks == 2
    (folder / "trace-7.txt").write_text("of another program")
    whole = record([program, "16", "3"], 2, folder, timeout=60, force=True)
    assert sorted(path.name for path in folder.iterdir()) == ["trace-0.txt", "trace-1.txt"]
    assert not any("not whole" in note for note in whole.notes)
    assert whole.source == "trace"
    assert whole == read_trace(folder)


def test_a_recording_without_a_trace_leaves_nothing(mpi: Launcher, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="left no trace"):
        record(["true"], 1, tmp_path / "trace", timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_trace_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "trace-7.txt").write_text("mine")
    with pytest.raises(ParameterError, match="holds a trace already"):
        record(["true"], 1, tmp_path)


def test_wrong_values_are_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be a list"):
        record("./halo 256", 4, tmp_path)
    with pytest.raises(ParameterError, match="ranks must be a whole number of at least 1; got 0"):
        record(["true"], 0, tmp_path)
    with pytest.raises(ParameterError, match="timeout must be above 0 s"):
        record(["true"], 1, tmp_path, timeout=float("nan"))
    with pytest.raises(ParameterError, match="clock must be elapsed or cpu; got 'sundial'"):
        record(["true"], 1, tmp_path, clock="sundial")  # type: ignore[arg-type]


def test_without_mpi_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MPIError, match=r"mpirun or mpiexec was not found; .*openmpi-bin"):
        record([sys.executable], 1, tmp_path / "trace")


def script(path: Path, text: str) -> Path:
    """Write a program for the shell."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_an_mpi_needs_its_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    script(tmp_path / "mpirun", "echo 'mpirun (Open MPI) 5.0.0'")
    with pytest.raises(MPIError, match=r"mpicc was not found beside .*mpirun; install"):
        record([sys.executable], 1, tmp_path / "trace")
    assert find_launcher().mpicc is None
    assert not (tmp_path / "trace").exists()


def test_an_unknown_launcher_is_refused(tmp_path: Path) -> None:
    odd = script(tmp_path / "mpirun", "echo I am a teapot")
    with pytest.raises(MPIError, match="it printed 'I am a teapot"):
        find_launcher(odd)


@for_each(
    "says, words",
    [
        ("mpirun (Open MPI) 4.1.4", ["-x", "A=b c", "-n", "2", "./app", "1"]),
        ("HYDRA build details:", ["-genv", "A", "b c", "-n", "2", "./app", "1"]),
    ],
)
def test_each_family_is_started_with_its_options(
    tmp_path: Path, says: str, words: list[str]
) -> None:
    script(tmp_path / "mpicc.mine", "true")
    launcher = find_launcher(script(tmp_path / "mpirun.mine", f"echo '{says}'"))
    assert launcher.mpicc == tmp_path / "mpicc.mine"
    assert launcher.version == says
    said = launcher.command(["./app", "1"], 2, {"A": "b c"}, oversubscribe=False)
    assert said == [str(tmp_path / "mpirun.mine"), *words]


@pytest.mark.skipif(sys.platform != "linux", reason="programs are recorded on Linux")
def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    bad = script(tmp_path / "mpicc", '[ "$1" = -show ] || { echo no mpi.h >&2; exit 1; }')
    with pytest.raises(MPIError, match=r"must compile with .*mpicc.*status 1: no mpi\.h"):
        build_recorder(bad, tmp_path / "cache")


@pytest.mark.skipif(sys.platform != "linux", reason="programs are recorded on Linux")
def test_a_cache_that_the_loader_would_divide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="without spaces and colons"):
        build_recorder(script(tmp_path / "mpicc", "true"), tmp_path / "my cache")


def test_the_library_is_built_once(mpi: Launcher) -> None:
    library = build_recorder(mpi.mpicc)
    built = library.stat().st_mtime_ns
    assert build_recorder(mpi.mpicc) == library
    assert library.stat().st_mtime_ns == built
    assert [p.name for p in library.parent.iterdir()] == [library.name]


def parsed(*words: str) -> argparse.Namespace:
    """Return a command line of ``workbench trace``."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_the_command_prints_what_was_recorded(
    mpi: Launcher, build: Build, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "trace")
    words = ("--timeout", "60", "--json", "--output", folder, "--", build(mpi, "cg"), "24", "5")
    assert command.run(parsed("-n", "2", *words)) == 0
    printed = capfd.readouterr()
    summary = json.loads(printed.out)
    assert summary["ranks"] == 2
    assert summary["folder"] == folder
    assert "after 5 iterations" in printed.err


def test_the_program_keeps_its_own_options() -> None:
    arguments = parsed("-n", "2", "--", "./app", "-n", "7", "--json")
    assert arguments.command == ["./app", "-n", "7", "--json"]
    assert not arguments.json
