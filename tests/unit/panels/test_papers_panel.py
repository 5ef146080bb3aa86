from __future__ import annotations

import pandas as pd
import pytest

from workbench.errors import ParameterError
from workbench.panels.papers.panel import PapersPanel


@pytest.fixture(scope="module")
def panel() -> PapersPanel:
    return PapersPanel("000-table-3")


def test_it_opens_with_a_row_and_what_its_call_returns(panel: PapersPanel) -> None:
    panel.row = "000-table-3"
    assert isinstance(panel.wait(60), pd.DataFrame)
    assert panel.error == ""
    assert "000-table-3: The machines" in panel.text
    assert panel.python == panel.chosen.call
    assert panel.python in panel.text


def test_a_press_on_a_row_draws_its_figure(panel: PapersPanel) -> None:
    panel.press("000-fig-10")
    figure = panel.wait(60)
    assert panel.chosen.id == panel.row == "000-fig-10"
    assert panel.figures == [figure.title.text]


def test_a_claim_shows_its_shipped_finding_at_once(panel: PapersPanel) -> None:
    panel.row = "000-claim-most-losses-converge-early"
    finding = panel.wait(10)
    assert finding == panel.chosen.finding
    assert panel.chosen.title == f"{finding.claim} ({finding.where})"


def test_lists_filter_the_table(panel: PapersPanel) -> None:
    panel.paper, panel.kind = "000", "table"
    assert {row.kind for row in panel.rows} == {"table"}
    assert panel.row.startswith("000-table-")
    assert set(panel.buttons) >= {row.id for row in panel.rows}
    assert "000-fig-8" not in panel.buttons
    panel.paper = panel.kind = ""
    assert "000-fig-8" in panel.buttons


def test_what_is_not_there_is_an_error(panel: PapersPanel) -> None:
    with pytest.raises(ParameterError, match="is not a known row"):
        panel.row = "000-fig-88"
    with pytest.raises(ParameterError, match="no row of a paper"):
        PapersPanel("000-fig-88")
