"""Verdicts from cases that hold or do not, and how the numbers of a finding are written."""

from __future__ import annotations

from tests.cases import for_each
from workbench.findings import Verdict, all_or_most, all_or_some, counted, graded, listed, span


@for_each(
    "holds, some, most",
    [
        ([True, True], "confirmed", "confirmed"),
        ([True, True, False], "partly", "partly"),
        ([True, False], "partly", "contradicted"),
        ([False], "contradicted", "contradicted"),
        # What was judged on no case is not confirmed.
        ([], "contradicted", "contradicted"),
    ],
)
def test_a_claim_on_all_cases_holds_in_all_in_some_or_in_none(
    holds: list[bool], some: Verdict, most: Verdict
) -> None:
    assert all_or_some(holds) == some
    assert all_or_most(holds) == most


def test_what_makes_a_claim_partly_true_may_be_something_else() -> None:
    assert graded([True, False], [True]) == "partly"
    assert graded([True, False], False) == "contradicted"
    assert graded(True, False) == "confirmed"


def test_numbers_are_written_as_ranges_counts_and_lists() -> None:
    assert span([3.0, 1.2, 2.0]) == "1 to 3"
    assert span([1.1, 0.9]) == "1"
    assert span([0.123], ".1f") == "0.1"
    assert counted([True, False, True], "machines") == "2 of 3 machines"
    assert counted([False]) == "0 of 1"
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "none",
        "a",
        "a and b",
        "a, b and c",
    ]
