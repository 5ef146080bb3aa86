"""Measured collectives beside predictions: what is drawn, what the sentence says, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, Div, GlyphRenderer, HoverTool, LayoutDOM, VArea

from tests.unit.predict.test_prediction_errors import BY_HAND
from workbench.errors import ParameterError
from workbench.plotting import plot_measured_collective
from workbench.predict import shipped_evaluation, spread_coverage


def test_points_are_measured_and_lines_predicted_for_each_number_of_nodes() -> None:
    drawn = plot_measured_collective(BY_HAND, "a", "gather", label="default-x")
    sources = list(drawn.select({"type": ColumnDataSource, "name": "measured collective"}))
    by_measured = sorted(sources, key=lambda one: one.data["measured"][0])
    assert [one.data["measured"].tolist() for one in by_measured] == [[1e6], [2e6]]
    assert np.concatenate([one.data["predicted"] for one in by_measured]) == pytest.approx(
        [1.1e6, 3e6]
    )
    assert np.concatenate([one.data["error"] for one in by_measured]) == pytest.approx([10, 50])
    said = text_of(drawn)
    assert "30 % off in the median of 2 tests, and at most 50 %, for 8 B on 16 nodes" in said
    assert "of the same system" in said


def text_of(drawn: LayoutDOM) -> str:
    return " ".join(one.text for one in drawn.select({"type": Div}))


def bands_of(drawn: LayoutDOM) -> list[VArea]:
    glyphs = [one.glyph for one in drawn.select({"type": GlyphRenderer})]
    return [one for one in glyphs if isinstance(one, VArea)]


def test_bands_are_the_interval_that_the_other_systems_give() -> None:
    """B's times are twice what was predicted: so is A's interval, 2.2 for 1.1 and 6 for 3 s."""
    drawn = plot_measured_collective(BY_HAND, "a", "gather", label="default-x")
    sources = {
        one.data["measured"][0]: one.data
        for one in drawn.select({"type": ColumnDataSource, "name": "measured collective"})
    }
    for measured, predicted in ((1e6, 1.1e6), (2e6, 3e6)):
        for end in ("low", "high"):
            assert sources[measured][end].tolist() == pytest.approx([2 * predicted])
    assert sources[1e6]["interval"] == ["2.20 s to 2.20 s"]
    assert [(band.y1, band.y2) for band in bands_of(drawn)] == [("low", "high")] * 2
    said = text_of(drawn)
    assert "bands made to hold 90 % of times" in said
    assert (
        "2 to 2 times the prediction. 0 of these 2 times lie inside, and 0 % of all of A." in said
    )
    tips = [name for tool in drawn.select({"type": HoverTool}) for name, _ in tool.tooltips]
    assert tips.count("90 % interval") == 2


def test_a_shipped_system_has_the_share_of_its_times_that_the_others_hold() -> None:
    rows = spread_coverage(shipped_evaluation()).set_index("system")
    low, high, held = (rows[name]["Lassen"] for name in ("low", "high", "held (%)"))
    drawn = plot_measured_collective(shipped_evaluation(), "lassen", "allreduce")
    for one in drawn.select({"type": ColumnDataSource, "name": "measured collective"}):
        assert one.data["low"] == pytest.approx(low * one.data["predicted"])
        assert one.data["high"] == pytest.approx(high * one.data["predicted"])
    assert f"{held:.0f} % of all of Lassen." in text_of(drawn)


def test_errors_of_one_system_have_no_band() -> None:
    drawn = plot_measured_collective(BY_HAND.of("a"), "a", "gather", label="default-x")
    assert not bands_of(drawn)
    assert "There is no interval" in text_of(drawn)
    assert "bands" not in text_of(drawn)


def test_what_was_learnt_has_the_tests_on_more_nodes_only() -> None:
    drawn = plot_measured_collective(BY_HAND, "b", "gather", variant="algorithm")
    [source] = drawn.select({"type": ColumnDataSource, "name": "measured collective"})
    assert source.data["predicted"] == pytest.approx([0.9e6])


def test_what_was_not_predicted_is_refused_with_what_was() -> None:
    with pytest.raises(ParameterError, match="collective must be one of gather; got 'gathr'"):
        plot_measured_collective(BY_HAND, "a", "gathr")
    with pytest.raises(ParameterError, match="label must be one of 'default-x', 'default-y' for"):
        plot_measured_collective(BY_HAND, "a", "gather", label="default-z")
    with pytest.raises(ParameterError, match="by which gather was predicted; got 'algorithm'"):
        plot_measured_collective(BY_HAND, "a", "gather", label="default-x", variant="algorithm")
