"""The pages of the papers: a section for each figure, table, algorithm and claim."""

from __future__ import annotations

from collections import Counter

from workbench import papers
from workbench.papers import PaperRow


def papers_pages() -> dict[str, str]:
    """Return the pages in reStructuredText, by document name."""
    pages = {f"papers/{number}": _paper(number) for number in papers.PAPERS}
    return {"papers/index": _overview(), **pages}


def _overview() -> str:
    rows = papers.list()
    counts = Counter(row.verdict for row in rows if row.kind == "claim" and row.verdict)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    lines = [
        *_heading("The papers", "="),
        f"The workbench follows {len(papers.PAPERS)} papers: {len(rows)} figures, tables, "
        "algorithms and claims, each with the call that makes ours, the data it stands on, and how "
        f"it differs. Of the claims, {said}.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {number}" for number in papers.PAPERS),
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 18 10 52 20",
        "",
        *_cells("row", "kind", "what the paper shows", "verdict"),
    ]
    for row in rows:
        lines += _cells(f":ref:`{row.id} <{row.id}>`", row.kind, _plain(row.title), row.verdict)
    return "\n".join(lines) + "\n"


def _paper(number: str) -> str:
    paper = papers.PAPERS[number]
    lines = _heading(f"{number} {paper.name}", "=")
    for row in papers.list(paper=number):
        lines += _section(row)
    return "\n".join(lines) + "\n"


def _section(row: PaperRow) -> list[str]:
    facts: list[str] = [row.kind]
    facts += [f"data: {row.data}"] if row.data else []
    facts += [f"verdict: **{row.verdict}**"] if row.verdict else []
    lines = [f".. _{row.id}:", "", *_heading(row.id, "-"), _plain(row.title), "", "; ".join(facts)]
    if row.reason:
        lines += ["", _plain(row.reason)]
    if row.call:
        lines += ["", ".. code-block:: python", ""]
        lines += [f"   {line}".rstrip() for line in row.call.splitlines()]
    return [*lines, ""]


def _heading(text: str, line: str) -> list[str]:
    return [_plain(text), line * max(len(_plain(text)), 3), ""]


def _cells(*texts: str) -> list[str]:
    return [f"   {'*' if at == 0 else ' '} - {text}".rstrip() for at, text in enumerate(texts)]


def _plain(text: str) -> str:
    """Return a text without meaning for reStructuredText, on one line."""
    words = " ".join(text.split())
    for mark in "\\*`_|":
        words = words.replace(mark, f"\\{mark}")
    return words
