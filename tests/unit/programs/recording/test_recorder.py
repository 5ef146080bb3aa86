"""What the library writes, call by call, with each MPI there is."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from workbench.models import LogGPS
from workbench.mpi import Launcher
from workbench.mpi.calls import is_local
from workbench.programs.check import NOTE
from workbench.programs.graph import RECV as RECV_OP
from workbench.programs.program import ISEND, SEND
from workbench.programs.recording import build_recorder
from workbench.programs.recording.run import record
from workbench.simulate import replay
from workbench.simulate.replay_result import times_of

Build = Callable[[Launcher, str], str]
Trace = list[list[str]]
TIME = re.compile(r"-?\d+\.\d{3}")
RANKS = 3
MODEL = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=65535)


@pytest.fixture(scope="module")
def folder(any_mpi: Launcher, build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of a program that calls everything, on three ranks."""
    folder = tmp_path_factory.mktemp("trace")
    record([build(any_mpi, "every_call")], RANKS, folder, mpirun=any_mpi.mpirun, timeout=60)
    return folder


@pytest.fixture(scope="module")
def traces(folder: Path) -> list[list[str]]:
    return [(folder / f"trace-{r}.txt").read_text("ascii").splitlines() for r in range(RANKS)]


def calls(trace: list[str], name: str) -> list[list[str]]:
    """Return the arguments of all calls of that name, without times."""
    return [line.split(":")[2:-1] for line in trace if line.startswith(f"MPI_{name}:")]


def test_each_rank_says_who_it_is(traces: Trace) -> None:
    for rank, trace in enumerate(traces):
        assert trace[0] == "# workbench trace 1"
        assert trace[1] == f"# rank {rank} of {RANKS}"
        assert re.fullmatch(r"# mpi (Open MPI|MPICH).*\d", trace[2])
        assert trace[3:5] == ["# request stride 0", "# clock elapsed"]
        assert re.fullmatch(rf"# node {RANKS} ranks on [1-9]\d* cores", trace[5])
        assert trace[6:8] == ["", "# comm 0 0 1 2"]
        assert trace[9].startswith("MPI_Init:-:0:0:")
        elapsed = re.fullmatch(r"# elapsed (\d+\.\d{3})", trace[-2])
        finalize = re.fullmatch(r"MPI_Finalize:(\d+\.\d{3}):-", trace[-1])
        assert elapsed is not None
        assert finalize is not None
        assert float(finalize[1]) <= float(elapsed[1])


def test_time_never_runs_backwards(traces: Trace) -> None:
    for trace in traces:
        before = 0.0
        for line in trace[10:-1]:
            if line.startswith("MPI_"):
                words = line.split(":")
                assert TIME.fullmatch(words[1]), line
                assert TIME.fullmatch(words[-1]), line
                assert before <= float(words[1]) <= float(words[-1])
                before = float(words[-1])


def test_ranks_agree_on_the_numbers_of_communicators(traces: Trace) -> None:
    by_number: dict[str, set[str]] = {}
    named: list[Counter[str]] = []
    for trace in traces:
        mine = [line.split(" ", 3)[2:] for line in trace if line.startswith("# comm ")]
        named.append(Counter(number for number, _ in mine))
        for number, ranks in mine:
            if not number.startswith("-"):
                by_number.setdefault(number, set()).add(ranks)
    assert all(len(ranks) == 1 for ranks in by_number.values())
    assert all(count == 1 for numbers in named for count in numbers.values())
    for number, (ranks,) in by_number.items():
        assert all((number in named[r]) == (str(r) in ranks.split()) for r in range(RANKS)), number
    assert {"0 1 2", "2 1", "0 2", "0 2 1", "1"} <= {ranks for (ranks,) in by_number.values()}


def test_a_split_shows_key_order_and_who_is_left_out(traces: Trace) -> None:
    assert calls(traces[0], "Comm_split")[0][1:] == ["-32766", "0", "-"]
    assert calls(traces[1], "Comm_split")[0][1:3] == ["1", "-1"]
    places = [calls(trace, "Comm_split")[0][3].split(",")[1:] for trace in traces[1:]]
    assert places == [["1", "2"], ["0", "2"]]


def test_requests_that_share_a_handle_are_distinguished(traces: Trace) -> None:
    """Each of the eight requests ends exactly once, whichever call ends it."""
    for trace in traces:
        ended = []
        for _, requests, index, _ in calls(trace, "Waitany")[:4]:
            ended.append(requests.split(",")[int(index)])
        _, requests, count, indices, _ = calls(trace, "Waitsome")[0]
        places = [int(index) for index in indices.split(",")]
        assert len(places) == int(count)
        ended += [requests.split(",")[place] for place in places]
        ended += [r for r in calls(trace, "Waitall")[0][1].split(",") if r != "0"]
        assert sorted(map(int, ended)) == list(range(1, 9))
        assert calls(trace, "Waitany")[4] == ["8", "0,0,0,0,0,0,0,0", "-32766", "-"]


def test_a_wildcard_receive_says_what_it_got(traces: Trace) -> None:
    for rank, trace in enumerate(traces):
        left = (rank - 1) % RANKS
        waits = "\n".join(line for line in trace if line.startswith("MPI_Wait"))
        found = re.findall(rf"(?<=[:;]){left},(\d),8(?=[:;])", waits)
        assert sorted(found) == ["0", "1", "2", "3"]
        assert calls(trace, "Iprobe")[-1] == ["-1", "5", f"0,{rank},3", "1", f"{left},5,16"]
        assert calls(trace, "Mprobe") == [["-1", "6", f"0,{rank},3", "0", f"{left},6,16"]]
        (mrecv,) = calls(trace, "Mrecv")
        assert mrecv[3:] == ["-1", "6", f"0,{rank},3", f"{left},6,16"]
        assert calls(trace, "Recv")[0][-1] == "-"


def test_a_cancelled_receive_is_reported(traces: Trace) -> None:
    for trace in traces:
        (request,) = calls(trace, "Cancel")[0]
        at = trace.index(f"# cancelled {request}")
        assert trace[at + 1].startswith("MPI_Wait:")
        assert trace[at + 1].split(":")[2] == request


def test_a_persistent_request_keeps_its_number(traces: Trace) -> None:
    for trace in traces:
        receive, send = calls(trace, "Recv_init")[0][-1], calls(trace, "Send_init")[0][-1]
        assert calls(trace, "Startall") == [["2", f"{receive},{send}"]] * 2
        done = [words for words in calls(trace, "Testall") if words[2] == "1"]
        assert [words[1] for words in done] == [f"{receive},{send}"] * 2
        at_rest = trace.index(next(line for line in trace if line.startswith("MPI_Start:"))) - 1
        assert trace[at_rest].split(":")[2:4] == ["0", "-"]
        assert calls(trace, "Request_free") == [[receive], [send]]


def test_repeated_failing_tests_are_one_line(traces: Trace) -> None:
    for trace in traces:
        for line, following in itertools.pairwise(trace):
            words, next_words = line.split(":"), following.split(":")
            if words[0] in ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe"):
                assert (words[0], words[2:-1]) != (next_words[0], next_words[2:-1])


def test_what_means_nothing_is_not_reported(traces: Trace) -> None:
    assert calls(traces[0], "Gatherv")[0][3:9] == ["0", "0", "0,1,0", "0", "-", traces_type(traces)]
    assert calls(traces[1], "Gatherv")[0][3:9] == ["0", "0", "-", "0", "-", "-"]
    assert calls(traces[0], "Scatterv")[0][:6] == ["0", "0", "0,1,0", "0", "-", traces_type(traces)]
    assert calls(traces[2], "Scatterv")[0][:6] == ["0", "0", "-", "0", "-", "-"]
    assert calls(traces[0], "Gather")[1][:3] == ["1", "-", "-"]
    assert calls(traces[0], "Alltoall")[0][:5] == ["1", "-", "-", "0", "1"]


def traces_type(traces: Trace) -> str:
    """Return what MPI_DOUBLE is called at rank 0."""
    (line,) = (line for line in traces[0] if line.endswith(" MPI_DOUBLE"))
    return f"{line.split()[2]},8,8"


def test_a_datatype_of_the_programs_own_has_its_size(traces: Trace) -> None:
    number, size, extent = calls(traces[0], "Bcast")[0][2].split(",")
    assert (size, extent) == ("16", "16")
    assert f"# type {number}" in traces[0]


def test_an_intercommunicator_names_both_sides(traces: Trace) -> None:
    sides = [next(line for line in trace if line.startswith("# intercomm")) for trace in traces]
    assert [side.split(" ", 3)[3] for side in sides] == ["0 2 : 1", "1 : 0 2", "0 2 : 1"]


def test_what_cannot_be_recorded_is_reported(traces: Trace) -> None:
    assert all(calls(trace, "Win_create") == [[]] for trace in traces)


def declared(launcher: Launcher) -> set[str]:
    """Return the functions that the MPI's header declares."""
    words = [str(launcher.mpicc), "-E", "-P", "-include", "mpi.h", "-xc", "/dev/null"]
    header = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\bint\s+(MPI_\w+)\s*\(", header))


def test_neighbourhood_collectives_are_messages_and_other_calls_are_counted(
    any_mpi: Launcher, build: Build, tmp_path: Path
) -> None:
    persistent = "MPI_Allreduce_init" in declared(any_mpi)  # MPICH 4, Open MPI 5
    for ranks in (2, 3):
        folder = tmp_path / str(ranks)
        words = [build(any_mpi, "neighbours"), str(tmp_path / "file")]
        program = record(words, ranks, folder, mpirun=any_mpi.mpirun, timeout=60)
        sent = Counter(program.size[np.isin(program.kind, (SEND, ISEND))].tolist())
        assert sent == {
            8: ranks,  # down the ring
            24: ranks,  # up the ring
            40: 2 * (ranks - 1),  # both ways along the line, whose ends have one neighbour
            16: ranks,  # of the program's own
            56: ranks - 1,  # to the middle of the star
            **({72: 3 * 2 * (ranks - 1)} if persistent else {}),  # along the line, three times
        }
        assert program.operations == ({"allreduce": 3} if persistent else {})
        graph = program.graph()
        assert [p for p in graph.check() if p.severity != NOTE] == []
        match = times_of(replay(graph, MODEL, times=True)).match
        receives = np.flatnonzero(graph.kind == RECV_OP)
        assert np.array_equal(graph.size[receives], graph.size[match[receives]])

        recorded = program.recorded
        assert recorded is not None
        told = {calls.name: calls.calls for calls in recorded.left_out}
        once = ("Win_create", "Win_lock", "Fetch_and_op", "Get_accumulate", "Win_unlock")
        files = ("Win_free", "File_open", "File_write_at_all", "File_close")
        assert told == {
            "MPI_Put": 10 * ranks,
            "MPI_Win_fence": 2 * ranks,
            **{f"MPI_{name}": ranks for name in (*once, *files)},
        }
        assert sum(recorded.left_out_ns) == sum(calls.ns for calls in recorded.left_out) > 0
        for rank in range(ranks):
            inside = recorded.compute_ns[rank] + recorded.mpi_ns[rank]
            assert recorded.time_ns[rank] == inside <= recorded.elapsed_ns[rank]
        assert sum(recorded.compute_ns) == program.compute_ns.sum()
        assert recorded.ranks_of_node == ranks
        assert "MPI_Put × " in recorded.describe_left_out()


def test_every_function_that_reaches_other_ranks_or_files_is_noted(
    any_mpi: Launcher,
) -> None:
    wanted = {name for name in declared(any_mpi) if not is_local(name)}
    assert wanted > {"MPI_Put", "MPI_Get", "MPI_File_iwrite_at", "MPI_Ialltoallw", "MPI_Send"}
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(build_recorder(any_mpi.mpicc))],
        capture_output=True,
        text=True,
        check=True,
    )
    wrapped = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert wanted - wrapped == set()
    assert {f"P{name}" for name in wanted} - wrapped == set()


def test_on_the_cpu_clock_sleep_is_no_computation(
    any_mpi: Launcher, build: Build, tmp_path: Path
) -> None:
    command, slept_ns = [build(any_mpi, "sleeper")], 100_000_000
    elapsed = record(command, 1, tmp_path / "elapsed", mpirun=any_mpi.mpirun, timeout=60)
    assert elapsed.compute_ns.sum() >= slept_ns
    cpu = record(command, 1, tmp_path / "cpu", mpirun=any_mpi.mpirun, timeout=60, clock="cpu")
    assert 0 <= cpu.compute_ns.sum() < slept_ns / 2
    trace = (tmp_path / "cpu" / "trace-0.txt").read_text("ascii").splitlines()
    assert trace[4] == "# clock cpu"
    assert float(trace[-2].removeprefix("# elapsed ")) * 1000 >= slept_ns


def test_threads_do_not_take_each_others_requests(
    any_mpi: Launcher, build: Build, tmp_path: Path
) -> None:
    record([build(any_mpi, "threads")], 2, tmp_path, mpirun=any_mpi.mpirun, timeout=60)
    for rank in range(2):
        trace = (tmp_path / f"trace-{rank}.txt").read_text("ascii").splitlines()
        made = [words[-1] for name in ("Isend", "Irecv") for words in calls(trace, name)]
        ended = [number for words in calls(trace, "Waitall") for number in words[1].split(",")]
        assert len(made) == 3 * 2 * 200
        assert sorted(ended) == sorted(made)


def test_the_library_hides_all_but_mpi(any_mpi: Launcher) -> None:
    """A function of ours must never stand before one of the program's of the same name."""
    library = build_recorder(any_mpi.mpicc)
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert len(names) > 90
    assert all(name.startswith(("MPI_", "PMPI_")) for name in names)
