from __future__ import annotations

import itertools

import numpy as np
from bokeh.models import CustomAction, NoOverlap, SaveTool
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.plotting.axes import (
    legend_above,
    log_range,
    message_size_axis,
    new_figure,
    size_ticks,
)
from workbench.plotting.picture import SAVE_PICTURE


@for_each("count", [2, 3, 5, 6, 12])
@for_each("low, high", [(1, 1 << 22), (1, 1), (64, 8192), (3, 5000)])
def test_size_ticks_are_powers_of_two_and_not_too_many(low: int, high: int, count: int) -> None:
    ticks = size_ticks(low, high, count)
    assert 1 <= len(ticks) <= count
    assert all(tick & (tick - 1) == 0 for tick in ticks)
    steps = {b // a for a, b in itertools.pairwise(ticks)}
    assert len(steps) <= 1, "evenly spaced in the logarithm"
    assert ticks[-1] <= high


def test_sizes_are_written_in_bytes_kib_and_mib() -> None:
    fig = new_figure(title="t", y_label="latency (µs)", height=200)
    message_size_axis(fig, [1, 1 << 22], count=23)
    labels = fig.xaxis[0].major_label_overrides
    assert (labels[1], labels[1 << 10], labels[1 << 20]) == ("1 B", "1 KiB", "1 MiB")
    assert fig.xaxis[0].axis_label == "message size"
    assert fig.yaxis[0].axis_label == "latency (µs)"
    assert fig.toolbar.logo is None


@given(st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=9))
def test_a_log_range_holds_the_values_on_round_ends(values: list[float]) -> None:
    low, high = log_range([*values, np.nan, 0.0])
    assert low < min(values) <= max(values) < high
    for end in (low, high):
        assert f"{end:e}"[0] in "125"
    # Never more than a step of 1, 2, 5 and the margin away.
    assert min(values) / low < 2.5 * 1.1 * 1.001
    assert high / max(values) < 2.5 * 1.1 * 1.001


def test_nothing_to_draw_still_gives_a_range() -> None:
    assert log_range([np.nan, 0.0]) == (0.1, 10.0)


def test_a_title_and_the_numbers_of_an_axis_make_room_for_themselves() -> None:
    fig = new_figure(title="t", y_label="latency (µs)", height=200)
    for changed in (
        fig.js_property_callbacks["change:inner_width"],
        *fig.title.js_property_callbacks.values(),
    ):
        assert any(fig.title in callback.args.values() for callback in changed)
    for axis in (*fig.xaxis, *fig.yaxis):
        assert isinstance(axis.major_label_policy, NoOverlap)


def test_the_tool_that_saves_makes_the_picture_that_the_panels_make() -> None:
    fig = new_figure(title="t", y_label="", height=200, file_name="errors")
    saving = [tool for tool in fig.toolbar.tools if isinstance(tool, CustomAction)]
    assert [tool.callback.args["name"] for tool in saving] == ["errors.png"]
    assert SAVE_PICTURE in saving[0].callback.code
    assert not any(isinstance(tool, SaveTool) for tool in fig.toolbar.tools)


def test_entries_of_a_legend_do_not_refer_to_what_else_the_figure_draws() -> None:
    # The page makes a legend's entries again when anything changes that they refer to.
    fig = new_figure(title="t", y_label="latency (µs)", height=200)
    line = fig.line([1, 2], [3, 4], legend_label="measured")
    other = fig.line([1, 2], [3, 4])
    legend_above(fig)
    refers_to = fig.legend[0].references()
    assert line.data_source in refers_to
    assert fig not in refers_to and other.data_source not in refers_to
