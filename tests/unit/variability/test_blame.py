from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.linear_model import Ridge
from sklearn.metrics import mutual_info_score, roc_auc_score

from tests.unit import commands
from tests.unit.variability.worlds import world
from workbench.cli import variability
from workbench.errors import ParameterError, ParseError
from workbench.plotting import describe_blame, plot_blame
from workbench.variability import Blame, JobLog, Runs, blame, blame_neighbours, neighbourhood
from workbench.variability.stepwise import p_values

command = partial(commands.run, variability)


@pytest.fixture(scope="module")
def found() -> Blame:
    return blame_neighbours(*world(0, 8), permutations=400)


@pytest.fixture(scope="module")
def as_in_the_paper() -> Blame:
    return blame_neighbours(*world(0, 8), trend=False, permutations=100)


def test_mutual_information_is_that_of_scikit_learn(as_in_the_paper: Blame) -> None:
    found = as_in_the_paper
    runs, beside = world(0, 8)
    row = found.score[found.methods.index("mutual-information")]
    for at, user in enumerate(found.users):
        present = beside.present[:, beside.users.index(user)]
        assert row[at] == pytest.approx(mutual_info_score(present, runs.optimal()), abs=1e-12)


def test_ridge_is_that_of_scikit_learn_at_some_strength(as_in_the_paper: Blame) -> None:
    found = as_in_the_paper
    runs, beside = world(0, 8)
    order = [beside.users.index(user) for user in found.users]
    slower = found.slowdown[found.methods.index("ridge")]
    off = [
        np.abs(
            np.expm1(Ridge(alpha).fit(beside.present[:, order], np.log(runs.time_s)).coef_) - slower
        ).max()
        for alpha in np.logspace(-2, 3, 21)
    ]
    assert min(off) < 1e-10


def test_culprits_come_first_and_are_blamed(found: Blame) -> None:
    guilty = [int(name[0][1:]) < 8 for name in found.users]
    for method, least in (
        ("stepwise", 0.95),
        ("mutual-information", 0.6),
        ("ridge", 0.95),
        ("doubly-robust", 0.95),
    ):
        assert roc_auc_score(guilty, found.score[found.methods.index(method)]) > least
    assert len(found.blamed) >= 5
    assert {*found.blamed} <= {f"u{user}" for user in range(8)}
    assert f"by stepwise at 5 %: {', '.join(found.blamed)}; {found.others})" in repr(found)
    assert describe_blame(found).endswith(f"Other methods: {found.others}.")
    missed = set(found.blamed) - set(found.blamed_by("lasso"))
    assert ("lasso not" in found.others) == bool(missed)


def test_faster_runs_are_not_blamed_by_sign() -> None:
    runs, beside = world(3, 0)
    quick = np.exp(-0.3 * beside.present[:, 5]) * runs.time_s
    faster = Runs(runs.run, runs.start, runs.end, quick)
    found = blame_neighbours(faster, beside, permutations=200)
    rows = {method: found.to_frame(method).set_index("user") for method in found.methods}
    assert rows["mutual-information"].loc["u5", "p adjusted"] <= 0.2  # has no sign
    for method in ("stepwise", "signed-mutual-information", "ridge", "lasso", "doubly-robust"):
        assert rows[method].loc["u5", "p"] > 0.9
    assert rows["ridge"].loc["u5", "slower (%)"] == pytest.approx(100 * np.expm1(-0.3), abs=4)


def jobs_with_effects(seed: int, culprits: int, runs: int = 120) -> tuple[Runs, JobLog]:
    """Return runs that the first of 12 users slow down by their nodes, and jobs that come and go.

    Jobs have 20 to 2000 nodes and last about as long as a run, so few cover a whole one.
    """
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, 1e6, runs))
    end = start + 600
    users, rows = 12, []
    slower = np.zeros(runs)
    for user in range(users):
        count = rng.poisson(1000)
        nodes = np.ceil(np.clip(200 * np.exp(rng.standard_normal(count)), 20, 2000)).astype(int)
        begun = rng.uniform(-1e3, 1e6, count)
        ended = begun + 500 * np.exp(0.5 * rng.standard_normal(count))
        common = np.minimum(ended, end[:, None]) - np.maximum(begun, start[:, None])
        share = np.maximum(common, 0) / 600
        slower += (user < culprits) * 3e-4 * (share @ nodes)
        rows += [(f"u{user}", *job) for job in zip(nodes, begun, ended, strict=True)]
    time = 600 * np.exp(slower + 0.05 * rng.standard_normal(runs))
    user, nodes, begun, ended = (np.array(column) for column in zip(*rows, strict=True))
    jobs = JobLog(tuple(map(str, range(len(rows)))), tuple(user), nodes, begun, ended)
    return Runs(tuple(f"r{run}" for run in range(runs)), start, end, time), jobs


def test_jobs_count_by_their_nodes_and_their_time_where_that_predicts_better() -> None:
    runs, jobs = jobs_with_effects(0, 4)
    found = blame(runs, jobs, permutations=200)
    assert found.exposure == "nodes"
    assert {*found.blamed} == {"u0", "u1", "u2", "u3"}
    guilty = [int(name[0][1:]) < 4 for name in found.users]
    auc = {
        method: roc_auc_score(guilty, score)
        for method, score in zip(found.methods, found.score, strict=True)
    }
    assert auc["ridge"] == 1
    assert auc["mutual-information"] < 0.9  # hardly any job covers a whole run
    beside = neighbourhood(runs, jobs)
    slower = found.to_frame().set_index("user")["slower (%)"]
    column = beside.nodes[:, beside.users.index(("u0",))]
    assert slower["u0"] == pytest.approx(100 * np.expm1(3e-4 * column[column > 0].mean()), rel=0.3)


def test_the_choice_of_exposure_blames_nobody_by_chance() -> None:
    p = [
        blame(*jobs_with_effects(seed, 0, 40), permutations=100).p_adjusted[:, 0]
        for seed in range(14)
    ]
    assert (np.mean(np.array(p) <= 0.05, axis=0) <= 0.15).all()


def test_where_nobody_is_to_blame_p_values_are_uniform() -> None:
    least, each = [], {}
    for seed in range(20):
        found = blame_neighbours(*world(100 + seed, 0), permutations=100)
        least.append(found.p_adjusted.min(axis=1))
        for method, p in zip(found.methods, found.p, strict=True):
            each.setdefault(method, []).extend(p)
    # 480 p-values of each method: 3.4 to 6.8 % below 5 % in 90 of 100 cases if independent.
    for method in ("stepwise", "ridge", "doubly-robust", "mutual-information"):
        assert 0.02 <= np.mean(np.array(each[method]) <= 0.05) <= 0.08
    assert (np.mean(np.array(least) <= 0.05, axis=0) <= 0.15).all()


def test_adjusted_p_values_are_those_of_independent_users() -> None:
    scores = np.random.default_rng(0).standard_normal((4001, 10))
    scores[0] = [4, 2.5, *np.zeros(8)]
    p, adjusted = p_values(scores)
    assert (adjusted >= p).all()
    # The first is stepped over; the error of a share of 4000 is 0.004.
    assert adjusted[1] == pytest.approx(1 - norm.cdf(2.5) ** 9, abs=0.015)


def test_users_that_tell_nothing_are_named_and_not_blamed() -> None:
    runs, beside = world(1, 4)
    present = beside.present.copy()
    present[:, 3], present[:, 7] = True, False
    always = replace(beside, present=present, nodes=256.0 * present)
    found = blame_neighbours(runs, always, permutations=100)
    assert found.users[-2:] == (("u3",), ("u7",))
    assert (found.p[:, -2:] == 1).all()
    assert any("u3, u7 ran beside all runs alike" in note for note in found.notes)


def test_it_is_kept_and_drawn(found: Blame, tmp_path: Path) -> None:
    read = Blame.load(found.save(tmp_path / "blame.json"))
    assert read.users == found.users
    assert_allclose(read.p_adjusted, found.p_adjusted)
    for method in found.methods:
        drawn = plot_blame(found, method=method).references()
        sources = [one.data for one in drawn if isinstance(one, ColumnDataSource)]
        assert {len(one["user"]) for one in sources if "user" in one} == {24}
        assert {len(one["trend"]) for one in sources if "trend" in one} == {200}
    assert "u0" in describe_blame(found)
    innocent = blame_neighbours(*world(100, 0), permutations=100)
    assert describe_blame(innocent).startswith("Nobody is to blame beyond chance by stepwise")
    with pytest.raises(ParameterError, match="method must be one of"):
        found.to_frame("guess")


def test_too_little_is_refused() -> None:
    runs, beside = world(2, 2, runs=30, users=4)
    same = Runs(runs.run, runs.start, runs.end, np.full(30, 300.0))
    with pytest.raises(ParameterError, match="of different times; got 30 of 300 to 300 s"):
        blame_neighbours(same, beside)
    jobs = JobLog(("a",), ("u",), np.array([256]), np.array([-1.0]), np.array([1e9]))
    with pytest.raises(ParameterError, match="beside some runs and not beside others"):
        blame(runs, jobs)


def tables(folder: Path) -> tuple[Path, Path]:
    """Write runs, and jobs of users beside them, two of whom always run together."""
    runs, beside = world(0, 8)
    rows = ["run,start,end,time_s"]
    jobs = ["job,user,nodes,start,end"]
    for at, name in enumerate(runs.run):
        start, end = runs.start[at], runs.end[at]
        rows.append(f"{name},{start},{end},{runs.time_s[at]}")
        jobs.append(f"{name},me,128,{start},{end}")
        for user in np.flatnonzero(beside.present[at]):
            jobs.append(f"j{at}-{user},u{user},512,{start - 5},{end + 5}")
            if user == 2:
                jobs.append(f"k{at},twin,256,{start - 1},{end + 1}")
    paths = folder / "runs.csv", folder / "jobs.csv"
    for path, lines in zip(paths, (rows, jobs), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def test_the_command_orders_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, jobs = tables(tmp_path)
    words = ("--runs", runs, "--jobs", jobs, "--permutations", 400)
    assert command("blame", *words, "--json") == 0
    printed = capsys.readouterr()
    users = json.loads(printed.out)["users"]
    assert {"user", "recommended", "methods"} <= users[0].keys()
    assert {"score", "p_adjusted"} <= users[0]["recommended"].keys()
    scores = [user["recommended"]["score"] for user in users]
    assert scores == sorted(scores, reverse=True)
    names = [user["user"] for user in users]
    first = next(user for user in users if user["user"] == "u0")
    beside = world(0, 8)[1]
    assert first["runs_beside"] == beside.present[:, beside.users.index(("u0",))].sum()
    assert len(names) == 25
    assert command("blame", *words, "--no-trend", "--tau", 0.95, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["trend_removed"], again["tau"]) == (False, 0.95)
    assert len(again["trend"]) == again["runs"]
    assert "me" not in names
    assert abs(names.index("u2") - names.index("twin")) == 1
    assert users[names.index("twin")]["always_with"] == ["u2"]
    assert "always ran together" in printed.err
    jobs.write_text(jobs.read_text().replace("job,user", "job,Account", 1))
    with pytest.raises(ParseError, match=r"lacks user; the file has job, Account"):
        command("blame", *words)
    assert command("blame", *words, "--job-columns", "user=Account") == 0
    assert "To blame beyond chance by stepwise" in capsys.readouterr().out
