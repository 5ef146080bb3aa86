from __future__ import annotations

import numpy as np

from workbench.tune.heuristics.cma_es import CMAES
from workbench.tune.history import History
from workbench.tune.space.axes import Grid, Range
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({name: Range(-2.0, 3.0) for name in "abc"})


def bowl(configuration: dict) -> float:
    return float(sum((value - 0.7) ** 2 for value in configuration.values()))


def searched(cma: CMAES, space: TuningSpace, count: int, loss=bowl) -> History:
    history = History(space)
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = space.sample(rng)
        history.append(point, loss(point), initial=True)
    for _ in range(count):
        proposal = cma.ask(history)
        assert proposal is not None
        history.append(proposal, loss(proposal))
    return history


def test_a_smooth_bowl_is_found_closely() -> None:
    best = searched(CMAES(SPACE, 1), SPACE, 220).best()
    assert best is not None and best[1] < 1e-4


def test_the_first_population_lies_about_the_best_initial_point() -> None:
    history = History(SPACE)
    for a, loss in ((-1.5, 9.0), (2.5, 1.0)):
        history.append({"a": a, "b": a, "c": a}, loss, initial=True)
    cma = CMAES(SPACE, 0, sigma=0.05)
    found = [cma.ask(history, attempt=i) for i in range(20)]
    assert all(each is not None and min(each.values()) > 1.0 for each in found)


def test_points_are_recalled_and_not_their_roundings() -> None:
    space = TuningSpace({"a": Grid(tuple(range(5))), "b": Grid(tuple(range(5)))})
    history = History(space)
    history.append({"a": 2, "b": 2}, 1.0, initial=True)
    cma = CMAES(space, 3)
    proposal = cma.ask(history)
    assert proposal is not None and cma._state is not None
    history.append(proposal, 1.0)
    point = cma._drawn_point(cma._state.optimizer, history.visits[-1])
    assert space.decode(point) == proposal
    assert not np.allclose(point, space.encode(proposal))


def test_proposals_of_others_are_learned_at_their_own_place() -> None:
    history = History(SPACE)
    history.append({"a": 0.0, "b": 0.0, "c": 0.0}, 1.0, initial=True)
    cma = CMAES(SPACE, 3)
    cma.ask(history)
    history.append({"a": 3.0, "b": -2.0, "c": 0.5}, 1.0)
    assert cma._state is not None
    point = cma._drawn_point(cma._state.optimizer, history.visits[-1])
    assert point.tolist() == [1.0, 0.0, 0.5]


def test_it_restarts_with_a_larger_population_where_it_is_stuck() -> None:
    space = TuningSpace({"a": Range(0.0, 1.0), "b": Range(0.0, 1.0)})
    cma = CMAES(space, 0)
    searched(cma, space, 160, loss=lambda configuration: 1.0)
    assert cma._state is not None and cma._state.restarts >= 1
    assert cma._state.optimizer.population_size > 6


def test_one_parameter_is_enough() -> None:
    space = TuningSpace({"a": Range(0.0, 1.0)})
    best = searched(CMAES(space, 0), space, 60, loss=lambda c: (c["a"] - 0.3) ** 2).best()
    assert best is not None and best[1] < 1e-3


def test_another_history_is_followed_from_its_start() -> None:
    one, two = CMAES(SPACE, 1), CMAES(SPACE, 1)
    first = searched(one, SPACE, 30)
    other = History(SPACE)
    other.append({"a": 1.0, "b": 1.0, "c": 1.0}, 1.0, initial=True)
    one.ask(first)
    assert one.ask(other) == two.ask(other)
    assert one.ask(first) == two.ask(first)
