"""Lesson 2, where a program's time goes: replay, breakdown, late senders, the critical path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench import machines, programs, simulate
from workbench.models import LogGPS
from workbench.programs import ProgramBuilder
from workbench.simulate import ReplayResult
from workbench.teaching.answers import Amount, OneOf
from workbench.teaching.course.critical_path import (
    EXACT_SUM,
    SLACK,
    TREES_OR_DOUBLING,
    WHAT_TO_CHANGE,
    program_and_machine,
)
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import round_trip, share_for_percent, unit_off
from workbench.teaching.student import ParameterDraw

_AZURE, _DANE, _AWS = "azure-hb96v3-hdr", "llnl-dane-omnipath", "aws-hpc6a-efa"


def _network(draw: ParameterDraw) -> Mapping[str, Any]:
    return {
        "L": draw.one_of((2e-6, 1.5e-6, 4e-6)),
        "o": draw.one_of((0.5e-6, 0.4e-6, 0.8e-6)),
        "bandwidth": draw.one_of((10e9, 12.5e9, 20e9)),
        "size": draw.one_of((30_000, 60_000, 120_000)),
    }


def _model(given: Given) -> LogGPS:
    return LogGPS(L=given.L, o=given.o, g=0, G=1 / given.bandwidth, O=0, S=2**30)


def _ring_us(given: Given, ranks: int) -> float:
    """Return when a message has passed along these ranks and, from three on, back to the first."""
    builder = ProgramBuilder(ranks)
    for rank in range(ranks):
        if rank:
            builder.recv(rank, rank - 1, given.size)
        if rank < ranks - 1 or ranks > 2:
            builder.send(rank, (rank + 1) % ranks, given.size)
    if ranks > 2:
        builder.recv(0, ranks - 1, given.size)
    return 1e6 * simulate.replay(builder.build().graph(), _model(given)).makespan_s


_LETTERS = "L = {L:time}, o = {o:time} on each side, 1/G = {bandwidth:bandwidth}"


def _without_latency(right: float, given: Given) -> list[float]:
    """Return the time in µs without L, unless two overheads or the bytes take nearly as long."""
    others = (2 * given.o, (given.size - 1) / given.bandwidth)
    return [right - 1e6 * given.L] if min(abs(given.L - one) for one in others) > 0.3e-6 else []


ONE_MESSAGE = Exercise(
    number="2.1",
    question="Rank 0 sends {size} bytes to rank 1, and nothing else happens. "
    + _LETTERS
    + ". After how many µs has rank 1 the message?",
    kind=Amount("µs", EXACT_SUM, relative=0.01),
    given=_network,
    answer=lambda given: _ring_us(given, 2),
    look_again="Follow the message: the sender's host, the way, the bytes one after the other, "
    "the receiver's host. Add up what each takes.",
    because="o + L + (s - 1) G + o: the host's work on both sides counts, and the time of the "
    "first byte is in L.",
    mistakes=(
        unit_off("µs"),
        round_trip("That is there and back; here a message goes one way only."),
        Mistake(
            "one overhead",
            "Two hosts work on a message. Whose work is missing?",
            lambda right, given: [right - 1e6 * given.o],
        ),
        Mistake(
            "no overhead",
            "The network is in your sum, the hosts are not.",
            lambda right, given: [right - 2e6 * given.o],
        ),
        Mistake(
            "no bytes",
            "That is an empty message. This one has bytes, and they pass one after the other.",
            lambda right, given: [1e6 * (given.L + 2 * given.o)],
        ),
        Mistake(
            "no latency",
            "The hosts work in your sum, and the bytes pass. How long is the first one under way?",
            _without_latency,
        ),
        Mistake(
            "bits",
            "GB/s counts bytes, eight bits each.",
            lambda right, given: [right + 7e6 * (given.size - 1) / given.bandwidth],
        ),
    ),
)


# Ranks, L and o: a message too few and an overhead too few must not take the same.
_RINGS = ((4, 2e-6, 0.5e-6), (5, 2e-6, 0.4e-6), (6, 4e-6, 0.5e-6), (8, 1.5e-6, 0.5e-6))


def _ring_of(draw: ParameterDraw) -> Mapping[str, Any]:
    ranks, latency, overhead = draw.one_of(_RINGS)
    return {"ranks": ranks, "L": latency, "o": overhead, "size": 8, "bandwidth": 10e9}


ROUND_A_RING = Exercise(
    number="2.2",
    question="{ranks} ranks stand in a ring. Rank 0 sends {size} bytes to rank 1; each rank that "
    "has received sends them on to the next, until rank 0 has them again. " + _LETTERS + ". After "
    "how many µs?",
    kind=Amount("µs", EXACT_SUM, relative=0.01),
    given=_ring_of,
    answer=lambda given: _ring_us(given, given.ranks),
    look_again="Draw the ranks in a circle and count the arrows. Nobody can send before it has "
    "received, so the messages come one after the other.",
    because="Each message waits for the one before. Such a chain, not the number of ranks that "
    "work, makes the time.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "one message too few",
            "Who closes the ring? Count the messages once more.",
            lambda right, given: [right * (given.ranks - 1) / given.ranks],
        ),
        Mistake(
            "at the same time",
            "That would be right if all ranks could send at the same time.",
            lambda right, given: [right / given.ranks],
        ),
        Mistake(
            "one overhead a message",
            "Each rank in the ring works twice: once to receive, once to send.",
            lambda right, given: [right - 1e6 * given.ranks * given.o],
        ),
        Mistake(
            "no overhead",
            "The network is in your sum. Who works before and after each message?",
            lambda right, given: [right - 2e6 * given.ranks * given.o],
        ),
        Mistake(
            "one message too many",
            "Rank 0 sends once. Count the arrows of the circle once more.",
            lambda right, given: [right * (given.ranks + 1) / given.ranks],
        ),
    ),
)


@cache
def _replayed(program: str, machine: str) -> ReplayResult:
    graph = programs.load(program).graph()
    return simulate.replay(graph, machines.load(machine).loggps, times=True)


def _rank_of(draw: ParameterDraw) -> Mapping[str, Any]:
    program, rank = draw.one_of((("cg-8", 0), ("cg-8", 5), ("halo-8", 1), ("halo-8", 6)))
    return {"program": program, "machine": _AZURE, "rank": rank}


def _share_percent(given: Given, column: str) -> float:
    row = _replayed(given.program, given.machine).breakdown().iloc[given.rank]
    return float(100 * row[column] / row["finish_ns"])


def _of_all_percent(given: Given) -> float:
    table = _replayed(given.program, given.machine).breakdown()
    return float(100 * table["waiting_ns"].iloc[given.rank] / table["waiting_ns"].sum())


def _of_work_percent(given: Given) -> float:
    row = _replayed(given.program, given.machine).breakdown().iloc[given.rank]
    return float(100 * row["waiting_ns"] / row["compute_ns"])


def _of_halo_percent(right: float, given: Given) -> list[float]:
    """Return the share in the program that the notebook shows, where that is not nearly right."""
    found = _share_percent(Given({**given, "program": "halo-8"}), "waiting_ns")
    return [found] if abs(found / right - 1) > 0.03 else []


SHARE_WAITING = Exercise(
    number="2.3",
    question="{program} is replayed on {machine}. Which percentage of its time until its end does "
    "rank {rank} wait?",
    kind=Amount("%", "the table has more digits than the question needs", relative=0.01),
    given=_rank_of,
    answer=lambda given: _share_percent(given, "waiting_ns"),
    look_again="One row of the breakdown is a rank. Divide its waiting by the time until its end.",
    because="Waiting is what is left of a rank's time after computing and the host's work for "
    "messages: there is nothing to do before another rank's data have come.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "computing instead",
            "You took another column: what does the rank do in that time?",
            lambda right, given: [_share_percent(given, "compute_ns")],
        ),
        Mistake(
            "all that is not computing",
            "The host's work for messages is no waiting: it has a column of its own.",
            lambda right, given: [100 - _share_percent(given, "compute_ns")],
        ),
        Mistake(
            "of the waiting of all",
            "The whole is the time of this rank, not the waiting of all ranks.",
            lambda right, given: [_of_all_percent(given)],
        ),
        Mistake(
            "of the computing",
            "The whole is the time until the rank's end, not its computing alone.",
            lambda right, given: [_of_work_percent(given)],
        ),
        Mistake(
            "the program above",
            "That is the program that the panel shows. Which one is asked?",
            _of_halo_percent,
        ),
    ),
)

_CAUSES = ("late sender", "late receiver", "collective", "transfer")


def _most_waiting(given: Given) -> str:
    sums = _replayed(given.program, given.machine).waiting().sum()
    return max(_CAUSES, key=lambda name: sums[f"{name.replace(' ', '_')}_ns"])


MAIN_CAUSE = Exercise(
    number="2.4",
    question="{program} is replayed on {machine}. What do its ranks together wait for most?",
    kind=OneOf(_CAUSES),
    given=program_and_machine(
        ("halo-8", _AWS), ("halo-8", _AZURE), ("transpose-8", _DANE), ("cg-8", _AWS)
    ),
    answer=_most_waiting,
    look_again="The table of causes has a row for each rank; add up each column over all rows, and "
    "look at the model's machine: is it the one of the question?",
    because="A faster network shortens a transfer. It does not help where the other rank has not "
    "begun to send: there the work should be spread more evenly.",
    mistakes=(
        Mistake(
            "as in the panel",
            "That is what the ranks of the panel's program wait for, on the panel's machine. Is it "
            "the same with those of the question?",
            lambda right, given: [] if right == "late sender" else ["late sender"],
        ),
        Mistake(
            "the network",
            "You suspect the network. Add up the columns: which sum is the largest?",
            lambda right, given: [] if right == "transfer" else ["transfer"],
        ),
    ),
)


LESSON = Lesson(
    number=2,
    title="Where a program's time goes",
    question="Why does a program on many nodes take as long as it does?",
    objectives=(
        "predict the time of a message, and of messages that wait for one another",
        "divide a rank's time into computing, work for messages and waiting",
        "tell a late sender from a slow network",
        "find the critical path, and predict what shortens a run",
    ),
    prerequisites=("lesson 1", "ranks that send and receive", "what an allreduce does"),
    parts=(
        LessonPart("A program as operations", 14, ("2.1", "2.2")),
        LessonPart("Computing, working for messages, waiting", 14, ("2.3", "2.4")),
        LessonPart("The critical path", 14, ("2.5", "2.6")),
        LessonPart("What if", 10, ("2.7",)),
        LessonPart("What to remember", 3),
    ),
    exercises=(
        ONE_MESSAGE,
        ROUND_A_RING,
        SHARE_WAITING,
        MAIN_CAUSE,
        SLACK,
        WHAT_TO_CHANGE,
        TREES_OR_DOUBLING,
    ),
)
