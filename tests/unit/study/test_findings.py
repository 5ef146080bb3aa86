"""Claims of the paper, answered from the shipped studies and from one made to say otherwise."""

from __future__ import annotations

import dataclasses

import pytest

from workbench.errors import ParameterError
from workbench.study import CellResult, StudyResult, findings, shipped


@pytest.fixture(scope="module")
def losses() -> StudyResult:
    return shipped("which-loss")


@pytest.fixture(scope="module")
def regimes() -> StudyResult:
    return shipped("message-regimes")


def changed(study: StudyResult, **errors: dict[str, float]) -> StudyResult:
    """Return the study with other errors for the cells of some losses."""

    def other(cell: CellResult) -> CellResult:
        return dataclasses.replace(cell, rmspe={**cell.rmspe, **errors.get(cell.cell.loss, {})})

    return StudyResult(study.plan, tuple(map(other, study)))


def test_every_claim_has_a_verdict_with_numbers(losses: StudyResult, regimes: StudyResult) -> None:
    found = findings(losses, regimes)
    assert len(found) == 11
    for finding in found:
        assert finding.verdict in ("confirmed", "partly", "contradicted")
        assert any(character.isdigit() for character in finding.evidence)
        assert finding.claim in repr(found)
    assert found.to_frame()["claim"].is_unique
    assert found._repr_html_().count("<tr>") == 12


def test_a_verdict_follows_the_numbers(losses: StudyResult, regimes: StudyResult) -> None:
    even = findings(losses, regimes).findings[0]
    assert even.verdict in ("confirmed", "partly")
    poor = changed(losses, rmsre={"joint": 9000.0}, rmspe={"joint": 9000.0})
    assert findings(poor, regimes).findings[0].verdict == "contradicted"
    assert findings(poor, regimes).findings[1].verdict == "contradicted"
    assert "9000 % over all machines" not in findings(poor, regimes).findings[0].evidence


def test_a_study_that_lacks_a_cell_is_refused(losses: StudyResult, regimes: StudyResult) -> None:
    with pytest.raises(ParameterError, match="no target here is named 'both'"):
        findings(losses.select(target="latency"), regimes)
