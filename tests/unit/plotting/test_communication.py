from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.plotting.replay.communication import (
    communication_figure,
    communication_table,
    describe_communication,
    matrix_columns,
    plot_communication_matrix,
)
from workbench.plotting.replay.message_sizes import (
    describe_message_sizes,
    message_size_table,
    message_sizes_figure,
)
from workbench.plotting.tiles import MOST_TILES
from workbench.programs.graph import CALC, SEND, Dependents, ExecutionGraph


def sends(ranks: int, *messages: tuple[int, int, int]) -> ExecutionGraph:
    """Return a graph of sends alone, each from, to, bytes, and a computation on every rank."""
    ops = sorted([*messages, *((rank, -1, 5) for rank in range(ranks))])
    n = len(ops)
    owner, peer, size = (np.array(column) for column in zip(*ops, strict=True))
    none = Dependents.from_pairs([], [], n)
    return ExecutionGraph(
        rank_start=np.searchsorted(owner, np.arange(ranks + 1)).astype(np.int64),
        kind=np.where(peer < 0, CALC, SEND).astype(np.uint8),
        size=size.astype(np.int64),
        peer=np.maximum(peer, 0).astype(np.int32),
        tag=np.zeros(n, np.uint32),
        cpu=np.zeros(n, np.uint8),
        nic=np.zeros(n, np.uint8),
        requires=none,
        irequires=none,
        source="sends",
    )


def test_pairs_are_counted_and_summed() -> None:
    table = communication_table(sends(3, (0, 1, 10), (0, 1, 30), (2, 0, 0)))
    assert table.to_dict("list") == {
        "sender": [0, 2],
        "receiver": [1, 0],
        "messages": [2, 1],
        "bytes": [40, 0],
    }


@for_each("ranks", [MOST_TILES, MOST_TILES + 1, 3000])
def test_neighbours_share_a_tile_where_ranks_are_many(ranks: int) -> None:
    rng = np.random.default_rng(ranks)
    messages = rng.integers(0, ranks, (400, 2))
    graph = sends(ranks, *((int(a), int(b), 1) for a, b in messages))
    columns = matrix_columns(graph)
    per = columns["side"][0]
    assert per == -(-ranks // MOST_TILES)
    assert columns["messages"].sum() == columns["bytes"].sum() == 400
    for a, b in messages[:20]:
        near = (np.abs(columns["y"] - a) <= per / 2) & (np.abs(columns["x"] - b) <= per / 2)
        assert near.sum() == 1
    assert len(communication_table(graph)) == len({tuple(pair) for pair in messages.tolist()})


def test_the_colours_follow_what_is_asked_for() -> None:
    graph = sends(3, (0, 1, 4096), (1, 2, 64), (1, 2, 64))
    drawn = communication_figure(graph)
    assert (drawn.mapper.low, drawn.mapper.high) == (128, 4096)
    assert drawn.figure.title.text == "Bytes between two ranks: sends"
    bar = drawn.figure.right[0]
    assert bar.major_label_overrides[1024.0] == "1 KiB"
    drawn.show(graph, value="messages")
    assert (drawn.mapper.low, drawn.mapper.high) == (1, 2)
    assert drawn.source.data["value"].tolist() == [1, 2]
    with pytest.raises(ParameterError, match="value must be one of bytes, messages; got 'time'"):
        drawn.show(graph, value="time")  # type: ignore[arg-type]


@for_each("messages", [(), ((0, 1, 0),), ((0, 1, 1),)])
def test_programs_without_bytes_are_drawn(messages: tuple[tuple[int, int, int], ...]) -> None:
    graph = sends(2, *messages)
    drawn = communication_figure(graph)
    assert drawn.mapper.low < drawn.mapper.high
    assert len(drawn.source.data["x"]) == len(messages)
    sizes = message_sizes_figure(graph)
    assert len(sizes.source.data["left"]) == len(messages)


def test_senders_run_downwards_from_rank_0() -> None:
    fig = plot_communication_matrix(sends(4, (0, 3, 8)))
    assert (fig.y_range.start, fig.y_range.end) == (3.5, -0.5)
    assert (fig.xaxis.axis_label, fig.yaxis.axis_label) == ("receiving rank", "sending rank")


def test_the_sentence_names_the_pair_and_the_rank_that_send_most() -> None:
    text = describe_communication(sends(4, (0, 1, 1024), (2, 3, 100), (2, 1, 2048)))
    assert text == (
        "3 of 12 ordered pairs of ranks exchange messages, 3 with 3.098 KiB in all; the most bytes "
        "go from 2 to 1 (2 KiB), and rank 2 sends 2.71 times the mean of a rank."
    )
    assert (
        describe_communication(sends(2))
        == describe_message_sizes(sends(2))
        == "No rank sends anything."
    )


def test_sizes_are_counted_between_powers_of_two() -> None:
    sizes = [0, 1, 2, 3, 4, 7, 8, 2**40 - 1, 2**40]
    table = message_size_table(sends(2, *((0, 1, size) for size in sizes)))
    counts = dict(zip(table["at_least"], table["messages"], strict=True))
    wanted = {0: 1, 1: 1, 2: 2, 4: 2, 8: 1, 2**39: 1, 2**40: 1}
    assert {low: n for low, n in counts.items() if n} == wanted
    assert table["bytes"].sum() == sum(sizes)
    assert len(table) == 42, "powers between the smallest and the largest stay, empty"


def test_shares_add_up_to_all() -> None:
    drawn = message_sizes_figure(sends(2, (0, 1, 8), (0, 1, 9), (0, 1, 5000)))
    data = drawn.source.data
    assert sum(data["messages_share"]) == pytest.approx(100)
    assert sum(data["bytes_share"]) == pytest.approx(100)
    assert data["size"][0] == "8 B to below 16 B"
    assert drawn.figure.xaxis[0].major_label_overrides[3] == "8 B"
    drawn.show(sends(2, (0, 1, 0), (1, 0, 1)))
    assert drawn.figure.xaxis[0].major_label_overrides[-0.5] == "0 B"


def test_the_sentence_names_the_size_that_carries_the_bytes() -> None:
    graph = sends(2, *[(0, 1, 8)] * 9, (1, 0, 1 << 20))
    assert describe_message_sizes(graph) == (
        "Half of the messages have at most 8 B; 90 % of the bytes are in the largest 10 % of "
        "them, from 1 MiB on; the largest has 1 MiB."
    )
