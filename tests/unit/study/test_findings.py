"""Claims of the paper, answered from the shipped studies and from ones made to say otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.findings import VERDICTS, Findings
from workbench.study import CellResult, StudyResult, findings, influence, shipped

Errors = Mapping[str, float]


@pytest.fixture(scope="module")
def losses() -> StudyResult:
    return shipped("which-loss")


@pytest.fixture(scope="module")
def older() -> StudyResult:
    """Return fits of all losses to all targets."""
    return shipped("which-loss-eager0")


@pytest.fixture(scope="module")
def regimes() -> StudyResult:
    return shipped("message-regimes").select(seed=(0, 1))


@pytest.fixture(scope="module")
def found(losses: StudyResult, regimes: StudyResult) -> Findings:
    influences = [influence("logp", configurations=16), influence("snappr", configurations=8)]
    more = [shipped("which-loss-seeds")]
    return findings([losses, *more], regimes, influences=influences)


def changed(study: StudyResult, errors: Callable[[CellResult], Errors]) -> StudyResult:
    """Return the study with other errors for some cells."""

    def other(cell: CellResult) -> CellResult:
        return dataclasses.replace(cell, rmspe={**cell.rmspe, **errors(cell)})

    return StudyResult(study.plan, tuple(map(other, study)))


def test_every_claim_has_a_rule_a_verdict_and_numbers(found: Findings) -> None:
    assert len(found) == 23
    for finding in found:
        assert finding.verdict in VERDICTS
        assert finding.rule
        assert any(character.isdigit() for character in finding.evidence)
        assert "nan" not in finding.evidence.replace("name", "")
        assert finding.claim in repr(found)
        assert found[finding.name] is finding
    assert found.to_frame()["name"].is_unique
    assert found._repr_html_().count("<tr>") == 24
    with pytest.raises(ParameterError, match="did you mean rmsre-ends-lowest"):
        found["rmsre-ends-lowes"]


def test_where_a_fit_was_repeated_the_numbers_are_over_its_seeds(found: Findings) -> None:
    assert "(seeds " in found["rmsre-is-most-consistent"].evidence
    assert "medians of 5 seeds" in found["joint-error-is-within-100"].evidence


def paper_like(cell: CellResult) -> Errors:
    """Return errors as the paper prints them, or nearly."""
    if cell.cell.target == "latency":
        return {"joint": 300.0, "latency": 25.0, "bandwidth": 500.0}
    if cell.cell.target == "bandwidth":
        return {"joint": 300.0, "latency": 500.0, "bandwidth": 15.0}
    if cell.cell.loss in ("rmsre", "rmspe"):
        return {"joint": 99.0, "latency": 101.0, "bandwidth": 97.0}
    return {"joint": 700.0, "latency": 973.0, "bandwidth": 33.0}


def unlike(cell: CellResult) -> Errors:
    """Return errors that contradict the paper."""
    relative = cell.cell.loss in ("rmsre", "rmspe")
    return {
        "joint": 200.0 if relative else 100.0,
        "latency": 90.0 if relative else 80.0,
        "bandwidth": 190.0 if relative else 85.0,
    }


ON_ERRORS = (
    "rmsre-is-most-consistent",
    "joint-error-is-within-100",
    "rmsre-balances-the-benchmarks",
    "absolute-losses-favour-bandwidth",
    "one-benchmark-alone-is-within-30",
    "every-loss-fits-bandwidth-alone",
    "one-benchmark-is-paid-for-by-the-other",
    "latency-fits-model-latency-better",
)


def halves(study: StudyResult, error: float) -> StudyResult:
    """Return fits to all sizes with 100 % of error, and to either half with this."""
    return changed(
        study, lambda cell: {"joint": 100.0 if cell.cell.regime == "all" else float(error)}
    )


@for_each(
    "errors, half, verdict",
    [(paper_like, 50.0, "confirmed"), (unlike, 150.0, "contradicted")],
)
def test_a_verdict_follows_the_numbers(
    older: StudyResult,
    regimes: StudyResult,
    errors: Callable[[CellResult], Errors],
    half: float,
    verdict: str,
) -> None:
    few = older.plan.machines[:2]
    found = findings(
        changed(older.select(machine=few), errors), halves(regimes.select(machine=few), half)
    )
    assert {name: found[name].verdict for name in ON_ERRORS} == dict.fromkeys(ON_ERRORS, verdict)
    pair = found["two-snapprs-beat-one-on-some"]
    assert pair.verdict == verdict
    assert f"the pair leaves {half:.0f} %" in pair.evidence


def test_the_error_of_two_halves_is_that_of_their_curve(regimes: StudyResult) -> None:
    from workbench.study.findings import _bolted_errors

    errors = _bolted_errors(regimes, "snappr")
    for machine, seed in zip(regimes.plan.machines[:2], (0, 1), strict=True):
        bolted = regimes.bolted("snappr", "snappr", machine=machine, seed=seed)
        np.testing.assert_allclose(errors.loc[machine, seed], bolted.rmspe["joint"], rtol=1e-12)


def test_a_study_that_lacks_a_cell_is_refused(older: StudyResult, regimes: StudyResult) -> None:
    with pytest.raises(ParameterError, match="no target here is named 'both'"):
        findings(older.select(target="latency"), regimes)
    labels = [one.label for one in regimes.plan.models if one.label != "hybrid"]
    plan = regimes.plan.replace(models=[regimes.plan.choice(label) for label in labels])
    without = StudyResult(plan, regimes.select(model=labels).cells)
    with pytest.raises(ParameterError, match=r"must be SNAPPR with node\.nic\.negligible_size"):
        findings(older, without)
