"""Root causes of waiting: closed forms of small programs, and that they add up to all waiting."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.loggops_programs import S, random_graph
from workbench.models import LogGPS
from workbench.programs import Program, ProgramBuilder, read_goal
from workbench.simulate import replay
from workbench.simulate.root_causes import cause_text, root_causes

NS = 1e-9
MODEL = LogGPS(L=1000 * NS, o=100 * NS, g=10 * NS, G=0.5 * NS, O=0.0, S=1000)


def causes(program: Program, model: LogGPS = MODEL) -> dict[str, float]:
    """Return the causes of a program's waiting, ns, in words."""
    result = replay(program, model, times=True)
    table = result.root_causes()
    assert table["waiting_ns"].sum() == pytest.approx(result.breakdown()["waiting_ns"].sum())
    return {cause_text(*row[:5]): row[5] for row in table.itertuples(index=False)}


def test_one_slow_rank_before_allreduces_made_all_waiting_but_the_messages() -> None:
    builder = ProgramBuilder(8)
    for step in range(20):
        for rank in range(8):
            builder.compute(rank, 600_000 if rank == 3 and step >= 6 else 100_000)
        builder.collective("allreduce", 8)
    found = causes(builder.build())
    assert list(found)[:2] == ["rank 3 before Allreduce 7 to 20", "messages under way"]
    # Each of the other seven waits for the 0.5 ms that rank 3 computes longer, 14 times, less what
    # it left the allreduce before later than rank 3: at most three messages of 1.2 us, 0.7 %.
    assert found["rank 3 before Allreduce 7 to 20"] == pytest.approx(14 * 7 * 500_000, rel=7e-3)
    assert sum(found.values()) - sum(list(found.values())[:2]) < 2e-3 * sum(found.values())


def test_a_chain_of_sends_leads_back_to_its_first_rank() -> None:
    builder = ProgramBuilder(4)
    for rank in range(4):
        if rank:
            builder.recv(rank, rank - 1, 1)
        builder.compute(rank, 9000 if rank == 0 else 2000)
        if rank < 3:
            builder.send(rank, rank + 1, 1)
    found = causes(builder.build())
    # Rank r begins to wait at 0. Its sender has waited, too, and computed: rank 0 for 9000, all
    # others, as long as there is nothing to compare it with, for 2000.
    assert found == pytest.approx(
        {
            "rank 0 before Send 1": 3 * 9000,
            "messages under way": (3 + 2 + 1) * 1100,
            "rank 1 before Send 1": 2 * 2000,
            "rank 2 before Send 1": 2000,
            # o of what rank 1 and rank 2 received before they sent
            "messages of rank 1 in Recv 1": 2 * 100,
            "messages of rank 2 in Recv 1": 100,
        }
    )


def test_a_delay_that_arrives_late_is_not_blamed_on_who_passed_it_on() -> None:
    builder = ProgramBuilder(3)
    for rank, work in ((0, 10_000), (1, 4000), (2, 8000)):
        builder.compute(rank, work)
    builder.send(0, 1, 1)
    builder.recv(1, 0, 1)
    builder.compute(1, 4000)
    builder.send(1, 2, 1)
    builder.recv(2, 1, 1)
    found = causes(builder.build())
    # Rank 1 computed 8000 until it sent, as rank 2 did until it received: rank 0 alone is late.
    # What rank 2 waits for rank 1's overhead, and for the message to rank 1, is not rank 0's.
    assert next(iter(found)) == "rank 0 before Send 1"
    assert found["rank 0 before Send 1"] == pytest.approx(2 * 6000, rel=0.01)
    assert "rank 1 before Send 1" not in found


def test_two_culprits_are_blamed_each_for_its_own() -> None:
    builder = ProgramBuilder(4)
    for late in (1, 2):
        for rank in range(4):
            builder.compute(rank, 50_000 if rank == late else 10_000)
        builder.collective("barrier")
    found = causes(builder.build())
    assert list(found)[:2] in (
        ["rank 1 before Barrier 1", "rank 2 before Barrier 2"],
        ["rank 2 before Barrier 2", "rank 1 before Barrier 1"],
    )
    for text in list(found)[:2]:
        # less what ranks leave the barrier apart, a message of 1200 of the 40,000
        assert found[text] == pytest.approx(3 * 40_000, rel=0.04)


def test_files_without_calls_name_their_messages() -> None:
    goal = (
        "num_ranks 2\nrank 0 {\na: calc 10000\nb: send 1b to 1\nb requires a\n}\n"
        "rank 1 {\na: calc 4000\nr: recv 1b from 0\nr requires a\n}\n"
    )
    assert causes(read_goal(goal)) == {"rank 0 before send 1": 6000, "messages under way": 1100}


def test_causes_add_up_and_leave_nothing_on_one_core() -> None:
    followed = 0.0
    for seed in range(60):
        graph = random_graph(np.random.default_rng(seed), events=40, other_sizes=0.0)
        try:
            result = replay(graph, MODEL.replace(S=S), times=True)
        except ValueError:
            continue
        found = root_causes(result)
        waiting = 1000 * float(result.breakdown()["waiting_ns"].sum())
        assert (found.cost_ps >= 0).all()
        # 1e-9: sums of floats; nothing is left over for cores without work
        assert found.cost_ps.sum() + found.network_ps == pytest.approx(waiting, rel=1e-9)
        followed += float(found.cost_ps.sum())
    assert followed > 0
