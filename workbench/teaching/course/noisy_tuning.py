"""Lesson 5, good settings in noise: random draws, luck, repeats, searches, one of one's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench import tune
from workbench.teaching.answers import Amount, WholeNumber
from workbench.teaching.course.live_tuning import REACHED, REPEATED, RUNS_IN_TIME
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import share_for_percent
from workbench.teaching.student import ParameterDraw
from workbench.tune import RecordedSpace

if TYPE_CHECKING:
    import pandas as pd

_OPEN_MPI, _FEW, _MANY = "open-mpi-4-ranks", "simulated-12-ranks", "simulated-576-ranks"


@cache
def _space(recording: str, name: str) -> RecordedSpace:
    return tune.shipped_recording(recording)[name]


def _recorded(given: Given) -> RecordedSpace:
    return _space(given.recording, given.space)


def _certainty(draw: ParameterDraw) -> Mapping[str, Any]:
    return {"share": draw.one_of((10, 5, 20)), "certainty": draw.one_of((95, 90, 99))}


def _runs_until(given: Given) -> int:
    """Return the first number of draws of which one hits often enough."""
    runs, missed = 0, 1.0
    while missed > 1 - given.certainty / 100 + 1e-12:
        runs, missed = runs + 1, missed * (1 - given.share / 100)
    return runs


def _added_chances(given: Given) -> list[int]:
    one = 100 / given.share
    return sorted({round(one), math.floor(one * given.certainty / 100)})


def _swapped_chances(given: Given) -> list[int]:
    hit, sure = given.share / 100, given.certainty / 100
    found = (math.log(sure) / math.log(1 - hit), math.log(1 - sure) / math.log(hit))
    return sorted({math.ceil(each) for each in found})


RUNS_UNTIL = Exercise(
    number="5.1",
    question="Settings are drawn at random from very many. How many draws make it {certainty} % "
    "certain that at least one of them is among the best {share} %?",
    kind=WholeNumber("draws"),
    given=_certainty,
    answer=_runs_until,
    look_again="Ask how likely it is that one draw misses, then that all of them miss. They must "
    "all miss with no more than what is left to certainty.",
    because="All of n draws miss with probability (1 - share)^n. The number of settings does not "
    "matter, nor does the number of parameters: that makes random draws hard to beat.",
    mistakes=(
        Mistake(
            "rounded down",
            "Near. With this number, how certain is it? Do the last draw's chance again.",
            lambda right, given: [right - 1],
        ),
        Mistake(
            "chances added",
            "Chances of separate draws do not add up: some would hit twice while others never do.",
            lambda right, given: _added_chances(given),
        ),
        Mistake(
            "hit and miss exchanged",
            "Two chances are exchanged: that of a hit and that of a miss, of one draw or of all.",
            lambda right, given: _swapped_chances(given),
        ),
    ),
)


def _equal_settings(draw: ParameterDraw) -> Mapping[str, Any]:
    return {"count": draw.one_of((50, 20, 100, 200)), "noise": draw.one_of((5, 8, 10))}


def _luck_percent(given: Given) -> float:
    """Return how far the best of so many equal settings lies from them, by simulated runs."""
    drawn = np.random.default_rng(0).normal(0.0, given.noise, (20_000, given.count))
    return float(-drawn.min(axis=1).mean())


LUCK = Exercise(
    number="5.2",
    question="{count} settings take the same time in truth. Each runs once, with normal noise "
    "whose standard deviation is {noise} % of the time. In the mean over many such searches, by "
    "how many percent of the true time does the quickest run lie below it?",
    kind=Amount("%", "some hundred simulated searches leave about 2 %", relative=0.05),
    given=_equal_settings,
    answer=_luck_percent,
    look_again="Simulate it: draw a search's runs with `numpy.random.default_rng(1).normal(...)`, "
    "take the least of them, and do that for a thousand searches. What is the mean of the least?",
    because="The quickest of many runs is quick by luck as well. What it promises is no gain, and "
    "the promise grows with the number of runs and with the noise.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "one run",
            "That is how far a single run strays. Here the luckiest of many is picked.",
            lambda right, given: [float(given.noise)],
        ),
        Mistake(
            "the mean of all runs",
            "That is how sure the mean of all runs is; picked is one of them, not their mean.",
            lambda right, given: [given.noise / given.count**0.5],
        ),
        Mistake(
            "formula for very many",
            "That formula is for infinitely many runs, and too large for these. Simulate.",
            lambda right, given: [given.noise * (2 * math.log(given.count)) ** 0.5],
        ),
        Mistake(
            "sign",
            "The size is right. Asked is by how much it lies below, as a positive number.",
            lambda right, given: [-right],
        ),
    ),
)


def _default_repeats(draw: ParameterDraw) -> Mapping[str, Any]:
    names = ("bcast/65536", "bcast/4096", "reduce/65536", "bcast/1048576")
    space = draw.one_of(names)
    return {"recording": _OPEN_MPI, "space": space, "percent": draw.one_of((3, 2))}


def _runs_needed(given: Given, ddof: int = 1) -> float:
    """Return the number of runs before it is rounded up."""
    recorded = _recorded(given)
    values = recorded.values[recorded.row(recorded.default)]
    return float(100 * values.std(ddof=ddof) / values.mean() / given.percent) ** 2


REPEATS = Exercise(
    number="5.3",
    question="The recorded runs of the default of {space} in {recording} scatter. How many runs "
    "must you take the mean of, so that its standard error is at most {percent} % of the mean?",
    kind=WholeNumber("runs"),
    given=_default_repeats,
    answer=lambda given: math.ceil(_runs_needed(given)),
    look_again="The standard error of a mean of n runs is their standard deviation over the root "
    "of n. Take the standard deviation in percent of the mean, and solve for n.",
    because="Half of the standard error costs four times the runs. So a search should repeat what "
    "looks good, and not everything.",
    mistakes=(
        Mistake(
            "not squared",
            "More runs help less than that: the error falls with the root of their number.",
            lambda right, given: [math.ceil(_runs_needed(given) ** 0.5)],
        ),
        Mistake(
            "rounded down",
            "Near. With this number, is the standard error small enough?",
            lambda right, given: [right - 1],
        ),
        Mistake(
            "divided by n",
            "Near. `std` of numpy divides by the number of runs, which is too small for few runs: "
            "a sample's standard deviation divides by one less (`ddof`).",
            lambda right, given: [math.ceil(_runs_needed(given, ddof=0))],
        ),
        Mistake(
            "an interval",
            "That is for an interval of 95 %. Asked is a single standard error.",
            lambda right, given: [
                math.ceil(_runs_needed(given) * factor**2) for factor in (1.96, 2)
            ],
        ),
    ),
)


def _compared(draw: ParameterDraw) -> Mapping[str, Any]:
    recording, noise = draw.one_of(
        (
            (_OPEN_MPI, "measured"),
            (_FEW, "normal 5 %"),
            (_MANY, "normal 5 %"),
            (_FEW, "normal 20 %"),
        )
    )
    return {"recording": recording, "noise": noise}


@cache
def _searches(given: Given) -> pd.DataFrame:
    """Return a row a heuristic, all with the same runs and without repeats."""
    table = tune.shipped_search_comparison().methods
    rest = {"resampling": "none", "pruning": "none", "stopping": "budget", "pick": "best"}
    for name, value in {**given, **rest}.items():
        table = table[table[name] == value]
    return table.set_index("heuristic")


def _better(given: Given, column: str, than: str) -> int:
    table = _searches(given)
    return int((table[column] > table.loc["random", than]).sum())


def _unless(right: int, wrong: int, *, but: int = -1) -> list[int]:
    """Return a wrong number, unless it is right here or that of another mistake."""
    return [wrong] if wrong not in (right, but) else []


BETTER_THAN_RANDOM = Exercise(
    number="5.4",
    question="In the comparison of searches, on {recording} with the noise {noise}, how many "
    "heuristics are better than random draws beyond doubt: the whole interval of their share of "
    "the possible gain lies above that of random draws?",
    kind=WholeNumber("heuristics"),
    given=_compared,
    answer=lambda given: _better(given, "share_low", "share_high"),
    look_again="`share_low` and `share_high` are the ends of an interval over the seeds. Compare "
    "the lower end of each heuristic with the upper end of random draws.",
    because="A mean over some seeds is a noisy value itself. What overlaps is not shown to be "
    "equal; these seeds do not separate it.",
    mistakes=(
        Mistake(
            "means compared",
            "Their means are larger, but a mean over twenty seeds is uncertain too.",
            lambda right, given: _unless(right, _better(given, "share", "share")),
        ),
        Mistake(
            "one interval only",
            "You used the interval of random draws. The heuristic has one as well.",
            lambda right, given: _unless(
                right, _better(given, "share", "share_high"), but=_better(given, "share", "share")
            ),
        ),
    ),
)


LESSON = Lesson(
    number=5,
    title="Finding good settings in noise",
    question="How do you find good settings if each run costs time and no two runs agree?",
    objectives=(
        "say how many random draws find a good setting",
        "explain why the best of many runs promises too much, and by how much",
        "judge a search by several seeds, against random draws",
        "search within a budget: how often to repeat a run, when to end it, and when to stop",
    ),
    prerequisites=("means and standard deviations", "what a broadcast does"),
    parts=(
        LessonPart("Draw at random", 10, ("5.1",)),
        LessonPart("The luck of the best", 14, ("5.2", "5.3")),
        LessonPart("Searches that learn", 11, ("5.4",)),
        LessonPart("Tune it yourself", 20, ("5.5", "5.6", "5.7")),
        LessonPart("What to remember", 3),
    ),
    exercises=(
        RUNS_UNTIL,
        LUCK,
        REPEATS,
        BETTER_THAN_RANDOM,
        RUNS_IN_TIME,
        REPEATED,
        REACHED,
    ),
)
