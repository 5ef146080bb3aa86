"""Lesson 3, how much latency a program bears: λ_L, critical latencies, tolerance, the dual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from workbench import machines, programs, simulate, tolerance
from workbench.models import LogGPS
from workbench.programs import Program, ProgramBuilder
from workbench.teaching.answers import Amount, WholeNumber
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import share_for_percent, unit_off
from workbench.teaching.student import ParameterDraw
from workbench.tolerance import LatencySensitivity

_AZURE, _DANE, _AWS = "azure-hb96v3-hdr", "llnl-dane-omnipath", "aws-hpc6a-efa"
_SMALL = 8  # bytes
_EAGER = 2**30  # bytes: no message is larger


def _eager(L: float, o: float, G: float = 0.0) -> LogGPS:
    """Return a model in which only these cost time, and no message waits for its receiver."""
    return LogGPS(L=L, o=o, g=0, G=G, O=0, S=_EAGER)


def _analysed(
    program: Program,
    model: LogGPS,
    percent: float = 1.0,
    interval: tuple[float, float] | None = None,
) -> LatencySensitivity:
    return tolerance.analyse(program, model, percent=[percent], interval=interval, contention=False)


# Round trips and messages of the other pair: no two ways to count them may agree.
_PAIRS = ((3, 10), (4, 10), (4, 12), (5, 12), (5, 16))


def _two_pairs(draw: ParameterDraw) -> Mapping[str, Any]:
    trips, others = draw.one_of(_PAIRS)
    return {"trips": trips, "others": others, "L": 2e-6, "o": 0.5e-6}


def _latencies_in_a_row(given: Given) -> int:
    builder = ProgramBuilder(4)
    for _ in range(given.trips):
        for sender, receiver in ((0, 1), (1, 0)):
            builder.send(sender, receiver, _SMALL)
            builder.recv(receiver, sender, _SMALL)
    for _ in range(given.others):
        builder.send(2, 3, _SMALL)
        builder.recv(3, 2, _SMALL)
    return _analysed(builder.build(), _eager(given.L, given.o)).lambda_L


COUNT_LATENCIES = Exercise(
    number="3.1",
    question="Ranks 0 and 1 send a message back and forth: {trips} times there and {trips} times "
    "back, each after the other has come. Meanwhile rank 2 sends {others} messages to rank 3, one "
    "after the other, without waiting for an answer. L = {L:time}, o = {o:time}. What is λ_L?",
    kind=WholeNumber("latencies"),
    given=_two_pairs,
    answer=_latencies_in_a_row,
    look_again="Draw the four ranks. Which messages must wait until another one has come? Follow "
    "the longest such chain from the start to the end.",
    because="Only messages that wait for one another add their latencies. Those of rank 2 are "
    "under way together, and there before the other pair ends.",
    mistakes=(
        Mistake(
            "round trips",
            "The way back takes a latency, too.",
            lambda right, given: [given.trips],
        ),
        Mistake(
            "all messages",
            "You counted every message. Do all of them wait for one another?",
            lambda right, given: [2 * given.trips + given.others],
        ),
        Mistake(
            "the other pair",
            "That pair is done early: rank 2 does not wait, so its messages travel together.",
            lambda right, given: [given.others, 1],
        ),
        Mistake(
            "overheads",
            "Count what the network does, not what the hosts do for it.",
            lambda right, given: [4 * given.trips],
        ),
    ),
)


def _reply(draw: ParameterDraw) -> Mapping[str, Any]:
    return {
        "compute": draw.one_of((20e-6, 24e-6, 30e-6, 16e-6)),
        "o": draw.one_of((0.5e-6, 0.8e-6, 1e-6)),
    }


def _first_bend_us(given: Given) -> float:
    builder = ProgramBuilder(2)
    builder.send(0, 1, _SMALL)
    builder.compute(0, round(1e9 * given.compute))
    builder.recv(0, 1, _SMALL)
    builder.recv(1, 0, _SMALL)
    builder.send(1, 0, _SMALL)
    found = _analysed(builder.build(), _eager(0, given.o), interval=(0, given.compute))
    return float(1e6 * found.critical_latencies[0])


FIRST_BEND = Exercise(
    number="3.2",
    question="Rank 0 sends a message to rank 1, computes for {compute:time}, then receives the "
    "answer, which rank 1 sends as soon as it has the message. o = {o:time}, the messages are "
    "small. At which L, in µs, is the first critical latency?",
    kind=Amount("µs", "the sum is exact, and three digits of the question leave 0.5 %", 0.005),
    given=_reply,
    answer=_first_bend_us,
    look_again="Rank 0 has sent. From then on, how long does it compute, and how long does the "
    "answer take? At the critical latency both are equal.",
    because="Up to there the computation hides both messages, and λ_L is 0. Beyond, rank 0 waits, "
    "and each ns more of L costs two, one for each way.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "one way",
            "Rank 0 waits for the answer. How many times does the network take its latency?",
            lambda right, given: [2 * right, 1e6 * given.compute],
        ),
        Mistake(
            "no overhead",
            "The network is in your sum. What does rank 1's host do before the answer leaves?",
            lambda right, given: [right + 1e6 * given.o],
        ),
        Mistake(
            "rank 0's overheads too",
            "Rank 0's own overheads come before and after the computation, whatever L is. Count "
            "only what happens while it computes.",
            lambda right, given: [right - 1e6 * given.o],
        ),
        Mistake(
            "one overhead",
            "Rank 1 works on two messages: one comes, one goes.",
            lambda right, given: [right + 0.5e6 * given.o],
        ),
    ),
)


@cache
def _shipped(program: str, machine: str, percent: float) -> LatencySensitivity:
    return _analysed(programs.load(program), machines.load(machine).loggps, percent)


def _program_on_machine(*rows: tuple[Any, ...]) -> Callable[[ParameterDraw], Mapping[str, Any]]:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        return dict(zip(("program", "machine", "percent"), draw.one_of(rows), strict=False))

    return given


def _added_us(given: Given) -> float:
    found = _shipped(given.program, given.machine, given.percent)
    return 1e6 * (found.tolerance[given.percent] - found.L)


def _allowed_us(given: Given) -> float:
    """Return by how much the run time may grow, µs."""
    found = _shipped(given.program, given.machine, given.percent)
    return float(1e6 * found.T * given.percent / 100)


def _along_the_slope(right: float, given: Given) -> list[float]:
    """Return the tolerance if the curve did not bend, where that is not nearly right."""
    straight = _allowed_us(given) / _shipped(given.program, given.machine, given.percent).lambda_L
    return [straight] if straight > 1.03 * right else []


TOLERANCE = Exercise(
    number="3.3",
    question="By how many µs may the latency of {machine} grow until {program} takes {percent:g} % "
    "longer than on the machine as it is?",
    kind=Amount("µs", "the curve is exact; a latency is hardly known to a percent", 0.01),
    given=_program_on_machine(
        ("halo-8", _AZURE, 5.0),
        ("cg-8", _AZURE, 1.0),
        ("transpose-8", _AZURE, 1.0),
        ("cg-8", _AWS, 2.0),
        ("transpose-8", _DANE, 2.0),
        ("halo-8", _DANE, 5.0),
    ),
    answer=_added_us,
    look_again="`tolerances()` has a row for each percentage. Is it the program, the machine and "
    "the percentage of the question?",
    because="The tolerance is what may be added to the machine's latency. It is small where a "
    "short program has many latencies in a row, and large where computing takes most of the time.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "the latency itself",
            "That is the latency that is reached. By how much has it grown?",
            lambda right, given: [right + 1e6 * machines.load(given.machine).loggps.L],
        ),
        Mistake(
            "percent of the latency",
            "The percentage is of the run time. Latency is only a part of it.",
            lambda right, given: [1e4 * machines.load(given.machine).loggps.L * given.percent],
        ),
        Mistake(
            "percent of the run time",
            "That is how much longer the program takes. How much latency is that?",
            lambda right, given: [_allowed_us(given)],
        ),
        Mistake(
            "all messages",
            "You divided by the number of all messages. Which of them count?",
            lambda right, given: [
                _allowed_us(given) / _shipped(given.program, given.machine, given.percent).messages
            ],
        ),
        Mistake(
            "straight on",
            "You followed the slope at the machine's latency. Does the curve bend on the way?",
            _along_the_slope,
        ),
    ),
)


def _large_allreduce(draw: ParameterDraw) -> Mapping[str, Any]:
    ranks, size = draw.one_of(((16, 2**20), (8, 2**19), (32, 2**20), (32, 2**21)))
    return {"ranks": ranks, "size": size, "L": 2e-6, "o": 0.5e-6, "bandwidth": 10e9}


@cache
def _allreduce(given: Given, algorithm: str) -> LatencySensitivity:
    builder = ProgramBuilder(given.ranks)
    builder.collective("allreduce", given.size)
    graph = builder.build().graph(allreduce=algorithm)
    model = _eager(given.L, given.o, 1 / given.bandwidth)
    return tolerance.analyse(graph, model, interval=(0, 1e-3), contention=False)


def _both(given: Given) -> tuple[LatencySensitivity, LatencySensitivity]:
    return _allreduce(given, "recursive-doubling"), _allreduce(given, "ring")


def _gain_us(given: Given) -> float:
    doubling, ring = _both(given)
    return 1e6 * (doubling.T - ring.T)


def _crossing_us(given: Given) -> float:
    doubling, ring = _both(given)
    return float(1e6 * given.L + _gain_us(given) / (ring.lambda_L - doubling.lambda_L))


RING_UP_TO = Exercise(
    number="3.4",
    question="With L = {L:time}, o = {o:time}, 1/G = {bandwidth:bandwidth} and eager messages "
    "only, an allreduce of {size:bytes} among {ranks} ranks is faster round a ring than by "
    "recursive doubling. Up to which L, in µs, does it stay so?",
    kind=Amount("µs", "both times are exact, and are read with three digits", relative=0.01),
    given=_large_allreduce,
    answer=_crossing_us,
    look_again="Both run times are straight lines over L. At L of the question you know each one's "
    "height and slope: where do they cross?",
    because="The ring sends fewer bytes in more steps: it starts lower, and rises faster. Which "
    "algorithm is best depends on the network, so a library chooses by size and ranks.",
    mistakes=(
        unit_off("µs"),
        Mistake(
            "growth only",
            "That is by how much L may grow. Up to which L is that?",
            lambda right, given: [right - 1e6 * given.L],
        ),
        Mistake(
            "the ring's slope only",
            "While L grows, recursive doubling gets slower, too.",
            lambda right, given: [1e6 * given.L + _gain_us(given) / _both(given)[1].lambda_L],
        ),
        Mistake(
            "slopes added",
            "Both lines rise. By how much does the distance between them shrink with each µs?",
            lambda right, given: [
                1e6 * given.L + _gain_us(given) / sum(each.lambda_L for each in _both(given))
            ],
        ),
        Mistake(
            "the gain",
            "That is how much the ring is ahead at L of the question. How soon is that lost?",
            lambda right, given: [_gain_us(given)],
        ),
    ),
)


_ALLOWED_S = 1e-6  # "1 µs longer" of the question 3.5


def _bought_ns(given: Given) -> float:
    program, model = programs.load(given.program), machines.load(given.machine).loggps
    percent = 100 * _ALLOWED_S / _shipped(given.program, given.machine, 1.0).T
    found = _analysed(program, model, percent)
    return 1e9 * (found.tolerance[percent] - found.L)


LATENCY_FOR_TIME = Exercise(
    number="3.5",
    question="You accept that {program} on {machine} takes 1 µs longer. How many ns of latency may "
    "the network have more for that?",
    kind=Amount("ns", "the latency is in whole picoseconds, so that few digits remain", 0.01),
    given=_program_on_machine(
        ("halo-8", _AZURE), ("transpose-8", _AZURE), ("cg-8", _AWS), ("halo-8", _AWS)
    ),
    answer=_bought_ns,
    look_again="The price of latency says what 1 ns of it costs in run time. Here the run time is "
    "given, and the latency is asked.",
    because="The program that asks for the largest latency has the run time as its condition, and "
    "the price of that is one over λ_L. The same path decides both.",
    mistakes=(
        unit_off("ns"),
        Mistake(
            "the other way round",
            "That is by how many ns the run grows for each ns of latency. Turn it round.",
            lambda right, given: [_shipped(given.program, given.machine, 1.0).lambda_L],
        ),
        Mistake(
            "one message",
            "That would be right if one message were on the critical path.",
            lambda right, given: [1e9 * _ALLOWED_S],
        ),
        Mistake(
            "all messages",
            "You divided by the number of all messages. Which of them count?",
            lambda right, given: [
                1e9 * _ALLOWED_S / _shipped(given.program, given.machine, 1.0).messages
            ],
        ),
    ),
)


@cache
def _run_s(program: str, machine: str, share: float, contention: bool) -> float:
    """Return the run time with a share of the machine's latency."""
    loaded, model = programs.load(program), machines.load(machine).loggps
    changed = model.replace(L=share * model.L)
    if contention:
        return simulate.replay(loaded.graph(), changed).makespan_s
    return _analysed(loaded, changed).T


def _gain_percent(given: Given, contention: bool = False) -> float:
    whole, half = (_run_s(given.program, given.machine, share, contention) for share in (1.0, 0.5))
    return 100 * (1 - half / whole)


def _different(value: float, right: float) -> list[float]:
    """Return a wrong answer, unless it is nearly the right one."""
    return [value] if abs(value / right - 1) > 0.03 else []


HALF_THE_LATENCY = Exercise(
    number="3.6",
    question="The latency of {machine} is halved. By how many percent does the run time of "
    "{program} fall, without contention, as `analyse` computes it?",
    kind=Amount("%", "nobody needs more than two digits of a gain", relative=0.01),
    # Where the curve bends: half of ρ_L is off by 5 to 15 %. It is right for cg-8, halo-4 on Azure.
    given=_program_on_machine(
        ("halo-4", _AWS), ("cg-4", _AZURE), ("cg-4", _DANE), ("halo-8", _AZURE), ("halo-8", _DANE)
    ),
    answer=_gain_percent,
    look_again="Analyse the program twice, with the model as it is and with "
    "`model.replace(L=model.L / 2)`, and compare the two T.",
    because="Only the share of the run that is latency can shrink, and where the curve bends, "
    "another path takes over and the gain is less than the slope promised.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "half the time",
            "The run time is not all latency.",
            lambda right, given: [50.0],
        ),
        Mistake(
            "all of the latency",
            "That is the whole share of latency. How much of it goes?",
            lambda right, given: [100 * _shipped(given.program, given.machine, 1.0).rho_L],
        ),
        Mistake(
            "straight on",
            "You followed the slope at the machine's latency downwards. Does the curve bend there?",
            lambda right, given: _different(
                50 * _shipped(given.program, given.machine, 1.0).rho_L, right
            ),
        ),
        Mistake(
            "the new time in percent of the old",
            "That is what is left of the run time; asked is by how much it falls.",
            lambda right, given: [100 - right],
        ),
        Mistake(
            "of the shorter time",
            "Percent of what? A fall is measured from where it starts.",
            lambda right, given: _different(100 * (100 / (100 - right) - 1), right),
        ),
        Mistake(
            "with contention",
            "That is a replay with busy hosts. `analyse` asks for the time without contention.",
            lambda right, given: _different(_gain_percent(given, contention=True), right),
        ),
    ),
)


LESSON = Lesson(
    number=3,
    title="How much latency a program bears",
    question="How much slower may a network be until a program notices?",
    objectives=(
        "count the latencies on a critical path, and say what one more ns costs",
        "find the latency at which a run-time curve bends, and explain the bend",
        "state how much latency a program tolerates at 1, 2 or 5 %",
        "read a price in a linear program",
    ),
    prerequisites=("lesson 2", "L, o and G of LogGPS", "the critical path", "straight lines"),
    parts=(
        LessonPart("The slope", 12, ("3.1",)),
        LessonPart("Where the curve bends", 13, ("3.2",)),
        LessonPart("Tolerance", 16, ("3.3", "3.4")),
        LessonPart("What latency costs", 14, ("3.5", "3.6")),
        LessonPart("What to remember", 3),
    ),
    exercises=(
        COUNT_LATENCIES,
        FIRST_BEND,
        TOLERANCE,
        RING_UP_TO,
        LATENCY_FOR_TIME,
        HALF_THE_LATENCY,
    ),
)
