"""Causes of waiting: closed forms of tiny programs, and what they add up to."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.loggops_programs import S, random_graph
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs import Program, ProgramBuilder, read_goal
from workbench.simulate import Noise, replay
from workbench.simulate.waiting import CAUSES

NS = 1e-9
MODEL = LogGPS(L=1000 * NS, o=100 * NS, g=10 * NS, G=0.5 * NS, O=0.0, S=1000)


def causes(program: str | Program, rank: int, model: LogGPS = MODEL) -> dict[str, float]:
    """Return the causes of a rank's waiting, ns, those that are not 0."""
    given = read_goal(program) if isinstance(program, str) else program
    table = replay(given, model, times=True).waiting()
    row = table.iloc[rank]
    found = {cause: float(row[f"{cause}_ns"]) for cause in CAUSES}
    assert sum(found.values()) == pytest.approx(row["waiting_ns"], abs=1e-6)
    return {cause: ns for cause, ns in found.items() if ns}


def test_a_receiver_waits_for_the_sender_then_for_the_message() -> None:
    goal = (
        "num_ranks 2\nrank 0 {\na: calc 10000\nb: send 1b to 1\nb requires a\n}\n"
        "rank 1 {\na: calc 4000\nr: recv 1b from 0\nr requires a\n}\n"
    )
    # From 4000, when it begins to wait, to 10000; then o + L until the message is there.
    assert causes(goal, 1) == {"late_sender": 6000, "transfer": 1100}
    assert causes(goal, 0) == {}


def test_the_network_alone_delays_no_rank() -> None:
    goal = "num_ranks 2\nrank 0 {\nsend 201b to 1\n}\nrank 1 {\nrecv 201b from 0\n}\n"
    assert causes(goal, 1) == {"transfer": 1100}


def test_a_synchronous_send_waits_for_its_receive_then_for_the_message() -> None:
    goal = (
        "num_ranks 2\nrank 0 {{\ns: send 2001b to 1\nc: calc 5\nc requires s\n}}\n"
        "rank 1 {{\na: calc {}\nr: recv 2001b from 0\nr requires a\n}}\n"
    )
    # It is sent at 100. The receive is posted at 7000; the message has long been there.
    assert causes(goal.format(7000), 0) == {"late_receiver": 6900}
    # Posted at 300; the message comes, and lets its sender go, at 1100.
    assert causes(goal.format(300), 0) == {"late_receiver": 200, "transfer": 800}


def test_an_unexpected_message_ends_no_wait() -> None:
    goal = (
        "num_ranks 3\nrank 0 {\na: recv 1b from 1 tag 0\nb: recv 1b from 2 tag 1\nb requires a\n"
        "}\nrank 1 {\nc: calc 9000\ns: send 1b to 0 tag 0\ns requires c\n}\n"
        "rank 2 {\nc: calc 2000\ns: send 1b to 0 tag 1\ns requires c\n}\n"
    )
    # The message of rank 2 comes at 3100 and takes o, but what rank 0 waits for begins at 9000.
    assert causes(goal, 0) == {"late_sender": 9000 - 100, "transfer": 1100}


def test_waiting_in_a_collective_is_distinguished() -> None:
    builder = ProgramBuilder(2)
    for rank, work in enumerate((50_000, 0)):
        builder.compute(rank, work)
    builder.collective("barrier")
    found = causes(builder.build(), 1)
    assert found["collective"] == pytest.approx(50_000 - 100, abs=200)
    assert set(found) == {"collective", "transfer"}


def test_causes_add_up_and_leave_nothing_on_one_core() -> None:
    model = MODEL.replace(S=S)
    most = dict.fromkeys(CAUSES, 0.0)
    for seed in range(120):
        graph = random_graph(np.random.default_rng(seed), events=40, other_sizes=0.0)
        try:
            result = replay(graph, model, times=True)
        except ValueError:
            continue
        table = result.waiting()
        parts = table[[f"{cause}_ns" for cause in CAUSES]].to_numpy()
        assert (parts >= -1e-9).all(), seed
        waiting = result.breakdown()["waiting_ns"].to_numpy()
        assert np.allclose(parts.sum(axis=1), waiting, rtol=0, atol=1e-6)  # ps are whole
        for cause, ns in zip(CAUSES, parts.sum(axis=0), strict=True):
            most[cause] = max(most[cause], float(ns))
    assert most["other"] == 0
    assert min(most[cause] for cause in ("late_sender", "late_receiver", "transfer")) > 1000


def test_causes_add_up_on_several_cores() -> None:
    for seed in range(40):
        graph = random_graph(np.random.default_rng(seed), events=30, cpus=2)
        try:
            result = replay(graph, MODEL, times=True)
        except ValueError:
            continue
        table = result.waiting()
        parts = table[[f"{cause}_ns" for cause in CAUSES]].to_numpy()
        assert (parts >= -1e-9).all(), seed
        assert np.allclose(parts.sum(axis=1), table["waiting_ns"].to_numpy(), rtol=0, atol=1e-6)


def test_what_has_no_causes_says_so() -> None:
    graph = random_graph(np.random.default_rng(1))
    with pytest.raises(ParameterError, match="times=True"):
        replay(graph, MODEL).waiting()
    for options in ({"semantics": "llamp"}, {"noise": Noise.random(1.0, 1e-6)}):
        with pytest.raises(ParameterError, match="loggopsim semantics, without quirks and noise"):
            replay(graph, MODEL, times=True, **options).waiting()
