"""The index: every row of every paper, and the call behind each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.findings import VERDICTS, Findings
from workbench.html_table import html_table
from workbench.papers.llamp import LLAMP
from workbench.papers.paper import KINDS, Paper, PaperRow
from workbench.papers.shaman import SHAMAN
from workbench.papers.suetterlein import SUETTERLEIN
from workbench.papers.validation import VALIDATION
from workbench.papers.variability import VARIABILITY
from workbench.result import Result
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

PAPERS: dict[str, Paper] = {
    paper.number: paper for paper in (SUETTERLEIN, LLAMP, SHAMAN, VARIABILITY, VALIDATION)
}
"""The papers, by number."""


@dataclass(frozen=True, repr=False)
class PaperIndex(Result):
    """Rows of papers as a table; iterates over them and returns the one of an id."""

    rows: tuple[PaperRow, ...]

    def __iter__(self) -> Iterator[PaperRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, id: str) -> PaperRow:
        for row in self.rows:
            if row.id == id:
                return row
        ids = [row.id for row in self.rows]
        raise ParameterError(
            f"no row of a paper has the id {id!r}{did_you_mean(id, ids)}; "
            "workbench.papers.list() has them all",
            key="id",
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a row: paper, id, kind, title, call, data, verdict, reason."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["rows"])

    def to_dict(self) -> dict[str, Any]:
        """Return the rows' texts by name."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        ids = max((len(row.id) for row in self.rows), default=0)
        verdicts = max((len(row.verdict) for row in self.rows), default=0)
        return "\n".join(
            f"{row.id:<{ids}}  {row.verdict:<{verdicts}}  {row.title}" for row in self.rows
        )

    def _repr_html_(self) -> str:
        lines = ((row.id, row.title, row.data, row.verdict, row.reason) for row in self.rows)
        head = ("id", "what the paper shows", "data", "verdict", "difference")
        return html_table(lines, head, align="l", cell_style="vertical-align:top")


def list(paper: str = "", kind: str = "", verdict: str = "") -> PaperIndex:
    """Return the figures, tables, algorithms and claims of the papers.

    Args:
        paper: number of the only paper, such as ``000``; empty for all.
        kind: the only kind: ``figure``, ``table``, ``algorithm`` or ``claim``; empty for all.
        verdict: the only verdict: ``confirmed``, ``partly``, ``contradicted`` or ``cannot be told
            here``; empty for rows with any or none.

    Raises:
        ParameterError: there is no such paper, kind or verdict.
    """
    for name, value, known in (
        ("paper", paper, tuple(PAPERS)),
        ("kind", kind, KINDS),
        ("verdict", verdict, VERDICTS),
    ):
        if value and value not in known:
            raise ParameterError(
                f"{name} must be one of {', '.join(known)}; got {value!r}"
                f"{did_you_mean(value, known)}",
                key=name,
            )
    return PaperIndex(
        tuple(
            row
            for number, each in PAPERS.items()
            if paper in ("", number)
            for row in each.rows()
            if kind in ("", row.kind) and (not verdict or verdict in row.verdict.split(", "))
        )
    )


def run(id: str) -> Any:
    """Return the result of a row's call: a figure, a table, a finding or another result.

    Args:
        id: of the row, such as ``000-fig-8``.

    Raises:
        ParameterError: no row has this id, or it has no call.
    """
    return list()[id].run()


def judge(paper: str) -> Findings:
    """Return the findings on a paper's claims, computed now; those that ship are in ``list``.

    Args:
        paper: its number.

    Raises:
        ParameterError: there is no such paper, or none of its claims are judged.
    """
    list(paper=paper)
    return PAPERS[paper].judge()
