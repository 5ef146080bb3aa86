"""Fits are copied into a storage of Optuna, which opens them as its own."""

from __future__ import annotations

import contextlib
from pathlib import Path

import optuna
import pytest

from workbench import datasets
from workbench.cli import main
from workbench.errors import StudyError
from workbench.fit import FitStudy, to_optuna
from workbench.fit.store import StoredTrial, StudyFile, read_trials

MACHINE = "azure-hb96v3-hdr"


def loaded(path: Path, name: str) -> optuna.Study:
    return optuna.load_study(study_name=name, storage=f"sqlite:///{path}")


def test_optuna_opens_an_exported_fit(tmp_path: Path) -> None:
    fits, copy = tmp_path / "fits.db", tmp_path / "study.db"
    with FitStudy(datasets.load(MACHINE), "snappr", study=fits, name="a") as study:
        study.run(3)
        space = study.space
    trials = [*read_trials(fits, "a")]
    with contextlib.closing(StudyFile(fits, "a", study.problem())) as file:
        for early, invalid in ((True, ""), (False, "credits < mtu")):
            last = StoredTrial(len(trials), trials[0].values, 2.5, invalid, 0.5, early)
            file.append(last)
            trials.append(last)
    assert to_optuna(fits, copy) == ("a",)
    found = loaded(copy, "a")
    states = [trial.state.name for trial in found.trials]
    assert states == ["COMPLETE", "COMPLETE", "COMPLETE", "PRUNED", "FAIL"]
    assert [trial.value for trial in found.trials[:3]] == [trial.loss for trial in trials[:3]]
    assert [trial.params for trial in found.trials] == [dict(trial.values) for trial in trials]
    assert set(found.trials[0].distributions) == set(space.keys)
    assert found.trials[3].intermediate_values == {0: 2.5}
    assert found.trials[4].user_attrs["invalid"] == "credits < mtu"
    assert found.user_attrs["workbench.problem"]["model"] == "snappr"


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    fits, copy = tmp_path / "fits.db", tmp_path / "study.db"
    with pytest.raises(StudyError, match="must hold a fit; it holds none"):
        to_optuna(fits, copy)
    FitStudy(datasets.load(MACHINE), "logp", study=fits, name="a").close()
    with pytest.raises(StudyError, match="must hold the fit 'b'; it holds a"):
        to_optuna(fits, copy, "b")
    to_optuna(fits, copy)
    with pytest.raises(StudyError, match="holds a study 'a' already; choose another file"):
        to_optuna(fits, copy)
    with pytest.raises(StudyError, match="cannot be used as a storage of Optuna"):
        to_optuna(fits, tmp_path / "no" / "study.db")


def test_the_shell_exports_the_fit_that_it_made(tmp_path: Path) -> None:
    fits, copy = tmp_path / "fits.db", tmp_path / "study.db"
    words = ["fit", "--machine", MACHINE, "--model", "logp", "--trials", "2"]
    assert main([*words, "--to-optuna", str(copy)]) == 1
    made = [*words, "--study", str(fits), "--name", "a", "--to-optuna", str(copy)]
    assert main(made) == 0
    assert len(loaded(copy, "a").trials) == 2
