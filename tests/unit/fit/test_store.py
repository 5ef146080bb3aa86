"""The trials of fits: exact, of one process at a time, and there when it is killed."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.unit.storage.postgresql import address, server  # noqa: F401 - the fixtures
from workbench import datasets
from workbench.errors import StudyError, StudyHeldError
from workbench.fit import ENGINES, FitStudy, fit
from workbench.fit.space import SearchSpace
from workbench.fit.store import (
    StoredProgress,
    StoredTrial,
    StudyFile,
    read_names,
    read_progress,
    read_study,
    read_trials,
)
from workbench.measure import OSUCurve
from workbench.models import SNAPPR
from workbench.provenance import Provenance
from workbench.storage.database import locate

PROBLEM = {"loss": "rmsre", "seed": 0, "workbench": "1"}
SPACE = SearchSpace.for_model(SNAPPR())


def trial(number: int, loss: float = 1.5, invalid: str = "") -> StoredTrial:
    values = {d.key: d.clip((d.low * d.high) ** 0.5 / (number + 1)) for d in SPACE.dimensions}
    return StoredTrial(number, values, loss, invalid, 0.125, number == 3)


def test_what_is_written_is_read_to_the_last_bit(tmp_path: Path) -> None:
    where = tmp_path / "fits.db"
    assert (read_study(where, "one"), read_progress(where, ["one"])) == (None, {})
    assert (read_trials(where, "one"), read_names(where)) == ((), [])
    assert not where.exists()
    written = (trial(0), trial(1, 1e30, "credits < mtu"), trial(2, 1 / 3), trial(3, 1 / 3))
    file = StudyFile(where, "one", PROBLEM)
    for one in written:
        file.append(one)
    StudyFile(where, "empty", PROBLEM).close()
    # Readers take no lock.
    assert read_trials(where, "one") == written
    assert isinstance(written[0].values["node.nic.mtu"], int)
    found = read_study(where, "one")
    assert found is not None
    assert found.losses.tolist() == [1.5, math.inf, 1 / 3, 1 / 3]
    assert found.values == written[2].values
    assert (found.problem, found.refused, found.seconds) == (PROBLEM, "credits < mtu", 0.5)
    assert read_progress(where, ["one", "two", "empty"]) == {
        "one": StoredProgress(4, 1 / 3),
        "empty": StoredProgress(0, math.inf),
    }
    assert read_names(where) == ["empty", "one"]
    file.close()
    file.close()
    again = StudyFile(where, "one", {**PROBLEM, "workbench": "2"})
    assert again.trials == written
    again.close()
    assert not list(tmp_path.glob(".*lock"))


def test_a_study_is_written_by_one_at_a_time_and_in_order(tmp_path: Path) -> None:
    where = tmp_path / "fits.db"
    with pytest.raises(StudyError, match="is a folder"):
        StudyFile(tmp_path, "one", PROBLEM)
    file = StudyFile(where, "one", PROBLEM)
    with pytest.raises(StudyHeldError, match="is being run by another notebook or process"):
        StudyFile(where, "one", PROBLEM)
    file.append(trial(0))
    # As after an interrupt that fell between writing a trial and learning from it.
    with pytest.raises(StudyError, match=r"row 1 of the fit 'one' .* must come next; got row 0"):
        file.append(trial(0))
    file.close()
    with pytest.raises(StudyError, match="loss was rmsre and is mae; seed was 0 and is 1"):
        StudyFile(where, "one", {**PROBLEM, "seed": 1, "loss": "mae"})
    StudyFile(where, "one", PROBLEM).close()  # a refusal lets go of the study


TRIALS = 60

SCRIPT = """
import sys
from tests.unit.fit.test_store import TRIALS, machine
from workbench.fit import fit
from workbench.tasks import Task
fit(machine(), "logp", trials=TRIALS, study=sys.argv[1], name="a", engine=sys.argv[2],
    task=Task(lambda report: print(report.done, flush=True)))
"""


def machine() -> OSUCurve:
    return OSUCurve(
        name="three sizes",
        sizes=np.array([1, 1024, 1 << 20]),
        latency_s=np.array([1.5e-6, 2.5e-6, 1.2e-4]),
        bandwidth_Bps=np.array([4e6, 3e9, 1.1e10]),
        provenance=Provenance(origin="synthetic", title="a machine made up for tests"),
    )


# What is killed is the file's writer, the same for all; test_contract.py stops and resumes each.
@pytest.mark.parametrize(
    "engine",
    [pytest.param(one, marks=() if one == "tpe" else pytest.mark.deep) for one in ENGINES],
)
def test_a_killed_fit_loses_the_trial_in_flight_at_most(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "fits.db"
    # The worker writes a trial before it reports it; killed anywhere, it has written them all.
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), engine],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as worker:
        assert worker.stdout is not None
        reported = 0
        for line in worker.stdout:
            reported = int(line)
            if reported == 23:
                worker.kill()
        worker.wait(120)
    assert worker.returncode == -signal.SIGKILL
    stored = len(read_trials(path, "a"))
    assert 23 <= reported <= stored <= reported + 1

    resumed = fit(machine(), "logp", trials=TRIALS, study=path, name="a", engine=engine)
    whole = fit(machine(), "logp", trials=TRIALS, engine=engine)
    assert resumed.losses.tolist() == whole.losses.tolist()
    assert resumed.model == whole.model


def test_a_fit_on_a_server_is_the_fit_in_a_file(
    address: str,  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    with FitStudy(machine(), "logp", study=address, name="a") as study:
        study.run(8)
        assert locate(address).held(["a", "b"]) == {"a"}
        with pytest.raises(StudyHeldError):
            fit(machine(), "logp", trials=14, study=address, name="a")
    result = fit(machine(), "logp", trials=14, study=address, name="a")
    whole = fit(machine(), "logp", trials=14, study=tmp_path / "fits.db", name="a")
    assert result.losses.tolist() == whole.losses.tolist()
    seen = read_study(address, "a")
    assert seen is not None
    assert (seen.losses.tolist(), seen.values) == (whole.losses.tolist(), whole.values)
    assert read_progress(address, ["a"]) == {"a": StoredProgress(14, whole.best_loss)}


def test_trials_of_an_equivalent_loss_are_taken_over(tmp_path: Path) -> None:
    curve, twin, taken = datasets.load("azure-hb96v3-hdr"), tmp_path / "a.db", tmp_path / "b.db"
    expected = fit(curve, "logp", engine="tpe", loss="rmspe", trials=20)
    with FitStudy(curve, "logp", engine="tpe", study=twin, name="a") as study:
        study.run(16)
    options = {"engine": "tpe", "loss": "rmspe", "study": taken}
    with FitStudy(curve, "logp", **options) as study:
        study.copy_trials(read_trials(twin, "a"))
        with pytest.raises(StudyError, match="it must have no trials"):
            study.copy_trials(read_trials(twin, "a"))
        np.testing.assert_array_equal(study.run(20).losses, expected.losses)
    assert fit(curve, "logp", trials=20, **options).values == expected.values
