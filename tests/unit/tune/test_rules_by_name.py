"""Heuristics and rules of one's own, registered by name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import for_each
from workbench import tune
from workbench.errors import ParameterError
from workbench.tune import HEURISTICS, PRUNINGS, RESAMPLINGS, STOPPINGS, History, TuningSpace
from workbench.tune.rules_by_name import options_of


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for makers in (HEURISTICS, RESAMPLINGS, PRUNINGS, STOPPINGS):
        monkeypatch.setattr(makers, "_makers", dict(makers))


class FromTheLeft:
    """Runs the configurations in order, every ``step``-th."""

    def __init__(self, space: TuningSpace, seed: int, step: int = 1) -> None:
        self.all = [*space.all()][::step]

    def ask(self, history: History, *, attempt: int = 0) -> Any:
        at = len(history) + attempt
        return self.all[at] if at < len(self.all) else None


class UntilTwo:
    """Runs each configuration twice."""

    def should_repeat(self, history: History) -> bool:
        return history.last is not None and len(history.runs_of(history.last.configuration)) < 2


class GoodEnough:
    """Ends at a value."""

    def __init__(self, value: float) -> None:
        self.value = value

    def reason(self, history: History) -> str | None:
        best = history.best()
        return f"{self.value:g} is reached" if best and best[1] <= self.value else None


def good_enough(value: float = 2.0) -> GoodEnough:
    return GoodEnough(value)


SPACE = TuningSpace({"x": tune.Choices((9, 8, 3, 2, 1))})


def test_one_s_own_heuristic_and_rules_search_by_their_names() -> None:
    HEURISTICS.register("from-the-left", FromTheLeft)
    RESAMPLINGS.register("until-two", UntilTwo)
    STOPPINGS.register("good-enough", good_enough)
    result = tune.tune(
        SPACE,
        tune.Function(lambda c: float(str(c["x"]))),
        initial=0,
        heuristic=("from-the-left", {"step": 2}),
        resampling="until-two",
        stopping=("good-enough", {"value": 3.0}),
        budget=20,
    )
    assert [run.configuration["x"] for run in result.history] == [9, 9, 1]
    assert "3 is reached" in result.stop_reason


def test_a_registered_pruning_limits_a_run() -> None:
    class Second:
        def limit_s(self, history: History, *, initial: bool = False) -> float | None:
            return 1.0

    PRUNINGS.register("a-second", Second)
    assert tune.make_pruning("a-second").limit_s(History(SPACE)) == 1.0


def test_a_registered_heuristic_is_compared_with_others() -> None:
    HEURISTICS.register("from-the-left", FromTheLeft)
    plan = tune.SearchComparisonPlan(
        ("simulated-12-ranks",),
        spaces=("bcast/4096",),
        heuristics=("from-the-left", "random"),
        resamplings=("none",),
        stoppings=("budget",),
        noises=(tune.AddedNoise("none"),),
        seeds=2,
        budget=20,
    )
    found = tune.compare_searches(plan).methods().set_index("heuristic")
    assert (found["runs"] == 20).all()
    assert found["share_low"]["from-the-left"] == found["share_high"]["from-the-left"]


def test_other_processes_do_not_know_what_was_registered_here() -> None:
    HEURISTICS.register("from-the-left", FromTheLeft)
    assert HEURISTICS.registered == ("from-the-left",)
    plan = tune.SearchComparisonPlan(("simulated-12-ranks",), heuristics=("from-the-left",))
    with pytest.raises(ParameterError, match="jobs must be 1 with the heuristic from-the-left"):
        tune.compare_searches(plan, jobs=2)


def test_options_are_those_of_the_maker_and_checked() -> None:
    STOPPINGS.register("good-enough", good_enough)
    assert options_of(STOPPINGS["good-enough"]) == {"value": 2.0}
    assert options_of(HEURISTICS["random"]) == {}
    with pytest.raises(ParameterError, match="'valu' is not an option of stopping good-enough"):
        tune.make_stopping("good-enough", valu=1.0)


def test_what_is_registered_may_be_registered_again_but_not_another_by_its_name() -> None:
    RESAMPLINGS.register("mine", UntilTwo)
    again = type("UntilTwo", (UntilTwo,), {"__module__": __name__})
    RESAMPLINGS.register("mine", again)
    assert RESAMPLINGS["mine"] is again
    with pytest.raises(ParameterError, match="a resampling named mine is there already"):
        RESAMPLINGS.register("mine", type("Other", (UntilTwo,), {}))
    STOPPINGS.register("mine", good_enough)
    STOPPINGS.register("mine", good_enough)


@for_each("name", ["random", "none", "exhaustive"])
def test_a_name_that_ships_is_taken(name: str) -> None:
    with pytest.raises(ParameterError, match=f"a heuristic named {name} is there already; choose"):
        HEURISTICS.register(name, FromTheLeft)


@for_each("name", ["", "My-Own", "my own", "a:b", "x=1", "9", None, 3])
def test_a_name_can_be_written_with_options(name: Any) -> None:
    with pytest.raises(ParameterError, match="name must be lower-case letters"):
        HEURISTICS.register(name, FromTheLeft)


class Silent:
    """Has no method of a rule."""


class Deaf:
    """Is not told what was run."""

    def ask(self) -> None:
        return None

    def should_repeat(self) -> bool:
        return False


def _with(*names: str) -> Any:
    scope: dict[str, Any] = {"Silent": Silent}
    exec(f"def maker({', '.join(names)}):\n    return Silent()", scope)
    return scope["maker"]


@for_each(
    "makers, maker, message",
    [
        (RESAMPLINGS, UntilTwo(), "must be a class or a function that makes one; got <"),
        (RESAMPLINGS, Silent, r"must have a method should_repeat\(history\); Silent has none"),
        (RESAMPLINGS, Deaf, r"should_repeat of Deaf must be called as should_repeat\(history\)"),
        (HEURISTICS, Silent, r"made with \(space, seed\) and then its options; Silent is made"),
        (HEURISTICS, _with("seed", "space"), r"maker is made with \(seed, space\)"),
        (HEURISTICS, _with("space", "seed", "*more"), r"must have a name; maker takes \*more"),
        (STOPPINGS, _with("**options"), r"must have a name; maker takes \*\*options"),
        (STOPPINGS, FromTheLeft, r"must have a method reason\(history\); FromTheLeft has none"),
        (PRUNINGS, UntilTwo, r"method limit_s\(history, \*, initial=False\)"),
    ],
)
def test_what_does_not_fit_is_refused(makers: Any, maker: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        makers.register("mine", maker)
    assert "mine" not in makers


def test_what_a_function_makes_is_checked_when_it_is_made() -> None:
    HEURISTICS.register("mine", _with("space", "seed=0"))
    with pytest.raises(ParameterError, match="a heuristic must have a method ask"):
        tune.make_heuristic("mine", SPACE)
