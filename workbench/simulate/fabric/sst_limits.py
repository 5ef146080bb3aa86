"""Configurations that run here and not in SST/macro v11.1, or not with the same result."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.fabric import schedules
from kernels.fabric.arbiters import STRAGGLERS
from kernels.fabric.rank_layout import CONTROL_BYTES
from workbench.errors import ConfigurationError
from workbench.models import PISCES, SNAPPR

INIT_BYTES = 12
"""Bytes that ranks reduce in MPI_Init."""

_MULTIPLES = (
    ("down_ports_per_core_switch", "num_agg_subtrees"),
    ("down_ports_per_agg_switch", "leaf_switches_per_subtree"),
    ("up_ports_per_leaf_switch", "agg_switches_per_subtree"),
)


def check_fat_tree(shape: Mapping[str, int]) -> None:
    """Refuse a fat tree in which some leaf cannot be reached; keys are without ``topology.``."""
    for below, above, tiers in (
        (
            shape["leaf_switches_per_subtree"] * shape["up_ports_per_leaf_switch"],
            shape["agg_switches_per_subtree"] * shape["down_ports_per_agg_switch"],
            ("leaf", "agg"),
        ),
        (
            shape["num_agg_subtrees"]
            * shape["agg_switches_per_subtree"]
            * shape["up_ports_per_agg_switch"],
            shape["num_core_switches"] * shape["down_ports_per_core_switch"],
            ("agg", "core"),
        ),
    ):
        if below != above:
            raise ConfigurationError(
                f"a fat tree's up ports of {tiers[0]} switches must be as many as the down ports "
                f"of {tiers[1]} switches; got {below} and {above}",
                rule="up ports == down ports",
                keys=("topology.up_ports_per_leaf_switch", "topology.up_ports_per_agg_switch"),
            )
    for ports, subtrees in _MULTIPLES[:2]:
        if shape[ports] < shape[subtrees]:
            raise ConfigurationError(
                f"a fat tree's switches must have a port to each leaf or subtree below: "
                f"topology.{ports} = {shape[ports]} is less than topology.{subtrees} = "
                f"{shape[subtrees]}; raise topology.{ports}",
                rule=f"{ports} >= {subtrees}",
                keys=(f"topology.{ports}", f"topology.{subtrees}"),
            )


def fat_tree_limit(shape: Mapping[str, int]) -> str:
    """Return the reason why SST/macro v11.1 fails on a fat tree; empty where it runs.

    ``FatTree::checkInput`` requires multiples; several links between a leaf and an aggregation
    switch are numbered by leaves instead of switches, so that ports are missing or shared.
    """
    for ports, switches in _MULTIPLES:
        if shape[ports] % shape[switches]:
            return (
                f"it needs topology.{ports} = {shape[ports]} to be a multiple of "
                f"topology.{switches} = {shape[switches]}"
            )
    leaves, aggs = shape["leaf_switches_per_subtree"], shape["agg_switches_per_subtree"]
    links = shape["down_ports_per_agg_switch"] // leaves
    if links > 1 and leaves != aggs:
        return (
            f"with {links} links between a leaf and an aggregation switch it needs as many of the "
            f"one as of the other in a subtree, not {leaves} and {aggs}"
        )
    return ""


def lost_tail_limit(
    model: SNAPPR | PISCES, kind: int, ranks: int, sizes: tuple[int, ...], eager_cutoff: int
) -> str:
    """Return the reason why SST/macro v11.1 loses a message's last packet; empty if it does not.

    Its cut-through arbiters never place a packet's last two bytes: a packet of 1 or 2 B keeps a
    tail at time 0, and the clock goes back.
    """
    if not isinstance(model, PISCES) or "cut_through" not in (
        model.xbar_arbitrator,
        model.link_arbitrator,
        model.injection_arbitrator,
    ):
        return ""
    for n_bytes in sorted(_wire_sizes(kind, ranks, sizes, eager_cutoff)):
        tail = n_bytes % model.mtu or model.mtu
        if n_bytes > model.negligible_size and tail <= STRAGGLERS:
            return (
                f"a message of {n_bytes} B in packets of {model.mtu} B ends in one of {tail} B, "
                "which its cut-through arbitrators never place, so that its clock goes back"
            )
    return ""


def _wire_sizes(kind: int, ranks: int, sizes: tuple[int, ...], eager_cutoff: int) -> set[int]:
    """Return the bytes of the messages that ranks exchange, control messages among them."""
    found = _step_sizes(schedules.ALLREDUCE, ranks, 1, INIT_BYTES)
    for size in sizes:
        found |= _step_sizes(kind, ranks, size, 1)
    return found | ({CONTROL_BYTES} if any(size >= eager_cutoff for size in found) else set())


def _step_sizes(kind: int, ranks: int, n: int, width: int) -> set[int]:
    """Return the bytes that the steps of a collective send."""
    # But for an allreduce all ranks send as much in a step, and round a ring in all steps.
    of_ranks = range(ranks if kind == schedules.ALLREDUCE else 1)
    steps = schedules.steps_of(kind, ranks) if kind != schedules.RING_ALLGATHER else 1
    taken = [
        (rank, schedules.step_of(kind, ranks, rank, chain, i, n, width))
        for rank in of_ranks
        for chain in range(schedules.chains_of(kind, ranks, rank))
        for i in range(steps)
    ]
    return {
        int(step[schedules.SENT])
        for rank, step in taken
        if step[schedules.TO] != rank and step[schedules.SENT]
    }
