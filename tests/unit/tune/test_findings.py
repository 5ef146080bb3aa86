"""Claims of the paper, answered from the shipped comparison and from one made to say otherwise."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.findings import VERDICTS
from workbench.tune import SearchComparisonTables, findings, shipped_search_comparison


@pytest.fixture(scope="module")
def tables() -> SearchComparisonTables:
    return shipped_search_comparison()


def changed(tables: SearchComparisonTables, name: str, **columns: Any) -> SearchComparisonTables:
    """Return the tables with other values in the columns of one of them."""
    table = getattr(tables, name).assign(**columns)
    return dataclasses.replace(tables, **{name: table})


def test_every_claim_has_a_verdict_with_numbers(tables: SearchComparisonTables) -> None:
    found = findings(tables)
    assert len({finding.name for finding in found}) == len(found) == 17
    for finding in found:
        assert finding.verdict in VERDICTS
        assert any(character.isdigit() for character in finding.evidence), finding.name
        assert "nan" not in finding.evidence, finding.name


def test_the_paper_s_scale_adds_the_claims_on_trajectories(tables: SearchComparisonTables) -> None:
    scale = shipped_search_comparison("paper-scale")
    (plan,) = scale.plans
    assert (plan.budget, plan.initial, plan.reruns) == (150, 10, 100)
    assert set(scale.cells.groupby(["recording", "heuristic"]).size()) == {3 * 9}
    found = findings(tables, scale=scale)
    assert len(found) == 20
    assert "100 of what was found" in found["gains-94-percent-at-the-paper-s-scale"].evidence
    poor = changed(scale, "methods", share=90.0, steps=40.0, average=1.0)
    poor = changed(poor, "methods", distance=1.0 * (poor.methods["heuristic"] != "random"))
    for name in (
        "gains-94-percent-at-the-paper-s-scale",
        "near-the-optimum-within-40-runs",
        "surrogates-trade-off-best",
    ):
        assert found[name].verdict == "confirmed"
        assert findings(tables, scale=poor)[name].verdict == "contradicted"
    with pytest.raises(ParameterError, match="must have trajectories"):
        findings(tables, scale=tables)


def test_the_share_on_what_was_measured_is_told_beside_the_paper_s(
    tables: SearchComparisonTables,
) -> None:
    finding = findings(tables)["gains-94-percent"]
    rows = tables.methods
    rows = rows[(rows["recording"] == "open-mpi-4-ranks") & (rows["noise"] == "measured")]
    rows = rows[(rows["heuristic"] == "surrogate-gp") & (rows["resampling"] == "none")]
    rows = rows[rows["stopping"] == "best improvement 15"].set_index("pick")["share"]
    assert finding.verdict == "partly"
    assert "94 %" in finding.claim
    assert f"open-mpi-4-ranks {rows['best']:.0f} (" in finding.evidence
    assert f"open-mpi-4-ranks {rows['expected']:.0f} (" in finding.evidence


def test_of_what_the_95_percent_are_is_told_as_an_inference(tables: SearchComparisonTables) -> None:
    evidence = findings(tables)["saves-95-percent"].evidence
    assert "does not say" in evidence and "inferred" in evidence
    assert "against each configuration that differs once" in evidence


@for_each(
    "name, table, columns, verdict",
    [
        ("gains-94-percent", "methods", {"share": 94.0}, "confirmed"),
        ("gains-94-percent", "methods", {"share": 93.9}, "contradicted"),
        ("saves-95-percent", "methods", {"saved_grid": 95.0}, "confirmed"),
        ("saves-95-percent", "methods", {"saved_grid": 94.0}, "contradicted"),
        ("saves-85-percent-of-each-collective", "collectives", {"saved_grid": 86}, "confirmed"),
        ("saving-is-uniform", "collectives", {"saved_grid": 50.0}, "confirmed"),
        ("gains-48-percent", "methods", {"gain": 48.4}, "confirmed"),
        ("gains-48-percent", "methods", {"gain": -1.0, "gain_low": -2.0}, "contradicted"),
        ("gain-depends-on-each-parameter", "cells", {"gain_high": 99.0}, "contradicted"),
        ("gains-more-with-one-process-a-core", "methods", {"gain": 10.0}, "contradicted"),
        ("gains-more-with-one-process-a-core", "methods", {"gain_low": 0.0}, "partly"),
        ("differs-by-less-than-noise", "methods", {"delta_us_high": 9.0}, "partly"),
        ("differs-by-less-than-noise", "methods", {"delta_us": 9.0}, "contradicted"),
        ("below-noise-for-105-of-160", "cells", {"delta_us": 0.0}, "confirmed"),
        ("below-noise-for-105-of-160", "cells", {"delta_us": 1e9}, "contradicted"),
        ("below-noise-for-all-but-allreduce", "collectives", {"delta_us_high": 0.0}, "confirmed"),
        ("below-noise-for-all-but-allreduce", "collectives", {"spread_us": 0.0}, "contradicted"),
        ("within-4-percent-of-the-optimum", "cells", {"distance": 3.9}, "confirmed"),
        ("within-4-percent-of-the-optimum", "cells", {"distance": 4.0}, "contradicted"),
        ("surrogates-beat-random-by-far", "methods", {"distance_low": 0.0}, "contradicted"),
        ("best-heuristic-depends-on-the-system", "methods", {"share_high": 0.0}, "contradicted"),
        ("a-budget-wastes-runs", "methods", {"share_high": 100.0}, "confirmed"),
        ("a-budget-wastes-runs", "methods", {"runs": 60.0}, "contradicted"),
        ("resampling-helps-under-noise", "methods", {"share_high": 0.0}, "confirmed"),
        ("pruning-saves-time", "prunings", {"share_change_high": 0.0}, "confirmed"),
        ("pruning-saves-time", "prunings", {"quicker_low": 0.0}, "contradicted"),
    ],
)
def test_a_verdict_follows_the_numbers(
    tables: SearchComparisonTables, name: str, table: str, columns: dict[str, Any], verdict: str
) -> None:
    assert findings(changed(tables, table, **columns))[name].verdict == verdict


def test_a_heuristic_that_is_first_on_one_recording_alone_confirms_that_it_depends(
    tables: SearchComparisonTables,
) -> None:
    rows = tables.methods
    mine = (rows["recording"] == "open-mpi-4-ranks") == (rows["heuristic"] == "random")
    better = changed(tables, "methods", share=100.0 * mine, share_low=99.0 * mine)
    better = changed(better, "methods", share_high=100.0 * mine)
    assert findings(better)["best-heuristic-depends-on-the-system"].verdict == "confirmed"


@for_each(
    "table, row, message",
    [
        ("methods", "heuristic", "must have searches with heuristic surrogate-gp"),
        ("prunings", "pruning", "must have searches that prune"),
    ],
)
def test_a_comparison_that_lacks_a_search_is_refused(
    tables: SearchComparisonTables, table: str, row: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        findings(changed(tables, table, **{row: "another"}))


def test_a_comparison_without_a_measured_or_simulated_recording_is_refused(
    tables: SearchComparisonTables,
) -> None:
    simulated = tables.methods[tables.methods["noise"] != "measured"]
    with pytest.raises(ParameterError, match="of a measured recording"):
        findings(dataclasses.replace(tables, methods=simulated))
    with pytest.raises(ParameterError, match="searches of simulated-12-ranks"):
        findings(changed(tables, "methods", recording="mine"))
