from __future__ import annotations

import math

import pandas as pd

from tests.cases import for_each
from workbench.plotting import palette
from workbench.plotting.placement.times import gain_text, placement_times, run_time_text

METHODS = ("block", "random", "search")


def table(**times: float) -> pd.DataFrame:
    """Return the table of methods with these times in µs."""
    block = times.get("block", math.nan)
    return pd.DataFrame(
        {
            "method": list(times),
            "T_ns": [1e3 * T for T in times.values()],
            "less_than_block_percent": [100 * (1 - T / block) for T in times.values()],
            "seconds": [0.5] * len(times),
        }
    )


def test_each_method_has_a_row_and_the_chosen_one_is_marked() -> None:
    drawn = placement_times(table(block=100, random=125, search=80), METHODS, chosen="search")
    data = drawn.source.data
    assert data["T_ns"] == [1e5, 1.25e5, 8e4]
    assert data["text"][1:] == [
        "125 µs, 25 % more",
        "80 µs, 20 % less",
    ]
    assert data["fill"].index(palette.VERMILLION) == 2
    assert data["size"][2] > data["size"][0]
    assert drawn.block.visible
    assert drawn.block.location == 1e5
    shown = drawn.figure.x_range
    assert shown.start < 8e4
    assert 1.25e5 < min(data["text_ns"]) < shown.end


def test_what_has_not_been_found_yet_keeps_its_row_empty() -> None:
    drawn = placement_times(table(block=100), METHODS, chosen="block")
    assert drawn.source.data["text"][1:] == ["", ""]
    assert all(math.isnan(T) for T in drawn.source.data["T_ns"][1:])
    assert drawn.figure.yaxis[0].major_label_overrides == dict(enumerate(METHODS))
    drawn.show(table(random=125), chosen="random")
    assert not drawn.block.visible
    assert drawn.source.data["T_ns"][1] == 1.25e5


@for_each("percent, text", [(0.0, "as block"), (3.071, "3.07 % less"), (-0.5, "0.5 % more")])
def test_a_gain_in_words(percent: float, text: str) -> None:
    assert gain_text(percent) == text


@for_each(
    "T_ns, text",
    [(0.0, "0 ns"), (13_696_849.0, "13.697 ms"), (1e9, "1 s"), (1234.5, "1.2345 µs")],
)
def test_a_run_time_has_the_digits_that_placements_differ_in(T_ns: float, text: str) -> None:
    assert run_time_text(T_ns) == text
