"""A configuration's loss, and that ending a simulation early changes nothing a search sees."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.fit import LOSSES, FitStudy
from workbench.fit.evaluation import Evaluator
from workbench.fit.store import read_trials
from workbench.models import SNAPPR
from workbench.tasks import Task

MACHINE = "azure-hb96v3-hdr"


@for_each("loss", LOSSES)
@for_each("target", ["both", "bandwidth", "latency"])
def test_a_loss_beyond_the_limit_is_at_most_the_whole_one_and_beyond_it(
    loss: str, target: str
) -> None:
    evaluate = Evaluator(SNAPPR(), datasets.load(MACHINE), LOSSES[loss], target)  # type: ignore[arg-type]
    whole = evaluate({})
    assert whole.points is not None
    assert not whole.ended_early
    at_the_limit = evaluate({}, limit=whole.loss)
    assert not at_the_limit.ended_early
    np.testing.assert_array_equal(at_the_limit.points, whole.points)
    part = evaluate({}, limit=whole.loss / 2)
    assert part.ended_early == (target != "latency")
    if part.ended_early:
        assert part.points is None
        assert whole.loss / 2 < part.loss <= whole.loss


def test_a_refused_configuration_says_why() -> None:
    evaluate = Evaluator(SNAPPR(), datasets.load(MACHINE), LOSSES["rmsre"], "both")
    outcome = evaluate({"node.nic.credits": 1000, "node.nic.mtu": 4096}, limit=1.0)
    assert "credits must hold one packet" in outcome.invalid
    assert not outcome.ended_early


def test_the_search_is_the_same_whether_trials_are_ended_early_or_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    curve = datasets.load(MACHINE)
    trials = 90
    tried: list[list[dict[str, float | int]]] = []
    results = []
    for early in (True, False):
        with FitStudy(curve, "logp", engine="tpe", study=tmp_path / f"{early}.db") as study:
            if not early:
                monkeypatch.setattr(study._search, "indifferent_above", lambda: math.inf)
            reports: list[dict[str, float | int]] = []
            keep = reports.append
            results.append(study.run(trials, task=Task(lambda r, keep=keep: keep(dict(r.values)))))
            tried.append(reports)
    assert tried[0] == tried[1]
    assert results[0].rmspe == results[1].rmspe
    np.testing.assert_array_equal(results[0].convergence, results[1].convergence)
    assert (results[0].losses <= results[1].losses).all()
    assert (results[0].losses < results[1].losses).any()


def test_what_was_ended_early_says_so_in_the_file(tmp_path: Path) -> None:
    where = tmp_path / "fits.db"
    with FitStudy(datasets.load(MACHINE), "logp", engine="tpe", study=where) as study:
        study.run(60)
        name = study.name
    early = [trial for trial in read_trials(where, name) if trial.ended_early]
    assert early
    assert all(trial.number >= 25 for trial in early)
    with FitStudy(datasets.load(MACHINE), "logp", engine="tpe", study=where) as again:
        assert again.run(61).trials == 61
