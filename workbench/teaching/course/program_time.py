"""Lesson 2, where a program's time goes: replay, breakdown, late senders, the critical path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench import programs, simulate
from workbench.models import LogGPS, profile
from workbench.programs import ProgramBuilder
from workbench.simulate import ReplayResult
from workbench.teaching.answers import Amount, InOrder, OneOf
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import round_trip, share_for_percent, unit_off
from workbench.teaching.student import ParameterDraw

_AZURE, _DANE, _AWS = "azure-hb96v3-hdr", "llnl-dane-omnipath", "aws-hpc6a-efa"
_EXACT_SUM = "the sum is exact, and three digits of the question leave 0.5 %"
_NS = 1e9


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

ONE_MESSAGE = Exercise(
    number="2.1",
    question="Rank 0 sends {size} bytes to rank 1, and nothing else happens. "
    + _LETTERS
    + ". After how many µs has rank 1 the message?",
    kind=Amount("µs", _EXACT_SUM, relative=0.01),
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
    kind=Amount("µs", _EXACT_SUM, relative=0.01),
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
    ),
)


@cache
def _replayed(program: str, machine: str) -> ReplayResult:
    graph = programs.load(program).graph()
    return simulate.replay(graph, profile(machine).loggps, times=True)


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
    ),
)

_CAUSES = ("late sender", "late receiver", "collective", "transfer")


def _most_waiting(given: Given) -> str:
    sums = _replayed(given.program, given.machine).waiting().sum()
    return max(_CAUSES, key=lambda name: sums[f"{name.replace(' ', '_')}_ns"])


def _program_and_machine(*pairs: tuple[str, str]) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        program, machine = draw.one_of(pairs)
        return {"program": program, "machine": machine}

    return given


MAIN_CAUSE = Exercise(
    number="2.4",
    question="{program} is replayed on {machine}. What do its ranks together wait for most?",
    kind=OneOf(_CAUSES),
    given=_program_and_machine(
        ("halo-8", _AWS), ("halo-8", _AZURE), ("transpose-8", _DANE), ("cg-8", _AWS)
    ),
    answer=_most_waiting,
    look_again="The table of causes has a row for each rank; add up each column over all rows, and "
    "look at the model's machine: is it the one of the question?",
    because="A faster network shortens a transfer. It does not help where the other rank has not "
    "begun to send: there the work should be spread more evenly.",
)


def _two_ranks(draw: ParameterDraw) -> Mapping[str, Any]:
    return {
        "first": draw.one_of((100e-6, 120e-6, 150e-6)),
        "second": draw.one_of((60e-6, 70e-6, 80e-6)),
        "third": 50e-6,
        "L": draw.one_of((5e-6, 8e-6)),
        "o": 3e-6,
    }


def _late_sender_us(given: Given) -> float:
    """Return how long the receiver of the small program waits, from its replay."""
    builder = ProgramBuilder(2)
    builder.compute(0, round(_NS * given.first))
    builder.send(0, 1, 1)
    builder.compute(1, round(_NS * given.second))
    builder.recv(1, 0, 1)
    builder.compute(1, round(_NS * given.third))
    model = LogGPS(L=given.L, o=given.o, g=0, G=0, O=0, S=2**30)
    result = simulate.replay(builder.build().graph(), model, times=True)
    return float(result.breakdown()["waiting_ns"].iloc[1] / 1e3)


SLACK = Exercise(
    number="2.5",
    question="Rank 0 computes for {first:time}, then sends one byte to rank 1. Rank 1 computes for "
    "{second:time}, receives, then computes for {third:time}. L = {L:time}, o = {o:time}. By how "
    "many µs may the first computation of rank 1 grow before the program ends later?",
    kind=Amount("µs", _EXACT_SUM, relative=0.01),
    given=_two_ranks,
    answer=_late_sender_us,
    look_again="When is the message at rank 1, and when is rank 1 ready for it? Draw both ranks on "
    "a line of time.",
    because="While rank 1 waits for the message it has time to spare: its first computation is not "
    "on the critical path until it ends as late as the message comes.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "no message",
            "You compare the two computations. The message between them takes time too.",
            lambda right, given: [1e6 * (given.first - given.second)],
        ),
        Mistake(
            "the receiver's overhead too",
            "Rank 1 works on the message after it has come: that delays the end in any case.",
            lambda right, given: [right + 1e6 * given.o],
        ),
        Mistake(
            "no overhead",
            "Rank 0's host works on the message before it leaves.",
            lambda right, given: [right - 1e6 * given.o],
        ),
        Mistake(
            "the whole program",
            "That is when the program ends; asked is the time that rank 1 has to spare.",
            lambda right, given: [
                1e6 * (given.first + given.L + 2 * given.o + given.third),
            ],
        ),
    ),
)

_CHANGES = ("half L", "half o", "half G")


def _by_gain(given: Given) -> tuple[str, ...]:
    """Return the changes, that with the shortest run first."""
    graph, model = programs.load(given.program).graph(), profile(given.machine).loggps
    changed = {
        "half L": model.replace(L=model.L / 2),
        "half o": model.replace(o=model.o / 2),
        "half G": model.replace(G=model.G / 2),
    }
    runs = {name: simulate.replay(graph, each).makespan_ps for name, each in changed.items()}
    return tuple(sorted(_CHANGES, key=lambda name: runs[name]))


WHAT_TO_CHANGE = Exercise(
    number="2.6",
    question="You may halve one parameter of the network of {machine} for {program}: the latency "
    "L, the host's overhead o, or the time G of a byte. Put the changes in order, that with the "
    "shortest run first.",
    kind=InOrder(_CHANGES),
    given=_program_and_machine(
        ("halo-8", _AZURE), ("cg-8", _AZURE), ("halo-8", _AWS), ("cg-8", _DANE), ("halo-4", _DANE)
    ),
    answer=_by_gain,
    look_again="Replay the program three times, each time with one parameter halved by "
    "`model.replace(...)`, and compare the run times. Is it the machine of the question?",
    because="What counts is what stands on the critical path: many small messages make latency and "
    "overhead count, and hardly the bytes.",
    mistakes=(
        Mistake(
            "longest first",
            "The order is there, from the wrong end: the shortest run comes first.",
            lambda right, given: [tuple(reversed(right))],
        ),
    ),
)


@cache
def _with_allreduce(program: str, machine: str, algorithm: str) -> float:
    graph = programs.load(program).graph(allreduce=algorithm)
    return simulate.replay(graph, profile(machine).loggps).makespan_s


def _ring_percent(given: Given) -> float:
    short, long = (
        _with_allreduce(given.program, given.machine, name)
        for name in ("recursive-doubling", "ring")
    )
    return 100 * (long / short - 1)


RING_OR_DOUBLING = Exercise(
    number="2.7",
    question="By how many percent does the run time of {program} on {machine} grow if its "
    "allreduce goes round a ring instead of by recursive doubling?",
    kind=Amount("%", "the replay is exact; nobody needs more than two digits", relative=0.02),
    given=_program_and_machine(
        ("cg-8", _AZURE), ("halo-8", _AZURE), ("halo-8", _DANE), ("cg-8", _AWS)
    ),
    answer=_ring_percent,
    look_again="Replay both graphs with the model of the same machine. The growth is the "
    "difference, in percent of the run time with recursive doubling.",
    because="Round a ring of 8 ranks there are 14 steps one after the other, by recursive doubling "
    "3; for a few bytes each step costs a latency.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "the new time in percent of the old",
            "That is the new run time in percent of the old one; asked is the growth.",
            lambda right, given: [100 + right],
        ),
        Mistake(
            "of the longer time",
            "Percent of what? Growth is measured from where it starts.",
            lambda right, given: [100 * right / (100 + right)],
        ),
        Mistake(
            "shorter",
            "The sign says that it gets shorter. Which one is the later?",
            lambda right, given: [-right, -100 * right / (100 + right)],
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
        RING_OR_DOUBLING,
    ),
)
