from __future__ import annotations

from bokeh.plotting import figure

from tests.cases import for_each
from workbench.plotting import palette
from workbench.plotting.grid import Series, folded, key, line_series, short_number, small_multiples


def test_lines_differ_in_more_than_colour() -> None:
    series = line_series(list("abcdef")).values()
    assert len({item.colour for item in series}) == 6
    assert len({(item.dash, item.width) for item in series}) == 6
    assert all(item.dash in palette.DASHES for item in series)


def test_the_key_names_every_series_once_and_escapes_it() -> None:
    text = key([Series("a<b", palette.BLUE, "dashed"), Series("points", palette.BLACK, "")]).text
    assert text.count("a&lt;b") == 1
    assert "stroke-dasharray='6 3'" in text
    assert text.count("<circle") == 1


@for_each(
    "name, width, expected",
    [
        ("aws-hpc6a-efa", 22, "aws-hpc6a-efa"),
        ("azure-hb96v3-hdr-noisy", 13, "azure-hb96v3-\nhdr-noisy"),
        ("unhyphenated-", 20, "unhyphenated-"),
        ("averylongname", 5, "averylongname"),
    ],
)
def test_long_names_are_folded_at_a_hyphen(name: str, width: int, expected: str) -> None:
    assert folded(name, width) == expected


@for_each(
    "value, expected",
    [(0.02, "0.02"), (300, "300"), (999.9, "1k"), (20_000, "20k"), (5e6, "5M"), (1e12, "1T")],
)
def test_numbers_are_short(value: float, expected: str) -> None:
    assert short_number(value) == expected


@for_each("ends", [(0.2, 1.0), (20.0, 100.0), (1e-3, 1e9), (1.0, 1.4), (5.0, 5e4)])
def test_a_low_axis_has_a_few_ticks_and_none_at_its_ends(ends: tuple[float, float]) -> None:
    drawn: list[figure] = []
    small_multiples(
        ("row",),
        ("column",),
        lambda fig, row, column: drawn.append(fig),
        row_labels=str,
        x_label="trial",
        x_range=(1, 10),
        y_ranges=lambda row: ends,
    )
    axis = drawn[0].yaxis[0]
    ticks = axis.ticker.ticks
    assert 1 <= len(ticks) <= 4
    assert all(ends[0] < tick < ends[1] for tick in ticks)
    assert len({axis.major_label_overrides[tick] for tick in ticks}) == len(ticks)
