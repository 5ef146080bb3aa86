"""Noise: what falls into work lengthens it, what finds a core idle does not."""

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.models import LogGPS
from workbench.programs.graph import CALC, Dependents, ExecutionGraph
from workbench.simulate.noise import Noise
from workbench.simulate.replay import replay

NS = 1e-9
MODEL = LogGPS(L=2500 * NS, o=1500 * NS, g=1000 * NS, G=6 * NS, O=0.0, S=65535)


def work(ns, ranks=1, pieces=1):
    """Return a program in which each rank computes for ``ns``, in equal pieces, one by one."""
    n = ranks * pieces
    ops = np.arange(n)
    before = ops[(ops + 1) % pieces != 0]
    return ExecutionGraph(
        np.arange(ranks + 1) * pieces,
        np.full(n, CALC, np.uint8),
        np.full(n, ns // pieces, np.int64),
        *(np.zeros(n, t) for t in (np.int32, np.uint32, np.uint8, np.uint8)),
        Dependents.from_pairs(before + 1, before, n),
        Dependents.from_pairs([], [], n),
    )


def test_a_recording_lengthens_what_it_falls_into():
    # One event of 100 ns each 1000 ns; from whichever phase, 9000 ns of work meet ten.
    noise = Noise.recorded([0.0], [100 * NS], 1000 * NS, seed=5)
    result = replay(work(9000), MODEL, noise=noise)
    assert 9000 + 900 <= result.makespan_ns <= 9000 + 1000
    assert result.noise_ps.tolist() == [int((result.makespan_ns - 9000) * 1000)]
    assert result.breakdown()["noise_ns"].tolist() == [result.makespan_ns - 9000]
    assert result.breakdown()["waiting_ns"].tolist() == [0]


def test_pieces_of_work_meet_the_same_noise_as_the_whole():
    for noise in (
        Noise.recorded([0.0, 300 * NS, 550 * NS], [30 * NS, 1 * NS, 70 * NS], 1000 * NS, seed=1),
        Noise.random(2e5, 300 * NS, seed=1),
        Noise.random(2e5, 300 * NS, distribution="exponential", seed=1),
    ):
        whole = replay(work(120_000, ranks=3), MODEL, noise=noise)
        pieces = replay(work(120_000, ranks=3, pieces=40), MODEL, noise=noise)
        assert whole.finish_ps.tolist() == pieces.finish_ps.tolist()


@for_each("distribution", ["fixed", "exponential"])
def test_random_noise_takes_its_share(distribution):
    noise = Noise.random(1e5, 2e-6, distribution=distribution, seed=11)
    assert noise.load == pytest.approx(2 / 12)
    result = replay(work(10**7, ranks=40), MODEL, noise=noise)
    lost = result.noise_ps / 1000
    # About 1000 events of 2 us a rank; their count is Poisson, so 40 ranks tell it to 0.5 %, and
    # four standard errors are asked for (exponential lengths double the variance).
    assert lost.mean() == pytest.approx(2e6, rel=4 * np.sqrt(2 / 40_000))
    assert len(set(lost.tolist())) > 1


def test_the_seed_decides():
    runs = [
        replay(work(10**6, 4), MODEL, noise=Noise.random(1e5, 1e-6, seed=seed)).finish_ps.tolist()
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_noise_while_a_core_waits_costs_nothing():
    graph = ExecutionGraph.from_goal(
        "num_ranks 2\nrank 0 {\nl1: calc 1000000\nl2: send 1b to 1\nl2 requires l1\n}\n"
        "rank 1 {\nl1: recv 1b from 0\n}\n"
    )
    result = replay(graph, MODEL, noise=Noise.recorded([0.0], [400 * NS], 2000 * NS))
    # Rank 1 waits for a million ns and works 1500.
    assert result.noise_ps[1] <= 800_000
    assert result.noise_ps[0] >= 1000 * 400 * 500


def test_compatible_replays_hear_the_same_noise():
    noise = Noise.random(1e5, 1e-6, seed=4)
    graph = work(10**6, 3, 10)
    plain = replay(graph, MODEL, noise=noise, compatible=True)
    assert plain.finish_ps.tolist() == replay(graph, MODEL, noise=noise).finish_ps.tolist()


def test_a_recording_can_be_read():
    noise = Noise.from_text("# begin length, ns\n0\t100\n\n5000 200 # late\n", seed=2)
    assert noise.begin_ps.tolist() == [0, 5_000_000]
    assert noise.length_ps.tolist() == [100_000, 200_000]
    assert noise.period_ps == 5_200_000
    assert repr(noise) == "Noise(2 recorded in 5.2e-06 s, 5.77 % of the time, seed 2)"
    with pytest.raises(ParseError, match="2: a line of noise"):
        Noise.from_text("0 1\n1 2 3\n")
    with pytest.warns(UserWarning, match="line 3: the text ends in the middle of this row"):
        assert len(Noise.from_text("0 100\n5000 200\n90").length_ps) == 2
    with pytest.raises(ParameterError, match="at least one event"):
        Noise.from_text("# nothing\n")


@for_each(
    "make, message",
    [
        (lambda: Noise.random(0.0, 1e-6), "rate_hz must be"),
        (lambda: Noise.random(np.nan, 1e-6), "rate_hz must be"),
        (lambda: Noise.random(1e3, 0.0), "length_s must be"),
        (lambda: Noise.random(1e3, 1.0), "a tenth of its time"),
        (lambda: Noise.random(1e3, 1e-6, distribution="gamma"), "fixed or exponential"),
        (lambda: Noise.random(1e3, 1e-6, seed=-1), "seed must be a whole number of at least 0"),
        (lambda: Noise.recorded([0.0, 1e-6], [2e-6, 1e-6], 1e-3), "event 0 is not"),
        (lambda: Noise.recorded([0.0, 1e-6], [1e-7, 1e-6], 1.5e-6), "event 1 is not"),
        (lambda: Noise.recorded([1e-6, 0.0], [0.0, 0.0], 1e-3), "event 0 is not"),
        (lambda: Noise.recorded([0.0], [np.inf], 1.0), "from 0 to"),
        (lambda: Noise.recorded([], [], 1.0), "at least one event"),
        (lambda: Noise.recorded([0.0], [0.99], 1.0), "a tenth of its time"),
    ],
)
def test_noise_that_cannot_be_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
