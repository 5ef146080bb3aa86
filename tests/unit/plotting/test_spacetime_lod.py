from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.plotting.replays import ring
from workbench.errors import ParameterError
from workbench.plotting.replay.spacetime_lod import LEVELS, View, visible
from workbench.plotting.replay.timeline import KINDS, Timeline, timeline, work_intervals
from workbench.programs.graph import RECV, SEND
from workbench.simulate.replay_result import ReplayResult


def whole(shown: Timeline, **options: int) -> View:
    ranks = len(shown.ranks)
    return visible(shown, (0, shown.makespan_ns), (-0.5, ranks - 0.5), (1000, 400), **options)


def seen(result: ReplayResult, start_ns: float, end_ns: float, ranks: range) -> set[int]:
    """Return by trying each which operations work in a window."""
    begin, end = work_intervals(result)
    rank = result.graph.rank_of(np.arange(result.graph.num_ops))
    return {
        op
        for op in range(result.graph.num_ops)
        if rank[op] in ranks and end[op] / 1000 > start_ns and begin[op] / 1000 < end_ns
    }


def overlapping(result: ReplayResult, rng: np.random.Generator) -> ReplayResult:
    """Return the replay with operations of a rank at the same time, as without contention."""
    times = result.times
    assert times is not None
    start = rng.integers(0, 10**8, len(times.start_ps))
    end = start + rng.integers(0, 3 * 10**7, len(start))
    moved = dataclasses.replace(times, start_ps=start, begin_ps=start, end_ps=end)
    return dataclasses.replace(result, times=moved, finish_ps=np.full(len(result.finish_ps), 2e8))


def test_a_small_replay_is_drawn_operation_by_operation() -> None:
    result = ring(4, 3)
    view = whole(timeline(result))
    assert not view.merged
    assert sorted(view.bars["op"]) == list(range(36))
    first = int(np.flatnonzero(view.bars["op"] == 3)[0])  # rank 0's second computation
    assert (view.bars["left"][first], view.bars["right"][first]) == (18_000.0, 28_000.0)
    assert (view.bars["top"][first], view.bars["bottom"][first]) == (-0.4, 0.4)
    assert KINDS[view.bars["kind"][first]] == "compute"


@for_each("crossing", [False, True])
def test_a_window_holds_what_lies_in_it_and_nothing_else(crossing: bool) -> None:
    rng = np.random.default_rng(1)
    result = ring(6, 20)
    if crossing:
        result = overlapping(result, rng)
    shown = timeline(result, critical=False)
    for _ in range(60):
        start, end = np.sort(rng.uniform(0, shown.makespan_ns, 2))
        low, high = sorted(rng.choice(7, 2, replace=False))
        view = visible(shown, (start, end), (low - 0.4, high - 0.6), (500, 300))
        got = set(view.bars["op"].tolist())
        wanted = seen(result, round(start, 3), round(end, 3), range(low, high))
        assert wanted <= got
        # where bars cross, one that has ended may lie between two that have not: it is off sight
        _, finish = work_intervals(result)
        extra = got - wanted
        assert crossing or not extra
        assert all(finish[op] <= start * 1000 + 1 for op in extra)


def test_the_widest_are_bars_and_the_rest_is_painted() -> None:
    result = ring(8, 200)
    shown = timeline(result)
    view = whole(shown, most_bars=900)
    assert view.merged and view.operations == 4800
    assert 0 < len(view.bars["op"]) <= 900
    width = (view.bars["right"] - view.bars["left"]).min()
    begin, end = work_intervals(result)
    narrow = np.setdiff1d(np.arange(4800), view.bars["op"])
    # a bar is left out for its whole pixels: it may be as wide as one pixel more
    assert (end - begin)[narrow].max() / 1000 <= width + shown.makespan_ns / 1000
    codes = view.image["image"][0]
    assert codes.dtype == np.uint8 and codes.max() <= len(KINDS) * LEVELS
    step = shown.makespan_ns / codes.shape[1]
    per_rank = codes.shape[0] // 8
    for op in narrow[::37]:
        rank = int(result.graph.rank_of(op))
        pixel = int((begin[op] + end[op]) / 2000 / step)
        assert codes[rank * per_rank + per_rank // 2, pixel] > 0


def test_a_pixel_shows_what_takes_most_of_it_and_how_much_is_busy() -> None:
    result = ring(1, 100)  # each period of 14 us: 10 compute, 1 send, 2 wait, 2 receive
    shown = timeline(result)
    period = shown.makespan_ns / 100
    codes = visible(shown, (0, 100 * period), (-0.5, 0.5), (100, 3), most_bars=0).image["image"][0]
    busy = 13 / 15
    assert codes.shape == (1, 100)
    assert set(codes[0].tolist()) == {1 + int(busy * LEVELS)}


def test_ranks_share_a_line_of_pixels_where_they_are_many() -> None:
    view = visible(timeline(ring(64, 4)), (0, 1e6), (-0.5, 63.5), (200, 20), most_bars=10)
    assert view.image["image"][0].shape[0] == 16
    assert view.image["dh"] == [64.0]
    assert len(view.lives["right"]) == 16


def test_what_is_sent_to_the_page_is_bounded() -> None:
    view = whole(timeline(ring(64, 300)), most_bars=2000, most_messages=300)
    assert view.operations == 57600
    assert len(view.bars["left"]) <= 2000
    assert view.image["image"][0].nbytes <= 1000 * 400
    assert len(view.messages["x0"]) <= 300 < view.messages_in_view
    assert len(view.path["x"]) <= 4000


def test_the_longest_messages_are_kept() -> None:
    shown = timeline(ring(16, 10))
    every, few = whole(shown), whole(shown, most_messages=20)
    assert len(every.messages["x0"]) == 160

    def pixels(m: dict[str, np.ndarray]) -> np.ndarray:
        across = (m["x1"] - m["x0"]) * 1000 / shown.makespan_ns
        return np.maximum(across, np.abs(m["y1"] - m["y0"]) * 400 / 16)

    kept, all_of_them = pixels(few.messages), np.sort(pixels(every.messages))
    assert 10 <= len(kept) <= 20
    np.testing.assert_array_equal(np.sort(kept), all_of_them[-len(kept) :])
    assert whole(shown, most_messages=0).messages["x0"].size == 0


def test_a_message_goes_from_where_it_leaves_to_where_it_is_taken() -> None:
    view = whole(timeline(ring(4, 1)))
    at = int(np.flatnonzero(view.messages["sender"] == 1)[0])
    m = view.messages
    assert (m["x0"][at], m["x1"][at]) == (12_000.0, 14_000.0)
    assert (m["y0"][at], m["y1"][at], m["receiver"][at]) == (1.0, 2.0, 2)


def test_ranks_are_shown_in_the_order_they_are_asked_for() -> None:
    view = whole(timeline(ring(6, 2), [5, 0, 2]))
    assert {(r, t) for r, t in zip(view.bars["rank"], view.bars["top"], strict=True)} == {
        (5, -0.4),
        (0, 0.6),
        (2, 1.6),
    }
    assert set(zip(view.messages["sender"], view.messages["receiver"], strict=True)) == {(5, 0)}


@for_each("ranks", [[], [6], [-1], [1, 1]])
def test_ranks_that_do_not_exist_are_refused(ranks: list[int]) -> None:
    with pytest.raises(ParameterError, match="ranks must be"):
        timeline(ring(6, 1), ranks)


def test_a_synchronous_send_is_at_work_for_its_overhead_alone() -> None:
    result = ring(2, 1, S=100)
    assert result.times is not None
    send = result.graph.kind == SEND
    end = result.times.end_ps + np.where(send, 5_000_000, 0)
    held = dataclasses.replace(result, times=dataclasses.replace(result.times, end_ps=end))
    assert (np.subtract(*work_intervals(held)[::-1])[send] == 1_000_000).all()
    bars = whole(timeline(held)).bars
    assert (bars["released"] > bars["right"])[bars["kind"] == 1].all()


def test_a_message_that_came_before_its_receive_was_posted_was_taken_when_it_came() -> None:
    result = ring(2, 1)
    assert result.times is not None
    late = result.graph.kind == RECV
    start = np.where(late, result.times.end_ps + 7_000_000, result.times.start_ps)
    end = np.where(late, start, result.times.end_ps)
    times = dataclasses.replace(result.times, start_ps=start, end_ps=end)
    begin, end = work_intervals(dataclasses.replace(result, times=times))
    assert (begin == result.times.begin_ps).all()
    assert ((end - begin)[late] == 2_000_000).all()


def test_each_core_has_a_lane_and_a_message_takes_that_of_its_send() -> None:
    result = ring(2, 1)
    cpu = np.where(result.graph.kind == SEND, 7, 0).astype(np.uint8)
    graph = dataclasses.replace(result.graph, cpu=cpu)
    shown = timeline(dataclasses.replace(result, graph=graph))
    assert shown.lanes == 2
    bars = whole(shown).bars
    middle = (bars["top"] + bars["bottom"]) / 2 - bars["rank"]
    np.testing.assert_allclose(middle, np.where(bars["kind"] == 0, -0.2, 0.2), atol=1e-12)


def test_the_critical_path_is_ascending_and_thinned() -> None:
    shown = timeline(ring(3, 4000))
    view = whole(shown)
    assert len(shown.path_ns) > 8000 and len(view.path["x"]) <= 4000
    assert (np.diff(shown.path_ns) >= 0).all() and (np.diff(view.path["x"]) >= 0).all()
    assert shown.path_ns[-1] == shown.makespan_ns


def test_a_replay_without_times_is_refused() -> None:
    with pytest.raises(ParameterError, match="times=True"):
        timeline(dataclasses.replace(ring(2, 1), times=None))
