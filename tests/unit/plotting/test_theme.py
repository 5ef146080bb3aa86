from __future__ import annotations

import re
from pathlib import Path

from bokeh.models import GlobalInlineStyleSheet
from bokeh.plotting import figure

from tests.cases import for_each
from workbench.plotting import palette, theme
from workbench.plotting.axes import new_figure
from workbench.plotting.grid import key, line_series, small_multiples
from workbench.plotting.theme import DARK_FILTER, PAGE_RULES

ROOT = Path(__file__).resolve().parents[3]
DEFINED = {"palette.py", "theme.py"}


def little() -> figure:
    grid = small_multiples(
        ["r"],
        ["c"],
        lambda fig, row, column: None,
        row_labels=str,
        x_label="x",
        x_range=(1, 10),
        y_ranges=lambda row: (1, 10),
    )
    return grid.children[0][0]


@for_each("make", [lambda: new_figure(title="", y_label="", height=200), little])
def test_a_figure_follows_the_page_and_has_no_ground_of_its_own(make: object) -> None:
    fig = make()  # type: ignore[operator]
    page, own = fig.stylesheets
    assert isinstance(page, GlobalInlineStyleSheet)
    assert DARK_FILTER in page.css
    assert "var(--workbench-drawing, none)" in own.css
    assert fig.background_fill_color is None
    assert fig.border_fill_color is None


def test_the_key_of_little_figures_has_their_colours_in_either_theme() -> None:
    series = list(line_series(["a", "b"]).values())
    assert key(series).text.count(theme.AS_DRAWN) == len(series)


def test_errors_can_be_read_in_both_themes() -> None:
    dark = re.search(r"--workbench-error: (#\w{6});", PAGE_RULES)
    assert dark is not None
    assert palette.contrast(dark[1], palette.DARK_GROUND) >= 4.5
    assert palette.contrast(palette.ERROR, palette.LIGHT_GROUND) >= 4.5


def test_colours_are_written_in_two_files_only() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "workbench").rglob("*.py"))
        if path.name not in DEFINED
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"#[0-9A-Fa-f]{6}\b|color:#", line)
    ]
    assert not found
