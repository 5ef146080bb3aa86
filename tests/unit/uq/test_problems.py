from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets, plotting, tasks
from workbench.errors import DatasetError, ParameterError
from workbench.fit import fit
from workbench.uq import (
    Replicas,
    describe_held,
    fit_problem,
    held_share,
    posterior_of_fit,
    predict_calibrated,
)
from workbench.uq.collectives import (
    calibrate_collective,
    collective_problem,
    load_measured,
    shipped_algorithms,
    shipped_collectives,
)

pytestmark = pytest.mark.usefixtures("short_chains")

ROOT = Path(__file__).resolve().parents[3] / "datasets" / "collectives"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/datapackage.json"))


@for_each("name", NAMES)
def test_a_table_of_collectives_has_origin_licence_and_units(name: str) -> None:
    folder = ROOT / name
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    assert package["name"] == name and package["origin"] == "published"
    assert {"path", "commit", "files", "selection"} <= set(package["sources"][0])
    (table,) = package["resources"]
    header = (folder / table["path"]).read_text("utf-8").splitlines()[0]
    fields = table["schema"]["fields"]
    assert [field["name"] for field in fields] == header.split(",")
    units = {field["name"]: field.get("unit") for field in fields}
    assert units["block_bytes"] == "B" and units["median_us"] == units["avg_us"] == "us"
    readme = (folder / "README.md").read_text("utf-8")
    assert package["sources"][0]["commit"] in readme and package["licenses"][0]["name"] in readme
    assert name in shipped_collectives()
    assert name not in datasets.list()


def test_shipped_collectives_have_their_replicas_and_provenance() -> None:
    assert set(shipped_algorithms("fugaku")) == {"allgather", "bcast", "gather"}
    measured = load_measured("fugaku", "gather")
    assert measured.label == "default-binomial"
    assert {test.nodes for test in measured.tests} == {8, 64, 512}
    assert {len(one) for one in measured.replicas} == {5}
    assert {test.shape for test in measured.on([64]).tests} == {(4, 4, 4)}
    provenance = measured.on([8]).provenance
    assert provenance is not None and provenance.caption().startswith("published: Collectives on")
    with pytest.raises(ParameterError, match=r"got 'gatter', did you mean 'gather'|gather"):
        load_measured("fugaku", "gatter")


def test_a_changed_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT, tmp_path / "collectives")
    path = tmp_path / "collectives" / "fugaku" / "times.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    monkeypatch.setattr("workbench.uq.collectives.shipped.data_folder", lambda: tmp_path)
    with pytest.raises(DatasetError, match=r"times\.csv must have the checksum"):
        load_measured("fugaku", "gather")


def test_a_collective_begins_with_the_fitted_model_and_its_surrogate() -> None:
    measured = load_measured("fugaku", "gather")
    problem = collective_problem(measured)
    assert problem.model == "rounds:binomial"
    assert len(problem.replicas) == len(problem.sizes) == len(measured.tests)
    np.testing.assert_allclose(problem.medians, measured.medians)
    assert np.abs(problem.nominal_error).mean() < 0.1
    assert 0 < problem.surrogate_error.max() < 0.1
    assert "24 tests, 120 replicas" in repr(problem)
    text = plotting.describe_calibration_problem(problem)
    worst = int(np.argmax(np.abs(problem.nominal_error)))
    assert problem.replicas.tests[worst] in text
    assert "says nothing" not in text
    few = plotting.describe_calibration_problem(collective_problem(measured.pick([0, 1])))
    assert "fits 2 tests whether it is right or not: that it is near them says nothing" in few
    problem.plot()


def test_a_fit_begins_with_its_own_times_and_can_be_stopped() -> None:
    result = fit("azure-hb96v3-hdr", "logp", trials=60)
    problem = fit_problem(result)
    latency = [at for at, name in enumerate(problem.series) if name == "latency"]
    assert result.simulated is not None
    np.testing.assert_allclose(problem.nominal[latency], result.simulated.latency_s)
    # The kink of LogP's bandwidth is more than a polynomial follows, at single sizes.
    assert np.median(problem.surrogate_error) < 0.01 < problem.surrogate_error.max()
    problem.plot()
    told, partial = [], []

    def tell(now: tasks.Progress) -> None:
        told.append((now.done, now.total))
        partial.append(task.partial)
        if now.done > 1000:  # of 2000, so that some draws are kept
            task.stop()

    task = tasks.Task(tell)
    found = posterior_of_fit(result, noise="relative", draws=20, task=task)
    assert 0 < found.posterior.draws < found.posterior.requested
    assert told[0][1] == 2000
    assert partial[0] is None  # in the burn-in
    assert partial[-1].times.tolist() == found.times.tolist()
    with pytest.raises(tasks.JobError, match="before the first draws"):
        posterior_of_fit(result, noise="relative", draws=20, task=task)


def test_a_posterior_does_not_depend_on_who_looks() -> None:
    result = fit("azure-hb96v3-hdr", "logp", trials=60)
    options: dict[str, Any] = {"noise": "relative", "draws": 20, "chain_draws": 600}
    unseen, seen = posterior_of_fit(result, **options), []
    task = tasks.Task(lambda now: seen.append(task.partial))
    looked_at = posterior_of_fit(result, **options, task=task)
    assert any(one is not None for one in seen)
    assert unseen.rounds > 1
    np.testing.assert_array_equal(looked_at.values, unseen.values)


def test_held_shares_count_the_medians_inside() -> None:
    measured = load_measured("fugaku", "gather").on([8, 64])
    posterior = calibrate_collective(measured, noise="relative", draws=100).posterior
    prediction = predict_calibrated(posterior, draws=100)
    shares = held_share(prediction, posterior.replicas)
    for row, level in enumerate(prediction.levels):
        inside = (prediction.low[row] <= measured.medians) & (
            measured.medians <= prediction.high[row]
        )
        assert shares[level] == pytest.approx(inside.mean())
    text = describe_held(prediction, posterior.replicas, "calibrated")
    assert f"90 % intervals hold {100 * shares[0.9]:.0f} %" in text
    with pytest.raises(ParameterError, match="must hold the predicted tests"):
        held_share(prediction, Replicas.of([[1.0]], ["another"]))
