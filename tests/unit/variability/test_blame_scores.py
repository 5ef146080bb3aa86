from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from tests.unit.variability.worlds import world
from workbench.errors import ParameterError
from workbench.plotting import describe_blame_scores, plot_blame_scores
from workbench.variability import Blame, BlameScores, blame_neighbours, score_blame

TRUTH = {f"u{user}": 0.05 * (user < 8) for user in range(24)}


@pytest.fixture(scope="module")
def found() -> list[Blame]:
    return [blame_neighbours(*world(seed, 8), permutations=100) for seed in range(3)]


@pytest.fixture(scope="module")
def scores(found: list[Blame]) -> BlameScores:
    null = [blame_neighbours(*world(200 + seed, 0), permutations=100) for seed in range(3)]
    return score_blame([(one, TRUTH) for one in found], null=null)


def test_auc_is_that_of_scikit_learn(found: list[Blame], scores: BlameScores) -> None:
    for one, row in zip(found, scores.auc, strict=True):
        guilty = [TRUTH[name] > 0 for (name,) in one.users]
        assert_allclose(row, [roc_auc_score(guilty, score) for score in one.score])


def test_precision_counts_the_first_and_ties_by_their_share(found: list[Blame]) -> None:
    scores = score_blame([(found[0], TRUTH)])
    first = [name for (name,) in found[0].users[:8]]
    at = scores.methods.index("stepwise")
    assert scores.precision[0, at] == sum(TRUTH[name] > 0 for name in first) / 8
    few = score_blame([(found[0], {first[0]: 0.1} | dict.fromkeys(("x", "y"), 0.2))])
    assert few.precision[0, at] == pytest.approx(1 / 3)  # x and y were never asked about
    assert few.culprits[0] == 3 and few.users[0] == 26
    ties = 0.5 * 2 / 2 + 0.0  # each of the two is below all others and ties with the other
    assert few.auc[0, at] == pytest.approx((1 + 0 + 0) / 3, abs=ties / 24)


def test_null_worlds_are_counted(scores: BlameScores) -> None:
    assert scores.null_p.shape == (72, 6)
    assert scores.null_least.shape == (3, 6)
    rows = scores.to_frame().set_index("method")
    share = 100 * np.mean(scores.null_p[:, scores.methods.index("ridge")] <= 0.05)
    assert rows.loc["ridge", "null p at most 5 % (%)"] == pytest.approx(share)
    assert (rows["AUC from"] <= rows["AUC"]).all() and (rows["AUC"] <= rows["AUC to"]).all()
    assert rows.loc["ridge", "AUC"] > rows.loc["mutual-information", "AUC"]


def test_they_are_kept_and_drawn(scores: BlameScores, tmp_path: Path) -> None:
    read = BlameScores.load(scores.save(tmp_path / "scores.json"))
    assert_allclose(read.auc, scores.auc)
    assert repr(read) == repr(scores)
    drawn = plot_blame_scores(scores).references()
    sources = [one for one in drawn if isinstance(one, ColumnDataSource)]
    assert {len(one.data["method"]) for one in sources} == {6}
    assert "of its p-values are at most 5 %" in describe_blame_scores(scores)


def test_worlds_without_culprits_are_refused(found: list[Blame]) -> None:
    with pytest.raises(ParameterError, match="in world 0 0 of 24 slow runs down by 2 %"):
        score_blame([(found[0], dict.fromkeys(TRUTH, 0.0))])
    with pytest.raises(ParameterError, match="at least one world"):
        score_blame([])
