"""Collectives of a Gemini-like torus on the fabric: closed forms, shared links, and the study."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.uq.collectives import (
    HOPPER,
    SHUFFLED_HOPPER,
    CollectiveTest,
    CollectiveValidation,
    FabricCollective,
    GeminiCollective,
    TorusPlaces,
    validate_collective,
)
from workbench.uq.collectives.gemini import BOX, NOMINAL
from workbench.uq.collectives.gemini_fabric import _hosts
from workbench.uq.collectives.validation import TRUTH

MAX_BW, LINK_BW, HOP, LATENCY, _, SMSG, SMSG_BW = NOMINAL
CLOSE = 2e-7
"""A byte takes whole ticks of 1e-16 s, of about five million."""

STARTUP = LATENCY + SMSG + 64 / SMSG_BW
LINE = TorusPlaces((64,))
SIZE = 8192


def time_of(
    collective, nodes, size=SIZE, places=LINE, values=NOMINAL, congestion="flow", **options
):
    test = (CollectiveTest(nodes, size),)
    machine = FabricCollective(collective, test, congestion, places, **options)
    return float(machine([values])[0, 0])


def message(links: int, blocks: int = 1) -> float:
    """Return the time of a message that shares no link; a node is one hop from its router."""
    return STARTUP + (links + 2) * HOP + blocks * SIZE / MAX_BW


def test_a_gather_on_a_line_takes_the_levels_of_its_tree() -> None:
    closed = message(1) + message(2, 2) + message(4, 4)
    assert time_of("gather", 8) == pytest.approx(closed, rel=CLOSE)


def test_a_gather_of_three_subtrees_shares_the_links_of_the_root() -> None:
    """Of 12 the ranks 4 and 8 send their four blocks to the root at once, the whole way."""
    closed = message(1) + message(2, 2) + STARTUP + 2 * 4 * SIZE / LINK_BW + (8 + 2) * HOP
    assert time_of("gather", 12) == pytest.approx(closed, rel=CLOSE)


def test_a_scatter_ends_when_the_messages_of_the_root_have_arrived() -> None:
    """They enter one after another, all of them started up at first."""
    assert time_of("scatter", 8) == pytest.approx(message(1, 7), rel=CLOSE)


def test_a_ring_takes_a_message_for_each_other_rank() -> None:
    ring = TorusPlaces((8,))
    assert time_of("allgather", 8, places=ring) == pytest.approx(7 * message(1), rel=CLOSE)
    part = time_of("allgather", 8, places=ring, rounds=4)
    assert part == pytest.approx(7 * message(1), rel=CLOSE)


@for_each("places", [HOPPER, SHUFFLED_HOPPER])
def test_the_first_rounds_of_a_ring_stand_for_all(places) -> None:
    whole = time_of("allgather", 128, places=places, rounds=None)
    assert time_of("allgather", 128, places=places) == pytest.approx(whole, rel=0.03)


@for_each("collective", ["gather", "scatter", "allgather"])
@for_each("congestion", ["packet", "packet-flow"])
def test_packets_take_as_long_as_fluid(collective, congestion) -> None:
    """But for the last of the eight packets of a message, at the rate of a link: 3 % of it."""
    fluid = time_of(collective, 8, places=LINE)
    assert time_of(collective, 8, congestion=congestion) == pytest.approx(fluid, rel=0.03)


def test_ranks_are_at_the_hosts_of_their_routers() -> None:
    made = topology.preset("hopper")
    routers = SHUFFLED_HOPPER.routers(100)
    where = made.coordinates[made.host_router[_hosts(made, SHUFFLED_HOPPER, 100)]]
    assert (np.ravel_multi_index(where.T, HOPPER.shape) == routers).all()
    assert len(set(_hosts(made, SHUFFLED_HOPPER, 6528).tolist())) == 6528


def link_effect(collective, nodes, size, places, **options):
    """Return by how much a time grows from the highest to the lowest bandwidth of links."""
    low, high = ((*NOMINAL[:1], at, *NOMINAL[2:]) for at in (BOX.low[1], BOX.high[1]))
    slow, fast = (
        time_of(collective, nodes, size, places, values, **options) for values in (low, high)
    )
    return slow / fast - 1


def test_links_matter_to_a_gather_of_three_times_a_power_of_two() -> None:
    """Wilke et al., section 7: of the gathers that of 192 nodes depends on Link BW."""
    effects = {n: link_effect("gather", n, 32768, HOPPER) for n in (128, 192, 256, 384, 512)}
    assert effects[192] > 0.2
    assert effects[384] > 0.2
    assert max(effects[n] for n in (128, 256, 512)) < 0.001
    for nodes in (192, 512):
        assert link_effect("scatter", nodes, 32768, HOPPER) < 0.001


def test_links_matter_to_a_ring_of_512_nodes_in_random_order() -> None:
    """Wilke et al., section 7: from 512 nodes on the slope of an allgather shows contention."""
    effects = {n: link_effect("allgather", n, SIZE, SHUFFLED_HOPPER, rounds=16) for n in (128, 512)}
    assert effects[512] > 0.4 > 2 * effects[128]
    assert link_effect("allgather", 512, SIZE, HOPPER, rounds=16) < 0.001  # in the torus' order


def test_times_fall_with_bandwidths_and_rise_with_latencies() -> None:
    for collective in ("gather", "scatter", "allgather"):
        middle = time_of(collective, 12)
        for at, name in enumerate(BOX.names):
            more = np.array(NOMINAL)
            more[at] *= 1.1
            change = time_of(collective, 12, values=more) - middle
            assert change <= 1e-12 if "BW" in name else change > 0, name


def test_a_model_can_be_sent_to_other_processes() -> None:
    machine = FabricCollective("gather", (CollectiveTest(8, SIZE),), "flow", LINE)
    assert pickle.loads(pickle.dumps(machine))([NOMINAL]) == machine([NOMINAL])


def test_rounds_that_do_not_wait_are_near_the_fabric() -> None:
    """A block that goes round passes seven messages, one of them seven links back."""
    line = TorusPlaces((16,))
    test = (CollectiveTest(8, SIZE),)
    fixed = SMSG + 64 / SMSG_BW + LATENCY + 1024 / NOMINAL[4] + SIZE / MAX_BW
    closed = 7 * fixed + 2 * (6 * 1 + 7) * HOP
    found = GeminiCollective("allgather", test, line, ring_waits=False)([NOMINAL])[0, 0]
    assert found == pytest.approx(closed, rel=1e-12)
    assert found == pytest.approx(time_of("allgather", 8, places=line), rel=0.1)


def test_the_fabric_is_calibrated_as_the_model_of_rounds_is(tmp_path) -> None:
    tests = tuple(CollectiveTest(n, size) for n in (8, 12) for size in (SIZE, 4 * SIZE))
    study = validate_collective("gather", LINE, model="flow", tests=tests, points=48)
    assert study.holdout.maximum.max() < 0.01
    first = study.sobol().first
    assert (first[:2, 1] < 0.01).all()
    assert (first[2:, 1] > 0.5).all()
    posterior = study.posterior()
    bandwidths = posterior.parameters[..., 0]
    low, high = np.quantile(bandwidths, [0.001, 0.999])
    assert low < TRUTH[0] < high
    assert "fluid messages" in study.truth
    study.plot()
    study.save(tmp_path / "study.json")
    again = CollectiveValidation.load(tmp_path / "study.json")
    assert again.machine == study.machine
    coarse = validate_collective("allgather", LINE, truth="flow", tests=tests[:2], points=48)
    assert isinstance(coarse.machine, GeminiCollective)
    assert coarse.observed().any()


def test_what_does_not_fit_is_refused() -> None:
    test = (CollectiveTest(8, SIZE),)
    with pytest.raises(ParameterError, match="did you mean packet-flow"):
        FabricCollective("gather", test, "packetflow")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must fit the torus' 4 nodes; got 8 ranks"):
        FabricCollective("gather", test, "flow", TorusPlaces((4,)))
    with pytest.raises(ParameterError, match="rounds must be a whole number of at least 2"):
        FabricCollective("allgather", test, "flow", LINE, rounds=1)
    with pytest.raises(ParameterError, match=r"truth must be one of .* did you mean flow"):
        validate_collective("gather", LINE, truth="flows")  # type: ignore[arg-type]
