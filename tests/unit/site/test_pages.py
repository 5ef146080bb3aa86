"""Executed notebooks become pages that hold no script and no widget of a notebook."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import nbformat
import pytest

from workbench.site.build import ROOT, notebooks
from workbench.site.links import broken_links
from workbench.site.markdown import web_links, web_markdown
from workbench.site.pages import Records, page_of, ways_to
from workbench.site.papers_pages import papers_pages
from workbench.site.start_page import lists_of_notebooks, start_page, texts
from workbench.site.stills import FIGURE, PANEL


def executed() -> nbformat.NotebookNode:
    """A notebook with a panel, a figure, a table and the script that a notebook loads."""
    panel = {"python": "a < b", "parts": [{"html": "<b>one</b> sentence"}, {"figure": {"doc": 1}}]}
    outputs = [
        {"application/javascript": "alert(1)"},
        {PANEL: panel, "text/plain": "Panel()"},
        {FIGURE: {"doc": 2}},
        {"text/html": "<table></table>"},
    ]
    cell = nbformat.v4.new_code_cell(
        "panel",
        outputs=[nbformat.v4.new_output("display_data", data=data) for data in outputs],
    )
    text = nbformat.v4.new_markdown_cell("See [it](01-fit.ipynb) and [that](../a.ipynb#b).")
    return nbformat.v4.new_notebook(cells=[text, cell])


def test_outputs_become_places_of_figures(tmp_path: Path) -> None:
    notebook, records = executed(), Records(tmp_path)
    (tmp_path / "of-an-earlier-build.js").touch()
    page = page_of(notebook, records)
    records.remove_others()
    assert f'<span id="cell-id={notebook.cells[0].id}"></span>' in page.cells[0].source
    shown = [output.data for output in page.cells[1].outputs]
    assert [list(data) for data in shown] == [["text/html"]] * 3
    assert "<b>one</b> sentence" in shown[0]["text/html"]
    assert "<pre>a &lt; b</pre>" in shown[0]["text/html"]
    assert len(notebook.cells[1].outputs) == 4, "the executed notebook stays as it is"
    files = {path.stem: path.read_text() for path in tmp_path.glob("*.js")}
    assert len(files) == 2
    for name, text in files.items():
        assert text.startswith(f'workbenchSite.record("{name}",')
        record = json.loads(text[len(f'workbenchSite.record("{name}",') : -2])
        assert any(f'data-record="{name}"' in data["text/html"] for data in shown)
        assert record["parts"]


def test_a_page_for_a_class_lacks_solutions_and_leads_to_the_notebook(tmp_path: Path) -> None:
    notebook = executed()
    notebook.cells.append(nbformat.v4.new_code_cell("solved", metadata={"tags": ["solution"]}))
    ways = ways_to(PurePath("notebooks/lessons/1.ipynb"), "owner/name")
    page = page_of(notebook, Records(tmp_path), ways=ways, solutions=False)
    assert [cell.source for cell in page.cells[1:]] == [ways, "panel"]
    assert 'href="../../_static/notebooks/lessons/1.ipynb" download' in ways
    assert "mybinder.org/v2/gh/owner/name/HEAD?urlpath=lab/tree/notebooks/lessons/1.ipynb" in ways


def test_links_to_notebooks_lead_to_pages() -> None:
    assert web_links("[a](b.ipynb), [c](../d.ipynb#e), [f](https://g.org/h.ipynb)") == (
        "[a](b.html), [c](../d.html#e), [f](https://g.org/h.ipynb)"
    )


def test_headings_have_the_anchors_of_notebooks() -> None:
    assert '<span id="SST/macro"></span>\n\n## SST/macro' in web_markdown("a\n\n## SST/macro\n\nb")
    assert '<span id="λ_L"></span>' in web_markdown("## λ_L")
    assert '<span id="critical-path"></span>' in web_markdown("### *critical* path")
    code = "```sh\n# no heading, [no](link.ipynb)\n```"
    assert web_markdown(code) == code


def test_formulas_are_drawn_by_the_browser() -> None:
    text = web_markdown("Time is $L + sG$, and not `$L$`, for 3 $ or 5 $.")
    assert text.count("<math") == 1
    assert text.endswith("and not `$L$`, for 3 $ or 5 $.")
    block = web_markdown("so\n\n$$\n\\frac{s}{B}\n$$\n\nthen")
    assert 'display="block"' in block and "<mfrac>" in block


def test_the_start_page_has_a_card_for_each_notebook() -> None:
    page = start_page(ROOT, notebooks())
    assert page.startswith("# Interconnect Workbench\n\nThe workbench fits a network model")
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        assert (
            f'href="notebooks/{path.stem}.html"><img src="_static/images/{path.stem}.png"' in page
        )
    for name, text in texts().items():
        assert f"]({name}.html)" in page and f"\n{name}\n" in page and text.startswith("# ")
    listed = lists_of_notebooks(ROOT, notebooks())
    assert "\n00-start-here\n" in listed["notebooks/index"]
    assert "\nnotebooks/lessons/1-what-a-message-costs\n" in listed["lessons"]


def test_every_row_of_the_papers_has_a_section() -> None:
    from workbench import papers

    pages = papers_pages()
    for row in papers.list():
        assert f".. _{row.id}:\n" in pages[f"papers/{row.paper}"]
        assert f":ref:`{row.id} <{row.id}>`" in pages["papers/index"]


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ('<a href="b.html#there">', ""),
        ('<a href="b.html#gone">', "no such anchor"),
        ('<a href="c.html">', "no such file"),
        ('<a href="#here" id="here">', ""),
        ('<a href="https://example.org">', ""),
        ('<script src="https://example.org/a.js">', "asks another machine"),
        ('<img src="//example.org/a.png">', "asks another machine"),
        ('<img src="gone.png">', "no such file"),
    ],
)
def test_links_are_checked(link: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(link)
    (tmp_path / "b.html").write_text('<p id="there">')
    found = broken_links(tmp_path)
    assert [complaint in line for line in found] == ([True] if complaint else [])
