"""A paper's rows: each figure, table, algorithm and claim, with the call that makes ours.

A function in a paper's file is a row: its name is the row's, its docstring says what the paper
shows, and its body is the call. The claims are those of the paper's findings, which ship with the
verdicts; `judge` computes them again.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.findings import VERDICTS, Finding, Findings
from workbench.html_table import code, html_table
from workbench.provenance import Origin
from workbench.result import Result

ItemKind = Literal["figure", "table", "algorithm", "claim"]
KINDS: tuple[ItemKind, ...] = get_args(ItemKind)

_KINDS_BY_PREFIX: dict[str, ItemKind] = {
    "fig": "figure",
    "table": "table",
    "algorithm": "algorithm",
}
# In the place of a finding, such as `IV-D, Figs. 9 and 11`.
_PLACES = re.compile(r"\b(Fig|Table|Algorithm)s?\.? ((?:(?:\d+|[IV]+\b)(?:, | and )?)+)")
_ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}

_Make = Callable[[], Any]
_F = TypeVar("_F", bound=_Make)


@dataclass(frozen=True)
class PaperRow:
    """A figure, table, algorithm or claim of a paper, and ours.

    Attributes:
        paper: number of the paper.
        id: such as ``000-fig-8``.
        kind: ``figure``, ``table``, ``algorithm`` or ``claim``.
        title: what the paper shows, or claims.
        call: Python that makes ours; empty where there is none.
        data: origins of what ours stands on, as in ``Provenance``; empty for pure algebra.
        verdict: on a claim; beside a figure or table, those on the claims that name it.
        reason: the difference from the paper, why there is no call, or the evidence on a claim.
        make: the function of the call.
        finding: on a claim, as it ships.
    """

    paper: str
    id: str
    kind: ItemKind
    title: str
    call: str
    data: str
    verdict: str
    reason: str
    make: _Make | None = field(default=None, repr=False, compare=False)
    finding: Finding | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, str]:
        """Return the row's texts by name."""
        return {name: text for name, text in vars(self).items() if isinstance(text, str)}

    def run(self) -> Any:
        """Return the result of the call: a figure, a table, a finding or another result.

        Raises:
            ParameterError: the row has no call.
        """
        if self.make is None:
            raise ParameterError(f"{self.id} has no call: {self.reason}", key="id")
        return self.make()

    def _repr_html_(self) -> str:
        texts = {**self.to_dict(), "call": code(self.call)}
        return html_table(list(texts.items()), align="l")


class Paper:
    """A paper and its rows."""

    def __init__(self, number: str, name: str) -> None:
        self.number, self.name = number, name
        self._rows: list[PaperRow] = []
        self._claims: tuple[Callable[[], Findings], str] | None = None

    def ours(self, *data: Origin, reason: str = "", also: Sequence[str] = ()) -> Callable[[_F], _F]:
        """Enter the decorated function: ``fig_8`` makes figure 8, and ``also`` others, of data."""

        def entered(make: _F) -> _F:
            title = (inspect.getdoc(make) or "").removesuffix(".")
            for part in (make.__name__.replace("_", "-"), *also):
                row = self._row(part, title, reason)
                self._rows.append(replace(row, call=_call(make), data=", ".join(data), make=make))
            return make

        return entered

    def not_ours(self, part: str, title: str, reason: str) -> None:
        """Enter a part of the paper, such as ``fig-8``, that has no call, and the reason."""
        self._rows.append(self._row(part, title, reason))

    def claims(self, *data: Origin) -> Callable[[Callable[[], Findings]], Callable[[], Findings]]:
        """Enter the decorated function, which judges the claims of the paper on ``data``."""

        def entered(judge: Callable[[], Findings]) -> Callable[[], Findings]:
            self._claims = cache(judge), ", ".join(data)
            return judge

        return entered

    @property
    def judged(self) -> bool:
        """Whether the paper's claims are judged."""
        return self._claims is not None

    def judge(self) -> Findings:
        """Return the findings on the paper's claims, computed once in this process."""
        if self._claims is None:
            raise ParameterError(f"no claims of paper {self.number} are judged", key="paper")
        return self._claims[0]()

    def shipped_findings(self) -> tuple[Finding, ...]:
        """Return the findings that ship, none where they have not been computed."""
        path = findings_file(self.number)
        return tuple(Findings.load(path)) if path.exists() else ()

    def rows(self) -> list[PaperRow]:
        """Return the rows: figures by number, then tables, algorithms and claims."""
        found = self.shipped_findings()
        rows = [replace(row, verdict=_verdict_on(row, found)) for row in self._rows]
        rows.sort(key=_order)
        if self._claims is not None:
            judge, data = self._claims
            if not found:
                rows.append(
                    replace(
                        self._row("claims", "the paper's claims", "no verdicts ship yet"),
                        call=_call(judge),
                        data=data,
                        make=judge,
                    )
                )
            rows += [self._claim(finding, judge, data) for finding in found]
        return rows

    def _claim(self, finding: Finding, judge: Callable[[], Findings], data: str) -> PaperRow:
        name = finding.name
        return PaperRow(
            self.number,
            f"{self.number}-claim-{name}",
            "claim",
            f"{finding.claim} ({finding.where})",
            f'{_call(judge)}["{name}"]',
            data,
            finding.verdict,
            finding.evidence,
            partial(_judged, judge, name),
            finding,
        )

    def _row(self, part: str, title: str, reason: str) -> PaperRow:
        kind = _KINDS_BY_PREFIX.get(part.partition("-")[0], "claim")
        return PaperRow(self.number, f"{self.number}-{part}", kind, title, "", "", "", reason)


def figure_of(result: Any) -> Any:
    """Return the Bokeh figure of a call's result, None where it has none.

    Args:
        result: a figure, or a result whose ``plot`` draws one; anything else is none.
    """
    from bokeh.models import LayoutDOM

    if isinstance(result, LayoutDOM):
        return result
    return result.plot() if isinstance(result, Result) and hasattr(result, "plot") else None


def figure_titles(figure: Any) -> list[str]:
    """Return the titles in a figure or layout, from the top down.

    Args:
        figure: the figure or layout.
    """
    from bokeh.models import Plot

    titles = (getattr(plot.title, "text", "") for plot in figure.select({"type": Plot}))
    return [title for title in titles if title]


def findings_file(number: str) -> Path:
    """Return the file of the shipped findings on a paper's claims."""
    return data_folder() / "findings" / f"{number}.json"


def _judged(judge: Callable[[], Findings], name: str) -> Finding:
    return judge()[name]


def _order(row: PaperRow) -> tuple[int, int]:
    number = row.id.rpartition("-")[2]
    return KINDS.index(row.kind), int(number) if number.isdigit() else 0


def _verdict_on(row: PaperRow, findings: tuple[Finding, ...]) -> str:
    """Return the verdicts on the claims that name a figure or table, each once."""
    of_row = {f.verdict for f in findings if row.id.partition("-")[2] in _places(f.where)}
    return ", ".join(verdict for verdict in VERDICTS if verdict in of_row)


def _places(where: str) -> set[str]:
    """Return the figures, tables and algorithms that a text names, such as ``fig-8``."""
    return {
        f"{word.lower()}-{_ROMAN.get(number, number)}"
        for word, numbers in _PLACES.findall(where)
        for number in re.findall(r"\d+|[IV]+", numbers)
    }


def _call(make: _Make) -> str:
    """Return a function's body without its docstring, the returned expression last."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(make))).splitlines()
    (function,) = ast.parse("\n".join(lines)).body
    body = function.body[1:]  # type: ignore[attr-defined]
    last = body[-1].lineno - 1
    lines[last] = lines[last].replace("return ", "", 1)
    return textwrap.dedent("\n".join(lines[body[0].lineno - 1 :]))
