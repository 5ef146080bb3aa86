from __future__ import annotations

import math

from workbench.plotting.fit.bolted_errors import parts_figure


def rmspe(latency: float, bandwidth: float, joint: float) -> dict[str, float]:
    return {"latency": latency, "bandwidth": bandwidth, "joint": joint}


def test_each_part_has_a_row_with_its_errors() -> None:
    drawn = parts_figure([("low", rmspe(3, 4, 3.54)), ("whole", rmspe(30, 40, 35.4))])
    data = drawn.marks.source.data
    assert data["joint"] == [3.54, 35.4]
    assert data["text"] == ["3.5 %", "35 %"]
    assert data["end"] == [4, 40], "the number stands right of the largest point"
    assert drawn.figure.yaxis[0].major_label_overrides == {0: "low", 1: "whole"}
    assert drawn.figure.x_range.start < 3
    assert drawn.figure.x_range.end > 40


def test_an_empty_half_leaves_its_row_empty() -> None:
    drawn = parts_figure([("low", rmspe(3, 4, 3.54))])
    drawn.show([("low", rmspe(math.nan, math.nan, math.nan)), ("whole", rmspe(30, 40, 35.4))])
    assert drawn.marks.source.data["text"] == ["", "35 %"]
    assert drawn.figure.x_range.start > 5, "the axis is about what is there"
