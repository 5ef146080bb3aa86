"""Results: selected, laid out in tables, saved and loaded to the last bit."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from tests.unit.study.plans import MACHINES, small_plan
from workbench import datasets
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.fit import rmspe_by_target
from workbench.study import StudyPlan, StudyResult, run, shipped, status


@pytest.fixture(scope="module")
def plan() -> StudyPlan:
    held = {"label": "small-packets", "model": "snappr", "values": {"node.nic.mtu": "512B"}}
    return small_plan(targets=("both", "latency"), models=("logp", held), losses=("rmsre",))


@pytest.fixture(scope="module")
def result(plan: StudyPlan, tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    path = tmp_path_factory.mktemp("study") / "s.db"
    run(plan.replace(targets=("both",)), path, workers=1)
    return StudyResult.read(plan, path)


def test_a_table_lays_out_one_number_a_cell(result: StudyResult) -> None:
    table = result.select(target="both").table(rows="model", value="latency")
    assert table.index.tolist() == ["logp", "small-packets"]
    assert table.columns.tolist() == list(MACHINES)
    for cell in result.select(target="both"):
        errors = rmspe_by_target(cell.simulated(), cell.measured())
        assert cell.rmspe == errors
        assert table.loc[cell.cell.model, cell.cell.machine] == errors["latency"]
    with pytest.raises(ParameterError, match=r"select model first \(model: logp, small-packets\)"):
        result.select(target="both").table()
    with pytest.raises(ParameterError, match="no axis is named 'machin'; did you mean machine"):
        result.table(columns="machin")
    with pytest.raises(ParameterError, match="no value is named 'rmspe'; known: joint"):
        result.table(value="rmspe")
    captions = list(result.tables())
    assert captions[0] == "model logp, target both"
    assert len(captions) == 4


def test_cells_are_selected_by_what_they_are(result: StudyResult) -> None:
    assert len(result.select(machine=MACHINES[0])) == 4
    assert len(result.select(machine=list(MACHINES), status="waiting")) == 4
    assert len(result.select(status="failed")) == 0
    cell = result.one(machine=MACHINES[0], model="logp", target="both")
    assert (cell.cell.model, cell.status) == ("logp", "done")
    with pytest.raises(ParameterError, match="there are 2; select by machine as well"):
        result.one(model="logp", target="both")
    with pytest.raises(ParameterError, match="no machine here is named 'azure'"):
        result.select(machine="azure")
    with pytest.raises(ParameterError, match="no axis is named 'machne'; did you mean machine"):
        result.select(machne="azure")


def test_a_model_with_held_values_comes_back_with_them(result: StudyResult) -> None:
    cell = result.one(machine=MACHINES[0], model="small-packets", target="both")
    assert cell.model().get("node.nic.mtu") == 512
    assert "node.nic.mtu" not in cell.values
    frame = cell.percent_error()
    assert math.sqrt((frame["latency"] ** 2).mean()) == pytest.approx(
        cell.rmspe["latency"],
        rel=1e-12,  # the same sum in another order
    )


def test_results_speak(result: StudyResult) -> None:
    assert repr(result).startswith("StudyResult(small, 4 of 8 cells done, 48 trials, joint RMSPE ")
    assert repr(result.cells[0]).startswith("CellResult(azure-hb96v3-hdr-logp-rmsre-both-seed0, ")
    page = result._repr_html_()
    assert page.count("<table>") == 4
    assert f"{result.cells[0].rmspe['joint']:.1f}" in page
    frame = result.to_frame()
    assert " ".join(frame.columns) == (
        "machine model loss target regime engine seed joint latency bandwidth best_loss trials "
        "refused seconds status"
    )
    assert len(frame) == 8


def test_a_saved_result_is_loaded_to_the_last_bit(result: StudyResult, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "deep" / "package")
    loaded = StudyResult.load(folder)
    assert loaded == result
    assert loaded.to_frame().equals(result.to_frame())
    assert loaded.cells[0].model() == result.cells[0].model()
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert result.save(folder) == folder
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert set(files) == {
        "plan.yaml",
        "cells.csv",
        "parameters.csv",
        "convergence.csv",
        "datapackage.json",
    }


def test_the_package_describes_every_column_of_its_tables(
    result: StudyResult, tmp_path: Path
) -> None:
    folder = result.save(tmp_path)
    package = json.loads((folder / "datapackage.json").read_text())
    assert (package["profile"], package["origin"]) == ("tabular-data-package", "simulated")
    assert {source["dataset"] for source in package["sources"]} == set(MACHINES)
    for resource in package["resources"]:
        if resource["path"].endswith(".csv"):
            with (folder / resource["path"]).open(newline="") as file:
                head, *rows = csv.reader(file)
            assert head == [field["name"] for field in resource["schema"]["fields"]]
            assert rows
            assert all(len(row) == len(head) for row in rows)


def test_a_package_that_was_changed_is_refused(result: StudyResult, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "p")
    table = folder / "cells.csv"
    table.write_text(table.read_text().replace("done", "gone", 1))
    with pytest.raises(DatasetError, match=r"cells\.csv must have the checksum"):
        StudyResult.load(folder)
    (folder / "plan.yaml").unlink()
    with pytest.raises(DatasetError, match=r"plan\.yaml must be readable"):
        StudyResult.load(folder)
    (folder / "datapackage.json").write_text("[]")
    with pytest.raises(ParseError, match=r"datapackage\.json: a saved StudyResult must be"):
        StudyResult.load(folder)
    with pytest.raises(DatasetError, match=r"datapackage\.json must be readable"):
        StudyResult.load(tmp_path / "nowhere")


def test_shipped_studies_are_found_by_name(
    result: StudyResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in MACHINES:
        (tmp_path / name).symlink_to(datasets.data_folder() / name)
    result.save(tmp_path / "studies" / "mine")
    monkeypatch.setattr(datasets, "data_folder", lambda: tmp_path)
    assert shipped("mine") == result
    with pytest.raises(DatasetError, match="no shipped study is named 'mind'; did you mean mine"):
        shipped("mind")


def test_status_says_how_far_each_cell_is(tmp_path: Path) -> None:
    plan = small_plan(losses=("rmsre",))
    path = tmp_path / "s.db"
    run(plan.replace(machines=MACHINES[:1]), path, workers=1)
    run(plan.replace(machines=MACHINES[1:], trials=5), path, workers=1)
    now = status(plan, path)
    assert repr(now) == "StudyStatus(small: 1 of 2 cells, 17 of 24 trials)"
    assert now.to_frame()["state"].tolist() == ["done", "stopped"]
    assert now._repr_html_().count("<tr>") == 3
    assert not now.finished
    assert json.loads(json.dumps(now.counts))["stopped"] == 1


def test_two_regimes_are_bolted_together(tmp_path: Path) -> None:
    plan = small_plan(machines=MACHINES[:1], losses=("rmsre",), regimes=("all", "low", "high"))
    result = run(plan, tmp_path / "s.db", workers=1)
    pair = result.bolted("logp", "logp", target="both")
    assert pair.fitted_apart
    halves = [result.one(regime=regime) for regime in ("low", "high")]
    squares = [len(c.measured()) * c.rmspe["joint"] ** 2 for c in halves]
    whole = math.sqrt(sum(squares) / len(result.one(regime="all").measured()))
    assert pair.rmspe["joint"] == pytest.approx(whole, rel=1e-12)  # the same sum in another order
    together = result.select(regime="all").bolted("logp", "logp")
    assert not together.fitted_apart
    assert together.rmspe["joint"] == pytest.approx(
        result.one(regime="all").rmspe["joint"], rel=1e-12
    )
    with pytest.raises(ParameterError, match="no model here is named 'snappr'; known: logp"):
        result.bolted()


def test_a_cell_becomes_the_result_of_a_fit(result: StudyResult) -> None:
    cell = result.cells[0]
    fitted = cell.fit_result()
    assert (fitted.values, fitted.rmspe) == (cell.values, cell.rmspe)
    assert (fitted.trials, fitted.best_loss) == (cell.trials, cell.best_loss)
    assert fitted.best_trial == cell.convergence[0][-1]
    assert not result.one(machine=MACHINES[0], model="logp", target="latency").fit_result().success
