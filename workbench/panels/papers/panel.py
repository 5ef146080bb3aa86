"""The panel of the papers: every figure, table, algorithm and claim, and ours of the chosen one.

What a list holds is an attribute:

    panel = PapersPanel()
    panel.paper, panel.kind = "000", "figure"; panel.row = "000-fig-8"
    panel.rows, panel.wait()                    # the rows that are listed, and what ours returned
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
from bokeh.models import LayoutDOM

from workbench import papers, tasks
from workbench.findings import VERDICTS
from workbench.html_table import bold
from workbench.panels import inputs
from workbench.panels.background_figure import BackgroundFigure
from workbench.panels.error_line import ErrorLine
from workbench.panels.live_view import LiveView
from workbench.panels.mute import Mute
from workbench.panels.panel import Panel
from workbench.panels.papers.view import IndexTable, shown
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import TEXT, choose, named, wrapping_row
from workbench.papers import PaperIndex, PaperRow
from workbench.papers.paper import KINDS
from workbench.plotting.theme import SMALL

_ANY = ""
_LISTS = {"paper": ("Paper", "420px"), "kind": ("Kind", "190px"), "verdict": ("Verdict", "240px")}


class PapersPanel(Panel[Any]):
    """Look at the papers' figures, tables, algorithms and claims, and make ours.

    Args:
        row: id of the row to open with, such as ``000-fig-8``; the first one by default.

    Raises:
        ParameterError: no row has this id.
    """

    SETTINGS = (*_LISTS, "row")

    def __init__(self, row: str = "") -> None:
        super().__init__()
        self._mute = Mute()
        self._all = papers.list()
        self._chosen = self._all[row] if row else self._all.rows[0]
        self._results: dict[str, Any] = {}
        self._controls = self._make_controls()
        self._table = IndexTable(self._all, self._clicked)
        self._count, self._about = widgets.HTML(), widgets.HTML()
        self._error = ErrorLine()
        self._ours = BackgroundFigure(self._ticker.start, keep_last=False)
        self._python: Any = inputs.Textarea(layout=widgets.Layout(width="98%", height="auto"))
        c = self._controls
        self.widget = self._boxed(
            [
                wrapping_row(*(c[name] for name in _LISTS)),
                wrapping_row(c["row"], self._count),
                self._error,
                self._table.widget,
                self._about,
                self._ours.widget,
                self._python,
            ]
        )
        for name, control in c.items():
            take = self._open if name == "row" else self._filter
            control.observe(lambda _, take=take: self._error.guard(take), "value")
        self._filter()

    @property
    def rows(self) -> PaperIndex:
        """The rows that are listed."""
        return papers.list(**{name: self._controls[name].value for name in _LISTS})

    @property
    def chosen(self) -> PaperRow:
        """The chosen row."""
        return self._chosen

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def python(self) -> str:
        """Python code that makes ours of the chosen row; empty where there is none."""
        return self._chosen.call

    def stop(self) -> None:
        """Stop waiting for the call of the chosen row."""
        self._ours.stop()

    def __repr__(self) -> str:
        return f"PapersPanel({self._chosen.id!r})"

    def _live_views(self) -> tuple[LiveView, ...]:
        return tuple(self._ours.views)

    def _outcome(self) -> Any:
        return self._results.get(self._chosen.id)

    def _errors(self) -> list[ErrorLine]:
        return [self._error, self._ours.error]

    def _refresh(self) -> bool:
        return self._ours.refresh()

    def _make_controls(self) -> dict[str, Any]:
        known: dict[str, list[tuple[str, str]]] = {
            "paper": [
                (f"{number} {paper.name}", number) for number, paper in papers.PAPERS.items()
            ],
            "kind": [(kind, kind) for kind in KINDS],
            "verdict": [(verdict, verdict) for verdict in VERDICTS],
        }
        made = {
            name: inputs.Dropdown(options=[("all", _ANY), *known[name]], value=_ANY, **named(*text))
            for name, text in _LISTS.items()
        }
        return {**made, "row": inputs.Dropdown(options=(), **named("Row", "420px"))}

    def _filter(self) -> None:
        """List the rows of the present filters; keep the chosen one if it is among them."""
        if self._mute.on:
            return
        rows, control = self.rows, self._controls["row"]
        ids = [row.id for row in rows]
        with self._mute:
            control.options = ids
            if ids:
                control.value = self._chosen.id if self._chosen.id in ids else ids[0]
        self._count.value = f"{len(rows)} of {len(self._all)} rows"
        self._table.show(rows)
        self._open()

    @drawn_once
    def _open(self) -> None:
        """Show the row of the list and make ours in the background."""
        id = self._controls["row"].value
        if self._mute.on or id is None:
            return
        self._error.say("")
        self._chosen = row = self._all[id]
        self._table.mark(id)
        self._about.value = _about(row)
        self._python.value = row.call
        self._python.rows = max(row.call.count("\n") + 1, 2)
        self._python.layout.display = "" if row.call else "none"
        if row.call:
            self._ours.want(id, lambda task: self._make(row, task))
        else:
            self._ours.clear()

    def _make(self, row: PaperRow, task: tasks.Task) -> LayoutDOM:
        # Judging all claims of a paper takes a minute; the findings ship.
        result = row.finding or row.run()
        self._results[row.id] = result
        return shown(result)

    def _clicked(self, id: str) -> None:
        """Choose the row whose button was pressed."""
        choose(self._controls["row"], "row", id)


def _about(row: PaperRow) -> str:
    """Return the texts of a row as HTML."""
    # The finding below has the evidence.
    reason = "" if row.finding is not None else f"<br>{html.escape(row.reason)}"
    facts = [row.kind, *([f"data: {row.data}"] if row.data else [])]
    facts += [f"verdict: {row.verdict}"] if row.verdict else []
    return (
        f'<div role="status" style="{TEXT}">{bold(f"{row.id}: {row.title}")}{reason}</div>'
        f'<div style="{SMALL}">{html.escape("; ".join(facts))}</div>'
    )
