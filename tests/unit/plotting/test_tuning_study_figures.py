from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.plotting.searches.gains import describe_search_gains, plot_search_gains
from workbench.plotting.searches.heatmap import (
    colour_ends,
    plot_search_methods,
    plot_search_sizes,
    search_tiles,
)
from workbench.plotting.searches.noise import (
    describe_other_noises,
    describe_search_noise,
    in_order,
    noise_figure,
    plot_search_noise,
)
from workbench.plotting.searches.pruning import (
    describe_search_pruning,
    plot_search_pruning,
    pruning_figure,
    pruning_rows,
    pruning_table,
)
from workbench.plotting.searches.ranking import (
    describe_search_ranking,
    plot_search_ranking,
    ranking_columns,
    ticks_within,
)
from workbench.plotting.searches.stopping import (
    describe_search_stopping,
    pareto,
    plot_search_stopping,
    stopping_figure,
)
from workbench.plotting.searches.style import (
    MEASURES,
    interval_text,
    listed,
    measure_of,
    percent_text,
    picked,
    rule_styles,
    usual_noise,
    values_of,
)
from workbench.plotting.searches.tables import (
    TABLE_1,
    TABLE_2,
    apart_table,
    by_collective,
    by_collective_html,
    describe_recording,
    describe_search,
    paper_table,
)
from workbench.tune.recorded.files import shipped_recording
from workbench.tune.search_comparison.files import SearchComparisonTables, shipped_search_comparison

WORDS = {"recording": "r", "noise": "normal 5 %", "stopping": "budget", "pick": "expected"}


def row(heuristic: str, resampling: str = "none", **figures: Any) -> dict[str, Any]:
    """Return a row whose intervals are one to each side, with what is given instead."""
    known: dict[str, Any] = {**WORDS, "heuristic": heuristic, "resampling": resampling}
    known |= {"pruning": "none", "seeds": 20, "runs": 30.0, "potential": 30.0, "spaces": 4}
    known |= {name: value for name, value in figures.items() if name not in MEASURES}
    for name in MEASURES:
        value = figures.get(name, 50.0)
        known |= {name: value, f"{name}_low": value - 1.0, f"{name}_high": value + 1.0}
    return known


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


@pytest.fixture(scope="module")
def comparison() -> SearchComparisonTables:
    return shipped_search_comparison()


THREE = table(
    row("random", share=90.0, distance=9.0),
    row("gp", share=96.0, distance=2.0),
    row("genetic", share=95.0, distance=5.0),
)


def test_a_ranking_says_what_the_seeds_tell() -> None:
    columns = ranking_columns(THREE, MEASURES["share"], "heuristic", "random")
    assert columns["name"] == ["gp", "genetic", "random"]
    assert columns["apart"] == [False, False, True]
    assert columns["size"][2] > columns["size"][0]
    assert describe_search_ranking(THREE) == (
        "gp is first with 96.0 % (95.0 to 97.0) of the possible gain; genetic is not "
        "significantly different over 20 seeds; random is behind it."
    )


def test_a_ranking_by_distance_begins_with_the_least() -> None:
    assert ranking_columns(THREE, MEASURES["distance"], "heuristic")["value"] == [2.0, 5.0, 9.0]
    text = describe_search_ranking(THREE, "distance")
    assert text.startswith("gp is first with 2.0 %") and "genetic and random are behind it" in text


def test_a_ranking_without_figures_names_none() -> None:
    nothing = table(row("gp", share=math.nan))
    assert describe_search_ranking(nothing) == "No search has a value of this measure here."
    plot_search_ranking(nothing)
    assert plot_search_ranking(THREE.iloc[:0]).renderers


def test_a_rankings_axis_is_named_on_half_a_page() -> None:
    lines = plot_search_ranking(THREE).xaxis.axis_label.split("\n")
    assert max(map(len, lines)) <= 45, "more are cut at 1400 px with the file browser open"


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
def test_ticks_are_few_and_within(low: float, span: float) -> None:
    ticks = ticks_within(low, low + span)
    assert 2 <= len(ticks) <= 7
    slack = 1e-6 * max(abs(low), span)
    assert low - slack <= min(ticks) and max(ticks) <= low + span + slack


def test_a_heatmap_has_a_place_for_what_is_missing() -> None:
    rows = table(
        row("genetic", share=95.0),
        row("genetic", "improved", share=97.0),
        row("random", share=81.0),
    )
    tiles = search_tiles()
    tiles.show_methods(rows, chosen=("genetic", "improved"))
    data = tiles.source.data
    assert list(data["text"]) == ["95.0", "97.0", "81.0", "–"]
    assert tiles.frame.data == {"row": [0], "column": [1]}
    assert (tiles.mapper.low, tiles.mapper.high) == (80.0, 100.0)
    tiles.mark(("genetic", "never"))
    assert tiles.frame.data == {"row": [], "column": []}


def test_a_heatmap_never_has_fewer_places_than_before() -> None:
    tiles = search_tiles()
    tiles.show_methods(THREE)
    tiles.show_methods(THREE.iloc[:1], chosen=("random", "none"))
    data = tiles.source.data
    assert list(data["text"]) == ["90.0", "", ""]
    assert math.isnan(data["row"][1]) and math.isnan(data["column"][2])
    assert data["ink"][1:] == ["#000000"] * 2
    assert tiles.frame.data == {"row": [0], "column": [0]}
    assert tiles.figure.yaxis[0].major_label_overrides == {0: "random"}


def test_less_is_better_turns_the_colours_round() -> None:
    tiles = search_tiles()
    tiles.show_methods(THREE, "share")
    shares = tiles.mapper.palette
    tiles.show_methods(THREE, "distance")
    assert tiles.mapper.palette == shares[::-1]


def test_gains_are_a_point_a_space_with_the_median_of_each_collective() -> None:
    sizes = {"bcast/4096": 10.0, "bcast/65536": 50.0, "bcast/1048576": 30.0, "reduce/4096": -5.0}
    rows = table(*(row("gp", space=space, gain=gain) for space, gain in sizes.items()))
    fig = plot_search_gains(rows)
    names = list(fig.yaxis[0].major_label_overrides.values())
    assert [name.rpartition(": ")[2] for name in names] == ["all", "bcast", "reduce"]
    points, medians = (renderer.data_source.data for renderer in fig.renderers)
    assert list(points["gain"]) == [*sizes.values(), 10.0, 50.0, 30.0, -5.0]
    assert list(points["row"]) == [0] * 4 + [1] * 3 + [2]
    assert medians["gain"] == [20.0, 30.0, -5.0]
    assert fig.x_range.start < -5.0 and fig.x_range.end > 50.0
    text = describe_search_gains(rows)
    assert "21.2 % in the mean, 20.0 % in the median of 4 spaces" in text


def test_sizes_stand_in_their_order() -> None:
    rows = table(
        *(row("gp", space=space) for space in ("bcast/1048576", "bcast/4096", "reduce/65536"))
    )
    fig = plot_search_sizes(rows)
    assert fig.xaxis[0].major_label_overrides == {0: "4 KiB", 1: "64 KiB", 2: "1 MiB"}
    assert fig.yaxis[0].major_label_overrides == {0: "bcast", 1: "reduce"}
    plot_search_sizes(rows.iloc[:0])


@given(
    st.lists(st.floats(-1e4, 200.0) | st.just(math.nan), max_size=9), st.sampled_from([*MEASURES])
)
def test_colours_have_two_ends(values: list[float], name: str) -> None:
    low, high = colour_ends(values, MEASURES[name])
    assert low < high


def test_the_front_has_what_none_beats() -> None:
    rows = table(
        row("slow", share=96.0, saved_grid=90.0),
        row("beaten", share=90.0, saved_grid=92.0),
        row("middle", share=95.0, saved_grid=95.0),
        row("quick", share=80.0, saved_grid=99.0),
        row("as quick", share=70.0, saved_grid=99.0),
        row("unknown", share=math.nan, saved_grid=99.9),
    )
    assert pareto(rows)["heuristic"].tolist() == ["slow", "middle", "quick"]


def test_stopping_rules_are_weighed() -> None:
    rows = table(
        row("gp", share=96.0, saved_grid=90.0, stopping="budget"),
        row("gp", share=95.5, saved_grid=98.0, stopping="early"),
        row("random", share=60.0, saved_grid=97.0, stopping="early"),
    )
    text = describe_search_stopping(rows, "gp")
    assert "“budget” gives the most: 96.0 %" in text
    assert "“early”, gives 95.5 % (94.5 to 96.5), which these seeds cannot tell from it" in text
    assert "No search" in describe_search_stopping(rows, "annealing")
    alike = rows.assign(share=96.0, saved_grid=90.0)
    assert describe_search_stopping(alike, "gp").endswith(" “budget” and “early” ended alike.")
    drawn = stopping_figure(["budget", "early"])
    drawn.show(rows, "gp", "none")
    assert drawn.chosen["early"].data["y"] == [95.5]
    assert drawn.others["early"].data["y"] == [60.0]
    assert drawn.front.source.data["x"] == [90.0, 98.0]
    with pytest.raises(ParameterError, match="must hold a search"):
        plot_search_stopping(rows.iloc[:0], "gp")


def pruned(heuristic: str, pruning: str, quicker: float, change: float) -> dict[str, Any]:
    """Return a row of ``prunings`` whose intervals are one to each side."""
    known: dict[str, Any] = {**WORDS, "heuristic": heuristic, "resampling": "none"}
    known |= {"pruning": pruning, "spaces": 4, "seeds": 20}
    figures = {"pruned": 40.0, "quicker": quicker, "gain_change": 0.5 * change}
    for name, value in {**figures, "share_change": change}.items():
        known |= {name: value, f"{name}_low": value - 1.0, f"{name}_high": value + 1.0}
    return known


PRUNED = table(
    pruned("random", "quantile 0.25", 30.0, -5.0),
    pruned("random", "default run", 20.0, 0.5),
    pruned("random", "median", -3.0, 4.0),
    pruned("surrogate-gp", "median", 0.5, math.nan),
)


def test_what_pruning_saves_and_costs_is_read_with_its_intervals() -> None:
    assert describe_search_pruning(PRUNED, "random") == (
        "random with no resampling, stopped by “budget”, each search compared with the same one "
        "without pruning, 20 seeds: “default run” ends 40.0 % of the runs, saves 20.0 % (19.0 to "
        "21.0) of the time; what it finds does not differ significantly, 0.5 (−0.5 to 1.5) points "
        "of "
        "the possible gain; “median” ends 40.0 % of the runs, takes longer, time saved −3.0 % "
        "(−4.0 to −2.0); it finds more, 4.0 (3.0 to 5.0) points of the possible gain; “quantile "
        "0.25” ends 40.0 % of the runs, saves 30.0 % (29.0 to 31.0) of the time; it finds less, "
        "−5.0 (−6.0 to −4.0) points of the possible gain."
    )
    text = describe_search_pruning(PRUNED, "surrogate-gp", "gain_change")
    assert "saves no significant time, 0.5 % (−0.5 to 1.5)" in text
    assert text.endswith("what it finds is not known here.")
    assert "choose surrogate-gp or random" in describe_search_pruning(PRUNED, "tpe")
    assert (
        describe_search_pruning(PRUNED.iloc[:0], "tpe")
        == "The comparison has no search here that prunes."
    )
    with pytest.raises(ParameterError, match="the change must be one of"):
        describe_search_pruning(PRUNED, "random", "share")


def test_pruning_is_drawn_against_the_search_without_it() -> None:
    drawn = pruning_figure(values_of(PRUNED, "pruning"))
    drawn.show(PRUNED, "random")
    assert list(drawn.chosen) == ["default run", "median", "quantile 0.25"]
    assert (drawn.chosen["median"].data["x"], drawn.chosen["median"].data["y"]) == ([-3.0], [4.0])
    assert drawn.others["median"].data["name"] == ["surrogate-gp, median"]
    # Nothing saved and nothing lost is always in sight.
    across, up = drawn.figure.x_range, drawn.figure.y_range
    assert across.start < -4.0 and across.end > 31.0
    assert up.start < -6.0 and up.end > 5.0
    drawn.show(PRUNED.iloc[:1], "random")
    assert across.end > 31.0 and across.start < 0.0
    assert drawn.chosen["median"].data["x"] == []
    assert plot_search_pruning(PRUNED, "random", "gain_change").yaxis[0].axis_label == (
        "change, points of gain over the default"
    )
    with pytest.raises(ParameterError, match="must hold a search"):
        plot_search_pruning(PRUNED.iloc[:0], "random")


def test_a_slice_of_pruned_searches_takes_the_rules_that_there_are() -> None:
    both = pd.concat([PRUNED, PRUNED.assign(stopping="early", resampling="improved")])
    where = {"recording": "r", "noise": "normal 5 %", "pick": "expected"}
    early = pruning_rows(both, **where, stopping="early", resampling="improved")
    assert set(early["stopping"]) == {"early"} and len(early) == len(PRUNED)
    # With "early" there is no search without resampling, and nothing ends by "never".
    other = pruning_rows(both, **where, stopping="never", resampling="none")
    assert set(other["stopping"]) == {"budget"} and len(other) == len(PRUNED)
    assert not len(pruning_rows(both, **{**where, "noise": "none"}))


def test_a_table_of_pruning_stands_in_the_order_of_the_comparison() -> None:
    shown = pruning_table(PRUNED)
    assert [key[2:] for key in shown.index] == [
        ("surrogate-gp", "median"),
        ("random", "default run"),
        ("random", "median"),
        ("random", "quantile 0.25"),
    ]
    assert shown["time saved (%)"].tolist()[1] == "20.0 (19.0 to 21.0)"


def test_noise_is_read_with_and_without_resampling() -> None:
    rows = table(
        row("gp", "none", share=97.0, noise="none"),
        row("gp", "improved", share=97.0, noise="none"),
        row("gp", "none", share=80.0, noise="normal 20 %"),
        row("gp", "improved", share=90.0, noise="normal 20 %"),
    )
    text = describe_search_noise(rows)
    assert "no noise: 97.0 %" in text and "no significant difference; normal 20 %" in text
    assert text.endswith("90.0 % (89.0 to 91.0) with improved, resampling is better.")
    assert "one resampling rule only" in describe_search_noise(rows.iloc[[0, 2]])
    drawn = noise_figure(["none", "static 3", "improved"])
    drawn.show(rows)
    assert [item.visible for item in drawn.figure.legend[0].items] == [True, False, True]
    assert drawn.rules["static 3"].source.data["y"] == []
    with pytest.raises(ParameterError, match="must hold a search"):
        plot_search_noise(rows.iloc[:0])


def test_other_noises_are_pointed_at() -> None:
    rows = table(
        row("gp", noise="none"),
        row("gp", noise="normal 5 %"),
        row("tpe", noise="normal 5 %"),
        row("random", noise="none"),
        row("random", noise="normal 20 %"),
    )
    only = "The comparison has tpe with one noise only, normal 5 %; to compare noises, choose "
    assert describe_other_noises(rows, "tpe") == f"{only}random or gp."
    assert describe_other_noises(rows, "gp") == describe_other_noises(rows, "genetic") == ""
    assert describe_other_noises(rows.iloc[[0, 2]], "tpe") == ""


def test_rules_are_distinguished_by_colour_and_marker() -> None:
    styles = rule_styles([f"rule {n}" for n in range(7)])
    assert len({colour for _, colour, _ in styles}) == 7
    # A cross has no inside to fill.
    assert {marker for *_, marker in styles}.isdisjoint({"plus", "cross"})
    for rules in ([], ["rule"] * 8):
        with pytest.raises(ParameterError, match=f"7 rules at most; got {len(rules)}"):
            rule_styles(rules)


def test_noises_stand_in_their_order() -> None:
    given_ = ["heavy-tails 5 %", "normal 20 %", "none", "normal 5 %", "measured"]
    assert in_order(given_) == ["none", "measured", "normal 5 %", "normal 20 %", "heavy-tails 5 %"]


@for_each(
    "value, text",
    [(95.94, "95.9"), (-0.01, "0.0"), (-12.34, "−12.3"), (361.7, "362"), (math.nan, "–")],
)
def test_percentages_are_short(value: float, text: str) -> None:
    assert percent_text(value) == text


def test_rules_stand_as_the_comparison_lists_them() -> None:
    rows = table(row("random", "improved"), row("mine", "none"), row("surrogate-gp", "static 3"))
    assert values_of(rows, "heuristic") == ["surrogate-gp", "random", "mine"]
    assert values_of(rows, "resampling") == ["none", "static 3", "improved"]


def test_words() -> None:
    assert interval_text({"gain": 5.0}, "gain") == "5.0 %"
    assert listed(["a"]) == "a"
    assert listed("abc") == "a, b and c"
    assert listed("ab", "or") == "a or b"
    with pytest.raises(ParameterError, match="the measure must be one of share"):
        measure_of("speed")
    with pytest.raises(ParameterError, match="rows are selected by columns"):
        picked(THREE, colour="red")
    with pytest.raises(ParameterError, match="must hold searches of the recording"):
        usual_noise(THREE, "another")


def test_the_shipped_comparison_fills_every_figure(comparison: SearchComparisonTables) -> None:
    for recording in comparison.methods["recording"].unique():
        where = {"recording": recording, "noise": usual_noise(comparison.methods, recording)}
        rows = picked(comparison.methods, **where, pick="expected")
        one = picked(rows, stopping=rows["stopping"].iloc[0])
        method = {name: str(one[name].iloc[0]) for name in ("heuristic", "resampling")}
        for name in MEASURES:
            assert plot_search_methods(one, name).title.text
        cells = picked(comparison.cells, **where, **method, stopping=one["stopping"].iloc[0])
        assert plot_search_sizes(cells).xaxis[0].major_label_overrides
        assert (
            describe_search_ranking(picked(one, resampling=method["resampling"])).count("first")
            == 1
        )


def test_the_papers_tables_sum_over_collectives(comparison: SearchComparisonTables) -> None:
    first = comparison.methods.iloc[0]
    method = {name: first[name] for name in ("heuristic", "resampling", "stopping", "pick")}
    found = by_collective(comparison, **method)
    recordings = found.index.get_level_values("recording").unique()
    assert set(recordings) <= set(comparison.methods["recording"])
    for recording in recordings:
        part = found.loc[recording].droplevel("noise")
        whole = part.loc["all"]
        for name in ("grid_s", "exhaustive_s", "spent_s"):
            # The tables hold four digits.
            assert part.drop("all")[name].sum() == pytest.approx(whole[name], rel=2e-3)
    for columns in (TABLE_1, TABLE_2):
        assert len(paper_table(found, columns).columns) == len(columns)
    text = by_collective_html(by_collective(comparison, **method, recording=recordings[0]))
    assert text.count("<tr") == 2 * (1 + len(found.loc[recordings[0]]))


def test_a_search_that_was_not_made_is_reported(comparison: SearchComparisonTables) -> None:
    first = {str(name): str(value) for name, value in comparison.methods.iloc[0].items()}
    where = {name: first[name] for name in (*WORDS, "heuristic", "resampling")}
    assert "over the default" in describe_search(comparison, **where)
    assert "no such search" in describe_search(comparison, **where | {"noise": "none at all"})


def test_what_repeats_tell_is_counted() -> None:
    measured = shipped_recording("open-mpi-4-ranks")
    found = apart_table(measured)
    assert (found["tied"] >= 1).all() and (found["tied"] <= found["configurations"]).all()
    assert f"of {found['configurations'].sum()} configurations" in describe_recording(measured)
    simulated = shipped_recording("simulated-12-ranks")
    assert "the optimum is known exactly" in describe_recording(simulated)
