"""Traces of any bytes are read or refused; whole programs survive being written and read."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from tests.unit.programs.traces.writing import liballprof, one, recorded
from workbench.errors import WorkbenchError
from workbench.programs.traces import read_trace
from workbench.programs.traces.requests import detect_stride

CALLS = [
    "Comm_rank:{w}:55",
    "Comm_split:{w}:0:0:60",
    "Comm_dup:700,0,2:64",
    "Cart_create:{w}:1:1:1:1:68",
    "Comm_create_group:{w}:33:5:72",
    "Comm_free:60",
    "Irecv:9:4:{d}:1:7:{w}:800",
    "Isend:9:4:{d}:1:7:{w}:808",
    "Waitall:2:800:1",
    "Waitany:2:800:1:2",
    "Waitsome:2:800:1:2:3",
    "Test:808:1:2",
    "Testall:2:800:1:2",
    "Send_init:9:4:{d}:1:7:{w}:816",
    "Start:816",
    "Wait:816:1",
    "Cancel:800",
    "Request_free:816",
    "Sendrecv:9:1:{d}:0:7:9:1:{d}:-1:-1:{w}:99",
    "Gatherv:9:1:{d}:9:77:1,2:88:0,1:{d}:0:{w}",
    "Alltoallv:9:77:1,2:88:0,0:{d}:9:77:1,3:88:0,0:{d}:{w}",
    "Ireduce:9:9:5:{d}:2:0:{w}:824",
    "Barrier:700,0,2",
]
RECORDED = [
    "# comm 1 0 1",
    "Barrier:1,0,2",
    "Irecv:0:1:{d}:-1:0:{w}:1",
    "Waitany:1:1:0:0,3,8",
    "# cancelled 1",
    "Testsome:2:1,0:1:0:-;-",
    "Alltoallw:0:0:1,2:0:-:1,8,8;2,4,4:0:0:1,2:0:-:1,8,8;2,4,4:{w}",
    "# intercomm -1 0 : 1",
    "Send:0:1:{d}:0:0:-1,0,1",
]
SIMGRID = "".join(
    f"{rank} {action}\n"
    for rank in (0, 1)
    for action in (
        *("init 1", "compute 1e6", "isend 1 7 5 0", "test 0 1 7", "irecv -1 7 5", "wait 0 1 7"),
        *("waitall 2", "allreduce 5 100 0", "gatherv 5 1 2 0 0 0", "alltoallv 3 1 2 9 1 3 0 0"),
    )
)
GOOD = [liballprof([CALLS, CALLS]), recorded(RECORDED, RECORDED), {"t.txt": SIMGRID}]
NUMBERS = ["-1", "0", "1", "2", "9999999999", "99999999999999999999", "1e308", "nan", "", "-", "x"]


def readable(files: dict[str, bytes]) -> None:
    try:
        program = read_trace(files)
    except WorkbenchError as error:
        assert len(str(error)) < 2000
    else:
        assert program.summary()["ranks"] == program.num_ranks
        assert repr(program)


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, bytes]:
    """Draw a good trace with a few lines, fields or bytes exchanged."""
    files = {
        name: text.encode().splitlines(keepends=True)
        for name, text in draw(st.sampled_from(GOOD)).items()
    }
    names = sorted(files)
    for _ in range(draw(st.integers(1, 4))):
        lines = files[draw(st.sampled_from(names))]
        if not lines:
            continue
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(["drop", "copy", "field", "byte", "cut"]))
        if how == "drop":
            del lines[at]
        elif how == "copy":
            lines.insert(at, lines[draw(st.integers(0, len(lines) - 1))])
        elif how == "field":
            space = b" " if b":" not in lines[at] else draw(st.sampled_from([b":", b","]))
            fields = lines[at].rstrip(b"\n").split(space)
            fields[draw(st.integers(0, len(fields) - 1))] = draw(st.sampled_from(NUMBERS)).encode()
            lines[at] = space.join(fields) + b"\n"
        elif how == "byte" and lines[at]:
            place = draw(st.integers(0, len(lines[at]) - 1))
            byte = bytes([draw(st.integers(0, 255))])
            lines[at] = lines[at][:place] + byte + lines[at][place + 1 :]
        else:
            del lines[at:]
    return {name: b"".join(lines) for name, lines in files.items()}


@given(damaged())
def test_damaged_traces_are_read_or_refused(files: dict[str, bytes]) -> None:
    readable(files)


@given(
    st.lists(st.binary(max_size=60), max_size=4),
    st.sampled_from([b"", b"# workbench trace 1\n# rank 0 of 1\n", b"MPI_Init:-:1\n", b"0 init\n"]),
)
def test_any_bytes_are_read_or_refused(lines: list[bytes], head: bytes) -> None:
    readable({"t-0.txt": head + b"\n".join(lines)})


@given(st.lists(st.sampled_from(CALLS), max_size=30))
def test_any_order_of_calls_is_read_or_refused(calls: list[str]) -> None:
    readable({"t-0.txt": one(calls, 0, 2).encode(), "t-1.txt": one(calls, 1, 2).encode()})


PLAIN = [
    "Irecv:9:5:{d}:0:1:{w}:800",
    "Irecv:9:5:{d}:-1:-1:{w}:808",
    "Isend:9:4:{d}:1:7:{w}:816",
    "Send:9:3:{d}:1:7:{w}",
    "Recv:9:4:{d}:0:7:{w}:99",
    "Recv:9:4:{d}:-2:7:{w}:99",
    "Sendrecv:9:1:{d}:1:0:9:2:{d}:0:0:{w}:99",
    "Sendrecv_replace:9:1:{d}:-1:0:-1:-1:{w}:99",
    "Wait:808:1",
    "Waitall:3:800:1",
    "Waitall:0:800:1",
    "Iallreduce:9:9:5:{d}:2:{w}:808",
    "Bcast:9:5:{d}:1:{w}",
    "Allreduce:1:9:5:{d}:2:{w}",
    "Iprobe:-1:-1:{w}:1:2",
    "Type_commit:7",
    "File_open:7",
]
PLAIN_RECORDED = [
    "Irecv:0:5:{d}:0:1:{w}:1",
    "Isend:0:4:{d}:1:7:{w}:2",
    "Irecv:0:5:{d}:-1:-1:{w}:3",
    "Recv:0:4:{d}:-1:-1:{w}:0,7,32",
    "Recv:0:4:{d}:1:7:{w}:-",
    "Send:0:4:{d}:1:7:{w}",
    "Wait:3:1,7,32",
    "Wait:0:-",
    "Waitall:2:1,2:-",
    "Waitall:3:3,0,2:-;-;-",
    "Waitall:1:-1:-",
    "Waitany:3:3,0,2:2:-",
    "Waitany:2:1,2:0:1,7,32",
    "Waitany:2:1,2:-32766:-",
    "Test:1:0:-",
    "Ibarrier:{w}:2",
    "Allreduce:0:0:4:{d}:0:{w}",
    "Sendrecv:0:1:{d}:1:0:0:2:{d}:0:0:{w}:-",
    *RECORDED,
]


def outcome(files: dict[str, str]) -> object:
    """Return what reading a trace gives: the program, its notes and times, or the error."""
    try:
        program = read_trace({name: text.encode() for name, text in files.items()})
    except WorkbenchError as error:
        return str(error)
    lines = None if program.line is None else program.line.tolist()
    return program.fingerprint(), program.notes, program.recorded, lines


@given(
    st.lists(st.sampled_from(PLAIN + CALLS), max_size=30),
    st.lists(st.sampled_from(PLAIN + CALLS), max_size=4),
    st.lists(st.sampled_from(PLAIN_RECORDED), max_size=30),
    st.lists(st.sampled_from(PLAIN_RECORDED), max_size=4),
)
def test_kernels_read_lines_as_python_does(
    calls: list[str], more: list[str], recording: list[str], longer: list[str]
) -> None:
    for files in (liballprof([calls, calls + more]), recorded(recording, recording + longer)):
        # No kernel reads a number that begins with a blank, which Python's int does.
        left = {
            name: re.sub(r"(?m)^(MPI_\w+):(\d)", r"\1: \2", text) for name, text in files.items()
        }
        assert outcome(files) == outcome(left)


@given(st.data(), st.sampled_from([4, 8]), st.integers(2, 12))
def test_the_stride_is_found_wherever_more_than_one_element_is_known(
    data: st.DataObject, stride: int, count: int
) -> None:
    known = data.draw(st.sets(st.integers(0, count - 1), min_size=count - 1, max_size=count))
    base = 8 * data.draw(st.integers(1000, 2000))
    found, told = detect_stride([base + stride * i for i in known], [(base, count)])
    assert found == stride or not told


@given(st.permutations(range(6)))
def test_requests_end_as_recorded_in_whatever_order_they_end(order: list[int]) -> None:
    begun = [f"Irecv:0:1:{{d}}:0:{i}:{{w}}:{i + 1}" for i in range(6)]
    told = recorded([*begun, *[f"Wait:{i + 1}:-" for i in order]])
    addressed = liballprof(
        [
            [f"Irecv:0:1:{{d}}:0:{i}:{{w}}:{800 + 8 * i}" for i in range(6)]
            + [f"Wait:{800 + 8 * i}:1" for i in order]
        ]
    )
    a, b = read_trace(told), read_trace(addressed)
    assert a.waits == b.waits
