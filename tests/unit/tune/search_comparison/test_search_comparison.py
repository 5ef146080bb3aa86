"""The comparison of searches on recorded spaces: its searches are experiments, its tables right."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from workbench.errors import DatasetError, ParameterError, ParseError, StudyError
from workbench.storage.database import locate
from workbench.tasks import Progress, Task
from workbench.tune.initial_points import initial_points
from workbench.tune.recorded.files import Description, shipped_recording, write_recording
from workbench.tune.recorded.run_table import RecordedMeasurement, RecordedTable
from workbench.tune.search_comparison import run as search_run
from workbench.tune.search_comparison.files import SearchComparisonTables
from workbench.tune.search_comparison.plan import (
    HELD_OUT,
    PRUNINGS_COMPARED,
    STOPPINGS_COMPARED,
    AddedNoise,
    SearchComparisonPlan,
)
from workbench.tune.search_comparison.result import SearchComparisonResult
from workbench.tune.search_comparison.rows import SearchCell, SearchRow
from workbench.tune.search_comparison.run import compare_searches, search_recorded_space
from workbench.tune.settings import Chosen, SearchSettings
from workbench.tune.space.axes import Grid
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({"x": Grid(tuple(range(20)))}, defaults={"x": 0})
PLAN = SearchComparisonPlan(
    ("valley",),
    heuristics=("random", "annealing"),
    resamplings=("none",),
    stoppings=("budget", "count 2 of 5"),
    noises=(AddedNoise("normal", 0.01),),
    seeds=3,
    initial=4,
    budget=12,
)


@pytest.fixture
def valley(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording whose value is least, 1, at x = 13, and 14 at the default x = 0."""
    runs = tuple(
        RecordedMeasurement(0, {"x": x}, 8, 2.0, {"time_us": 1.0 + abs(x - 13)}) for x in range(20)
    )
    write_recording(
        tmp_path / "valley",
        Description("valley", "a valley", "synthetic", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "valley"


def plan_at(folder: Path, **changes: object) -> SearchComparisonPlan:
    values = {**vars(PLAN), "recordings": (str(folder),), **changes}
    return SearchComparisonPlan(**values)


OWN = tuple(each.name for each in fields(SearchRow) if each.name != "cell")
NOT_IN_EARLIER = ("pruning", "pruned", "average", "steps", "reruns")
CELL = SearchCell("valley", "sum/8", "random", "none", "none", "none", 4, 12, "0123456789ab")


def row(seed: int, best: float, runs: int, seconds: float, **changes: object) -> SearchRow:
    """Return a search by the budget in the valley; changes are of its cell, or ``pruned``."""
    pruned = int(str(changes.pop("pruned", 0)))
    cell = CELL._replace(**changes)
    return SearchRow(cell, "budget", seed, runs, pruned, runs, seconds, best, best)


def found_in(result: SearchComparisonResult) -> set[tuple[object, ...]]:
    """Return the searches of a comparison without what a file holds to seven digits."""
    return {(one.cell, one.stopping, one.seed, one.runs, one.best) for one in result.rows}


def test_a_search_is_that_of_an_experiment() -> None:
    from workbench.tune.recorded.replayed_experiment import replayed

    recorded = shipped_recording("simulated-12-ranks")["bcast/4096"]
    settings = SearchSettings(heuristic=Chosen("genetic"), initial=5, budget=25, seed=3)
    history, reason = search_recorded_space(recorded, settings, AddedNoise("none"))["budget"]
    with replayed(recorded, "none", heuristic="genetic", initial=5, budget=25, seed=3) as other:
        # Two spaces of a recording are two experiments of a store.
        assert other.name == "bcast/4096-genetic-seed3"
        same = other.run().history
    assert history.keys == same.keys
    assert [run.value for run in history] == [run.value for run in same]
    assert "budget of 25" in reason


@for_each("label", [name for name in PRUNINGS_COMPARED if name != "none"])
def test_pruned_runs_are_charged_as_in_an_experiment(label: str) -> None:
    from workbench.tune.recorded.replayed_experiment import replayed

    recorded = shipped_recording("simulated-576-ranks")["reduce/65536"]
    rule = PRUNINGS_COMPARED[label]
    settings = SearchSettings(Chosen("random"), initial=5, budget=25, seed=3, pruning=rule)
    history, _ = search_recorded_space(recorded, settings, AddedNoise("none"))["budget"]
    options = {"heuristic": "random", "initial": 5, "budget": 25, "seed": 3, "pruning": rule}
    with replayed(recorded, "none", **options) as other:
        result = other.run()
    assert history.keys == result.history.keys
    assert history.statuses == result.history.statuses
    assert history.seconds.tolist() == result.history.seconds.tolist()
    ended = [record for record in result.records if record.run.status == "pruned"]
    assert ended and not any(record.run.initial for record in ended)
    for record in ended:
        whole = float(np.median(recorded.repeats(record.run.configuration)[1]))
        assert record.run.seconds == record.limit_s < whole
        assert math.isnan(record.run.value)
    # The same runs without a limit take longer by what lies beyond it, and by nothing else.
    plain, _ = search_recorded_space(
        recorded, replace(settings, pruning=Chosen("none")), AddedNoise("none")
    )["budget"]
    assert plain.keys == history.keys
    beyond = sum(
        float(np.median(recorded.repeats(record.run.configuration)[1])) - float(record.limit_s or 0)
        for record in ended
    )
    assert plain.seconds.sum() - history.seconds.sum() == pytest.approx(beyond)


@for_each("label", ["best improvement 5", "count 2 of 5", "distance"])
def test_a_rule_ends_a_search_where_the_search_alone_would(label: str) -> None:
    recorded = shipped_recording("simulated-12-ranks")["reduce/65536"]
    settings = SearchSettings(heuristic=Chosen("annealing"), initial=4, budget=40, seed=1)
    noise = AddedNoise("normal", 0.05)
    together = search_recorded_space(recorded, settings, noise, STOPPINGS_COMPARED)
    alone = search_recorded_space(recorded, settings, noise, {label: STOPPINGS_COMPARED[label]})
    assert set(together) == set(STOPPINGS_COMPARED)
    assert together[label][0].keys == alone[label][0].keys
    assert together[label][1] == alone[label][1]
    count = len(together[label][0])
    assert together["budget"][0].keys[:count] == together[label][0].keys


def test_intervals_are_those_of_the_mean_over_the_seeds(valley: Path) -> None:
    from workbench.tune.recorded.files import read_recording

    rows = tuple(row(seed, 1 + seed, 12, 24.0) for seed in range(14))
    table = SearchComparisonResult(rows, {"valley": read_recording(valley)}).methods("best").iloc[0]
    gains = [100.0 * (1.0 - (1 + seed) / 14) for seed in range(14)]
    half = 1.96 * np.std(gains) / math.sqrt(14)
    assert table["gain"] == pytest.approx(np.mean(gains))
    # 2000 resamples of the bootstrap know its ends to some percent.
    assert table["gain_low"] == pytest.approx(np.mean(gains) - half, abs=0.1 * half)
    assert table["gain_high"] == pytest.approx(np.mean(gains) + half, abs=0.1 * half)
    assert table["runs_low"] == table["runs_high"] == 12.0


def test_the_table_of_a_known_comparison(valley: Path) -> None:
    from workbench.tune.recorded.files import read_recording

    recording = read_recording(valley)
    rows = (row(0, 1.0, 5, 10.0), row(1, 2.0, 15, 30.0))
    result = SearchComparisonResult(rows, {"valley": recording})
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


def test_what_pruning_saves_is_measured_by_the_same_searches_without_it(valley: Path) -> None:
    from workbench.tune.recorded.files import read_recording

    plain = (row(0, 1.0, 10, 20.0), row(1, 8.0, 10, 40.0))
    pruned = (
        row(0, 2.0, 10, 18.0, pruning="median", pruned=2),
        row(1, 9.0, 10, 36.0, pruning="median", pruned=4),
        # None of these has a partner: another seed, another budget, another recorded file.
        row(2, 5.0, 10, 1.0, pruning="median", pruned=4),
        row(0, 5.0, 10, 1.0, pruning="median", budget=13, pruned=4),
        row(0, 5.0, 10, 1.0, pruning="median", data="another", pruned=4),
    )
    result = SearchComparisonResult((*plain, *pruned), {"valley": read_recording(valley)})
    [line] = result.prunings("best").to_dict("records")
    assert (line["pruning"], line["stopping"], line["spaces"], line["seeds"]) == (
        *("median", "budget"),
        *(1, 2),
    )
    assert line["pruned"] == pytest.approx(30.0)
    assert (line["pruned_low"], line["pruned_high"]) == pytest.approx((20.0, 40.0))
    assert (line["quicker"], line["quicker_low"]) == pytest.approx((10.0, 10.0))
    # The gains of the two seeds lie far apart, what pruning changes in them does not.
    gains, shares = (
        [line[f"{name}_change{end}"] for end in ("", "_low", "_high")] for name in ("gain", "share")
    )
    assert gains == pytest.approx([-100.0 / 14.0] * 3)
    assert shares == pytest.approx([-100.0 / 13.0] * 3)
    assert not len(SearchComparisonResult(plain, result.recordings).prunings())


def test_what_was_known_of_a_configuration_stays_when_its_repeats_are_ended(
    valley: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRUNINGS_COMPARED, "median", Chosen("fixed", {"seconds": 1.0}))
    changes = {"prunings": ("median",), "initial": 2, "budget": 60, "heuristics": ("random",)}
    quiet = {"stoppings": ("budget",), "noises": (AddedNoise("none"),)}
    result = compare_searches(plan_at(valley, **quiet, **changes))
    # The initial points alone are not ended; all 20 places are tried again, they among them.
    assert {one.pruned for one in result.rows} == {58}
    assert {one.seconds for one in result.rows} == {2 * 2.0 + 58 * 1.0}
    for one in result.rows:
        began = initial_points(SPACE, 2, seed=one.seed)
        assert one.best == min(1.0 + abs(int(point["x"] or 0) - 13) for point in began)


def test_the_held_out_repeats_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    least = {1: 13, 2: 6}
    runs = tuple(
        RecordedMeasurement(number, {"x": x}, 8, 2.0, {"time_us": 1.0 + abs(x - at)})
        for number, at in least.items()
        for x in range(20)
    )
    write_recording(
        tmp_path / "two",
        Description("two", "two valleys", "measured", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    whole = {"heuristics": ("exhaustive",), "stoppings": ("budget",), "budget": 24, "seeds": 2}
    result = compare_searches(plan_at(tmp_path / "two", noises=(AddedNoise(HELD_OUT),), **whole))
    # Seed 0 draws from the first repeats and finds 13, of which the second say 1 + 13 - 6; and so
    # does seed 1 the other way round. The second say 7 of the default, the first 14.
    assert [one.best for one in result.rows] == [8.0, 8.0]
    line = result.methods("best").iloc[0]
    kept = 100.0 * (1.0 - 0.5 * (8.0 / 7.0 + 8.0 / 14.0))
    assert line["gain"] == pytest.approx(kept)
    assert line["potential"] == pytest.approx(kept)
    assert (line["share"], line["distance"], line["tied"]) == pytest.approx((100.0, 0.0, 100.0))
    # By the repeats that they drew from, both would have found 1.
    measured = compare_searches(plan_at(tmp_path / "two", noises=(AddedNoise(),), **whole))
    assert measured.methods("best").iloc[0]["potential"] > line["potential"]


def test_a_comparison_goes_on_where_it_was(valley: Path, tmp_path: Path) -> None:
    plan, rows = plan_at(valley), tmp_path / "rows.db"
    part = compare_searches(replace(plan, heuristics=("random",), seeds=2), rows)
    assert len(part.rows) == 1 * 2 * 2
    cells: list[tuple[int, int]] = []
    task = Task(lambda now: cells.append((now.done, now.total)))
    whole = compare_searches(plan, rows, task=task)
    assert cells == [(2, 6), (3, 6), (6, 6)]
    assert whole.rows == compare_searches(plan).rows
    assert len(whole.rows) == 2 * 2 * 3
    stopped = Task()
    stopped.stop()
    again = compare_searches(replace(plan, seeds=4), rows, task=stopped)
    assert again.rows == whole.rows


def test_searches_of_a_release_with_other_digits_are_refused(
    valley: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, rows = plan_at(valley), tmp_path / "rows.db"
    compare_searches(plan, rows)
    monkeypatch.setattr(search_run, "_value", lambda *_: 1.0 + 2e-16)
    compare_searches(plan, rows)  # it is only read
    with pytest.raises(StudyError, match="this release computes differently"):
        compare_searches(replace(plan, seeds=4), rows)


def test_searches_that_another_process_runs_are_left_to_it(valley: Path, tmp_path: Path) -> None:
    plan, rows = plan_at(valley), tmp_path / "rows.db"
    [held, _] = search_run._pieces(plan)
    place = locate(rows)
    place.prepare()
    with place.hold(f"{search_run._name(held)} 0 to 2"):
        told: list[Progress] = []
        with pytest.raises(StudyError, match="only 3 of 6 searches: run by another notebook"):
            compare_searches(plan, rows, task=Task(told.append))
        assert [now.done for now in told] == [0, 0, 3, 3]
    assert compare_searches(plan, rows, task=Task(told.append)).rows == compare_searches(plan).rows
    assert [now.done for now in told[4:]] == [3, 6]


def csv_of(result: SearchComparisonResult, without: Sequence[str] = ()) -> str:
    """Return searches as earlier releases wrote them, with or without some columns."""
    names = [name for name in (*SearchCell._fields, *OWN) if name not in without]
    lines = [",".join(names)]
    for one in result.rows:
        values = {**one.cell._asdict(), **{name: getattr(one, name) for name in OWN}}
        lines.append(
            ",".join(
                f"{values[name]:.7g}" if isinstance(values[name], float) else str(values[name])
                for name in names
            )
        )
    return "".join(f"{line}\n" for line in lines)


def test_a_csv_file_is_read_and_continued_in_a_database(valley: Path, tmp_path: Path) -> None:
    plan, rows = plan_at(valley), tmp_path / "rows.csv"
    whole = compare_searches(plan)
    lines = csv_of(whole).splitlines(keepends=True)
    written = "".join(lines[:9]) + lines[9][:20]
    rows.write_text(written)
    cells: list[tuple[int, int]] = []
    task = Task(lambda now: cells.append((now.done, now.total)))
    for told in ([(4, 6), (6, 6)], [(6, 6)]):
        cells.clear()
        assert found_in(compare_searches(plan, rows, task=task)) == found_in(whole)
        assert cells == told
    assert rows.read_text() == written
    assert (tmp_path / "rows.db").is_file()
    # Seven digits are not compared with what this release computes.
    assert len(compare_searches(replace(plan, seeds=4), rows).rows) == 2 * 2 * 4
    compare_searches(plan, tmp_path / "new.csv")
    assert {path.suffix for path in tmp_path.glob("new*")} == {".db"}


def test_rows_of_earlier_comparisons_are_read(valley: Path, tmp_path: Path) -> None:
    plan, rows = plan_at(valley), tmp_path / "rows.csv"
    whole = compare_searches(plan)
    rows.write_text(csv_of(whole, NOT_IN_EARLIER))
    worked: list[Progress] = []
    again = compare_searches(plan, rows, task=Task(worked.append))
    assert [(now.done, now.total) for now in worked] == [(6, 6)]
    assert found_in(again) == found_in(whole)
    assert all(math.isnan(one.average) and one.steps == math.inf for one in again.rows)
    # A measure that no search has is no column.
    assert "average" not in again.methods() and "average" in whole.methods()


def test_the_trajectory_is_measured_by_the_judges_values() -> None:
    recorded = shipped_recording("simulated-12-ranks")["bcast/4096"]
    plan = SearchComparisonPlan(
        ("simulated-12-ranks",),
        spaces=("bcast/4096",),
        heuristics=("random",),
        resamplings=("none",),
        stoppings=("budget",),
        noises=(AddedNoise("normal", 0.2),),
        seeds=3,
        budget=15,
    )
    compared = compare_searches(plan)
    settings = SearchSettings(Chosen("random"), initial=10, budget=15, seed=1, most_runs=None)
    history, _ = search_recorded_space(recorded, settings, plan.noises[0])["budget"]
    excess = [recorded.median(run.configuration) / recorded.optimum_value - 1.0 for run in history]
    (one,) = (row for row in compared.rows if row.seed == 1)
    assert one.average == pytest.approx(100.0 * sum(excess) / len(excess))
    near = [at for at, each in enumerate(excess, 1) if each <= 0.05]
    assert one.steps == (near[0] if near else math.inf)
    table = compared.methods().iloc[0]
    assert table["near"] == pytest.approx(
        100.0 * sum(math.isfinite(row.steps) for row in compared.rows) / 3
    )


def test_runs_again_judge_what_was_found() -> None:
    plan = replace(PLAN, recordings=("simulated-12-ranks",), spaces=("bcast/4096",))
    plan = replace(plan, noises=(AddedNoise("normal", 0.05),), heuristics=("random",), seeds=3)
    plain, again = (compare_searches(replace(plan, reruns=n)) for n in (0, 100))
    for one, other in zip(plain.rows, again.rows, strict=True):
        assert one.runs == other.runs and one.seconds == other.seconds
        # The standard error of a median of 100 runs with 5 % of noise is 0.6 %.
        assert one.best != other.best
        assert other.best == pytest.approx(one.best, rel=0.03)


def test_rows_of_another_comparison_are_not_taken_for_its_own(valley: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.db"
    plan = plan_at(valley, heuristics=("random",), seeds=1, budget=6)
    others = [
        replace(plan, budget=5),
        replace(plan, initial=5),
        replace(plan, reruns=3),
        # As many rows as the plan has, of another seed and not of every rule.
        replace(plan, seeds=2, stoppings=("budget",)),
    ]
    for other in others:
        compare_searches(other, rows)
    again = compare_searches(plan, rows)
    assert found_in(again) == found_in(compare_searches(plan))
    for one in (plan, *others):
        worked: list[Progress] = []
        kept = compare_searches(one, rows, task=Task(worked.append))
        assert [(now.done, now.total) for now in worked] == [(one.seeds, one.seeds)]
        assert len(kept.rows) == one.seeds * len(one.stoppings)


def test_rows_of_a_recording_that_was_made_anew_are_not_taken(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley, heuristics=("random",), seeds=1, budget=6)
    rows = tmp_path / "rows.db"
    before = compare_searches(plan, rows)
    runs = tuple(RecordedMeasurement(0, {"x": x}, 8, 2.0, {"time_us": 30.0 - x}) for x in range(20))
    write_recording(
        valley,
        Description("valley", "a slope", "synthetic", "made by a test"),
        [RecordedTable("sum", SPACE, ("time_us",), "time_us", runs)],
    )
    search_run._loaded.cache_clear()
    after = compare_searches(plan, rows)
    assert {one.cell.data for one in before.rows}.isdisjoint(one.cell.data for one in after.rows)
    assert min(one.best for one in after.rows) >= 11.0


def test_a_space_that_no_recording_has_is_refused(valley: Path) -> None:
    with pytest.raises(ParameterError, match="spaces must be of sum/8; got 'sum/9'"):
        compare_searches(plan_at(valley, spaces=("sum/9",)))


def test_processes_find_the_same(valley: Path) -> None:
    plan = plan_at(valley, heuristics=("random",), seeds=2)
    assert set(compare_searches(plan, jobs=2).rows) == set(compare_searches(plan).rows)


def test_another_file_is_refused(valley: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParseError, match="the columns must be"):
        compare_searches(plan_at(valley), tmp_path / "rows.csv")


def test_tables_are_saved_and_read(valley: Path, tmp_path: Path) -> None:
    plan = plan_at(valley)
    result = compare_searches(plan)
    SearchComparisonTables.from_results([result], [plan]).save(tmp_path / "comparison")
    tables = SearchComparisonTables.load(tmp_path / "comparison")
    assert tables.plans == (plan,)
    assert list(tables.methods["resampling"].unique()) == ["none"]
    for pick in ("expected", "best"):
        methods = tables.methods[tables.methods["pick"] == pick]
        np.testing.assert_allclose(methods["gain"], result.methods(pick)["gain"], rtol=1e-3)
    assert len(tables.cells) == 4
    assert len(tables.collectives) == 8
    assert not len(tables.prunings)
    path = tmp_path / "comparison" / "cells.csv"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(DatasetError, match="checksum"):
        SearchComparisonTables.load(tmp_path / "comparison")


def test_partners_of_another_plan_are_found_and_older_tables_read(
    valley: Path, tmp_path: Path
) -> None:
    plans = [
        plan_at(valley, prunings=(name,), stoppings=("budget",)) for name in ("none", "median")
    ]
    folder = tmp_path / "comparison"
    results = [compare_searches(plan) for plan in plans]
    SearchComparisonTables.from_results(results, plans).save(folder)
    tables = SearchComparisonTables.load(folder)
    assert tables.plans == tuple(plans)
    assert set(tables.methods["pruning"]) == {"none", "median"}
    assert tables.prunings[["pick", "heuristic", "pruning"]].to_numpy().tolist() == [
        [pick, heuristic, "median"]
        for pick in ("expected", "best")
        for heuristic in plans[0].heuristics
    ]
    # A comparison that was saved before pruning was compared has no such column, table or field.
    package = json.loads((folder / "datapackage.json").read_text())
    for resource in package["resources"]:
        table = pd.read_csv(folder / resource["path"], dtype=str, keep_default_na=False)
        data = table.drop(columns="pruning").to_csv(index=False).encode()
        (folder / resource["path"]).write_bytes(data)
        resource["hash"] = f"sha256:{hashlib.sha256(data).hexdigest()}"
    package["resources"] = package["resources"][:3]
    for plan in package["plans"]:
        del plan["prunings"]
    (folder / "datapackage.json").write_text(json.dumps(package))
    older = SearchComparisonTables.load(folder)
    assert set(older.methods["pruning"]) == {"none"}
    assert list(older.cells.columns) == list(tables.cells.columns)
    assert list(older.prunings.columns) == list(tables.prunings.columns)
    assert {plan.prunings for plan in older.plans} == {("none",)}


@for_each(
    "changes, says",
    [
        ({"heuristics": ("luck",)}, "heuristics must be of"),
        ({"resamplings": ("often",)}, "resamplings must be of"),
        ({"stoppings": ("never",)}, "stoppings must be of"),
        ({"prunings": ("always",)}, "prunings must be of"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"budget": 3}, "budget must be a whole number of at least 4"),
    ],
)
def test_impossible_plans(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        plan_at(Path("valley"), **changes)


def test_held_out_repeats_must_be_there(valley: Path) -> None:
    with pytest.raises(ParameterError, match="two repeats or more of each"):
        compare_searches(plan_at(valley, noises=(AddedNoise(HELD_OUT),)))


def test_impossible_noise() -> None:
    with pytest.raises(ParameterError, match="noise must be one of"):
        AddedNoise("loud")
    with pytest.raises(ParameterError, match="scale must be"):
        AddedNoise("normal", math.nan)
    with pytest.raises(ParameterError, match="noise normal needs a scale above 0; got 0"):
        AddedNoise("normal")
    with pytest.raises(ParameterError, match="noise none has no scale; got 3"):
        AddedNoise("none", 3.0)


def test_a_comparison_that_could_not_run_or_be_kept_is_refused(
    valley: Path, tmp_path: Path
) -> None:
    plan = plan_at(valley)
    for jobs in (0, 10**30):
        with pytest.raises(ParameterError, match="jobs must be"):
            compare_searches(plan, jobs=jobs)
    for rows, says in (
        ("", "must be a file"),
        (tmp_path, "is a folder"),
        (tmp_path / "missing" / "rows.db", "the folder .*missing must exist"),
    ):
        with pytest.raises(StudyError, match=says):
            compare_searches(plan, rows)
