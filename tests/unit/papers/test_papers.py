"""The index of the papers: every row is whole, and its call is the one that runs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bokeh.models import LayoutDOM

from tests.cases import for_each
from tests.unit import commands
from workbench import papers
from workbench.cli import main
from workbench.errors import ParameterError
from workbench.findings import VERDICTS, Finding, Findings
from workbench.papers.paper import KINDS, Paper, findings_file
from workbench.provenance import ORIGINS

ROWS = papers.list()
# Claims are judged all at once, below.
WITH_CALL = [row.id for row in ROWS if row.call and row.kind != "claim"]
# Their verdicts hang on how fast this machine is just now.
TIMED = {"linear-program-beats-replay", "building-takes-seconds-a-million", "algorithm-2-finds-all"}
SAMPLE = ["000-fig-8", "000-table-1", "001-algorithm-1", "002-table-1", "003-fig-12"]

answer = partial(commands.answer, "papers")


def test_every_row_is_whole() -> None:
    ids = [row.id for row in ROWS]
    assert len(ids) == len(set(ids))
    for row in ROWS:
        assert row.id.startswith(f"{row.paper}-"), row.id
        assert row.kind in KINDS, row.id
        assert row.title and not row.title.endswith("."), row.id
        assert row.call or row.reason, f"{row.id} has neither a call nor a reason"
        assert set(filter(None, row.data.split(", "))) <= set(ORIGINS), row.id
        assert set(filter(None, row.verdict.split(", "))) <= set(VERDICTS), row.id
        assert bool(row.call) == (row.make is not None), row.id
        compile(row.call, row.id, "exec")


@pytest.mark.parametrize(
    "id", [pytest.param(id, marks=() if id in SAMPLE else pytest.mark.deep) for id in WITH_CALL]
)
def test_a_call_runs(id: str) -> None:
    result = papers.run(id)
    figure = papers.figure_of(result)
    expected = {"figure": LayoutDOM | pd.DataFrame | str, "table": pd.DataFrame}
    kind = expected.get(ROWS[id].kind, object)
    assert isinstance(result if figure is None else figure, kind)


@pytest.mark.deep
@for_each("number", [n for n, paper in papers.PAPERS.items() if paper.judged])
def test_the_verdicts_that_ship_are_those_of_the_shipped_studies(number: str) -> None:
    """`make findings` computes them again."""
    shipped = {one.name: one for one in papers.PAPERS[number].shipped_findings()}
    judged = {one.name: one for one in papers.judge(number)}
    assert list(judged) == list(shipped)
    for name, one in judged.items():
        assert one.claim == shipped[name].claim
        assert one.verdict == shipped[name].verdict or name in TIMED, name


def test_the_call_is_the_code_of_the_function_that_runs() -> None:
    row = ROWS["000-table-3"]
    assert row.call == "from workbench import datasets\n\ndatasets.list().to_frame()"
    *before, last = row.call.splitlines()
    scope: dict[str, Any] = {}
    exec("\n".join(before), scope)
    assert eval(last, scope).equals(row.run())


def test_a_row_without_a_call_says_why() -> None:
    paper = Paper("009", "a paper")
    paper.not_ours("fig-1", "a photograph of the machine", "we have no such machine")
    (row,) = paper.rows()
    assert (row.kind, row.id, row.call) == ("figure", "009-fig-1", "")
    with pytest.raises(ParameterError, match="009-fig-1 has no call: we have no such machine"):
        row.run()
    with pytest.raises(ParameterError, match="no claims of paper 009 are judged"):
        paper.judge()


def test_claims_are_the_findings_that_ship_and_stand_beside_their_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.papers.paper.data_folder", lambda: tmp_path)
    paper = Paper("009", "a paper")
    one = Finding("one", "It is one", "IV, Figs. 1, 2 and 3", "rule", "it is", "partly", "")
    two = Finding("two", "It is two", "Table 1, Fig. 2", "rule", "it is", "confirmed", "")

    @paper.claims("measured")
    def judged() -> Findings:
        """Judge."""
        return Findings((one, two))

    for part in ("fig-1", "fig-2", "table-1", "algorithm-1"):
        paper.not_ours(part, "title", "reason")
    assert [row.id for row in paper.rows()][4:] == ["009-claims"]
    findings_file("009").parent.mkdir()
    paper.judge().save(findings_file("009"))
    rows = {row.id: row for row in paper.rows()}
    assert [row.verdict for row in rows.values()] == [
        *("partly", "confirmed, partly", "confirmed", ""),
        *("partly", "confirmed"),
    ]
    claim = rows["009-claim-two"]
    assert claim.title == "It is two (Table 1, Fig. 2)"
    assert claim.call == 'Findings((one, two))["two"]'
    assert claim.run() == two
    monkeypatch.setitem(papers.PAPERS, "009", paper)
    assert papers.judge("009") == Findings((one, two))
    command = ["papers", "judge", "009", "--save", str(tmp_path / "new")]
    assert main(command) == 0
    assert (tmp_path / "new" / "009.json").read_bytes() == findings_file("009").read_bytes()


def test_a_list_is_filtered() -> None:
    figures = papers.list(paper="000", kind="figure")
    assert {row.kind for row in figures} == {"figure"}
    assert {row.paper for row in figures} == {"000"}
    assert "000-fig-8" in repr(figures)
    assert "000-fig-8" in figures._repr_html_()
    assert list(figures.to_frame()["id"]) == [row.id for row in figures]
    with pytest.raises(ParameterError, match=r"kind must be one of .*did you mean figure\?"):
        papers.list(kind="figur")
    with pytest.raises(ParameterError, match="no row of a paper has the id '000-fig-88'"):
        papers.list()["000-fig-88"]


def test_the_shell_lists_shows_and_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = answer(capsys, "list", "--paper", "000")["rows"]
    names = ["paper", "id", "kind", "title", "call", "data", "verdict", "reason"]
    assert [list(row) for row in rows] == [names] * len(rows)
    assert rows == [row.to_dict() for row in papers.list(paper="000")]
    assert answer(capsys, "show", "000-table-3") == ROWS["000-table-3"].to_dict()
    assert main(["papers", "show", "000-table-3"]) == 0
    assert "call:\n    from workbench import datasets\n" in capsys.readouterr().out
    assert main(["papers", "run", "000-table-3"]) == 0
    assert "azure-hb96v3-hdr" in capsys.readouterr().out
    table = answer(capsys, "run", "000-table-3")["result"]
    assert table == json.loads(papers.run("000-table-3").to_json())
    page = tmp_path / "figure.html"
    assert main(["papers", "run", "000-fig-8", "--save", str(page)]) == 0
    assert "figure: RMSPE" in capsys.readouterr().out
    assert "Bokeh" in page.read_text("utf-8")
    said = commands.refusal(capsys, "papers", "run", "000-table-3", "--save", str(page))
    assert "only a figure is saved; 000-table-3 makes none" in said
    assert "did you mean" in commands.refusal(capsys, "papers", "show", "000-figure-8")
