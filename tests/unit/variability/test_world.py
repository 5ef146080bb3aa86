"""Worlds with known causes: the same digits however they are made, tables that go round, truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from workbench.cli import main
from workbench.errors import SimulationHalted, StudyError
from workbench.storage.row_table import RowTable
from workbench.tasks import Progress, Task
from workbench.variability import (
    LinkTruth,
    ShapleyTruth,
    World,
    WorldTruth,
    generate,
    read_jobs,
    read_runs,
    read_steps,
    run_scene,
)
from workbench.variability.world import computations
from workbench.variability.world.flows import job_flows
from workbench.variability.world.loads import machine_loads
from workbench.variability.world.pieces import RunPiece, do_runs
from workbench.variability.world.scene import Scene, WorldSettings, scene_of, step_times

RUNS = 3


@pytest.fixture(scope="module")
def world() -> World:
    return generate("small", application="minivite-128", runs=RUNS, seed=3, workers=1)


@pytest.fixture(scope="module")
def truth(world: World) -> WorldTruth:
    return world.truth(steps=2, workers=1)


@pytest.fixture(scope="module")
def shares(world: World) -> ShapleyTruth:
    return world.shapley(steps=2, permutations=4, workers=1)


def test_processes_make_the_same_digits(world: World) -> None:
    again = generate("small", application="minivite-128", runs=RUNS, seed=3, workers=2)
    np.testing.assert_array_equal(again.steps.values, world.steps.values)
    np.testing.assert_array_equal(again.steps.time_s, world.steps.time_s)
    np.testing.assert_array_equal(again.routines.time_s, world.routines.time_s)


def test_work_that_was_stopped_goes_on(world: World, tmp_path: Path) -> None:

    def after_one(now: Progress) -> None:
        if now.done == 1:
            task.stop()

    common = {"application": "minivite-128", "runs": RUNS, "seed": 3, "workers": 1}
    task = Task(after_one)
    part = generate("small", **common, store=tmp_path, task=task)
    assert 0 < len(part.runs) < RUNS
    with pytest.raises(SimulationHalted, match="stopped before the first run"):
        generate("small", **common, task=task)
    table = RowTable(tmp_path / "runs.db", "world")
    before = table.read("simulate")
    seen: list[int] = []
    whole = generate(
        "small", **common, store=tmp_path, task=Task(lambda now: seen.append(now.done))
    )
    assert seen[0] == len(part.runs) and seen[-1] == RUNS
    assert table.read("simulate").items() >= before.items() and len(before) == len(part.runs)
    np.testing.assert_array_equal(whole.steps.values, world.steps.values)
    with pytest.raises(StudyError, match="made for another problem: seed was 3 and is 4"):
        generate("small", **{**common, "seed": 4}, store=tmp_path)


def test_runs_of_a_release_with_other_digits_are_refused(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = list(range(RUNS))
    done = partial(do_runs, world.settings, "times", {}, store=tmp_path, workers=1, task=Task())
    done(runs=runs[:1])
    monkeypatch.setattr(computations, "step_times", lambda _: np.ones(3))
    done(runs=runs[:1])  # it is only read
    with pytest.raises(StudyError, match="this release computes differently"):
        done(runs=runs)


def test_runs_in_files_of_an_earlier_release_are_read_once(world: World, tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text(json.dumps(asdict(world.settings)))
    for run in range(RUNS - 1):
        first = np.column_stack((world.steps.time_s[run], world.steps.values[run]))
        second = world.routines.time_s[run : run + 1]
        RunPiece(run, first, second).save(tmp_path / f"simulate-{run:05d}.json")
    seen: list[int] = []
    common = {"application": "minivite-128", "runs": RUNS, "seed": 3, "workers": 1}
    whole = generate(
        "small", **common, store=tmp_path, task=Task(lambda now: seen.append(now.done))
    )
    assert seen == [RUNS - 1, RUNS]
    np.testing.assert_array_equal(whole.steps.values, world.steps.values)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]


@pytest.mark.deep
def test_work_that_was_killed_goes_on(world: World, tmp_path: Path) -> None:
    made = ["--application", "minivite-128", "--runs", str(RUNS), "--seed", "3", "--workers", "2"]
    command = [sys.executable, "-m", "workbench", "variability", "generate", *made]
    command += ["--output", str(tmp_path)]
    killed = subprocess.Popen(command, start_new_session=True)
    table = RowTable(tmp_path / "runs.db", "world")
    while not table.read("simulate"):
        assert killed.poll() is None
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    subprocess.run(command, check=True, capture_output=True)
    np.testing.assert_array_equal(World.load(tmp_path).steps.values, world.steps.values)


def test_tables_are_read_back_as_they_were(world: World, truth: WorldTruth, tmp_path: Path) -> None:
    replace(world, known=truth).save(tmp_path)
    loaded = World.load(tmp_path)
    np.testing.assert_array_equal(loaded.steps.values, world.steps.values)
    assert loaded.known is not None
    np.testing.assert_array_equal(loaded.known.without_s, truth.without_s)
    np.testing.assert_array_equal(read_steps(tmp_path / "steps.csv").time_s, world.steps.time_s)
    np.testing.assert_array_equal(read_runs(tmp_path / "runs.csv").time_s, world.runs.time_s)
    jobs = read_jobs(tmp_path / "jobs.csv")
    assert jobs.job == world.jobs.job
    np.testing.assert_array_equal(jobs.start, world.jobs.start)


def test_the_truth_is_what_a_run_without_the_user_takes(world: World, truth: WorldTruth) -> None:
    assert truth.users == (*world.users, "user-00")
    user, run = np.argwhere(truth.beside)[0]
    np.testing.assert_allclose(
        world.without(world.users[user], int(run))[truth.step],
        truth.without_s[user, run],
        rtol=1e-12,  # sums of the same terms in blocks of other widths
    )
    without = run_scene(world, int(run), without=world.users[user])
    np.testing.assert_allclose(without.time_s[truth.step], truth.without_s[user, run], rtol=1e-12)


def test_who_is_not_there_slows_nothing_down(truth: WorldTruth) -> None:
    absent = ~truth.beside
    assert absent.any()
    assert (truth.slowdown[absent] == 0).all()


def test_users_together_add_what_their_shares_sum_to(world: World, shares: ShapleyTruth) -> None:
    steps = world.steps.time_s[:, shares.step]
    np.testing.assert_allclose(shares.alone_s + shares.value_s.sum(axis=0), steps, rtol=1e-12)
    assert shares.share.sum() == pytest.approx(1.0)
    idle = {user.name for user in world.settings.schedule.users if not user.patterns}
    sent = np.array([user not in idle for user in shares.users])
    assert (shares.value_s[~sent] == 0).all() and (shares.value_s[sent] != 0).any()


def test_users_who_do_the_same_have_the_same_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computations, "scene_of", lambda settings, run: _twins(settings, run))
    settings = WorldSettings("small", "minivite-128", RUNS, 3)
    values, _ = computations.shapley(settings, 0, 2, 2)
    np.testing.assert_allclose(values[0], values[1], rtol=1e-9)  # sums in another order
    assert (values[0] > 0).all() and (values[2:-1] == 0).all()


def test_wide_links_everywhere_leave_the_time_of_an_idle_machine() -> None:
    scene = scene_of(WorldSettings("small", "minivite-128", RUNS, 3), 0)
    every = np.ones(len(scene.loads.machine.source), bool)
    np.testing.assert_array_equal(step_times(scene, unlimited=every), scene.idle_s * scene.noise)


def test_the_busiest_class_of_links_costs_most(world: World) -> None:
    found = world.link_truth(steps=2, workers=1)
    assert isinstance(found, LinkTruth)
    assert found.kinds[int(np.argmax(found.saved))] in ("row", "global")
    assert found.saved.max() > 0.01


def test_without_interference_nobody_matters() -> None:
    null = generate(
        "small", application="minivite-128", runs=2, seed=3, interference=False, workers=1
    )
    truth, shares = null.truth(steps=2, workers=1), null.shapley(steps=2, workers=1)
    assert (truth.slowdown == 0).all() and truth.culprits == ()
    assert (shares.value_s == 0).all() and np.isnan(shares.share).all()
    # The others are there, and counters count what they send.
    counted = null.steps.values[:, :, null.steps.counters.index("SYS_RT_FLIT_TOT")]
    assert truth.beside.any() and (counted > 0).all()


def test_the_long_run_is_none_of_the_runs(world: World) -> None:
    long = world.long_runs(2)
    assert long.time_s.shape == (2, 620) and long.counters == world.steps.counters
    assert long.start[0] > world.runs.end.max()
    # Each is made beside the jobs of its own days, and is the same however many there are.
    assert long.start[1] - long.start[0] > long.time_s[0].sum()
    assert abs(np.corrcoef(long.time_s)[0, 1]) < 0.5
    np.testing.assert_array_equal(world.long_runs().time_s, long.time_s[:1])
    assert (long.time_s > 0).all() and np.isfinite(long.values).all()


def test_the_command_writes_tables_that_the_others_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "world")
    made = ["--application", "minivite-128", "--runs", "12", "--seed", "3", "--workers", "1"]
    arguments = ["variability", "generate", *made, "--truth-steps", "1", "--output", folder]
    assert main([*arguments, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["runs"] == 12 and summary["origin"] == "synthetic"
    assert {path.name for path in Path(folder).iterdir()} == {
        *(f"{name}.csv" for name in ("runs", "jobs", "steps", "placement", "routines", "truth")),
        "datapackage.json",
    }
    tables = ["--runs", f"{folder}/runs.csv", "--jobs", f"{folder}/jobs.csv"]
    assert main(["variability", "blame", *tables, "--permutations", "100", "--json"]) == 0
    blamed = {row["user"] for row in json.loads(capsys.readouterr().out)["users"]}
    assert blamed <= set(summary["slower_percent"]) and len(blamed) > 10


def _twins(settings: WorldSettings, run: int) -> Scene:
    """Return a run beside two users with the same job on the same nodes."""
    scene = scene_of(settings, run)
    machine, program = settings.machine, settings.program
    own = settings.schedule.nodes_of(int(scene.job[0]))
    nodes = np.setdiff1d(machine.nodes, own)[:256]
    rng = np.random.default_rng(0)
    ours = job_flows(program.patterns, own, own[:0], rng)
    theirs = job_flows({"all-to-all": 1.0}, nodes, own[:0], rng)
    rates = np.array([program.node_rate, 4e9, 4e9])
    return replace(
        scene,
        job=np.arange(3),
        users=("user-00", *settings.suspects[:2]),
        loads=machine_loads(machine, [ours, theirs, theirs], rates),
        activity=np.ones((3, len(scene.noise))),
    )
