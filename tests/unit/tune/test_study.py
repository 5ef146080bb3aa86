"""The study of searches on recorded spaces: its searches are experiments, its tables right."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.tune import study
from workbench.tune.recorded_files import Description, shipped_recording, write_recording
from workbench.tune.recorded_table import RecordedRun, RecordedTable
from workbench.tune.settings import Chosen, SearchSettings
from workbench.tune.space import Grid, TuningSpace
from workbench.tune.study import STOPPINGS, Noise, StudyPlan, run_study, search
from workbench.tune.study_files import load_study, save_study
from workbench.tune.study_result import HELD_OUT, SearchRow, StudyResult, read_rows

SPACE = TuningSpace({"x": Grid(tuple(range(20)))}, defaults={"x": 0})
PLAN = StudyPlan(
    ("valley",),
    heuristics=("random", "annealing"),
    resamplings=("none",),
    stoppings=("budget", "count 2 of 5"),
    noises=(Noise("normal", 0.01),),
    seeds=3,
    initial=4,
    budget=12,
)


@pytest.fixture
def valley(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording whose value is least, 1, at x = 13, and 14 at the default x = 0."""
    runs = tuple(
        RecordedRun(0, {"x": x}, 8, 2.0, {"time_us": 1.0 + abs(x - 13)}) for x in range(20)
    )
    write_recording(
        tmp_path / "valley",
        Description("valley", "a valley", "synthetic", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "valley"


def plan_at(folder: Path, **changes: object) -> StudyPlan:
    values = {**vars(PLAN), "recordings": (str(folder),), **changes}
    return StudyPlan(**values)


def found_in(result: StudyResult) -> set[tuple[object, ...]]:
    """Return the searches of a study without what a file holds to seven digits."""
    return {(*row.cell, row.stopping, row.seed, row.runs, row.best) for row in result.rows}


def test_a_search_is_that_of_an_experiment() -> None:
    from workbench.tune.replaying import replayed

    recorded = shipped_recording("simulated-12-ranks")["bcast/4096"]
    settings = SearchSettings(heuristic=Chosen("genetic"), initial=5, budget=25, seed=3)
    history, reason = search(recorded, settings, Noise("none"))["budget"]
    with replayed(recorded, "none", heuristic="genetic", initial=5, budget=25, seed=3) as other:
        # Two spaces of a recording are two experiments of a store.
        assert other.name == "bcast/4096-genetic-seed3"
        same = other.run().history
    assert history.keys == same.keys
    assert [run.value for run in history] == [run.value for run in same]
    assert "budget of 25" in reason


@pytest.mark.parametrize("label", ["best improvement 5", "count 2 of 5", "distance"])
def test_a_rule_ends_a_search_where_the_search_alone_would(label: str) -> None:
    recorded = shipped_recording("simulated-12-ranks")["reduce/65536"]
    settings = SearchSettings(heuristic=Chosen("annealing"), initial=4, budget=40, seed=1)
    noise = Noise("normal", 0.05)
    together = search(recorded, settings, noise, STOPPINGS)
    alone = search(recorded, settings, noise, {label: STOPPINGS[label]})
    assert set(together) == set(STOPPINGS)
    assert together[label][0].keys == alone[label][0].keys
    assert together[label][1] == alone[label][1]
    count = len(together[label][0])
    assert together["budget"][0].keys[:count] == together[label][0].keys


def test_intervals_are_those_of_the_mean_over_the_seeds(valley: Path) -> None:
    from workbench.tune.recorded_files import read_recording

    cell = ("valley", "sum/8", "random", "none", "none", 4, 12, "0123456789ab", "budget")
    rows = tuple(SearchRow(*cell, seed, 12, 12, 24.0, 1 + seed, 1 + seed) for seed in range(14))
    table = StudyResult(rows, {"valley": read_recording(valley)}).methods("best").iloc[0]
    gains = [100.0 * (1.0 - (1 + seed) / 14) for seed in range(14)]
    half = 1.96 * np.std(gains) / math.sqrt(14)
    assert table["gain"] == pytest.approx(np.mean(gains))
    # 2000 resamples of the bootstrap know its ends to some percent.
    assert table["gain_low"] == pytest.approx(np.mean(gains) - half, abs=0.1 * half)
    assert table["gain_high"] == pytest.approx(np.mean(gains) + half, abs=0.1 * half)
    assert table["runs_low"] == table["runs_high"] == 12.0


def test_the_table_of_a_known_study(valley: Path) -> None:
    from workbench.tune.recorded_files import read_recording

    recording = read_recording(valley)

    def row(seed: int, best: float, runs: int) -> SearchRow:
        return SearchRow(
            "valley",
            "sum/8",
            "random",
            "none",
            "none",
            4,
            12,
            "0123456789ab",
            "budget",
            seed,
            runs,
            runs,
            2.0 * runs,
            best,
            best,
        )

    result = StudyResult((row(0, 1.0, 5), row(1, 2.0, 15)), {"valley": recording})
    table = result.methods("best").iloc[0]
    assert table["potential"] == pytest.approx(100 * (1 - 1 / 14))
    assert table["gain"] == pytest.approx(100 * (1 - 1.5 / 14))
    assert table["share"] == pytest.approx(100 * (1 - 1.5 / 14) / (1 - 1 / 14))
    assert table["distance"] == pytest.approx(50.0)
    assert table["saved"] == pytest.approx(50.0)
    assert table["saved_grid"] == pytest.approx(50.0)
    assert table["tied"] == 50.0
    assert table["runs"] == 10.0
    assert table["delta_us"] == 0.5
    assert (table["spent_s"], table["exhaustive_s"], table["grid_s"]) == (20.0, 40.0, 40.0)
    assert math.isnan(table["spread_us"])
    assert table["gain_low"] <= table["gain"] <= table["gain_high"]


def test_the_held_out_repeats_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    least = {1: 13, 2: 6}
    runs = tuple(
        RecordedRun(number, {"x": x}, 8, 2.0, {"time_us": 1.0 + abs(x - at)})
        for number, at in least.items()
        for x in range(20)
    )
    write_recording(
        tmp_path / "two",
        Description("two", "two valleys", "measured", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    whole = {"heuristics": ("exhaustive",), "stoppings": ("budget",), "budget": 24, "seeds": 2}
    result = run_study(plan_at(tmp_path / "two", noises=(Noise(HELD_OUT),), **whole))
    # Seed 0 draws from the first repeats and finds 13, of which the second say 1 + 13 - 6; and so
    # does seed 1 the other way round. The second say 7 of the default, the first 14.
    assert [row.best for row in result.rows] == [8.0, 8.0]
    line = result.methods("best").iloc[0]
    kept = 100.0 * (1.0 - 0.5 * (8.0 / 7.0 + 8.0 / 14.0))
    assert line["gain"] == pytest.approx(kept)
    assert line["potential"] == pytest.approx(kept)
    assert (line["share"], line["distance"], line["tied"]) == pytest.approx((100.0, 0.0, 100.0))
    # By the repeats that they drew from, both would have found 1.
    measured = run_study(plan_at(tmp_path / "two", noises=(Noise(),), **whole))
    assert measured.methods("best").iloc[0]["potential"] > line["potential"]


def test_a_study_goes_on_where_it_was(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley)
    whole = run_study(plan, tmp_path / "whole.csv")
    assert len(whole.rows) == 2 * 2 * 3
    lines = (tmp_path / "whole.csv").read_text().splitlines(keepends=True)
    part = tmp_path / "part.csv"
    part.write_text("".join(lines[:9]) + lines[9][:20])
    cells: list[tuple[int, int]] = []
    again = run_study(plan, part, on_cell=lambda done, total: cells.append((done, total)))
    assert cells == [(2, 2)]
    assert sorted(part.read_text().splitlines()) == sorted(line.rstrip() for line in lines)
    assert len(again.rows) == len(whole.rows)
    assert len(read_rows(part)) == 12


def test_rows_of_another_study_are_not_taken_for_its_own(valley: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    plan = plan_at(valley, heuristics=("random",), seeds=1, budget=6)
    others = [
        replace(plan, budget=5),
        replace(plan, initial=5),
        # As many rows as the plan has, of another seed and not of every rule.
        replace(plan, seeds=2, stoppings=("budget",)),
    ]
    for other in others:
        run_study(other, rows)
    again = run_study(plan, rows)
    assert found_in(again) == found_in(run_study(plan))
    for one in (plan, *others):
        worked: list[tuple[int, int]] = []
        kept = run_study(one, rows, on_cell=lambda *cells, worked=worked: worked.append(cells))
        assert worked == []
        assert len(kept.rows) == one.seeds * len(one.stoppings)


def test_rows_of_a_recording_that_was_made_anew_are_not_taken(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley, heuristics=("random",), seeds=1, budget=6)
    rows = tmp_path / "rows.csv"
    before = run_study(plan, rows)
    runs = tuple(RecordedRun(0, {"x": x}, 8, 2.0, {"time_us": 30.0 - x}) for x in range(20))
    write_recording(
        valley,
        Description("valley", "a slope", "synthetic", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    study._loaded.cache_clear()
    after = run_study(plan, rows)
    assert {row.data for row in before.rows}.isdisjoint(row.data for row in after.rows)
    assert min(row.best for row in after.rows) >= 11.0


def test_a_file_of_rows_is_replaced_in_one_step(
    valley: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.csv"
    plan = plan_at(valley, heuristics=("random",), seeds=1, budget=4)
    run_study(plan, rows)
    before = rows.read_bytes()

    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        run_study(plan, rows)
    assert rows.read_bytes() == before


def test_a_space_that_no_recording_has_is_refused(valley: Path) -> None:
    with pytest.raises(ParameterError, match="spaces must be of sum/8; got 'sum/9'"):
        run_study(plan_at(valley, spaces=("sum/9",)))


def test_processes_find_the_same(valley: Path) -> None:
    plan = plan_at(valley, heuristics=("random",), seeds=2)
    assert set(run_study(plan, jobs=2).rows) == set(run_study(plan).rows)


def test_another_file_is_refused(valley: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParseError, match="the columns must be"):
        run_study(plan_at(valley), tmp_path / "rows.csv")


def test_tables_are_saved_and_read(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley)
    result = run_study(plan)
    save_study(tmp_path / "study", [result], [plan])
    tables = load_study(tmp_path / "study")
    assert tables.plans == (plan,)
    assert list(tables.methods["resampling"].unique()) == ["none"]
    for pick in ("expected", "best"):
        methods = tables.methods[tables.methods["pick"] == pick]
        np.testing.assert_allclose(methods["gain"], result.methods(pick)["gain"], rtol=1e-3)
    assert len(tables.cells) == 4
    assert len(tables.collectives) == 8
    path = tmp_path / "study" / "cells.csv"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(DatasetError, match="checksum"):
        load_study(tmp_path / "study")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"heuristics": ("luck",)}, "heuristics must be of"),
        ({"resamplings": ("often",)}, "resamplings must be of"),
        ({"stoppings": ("never",)}, "stoppings must be of"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"budget": 3}, "budget must be at least 4"),
    ],
)
def test_impossible_plans(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        plan_at(Path("valley"), **changes)


def test_held_out_repeats_must_be_there(valley: Path) -> None:
    with pytest.raises(ParameterError, match="two repeats or more of each"):
        run_study(plan_at(valley, noises=(Noise(HELD_OUT),)))


def test_impossible_noise() -> None:
    with pytest.raises(ParameterError, match="noise must be one of"):
        Noise("loud")
    with pytest.raises(ParameterError, match="scale must be"):
        Noise("normal", math.nan)
    with pytest.raises(ParameterError, match="noise normal needs a scale above 0; got 0"):
        Noise("normal")
    with pytest.raises(ParameterError, match="noise none has no scale; got 3"):
        Noise("none", 3.0)


def test_a_study_that_could_not_run_or_be_kept_is_refused(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley)
    for jobs in (0, 10**30):
        with pytest.raises(ParameterError, match="jobs must be"):
            run_study(plan, jobs=jobs)
    for rows in ("", tmp_path, tmp_path / "missing" / "rows.csv"):
        with pytest.raises(ParameterError, match="rows must be a file in a folder that exists"):
            run_study(plan, rows)
