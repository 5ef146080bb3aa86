"""Speed of reading traces: each format's own halo of 16 ranks, and LogGOPSim's Schedgen."""

from __future__ import annotations

import time

import pytest

from tests.benchmarks.other_simulators import cpu_seconds
from workbench.programs.traces import read_trace

RANKS, ITERATIONS = 16, 1000
NEIGHBOURS = (1, -1, 4, -4)


def liballprof(rank: int) -> str:
    world, type_, base = f"94000000000000,{rank},{RANKS}", "94561231231,8,8", 140734714680000
    lines, clock = ["MPI_Init:-:140734714680652:140734714680640:900.0"], 1000.0

    def call(name: str, arguments: str) -> None:
        nonlocal clock
        lines.append(f"MPI_{name}:{clock:.2f}:{arguments}:{clock + 4:.2f}")
        clock += 10.25

    for _ in range(ITERATIONS):
        for i, way in enumerate(NEIGHBOURS):
            peer, request = (rank - way) % RANKS, base + 512 + 8 * i
            call("Irecv", f"{base + 100 * i}:128:{type_}:{peer}:7:{world}:{request}")
        for i, way in enumerate(NEIGHBOURS):
            peer, request = (rank + way) % RANKS, base + 544 + 8 * i
            call("Isend", f"{base + 100 * i}:128:{type_}:{peer}:7:{world}:{request}")
        call("Waitall", f"8:{base + 512}:{base + 800}")
        call("Allreduce", f"{base}:{base + 8}:1:{type_}:140312312:{world}")
    return "\n".join([*lines, f"MPI_Finalize:{clock:.2f}:-", ""])


def recorded(rank: int) -> str:
    world, request, clock = f"0,{rank},{RANKS}", 1, 1000.0
    lines = ["# workbench trace 1", f"# rank {rank} of {RANKS}"]

    def call(name: str, arguments: str) -> None:
        nonlocal clock
        lines.append(f"MPI_{name}:{clock:.3f}:{arguments}:{clock + 4:.3f}")
        clock += 10.25

    for _ in range(ITERATIONS):
        first = request
        for name, sign in (("Irecv", -1), ("Isend", 1)):
            for way in NEIGHBOURS:
                peer = (rank + sign * way) % RANKS
                call(name, f"0:128:1,8,8:{peer}:7:{world}:{request}")
                request += 1
        requests = ",".join(map(str, range(first, request)))
        call("Waitall", f"8:{requests}:-")
        call("Allreduce", f"0:0:1:1,8,8:0:{world}")
    return "\n".join([*lines, f"MPI_Finalize:{clock:.3f}:-", ""])


def simgrid(rank: int) -> str:
    lines = ["init"]
    for _ in range(ITERATIONS):
        lines += [f"irecv {(rank - way) % RANKS} 7 1024 6" for way in NEIGHBOURS]
        lines += [f"isend {(rank + way) % RANKS} 7 1024 6" for way in NEIGHBOURS]
        lines += ["compute 12345.6", "waitall 8", "allreduce 8 0 6"]
    return "\n".join([f"{rank} {line}" for line in [*lines, "finalize"]]) + "\n"


@pytest.mark.parametrize("write", [liballprof, recorded, simgrid])
def test_reading_traces(table, schedgen, tmp_path, write) -> None:
    files = {f"trace-{rank}.txt": write(rank).encode() for rank in range(RANKS)}
    megabytes = sum(map(len, files.values())) / 1e6
    lines = sum(data.count(b"\n") for data in files.values())
    read_trace(files).graph()
    took, split, lowered = [], [], []
    for _ in range(3):
        begin = time.process_time()
        program = read_trace(files)
        took.append(time.process_time() - begin)
        program.graph()
        lowered.append(time.process_time() - begin)
        begin = time.process_time()
        for data in files.values():
            for line in data.decode().splitlines():
                line.split(" " if write is simgrid else ":")
        split.append(time.process_time() - begin)
    assert program.num_ranks == RANKS
    table.add(
        "13",
        f"traces: {write.__name__}, {lines:,} lines of {RANKS} ranks",
        megabytes / min(took),
        "MB/CPU s",
        ratio=min(took) / min(split),
        reference="cutting the lines' fields in plain Python",
        at_most=4 if write is simgrid else 3,  # its lines are a quarter as long
    )
    if schedgen is not None and write is liballprof:
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        command = [str(schedgen), "-p", "trace", "--traces", str(tmp_path / "trace-0.txt")]
        theirs, _ = cpu_seconds([*command, "-o", str(tmp_path / "trace.goal")])
        table.add(
            "13",
            "  to a graph, as fast as Schedgen to GOAL",
            theirs / min(lowered),
            "x",
            at_least=4,
        )
