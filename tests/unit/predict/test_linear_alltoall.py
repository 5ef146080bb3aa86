"""A linear alltoall without its messages: as counted message by message, and of 4096 ranks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.predict.machines import straight_machine
from workbench.predict import predict_collective
from workbench.predict.demands import Demands, demands_of
from workbench.uq.collectives.round_costs import CollectivePlaces, link_blocks

PLACES = [
    CollectivePlaces(8, 1),
    CollectivePlaces(1, 4),
    CollectivePlaces(12, 2, (2, 2, 4)),
    CollectivePlaces(53, 1, (4, 5, 3)),
    CollectivePlaces(9, 1, (16,)),
    CollectivePlaces(9, 3, (1, 1, 9)),
    CollectivePlaces(64, 1, (4, 4, 4)),
    CollectivePlaces(30, 1, (2, 1, 2, 2, 3, 2)),
    CollectivePlaces(7, 3, topology="fat-tree:4"),
    CollectivePlaces(16, 1, topology="dragonfly:4,2,2"),
]


def demand(places: CollectivePlaces) -> Demands:
    return demands_of("alltoall", "linear", places, 8)[0]


def farthest(places: CollectivePlaces) -> float:
    """Return the links on the longest way between two of the first nodes of a torus, less one."""
    ends = np.array(np.unravel_index(np.arange(places.nodes), places.shape or (1,)))
    apart = np.abs(ends[:, :, None] - ends[:, None, :])
    size = np.array(places.shape)[:, None, None]
    return float(np.minimum(apart, size - apart).sum(axis=0).max()) - 1.0


@for_each("places", PLACES)
def test_it_is_what_its_messages_are_together(places: CollectivePlaces) -> None:
    source, target = (end.ravel() for end in np.indices((places.ranks, places.ranks)))
    source, target = source[source != target], target[source != target]
    out, into = source // places.ranks_per_node, target // places.ranks_per_node
    away = out != into
    out, into = out[away], into[away]
    found = demand(places)
    split, tied = link_blocks(out, into, np.ones(len(out)), places)
    most = float(np.bincount(out, minlength=1).max())
    assert found.node_messages[0] == found.node_blocks[0] == most
    assert found.rank_messages[0] == np.bincount(source[away], minlength=1).max()
    assert found.within_messages[0] == np.bincount(source[~away], minlength=1).max()
    assert found.pairs[0] == len(set(zip(out.tolist(), into.tolist(), strict=True))) / 2
    assert found.link_blocks[0] == pytest.approx(split, rel=1e-12)
    assert found.tied_blocks[0] == pytest.approx(tied, rel=1e-12)
    if places.shape is not None:
        assert found.hops[0] == farthest(places)


def test_a_full_ring_and_torus_have_the_load_of_the_closed_form() -> None:
    """Over a link of a ring of k nodes go k^2 / 8 blocks, k even, times the nodes beside it."""
    for shape in ((8,), (16, 4), (16, 16, 16)):
        nodes = int(np.prod(shape))
        found = demand(CollectivePlaces(nodes, 1, shape))
        assert found.link_blocks[0] == pytest.approx(max(shape) / 8 * nodes)


def test_4096_ranks_take_what_their_gaps_and_links_say() -> None:
    """16.8 million messages, none of which is made."""
    machine = straight_machine()
    alone = predict_collective(machine, "alltoall", 4096, [8], algorithm="linear").times[0]
    half = predict_collective(machine, "alltoall", 2048, [8], algorithm="linear").times[0]
    assert alone / half == pytest.approx(2.0, rel=0.01)
    torus = machine.on("torus:16x16x16")
    times = predict_collective(torus, "alltoall", 4096, [8, 65536], algorithm="linear").times
    assert times[0] >= alone
    assert times[1] > times[0]
