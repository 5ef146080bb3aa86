"""Lesson 5's last exercises: a search for a minute of a simulated machine's time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench import tune
from workbench.teaching.answers import Amount, WholeNumber
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.mistakes import share_for_percent
from workbench.teaching.student import ParameterDraw
from workbench.tune import SimulatedCollective, TuningResult

# Collective, heuristic and seed of searches for a minute of the machine's time.
_SECONDS = 60
_SIZE, _CALLS = 2**20, 2000  # 2.9 s a run of allreduce's default: some 20 in the minute


def _live(*rows: tuple[str, str, int]) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        chosen = dict(zip(("collective", "heuristic", "seed"), draw.one_of(rows), strict=True))
        return {**chosen, "size": _SIZE, "calls": _CALLS, "seconds": _SECONDS}

    return given


@cache
def _component(given: Given) -> SimulatedCollective:
    return SimulatedCollective(given.collective, given.size, calls=given.calls)


@cache
def _searched(given: Given, repeats: int = 1) -> TuningResult:
    component = _component(given)
    return tune.tune(
        component.space,
        tune.Function(component.run),
        heuristic=given.heuristic,
        seed=given.seed,
        stopping=("time", {"seconds": given.seconds}),
        resampling=("static", {"runs": repeats}),
        budget=500,
    )


def _configurations(result: TuningResult) -> int:
    return len({str(record.run.configuration) for record in result.records})


def _others(right: int, *wrong: float) -> list[int]:
    """Return wrong numbers, rounded either way, without the right one."""
    return sorted({whole for one in wrong for whole in (math.floor(one), math.ceil(one))} - {right})


def _as_the_default(right: int, given: Given) -> list[int]:
    component = _component(given)
    return _others(right, given.seconds / component.run_s(component.default))


def _without_start(right: int, given: Given) -> list[int]:
    component = _component(given)
    calls_s = 1e-6 * given.calls * component.call_us(component.default)
    return _others(right, given.seconds / calls_s)


_SEARCH = (
    "Tune {collective} of {size:bytes}, {calls} calls a run, by `{heuristic}` with the seed "
    "{seed}. The search ends as soon as its runs have taken {seconds} s of the machine. "
)

RUNS_IN_TIME = Exercise(
    number="5.5",
    question=_SEARCH + "How many runs does it do? Predict it from the time of the default's run, "
    "then search and count.",
    kind=WholeNumber("runs"),
    given=_live(
        ("reduce", "genetic", 0),
        ("allreduce", "genetic", 0),
        ("bcast", "genetic", 0),
        ("reduce", "annealing", 3),
        ("allreduce", "annealing", 2),
    ),
    answer=lambda given: len(_searched(given)),
    look_again="Search with the collective, the heuristic and the seed of the question, and "
    "without other rules: `len(result)` is the number of runs.",
    because="What a run costs depends on the configuration. A search that meets slow ones gets "
    "fewer runs for its time than the default's run lets you expect; one that is led to quick "
    "ones gets more.",
    mistakes=(
        Mistake(
            "as long as the default",
            "That would be right if every run took as long as the default's. A search tries "
            "slower and quicker ones: run it, and count.",
            _as_the_default,
        ),
        Mistake(
            "without the start",
            "You counted the calls only. Each run of the program has to start, too.",
            _without_start,
        ),
        Mistake(
            "configurations",
            "You counted configurations. A search may run the same one again.",
            lambda right, given: [_configurations(_searched(given))],
        ),
        Mistake(
            "after the initial runs",
            "The first runs, drawn before the heuristic has anything to learn from, count as well.",
            lambda right, given: [right - 10],
        ),
    ),
)


def _known_thrice(right: int, given: Given) -> list[int]:
    return _others(right, len(_searched(given, 3)) / 3)


REPEATED = Exercise(
    number="5.6",
    question=_SEARCH + "Now each configuration that the heuristic proposes runs three times, "
    "before the next one (`resampling`). How many different configurations does the search try?",
    kind=WholeNumber("configurations"),
    given=_live(
        ("bcast", "genetic", 0),
        ("reduce", "genetic", 0),
        ("allreduce", "genetic", 0),
        ("bcast", "genetic", 3),
        ("reduce", "genetic", 2),
    ),
    answer=lambda given: _configurations(_searched(given, 3)),
    look_again='Search with `resampling=("static", {"runs": 3})`. `result.to_frame()` has a row '
    "for each run; how many of its configurations differ?",
    because="Repeats are paid for with configurations that are not tried. They make the search "
    "slower to look around, and surer of what it has seen.",
    mistakes=(
        Mistake(
            "runs",
            "You counted runs. Which of them are of the same configuration?",
            lambda right, given: [len(_searched(given, 3))],
        ),
        Mistake(
            "all of them three times",
            "You divided by three. But the initial runs are not repeated: they look around first.",
            _known_thrice,
        ),
        Mistake(
            "without repeats",
            "That is the search without repeats. Is there more or less time for new ones now?",
            lambda right, given: [_configurations(_searched(given))],
        ),
        Mistake(
            "after the initial runs",
            "Initial runs try configurations as well.",
            lambda right, given: [right - 10],
        ),
    ),
)


def _times_us(given: Given) -> tuple[float, float, float, float]:
    """Return the default's time, the optimum's, that of what was found, and what its runs said."""
    component, result = _component(given), _searched(given)
    true = component.call_us
    optimum = min(map(true, component.space.all()))
    return (
        true(component.default),
        optimum,
        true(result.best_configuration),
        result.best_value,
    )


def _reached_percent(given: Given) -> float:
    default, optimum, found, _ = _times_us(given)
    return 100 * (default - found) / (default - optimum)


def _promised_percent(given: Given) -> float:
    default, optimum, _, promised = _times_us(given)
    return 100 * (default - promised) / (default - optimum)


def _over_default_percent(given: Given) -> float:
    default, _, found, _ = _times_us(given)
    return 100 * (1 - found / default)


def _from_optimum_percent(given: Given) -> float:
    _, optimum, found, _ = _times_us(given)
    return 100 * (found / optimum - 1)


REACHED = Exercise(
    number="5.7",
    question=_SEARCH + "Which percentage of the possible gain over the default has it reached "
    "then, by the true times, without noise?",
    kind=Amount("%", "the simulator is exact; nobody needs more than two digits", relative=0.01),
    given=_live(
        ("allreduce", "genetic", 3),
        ("bcast", "random", 1),
        ("reduce", "genetic", 1),
        ("bcast", "annealing", 0),
        ("bcast", "annealing", 3),
    ),
    answer=_reached_percent,
    look_again="The possible gain is from the default's time to the optimum's. Which part of this "
    "way has the search gone? `component.call_us` has the true time of what it found.",
    because="What a search says of its result is noisy, and the best of it is lucky. Whether to "
    "search on depends on what a run costs, and on how often the tuned program will run.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "its own lucky value",
            "You took what the search's runs say. They may be lucky: ask for the true time.",
            lambda right, given: [_promised_percent(given)],
        ),
        Mistake(
            "gain over the default",
            "That is the gain in percent of the default's time; the whole is what can be gained.",
            lambda right, given: [_over_default_percent(given)],
        ),
        Mistake(
            "distance from the optimum",
            "That is how much slower than the optimum it still is.",
            lambda right, given: [_from_optimum_percent(given)],
        ),
        Mistake(
            "what is missing",
            "That is the part of the gain that it misses.",
            lambda right, given: [100 - right],
        ),
    ),
)
