"""The protocol-aware model in plain Python: stages that handle one message at a time, in order.

Nothing here is an event simulation: each stage of each message ends when it may and lasts as long
as it must, and the whole is worked out by asking for the end of the last one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

TICKS_PER_SECOND = 1e16


def ticks(seconds: float) -> int:
    """Return `seconds` in ticks, cut off."""
    return int(seconds * TICKS_PER_SECOND)


@dataclass(frozen=True)
class Costs:
    """What one message of a size costs, in ticks."""

    rendezvous: bool
    host: int
    wire: int
    flight: int


def costs(model, size: int) -> Costs:
    """Return what the regime of `size` asks for; `model` has the attributes of `Protocol`."""
    low, high = sorted((model.middle_limit, model.eager_max))
    flight = model.eager_latency
    if size <= model.short_max:
        host, copy, wire = model.short_overhead, model.short_copy_bandwidth, model.eager_bandwidth
        flight = model.short_latency
    elif model.middle_limit and low < size <= high:
        host, copy = model.middle_overhead, model.middle_copy_bandwidth
        wire, flight = model.middle_bandwidth, model.middle_latency
    elif size <= model.eager_max:
        host, copy, wire = model.eager_overhead, model.eager_copy_bandwidth, model.eager_bandwidth
    else:
        host, copy = model.rendezvous_overhead, model.rendezvous_copy_bandwidth
        wire = model.rendezvous_bandwidth
    return Costs(
        size > model.eager_max,
        ticks(host) + size * ticks(1.0 / copy),
        size * ticks(1.0 / wire),
        ticks(flight),
    )


def latency_s(model, size: int) -> float:
    """Return half a round trip: nothing waits for anything but the stage before."""
    c = costs(model, size)
    half = c.host + c.wire + c.flight + c.host
    if c.rendezvous:
        half += 2 * ticks(model.rendezvous_handshake / 2)
    return half / TICKS_PER_SECOND


def window_s(model, size: int, window: int, reply: int = 4) -> float:
    """Return the time from the first send of a window to the end of its reply.

    The sending host prepares all messages first. An eager message is then on the NIC, in flight and
    in the receiving host's hands. A rendezvous message is announced at the end of its preparation;
    the receiving host takes the headers in order and asks for the data; the sending NIC serves the
    requests in order, and the sender goes on when all data is acknowledged.
    """
    c = costs(model, size)
    control = ticks(model.rendezvous_handshake / 2)
    sender = nic = receiver = done = 0
    for _ in range(window):
        sender += c.host
        if c.rendezvous:
            receiver = max(receiver, sender + control) + c.host
            nic = max(nic, receiver + control) + c.wire
            done = nic + c.flight
        else:
            nic = max(nic, sender) + c.wire
            receiver = max(receiver, nic + c.flight) + c.host
            done = receiver
    r = costs(model, reply)
    answer = 2 * r.host + r.wire + r.flight + (2 * control if r.rendezvous else 0)
    acknowledged = done + control if c.rendezvous else sender
    if not r.rendezvous:
        at_sender = done + r.host + r.wire + r.flight
        if at_sender < acknowledged:
            # No receive is posted yet: the host puts the reply aside first, which costs as much.
            acknowledged = max(acknowledged, at_sender + r.host)
        return (max(at_sender, acknowledged) + r.host) / TICKS_PER_SECOND
    at_sender = done + r.host + control
    return (max(at_sender, acknowledged) + answer - r.host - control) / TICKS_PER_SECOND


def osu(model, sizes: Sequence[int], window: int = 64) -> tuple[list[float], list[float]]:
    """Return latency (s) and bandwidth (B/s) at each size, each from an idle network."""
    latency = [latency_s(model, size) for size in sizes]
    bandwidth = [size * window / window_s(model, size, window) for size in sizes]
    return latency, bandwidth
