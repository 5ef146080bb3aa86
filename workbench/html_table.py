"""HTML tables, as results and panels show them."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence


class Html(str):
    """Text that is HTML already: as a cell or a caption it is not escaped."""

    __slots__ = ()


def code(text: str) -> Html:
    """Return a text as code."""
    return Html(f"<code>{html.escape(text)}</code>")


def bold(text: str) -> Html:
    """Return a text in bold."""
    return Html(f"<b>{html.escape(text)}</b>")


def html_table(
    rows: Iterable[Sequence[str]],
    head: Sequence[str] | None = None,
    caption: str = "",
    *,
    align: str = "lr",
    bold_rows: Collection[int] = (),
    cell_style: str = "",
) -> str:
    """Return an HTML table whose first column heads its rows.

    The cells of ``rows`` are escaped unless they are ``Html``; a row of one cell is the heading of
    the rows below it, across all columns. ``align`` has ``l`` (text) or ``r`` (numbers, kept on one
    line) for each column; the last letter also holds for the columns after it.
    """
    lines = list(rows)
    columns = max(map(len, lines if head is None else [head, *lines]), default=0)
    letters = align.ljust(columns, align[-1])[:columns]
    styles = [_style(letter, cell_style) for letter in letters]
    body = "".join(_row(cells, styles, at in bold_rows) for at, cells in enumerate(lines))
    above = f'<caption style="text-align:left">{_html(caption)}</caption>' if caption else ""
    if head is not None:
        # A long heading is broken into lines, and its column stays narrow.
        broken = [_style(letter, cell_style, "normal") for letter in letters]
        above += f"<thead><tr>{_head(head, broken)}</tr></thead>"
    return f"<table>{above}<tbody>{body}</tbody></table>"


def _html(text: str) -> str:
    return text if isinstance(text, Html) else html.escape(text)


def _style(letter: str, cell_style: str, space: str = "nowrap") -> str:
    # Jupyter aligns every cell of an output to the right and keeps columns apart; a widget does
    # neither, so that each cell needs its own style.
    side = f"text-align:right;white-space:{space}" if letter == "r" else "text-align:left"
    return ";".join(filter(None, ("padding-inline:.5em", side, cell_style)))


def _head(cells: Sequence[str], styles: Sequence[str]) -> str:
    # An empty heading would be read aloud as one.
    return "".join(
        f'<th scope="col" style="{style}">{_html(cell)}</th>' if cell else "<td></td>"
        for cell, style in zip(cells, styles, strict=True)
    )


def _row(cells: Sequence[str], styles: Sequence[str], is_bold: bool) -> str:
    start = '<tr style="font-weight:bold">' if is_bold else "<tr>"
    first, *others = (_html(cell) for cell in cells)
    if not others and len(styles) > 1:
        span = f'scope="colgroup" colspan="{len(styles)}" style="{_style("l", "")}"'
        return f"{start}<th {span}>{first}</th></tr>"
    name = f'<th scope="row" style="{styles[0]};font-weight:inherit">{first}</th>'
    texts = (
        f'<td style="{style}">{text}</td>' for text, style in zip(others, styles[1:], strict=True)
    )
    return f"{start}{name}{''.join(texts)}</tr>"
