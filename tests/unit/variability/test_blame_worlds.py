"""Methods of blame on generated worlds: from the same seed the same scores, whatever was done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from workbench.cli import main
from workbench.errors import ParameterError, SimulationHalted
from workbench.tasks import Task
from workbench.variability import score_worlds, shipped_blame_scores

_SMALL = ["--worlds", "1", "--null", "1", "--application", "minivite-128", "--runs", "12"]
_SMALL += ["--permutations", "100", "--workers", "1"]


def test_finished_worlds_are_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["variability", "score", *_SMALL, "--store", str(tmp_path / "store"), "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["worlds"], found["null_worlds"], found["origin"]) == (1, 1, "synthetic")
    assert {row["method"] for row in found["methods"]} >= {"ridge", "mutual-information"}
    files = {path.name for path in (tmp_path / "store").rglob("*") if path.is_file()}
    assert files == {"blame.json", "blame.npz", "effects.json"}
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*")}
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*")} == before
    with pytest.raises(ParameterError, match="whose permutations is 100; got 200"):
        score_worlds(
            1,
            null=1,
            application="minivite-128",
            runs=12,
            permutations=200,
            store=tmp_path / "store",
        )
    task = Task()
    task.stop()
    with pytest.raises(SimulationHalted, match="stopped before the first world"):
        score_worlds(1, application="minivite-128", runs=12, workers=1, task=task)


def test_the_best_method_finds_who_is_to_blame() -> None:
    scores = shipped_blame_scores()
    assert len(scores.auc) >= 20 and len(scores.null_least) >= 20
    rows = scores.to_frame().set_index("method")
    assert rows.loc[scores.best, "AUC"] >= 0.95
    assert rows.loc["mutual-information", "AUC to"] < rows.loc[scores.best, "AUC from"]
    # Where nobody is to blame, p-values are as small as chance has it, within three of its errors.
    at = scores.methods.index(scores.best)
    few = np.mean(scores.null_least[:, at] <= 0.05)
    assert few <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(scores.null_least))
