"""Studies and designs on Dask workers: a cluster of this machine, and one that Slurm starts."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.slurm.machine import machine  # noqa: F401 - the fixture
from tests.unit.study.plans import small_plan
from tests.unit.uq.simulators import NETWORK, allgather
from workbench.study import StudyStatus, run, status
from workbench.tasks import Task
from workbench.uq import DesignPlan, evaluate_design, read_design

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

# Dask's own threads and sockets outlive what closes them by a moment.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


ROOT = Path(__file__).parents[3]
ROUNDS = {"collective": "gather", "algorithm": "binomial", "nodes": [64], "block_bytes": [8]}


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_a_cluster_gives_the_study_that_this_process_gives(client: object, tmp_path: Path) -> None:
    plan = small_plan()
    told: list[StudyStatus] = []
    far = run(plan, tmp_path / "far.db", cluster=client, task=Task(told.append))
    near = run(plan, tmp_path / "near.db", workers=1)
    frames = [result.to_frame().drop(columns="seconds") for result in (far, near)]
    assert frames[0].equals(frames[1])
    assert set(frames[0]["status"]) == {"done"}
    assert told[-1].finished


def test_a_cluster_evaluates_a_design(client: object, tmp_path: Path) -> None:
    plan = DesignPlan("ring", NETWORK, 24, holdout=4, rows_at_once=7)
    far = evaluate_design(
        plan, tmp_path / "far.db", model=allgather, tests=[*"abcdef"], cluster=client
    )
    assert (far.pending, far.all_failed) == (0, ())
    assert np.array_equal(far.times, allgather(plan.design))
    named = DesignPlan("named", points=4, model="rounds", settings=ROUNDS, rows_at_once=2)
    near = named.simulator.times(named.design)  # type: ignore[union-attr]
    found = evaluate_design(named, tmp_path / "far.db", cluster=client)
    assert np.array_equal(found.times, near)


def test_a_cluster_stops_and_lets_go_of_its_cells(client: object, tmp_path: Path) -> None:
    plan = small_plan(trials=100_000)
    path = tmp_path / "s.db"

    def stop_soon(now: StudyStatus) -> None:
        if now.trials >= 20:
            task.stop()

    task = Task(stop_soon)
    result = run(plan, path, cluster=client, task=task)
    assert 20 <= result.trials < len(plan.cells()) * plan.trials
    assert {cell.status for cell in result} == {"stopped", "waiting"}
    assert status(plan, path).counts["running"] == 0


# make test runs both on Dask's workers and on Slurm, but not on workers that Slurm starts.
@pytest.mark.deep
@pytest.mark.slurm
@pytest.mark.xdist_group("slurm")
@pytest.mark.usefixtures("machine")
def test_slurm_runs_a_study_and_a_design(tmp_path: Path) -> None:
    dask_jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    plan = small_plan()
    with (
        dask_jobqueue.SLURMCluster(
            cores=1,
            processes=1,
            memory="1GB",
            walltime="00:05:00",
            # Dask writes it into a script as it is, also where there is a space in its path.
            python=shlex.quote(sys.executable),
            log_directory=str(tmp_path),
            local_directory=str(tmp_path),
            job_script_prologue=["export OMP_NUM_THREADS=1"],
            # a Slurm of one node may not count its memory
            job_directives_skip=["--mem"],
            scheduler_options={"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"},
        ) as slurm,
        distributed.Client(slurm) as client,
    ):
        slurm.scale(jobs=2)
        client.wait_for_workers(1, timeout=120)
        result = run(plan, tmp_path / "s.db", cluster=client)
        named = DesignPlan("named", points=4, model="rounds", settings=ROUNDS, rows_at_once=2)
        runs = evaluate_design(named, tmp_path / "s.db", cluster=client)
    assert np.array_equal(runs.times, named.simulator.times(named.design))  # type: ignore[union-attr]
    # Or each task of an allocation takes rows from the same database.
    plan_file, tasks = tmp_path / "plan.yaml", tmp_path / "tasks.db"
    named.to_yaml(plan_file)
    words = (sys.executable, "-m", "workbench", "uq", "evaluate", str(plan_file), "--workers", "1")
    alone = ("srun", "-n", "2", "--overcommit", *words, "--database", str(tasks))
    subprocess.run(alone, check=True, cwd=ROOT, timeout=300)
    assert np.array_equal(read_design(named, tasks).times, runs.times)
    near = run(plan, tmp_path / "near.db", workers=1)
    frames = [r.to_frame().drop(columns="seconds") for r in (result, near)]
    assert frames[0].equals(frames[1])
