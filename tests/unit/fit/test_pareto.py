"""The front of latency against bandwidth: nothing tried beats its points, and it is kept whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import Scatter
from bokeh.plotting import figure

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import ParetoFront, SearchSpace, fit, model_to_fit, pareto, rmspe_by_target
from workbench.measure import OSUCurve
from workbench.plotting import describe_pareto, plot_pareto
from workbench.simulate import simulate_osu
from workbench.tasks import Progress, Task

TRIALS = 60


@pytest.fixture(scope="module")
def machine() -> OSUCurve:
    return datasets.load("azure-hb96v3-hdr")


@pytest.fixture(scope="module")
def front(machine: OSUCurve) -> ParetoFront:
    return pareto(machine, "logp", trials=TRIALS)


def test_no_trial_is_better_in_both_than_a_point_of_the_front(front: ParetoFront) -> None:
    assert front.trials == TRIALS
    best = front.errors[front.front]
    assert (np.diff(best[:, 0]) > 0).all()
    assert (np.diff(best[:, 1]) < 0).all()
    for point in best:
        others = front.errors[np.isfinite(front.errors).all(axis=1)]
        assert not ((others <= point).all(axis=1) & (others < point).any(axis=1)).any()
    beaten = np.setdiff1d(np.arange(TRIALS), front.front)
    for trial in beaten:
        assert (best <= front.errors[trial]).all(axis=1).any()


def test_each_point_has_the_errors_of_its_model(machine: OSUCurve, front: ParetoFront) -> None:
    for point in (0, -1):
        errors = rmspe_by_target(simulate_osu(front.model(point), machine.sizes), machine)
        trial = front.front[point]
        assert [errors["latency"], errors["bandwidth"]] == front.errors[trial].tolist()
    with pytest.raises(ParameterError, match="point must be one of the"):
        front.model(len(front))


def test_the_same_seed_gives_the_same_front_and_a_stop_its_beginning(
    machine: OSUCurve, front: ParetoFront
) -> None:
    seen: list[tuple[int, int]] = []

    def note(now: Progress) -> None:
        seen.append((now.done, now.total))
        if now.done == 20:
            task.stop()

    task = Task(note)
    part = pareto(machine, "logp", trials=TRIALS, task=task)
    assert seen[-1] == (20, TRIALS)
    assert part.errors.tolist() == front.errors[:20].tolist()
    assert pareto(machine, "logp", trials=20, seed=1).errors.tolist() != part.errors.tolist()


def test_it_is_saved_and_read_back(front: ParetoFront, tmp_path: Path) -> None:
    again = ParetoFront.load(front.save(tmp_path / "front.json"))
    assert again.errors.tolist() == front.errors.tolist()
    assert again.to_frame().equals(front.to_frame())
    assert again.model(0) == front.model(0)


def test_a_curve_without_bandwidth_is_refused(machine: OSUCurve) -> None:
    with pytest.raises(ParameterError, match="has no bandwidth"):
        pareto(machine.alone("latency"), "logp")


def test_a_search_in_which_everything_is_refused_has_no_front_and_no_figure(
    machine: OSUCurve,
) -> None:
    space = (
        SearchSpace.for_model(model_to_fit("snappr"))
        .with_bounds("node.nic.credits", "1KB", "2KB")
        .with_bounds("node.nic.mtu", "4KB", "8KB")
    )
    nothing = pareto(machine, space=space, trials=3)
    assert len(nothing) == 0
    assert "nothing could be simulated" in repr(nothing)
    with pytest.raises(ParameterError, match="run more trials"):
        plot_pareto(nothing)


def test_the_figure_says_what_the_ends_cost(front: ParetoFront) -> None:
    drawn = plot_pareto(front, {"joint": fit(front.measured, "logp", trials=40)})
    fig = drawn.select_one({"type": figure})
    assert "RMSPE, %" in fig.xaxis[0].axis_label
    assert len([r for r in fig.renderers if isinstance(r.glyph, Scatter)]) == 3
    best = front.errors[front.front]
    assert f"{best[0, 0]:.0f} %, costs {best[0, 1]:.0f} % in bandwidth" in describe_pareto(front)
