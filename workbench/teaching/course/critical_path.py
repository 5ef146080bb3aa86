"""Lesson 2's last exercises: slack, what shortens a run, and another algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench import machines, programs, simulate
from workbench.models import LogGPS
from workbench.programs import ProgramBuilder
from workbench.teaching.answers import Amount, InOrder
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.mistakes import share_for_percent, unit_off
from workbench.teaching.student import ParameterDraw

_AZURE, _DANE, _AWS = "azure-hb96v3-hdr", "llnl-dane-omnipath", "aws-hpc6a-efa"
_NS = 1e9  # in a second; a program computes whole ns

EXACT_SUM = "the sum is exact, and three digits of the question leave 0.5 %"
"""The reason of a tolerance."""


def program_and_machine(*pairs: tuple[str, str]) -> Any:
    """Return a function that draws a program and a machine from pairs."""

    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        program, machine = draw.one_of(pairs)
        return {"program": program, "machine": machine}

    return given


def _two_ranks(draw: ParameterDraw) -> Mapping[str, Any]:
    return {
        "first": draw.one_of((100e-6, 120e-6, 150e-6)),
        "second": draw.one_of((60e-6, 70e-6, 80e-6)),
        "third": 50e-6,
        "L": draw.one_of((5e-6, 8e-6)),
        "o": 3e-6,
    }


def _late_sender_us(given: Given) -> float:
    """Replay the small program, and return how long its receiver waits."""
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
    kind=Amount("µs", EXACT_SUM, relative=0.01),
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
            "no latency",
            "The message leaves, but it is not there at once.",
            lambda right, given: [right - 1e6 * given.L],
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
    graph, model = programs.load(given.program).graph(), machines.load(given.machine).loggps
    changed = {
        "half L": model.replace(L=model.L / 2),
        "half o": model.replace(o=model.o / 2),
        "half G": model.replace(G=model.G / 2),
    }
    runs = {name: simulate.replay(graph, each).makespan_ps for name, each in changed.items()}
    return tuple(sorted(_CHANGES, key=lambda name: runs[name]))


def _bytes_first(right: tuple[str, ...], given: Given) -> list[tuple[str, ...]]:
    """Return the orders that begin with G, where they are neither right nor just reversed."""
    rest = (("half L", "half o"), ("half o", "half L"))
    return [
        order
        for order in (("half G", *others) for others in rest)
        if order not in (right, right[::-1])
    ]


WHAT_TO_CHANGE = Exercise(
    number="2.6",
    question="You may halve one parameter of the network of {machine} for {program}: the latency "
    "L, the host's overhead o, or the time G of a byte. Put the changes in order, that with the "
    "shortest run first.",
    kind=InOrder(_CHANGES),
    given=program_and_machine(
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
        Mistake(
            "bytes first",
            "You expect the bytes to cost most. How large are this program's messages?",
            _bytes_first,
        ),
    ),
)


@cache
def _with_allreduce(program: str, machine: str, algorithm: str) -> float:
    graph = programs.load(program).graph(allreduce=algorithm)
    return simulate.replay(graph, machines.load(machine).loggps).makespan_s


def _growth_percent(given: Given) -> float:
    short, long = (
        _with_allreduce(given.program, given.machine, name)
        for name in ("recursive-doubling", "reduce-bcast")
    )
    return 100 * (long / short - 1)


def _growth_of_halo_percent(right: float, given: Given) -> list[float]:
    """Return the growth that the notebook shows, where that is not nearly right."""
    found = _growth_percent(Given({"program": "halo-8", "machine": _AZURE}))
    others = (right, 100 * right / (100 + right))
    return [found] if min(abs(found / one - 1) for one in others) > 0.05 else []


TREES_OR_DOUBLING = Exercise(
    number="2.7",
    question="By how many percent does the run time of {program} on {machine} grow if its "
    "allreduce is a reduction and a broadcast instead of recursive doubling?",
    kind=Amount("%", "the replay is exact; nobody needs more than two digits", relative=0.02),
    given=program_and_machine(("cg-8", _AZURE), ("cg-4", _AZURE), ("cg-8", _DANE), ("cg-8", _AWS)),
    answer=_growth_percent,
    look_again="Replay both graphs with the model of the same machine. The growth is the "
    "difference, in percent of the run time with recursive doubling.",
    because="Up a tree of 8 ranks and down again there are 6 steps one after the other, by "
    "recursive doubling 3; for a few bytes each step costs a latency.",
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
        Mistake(
            "the run above",
            "That is the growth of the program and the machine above. Which are asked?",
            _growth_of_halo_percent,
        ),
    ),
)
