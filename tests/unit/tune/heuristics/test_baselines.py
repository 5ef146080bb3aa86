from __future__ import annotations

from collections import Counter

from workbench.tune.heuristics.baselines import ExhaustiveSearch, RandomSearch
from workbench.tune.heuristics.heuristic import Capped
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace(
    {"a": Grid((1, 2, 3)), "b": Choices(("x", "y"))}, constraints=("a <= 2 or b == 'x'",)
)
ALL = [{"a": a, "b": b} for a in (1, 2, 3) for b in ("x", "y") if a <= 2 or b == "x"]


def test_exhaustive_search_walks_the_grid_in_order_and_ends() -> None:
    history = History(SPACE)
    exhaustive = ExhaustiveSearch(SPACE)
    found = []
    while (proposal := exhaustive.ask(history)) is not None:
        found.append(proposal)
        history.append(proposal, 1.0)
    assert found == ALL


def test_exhaustive_search_leaves_out_what_was_or_is_being_run() -> None:
    history = History(SPACE)
    history.append(ALL[0], 1.0, initial=True)
    history.append(ALL[2], 1.0, status="failed")
    history.pending = [ALL[1]]
    exhaustive = ExhaustiveSearch(SPACE)
    assert exhaustive.ask(history) == ALL[3]
    assert exhaustive.ask(history, attempt=1) == ALL[4]
    assert exhaustive.ask(history, attempt=2) is None


def test_random_search_draws_evenly() -> None:
    history = History(SPACE)
    drawn = Counter(SPACE.key(RandomSearch(SPACE, seed).ask(history) or {}) for seed in range(1000))
    assert len(drawn) == 5 and min(drawn.values()) > 150 and max(drawn.values()) < 250


class Stubborn:
    """Proposes the same whatever happens."""

    def __init__(self, proposal: dict | None) -> None:
        self.proposal = proposal
        self.attempts: list[int] = []

    def ask(self, history: History, *, attempt: int = 0) -> dict | None:
        self.attempts.append(attempt)
        return self.proposal


def test_what_was_run_is_asked_for_again_and_then_drawn_anew() -> None:
    history = History(SPACE)
    for each in ALL[:4]:
        history.append(each, 1.0)
    stubborn = Stubborn(ALL[0])
    fresh = Capped(stubborn, SPACE, retries=3)
    assert fresh.ask(history) == ALL[4]
    assert stubborn.attempts == [0, 1, 2, 3]
    fresh.ask(history, attempt=1)
    assert stubborn.attempts[4:] == [4, 5, 6, 7]
    history.append(ALL[4], 1.0)
    assert fresh.ask(history) is None


def test_a_heuristic_that_ends_ends() -> None:
    assert Capped(Stubborn(None), SPACE).ask(History(SPACE)) is None


def test_a_continuous_space_is_never_used_up() -> None:
    space = TuningSpace({"a": Range(0.0, 1.0)})
    history = History(space)
    history.append({"a": 0.5}, 1.0)
    found = Capped(Stubborn({"a": 0.5}), space).ask(history)
    assert found is not None and found != {"a": 0.5}
