"""Worlds with known causes: the same digits however they are made, tables that go round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.variability import World, generate, read_jobs, read_runs, read_steps
from workbench.variability.world.world import WorldTruth

RUNS = 3


@pytest.fixture(scope="module")
def world() -> World:
    return generate("small", application="amg-128", runs=RUNS, seed=3, workers=1)


@pytest.fixture(scope="module")
def truth(world: World) -> WorldTruth:
    return world.truth(steps=2, workers=1)


def test_processes_make_the_same_digits(world: World) -> None:
    again = generate("small", application="amg-128", runs=RUNS, seed=3, workers=2)
    np.testing.assert_array_equal(again.steps.values, world.steps.values)
    np.testing.assert_array_equal(again.steps.time_s, world.steps.time_s)
    np.testing.assert_array_equal(again.routine_s, world.routine_s)


def test_tables_are_read_back_as_they_were(world: World, truth: WorldTruth, tmp_path: Path) -> None:
    from dataclasses import replace

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
    user, run = np.argwhere(truth.beside)[0]
    np.testing.assert_allclose(
        world.without(world.users[user], int(run))[truth.step],
        truth.without_s[user, run],
        rtol=1e-12,  # sums of the same terms in blocks of other widths
    )


def test_who_is_not_there_slows_nothing_down(truth: WorldTruth) -> None:
    absent = ~truth.beside
    assert absent.any()
    assert (truth.slowdown[absent] == 0).all()
