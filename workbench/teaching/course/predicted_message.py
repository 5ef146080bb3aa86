"""Lesson 6: the time of a message of a size that no calibration has seen, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench import datasets, uq
from workbench.models import LogGPS
from workbench.programs import ProgramBuilder
from workbench.teaching.answers import Amount, OneOf
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.mistakes import unit_off
from workbench.teaching.student import ParameterDraw

_MACHINE = "azure-hb96v3-hdr"
_USED = (256, 512, 1024, 4096, 8192)  # bytes
_MODEL = LogGPS(L=2e-6, o=0.5e-6, g=0, G=0.1e-9, O=0, S=2**30)
_TOLERANCE = 0.1  # three times what other seeds of the chains change, 3 %


def _messages(*sizes: int) -> uq.ProgramTimes:
    """Return the times of messages of these sizes, by replays."""
    found = []
    for size in sizes:
        builder = ProgramBuilder(2, source=f"{size} B")
        builder.send(0, 1, size)
        builder.recv(1, 0, size)
        found.append(builder.build())
    return uq.ProgramTimes(found, _MODEL, ("L", "G"))


@cache
def _measured_s() -> dict[int, float]:
    """Return the measured latency by size in bytes."""
    curve = datasets.load(_MACHINE)
    return dict(zip(map(int, curve.sizes), map(float, curve.latency_s), strict=True))


@cache
def _posterior() -> uq.Posterior:
    box = uq.ParameterBox(
        [
            uq.Parameter("L", "s", 0.5e-6, 5e-6),
            uq.Parameter("G", "s/B", 0.02e-9, 0.5e-9),
        ]
    )
    times, points = _messages(*_USED), uq.design(box, 12)
    surrogate = uq.fit_surrogate(box, points, times(points))
    seen = uq.Replicas.of([[_measured_s()[size]] for size in _USED], times.tests)
    return uq.calibrate(surrogate, seen, noise="relative")


@cache
def _predicted(size: int) -> uq.Prediction:
    times = _messages(size)
    return uq.predict(_posterior(), times, times.tests, draws=1000)


def _ends_us(size: int, level: int = 1) -> tuple[float, float]:
    """Return both ends of an interval, of 50 % or (1) 90 %, in µs."""
    found = _predicted(size)
    return 1e6 * float(found.low[level, 0]), 1e6 * float(found.high[level, 0])


def _width_us(size: int, level: int = 1) -> float:
    low, high = _ends_us(size, level)
    return high - low


def _without_noise(right: float, given: Given) -> list[float]:
    """Return the width from the parameters alone, where that is not nearly the whole."""
    alone = 2e6 * float(_predicted(given.size).parameter[1, 0])
    return [alone] if abs(right - alone) > 1.05 * _TOLERANCE * (right + alone) else []


def _size(*sizes: int) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        return {"machine": _MACHINE, "size": draw.one_of(sizes)}

    return given


PREDICTED = Exercise(
    number="6.4",
    question="On {machine} a message of {size:bytes} is predicted by the posterior of L and G. How "
    "wide is the interval of 90 % of one more measurement, from 5 % to 95 %, in µs?",
    kind=Amount("µs", "chains with other seeds give widths that differ by 3 %", _TOLERANCE),
    given=_size(16_384, 32_768, 131_072, 24_576),
    answer=lambda given: _width_us(given.size),
    look_again="`uq.predict` draws the posterior predictive: parameters from the posterior, the "
    "message replayed with them, noise on top. Subtract the lower end of its interval from the "
    "upper one. Is it the size of the question, and the level?",
    because="What is not known of L and G adds to the noise of a measurement. The doubt about G "
    "counts once a byte, so that the interval gets wider with the size, from small messages on.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "half of it",
            "That is from the middle to one end. How far is it from one end to the other?",
            lambda right, given: [right / 2],
        ),
        Mistake(
            "the level of 50 %",
            "That interval holds a half of the draws only.",
            lambda right, given: [_width_us(given.size, level=0)],
        ),
        Mistake(
            "without noise",
            "That is how well the model's time is known. A measurement scatters about it as well.",
            _without_noise,
        ),
        Mistake(
            "the median",
            "That is the predicted time itself. How sure is it?",
            lambda right, given: [1e6 * float(_predicted(given.size).median[0])],
        ),
    ),
)

_PLACES = ("below", "inside", "above")


def _place(given: Given) -> str:
    """Return where the measured latency lies."""
    (low, high), measured = _ends_us(given.size), 1e6 * _measured_s()[given.size]
    return "below" if measured < low else "above" if measured > high else "inside"


def _believed(right: str, given: Given) -> list[str]:
    return [] if right == "inside" else ["inside"]


def _of_the_median(right: str, given: Given) -> list[str]:
    """Return the side of the median on which it lies, where it is inside."""
    lower = _measured_s()[given.size] < float(_predicted(given.size).median[0])
    return ["below" if lower else "above"] if right == "inside" else []


def _other_side(right: str, given: Given) -> list[str]:
    return {"below": ["above"], "above": ["below"], "inside": []}[right]


OUTSIDE = Exercise(
    number="6.5",
    question="The measured latency of {size:bytes} on {machine}: where does it lie, seen from the "
    "interval of 90 % that is predicted for it?",
    kind=OneOf(_PLACES),
    given=_size(65_536, 2048, 16_384, 262_144, 1_048_576),
    answer=_place,
    look_again="`curve.sizes` and `curve.latency_s` have what was measured. Compare it with both "
    "ends of the interval of this size.",
    because="Between and near the sizes that were used the interval keeps its promise. Far beyond "
    "them it holds the doubt about L and G, but not that about the model: that large messages go "
    "another way is in no measurement of small ones.",
    mistakes=(
        Mistake(
            "believed, not compared",
            "Nine times out of ten, if the model is right. Have you looked the latency up?",
            _believed,
        ),
        Mistake(
            "compared with the median",
            "You compared with the middle of the interval. Compare with its ends.",
            _of_the_median,
        ),
        Mistake(
            "the other side",
            "It is not there. Which of the two is larger, the measured or the predicted time?",
            _other_side,
        ),
    ),
)
