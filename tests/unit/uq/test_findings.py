"""The claims of Wilke et al.: what ships, Table 4 in closed form, and other data that say else."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.uq.test_system_coverage import BY_HAND
from workbench import papers
from workbench.errors import ParameterError
from workbench.findings import VERDICTS
from workbench.uq import findings as module_of_findings
from workbench.uq.collectives import TableFour, closed_gather, closed_sd
from workbench.uq.collectives.table_four import PRINTED_HALF_MS, PRINTED_MS
from workbench.uq.collectives.validation import REPLICAS, SPREAD, TRUTH
from workbench.uq.findings import (
    _gather_is_precise,
    _small_runs_bracket_large_ones,
    _table_4_has_the_discrepancy,
    _wilson,
)


def table(half: float = 0.00337, noise: float = 0.08) -> TableFour:
    """Return a table whose printed ± is a share of its times."""
    times = 1e-3 * np.array(PRINTED_MS)
    sizes = 1024 * np.array([8, 16, 24, 32])
    closed, closed_half = closed_gather(65_536, sizes, TRUTH[0], closed_sd(SPREAD, 28, REPLICAS))
    return TableFour(
        sizes,
        times,
        half * times,
        closed,
        closed_half,
        times,
        half * times,
        noise * times,
        np.array([TRUTH[0], TRUTH[0]]),
        np.array([0.002, 0.002]),
    )


def test_the_closed_form_is_the_printed_table() -> None:
    sizes = 1024 * np.array([8, 16, 24, 32])
    times, half = closed_gather(65_536, sizes, TRUTH[0], closed_sd(SPREAD, 28, REPLICAS))
    np.testing.assert_allclose(1e3 * times, PRINTED_MS, atol=0.14)
    np.testing.assert_allclose(1e3 * half, PRINTED_HALF_MS, rtol=0.01)  # printed to 3 digits
    with pytest.raises(ParameterError, match="nodes"):
        closed_gather(1, sizes, 1e9, 0.1)
    with pytest.raises(ParameterError, match="tests"):
        closed_sd(0.1, 0, 20)


def test_the_explanation_has_the_numbers_of_the_table() -> None:
    text = table().explanation
    assert "1.8708 GB/s gives the printed times within 0.13 ms" in text
    assert "differs by 8 %" in text
    assert text.count(". ") == 1
    assert "TableFour(65536 nodes, 4 sizes" in repr(table())
    assert "± one more run" in table()._repr_html_()


def test_the_shipped_verdicts_have_rules_and_numbers() -> None:
    shipped = papers.PAPERS["004"].shipped_findings()
    assert len({one.name for one in shipped}) == len(shipped) == 13
    for one in shipped:
        assert one.verdict in VERDICTS
        assert one.rule and one.figure
        assert any(letter.isdigit() for letter in one.evidence)
    rows = papers.list(paper="004", kind="claim")
    judged = [row.verdict for row in rows if row.verdict]
    assert judged == [one.verdict for one in shipped]
    assert callable(module_of_findings)


def test_other_data_may_answer_otherwise() -> None:
    # Of two systems by hand only one has more nodes: three of its four medians are inside.
    found = _small_runs_bracket_large_ones(BY_HAND)
    assert found.verdict == "contradicted"
    assert "75 % of 4 medians" in found.evidence
    assert "less on a;" in found.evidence
    assert _table_4_has_the_discrepancy(table()).verdict == "contradicted"
    assert _table_4_has_the_discrepancy(table(half=0.08)).verdict == "confirmed"
    assert _gather_is_precise(table()).verdict == "cannot be told here"


def test_the_interval_of_a_share_is_wilsons() -> None:
    # Wilson (1927) for 9 of 10 and z = 1.645, from the roots of (p - 0.9)^2 = z^2 p (1 - p) / 10.
    low, high = _wilson(9, 10)
    for p in (low, high):
        assert (p - 0.9) ** 2 == pytest.approx(1.645**2 * p * (1 - p) / 10, rel=1e-9)
    assert low < 0.9 < high
