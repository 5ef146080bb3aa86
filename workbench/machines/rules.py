"""How what an analysis needs is derived from a machine that lacks it, each by a stated rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ParameterError
from workbench.measure import OSU_SIZES, OSUCurve
from workbench.measure.message_curve import MessageCurve
from workbench.models import PISCES, SNAPPR, LogGPS, NetworkModel, Protocol
from workbench.topology.metrics import LinkSpeeds
from workbench.topology.topology import TERMINAL

if TYPE_CHECKING:
    from workbench.machines.machine import Machine
    from workbench.simulate.fabric.fabric import Congestion, Fabric
    from workbench.topology import Topology

LINKS = ("link_bandwidth", "host_latency", "wire_latency", "switch_latency")
"""The parts of a machine of which a network is made."""

GAP_SHARE = 0.2
"""Time between two small messages of a rank over the latency, where it was not measured."""


def interval_of(latency: MessageCurve) -> MessageCurve:
    """Return the time from one message to the next where no window of messages was measured."""
    times = np.maximum(GAP_SHARE * latency.start, latency.per_byte * latency.sizes)
    return MessageCurve(latency.sizes, times)


def loggps_of_curve(
    latency: MessageCurve, interval: MessageCurve | None = None, eager_bytes: int | None = None
) -> LogGPS:
    """Return LogGPS parameters as two straight lines through measured messages.

    The latency of a small message is 2o + L, and o half of what passes from one message to the
    next; G is the time of a byte of large messages. S is the size after which the latency jumps
    most beyond what its further bytes take, unless it is given.

    Args:
        latency: half of a round trip over size.
        interval: time from one message of a window to the next; None assumes `GAP_SHARE`.
        eager_bytes: S, where it is known.
    """
    gap = min(float((interval or interval_of(latency)).at(1)), latency.start)
    if eager_bytes is None:
        sizes, times = latency.sizes, latency.times
        jumps = (times[1:] - latency.per_byte * np.diff(sizes)) / times[:-1]
        eager_bytes = int(sizes[int(np.argmax(jumps))]) if len(jumps) else 65536
    o = gap / 2
    return LogGPS(
        L=latency.start - 2 * o, o=o, g=gap, G=latency.per_byte, O=0.0, S=max(eager_bytes, 1)
    )


def message_curves(curve: OSUCurve) -> tuple[MessageCurve | None, MessageCurve | None]:
    """Return latency and interval between messages of an OSU curve; None where not measured."""
    sizes = curve.sizes.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = (curve.latency_s, sizes / curve.bandwidth_Bps)
    known = [np.isfinite(times) & (times > 0) for times in columns]
    latency, interval = (
        MessageCurve(sizes[there], times[there]) if there.any() else None
        for there, times in zip(known, columns, strict=True)
    )
    return latency, interval


def loggps_of(
    model: NetworkModel, curve: OSUCurve | None = None, errors: Mapping[str, float] | None = None
) -> LogGPS:
    """Return the LogGPS parameters of a model of two nodes.

    Of a Protocol they are those of its eager regime. Of another model they are two straight lines
    through its curve, as ``loggps_of_curve`` draws them, with the eager threshold of its MPI.

    Args:
        model: the model.
        curve: measured messages, through which the lines are drawn; None simulates the model.
        errors: standard errors of a Protocol's parameters, SI by key.

    Raises:
        ConfigurationError: the model cannot be simulated.
    """
    if isinstance(model, Protocol):
        return LogGPS.from_protocol(model, errors=errors)
    from workbench.simulate import simulate_osu

    measured = curve is not None and bool(np.isfinite(curve.latency_s).any())
    drawn = curve if curve is not None and measured else simulate_osu(model, list(OSU_SIZES))
    latency, interval = message_curves(drawn)
    if latency is None:
        raise ParameterError(
            f"{drawn.name} must have latencies above 0 s, as LogGPS parameters are drawn from "
            "them; it has none",
            key="curve",
        )
    eager = int(model.get("node.app1.mpi.max_eager_msg_size"))
    return loggps_of_curve(latency, interval, eager)


def links_of(machine: Machine) -> LinkSpeeds:
    """Return bandwidth and latencies of a machine's links, for ``topology.summary``."""
    return LinkSpeeds(*(machine.number(name) for name in LINKS))


def wires_of(machine: Machine, topology: Topology) -> dict[str, Any]:
    """Return a machine's wires on a network, as ``placement.place`` takes them.

    ``l_wire_s``, the latency of wires by class, and ``d_switch_s`` in s; where messages within a
    node were measured also ``same_host_s``, their latency less the hosts' time, and
    ``same_host_G`` in s/B. Two hosts of one switch have the L of the machine.

    Args:
        machine: the machine.
        topology: the network.
    """
    links = links_of(machine)
    found: dict[str, Any] = {
        "l_wire_s": {
            name: links.host_s if name == TERMINAL else links.wire_s for name in topology.classes
        },
        "d_switch_s": links.switch_s,
    }
    latency = None if machine.within is None else message_curves(machine.within)[0]
    if latency is not None:
        found["same_host_s"] = max(latency.start - 2 * machine.loggps.o, 0.0)
        found["same_host_G"] = latency.per_byte
    return found


def fabric_of(
    machine: Machine,
    topology: Topology,
    routing: str | None = None,
    congestion: Congestion | None = None,
    seed: int = 0,
) -> Fabric:
    """Return a network of a machine's links, on which its messages take what its LogGPS says.

    A machine whose model is SNAPPR or PISCES, and of the kind that ``congestion`` asks for, has
    that model's ports, unless a part of its links was given. For others: links and network cards
    carry ``link_bandwidth``; a packet takes the ``host_latency`` from a host to its switch and from
    the last switch to a host, the ``switch_latency`` in each switch, and the ``wire_latency``
    between two. Credits cover what is under way in a round trip over a link, in each lane.

    Args:
        machine: the machine.
        topology: its network.
        routing: by name; None takes the topology's usual one.
        congestion: ``packet`` (the default), ``packet-flow`` or ``flow``.
        seed: of the random choices of routes.

    Raises:
        ParameterError: a part of the machine is missing, or the others do not fit one another.
    """
    from workbench.simulate.fabric.channel_rates import bytes_under_way
    from workbench.simulate.fabric.fabric import Fabric

    fabric = Fabric(topology, None, routing, congestion, seed)
    kind: type[SNAPPR] | type[PISCES] = PISCES if congestion == "packet-flow" else SNAPPR
    if isinstance(machine.model, kind) and not machine.given.keys() & set(LINKS):
        ports: SNAPPR | PISCES = machine.model
    else:
        links = links_of(machine)
        ports = kind(
            injection_bandwidth=links.bandwidth_Bps,
            link_bandwidth=links.bandwidth_Bps,
            injection_latency=links.host_s + links.switch_s,
            link_latency=links.wire_s + links.switch_s,
            ejection_latency=links.host_s,
        )
        if isinstance(ports, SNAPPR):
            ports = ports.replace(nic_bandwidth=links.bandwidth_Bps)
    return replace(fabric, model=fabric.with_credits(ports, bytes_under_way(ports, topology)))
