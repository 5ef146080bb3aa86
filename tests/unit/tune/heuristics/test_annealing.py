from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.heuristics.annealing import Annealing
from workbench.tune.heuristics.heuristic import random_neighbour
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.space import TuningSpace

LINE = TuningSpace({"x": Grid(tuple(range(20)))})


def history_of(values: list[tuple[int, float]], initial: int = 2) -> History:
    history = History(LINE)
    for number, (x, value) in enumerate(values):
        history.append({"x": x}, value, initial=number < initial)
    return history


@for_each(
    "cooling, factor, after",
    [
        ("exponential", 0.5, lambda k: 2.0 * 0.5**k),
        ("logarithmic", 3.0, lambda k: 2.0 / (1.0 + 3.0 * math.log(k + 1))),
        ("multiplicative", 3.0, lambda k: 2.0 / (1.0 + 3.0 * k)),
    ],
)
def test_the_three_schedules(cooling: str, factor: float, after) -> None:
    annealing = Annealing(
        LINE, cooling=cooling, cooling_factor=factor, initial_temperature=2.0, restart="none"
    )
    values = [(0, 5.0), (1, 4.0), (2, 3.0), (3, 6.0), (2, 3.0)]
    for steps in range(4):
        history = history_of(values[: 2 + steps])
        assert annealing.temperature(history) == pytest.approx(after(steps))


@for_each("factor", [1.0, 10.0])
def test_exponential_cooling_that_never_cools_is_refused(factor: float) -> None:
    with pytest.raises(ParameterError, match="cooling_factor must be below 1"):
        Annealing(LINE, cooling_factor=factor)


def test_resamples_do_not_cool() -> None:
    annealing = Annealing(LINE, restart="none")
    history = history_of([(0, 5.0), (1, 4.0), (2, 3.0)])
    before = annealing.temperature(history)
    history.append({"x": 2}, 3.1, resampled=True)
    assert annealing.temperature(history) == before


def test_it_starts_from_the_best_initial_point_and_moves_to_better_ones() -> None:
    annealing = Annealing(LINE, initial_temperature=1e-6, least_temperature=0.0, restart="none")

    def around(history: History) -> float:
        return float(
            np.median([annealing.ask(history, attempt=i)["x"] for i in range(60)])  # type: ignore[index]
        )

    assert abs(around(history_of([(5, 1.0), (15, 9.0)])) - 5) <= 1
    # Better: it moves. Worse and cold: it stays.
    assert abs(around(history_of([(5, 1.0), (15, 9.0), (10, 0.5)])) - 10) <= 1
    assert abs(around(history_of([(5, 1.0), (15, 9.0), (10, 2.0)])) - 5) <= 1


def test_a_hot_walk_accepts_worse_neighbours() -> None:
    history = history_of([(5, 1.0), (15, 9.0), (10, 2.0)])
    walks = [Annealing(LINE, seed, initial_temperature=1e9, restart="none") for seed in range(10)]
    found = [walk.ask(history)["x"] for walk in walks]  # type: ignore[index]
    assert all(abs(x - 10) <= 5 for x in found) and np.mean(found) > 8


def test_a_cold_walk_ends_unless_it_may_restart() -> None:
    values = [(0, 5.0), (1, 4.0)] + [(2 + i % 5, 4.5) for i in range(6)]
    options = {"cooling_factor": 0.1, "initial_temperature": 1.0}
    assert Annealing(LINE, restart="none", **options).ask(history_of(values)) is None
    restarted = Annealing(LINE, restart="random", restart_probability=0.0, **options)
    assert restarted.ask(history_of(values)) is not None
    exhausted = Annealing(LINE, restart="random", max_restarts=1, **options)
    assert exhausted.ask(history_of(values)) is None


def test_a_restart_really_heats_up_and_goes_to_the_best() -> None:
    cold = [(0, 5.0), (7, 1.0), (8, 3.0), (8, 3.0), (8, 3.0)]
    options = {"restart": "threshold", "restart_threshold": 1.0, "max_restarts": 1}
    annealing = Annealing(LINE, cooling_factor=0.5, initial_temperature=0.7, **options)
    # The first worse neighbour has a chance below 1: T is at its start again, and cools from there.
    assert annealing.temperature(history_of(cold[:3])) == pytest.approx(0.7)
    assert annealing.temperature(history_of(cold[:4])) == pytest.approx(0.35)
    assert annealing.temperature(history_of(cold)) == pytest.approx(0.175)
    near = [annealing.ask(history_of(cold[:3]), attempt=i)["x"] for i in range(60)]  # type: ignore[index]
    assert abs(np.median(near) - 7) <= 1


def test_chance_decides_of_a_random_restart_by_its_probability() -> None:
    values = [(0, 5.0), (7, 1.0), (8, 3.0)]
    hot = 0
    for seed in range(200):
        walk = Annealing(LINE, seed, restart="random", restart_probability=0.3)
        hot += walk.temperature(history_of(values)) == 1.0
    assert 35 <= hot <= 85  # 60 +- 4 standard deviations of a binomial


def test_every_value_can_be_reached_by_hops() -> None:
    space = TuningSpace(
        {"a": Grid(tuple(range(6))), "b": Choices(("x", "y", None)), "c": Grid((1, 2, 3))},
        conditions={"c": "a > 3"},
    )
    rng = np.random.default_rng(0)
    here = space.sample(rng)
    seen = set()
    for _ in range(1500):
        moved = random_neighbour(space, here, rng)
        assert space.contains(moved) and space.key(moved) != space.key(here)
        here = moved
        seen.add(space.key(here))
    assert seen == {space.key(each) for each in space.all()}


def test_a_hop_moves_every_parameter_alike() -> None:
    space = TuningSpace({"a": Grid(tuple(range(9))), "b": Choices(tuple(range(30)))})
    rng = np.random.default_rng(0)
    start = {"a": 4, "b": 7}
    moved = [random_neighbour(space, start, rng) for _ in range(600)]
    only_a = sum(each["a"] != 4 and each["b"] == 7 for each in moved)
    only_b = sum(each["a"] == 4 and each["b"] != 7 for each in moved)
    assert 0.6 < only_a / only_b < 1.4


def test_where_nothing_is_near_a_hop_goes_anywhere() -> None:
    space = TuningSpace(
        {"a": Grid(tuple(range(9))), "b": Grid(tuple(range(9)))}, constraints=("a * 8 == b * 8",)
    )
    moved = random_neighbour(space, {"a": 0, "b": 0}, np.random.default_rng(1))
    assert space.contains(moved)
