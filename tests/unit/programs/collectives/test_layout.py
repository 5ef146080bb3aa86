"""Operations and dependencies against their definition, on messages drawn at random."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from workbench.programs.collectives import find_algorithm, layout
from workbench.programs.collectives.layout import Messages, gather_messages, lay_out
from workbench.programs.collectives.rounds import CollectiveCase
from workbench.programs.graph import CALC, RECV, SEND

RANKS = 4


@st.composite
def messages(draw: st.DrawFn) -> Messages:
    """Return messages between a few ranks in a few rounds and lanes, round after round."""
    one = st.tuples(
        st.integers(0, 4),  # round
        st.integers(0, 1),  # lane
        st.integers(0, RANKS - 1),
        st.integers(1, RANKS - 1),  # distance to the receiver
        st.booleans(),
    )
    rows = sorted(draw(st.lists(one, max_size=25)))
    round_, lane, source, distance, reduce = np.array(rows, np.int32).reshape(-1, 5).T
    return Messages(
        round_,
        lane,
        source,
        (source + distance) % RANKS,
        reduce.astype(bool),
        np.arange(len(rows) + 1),
        np.zeros(len(rows), np.int32),
    )


def reachable(after: list[int], before: list[int], number: int) -> list[set[int]]:
    """Return for each operation all that it waits for, through others too."""
    waits: list[set[int]] = [set() for _ in range(number)]
    for a, b in sorted(zip(after, before, strict=True)):
        waits[a] |= {b} | waits[b]
    return waits


@given(messages(), st.booleans())
def test_an_operation_waits_for_the_round_before_and_nothing_else(
    m: Messages, combining: bool
) -> None:
    made = lay_out(m, RANKS, combining=combining)
    kind, message = made.kind.tolist(), made.message.tolist()
    assert made.rank_start[0] == 0
    assert made.rank_start[-1] == len(kind)
    assert (made.before < made.after).all()
    assert (np.diff(made.after) >= 0).all()
    rank = np.searchsorted(made.rank_start, np.arange(len(kind)), side="right") - 1
    assert (rank[made.after] == rank[made.before]).all()

    for at, who, other in ((SEND, m.source, m.target), (RECV, m.target, m.source)):
        ops = np.flatnonzero(made.kind == at)
        which = made.message[ops]
        assert sorted(which.tolist()) == list(range(len(m.round)))
        assert (rank[ops] == who[which]).all()
        assert (made.peer[ops] == other[which]).all()
        assert (made.tag[ops] == m.lane[which]).all()
    combined = [i for i in message if i >= 0 and m.reduce[i]] if combining else []
    combines = [op for op, k in enumerate(kind) if k == CALC and message[op] >= 0]
    assert sorted(message[op] for op in combines) == sorted(set(combined))

    waits = reachable(made.after.tolist(), made.before.tolist(), len(kind))
    real = [op for op in range(len(kind)) if message[op] >= 0]
    for x in real:
        mine = m.lane[message[x]], m.round[message[x]]
        fellows = [y for y in real if rank[y] == rank[x] and m.lane[message[y]] == mine[0]]
        together = [y for y in fellows if m.round[message[y]] == mine[1] and kind[y] != CALC]
        expected = {y for y in fellows if m.round[message[y]] < mine[1]}
        if kind[x] == CALC:
            sends = any(kind[y] == SEND for y in together)
            expected |= {y for y in together if sends or message[y] == message[x]}
        assert {y for y in waits[x] if message[y] >= 0} == expected


def test_joins_keep_dependencies_few() -> None:
    """A round of n and one of n operations take 2 n dependencies, not n²."""
    case = CollectiveCase(200)
    made = lay_out(gather_messages(find_algorithm("barrier", "linear"), case), 200, combining=False)
    assert (made.kind == CALC).sum() == 1
    assert len(made.after) == 199 + 199 + 199


def test_two_and_two_operations_need_no_join() -> None:
    made = lay_out(
        gather_messages(find_algorithm("allgather", "ring"), CollectiveCase(3)), 3, combining=False
    )
    assert not (made.kind == CALC).any()
    assert len(made.after) == 3 * 4


def test_no_messages_make_no_operations() -> None:
    made = lay_out(gather_messages(find_algorithm("bcast"), CollectiveCase(1)), 1, combining=True)
    assert made.rank_start.tolist() == [0, 0]
    assert len(made.kind) == len(made.after) == 0


def test_layouts_are_kept_and_cannot_be_changed() -> None:
    case = CollectiveCase(7)
    algorithm = find_algorithm("allreduce", "ring")
    first = layout.layout("allreduce", algorithm, case, combining=False)
    assert layout.layout("allreduce", algorithm, case, combining=False) is first
    assert layout.layout("allreduce", algorithm, case, combining=True) is not first
    assert not first.peer.flags.writeable
    assert not first.messages.blocks.flags.writeable


def test_the_cache_holds_to_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_KEPT_BYTES", 40_000)
    cache = layout._Cache()
    algorithm = find_algorithm("allreduce", "ring")
    threads = [
        threading.Thread(
            target=lambda n=n: cache.get("allreduce", algorithm, CollectiveCase(n % 13 + 2), False)
        )
        for n in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = list(cache._held.values())
    assert sum(one.nbytes for one in held) == cache._bytes <= 40_000
    assert held
