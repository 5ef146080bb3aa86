"""Collectives on a Gemini-like torus: closed forms, shared links, and the study."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.uq.torus_loads import add_messages, busiest_on_way
from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.uq.collectives import HOPPER, GeminiCollective, TorusPlaces, validate_collective
from workbench.uq.collectives.gemini import BOX, NOMINAL, SHUFFLED_HOPPER, paper_tests
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.collectives.validation import SPREAD, TRUTH

MAX_BW, _, HOP, LATENCY, INJECTION, SMSG, SMSG_BW = NOMINAL
FIXED = SMSG + 64 / SMSG_BW + LATENCY + 1024 / INJECTION
COLLECTIVES = ("allgather", "gather", "scatter")


def time_of(collective: str, nodes: int, size: int, places: TorusPlaces) -> float:
    test = CollectiveTest(nodes, size)
    return float(GeminiCollective(collective, (test,), places)([NOMINAL])[0, 0])


@for_each("collective", ["gather", "scatter"])
def test_a_tree_on_a_line(collective: str) -> None:
    """The root's messages have 1, 2 and 4 blocks over 1, 2 and 4 links, and meet no other there."""
    size = 8192
    closed = 7 * size / MAX_BW + 3 * FIXED + 2 * (1 + 2 + 4) * HOP
    assert time_of(collective, 8, size, TorusPlaces((64,))) == pytest.approx(closed, rel=1e-12)


def test_a_ring_takes_a_round_for_each_other_rank() -> None:
    closed = 7 * (FIXED + 2 * HOP + 8192 / MAX_BW)
    assert time_of("allgather", 8, 8192, TorusPlaces((8,))) == pytest.approx(closed, rel=1e-12)


def test_messages_share_links_and_parallel_links_relieve_them() -> None:
    """On half a ring the last rank's message goes back 7 links, where it meets no other."""
    line = TorusPlaces((16,))
    closed = 7 * (FIXED + 2 * 7 * HOP + 8192 / MAX_BW)
    assert time_of("allgather", 8, 8192, line) == pytest.approx(closed, rel=1e-12)
    shuffled = TorusPlaces((64,), 2, seed=1, shuffled=True)
    relieved = TorusPlaces((64,), 2, (4,), seed=1, shuffled=True)
    assert time_of("allgather", 64, 8192, shuffled) > time_of("allgather", 64, 8192, relieved)


def test_loads_on_ways_agree_with_a_walk() -> None:
    rng = np.random.default_rng(0)
    shape = np.array([4, 3, 5])
    source, target = rng.integers(0, 60, (2, 40))
    load = rng.random((60, 3, 2))
    busiest, links = np.empty(40), np.empty(40, np.int64)
    busiest_on_way(shape, source, target, load, busiest, links)
    for n in range(40):
        way = np.zeros((60, 3, 2))
        add_messages(shape, source[n : n + 1], target[n : n + 1], np.ones(1), way)
        assert links[n] == way.sum()
        assert busiest[n] == load[way > 0].max(initial=0.0)


@for_each("collective", COLLECTIVES)
def test_times_fall_with_bandwidths_and_rise_with_latencies(collective: str) -> None:
    machine = GeminiCollective(collective, paper_tests(collective)[:8], SHUFFLED_HOPPER)
    middle = machine([NOMINAL])[0]
    for at, name in enumerate(BOX.names):
        more = np.array(NOMINAL)
        more[at] *= 1.1
        change = machine(more[None])[0] - middle
        assert (change <= 1e-15).all() if "BW" in name else (change > 0).all(), name


def test_hopper_is_the_machine_of_the_presets() -> None:
    made = topology.preset("hopper")
    assert HOPPER.nodes == made.num_hosts
    assert np.prod(HOPPER.shape) == made.num_routers
    assert len(set(HOPPER.routers(512).tolist())) > 400


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="did you mean gather"):
        paper_tests("gathr")
    with pytest.raises(ParameterError, match="must fit the torus' 8 nodes; got 16 ranks"):
        GeminiCollective("gather", (CollectiveTest(16, 8),), TorusPlaces((8,)))


def test_surrogates_of_all_76_tests_are_within_1_percent() -> None:
    largest = np.concatenate([validate_collective(c).holdout.maximum for c in COLLECTIVES])
    assert len(largest) == 76
    assert largest.max() < 0.01
    assert validate_collective("allgather", SHUFFLED_HOPPER).holdout.maximum.max() < 0.01


def test_a_gather_is_calibrated_to_one_bandwidth() -> None:
    """Table 4's ± is 1.645 SPREAD / sqrt(tests x replicas) of the time, and so is this one's."""
    study = validate_collective("gather")
    posterior = study.posterior()
    bandwidth = posterior.parameters[..., 0]
    closed = SPREAD / np.sqrt(28 * 20)
    # Latencies that are not known add to it, and the noise is estimated: at most a third.
    assert closed * 0.9 < bandwidth.std() / bandwidth.mean() < closed * 4 / 3
    # The finer model's links slow messages by a few percent at most.
    assert 0.96 < bandwidth.mean() / TRUTH[0] < 1.002
    found = study.predict(4096)
    expected = 4095 * 8192 * np.array([1, 2, 3, 4]) / bandwidth.mean()
    np.testing.assert_allclose(found.median, expected, rtol=0.01)
    assert study.observed().mean() > 0.9
