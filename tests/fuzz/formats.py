"""What is fuzzed: for each format good files to damage, and how it is read and used."""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.networks import NETWORKS, read_any_network
from tests.fuzz.tables import TABLES, read_any_table
from workbench.errors import WorkbenchError
from workbench.measure import read, read_measured_runs, read_osu
from workbench.models import LogGPS, OverheadTable, netgauge
from workbench.panels import RegimePanel, read_session
from workbench.predict import machine_of, predict_collective, read_point_to_point
from workbench.programs.goal import read_goal, write_goal
from workbench.programs.traces import read_trace

Files = dict[str, bytes]


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        corpus: good inputs; each is one file or several by name.
        read: reads an input and uses the result; raises a ``WorkbenchError`` where it is refused.
    """

    corpus: Sequence[Files]
    read: Callable[[Files], object]


def read_any_goal(files: Files) -> object:
    """Read GOAL, check it, and see that it is written and read back."""
    graph = read_goal(files[""])
    graph.check()
    repr(graph)
    for binary in (False, True):
        content = write_goal(graph, binary=binary)
        again = read_goal(content if isinstance(content, bytes) else content.encode())
        if again != graph:
            raise AssertionError("a graph that was read is not what is read of what it is written")
    return graph


def read_any_trace(files: Files) -> object:
    """Read a trace, lower it to a graph, and check and write that."""
    program = read_trace(files)
    program.summary()
    graph = program.graph()
    graph.check()
    return write_goal(graph)


def read_any_runs(files: Files) -> object:
    """Read run times, tabulate them, and see that they are written and read back."""
    runs = read_measured_runs(("runs.csv", files["runs.csv"]))
    repr(runs)
    runs.to_frame()
    again = read_measured_runs(runs.to_csv())
    if not (again.time_s == runs.time_s).all() or again.program != runs.program:
        raise AssertionError("runs that were read are not what is read of what they are written")
    return runs


RUNS = b"""\
# origin: emulated
# title: halo exchange between network namespaces
latency_us,time_s,repeat,program,ranks,load,flagged
0,1.25,0,halo,4,0.5,false
0,1.5,1,halo,4,,true
500,2.25,0,halo,4,0.75,false
"""


def read_any_messages(files: Files) -> object:
    """Read point-to-point measurements, and predict a collective from them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p2p.csv"
        path.write_bytes(files[""])
        machine = machine_of(read_point_to_point(path))
    return predict_collective(machine, "allreduce", 8, [8, 1 << 20])


def read_any_file(files: Files) -> object:
    """Say what a file is, and make a curve of it where it holds one."""
    found = read(("file", files[""]))
    json.dumps(found.to_dict(), allow_nan=False)
    if found.kind in ("osu", "imb", "perftest", "ucx", "netpipe"):
        read_osu(("file", files[""]), table="all").to_csv()
    return found


def read_any_netgauge(files: Files) -> object:
    """Say what a log of Netgauge is, and take the parameters and overheads in it."""
    reading = netgauge.reading_of(files[""], "log", None)
    if reading is not None:
        json.dumps(reading.to_dict(), allow_nan=False)
    text = files[""].decode("utf-8", "replace")
    repr(OverheadTable.from_netgauge(text))
    return LogGPS.from_netgauge(text)


POINT_TO_POINT = b"""\
system,benchmark,run,nodes,size_bytes,value,unit
a,osu_latency,1,2,0,1.22,us
a,osu_latency,2,2,0,1.25,us
a,osu_latency,1,2,4194304,673.5,us
a,osu_bw,1,2,1,2.5,MB/s
a,osu_bw,1,2,4194304,6300,MB/s
a,osu_bibw,1,2,4194304,12000,MB/s
a,osu_mbw_mr_ppn4,1,2,1048576,6400,MB/s
a,osu_mbw_mr_ppn4,1,2,1048576,6103,Messages/s
a,imb_pingping,1,2,8,2.1,us
a,osu_latency,1,1,8,0.35,us
"""

PRINTED = b"""\
# OSU MPI-CUDA Latency Test v7.3
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size          Latency (us)
1               1.50
1024            2.50
4194304       673.50

# OSU MPI-CUDA Bandwidth Test v7.3
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size      Bandwidth (MB/s)
1024              1000.00
4194304          10000.00

# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.3
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size      Bandwidth (MB/s)
1024              1600.00
4194304          16000.00
"""


def read_any_session(files: Files) -> object:
    """Open a session in a panel, and see that the panel is as before where it is refused."""
    session = read_session(files[""])
    if read_session(session.to_json().encode()) != session:
        raise AssertionError("a session that was read is not what is read of what it is written")
    panel = _panel()
    before = panel.session()
    try:
        panel.load_session(session)
    except WorkbenchError:
        if panel.session() != before:
            raise AssertionError("a session that was refused has changed the panel") from None
        raise
    return panel.session()


@functools.cache
def _panel() -> RegimePanel:
    return RegimePanel()


SESSION = b"""\
{"format": "workbench-session", "version": 1, "workbench": "0.1.0", "panel": "RegimePanel",
 "settings": {"machine": "aws-hpc6a-efa", "low": "logp", "high": "logp", "threshold": 2048,
  "loss": "mae", "engine": "tpe", "trials": 100, "seed": 3},
 "notes": ["the refit is not in a session"]}
"""

SMALL = b"""\
num_ranks 3

rank 0 {
l1: calc 1000 cpu 1
l2: send 1024b to 1 tag 7
l2 requires l1
l3: recv 8b from -1 tag -1 nic 1
l3 irequires l2
}

rank 1 {
a : recv 1024b from 0 tag 7
b: send 8b to 0 tag 4294967294 cpu 2 nic 3
b requires a
/* a comment
of two lines */
}

rank 2 { // nothing
}
"""

CYCLE = b"""\
num_ranks 2
rank 0 {
x: calc 5
y: calc 6
z: send 0b to 1
y requires x
x irequires y
z requires x
y requires z
}
rank 1 {
recv 0b from 0
recv 0b from 0
send 5b to 1 tag -1
recv 5b from 1 tag 3
}
"""


def ring(ranks: int, rounds: int) -> bytes:
    """Return a ring of messages as text."""
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines += [f"rank {rank} {{", "w0: calc 10"]
        for turn in range(rounds):
            lines += [
                f"s{turn}: send 64b to {(rank + 1) % ranks} tag 1",
                f"s{turn} requires w{turn}",
                f"r{turn}: recv 64b from {(rank - 1) % ranks} tag 1",
                f"r{turn} requires w{turn}",
                f"w{turn + 1}: calc 5",
                f"w{turn + 1} requires r{turn}",
                f"w{turn + 1} irequires s{turn}",
            ]
        lines.append("}")
    return "\n".join([*lines, ""]).encode()


GOAL_TEXTS = [SMALL, CYCLE, ring(4, 6), b"num_ranks 1\nrank 0 {\n}\n"]
GOAL_BINARIES = [write_goal(read_goal(text), binary=True) for text in GOAL_TEXTS]


def profiled(rank: int, ranks: int, request_bytes: int) -> bytes:
    """Return one rank's file as liballprof writes it: ring, collectives and communicators."""
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    world = f"1140850688,{rank},{ranks}" if request_bytes == 4 else f"94,{rank},{ranks}"
    half = f"2080374784,{rank // 2},{ranks // 2}" if request_bytes == 4 else f"95,{rank // 2},2"
    base = 140_000_000
    clock = itertools.count(1000, 50)
    calls = [
        f"MPI_Comm_rank:{{}}:{world}:{base}:{{}}",
        f"MPI_Comm_split:{{}}:{world}:{rank % 2}:{rank}:{base + 8}:{{}}",
        f"MPI_Irecv:{{}}:{base}:16:10,8,8:{left}:3:{world}:{base + 64}:{{}}",
        f"MPI_Isend:{{}}:{base}:16:10,8,8:{right}:3:{world}:{base + 64 + request_bytes}:{{}}",
        f"MPI_Waitall:{{}}:2:{base + 64}:0:{{}}",
        f"MPI_Allreduce:{{}}:{base}:{base}:4:10,8,8:1:{world}:{{}}",
        f"MPI_Bcast:{{}}:{base}:4:10,8,8:0:{half}:{{}}",
        f"MPI_Barrier:{{}}:{half}:{{}}",
        f"MPI_Sendrecv:{{}}:{base}:2:10,8,8:{right}:1:{base}:2:10,8,8:{left}:1:{world}:0:{{}}",
    ]
    lines = ["# liballprof", "# clockdiff: 0.0 s", "", f"MPI_Init:-:{base}*:{base}*:900"]
    lines += [call.format(next(clock), next(clock)) for call in calls]
    return "\n".join([*lines, f"MPI_Finalize:{next(clock)}:-", ""]).encode()


def recorded(rank: int, ranks: int) -> bytes:
    """Return one rank's file as the workbench's own recorder writes it."""
    right, left, world = (rank + 1) % ranks, (rank - 1) % ranks, f"0,{rank},{ranks}"
    members = " ".join(str(member) for member in range(rank % 2, ranks, 2))
    half = f"{1 + rank % 2},{rank // 2},{(ranks + 1 - rank % 2) // 2}"
    lines = [
        *("# workbench trace 1", f"# rank {rank} of {ranks}", "# mpi Open MPI 4.1.4"),
        *("# request stride 0", "", f"# comm 0 {' '.join(map(str, range(ranks)))}"),
        *("MPI_Init:-:0:0:1.000", "# type 1 MPI_DOUBLE", f"# comm {1 + rank % 2} {members}"),
        f"MPI_Comm_split:5.000:{world}:{rank % 2}:{rank}:{half}:6.000",
        f"MPI_Irecv:10.000:0:8:1,8,8:{left}:3:{world}:1:10.250",
        f"MPI_Isend:11.000:0:8:1,8,8:{right}:3:{world}:2:11.250",
        "MPI_Waitany:12.000:2:1,2:1:-:12.500",
        "MPI_Test:13.000:1:0:-:13.500",
        f"MPI_Waitall:14.000:2:1,0:{left},3,64;-:14.500",
        f"MPI_Allreduce:20.000:0:0:4:1,8,8:0:{world}:21.000",
        f"MPI_Reduce:22.000:0:0:4:1,8,8:0:0:{half}:23.000",
        f"MPI_Sendrecv:24.000:0:1:1,8,8:{right}:1:0:1:1,8,8:-1:1:{world}:{left},1,8:25.000",
        f"MPI_Barrier:26.000:{world}:27.000",
        *("MPI_Finalize:30.000:-", ""),
    ]
    return "\n".join(lines).encode()


def simgrid(rank: int, ranks: int) -> bytes:
    """Return one rank's file of a SimGrid time-independent trace."""
    actions = [
        *("init", "comm_size 4", "compute 1e6", f"isend {(rank + 1) % ranks} 0 100 6"),
        *(f"irecv {(rank - 1) % ranks} 0 100 6", f"wait {(rank - 1) % ranks} {rank} 0"),
        *("waitall 2", "allreduce 10 1e3 6", "bcast 8 0 6", "alltoall 4 4 6 6", "barrier"),
        *("reduce 5 0 0 6", "gather 4 4 0 6 6", "compute 2e5", "finalize"),
    ]
    return "".join(f"{rank} {action}\n" for action in actions).encode()


TRACES: list[Files] = [
    {f"pmpi-trace-rank-{rank}.txt": profiled(rank, 4, 8) for rank in range(4)},
    {f"pmpi-trace-rank-{rank}.txt": profiled(rank, 4, 4) for rank in range(4)},
    {f"trace-{rank}.txt": recorded(rank, 3) for rank in range(3)},
    {f"trace-{rank}.txt": simgrid(rank, 4) for rank in range(4)},
]

REPORTS = Path(__file__).parents[1] / "data" / "reports"

FORMATS = {
    "text": Format([{"": text} for text in GOAL_TEXTS], read_any_goal),
    "binary": Format([{"": content} for content in GOAL_BINARIES], read_any_goal),
    "trace": Format(TRACES, read_any_trace),
    "measured runs": Format([{"runs.csv": RUNS}], read_any_runs),
    "variability": Format(TABLES, read_any_table),
    "messages": Format([{"": POINT_TO_POINT}, {"": PRINTED}], read_any_messages),
    "netgauge": Format(
        [{"": path.read_bytes()} for path in sorted(REPORTS.glob("25*"))], read_any_netgauge
    ),
    "any file": Format(
        [{"": path.read_bytes()} for path in sorted(REPORTS.iterdir())], read_any_file
    ),
    "network": Format(NETWORKS, read_any_network),
    "session": Format([{"": SESSION}], read_any_session),
}
