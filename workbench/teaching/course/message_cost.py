"""Lesson 1, what a message costs: latency, bandwidth, MPI's protocols, and a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from workbench import datasets, fit, simulate, study
from workbench.measure import OSUCurve, datasheet
from workbench.models import SNAPPR, LogGPS
from workbench.programs import ExecutionGraph
from workbench.teaching.answers import Amount, InOrder
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import (
    bits_for_bytes,
    decimal_prefix,
    round_trip,
    share_for_percent,
    unit_off,
)
from workbench.teaching.student import ParameterDraw

_MACHINES = ("azure-hb96v3-hdr", "llnl-dane-omnipath", "alps-gh200-slingshot11", "aws-hpc6a-efa")
# Where RMSPE and the mean of the absolute errors differ by more than their tolerances.
_UNLIKE = ("azure-hb96v3-hdr", "llnl-dane-omnipath", "alps-gh200-slingshot11")
_LINKS_PUBLISHED = ("azure-hb96v3-hdr", "alps-gh200-slingshot11", "aws-hpc6a-efa")
_INJECTION_S = SNAPPR().injection_latency
_MODELS = ("logp", "snappr", "protocol")


@cache
def _measured(machine: str) -> OSUCurve:
    return datasets.load(machine)


def _measured_latency_s(machine: str, size: int) -> float:
    curve = _measured(machine)
    return float(curve.latency_s[list(curve.sizes).index(size)])


def _echo(draw: ParameterDraw) -> Mapping[str, Any]:
    machine, size = draw.one_of(_MACHINES), draw.one_of((8, 64, 1024, 4096))
    count = draw.one_of((200, 300, 700))  # no factor by which units differ
    total_s = 2 * count * _measured_latency_s(machine, size)
    return {"machine": machine, "size": size, "count": count, "total": total_s}


ECHO = Exercise(
    number="1.1",
    question="On {machine} a node sends {size:bytes} to another, which sends the same back, "
    "{count} times in a row. All of it takes {total:time}. Which latency does the benchmark print, "
    "in µs?",
    kind=Amount("µs", "the total is shown with three digits, which leaves 0.5 %", relative=0.01),
    given=_echo,
    answer=lambda given: 1e6 * _measured_latency_s(given.machine, given.size),
    look_again="Count the messages that pass one after the other in the whole time, in both "
    "directions, and ask how long one of them takes.",
    because="Latency is the time of one message in one direction; the clocks of two nodes differ, "
    "so it is measured there and back and halved.",
    mistakes=(
        round_trip("In that time a message went there and came back. Latency is of one direction."),
        unit_off("µs"),
        Mistake(
            "not divided by the count",
            "That is the time of all repetitions; the latency is of a single message.",
            lambda right, given: [right * given.count, 2 * right * given.count],
        ),
    ),
)


def _line(draw: ParameterDraw) -> Mapping[str, Any]:
    return {
        "latency": draw.one_of((2e-6, 1e-6, 1.6e-6, 3e-6, 5e-6)),
        "bandwidth": draw.one_of((12.5e9, 10e9, 20e9, 25e9)),
    }


def _equal_parts_kib(given: Given) -> float:
    """Return the size in KiB whose bytes take as long as the latency, from two replays."""
    model = LogGPS(L=given.latency, o=0, g=0, G=1 / given.bandwidth, O=0, S=2**24)
    few, many = 1, 2**20
    times_s = [_message_s(model, size) for size in (few, many)]
    per_byte_s = (times_s[1] - times_s[0]) / (many - few)
    return times_s[0] / per_byte_s / 1024


def _message_s(model: LogGPS, size: int) -> float:
    goal = (
        f"num_ranks 2\nrank 0 {{\na: send {size}b to 1\n}}\nrank 1 {{\na: recv {size}b from 0\n}}\n"
    )
    return simulate.replay(ExecutionGraph.from_goal(goal), model).makespan_s


EQUAL_PARTS = Exercise(
    number="1.2",
    question="A network has a latency of {latency:time} and a bandwidth of {bandwidth:bandwidth}. "
    "For which message size does the time of the bytes equal the latency, in KiB?",
    kind=Amount("KiB", "the line is exact, and three digits leave 0.5 %", relative=0.01),
    given=_line,
    answer=_equal_parts_kib,
    look_again="Write the time of the bytes as size / bandwidth and set it equal to the latency. "
    "Work in seconds and bytes first, then turn the bytes into KiB.",
    because="Below this size latency decides what a message costs, above it bandwidth does. Half "
    "of the bandwidth is reached exactly here.",
    mistakes=(
        unit_off("KiB"),
        decimal_prefix(),
        bits_for_bytes(),
        Mistake(
            "latency of the way back",
            "Only one direction counts here, for the latency as for the bytes.",
            lambda right, given: [2 * right, right / 2],
        ),
    ),
)


def _share_percent(given: Given) -> float:
    bytes_per_s = float(np.nanmax(_measured(given.machine).bandwidth_Bps))
    return 100 * bytes_per_s / float(datasheet(given.machine).link_rate.value)


LINK_SHARE = Exercise(
    number="1.3",
    question="The link of {machine} is sold as {link_Gbps:g} Gb/s. Which percentage of that does "
    "the largest bandwidth of the measured curve reach?",
    kind=Amount("%", "the table shows five digits; two of the answer are enough", relative=0.01),
    given=lambda draw: _link(draw.one_of(_LINKS_PUBLISHED)),
    answer=_share_percent,
    look_again="Take the largest value in the column of bandwidth, and bring both rates to one "
    "unit before you divide.",
    because="A link's rate counts every bit on the wire. What a program gets is less: headers, "
    "acknowledgements and the host's own work take the rest.",
    mistakes=(
        bits_for_bytes(),
        share_for_percent(),
        Mistake(
            "the other way round",
            "Which of the two is the whole, and which the part?",
            lambda right, given: [100 * 100 / right],
        ),
        Mistake(
            "what is missing",
            "That is the part of the link that is not reached; the question is about the other.",
            lambda right, given: [100 - right],
        ),
    ),
)


def _link(machine: str) -> Mapping[str, Any]:
    return {"machine": machine, "link_Gbps": 8e-9 * float(datasheet(machine).link_rate.value)}


def _more(sizes: tuple[int, ...]) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        return {"size": draw.one_of(sizes), "more": draw.one_of((100e-9, 150e-9, 350e-9, 400e-9))}

    return given


def _more_latency_ns(given: Given) -> float:
    """Return the ns by which a message takes longer when the injection latency is raised."""
    models = (SNAPPR(), SNAPPR(injection_latency=_INJECTION_S + given.more))
    times = [simulate.simulate_osu(model, sizes=[given.size]).latency_s[0] for model in models]
    return float(1e9 * (times[1] - times[0]))


_MORE = (
    "In the panel, raise the injection latency from {start:time} by {more:time}. By how many ns "
    "does the latency of a message of {size:bytes} rise? Predict it first, then try."
)
_SIMULATED = Amount("ns", "the simulator is exact, and the panel shows three digits", relative=0.05)

SMALL_CROSSES = Exercise(
    number="1.4",
    question=_MORE,
    kind=_SIMULATED,
    given=lambda draw: {"start": _INJECTION_S, **_more((8, 64, 256, 512))(draw)},
    answer=_more_latency_ns,
    look_again="How often does a message of this size cross the network before the receiver has "
    "its data? Each crossing passes the injection once.",
    because="Up to 512 B the data travel with the first packet: one crossing, one injection.",
    mistakes=(
        unit_off("ns"),
        Mistake(
            "the crossings of a large message",
            "You count the crossings of a larger message. Where does this size lie?",
            lambda right, given: [3 * right],
        ),
        round_trip("Only one direction is asked: the benchmark halves the time there and back."),
        Mistake(
            "new value for the difference",
            "That is the slider's new value; the question is by how much the message takes longer.",
            lambda right, given: [1e9 * (given.start + given.more)],
        ),
    ),
)

LARGE_CROSSES = Exercise(
    number="1.5",
    question=_MORE,
    kind=_SIMULATED,
    given=lambda draw: {"start": _INJECTION_S, **_more((8192, 1024, 16384, 65536))(draw)},
    answer=_more_latency_ns,
    look_again="Follow the protocol step by step: what has to reach the other side before the data "
    "may leave? Each crossing passes the injection once.",
    because="A header, a request for the data, the data: three crossings, each with one injection.",
    mistakes=(
        unit_off("ns"),
        Mistake(
            "the crossing of a small message",
            "You count what a small message does. Where does this size lie?",
            lambda right, given: [right / 3],
        ),
        Mistake(
            "a crossing too few",
            "One crossing is missing: who has to learn what before the data move?",
            lambda right, given: [right * 2 / 3],
        ),
        Mistake(
            "a crossing too many",
            "That is a crossing too many: when the data have come, the message has come.",
            lambda right, given: [right * 4 / 3],
        ),
        round_trip("Only one direction is asked: the benchmark halves the time there and back."),
    ),
)


@cache
def _errors(machine: str) -> Any:
    """Return the relative errors of SNAPPR's latency with its default values, float64[sizes]."""
    measured = _measured(machine)
    return simulate.simulate_osu(SNAPPR(), sizes=measured.sizes).latency_s / measured.latency_s - 1


def _rmspe_percent(given: Given) -> float:
    measured = _measured(given.machine)
    simulated = simulate.simulate_osu(SNAPPR(), sizes=measured.sizes)
    return fit.rmspe(simulated.latency_s, measured.latency_s)


HOW_FAR_OFF = Exercise(
    number="1.6",
    question="How far is SNAPPR with its default values from the latency measured on {machine}: "
    "the RMSPE over all sizes, in percent?",
    kind=Amount("%", "nobody reads an error of a fit closer than that", relative=0.01),
    given=lambda draw: {"machine": draw.one_of(_UNLIKE)},
    answer=_rmspe_percent,
    look_again="Root, mean, square, percent, error, read from the end: the error of each size in "
    "percent of the measured value, squared, averaged, and the root of that.",
    because="Each size counts alike, a message of 1 B as much as one of 4 MiB, and large errors "
    "count more than small ones.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "no root",
            "One letter of RMSPE is missing at the end: the first.",
            lambda right, given: [100 * (right / 100) ** 2, right**2],
        ),
        Mistake(
            "mean of the absolute errors",
            "You averaged the sizes of the errors; RMSPE weighs large ones more.",
            lambda right, given: [100 * float(np.abs(_errors(given.machine)).mean())],
        ),
        Mistake(
            "errors of opposite sign",
            "Errors above and below cancel in your mean; that is a bias, not a distance.",
            lambda right, given: [100 * float(_errors(given.machine).mean())],
        ),
        Mistake(
            "percent of the simulated value",
            "Percent of what? The measurement is the reference, not the simulation.",
            lambda right, given: [_against_simulated_percent(given.machine)],
        ),
    ),
)


def _against_simulated_percent(machine: str) -> float:
    reverse = 1 / (1 + _errors(machine)) - 1
    return float(100 * np.sqrt((reverse**2).mean()))


def _models_by_error(given: Given) -> tuple[str, ...]:
    """Return the models, that with the least error first: the best engine's median over seeds."""
    frame = study.shipped("which-model").select(machine=given.machine).to_frame()
    medians = frame.groupby(["model", "engine"])["joint"].median()
    errors = medians.groupby("model").min()
    return tuple(sorted(_MODELS, key=lambda name: errors[name]))


WHICH_MODEL = Exercise(
    number="1.7",
    question="Fitted to latency and bandwidth of {machine} over all sizes: put the models in "
    "order, that with the least error first.",
    kind=InOrder(_MODELS),
    given=lambda draw: {"machine": draw.one_of(_MACHINES)},
    answer=_models_by_error,
    look_again="Fit all three to the same curve and compare their joint RMSPE; the curve's jumps "
    "show what a model without thresholds cannot follow.",
    because="One set of costs cannot be right for short, eager and rendezvous messages at once; a "
    "detailed network does not help where the library decides.",
    mistakes=(
        Mistake(
            "worst first",
            "The order is there, from the wrong end: the smallest error comes first.",
            lambda right, given: [tuple(reversed(right))],
        ),
    ),
)


LESSON = Lesson(
    number=1,
    title="What a message costs",
    question="How long does a message take from one node to another, and why?",
    objectives=(
        "read latency and bandwidth from the curves of a machine",
        "predict the time of a message from its size",
        "explain the jumps of a curve by eager and rendezvous messages",
        "fit a model to measurements and say how far off it is",
    ),
    prerequisites=("microseconds, bytes and bits", "a message in MPI: send and receive"),
    parts=(
        LessonPart("There and back", 10, ("1.1",)),
        LessonPart("Latency and bandwidth", 14, ("1.2", "1.3")),
        LessonPart("How MPI sends", 14, ("1.4", "1.5")),
        LessonPart("A model of the machine", 14, ("1.6", "1.7")),
        LessonPart("What to remember", 3),
    ),
    exercises=(
        ECHO,
        EQUAL_PARTS,
        LINK_SHARE,
        SMALL_CROSSES,
        LARGE_CROSSES,
        HOW_FAR_OFF,
        WHICH_MODEL,
    ),
)
