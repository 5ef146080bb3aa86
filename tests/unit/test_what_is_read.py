"""The table of the files that are read holds for an example of each row."""

from __future__ import annotations

from tests.cases import for_each
from tests.source_trees import ROOT
from workbench.measure import read
from workbench.reading import KINDS

REPORTS = ROOT / "tests" / "data" / "reports"
PAGE = (ROOT / "workbench" / "site" / "what-is-read.md").read_text("utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
][2:]


@for_each("row", ROWS)
def test_a_row_holds_for_its_example(row: list[str]) -> None:
    *_, kind, example = row
    assert read(REPORTS / example).kind == kind


def test_every_kind_has_a_row() -> None:
    assert {row[-2] for row in ROWS} == set(KINDS)


@for_each("name", [path.name for path in sorted(REPORTS.iterdir())])
def test_every_report_is_read(name: str) -> None:
    found = read(REPORTS / name)
    assert found.kind in KINDS and found.title
    assert found.tables or found.facts
