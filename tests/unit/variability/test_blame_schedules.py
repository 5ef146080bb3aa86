"""Blame on schedules of weeks whose causes are known: companions, drift and many users."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from tests.cases import for_each
from tests.unit.variability.blame_schedules import DAY_S, Schedule, schedule
from workbench.variability import Blame, Runs, blame, neighbourhood, smooth_trend

CULPRITS, NULL, DRIFT = partial(schedule, culprits=3), schedule, partial(schedule, drift=True)


def blamed_of(made: Schedule, **options: object) -> tuple[Blame, set[str], set[str]]:
    """Return what is blamed, and whom rightly and wrongly."""
    found = blame(made.runs, made.jobs, **options)  # type: ignore[arg-type]
    guilty = {user for user, effect in made.truth.items() if effect}
    return found, guilty & set(found.blamed), set(found.blamed) - guilty


def auc_of(made: Schedule, found: Blame) -> float:
    guilty = [any(made.truth[name] for name in group) for group in found.users]
    return float(roc_auc_score(guilty, found.score[found.methods.index("stepwise")]))


def test_culprits_are_told_from_companions_who_run_with_them() -> None:
    worlds = [CULPRITS(seed) for seed in range(3)]
    found = [blamed_of(made, permutations=300) for made in worlds]
    assert (
        np.mean([auc_of(*pair) for pair in zip(worlds, (one[0] for one in found), strict=True)])
        >= 0.95
    )
    assert sum(len(rightly) for _, rightly, _ in found) >= 6
    assert sum(len(wrongly) for *_, wrongly in found) <= 1
    for made, (one, rightly, _) in zip(worlds, found, strict=True):
        slower = one.to_frame().set_index("user")["slower (%)"]
        for user in rightly:
            assert slower[user] == pytest.approx(100 * made.truth[user], abs=8)


@for_each("users", [90, 400])
def test_one_culprit_of_many_users_is_found(users: int) -> None:
    made = schedule(users, culprits=1, effect=(0.5, 0.5), users=users)
    found, rightly, wrongly = blamed_of(made, permutations=100)
    assert rightly == {"u0"} and len(wrongly) <= 1
    assert found.p_adjusted[found.methods.index("stepwise")].min() <= 0.02


def test_drift_blames_nobody_once_its_trend_is_removed() -> None:
    worlds = [DRIFT(seed) for seed in range(6)]
    wrongly = [blamed_of(made, permutations=200)[2] for made in worlds]
    as_they_are = [blamed_of(made, permutations=200, trend=False) for made in worlds]
    assert sum(map(bool, wrongly)) <= 1
    assert sum(bool(wrong) for *_, wrong in as_they_are) >= 3
    assert all("it is not removed" in " ".join(found.notes) for found, *_ in as_they_are)


@pytest.mark.deep
def test_forty_schedules_are_judged_as_the_targets_say() -> None:
    worlds = [CULPRITS(56_000 + seed) for seed in range(10)]
    found = [blamed_of(made) for made in worlds]
    assert np.mean([auc_of(made, one[0]) for made, one in zip(worlds, found, strict=True)]) >= 0.98
    assert sum(len(wrongly) for *_, wrongly in found) <= 3
    assert sum(bool(blamed_of(NULL(57_000 + seed))[2]) for seed in range(20)) <= 2
    assert sum(bool(blamed_of(DRIFT(58_000 + seed))[2]) for seed in range(10)) <= 1
    for users in (90, 120, 400):
        for seed in range(5):
            made = schedule(59_000 + seed, culprits=1, effect=(0.5, 0.5), users=users)
            assert "u0" in blamed_of(made)[1]


def test_scores_are_those_of_least_squares_given_who_is_blamed() -> None:
    made = CULPRITS(5)
    found, *_ = blamed_of(made, permutations=200, trend=False)
    beside = neighbourhood(made.runs, made.jobs)
    assert found.blamed
    y, row = np.log(made.runs.time_s), found.methods.index("stepwise")
    blamed = [beside.users.index(group) for group in found.users if group[0] in found.blamed]
    own = [held / held[held > 0].mean() for held in beside.nodes.T]
    roots = [np.sqrt(held) / np.sqrt(held[held > 0]).mean() for held in beside.nodes.T]
    kinds = [beside.present.T, beside.nodes.T > 0, own, roots]

    def fitted(columns: list[np.ndarray]) -> tuple[float, float]:
        """Return t and coefficient of the first column."""
        x = np.column_stack([*columns, np.ones(len(y))]).astype(float)
        coefficients, left, *_ = np.linalg.lstsq(x, y)
        noise = left[0] / (len(y) - x.shape[1]) * np.linalg.inv(x.T @ x)[0, 0]
        return coefficients[0] / np.sqrt(noise), coefficients[0]

    # By some kind for each who is blamed, the best kind of each user has this t.
    def agree(given: dict[int, np.ndarray]) -> bool:
        for at, group in enumerate(found.users):
            one = beside.users.index(group)
            others = [column for user, column in given.items() if user != one]
            asked = [given[one]] if one in given else [kind[one] for kind in kinds]
            t, effect = max(fitted([column, *others]) for column in asked)
            if not np.allclose(found.score[row, at], t, rtol=1e-6):
                return False
            assert_allclose(found.slowdown[row, at], np.expm1(effect), rtol=1e-6)
        return True

    chosen = product(*([kind[user] for kind in kinds] for user in blamed))
    assert any(agree(dict(zip(blamed, columns, strict=True))) for columns in chosen)


def runs_with(change: np.ndarray) -> Runs:
    """Return a run a day whose times change as given."""
    start = DAY_S * np.arange(float(len(change)))
    time = 600 * np.exp(change)
    return Runs(tuple(map(str, range(len(change)))), start, start + time, time)


def test_a_straight_trend_is_removed_whole_and_chance_is_not_called_one() -> None:
    line = np.linspace(-0.1, 0.1, 80)
    straight = smooth_trend(runs_with(line))
    assert_allclose(np.log(straight.factor), line, atol=1e-9)  # its logarithm is a spline
    assert "a smooth trend from -10 to +11 % explains 100 %" in straight.note
    assert_allclose(straight.basis.T @ straight.basis, np.eye(8), atol=1e-10)
    rng = np.random.default_rng(0)
    p = [smooth_trend(runs_with(0.1 * rng.standard_normal(80))).p for _ in range(200)]
    # 200 uniform values: 2 to 18 at most 0.05 in 99.9 of 100 cases.
    assert 2 <= np.sum(np.array(p) <= 0.05) <= 20
    few = smooth_trend(runs_with(np.linspace(0, 1, 12)))
    assert (few.factor == 1).all() and few.p == 1 and not few.note


def test_tau_decides_which_runs_are_optimal() -> None:
    made = NULL(1)
    time = made.runs.time_s
    assert made.runs.optimal(0.95).sum() == (time < 0.95 * time.mean()).sum()
    strict, as_usual = (
        blame(made.runs, made.jobs, tau=tau, trend=False, permutations=100) for tau in (0.95, 1)
    )
    at = strict.methods.index("mutual-information")
    assert not np.array_equal(np.sort(strict.score[at]), np.sort(as_usual.score[at]))
    ridge = strict.methods.index("ridge")
    assert_allclose(strict.score[ridge], as_usual.score[ridge])
