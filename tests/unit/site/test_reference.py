"""The reference has every exported name once, and finds it by the names that annotations use."""

from __future__ import annotations

import pytest

from tests.source_trees import one_process
from workbench.lazy import origin_of
from workbench.site.reference import Entry, entries, other_names, reference_pages
from workbench.site.sphinx_extension import _marked

# The tests of exported names import every package too.
pytestmark = one_process


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
