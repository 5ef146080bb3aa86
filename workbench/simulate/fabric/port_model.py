"""A port model's parameters as the cells that the kernels read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.fabric import arbiters, layout, pisces_cells
from workbench.errors import ConfigurationError
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric.channel_rates import byte_ticks, latency_ticks
from workbench.simulate.ticks import byte_delay, ticks
from workbench.topology.channels import Channels

IntArray = NDArray[np.int64]

_UNLIMITED = 2**60  # B, more than a run sends; what is added to it stays an int64


def model_cells(model: SNAPPR | PISCES, routers: int, channels: int, lanes: int) -> int:
    """Return the number of state cells of a port model; ``channels`` include those of hosts."""
    if isinstance(model, SNAPPR):
        return 0
    cells: int = pisces_cells.room(routers, channels, lanes)
    return cells


def fill_ports(
    s: IntArray,  # settings
    p: IntArray,  # (3, N_PORT)
    credits_of: IntArray,  # (channels, lanes)
    h: IntArray,  # (hosts, N_HOST)
    lanes: int,
    model: SNAPPR | PISCES,
) -> None:
    """Fill in a port model's numbers."""
    injection = slice(len(credits_of) - len(h), None)
    p[:, layout.BYTE] = byte_delay(model.link_bandwidth)
    p[layout.INJECTION, layout.BYTE] = byte_delay(model.injection_bandwidth)
    p[layout.BETWEEN, layout.LATENCY] = ticks(model.link_latency)
    p[layout.EJECTION, layout.LATENCY] = ticks(model.ejection_latency)
    p[layout.INJECTION, layout.LATENCY] = ticks(model.injection_latency)
    s[layout.MTU] = model.mtu
    s[layout.NEGLIGIBLE] = model.negligible_size
    s[layout.OVERLAY] = ticks(model.logp.out_in_latency)
    s[layout.OVERLAY_HOP] = ticks(model.logp.hop_latency)
    s[layout.OVERLAY_BYTE] = byte_delay(model.logp.bandwidth)
    s[layout.FLOW_CONTROL] = s[layout.CONGESTION] = 1
    if isinstance(model, SNAPPR):
        s[layout.MODEL] = layout.SNAPPR
        s[layout.FLOW_CONTROL] = model.switch_flow_control
        s[layout.CONGESTION] = model.congestion
        s[layout.NIC_BYTE] = byte_delay(model.nic_bandwidth)
        p[:, layout.FLIT] = model.link_flit_size * byte_delay(model.link_bandwidth)
        overhead = model.injection_flit_size * byte_delay(model.injection_bandwidth)
        p[layout.INJECTION, layout.FLIT] = overhead
        credit, h[:, layout.BUFFER] = model.switch_credits, model.nic_buffer
        if not model.nic_flow_control:
            h[:, layout.BUFFER] = _UNLIMITED
    else:
        s[layout.MODEL] = layout.PISCES
        credit, h[:, layout.BUFFER] = model.link_credits, _UNLIMITED
    credits_of[:] = credit // lanes
    credits_of[injection] = 0
    credits_of[injection, 0] = model.nic_credits


def fill_own_ports(
    own: IntArray,  # (channels, N_PORT)
    ports: IntArray,  # (3, N_PORT), filled in
    credits_of: IntArray,  # (channels, lanes), likewise
    channels: Channels,
    model: SNAPPR | PISCES,
) -> None:
    """Fill in the ports of unequal links.

    The buffer behind a link of more capacity is larger, as those behind parallel links together
    are; no buffer is smaller than the model's.
    """
    hosts = channels.topology.num_hosts
    kind = np.repeat(np.arange(3), (channels.between_routers, hosts, hosts))
    flit = ports[kind, layout.FLIT] // ports[kind, layout.BYTE]
    own[:, layout.BYTE] = byte_ticks(channels, model)
    own[:, layout.FLIT] = flit * own[:, layout.BYTE]
    own[:, layout.LATENCY] = latency_ticks(channels, model)
    credits_of[:] = (credits_of * np.maximum(channels.capacity, 1.0)[:, None]).astype(np.int64)


def fill_arbiters(s: IntArray, q: IntArray, model: PISCES) -> None:
    """Fill in PISCES's arbiters and crossbars with credits, once the rest of ``s`` is filled in."""
    kinds = {
        "simple": arbiters.SIMPLE,
        "null": arbiters.NULL,
        "cut_through": arbiters.CUT_THROUGH,
    }
    room = s[s[layout.AT_MODEL] :]
    room[pisces_cells.CROSSBAR_KIND] = kinds[model.xbar_arbitrator]
    room[pisces_cells.LINK_KIND] = kinds[model.link_arbitrator]
    room[pisces_cells.INJECTION_KIND] = kinds[model.injection_arbitrator]
    room[pisces_cells.CROSSBAR_BYTE] = byte_delay(model.xbar_bandwidth)
    pisces_cells.start(s, q)


def lookahead(
    s: IntArray,
    model: SNAPPR | PISCES,
    hops: NDArray[np.int32] | None,
    channels: Channels | None,  # of unequal links
    *,
    overlay: bool,
) -> int:
    """Return the least number of ticks between an event and its effect on another component."""
    latencies = {
        "switch.link.latency": ticks(model.link_latency),
        "node.nic.injection.latency": ticks(model.injection_latency),
        "node.nic.ejection.latency": ticks(model.ejection_latency),
    }
    if channels is not None:
        between = latency_ticks(channels, model)[: channels.between_routers]
        latencies["switch.link.latency"] = int(
            between.min(initial=latencies["node.nic.injection.latency"])
        )
    if overlay:
        fewest = 1 if hops is None else int(hops.min(initial=0))
        out = int(s[layout.OVERLAY]) + fewest * int(s[layout.OVERLAY_HOP])
        latencies["switch.logp.out_in_latency"] = out
    for key, latency in latencies.items():
        if latency < 1:
            raise ConfigurationError(
                f"over many routers a link must take some time: {key} is 0; set it to 1ps or more",
                rule=f"{key} > 0",
                keys=(key,),
            )
    return min(latencies.values())
