"""Lesson 6, how sure: replicas, coverage, Sobol' indices, predictions, and who slowed a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from workbench import simulate, uq, variability
from workbench.arrays import FloatArray
from workbench.models import LogGPS
from workbench.programs import ProgramBuilder
from workbench.teaching.answers import Amount, WholeNumber
from workbench.teaching.course.predicted_message import OUTSIDE, PREDICTED
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import share_for_percent, unit_off
from workbench.teaching.student import ParameterDraw
from workbench.variability import Blame, RecordedLink

_MODEL = LogGPS(L=2e-6, o=0.5e-6, g=0, G=0.1e-9, O=0, S=2**30)
_NOISE = 0.05  # relative; 0.025, 0.1 and 0.2 give the same quotient of widths to 3 %
_Z90 = 1.645  # standard errors, as in the question of 6.2; 90 % of a normal distribution


def _message_s(latency_s: float, per_byte_s: float, size: int) -> float:
    """Return when a message of this size has arrived, by a replay."""
    builder = ProgramBuilder(2)
    builder.send(0, 1, size)
    builder.recv(1, 0, size)
    model = _MODEL.replace(L=latency_s, G=per_byte_s)
    return simulate.replay(builder.build().graph(), model).makespan_s


def _box() -> uq.ParameterBox:
    return uq.ParameterBox(
        [
            uq.Parameter("L", "s", 1e-6, 3e-6),
            uq.Parameter("G", "s/B", 0.05e-9, 0.15e-9),
        ]
    )


@cache
def _surrogate(sizes: tuple[int, ...]) -> uq.Surrogate:
    """Return the surrogate of messages of these sizes, whose latency and time a byte vary."""
    points = uq.design(_box(), 12)
    times = [[_message_s(float(row[0]), float(row[1]), size) for size in sizes] for row in points]
    return uq.fit_surrogate(_box(), points, times)


@cache
def _latency_width_s(replicas: int) -> float:
    """Return the width of the 90 % interval of L after so many replicas of three messages."""
    sizes = (2000, 20_000, 200_000)
    true_s = np.array([[_message_s(2e-6, 0.1e-9, size)] for size in sizes])
    # Replicas at evenly spaced quantiles, so that the width depends on their number alone.
    steps = (np.arange(replicas) + 0.5) / replicas
    spread = np.sqrt(12) * _NOISE * (steps - 0.5)
    measured = uq.Replicas.of(list(true_s * np.exp(spread)))
    noise = uq.noise_model("relative", measured).fix(s=_NOISE)
    found = uq.calibrate(_surrogate(sizes), measured, noise=noise)
    low, high = np.quantile(found.parameters[:, :, 0], (0.05, 0.95))
    return float(high - low)


def _more_replicas(draw: ParameterDraw) -> Mapping[str, Any]:
    few, many = draw.one_of(((5, 20), (4, 36), (5, 45), (10, 40)))
    return {"few": few, "many": many, "width": draw.one_of((0.24e-6, 0.36e-6, 0.3e-6))}


WIDTH = Exercise(
    number="6.1",
    question="It is known how much replicas scatter. From {few} of them for each test follows an "
    "interval (90 %) of the latency L that is {width:time} wide. About how wide is it, in µs, with "
    "{many} replicas of each?",
    kind=Amount("µs", "chains of some thousand draws give a width to some percent", relative=0.06),
    given=_more_replicas,
    answer=lambda given: (
        1e6 * given.width * _latency_width_s(given.many) / _latency_width_s(given.few)
    ),
    look_again="A mean of n values is as sure as one value divided by the root of n. By how much "
    "does the number of replicas grow?",
    because="The width falls with the root of the number of replicas. It falls to nothing in the "
    "end, but only if the model is right: replicas say nothing about the model's own error.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "in proportion to the number",
            "More replicas help less than that: think of the root.",
            lambda right, given: [1e6 * given.width * given.few / given.many],
        ),
        Mistake(
            "as wide as before",
            "That is the width as it was. Replicas do make it narrower.",
            lambda right, given: [1e6 * given.width],
        ),
        Mistake(
            "wider",
            "It got wider in your answer. Do more replicas make you less sure?",
            lambda right, given: [1e6 * given.width * (given.many / given.few) ** 0.5],
        ),
    ),
)


@cache
def _held_percent(replicas: int, ddof: int = 1) -> float:
    """Return how often the usual interval about a mean holds the truth, by drawn replicas."""
    drawn = np.random.default_rng(0).normal(size=(200_000, replicas))
    error = drawn.std(axis=1, ddof=ddof) / replicas**0.5
    return float(100 * (abs(drawn.mean(axis=1)) <= _Z90 * error).mean())


HELD = Exercise(
    number="6.2",
    question="A time is measured {replicas} times, with normal noise. The interval is the mean "
    "plus and minus 1.645 standard errors, which for many replicas would be one of 90 %. In which "
    "percentage of such experiments does it hold the true time?",
    kind=Amount("%", "ten thousand simulated experiments leave 0.4 points", absolute=1.3),
    given=lambda draw: {"replicas": draw.one_of((3, 4, 5))},
    answer=lambda given: _held_percent(given.replicas),
    look_again="Choose a truth, draw the replicas, make the interval, see whether it holds the "
    "truth; do that ten thousand times and count.",
    because="The standard deviation of few values is uncertain itself, and often too small. So "
    "intervals from few replicas are too narrow: count what they hold, on data with a known truth.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "believed, not counted",
            "That is what it promises. Does it keep its promise? Count.",
            lambda right, given: [90.0],
        ),
        Mistake(
            "counted the misses",
            "You counted those that miss the truth.",
            lambda right, given: [100 - right],
        ),
        Mistake(
            "divided by n",
            "Near. Is this the standard deviation of a sample, which divides by one less than the "
            "number of values (`ddof`)?",
            lambda right, given: [_held_percent(given.replicas, ddof=0)],
        ),
    ),
)


def _message(draw: ParameterDraw) -> Mapping[str, Any]:
    return {"size": draw.one_of((30_000, 10_000, 40_000, 15_000))}


def _latency_percent(given: Given) -> float:
    return float(100 * uq.sobol_indices(_surrogate((given.size,))).first[0, 0])


def _spreads_us(given: Given) -> tuple[float, float]:
    """Return by how much L and G move the time at most, in µs, from their middle."""
    return 1.0, 1e6 * (given.size - 1) * 0.05e-9


def _linear_percent(given: Given) -> float:
    by_latency, by_bytes = _spreads_us(given)
    return 100 * by_latency / (by_latency + by_bytes)


def _time_percent(given: Given) -> float:
    return float(100 * 2e-6 / _message_s(2e-6, 0.1e-9, given.size))


SOBOL = Exercise(
    number="6.3",
    question="The time of a message is 2 o + L + (s - 1) G, with s = {size} bytes and o = 0.5 µs. "
    "Nobody knows more than that L is from 1 to 3 µs and G from 0.05 to 0.15 ns/B, each value as "
    "likely as the others. Which percentage of the variance of the time comes from L?",
    kind=Amount("%", "the surrogate is exact for a sum; two digits are enough", relative=0.02),
    given=_message,
    answer=_latency_percent,
    look_again="How far does each parameter alone move the time? The variance of a sum of "
    "independent parts is the sum of their variances, and a variance goes with the square.",
    because="A Sobol' index is a share of variance, so it goes with the square of what a parameter "
    "moves. It says which parameter to measure better, not which one costs most time.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "not squared",
            "You compare ranges. A variance goes with their square.",
            lambda right, given: [_linear_percent(given)],
        ),
        Mistake(
            "the other parameter",
            "That is the share of G.",
            lambda right, given: [100 - right],
        ),
        Mistake(
            "share of the time",
            "That is the part of the time that L takes. Asked is how much of the doubt it causes.",
            lambda right, given: [_time_percent(given)],
        ),
    ),
)


@cache
def _link() -> RecordedLink:
    return variability.shipped("emulated-link")


@cache
def _beside(user: str) -> tuple[FloatArray, FloatArray]:
    """Return the times of the runs beside a user and of the others, in s."""
    link = _link()
    near = variability.neighbourhood(link.runs, link.jobs)
    present = near.present[:, near.users.index((user,))]
    return link.runs.time_s[present], link.runs.time_s[~present]


def _slower_percent(given: Given) -> float:
    beside, others = _beside(given.user)
    return float(100 * (beside.mean() / others.mean() - 1))


def _than_all_percent(given: Given) -> float:
    beside, others = _beside(given.user)
    return float(100 * (beside.mean() / np.concatenate((beside, others)).mean() - 1))


def _in_seconds(given: Given) -> float:
    beside, others = _beside(given.user)
    return float(beside.mean() - others.mean())


BESIDE = Exercise(
    number="6.6",
    question="In the recording `emulated-link`, by how many percent do runs beside user {user} "
    "take longer than the runs without this user, in the mean?",
    kind=Amount("%", "the means have more digits than the question needs", relative=0.02),
    given=lambda draw: {"user": draw.one_of(("u6", "u8", "u1"))},
    answer=_slower_percent,
    look_again="`near.present` has a row for each run and a column for each user, in the order of "
    "`near.users`. Take the mean time of the runs with the user, and of those without.",
    because="That is a correlation. Now look at the truth: u8 and u1 send over the link, u6 never "
    "does. It mostly ran when u8 ran, so it was there when runs were slow.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "than all runs",
            "All runs hold those beside the user, too. Compare with the runs without.",
            lambda right, given: [_than_all_percent(given)],
        ),
        Mistake(
            "seconds",
            "That is the difference in seconds.",
            lambda right, given: [_in_seconds(given)],
        ),
        Mistake(
            "new time in percent",
            "That is the one mean in percent of the other; asked is by how much more.",
            lambda right, given: [100 + right],
        ),
        Mistake(
            "of the longer time",
            "Percent of what? Start from the runs without the user.",
            lambda right, given: [100 * right / (100 + right)],
        ),
    ),
)


@cache
def _blame() -> Blame:
    return variability.blame(_link().runs, _link().jobs)


def _blamed(method: str, column: str = "p adjusted") -> set[str]:
    table = _blame().to_frame(method)
    return set(table["user"][table[column] <= 0.05])


def _other_counts(right: int, given: Given) -> list[int]:
    """Return the number of users that are blamed, where it is another one."""
    count = len(_blamed(given.method))
    return [count] if count != right else []


def _raw_count(right: int, given: Given) -> list[int]:
    count = len(set(_link().crossing) - _blamed(given.method, "p"))
    return [count] if count not in (right, *_other_counts(right, given)) else []


MISSED = Exercise(
    number="6.7",
    question="In `emulated-link`, how many of the users who truly cross the link does the method "
    "{method} not blame, at an adjusted p-value of at most 0.05?",
    kind=WholeNumber("users"),
    given=lambda draw: {"method": draw.one_of(("ridge", "lasso", "mutual-information"))},
    answer=lambda given: len(set(_link().crossing) - _blamed(given.method)),
    look_again="`found.to_frame(method)` has the adjusted p-value of each user. Compare the users "
    "with 0.05 or less with `link.crossing`, which is the truth.",
    because="A user who sends little can hide, and a method can blame the innocent. Only where the "
    "truth is known can you say how far to trust a method.",
    mistakes=(
        Mistake(
            "those that are blamed",
            "You counted users that the method blames. Asked are guilty ones that it overlooks.",
            _other_counts,
        ),
        Mistake(
            "p not adjusted",
            "You took the p-value of each user alone. With nine users somebody looks guilty by "
            "chance: take the adjusted one.",
            _raw_count,
        ),
    ),
)


LESSON = Lesson(
    number=6,
    title="How sure are we",
    question="How far may a simulation be off, and how do we know who made a run slow?",
    objectives=(
        "say how an interval shrinks with more replicas, and when it does not help",
        "count whether intervals hold what they promise",
        "find the parameter that causes most of the doubt",
        "predict a time with its interval, and say what the interval leaves out",
        "tell correlation from cause when runs differ",
    ),
    prerequisites=("lesson 1", "means and standard deviations"),
    parts=(
        LessonPart("Intervals", 14, ("6.1", "6.2")),
        LessonPart("Which parameter matters", 10, ("6.3",)),
        LessonPart("Beyond what was measured", 16, ("6.4", "6.5")),
        LessonPart("Who slowed it down", 16, ("6.6", "6.7")),
        LessonPart("What to remember", 3),
    ),
    exercises=(WIDTH, HELD, SOBOL, PREDICTED, OUTSIDE, BESIDE, MISSED),
)
