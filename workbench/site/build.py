"""The build of the site: notebooks, papers and reference as pages of Sphinx, then the check."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bokeh
import nbformat

import workbench
from workbench.atomic_write import replace_file
from workbench.plotting.theme import PAGE_RULES
from workbench.site.execute import executed
from workbench.site.links import broken_links
from workbench.site.markdown import web_markdown
from workbench.site.pages import Records, page_of, ways_to, without_solutions
from workbench.site.papers_pages import papers_pages
from workbench.site.reference import entries, reference_pages
from workbench.site.start_page import lists_of_notebooks, start_page, texts

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 60_000_000  # chosen: a download of a minute at 8 Mbit/s
_BOKEH = ("bokeh.min.js", "bokeh-widgets.min.js", "bokeh-tables.min.js")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STATIC = Path(__file__).parent / "static"

_CONFIGURATION = {
    "project": "Interconnect Workbench",
    "extensions": [
        "sphinx.ext.autodoc",
        "sphinx.ext.napoleon",
        "myst_nb",
        "workbench.site.sphinx_extension",
    ],
    "html_theme": "furo",
    "html_title": f"Interconnect Workbench {workbench.__version__}",
    "html_css_files": ["site.css"],
    "html_js_files": ["site.js"],
    "html_copy_source": False,
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "default_role": "py:obj",
    "add_module_names": False,
    "python_use_unqualified_type_names": True,
    "autodoc_typehints_format": "short",
    "napoleon_use_ivar": True,
    "napoleon_use_rtype": False,
    "nb_execution_mode": "off",
    "nb_code_prompt_show": "Show the solution",
    "nb_code_prompt_hide": "Hide the solution",
    "nb_merge_streams": True,
    "nb_ipywidgets_js": {},
    "myst_all_links_external": True,
    "myst_heading_anchors": 0,
    "suppress_warnings": ["myst.header", "ref.python"],
}


def notebooks(root: Path = ROOT) -> list[Path]:
    """Return the notebooks of the site, then the lessons and the texts for who teaches them."""
    folder = root / "notebooks"
    return [
        *sorted(folder.glob("*.ipynb")),
        *sorted((folder / "lessons").glob("*.ipynb")),
        *sorted((folder / "lessons").glob("*.md")),
    ]


def build_site(
    target: Path,
    chosen: list[Path],
    *,
    reference: bool = True,
    solutions: bool = True,
    repository: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Build the site of some notebooks in ``target/html`` and return what is wrong with it.

    What is executed and what Sphinx has read stays in ``target`` for the next build. Without
    solutions the text for who teaches the lessons is left out, too. ``repository``: see `ways_to`.
    """
    if not solutions:
        chosen = [path for path in chosen if path.suffix == ".ipynb"]
    source, site = target / "source", target / "html"
    records = Records(target / "static" / "records")
    pages: dict[str, str] = papers_pages() | texts()
    if reference:
        pages |= reference_pages(entries())
    pages |= {"index": start_page(ROOT, chosen), **lists_of_notebooks(ROOT, chosen)}
    names = {path: path.relative_to(ROOT).with_suffix("").as_posix() for path in chosen}
    for path in [path for path in chosen if path.suffix == ".md"]:
        pages[names[path]] = web_markdown(path.read_text("utf-8"))
    # Each in a process of its own; the order of the pages is that of the notebooks.
    run = [path for path in chosen if path.suffix == ".ipynb"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda path: executed(path, ROOT, target / "executed", say), run)
        for path, notebook in zip(run, done, strict=True):
            ways = ways_to(path.relative_to(ROOT), repository)
            page = page_of(notebook, records, ways=ways, solutions=solutions)
            pages[names[path]] = nbformat.writes(page)
            content = json.loads(path.read_text("utf-8"))
            if not solutions:
                content["cells"] = without_solutions(content["cells"])
            saved = target / "static" / path.relative_to(ROOT)
            saved.parent.mkdir(parents=True, exist_ok=True)
            saved.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    records.remove_others()
    copy_static(target / "static")
    _write_sources(source, pages)
    say("making the pages")
    warnings = _sphinx(source, site, target)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    say(f"{len(pages)} pages, {size / 1e6:.1f} MB, in {site}")
    too_large = [f"the site has {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}"]
    return warnings + broken_links(site) + (too_large if size > MOST_BYTES else [])


def copy_static(folder: Path) -> None:
    """Copy scripts, styles and pictures; BokehJS from the installed package."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_STATIC / "site.js", folder)
    rules = (_STATIC / "site.css").read_text("utf-8")
    replace_file(folder / "site.css", f"{PAGE_RULES}\n{rules}".encode())
    (folder / "bokeh").mkdir(exist_ok=True)
    for name in _BOKEH:
        shutil.copy(
            Path(bokeh.__file__).parent / "server" / "static" / "js" / name, folder / "bokeh"
        )
    shutil.copytree(ROOT / "notebooks" / "images", folder / "images", dirs_exist_ok=True)


def _write_sources(folder: Path, pages: dict[str, str]) -> None:
    """Write the pages that have changed, and remove those that are no more."""
    names = set()
    for name, text in pages.items():
        suffix = ".ipynb" if text.startswith("{") else ".rst" if _is_rst(name) else ".md"
        path = folder / f"{name}{suffix}"
        names.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.*"):
        if path not in names and path.is_file():
            path.unlink()


def _is_rst(name: str) -> bool:
    return name.startswith(("papers/", "reference/"))


def _sphinx(source: Path, site: Path, target: Path) -> list[str]:
    """Let Sphinx make the pages, and return its warnings."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    settings = {
        **_CONFIGURATION,
        "html_static_path": [str((target / "static").resolve())],
        "workbench_site": _own_digest(),
    }
    warnings = io.StringIO()
    with docutils_namespace():
        app = Sphinx(
            str(source),
            None,
            str(site),
            str(target / "doctrees"),
            "html",
            confoverrides=settings,
            status=None,
            warning=warnings,
            parallel=os.cpu_count() or 1,
        )
        app.build()
    return [line for line in _COLOUR.sub("", warnings.getvalue()).splitlines() if line]


def _own_digest() -> str:
    """Return the digest of the code of the site."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
