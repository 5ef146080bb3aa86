"""What every heuristic keeps to, whatever it does."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.heuristics import HEURISTICS, Heuristic, Proposal, make_heuristic
from workbench.tune.history import History
from workbench.tune.initial_points import initial_points
from workbench.tune.pruning import make_pruning
from workbench.tune.rules_by_name import REQUIRED, options_of
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace
from workbench.tune.specs import options_text

SPACES = {
    "grid": TuningSpace(
        {"a": Grid(tuple(range(12))), "b": Grid.steps(1, 4096, 2, "multiplicative")},
        defaults={"a": 5, "b": 3000},  # beside the grid
    ),
    "open-mpi": TuningSpace(
        {
            "algorithm": Choices(tuple(range(7))),
            "segment_bytes": Grid.steps(1024, 65536, 2, "multiplicative"),
            "fanout": Grid((2, 4, 8)),
        },
        conditions={"segment_bytes": "algorithm in [3, 4, 5]", "fanout": "algorithm == 5"},
        defaults={"algorithm": 0, "segment_bytes": 1024, "fanout": 4},
    ),
    "mixed": TuningSpace(
        {
            "policy": Choices(("lru", "fifo", None, True)),
            "share": Range(0.0, 1.0),
            "bytes": Range(16, 1 << 20, log=True, integer=True),
            "rate": Range(1e-3, 1e3, log=True),
            "ways": Grid((0.5, 1.5, 8.0)),
        },
        constraints=("share * ways <= 6", "bytes >= 64 * ways"),
        conditions={"rate": "share > 0.5"},
    ),
    "one": TuningSpace({"only": Grid(tuple(range(30)))}),
    "fixed": TuningSpace({"fixed": Grid((7,)), "c": Choices(tuple("abcdefgh"))}),
}
NAMES = tuple(HEURISTICS)
PAIRS = [
    (name, space)
    for name in NAMES
    for space in SPACES
    if name != "exhaustive" or SPACES[space].finite
]
SOME_PAIRS = PAIRS[::2]  # two or three spaces for each


def made(name: str, space: TuningSpace, seed: int, **options: Any) -> Heuristic:
    """Return a heuristic; a small forest must keep to the same as a large one, and is faster."""
    small = {"trees": 16} if name == "surrogate-forest" else {}
    return make_heuristic(name, space, seed, **{**small, **options})


def loss(space: TuningSpace, configuration: Configuration) -> float:
    """Return a bowl in the unit cube, positive."""
    return 1.0 + float(np.square(space.encode(configuration) - 0.3).sum())


def add(history: History, configuration: Configuration, **options: bool) -> None:
    """Run a configuration: mostly complete, now and then pruned or failed."""
    value = loss(history.space, configuration) * (1.0 + 0.01 * (len(history) % 3))
    status = {5: "pruned", 8: "failed"}.get(len(history) % 9, "complete")
    sign = 1.0 if history.minimise else -1.0
    history.append(configuration, sign * value, seconds=value, status=status, **options)


def started(space: TuningSpace, seed: int = 3, **options: bool) -> History:
    history = History(space, **options)
    for point in initial_points(space, 4, seed=seed):
        add(history, point, initial=True)
    return history


def searched(heuristic: Heuristic, history: History, count: int) -> list[Proposal]:
    found = []
    for number in range(count):
        proposal = heuristic.ask(history)
        if proposal is None:
            break
        found.append(proposal)
        add(history, proposal)
        if number % 4 == 1:
            add(history, proposal, resampled=True)
    return found


@for_each("name, space", SOME_PAIRS)
def test_proposals_are_in_the_space_and_canonical(name: str, space: str) -> None:
    there = SPACES[space]
    found = searched(made(name, there, 1), started(there), 8)
    assert found
    for proposal in found:
        assert there.contains(proposal)
        assert list(proposal.items()) == list(there.canonical(proposal).items())
        for parameter, value in proposal.items():
            same = there.axes[parameter].coerce(value)
            assert value is None or type(value) is type(same)


@for_each("name, space", SOME_PAIRS)
def test_a_search_that_was_stopped_anywhere_goes_on_the_same(name: str, space: str) -> None:
    there = SPACES[space]
    through = started(there)
    lasting = made(name, there, 5)
    for number in range(10):
        proposal = lasting.ask(through)
        if number in (0, 5, 9):
            again = History(there)
            again.extend(through)
            resumed = made(name, there, 5)
            assert resumed.ask(again) == proposal
            assert resumed.ask(again) == proposal  # asking changes nothing
        if proposal is None:
            break
        add(through, proposal)
        if number % 4 == 1:
            add(through, proposal, resampled=True)


@for_each("name", NAMES)
def test_the_seed_decides_alone(name: str) -> None:
    there = SPACES["grid"]
    runs = [searched(made(name, there, seed), started(there), 12) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    # A surrogate that scores the whole grid has nothing to draw but between equals.
    if name not in ("exhaustive", "surrogate-gp"):
        assert runs[0] != runs[2]


@for_each("name", NAMES)
def test_another_attempt_is_another_configuration(name: str) -> None:
    there = SPACES["grid"]
    history = started(there)
    heuristic = made(name, there, 1)
    found = [heuristic.ask(history, attempt=attempt) for attempt in range(6)]
    assert len({there.key(each) for each in found if each is not None}) >= 2
    assert found == [heuristic.ask(history, attempt=attempt) for attempt in range(6)]


@for_each("name", NAMES)
def test_nothing_is_proposed_twice_where_it_must_not_and_a_grid_is_used_up(name: str) -> None:
    there = SPACES["fixed"]
    history = started(there)
    found = searched(made(name, there, 1, most_runs=1), history, 20)
    keys = [there.key(each) for each in found]
    assert len(set(keys)) == len(keys) == 8 - 4
    assert not {there.key(run.configuration) for run in started(there)} & set(keys)


@for_each("name", NAMES)
def test_what_fails_is_not_proposed_again_as_new(name: str) -> None:
    """However little the runs tell: here all but one of them fail."""
    there = SPACES["fixed"]
    history = History(there)
    heuristic = made(name, there, 1, most_runs=1)
    for number in range(8):
        proposal = heuristic.ask(history)
        assert proposal is not None and not history.seen(proposal)
        if number == 0:
            history.append(proposal, 1.0)
        else:
            history.append(proposal, math.nan, status="failed")
    assert heuristic.ask(history) is None


@for_each("name", NAMES)
def test_a_used_up_grid_ends_or_is_searched_on(name: str) -> None:
    there = SPACES["fixed"]
    history = History(there)
    for configuration in there.all():
        history.append(configuration, loss(there, configuration), initial=True)
    proposal = made(name, there, 1).ask(history)
    assert proposal is None or there.contains(proposal)
    assert (proposal is None) == (name in ("exhaustive", "surrogate-forest"))


@for_each("name", NAMES)
def test_what_is_being_run_is_not_proposed_as_new(name: str) -> None:
    there = SPACES["open-mpi"]
    history = started(there)
    heuristic = made(name, there, 1, most_runs=1)
    pending: list[Configuration] = []
    for _ in range(6):
        history.pending = tuple(pending)
        proposal = heuristic.ask(history)
        assert proposal is not None and there.contains(proposal)
        assert there.key(proposal) not in {there.key(each) for each in pending}
        pending.append(proposal)


@for_each("name, space", SOME_PAIRS)
@for_each("status", ["none", "failed", "pruned", "unknown", "one"])
def test_it_begins_with_little_or_nothing_known(name: str, space: str, status: str) -> None:
    there = SPACES[space]
    history = History(there)
    rng = np.random.default_rng(2)
    for _ in range(0 if status == "none" else 1 if status == "one" else 4):
        outcome = {"one": "complete", "unknown": "pruned"}.get(status, status)
        value = math.nan if status == "unknown" else 2.0
        history.append(there.sample(rng), value, seconds=2.0, status=outcome)
    proposal = made(name, there, 1).ask(history)
    assert proposal is not None and there.contains(proposal)


@for_each("name", NAMES)
def test_a_maximised_target_is_the_minimised_one_mirrored(name: str) -> None:
    there = SPACES["open-mpi"]
    options = {"transform": "none"} if "transform" in options_of(HEURISTICS[name]) else {}
    up = searched(made(name, there, 4, **options), started(there, minimise=False), 10)
    down = searched(made(name, there, 4, **options), started(there), 10)
    assert up == down


@for_each("name", NAMES)
@for_each("scale", [0.0, 1e-250, 1e250, -1e6])
def test_any_finite_values_can_be_searched(name: str, scale: float) -> None:
    there = SPACES["grid"]
    history = History(there)
    for point in initial_points(there, 5):
        history.append(point, scale * loss(there, point), initial=True)
    heuristic = made(name, there, 1)
    for _ in range(6):
        proposal = heuristic.ask(history)
        assert proposal is not None and there.contains(proposal)
        history.append(proposal, scale * loss(there, proposal))


@functools.cache
def mean_best(name: str, seeds: int, count: int) -> float:
    grid = Grid(tuple(range(20)))
    space = TuningSpace({"a": grid, "b": grid, "c": Choices((1, 2, 3, 4))})
    found = []
    for seed in range(seeds):
        history = History(space)
        for point in initial_points(space, 6, seed=seed):
            history.append(point, loss(space, point), initial=True)
        heuristic = made(name, space, seed)
        for _ in range(count):
            proposal = heuristic.ask(history)
            assert proposal is not None
            history.append(proposal, loss(space, proposal))
        best = history.best()
        assert best is not None
        found.append(best[1])
    return float(np.mean(found))


@for_each("name", [name for name in NAMES if name not in ("random", "exhaustive")])
def test_what_learns_does_better_than_chance(name: str) -> None:
    slow = name in ("surrogate-forest", "surrogate-gp", "tpe")
    seeds, count = (3, 25) if slow else (8, 60)
    assert mean_best(name, seeds, count) < mean_best("random", seeds, count)


@for_each(
    "name, options, key",
    [
        ("magic", {}, "heuristic"),
        ("random", {"luck": 7}, "luck"),
        ("surrogate-gp", {"acquisition": "ucb"}, "acquisition"),
        ("surrogate-gp", {"transform": "sqrt"}, "transform"),
        ("surrogate-gp", {"margin": -1.0}, "margin"),
        ("surrogate-gp", {"margin": 10**400}, "margin"),
        ("surrogate-forest", {"trees": 1}, "trees"),
        ("surrogate-forest", {"trees": 10**30}, "trees"),
        ("annealing", {"restart_probability": 1e308}, "restart_probability"),
        ("annealing", {"cooling": "linear"}, "cooling"),
        ("annealing", {"initial_temperature": 0.0}, "initial_temperature"),
        ("annealing", {"restart": "always"}, "restart"),
        ("annealing", {"restart_threshold": 1.5}, "restart_threshold"),
        ("genetic", {"selection": "roulette"}, "selection"),
        ("genetic", {"mutation_rate": 1.5}, "mutation_rate"),
        ("genetic", {"mutation_rate": "often"}, "mutation_rate"),
        ("genetic", {"elitism": "no"}, "elitism"),
        ("tpe", {"startup": 0}, "startup"),
        ("tpe", {"candidates": 10**30}, "candidates"),
        ("cma-es", {"sigma": 0.0}, "sigma"),
    ],
)
def test_an_option_that_cannot_be_is_refused(name: str, options: dict, key: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_heuristic(name, SPACES["grid"], **options)
    assert error.value.key == key


def test_seeds_and_spaces_that_cannot_be_are_refused() -> None:
    with pytest.raises(ParameterError, match="seed"):
        make_heuristic("random", SPACES["grid"], -1)
    with pytest.raises(ParameterError, match="to try all"):
        make_heuristic("exhaustive", SPACES["mixed"])


@for_each("name", NAMES)
def test_the_most_runs_are_a_setting_and_no_option(name: str) -> None:
    assert "most_runs" not in options_of(HEURISTICS[name])


def test_names_are_found_in_either_case_and_options_are_reported() -> None:
    assert make_heuristic("Surrogate-GP", SPACES["grid"])
    assert options_of(HEURISTICS["surrogate-gp"])["acquisition"] == "ei"
    assert "seed" not in options_of(HEURISTICS["random"])


def test_an_option_without_a_default_differs_from_one_that_is_none() -> None:
    def maker(limit: float, share: float | None = None) -> None: ...

    assert options_of(maker) == {"limit": REQUIRED, "share": None}
    assert options_text(options_of(maker)) == "limit=?, share=none"
    with pytest.raises(ParameterError, match="pruning fixed needs seconds"):
        make_pruning("fixed")
