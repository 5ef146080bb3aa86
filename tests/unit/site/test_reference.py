"""The reference has every exported name once, and finds it by the names that annotations use."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from docutils.core import publish_doctree
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from workbench.lazy import origin_of
from workbench.site.reference import Entry, entries, other_names, reference_pages
from workbench.site.sphinx_extension import _marked, _without_bars

SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields):$")
NAME = re.compile(r"^    \*{0,2}(\w[\w, *]*): ")


@pytest.fixture(scope="module")
def found() -> list[Entry]:
    return entries()


def test_each_name_is_documented_once_near_its_definition(found: list[Entry]) -> None:
    paths = [entry.path for entry in found]
    assert len(paths) == len(set(paths)) > 600
    assert "workbench.models.SNAPPR" in paths
    assert "workbench.SNAPPR" not in paths
    assert "workbench.topology.metrics.summary" in paths or "workbench.topology.summary" in paths


def test_annotations_find_the_documented_name(found: list[Entry]) -> None:
    names = other_names(found)
    assert names["workbench.fit.result.FitResult"] == "workbench.fit.FitResult"
    assert names["FitResult"] == "workbench.fit.FitResult"


def test_every_entry_is_on_a_page(found: list[Entry]) -> None:
    pages = reference_pages(found)
    text = "\n".join(pages.values())
    assert text.count(":: workbench") >= len(found)
    assert (
        ".. autoclass:: workbench.fit.FitResult\n   :members:" in pages["reference/workbench.fit"]
    )


def test_an_origin_is_where_a_name_is_defined() -> None:
    assert origin_of("workbench", "SNAPPR") == ("workbench.models.snappr", "SNAPPR")
    assert origin_of("workbench", "models")[0] == "workbench"


def test_paragraphs_of_code_are_marked_and_sentences_are_not() -> None:
    assert _marked("Lists, sets") == "Lists, sets"
    assert _marked("A sentence that is no code.") == "A sentence that is no code."
    assert _marked("from workbench import papers").startswith(".. code-block:: python\n\n   from")
    assert _marked('papers.run("000-fig-8")').startswith(".. code-block:: python")


def documented(entry: Entry) -> Iterator[tuple[str, Any]]:
    """Yield an entry, and the public members of a class, as the reference shows them."""
    if inspect.isclass(entry.value) or inspect.isroutine(entry.value):
        yield entry.path, entry.value
    if inspect.isclass(entry.value):
        for name, member in vars(entry.value).items():
            if not name.startswith("_"):
                yield f"{entry.path}.{name}", getattr(member, "__func__", member)


def as_fields(docstring: str) -> str:
    """Return a docstring whose sections are lists of fields, as Sphinx makes them."""
    lines, inside = [], False
    for line in docstring.splitlines():
        starts = bool(SECTION.match(line))
        inside = inside or starts
        lines.append("" if starts else NAME.sub(r":\1: ", line) if inside else line)
    return _without_bars("\n".join(lines))


@functools.cache
def settings() -> Any:
    """Return docutils' settings, which take longer to make than a docstring to read."""
    quiet = {"report_level": 5, "halt_level": 5}
    return publish_doctree("", settings_overrides=quiet).settings


def complaints(docstring: str) -> list[str]:
    """Return what docutils warns of in a docstring."""
    document, messages = new_document("", settings()), []
    document.reporter.attach_observer(messages.append)
    Parser().parse(as_fields(docstring), document)
    return [each.astext() for each in messages if each["level"] > 1]


def test_docutils_reads_every_docstring_without_a_warning(found: list[Entry]) -> None:
    shown = {path: inspect.getdoc(value) or "" for e in found for path, value in documented(e)}
    assert len(shown) > 1500
    wrong = {path: complaints(text) for path, text in shown.items()}
    assert {path: lines for path, lines in wrong.items() if lines} == {}


def test_an_unclosed_mark_in_a_docstring_is_noticed() -> None:
    (warning,) = complaints("F.\n\n    tune(space, **rules)\n")
    assert "Inline strong start-string without end-string" in warning
    assert complaints("F.\n\nArgs:\n    *rules: of |x|, ``**`` and `y`.\n        Two.\n") == []
