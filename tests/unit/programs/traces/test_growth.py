"""Reading takes steps in proportion to the length of the file, whatever is in it.

Steps are Python instructions, counted, so that the figures are the same on every machine. Each kind
of file is read at two lengths; where something is looked at once for each line and for each open
request, sixteen times the steps are taken by four times the lines.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import liballprof, recorded
from workbench.errors import ParseError
from workbench.programs.traces import liballprof_rank, read_trace

QUIET = ["Comm_rank:{w}:1"]
Lines = list[str]


def steps_of(function: Callable[[], object]) -> int:
    """Return how many instructions a call takes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def steps(files: dict[str, str]) -> int:
    """Return how many instructions it takes to read a trace."""
    return steps_of(lambda: read_trace(files))


def irecv(i: int, tag: int = 0) -> str:
    return f"Irecv:1:1:{{d}}:1:{tag}:{{w}}:{800 + 8 * i}"


def begun(n: int) -> Lines:
    return [irecv(i, i) for i in range(n)]


def waits_for_any_of_all(n: int) -> Lines:
    return begun(n) + [f"Waitany:{n}:800:1:2"] * n


def waits_for_any_of_twice_as_many_then_all(n: int) -> Lines:
    return begun(2 * n) + [f"Waitany:{2 * n}:800:1:2"] * n + [f"Waitall:{2 * n}:800:1"]


def waits_for_any_then_for_each_from_the_first(n: int) -> Lines:
    return [*waits_for_any_of_all(n), *(f"Wait:{800 + 8 * i}:1" for i in range(n))]


def waits_for_any_then_for_each_from_the_last(n: int) -> Lines:
    return [*waits_for_any_of_all(n), *(f"Wait:{800 + 8 * i}:1" for i in reversed(range(n)))]


def a_master_and_its_workers(n: int) -> Lines:
    lines = begun(n)
    for i in range(n):
        lines += [f"Waitany:{n}:800:1:2", irecv(i * 7 % n)]
    return lines


def first_half_begun_again(n: int) -> Lines:
    again = [line for i in range(n // 2) for line in (f"Wait:{800 + 8 * i}:1", irecv(i))]
    return waits_for_any_of_all(n) + again


def arrays_that_shrink(n: int) -> Lines:
    return begun(n) + [f"Waitany:{n - i}:800:1:2" for i in range(n)]


def arrays_that_grow(n: int) -> Lines:
    return begun(n) + [f"Waitsome:{i + 1}:800:1:2:3" for i in range(n)]


def arrays_everywhere(n: int) -> Lines:
    return begun(n) + [f"Waitany:{n // 2}:{800 + 8 * (i % n)}:1:2" for i in range(n)]


def all_tested(n: int) -> Lines:
    return begun(n) + [f"Testall:{n}:800:1:2"] * n + begun(n)


def different_arrays_tested(n: int) -> Lines:
    return begun(n) + [f"Testsome:{n - i}:{800 + 8 * i}:1:2:3" for i in range(n)]


def waits_for_all_while_others_are_open(n: int) -> Lines:
    return begun(n) + [irecv(2 * n), f"Waitall:{n}:{800 + 16 * n}:1"] * n


def waits_for_what_has_ended(n: int) -> Lines:
    return begun(n) + [f"Waitall:{n}:800:1"] * n


def persistent_requests_at_rest(n: int) -> Lines:
    made = [f"Recv_init:1:1:{{d}}:1:{i}:{{w}}:{800 + 8 * i}" for i in range(n)]
    return made + [f"Waitall:{n}:800:1", "Start:800", f"Waitany:{n}:800:1:2"] * n


def one_variable(n: int) -> Lines:
    return [irecv(0), "Test:800:1:2"] * n + ["Waitany:1:800:1:2", irecv(0)] * n


def unused_communicators(n: int) -> Lines:
    return ["Comm_dup:{w}:60"] * n + [f"Barrier:{500 + i},0,2" for i in range(n)]


def unused_communicators_that_stay(n: int) -> Lines:
    return ["Comm_dup:700,0,1:60"] * n + ["Comm_free:61", "Comm_rank:{w}:1"] * n


def unused_grids(n: int) -> Lines:
    return [
        *["Cart_create:700,0,1:1:1:1:1:60"] * n,
        *(f"Comm_rank:{i},{i % 9},9:1" for i in range(n)),
    ]


def communicators_of_one_rank_alone(n: int) -> Lines:
    return ["Comm_dup:{w}:60"] * n


ONE_RANK = [
    waits_for_any_of_all,
    waits_for_any_of_twice_as_many_then_all,
    waits_for_any_then_for_each_from_the_first,
    waits_for_any_then_for_each_from_the_last,
    a_master_and_its_workers,
    first_half_begun_again,
    arrays_that_shrink,
    arrays_that_grow,
    arrays_everywhere,
    all_tested,
    different_arrays_tested,
    waits_for_all_while_others_are_open,
    waits_for_what_has_ended,
    persistent_requests_at_rest,
    one_variable,
    communicators_of_one_rank_alone,
    unused_grids,
    unused_communicators_that_stay,
]


def of_one_rank(lines: Callable[[int], Lines], n: int) -> dict[str, str]:
    return liballprof([lines(n), QUIET])


def of_all_ranks(lines: Callable[[int], Lines], n: int) -> dict[str, str]:
    calls = lines(n)
    return liballprof([calls, [call.replace(",0,2", ",1,2") for call in calls]])


def simgrid(actions: Callable[[int], Lines], n: int) -> dict[str, str]:
    return {"t.txt": "".join(f"0 {action}\n" for action in actions(n)) + "1 init\n"}


def waits_in_order(n: int) -> Lines:
    return ["isend 1 7 5"] * n + ["wait 0 1 7"] * n


def waits_without_names(n: int) -> Lines:
    return [f"isend 1 {i} 5" for i in range(n)] + ["wait"] * n


def waits_without_names_for_many_alike(n: int) -> Lines:
    return ["isend 1 7 5"] * n + ["test", "wait"] * n


def many_alike_tested(n: int) -> Lines:
    return ["isend 1 7 5"] * n + ["test 0 1 7"] * n


def waits_for_all_of_none(n: int) -> Lines:
    return ["isend 1 7 5", "waitall 5", "wait 0 1 7"] * n


def many_nonblocking_collectives(n: int) -> Lines:
    return ["isend 1 7 5"] * n + ["wait 0 0 -3334"] * n


SIMGRID = [
    waits_in_order,
    waits_without_names,
    waits_without_names_for_many_alike,
    many_alike_tested,
    waits_for_all_of_none,
    many_nonblocking_collectives,
]

N = 24
GROWTH = 4
MOST_GROWTH = 6.0  # of the steps; 4 times log(4 n) / log(n) is 5.7 at n = 24


@for_each("lines", ONE_RANK)
def test_steps_grow_with_the_lines(lines: Callable[[int], Lines]) -> None:
    few, many = (steps(of_one_rank(lines, n)) for n in (N, GROWTH * N))
    assert many <= MOST_GROWTH * few


def test_steps_grow_with_the_communicators_that_are_made_before_they_are_used() -> None:
    few, many = (steps(of_all_ranks(unused_communicators, n)) for n in (N, GROWTH * N))
    assert many <= MOST_GROWTH * few


@for_each("actions", SIMGRID)
def test_steps_grow_with_the_actions(actions: Callable[[int], Lines]) -> None:
    few, many = (steps(simgrid(actions, n)) for n in (N, GROWTH * N))
    assert many <= MOST_GROWTH * few


def test_steps_grow_with_the_lines_of_a_recorded_trace() -> None:
    def files(n: int) -> dict[str, str]:
        calls = [f"Irecv:0:1:{{d}}:1:0:{{w}}:{i + 1}" for i in range(n)]
        calls += [f"Waitany:2:{i + 1},{n - i}:0:-" for i in range(n // 2)]
        for i in range(n):
            calls += [f"# comm {i + 1} 0", f"Barrier:{i + 1},0,1"]
        return recorded(calls, [])

    few, many = steps(files(N)), steps(files(GROWTH * N))
    assert many <= MOST_GROWTH * few


def test_what_is_quadratic_would_be_found() -> None:
    def pairs(n: int) -> int:
        return sum(1 for i in range(n) for j in range(n) if i == j)

    few, many = (steps_of(lambda n=n: pairs(n)) for n in (N, GROWTH * N))
    assert many > 2 * MOST_GROWTH * few


def test_short_lines_cannot_begin_requests_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [f"Recv_init:1:1:{{d}}:1:{i}:{{w}}:{800 + 8 * i}" for i in range(50)]
    files = liballprof([made + ["Startall:50:800", "Waitall:50:800:1"] * 40, QUIET])
    assert read_trace(files).num_calls == 40 * 51 + 2
    monkeypatch.setattr(liballprof_rank, "STARTED_ANYHOW", 1000)
    monkeypatch.setattr(liballprof_rank, "STARTED_PER_BYTE", 0)
    with pytest.raises(ParseError, match="at most 1000 requests") as caught:
        read_trace(files)
    assert caught.value.line == 4 + 50 + 2 * 20 + 1


def memory_beside_the_file(files: dict[str, str]) -> float:
    """Return the most memory that reading takes at once, in lengths of the trace."""
    contents = {name: text.encode() for name, text in files.items()}
    read_trace(contents)
    tracemalloc.start()
    try:
        read_trace(contents)
        return tracemalloc.get_traced_memory()[1] / sum(map(len, contents.values()))
    finally:
        tracemalloc.stop()


def test_memory_is_at_most_ten_times_the_file() -> None:
    n = 2000
    step = "{0} compute 12345.678\n{0} isend {1} 7 1000 6\n{0} irecv {1} 7 1000 6\n"
    step += "{0} waitall 2\n{0} allreduce 8 0 6\n"
    actions = {f"trace-{r}.txt": step.format(r, 1 - r) * n for r in range(2)}
    assert memory_beside_the_file(actions) <= 10
    assert memory_beside_the_file(liballprof([[irecv(0), "Wait:800:1"] * n, QUIET])) <= 10
