from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, CustomJS, HoverTool

from tests.unit.plotting.replays import ring
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.plotting.embedding import standalone_html
from workbench.plotting.replay.spacetime import (
    STILL_BARS,
    SpacetimeFigure,
    describe_spacetime,
    plot_spacetime,
    spacetime_figure,
)
from workbench.programs import ProgramBuilder
from workbench.programs.program import MPI_CALLS
from workbench.simulate import replay


def ends(shown: Any) -> tuple[float, float]:
    return shown.start, shown.end


def ask(drawn: SpacetimeFigure, x0: float, x1: float, **said: float) -> bool:
    """Write a window as a page does: all ranks, and what `said` says of it."""
    low = len(drawn.timeline.ranks) - 0.5
    row = {"x0": x0, "x1": x1, "y0": low, "y1": -0.5, "width": 900.0, "height": 300.0}
    row |= {"whole": 0.0, "revision": drawn.moved.data["revision"][0]}
    drawn.asked.data = {name: [value] for name, value in (row | said).items()}
    return drawn.look_as_asked()


def test_the_figure_names_what_it_shows() -> None:
    fig = plot_spacetime(ring(4, 3))
    assert fig.title.text == "Space–time diagram: ring, 4 ranks"
    assert (fig.xaxis.axis_label, fig.yaxis.axis_label) == ("time", "rank")
    assert [title.text for title in fig.below if "caption" in title.tags] == [
        "simulated: ring, LogGOPS replay"
    ]
    assert [item.label.value for item in fig.legend[0].items] == [
        "compute",
        "send overhead",
        "receive overhead",
        "waiting",
        "message",
        "critical path",
    ]
    assert ends(fig.y_range) == (3.5, -0.5), "rank 0 is on top"


def test_messages_and_critical_path_can_be_left_out() -> None:
    drawn = spacetime_figure(ring(4, 3), messages=False, critical=False)
    assert [item.label.value for item in drawn.figure.legend[0].items][-1] == "waiting"
    assert not len(drawn.messages.data["x0"]) and not len(drawn.path.data["x"])


def test_a_figure_without_python_behind_it_is_bounded() -> None:
    fig = plot_spacetime(ring(64, 500))
    rows = max(len(source.data.get("left", ())) for source in fig.select(type=ColumnDataSource))
    assert 0 < rows <= STILL_BARS
    assert len(standalone_html(fig, "ring")) < 5_000_000


def test_a_time_can_be_chosen() -> None:
    fig = plot_spacetime(ring(64, 500), start_ns=1e6, end_ns=1.2e6)
    assert ends(fig.x_range) == (1e6, 1.2e6)
    assert fig.x_range.reset_start == 0
    with pytest.raises(ParameterError, match="end_ns must lie after start_ns; got 5 to 2 ns"):
        plot_spacetime(ring(2, 1), start_ns=5, end_ns=2)


def test_a_window_that_a_page_asks_for_is_drawn_with_some_room_around_it() -> None:
    drawn = spacetime_figure(ring(64, 500))
    assert not drawn.look_as_asked(), "no page has asked yet"
    assert drawn.view is not None and drawn.view.merged
    assert ask(drawn, 1e6, 1.1e6, y0=7.5, y1=3.5)
    assert not drawn.look_as_asked(), "told twice, drawn once"
    assert not drawn.view.merged
    assert set(drawn.bars.data["rank"]) <= set(range(3, 9))
    left, right = drawn.bars.data["left"].min(), drawn.bars.data["right"].max()
    assert left < 1e6 - 20_000 and right > 1.1e6 + 20_000
    assert drawn.window == (1e6, 1.1e6, 3.5, 7.5)


def test_a_page_that_shows_what_is_drawn_gets_nothing_new() -> None:
    drawn = spacetime_figure(ring(8, 20), width=900)
    end, pixels = drawn.timeline.makespan_ns, {"width": 900.0, "height": float(drawn.pixels[1])}
    changed: list[str] = []
    drawn.bars.on_change("data", lambda name, _old, _new: changed.append(name))
    assert ask(drawn, 0, end, whole=1.0, **pixels)
    assert changed == []
    assert ask(drawn, 0, end, whole=1.0, **pixels | {"width": 800.0})
    assert changed == ["data"]


def test_a_zoomed_page_stays_where_it_is_when_a_slider_moves() -> None:
    result = ring(8, 20)
    drawn = spacetime_figure(result)
    drawn.show_window((50_000, 90_000), (-0.5, 7.5), (900, 300))
    times = result.times
    assert times is not None
    twice = dataclasses.replace(
        result,
        finish_ps=result.finish_ps * 2,
        times=dataclasses.replace(
            times, start_ps=times.start_ps * 2, begin_ps=times.begin_ps * 2, end_ps=times.end_ps * 2
        ),
    )
    drawn.show(twice)
    assert drawn.window is not None
    assert drawn.figure.x_range.reset_end == twice.makespan_ns
    assert drawn.bars.data["left"].max() <= 100_000
    drawn.show(ring(8, 1))  # ends before the window begins
    assert drawn.window is None
    assert ends(drawn.figure.x_range) == (0, ring(8, 1).makespan_ns)


def test_a_page_that_shows_all_goes_on_showing_all() -> None:
    drawn = spacetime_figure(ring(8, 2))
    drawn.show_window((0, ring(8, 2).makespan_ns), (7.5, -0.5), (900, 300))
    drawn.show(ring(4, 5))
    assert drawn.window is None
    assert ends(drawn.figure.x_range) == (0, ring(4, 5).makespan_ns)
    assert ends(drawn.figure.y_range) == (3.5, -0.5)
    assert drawn.figure.title.text == "Space–time diagram: ring, 4 ranks"
    assert len([t for t in drawn.figure.below if "caption" in t.tags]) == 1


def test_what_a_page_tells_of_an_older_replay_is_no_zoom() -> None:
    short, long = ring(8, 2), ring(8, 200)
    drawn = spacetime_figure(short)
    before = drawn.moved.data["revision"][0]
    drawn.show(long)
    for whole in (1, 0):  # shown whole on the page, or zoomed into before the page heard of `long`
        assert ask(drawn, 0, short.makespan_ns, whole=whole, revision=before, width=700 + whole)
        assert drawn.window is None
        assert drawn.pixels == (700 + whole, 300), "the size of the page counts all the same"
    drawn.show(short)
    drawn.show(long)
    assert ends(drawn.figure.x_range) == (0, long.makespan_ns)


def test_a_page_that_goes_back_to_all_of_an_older_replay_is_shown_all_of_this_one() -> None:
    short, long = ring(8, 2), ring(8, 200)
    drawn = spacetime_figure(short)
    ask(drawn, 0.2 * short.makespan_ns, 0.4 * short.makespan_ns)
    drawn.show(long)
    assert drawn.window is not None, "a zoom stays"
    known = drawn.moved.data["revision"][0]
    ask(drawn, 0, short.makespan_ns, whole=1)  # reset by the user before the page heard of `long`
    assert drawn.window is None
    assert drawn.moved.data["revision"][0] > known
    assert ends(drawn.figure.x_range) == (0, long.makespan_ns)


def test_all_is_shown_to_a_page_that_has_zoomed_since_python_last_set_its_ends() -> None:
    drawn = spacetime_figure(ring(8, 20))
    ask(drawn, 50_000, 90_000)
    known = drawn.moved.data["revision"][0]
    drawn.show(ring(4, 20))  # other ranks; Python's ends of x may be the same as before
    assert drawn.window is None
    assert drawn.moved.data["revision"][0] > known
    (script,) = drawn.moved.js_property_callbacks["change:data"]
    assert isinstance(script, CustomJS) and script.args == {"figure": drawn.figure}


def test_the_axis_says_that_a_zoom_shows_a_part() -> None:
    drawn = spacetime_figure(ring(64, 500))
    assert drawn.figure.xaxis[0].axis_label == "time"
    ask(drawn, 1e6, 1.1e6)
    assert drawn.figure.xaxis[0].axis_label == "time, part of 38 ms; double click shows all"
    ask(drawn, 0, drawn.timeline.makespan_ns, whole=1)
    assert drawn.figure.xaxis[0].axis_label == "time"


def test_each_source_has_a_new_table_after_a_look() -> None:
    drawn = spacetime_figure(ring(8, 2))
    before = {name: getattr(drawn, name).data for name in ("bars", "messages", "path", "lives")}
    drawn.show_window((0, 10_000), (-0.5, 3.5), (900, 300))
    for name, data in before.items():
        after = getattr(drawn, name).data
        assert after is not data and after.keys() == data.keys()
        assert len({len(column) for column in after.values()}) == 1, name


def test_the_page_is_listened_to_on_all_four_ends_of_the_window() -> None:
    drawn = spacetime_figure(ring(4, 1))
    assert drawn.asked in drawn.figure.tags
    for shown in (drawn.figure.x_range, drawn.figure.y_range):
        assert {f"change:{end}" for end in ("start", "end")} <= shown.js_property_callbacks.keys()
    scripts = drawn.figure.js_property_callbacks["change:inner_width"]
    assert all(isinstance(script, CustomJS) for script in scripts)
    assert [script.args["asked"] for script in scripts if "asked" in script.args] == [drawn.asked]


def test_the_pointer_shows_lines_where_the_program_came_from_a_file() -> None:
    result = ring(2, 1)
    graph = dataclasses.replace(result.graph, line=np.arange(6, dtype=np.int32) + 3)
    for shown, word, first in (
        (result, "op", 0),
        (dataclasses.replace(result, graph=graph), "line", 3),
    ):
        drawn = spacetime_figure(shown)
        hover = next(t for t in drawn.figure.select(type=HoverTool) if "@op" in t.formatters)
        assert hover.formatters["@op"].args["place"] == word
        assert drawn.bars.data["line"].min() == first


def test_the_sentence_says_who_is_last_and_what_the_path_consists_of() -> None:
    # Alone with itself a rank is busy all the time but for 2 of 15 us of latency.
    text = describe_spacetime(ring(1, 4))
    assert text == (
        "All ranks end at 60 µs. The critical path has 12 operations on 1 rank: 67 % of its time "
        "is compute, 20 % overhead of messages, the rest latency and waiting."
    )
    drawn = spacetime_figure(ring(64, 500), most_bars=100)
    text = describe_spacetime(ring(64, 500), drawn.view)
    assert "of 96,000 operations in the window are drawn as an image" in text
    assert "of 32,000 messages are drawn" in text


def test_a_replay_in_which_nothing_takes_time_can_be_drawn() -> None:
    result = ring(2, 1)
    assert result.times is not None
    nothing = np.zeros(6, np.int64)
    still = dataclasses.replace(
        result,
        finish_ps=np.zeros(2, np.int64),
        times=dataclasses.replace(result.times, start_ps=nothing, begin_ps=nothing, end_ps=nothing),
    )
    drawn = spacetime_figure(still, critical=False)
    assert len(drawn.bars.data["left"]) == 0
    assert drawn.figure.x_range.end > 0
    assert describe_spacetime(still) == "No rank takes any time."


def test_grey_says_what_is_waited_for_and_bars_their_calls() -> None:
    builder = ProgramBuilder(4)
    for rank in range(4):
        builder.compute(rank, 600_000 if rank == 3 else 100_000)
    builder.collective("barrier")
    drawn = spacetime_figure(
        replay(builder.build(), LogGPS(L=1e-6, o=1e-7, g=0, G=0, O=0, S=1000), times=True)
    )
    waits, bars = drawn.waits.data, drawn.bars.data
    longest = int(np.argmax(np.subtract(waits["right"], waits["left"])))
    assert waits["culprit"][longest] == 3
    assert MPI_CALLS[waits["call"][longest]] == MPI_CALLS[waits["culprit_call"][longest]]
    assert waits["late"].max() == pytest.approx(500_000, rel=3e-3)  # less o or a message
    assert {MPI_CALLS[call] for call in bars["call"]} == {"Barrier"}
    assert set(bars["number"]) == {1}
    assert set(drawn.labels.data["text"]) == {"Barrier 1"}
