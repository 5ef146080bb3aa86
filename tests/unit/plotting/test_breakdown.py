from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from tests.unit.plotting.replays import ring
from workbench.plotting.replay.breakdown import (
    MOST_BARS,
    PARTS,
    breakdown_columns,
    breakdown_figure,
    describe_breakdown,
    plot_breakdown,
)


def test_the_parts_of_a_bar_add_up_to_the_end_of_its_rank() -> None:
    result = ring(6, 5)
    columns = breakdown_columns(result.breakdown())
    np.testing.assert_allclose(columns["waiting_top"], result.finish_ps / 1000)
    np.testing.assert_allclose(
        sum(np.array(columns[f"{part}_ns"]) for part in PARTS), columns["finish_ns"]
    )
    # rank 2: 5 times 12 us of work, 1 us to send, 2 us to receive
    assert columns["compute_ns"][2] == 60_000
    assert columns["overhead_ns"][2] == 15_000
    assert columns["compute_text"][2].startswith("60.0 µs (") or columns["compute_text"][
        2
    ].startswith("60 µs (")
    assert columns["name"][2] == "rank 2"


@for_each("ranks", [65, 200])
def test_many_ranks_are_averaged_in_groups_the_busiest_first(ranks: int) -> None:
    result = ring(ranks, 2)
    table = result.breakdown()
    columns = breakdown_columns(table)
    assert len(columns["x"]) == MOST_BARS
    busy = np.add(columns["compute_ns"], columns["overhead_ns"])
    assert (np.diff(busy) <= 0).all()
    sizes = [len(part) for part in np.array_split(np.arange(ranks), MOST_BARS)]
    for part in PARTS:
        mean = np.average(columns[f"{part}_ns"], weights=sizes)
        assert mean == pytest.approx(table[f"{part}_ns"].mean(), rel=1e-12)
    fig = plot_breakdown(result)
    assert f"{ranks} ranks, the busiest first" in fig.xaxis.axis_label


def test_cores_share_the_time_of_their_rank() -> None:
    table = pd.DataFrame(
        {
            "rank": [0],
            "cores": [2],
            "finish_ns": [100.0],
            "compute_ns": [120.0],
            "overhead_ns": [30.0],
            "noise_ns": [10.0],
            "waiting_ns": [40.0],
        }
    )
    columns = breakdown_columns(table)
    assert columns["compute_ns"] == [60.0]
    assert columns["waiting_top"] == columns["finish_ns"] == [100.0]


def test_noise_is_in_the_key_only_where_there_is_any() -> None:
    result = ring(4, 1)
    drawn = breakdown_figure(result)
    noise = drawn.figure.legend[0].items[PARTS.index("noise")]
    assert not noise.visible
    drawn.show(dataclasses.replace(result, noise_ps=np.full(4, 1000)))
    assert noise.visible
    assert drawn.source.data["noise_ns"] == [1.0] * 4


def test_two_figures_can_have_one_scale() -> None:
    drawn = breakdown_figure(ring(4, 1), top_ns=1e6)
    assert drawn.figure.y_range.end == pytest.approx(1.04e6)
    drawn.show(ring(4, 1))
    assert drawn.figure.y_range.end == pytest.approx(1.04 * ring(4, 1).makespan_ns)


def test_the_sentence_names_the_shares_and_who_waits_longest() -> None:
    assert describe_breakdown(ring(1, 4)) == (
        "Over all ranks until their end they compute 67 % of the time, spend 20 % on messages and "
        "wait 13 %; rank 0 waits longest, 8 µs of its 60 µs."
    )
