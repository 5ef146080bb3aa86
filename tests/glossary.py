"""The glossary's terms as its page has them, and where a notebook uses them first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.source_trees import ROOT

PAGE = ROOT / "notebooks" / "glossary.ipynb"

# What is no text: code, mathematics, addresses, headings, the words of a link, and long text in
# italics, which is a paper's title.
_NO_TEXT = re.compile(
    "|".join(
        (
            r"```.*?```",
            r"(?<![\w*])\*(?=[A-Z])[^*]{40,}\*(?!\*)",
            r"`[^`]*`",
            r"\$[^$]*\$",
            r"!?\[[^\]]*\]\([^)]*\)",
            r"https?://\S+",
            r"^#+ [^\n]*$",
            r"<[^>]*>",
        )
    ),
    re.S | re.M,
)


@dataclass(frozen=True)
class Term:
    """A term: its cell, its name, its explanation, and other forms of it."""

    cell: str
    name: str
    text: str
    also: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """What follows # in its address, for JupyterLab and for pages that nbconvert makes.

        A heading's would not do: JupyterLab 4.6 does not find it in a notebook that it opens first.
        """
        return f"cell-id={self.cell}"

    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of the term; case counts only in a name that has capitals."""
        forms = "|".join(
            re.escape(form).replace(r"\ ", r"[ \n-]") for form in (*self.also, self.name)
        )
        flags = 0 if re.search("[A-Z]", self.name) else re.I
        return re.compile(rf"(?<![\w/-])(?:{forms})s?(?![\w/-]|\.\w)", flags)


def terms() -> list[Term]:
    """Return the terms of the page, in its order."""
    cells = json.loads(PAGE.read_text("utf-8"))["cells"]
    return [_term(cell["id"], "".join(cell["source"])) for cell in cells[1:]]


def _term(cell: str, source: str) -> Term:
    head, text, *also = source.split("\n\n")
    forms = also[0].removeprefix("*Also:* ").rstrip(".").split(", ") if also else []
    return Term(cell, head.removeprefix("## "), " ".join(text.split()), tuple(forms))


def links(text: str) -> Iterator[str]:
    """Yield the anchors of the glossary that a text links to."""
    yield from re.findall(r"\]\((?:\.\./)?glossary\.ipynb#([^)\s]+)\)", text)


def texts(path: Path) -> list[str]:
    """Return the texts of a notebook's cells of text."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def first_use(term: Term, cells: list[str]) -> tuple[int, re.Match[str]] | None:
    """Return the cell where a term is used first, other than in a link, and its place there."""
    pattern = term.pattern()
    for number, text in enumerate(cells):
        plain = _NO_TEXT.sub(lambda found: " " * len(found.group()), text)
        if found := pattern.search(plain):
            return number, found
    return None


def unlinked(path: Path, known: list[Term]) -> dict[str, Any]:
    """Return the terms whose first use in a notebook is no link to the glossary, with that use."""
    cells = texts(path)
    found = {}
    for term in known:
        use = first_use(term, cells)
        if use is None:
            continue
        number, match = use
        before = "\n".join([*cells[:number], cells[number][: match.start()]])
        if term.anchor not in links(before):
            found[term.name] = cells[number][max(0, match.start() - 30) : match.end() + 30]
    return found
