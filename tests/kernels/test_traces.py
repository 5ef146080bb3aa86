"""The kernels of traces against plain Python, small enough to run uncompiled too."""

from __future__ import annotations

import random
import re

import numpy as np
from hypothesis import given, strategies as st

from kernels.traces import layout
from kernels.traces.actions import amount_of
from kernels.traces.scan import nanoseconds, whole
from tests.reference.simgrid import ANY, calls_of
from tests.reference.traces import fitted
from tests.unit.programs.traces.writing import liballprof, recorded, said
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import IRECV, RECV, SEND
from workbench.programs.traces import read_trace
from workbench.programs.traces.calls import Comm, TraceCalls, fit_receives
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.lines import line_of
from workbench.programs.traces.plain_lines import cut, forms_of
from workbench.tasks import Task

amounts = st.from_regex(
    r"[-+]?[0-9]{0,17}(\.[0-9]{0,6})?([eE][-+]?[0-9]{0,3})?|nan|1_0", fullmatch=True
)
numbers = st.from_regex(r"-?[0-9]{0,20}(\.[0-9]{0,5})?|-| 7|1_0", fullmatch=True)
messages = st.tuples(*[st.integers(0, 1)] * 3, st.integers(0, 2), st.integers(0, 9))
wildcards = st.tuples(st.integers(0, 1), st.integers(-1, 1), st.integers(0, 1), st.integers(-1, 2))


@given(numbers)
def test_numbers_and_times_are_those_of_python_or_left_to_it(text: str) -> None:
    data, bad = np.frombuffer(text.encode(), np.uint8), -(2**62)
    plain = re.fullmatch(r"[0-9]{1,18}|-[1-9][0-9]{0,17}", text)
    assert whole(data, 0, len(data)) == (int(text) if plain else bad)
    ns = nanoseconds(data, 0, len(data))
    if ns != bad:
        line = line_of("file", 1, f"MPI_Send:{text}:-")
        assert line is not None
        assert line.start_ns == (None if ns == -1 else ns)
    else:
        assert not re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text)


@given(
    st.lists(messages, max_size=12),
    st.lists(st.tuples(wildcards, st.integers(0, 9)), max_size=12),
    st.booleans(),
)
def test_receives_are_fitted_as_the_reference_does(
    sends: list[tuple[int, ...]], receives: list[tuple[tuple[int, ...], int]], wild: bool
) -> None:
    calls = TraceCalls(2, "trace", ["a", "b"])
    comms = [Comm(0, (0, 1)), Comm(1, (0, 1))]
    for comm, source, target, tag, size in sends:
        calls.message(source, SEND, 1, comms[comm], target, size, tag)
    plain = [(*(part if wild else abs(part) for part in where), size) for where, size in receives]
    for comm, source, target, tag, size in plain:
        peer, any_tag = (ANY_SOURCE if source < 0 else source), (ANY_TAG if tag < 0 else tag)
        calls.message(target, IRECV if size % 2 else RECV, 1, comms[comm], peer, size, any_tag)
    ordered = [one for rank in (0, 1) for one in plain if one[2] == rank]
    expected = fitted(sends, ordered)  # type: ignore[arg-type]
    fit_receives(calls)
    rows = np.concatenate([one.read for one in calls.of_rank])
    found = rows[(rows[:, layout.KIND] == RECV) | (rows[:, layout.KIND] == IRECV), layout.SIZE]
    assert found.tolist() == expected


def test_plain_lines_are_cut_and_texts_numbered_and_what_is_rare_is_left() -> None:
    calls = ["Send:1:2:{d}:1:7:{w}", "Send:1:3:{d}:-1:8:{w}", "Waitany:2:8:1:2", "Strange:1"]
    name, text = next(iter(liballprof([calls, calls]).items()))
    (lines,) = cut([TraceFile(name, text.encode())], forms_of(False), Task())
    assert np.sign(lines.form).tolist() == [0, 0, 1, 0, 1, 1, -1, 0, 0]
    sizes = lines.values[4:6, [layout.V_SIZE, layout.V_PEER, layout.V_TAG]].tolist()
    assert sizes == [[16, 1, 7], [24, -1, 8]]
    assert lines.times[4:6].tolist() == [[10_000, 14_000], [20_000, 24_000]]
    assert [lines.numbered_text(i) for i in range(len(lines.texts))] == ["9100,0,2"]
    assert lines.notable.tolist() == [4, 6]


def test_more_texts_than_there_was_room_for() -> None:
    calls = [f"Bcast:0:{i}:{{d}}:0:{{w}}" for i in range(3000)]
    name, text = next(iter(recorded(calls).items()))
    (lines,) = cut([TraceFile(name, text.encode())], forms_of(True), Task())
    assert len(lines.texts) == 3001
    assert lines.numbered_text(3000) == "0:2999:1,8,8:0:0,0,1"


@given(amounts)
def test_amounts_are_the_floats_of_python_or_left_to_it(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    amount = amount_of(data, 0, len(data))
    assert amount < 0 or amount == float(text)
    if re.fullmatch(r"[0-9]{1,10}(\.[0-9]{0,5})?(e[-+]?[0-9])?", text, re.IGNORECASE):
        assert amount >= 0


def in_words(rng: random.Random, name: str, numbers: list[int]) -> str:
    """Return an action as text, its numbers written in one of several ways."""
    ways = (str, str, str, lambda number: f"{number}.0", lambda number: f"{number:.3e}")
    words = [rng.choice(ways)(number) for number in numbers]
    if name in ("isend", "irecv"):
        words += rng.choice(["10", "10 6", "5 3", "1e1"]).split()
    return rng.choice(["", " "]).join([rng.choice([name, name.upper()]), *[" "] * bool(words)]) + (
        rng.choice([" ", "  "]).join(words)
    )


def drawn(rng: random.Random, rank: int) -> tuple[str, list[int]]:
    """Return an action; tags are those of few messages, so that waits often name one."""
    name = rng.choice(["isend", "irecv", "irecv", "wait", "wait", "test", "waitall", "compute"])
    peer, tag = rng.randrange(2), rng.randrange(2)
    if name == "isend":
        return name, [peer, tag]
    if name == "irecv":
        return name, [rng.choice([peer, peer, ANY]), rng.choice([tag, tag, ANY])]
    if name == "waitall":
        return rng.choice([("waitall", []), ("wait", [])])
    if name == "compute":
        return name, [rng.randrange(1000)]
    return name, rng.choice([[], *[[*rng.choice([(rank, peer), (peer, rank)]), tag]] * 5])


def test_requests_end_as_in_the_plain_reader() -> None:
    rng = random.Random(1)
    for _ in range(40):
        actions = [[drawn(rng, rank) for _ in range(30)] for rank in range(2)]
        text = "".join(
            f"{rank} {in_words(rng, *one)}\n" for rank, mine in enumerate(actions) for one in mine
        )
        p = read_trace({"trace.txt": text})
        for rank, mine in enumerate(actions):
            said_of, work = calls_of(rank, mine)
            here = slice(int(p.rank_start[rank]), int(p.rank_start[rank + 1]))
            assert [plainly(text) for text in said(p, rank)] == said_of
            assert p.compute_ns[here].tolist() == work


def plainly(text: str) -> str:
    """Return a call as the plain reader has it, without size and request."""
    words = text.replace("any", str(ANY)).split()
    return text if words[0] == "wait" else f"{words[0]} {words[4]} {words[6]}"
