"""The table: escaped texts, headings that are read aloud, and sides of the columns."""

from __future__ import annotations

import pytest

from workbench.html_table import Html, bold, code, html_table

LEFT = "padding-inline:.5em;text-align:left"
RIGHT = "padding-inline:.5em;text-align:right;white-space:nowrap"
BROKEN = RIGHT.replace("nowrap", "normal")


def test_every_text_is_escaped_but_html() -> None:
    page = html_table([["<i>", "a & b"]], ["<h>", Html("λ<sub>L</sub>")], caption="<c>")
    assert ">&lt;i&gt;</th>" in page and ">a &amp; b</td>" in page
    assert ">&lt;h&gt;</th>" in page and ">&lt;c&gt;</caption>" in page
    assert ">λ<sub>L</sub></th>" in page
    assert ">x<br>y</caption>" in html_table([["a"]], caption=Html("x<br>y"))
    assert (code("<k>"), bold("<k>")) == ("<code>&lt;k&gt;</code>", "<b>&lt;k&gt;</b>")
    assert "><b>1</b></td>" in html_table([["a", bold("1")]])


def test_a_table_has_a_caption_and_headings_of_columns_and_rows() -> None:
    assert html_table([["latency", "3 µs"]], ["figure", "value"], "One message") == (
        '<table><caption style="text-align:left">One message</caption>'
        f'<thead><tr><th scope="col" style="{LEFT}">figure</th>'
        f'<th scope="col" style="{BROKEN}">value</th></tr></thead>'
        f'<tbody><tr><th scope="row" style="{LEFT};font-weight:inherit">latency</th>'
        f'<td style="{RIGHT}">3 µs</td></tr></tbody></table>'
    )


def test_a_table_needs_neither_caption_nor_head_nor_rows() -> None:
    page = html_table({"a": "1"}.items())
    assert "<caption" not in page and "<thead" not in page
    assert html_table([]) == "<table><tbody></tbody></table>"
    assert html_table([], ["a"]).endswith("</thead><tbody></tbody></table>")


def test_an_empty_heading_is_no_heading() -> None:
    page = html_table([["a", "1"]], ["", "figure"])
    assert page.startswith('<table><thead><tr><td></td><th scope="col"')


def test_the_last_side_holds_for_the_columns_after_it() -> None:
    def sides(align: str) -> list[bool]:
        page = html_table([["a", "1", "2", "b"]], align=align)
        return [RIGHT in cell for cell in page.split("<t")[4:]]

    assert sides("lr") == [False, True, True, True]
    assert sides("lrrl") == [False, True, True, False]
    assert sides("l") == [False] * 4
    assert sides("r") == [True] * 4


def test_a_row_of_one_cell_heads_the_rows_below_it() -> None:
    page = html_table([["links"], ["rate", "1", "of each"]], ["key", "value", "meaning"])
    assert f'<tr><th scope="colgroup" colspan="3" style="{LEFT}">links</th></tr>' in page
    assert "colspan" not in html_table([["a"], ["b"]], ["one column"])


def test_a_bold_row_is_bold_with_its_name() -> None:
    page = html_table([["a", "1"], ["b", "2"]], bold_rows=(1,))
    plain, row = page.split("<tbody>")[1].split("</tr>")[:2]
    assert plain.startswith("<tr>") and row.startswith('<tr style="font-weight:bold">')
    assert 'font-weight:inherit">b</th>' in row


def test_a_style_is_every_cells() -> None:
    page = html_table([["a", "1"]], ["x", "y"], cell_style="vertical-align:top")
    assert page.count(";vertical-align:top") == 4


def test_a_row_has_as_many_cells_as_the_head() -> None:
    with pytest.raises(ValueError, match="zip"):
        html_table([["a", "1"]], ["x", "y", "z"])
