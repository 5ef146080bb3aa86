"""The comparison that ships: it is what its plans give, and what its notes say of it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.tune.search_comparison.files import SearchComparisonTables, shipped_search_comparison
from workbench.tune.search_comparison.plan import HELD_OUT
from workbench.tune.search_comparison.run import compare_searches

FIGURES = ("gain", "distance", "saved", "saved_grid", "tied", "runs", "potential")


@pytest.fixture(scope="module")
def tables() -> SearchComparisonTables:
    return shipped_search_comparison()


@pytest.mark.parametrize(
    ("number", "space", "heuristic"),
    [
        (0, "allreduce/4096", "random"),
        (1, "reduce/65536", "genetic"),
        # The same functions with other settings.
        pytest.param(5, "bcast/1048576", "random", marks=pytest.mark.deep),
    ],
)
def test_a_part_run_again_gives_the_same(
    tables: SearchComparisonTables, number: int, space: str, heuristic: str
) -> None:
    plan = replace(
        tables.plans[number],
        recordings=tables.plans[number].recordings[:1],
        spaces=(space,),
        heuristics=(heuristic,),
        resamplings=tables.plans[number].resamplings[-1:],
    )
    again = compare_searches(plan).cells("best")
    shipped = tables.cells
    keys = ["recording", "noise", "heuristic", "resampling", "stopping", "pruning", "space"]
    both = again.merge(shipped, on=keys, suffixes=("", "_shipped"))
    assert len(both) == len(again) == len(plan.stoppings) * len(plan.prunings)
    for name in FIGURES:
        # The tables hold four digits.
        np.testing.assert_allclose(both[name], both[f"{name}_shipped"], rtol=1e-3, atol=1e-9)


def test_intervals_hold_their_means(tables: SearchComparisonTables) -> None:
    for table in (tables.methods, tables.collectives, tables.cells):
        names = ("gain",) if table is tables.cells else ("gain", "distance", "saved", "runs")
        for name in names:
            slack = 1e-3 * table[name].abs() + 1e-9
            assert (table[f"{name}_low"] <= table[name] + slack).all()
            assert (table[name] <= table[f"{name}_high"] + slack).all()
        # Other repeats may think more of what was found than of what was best in those drawn from.
        own = table[table["noise"] != HELD_OUT]
        assert (own["gain"] <= own["potential"] * (1 + 1e-3) + 1e-9).all()
        assert (table["saved"] <= table["saved_grid"] + 1e-9).all()


def test_every_plan_is_in_the_tables(tables: SearchComparisonTables) -> None:
    for table in (tables.methods, tables.collectives, tables.cells, tables.prunings):
        assert table["seeds"].min() >= 20
    for plan in tables.plans:
        for name in plan.recordings:
            rows = tables.methods[tables.methods["recording"] == name]
            for noise in plan.noises:
                found = rows[rows["noise"] == str(noise)]
                assert set(plan.heuristics) <= set(found["heuristic"])
                assert set(plan.resamplings) <= set(found["resampling"])
                assert set(plan.stoppings) <= set(found["stopping"])
                assert set(plan.prunings) <= set(found["pruning"])
    assert tables.provenance.origin == "simulated"


def test_what_pruning_changes_is_the_difference_of_two_methods(
    tables: SearchComparisonTables,
) -> None:
    keys = ["pick", "recording", "noise", "heuristic", "resampling", "stopping"]
    methods = tables.methods.set_index([*keys, "pruning"])
    assert len(tables.prunings)
    for _, row in tables.prunings.iterrows():
        where = tuple(row[keys])
        ours, plain = methods.loc[(*where, row["pruning"])], methods.loc[(*where, "none")]
        quicker = 100.0 * (1.0 - ours["spent_s"] / plain["spent_s"])
        # The mean of the seeds' ratios is near the ratio of their means; four digits are held.
        assert row["quicker"] == pytest.approx(quicker, abs=1.0)
        for name in ("gain", "share"):
            held = 1e-3 * max(abs(ours[name]), abs(plain[name]))
            assert row[f"{name}_change"] == pytest.approx(ours[name] - plain[name], abs=held)
        assert 0.0 <= row["pruned_low"] <= row["pruned"] <= row["pruned_high"] < 100.0 * 50.0 / 60.0
