"""Executed notebooks as pages: recorded figures and panels become places that a script fills."""

from __future__ import annotations

import copy
import hashlib
import html
import json
from pathlib import Path, PurePath
from typing import Any

import nbformat

from workbench.site.markdown import web_markdown
from workbench.site.stills import FIGURE, PANEL

_NO_SCRIPT = "<noscript>This figure is drawn by a script of this page.</noscript>"


class Records:
    """Files that hold recorded figures, one each, named by their content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, record: dict[str, Any]) -> tuple[str, bool]:
        """Write a record; return its name and whether it holds tables that BokehJS draws."""
        text = json.dumps(record, separators=(",", ":"), allow_nan=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        if name not in self.names:
            self.names.add(name)
            script = f'workbenchSite.record("{name}",{text})\n'
            (self._folder / f"{name}.js").write_text(script, encoding="utf-8")
        return name, '"DataTable"' in text

    def remove_others(self) -> None:
        """Remove the files of earlier builds."""
        for path in self._folder.glob("*.js"):
            if path.stem not in self.names:
                path.unlink()


def page_of(notebook: Any, records: Records, *, ways: str = "", solutions: bool = True) -> Any:
    """Return a copy of an executed notebook whose outputs are text and places of figures.

    ``ways`` is HTML below the first text, see `ways_to`. Solutions are folded, or left out.
    """
    page = copy.deepcopy(notebook)
    page.metadata.pop("widgets", None)
    if not solutions:
        page.cells = without_solutions(page.cells)
    for cell in page.cells:
        if cell.cell_type == "code":
            if "solution" in cell.metadata.get("tags", ()):
                # MyST-NB folds what has this tag.
                cell.metadata["tags"].append("hide-cell")
            cell.outputs = [_output(one, records) for one in cell.outputs if not _is_script(one)]
        elif cell.cell_type == "markdown":
            # JupyterLab's links lead to cells by their ids, and to headings by their texts.
            anchor = f'<span id="cell-id={html.escape(cell.id)}"></span>'
            cell.source = f"{anchor}\n\n{web_markdown(cell.source)}"
    if ways:
        page.cells.insert(1, nbformat.v4.new_markdown_cell(ways))
    return page


def without_solutions(cells: list[Any]) -> list[Any]:
    """Return the cells of a notebook but those that solve exercises."""
    return [cell for cell in cells if "solution" not in cell["metadata"].get("tags", ())]


def ways_to(path: PurePath, repository: str = "") -> str:
    """Return links to save a notebook and to run it on Binder, where a repository is given.

    ``path`` is that in the repository, ``repository`` its ``owner/name`` on GitHub.
    """
    saved = f"{'../' * (len(path.parts) - 1)}_static/{path.as_posix()}"
    links = f'<a href="{saved}" download>Download this notebook</a>'
    if repository:
        opened = f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/{path.as_posix()}"
        links += f' · <a href="{opened}">Run it on Binder</a>'
    return f"<p>{links}</p>"


def _is_script(output: Any) -> bool:
    return set(output.get("data", ())) - {"text/plain"} == {"application/javascript"}


def _output(output: Any, records: Records) -> Any:
    data = output.get("data", {})
    if FIGURE in data:
        record: dict[str, Any] = {"parts": [{"figure": data[FIGURE]}]}
        output["data"] = {"text/html": place_of(record, records)}
    elif PANEL in data:
        record = dict(data[PANEL])
        python = record.pop("python")
        output["data"] = {"text/html": place_of(record, records) + _code(python)}
    return output


def place_of(record: dict[str, Any], records: Records) -> str:
    """Return the place of a figure or a panel, with the panel's sentences to be searched."""
    name, tables = records.add(record)
    words = "".join(part["html"] for part in record["parts"] if "html" in part)
    return (
        f'<div class="workbench-still" data-record="{name}"{" data-tables" if tables else ""}>'
        f'<div class="workbench-waiting">{words or "The figure is drawn here."}{_NO_SCRIPT}</div>'
        "</div>"
    )


def _code(python: str) -> str:
    if not python:
        return ""
    return (
        f"<details><summary>Python that makes this</summary><pre>{html.escape(python)}</pre>"
        "</details>"
    )
