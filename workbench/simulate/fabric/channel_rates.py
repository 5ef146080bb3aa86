"""The bandwidth and the latency of each channel: the model's, and what the topology states.

A link of capacity k (``Topology.capacity``) has k times the model's link bandwidth, and a host's
link k times that of injection and ejection. A ``Fabric`` without a model takes the topology's
reference bandwidth for both, so that its links have the bandwidths that are stated. A latency that
is stated replaces the model's latency of a link between routers. A byte takes whole ticks of
1e-16 s.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR
from workbench.simulate.ticks import byte_delay, ticks
from workbench.topology.channels import Channels
from workbench.topology.topology import Topology
from workbench.units import format_quantity

_ALIKE = 0.01  # bandwidths are given to two or three digits


def byte_ticks(channels: Channels, model: SNAPPR | PISCES) -> IntArray:
    """Return the ticks of a byte on each channel, int64[channels]."""
    # As in SST/macro, ejection has the links' bandwidth.
    bandwidth = np.full(len(channels.source), model.link_bandwidth)
    bandwidth[channels.injection] = model.injection_bandwidth
    bandwidth *= channels.capacity
    some, place = np.unique(bandwidth, return_inverse=True)
    delay = np.array([byte_delay(one) for one in some.tolist()], np.int64)[place]
    if not delay.all():
        raise ParameterError(
            "a byte must take at least a tick of 1e-16 s; lower the bandwidths to 1e16 B/s",
            key="switch.link.bandwidth",
        )
    return delay


def latency_ticks(channels: Channels, model: SNAPPR | PISCES) -> IntArray:
    """Return the latency of each channel in ticks, int64[channels]."""
    found = np.full(len(channels.source), ticks(model.link_latency), np.int64)
    found[channels.ejection] = ticks(model.ejection_latency)
    found[channels.injection] = ticks(model.injection_latency)
    stated = channels.topology.link_latency
    if len(stated):
        of_link = np.array([ticks(one) for one in stated.tolist()], np.int64)
        found[: channels.between_routers] = of_link[channels.link]
    return found


def bytes_under_way(model: SNAPPR | PISCES, topology: Topology) -> int:
    """Return the credits that keep a link of capacity 1 busy: a round trip, and two packets.

    With two packets more than the round trip holds one can be served while one waits. Links of
    more capacity have as much more.
    """
    latencies = model.injection_latency, model.link_latency, model.ejection_latency
    hop = max(*latencies, float(topology.link_latency.max(initial=0.0)))
    return math.ceil(2 * hop * model.link_bandwidth) + 2 * model.mtu


def rates_notes(topology: Topology, model: SNAPPR | PISCES) -> tuple[str, ...]:
    """Return sentences on links that differ from the model's, or would if it were not given."""
    notes = []
    if topology.unequal:
        both = np.concatenate((topology.capacity, topology.host_capacity))
        least, most = (
            format_quantity(model.link_bandwidth * one, "bandwidth")
            for one in (both.min(), both.max())
        )
        notes.append(
            f"links are unequal: {least} to {most}, the model's link bandwidth times each link's "
            "capacity"
        )
    stated = topology.reference_bandwidth
    if not math.isnan(stated) and not math.isclose(stated, model.link_bandwidth, rel_tol=_ALIKE):
        notes.append(
            f"the topology states {format_quantity(stated, 'bandwidth')} for a link of capacity 1; "
            f"it has the model's {format_quantity(model.link_bandwidth, 'bandwidth')}"
        )
    if len(topology.link_latency):
        least, most = (
            format_quantity(one, "time")
            for one in (topology.link_latency.min(), topology.link_latency.max())
        )
        span = least if least == most else f"{least} to {most}"
        notes.append(f"links between routers have the latency that the topology states, {span}")
    return tuple(notes)
