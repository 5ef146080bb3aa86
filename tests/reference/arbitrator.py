"""PISCES' three ways to give a packet bandwidth.

Each is asked at the tick a packet's head could move on. The packet says how long its bytes are
apart as they arrive (`byte_delay`, 0 when it is there as a whole); the arbitrator returns when
head and tail leave and sets the packet's new byte delay.
"""

from dataclasses import dataclass
from typing import Protocol

from tests.reference.engine import CLOCK_MODULUS, byte_delay, scaled

COUNT_MODULUS = 2**32
"""Cycles of an epoch are counted in 32 bits, times in 64; both wrap round."""
FULL_EPOCH = COUNT_MODULUS - 1
STRAGGLERS = 2
"""The last bytes of a packet that cut-through does not bother to place."""


class Sized(Protocol):
    """What an arbitrator needs of a packet."""

    size: int
    byte_delay: int


class SimpleArbitrator:
    """Store and forward: one packet after another, passed on as a whole."""

    def __init__(self, bandwidth: float, charge_last_packet: bool) -> None:
        self._byte_delay = byte_delay(bandwidth)
        self._next_free = 0

    def arbitrate(self, packet: Sized, now: int) -> tuple[int, int]:
        """Return when head and tail leave, in ticks."""
        start = max(self._next_free, now)
        self._next_free = start + scaled(self._byte_delay, packet.size)
        packet.byte_delay = 0
        return self._next_free, self._next_free


class NullArbitrator:
    """No contention: every packet gets the whole bandwidth."""

    def __init__(self, bandwidth: float, charge_last_packet: bool) -> None:
        self._byte_delay = byte_delay(bandwidth)

    def arbitrate(self, packet: Sized, now: int) -> tuple[int, int]:
        """Return when head and tail leave, in ticks."""
        packet.byte_delay = max(self._byte_delay, packet.byte_delay)
        return now, now + scaled(packet.byte_delay, packet.size)


@dataclass
class Epoch:
    """Idle time: `cycles` bytes can be sent from `start` on."""

    start: int
    cycles: int


class CutThroughArbitrator:
    """Idle epochs in order of time; a packet takes cycles from the first ones.

    A packet that arrives at least as fast as it can leave takes every cycle. A slower one takes,
    of each epoch that ends before the packet has arrived, as many cycles as bytes have arrived by
    then; the rest of the epoch stays idle for others.

    The search ends when two bytes are left. A packet of one or two bytes is never placed: its tail
    stays at time 0, and its byte delay, the difference of tail and head, wraps round. Then it is
    complete before it arrived. ``charge_last_packet`` places packets of one and two bytes to the
    last byte and changes nothing for larger ones.
    """

    def __init__(self, bandwidth: float, charge_last_packet: bool) -> None:
        self._cycle = byte_delay(bandwidth)
        self._charge = charge_last_packet
        self._epochs = [Epoch(0, FULL_EPOCH)]

    def arbitrate(self, packet: Sized, now: int) -> tuple[int, int]:
        """Return when head and tail leave, in ticks."""
        self._forget_past(now)
        head = self._epochs[0].start
        tail = self._place(packet, now)
        packet.byte_delay = int(float((tail - head) % CLOCK_MODULUS) / packet.size) % CLOCK_MODULUS
        return head, tail

    def _end(self, epoch: Epoch) -> int:
        return epoch.start + scaled(self._cycle, epoch.cycles)

    def _forget_past(self, now: int) -> None:
        """Drop epochs that are over; let the present one begin now. The last one never ends."""
        epochs = self._epochs
        while len(epochs) > 1 and now >= self._end(epochs[0]) and now > epochs[0].start:
            del epochs[0]
        first = epochs[0]
        if now > first.start:
            first.cycles = (first.cycles - (now - first.start) // self._cycle) % COUNT_MODULUS
            first.start = now
        if len(epochs) == 1:
            first.cycles = FULL_EPOCH

    def _place(self, packet: Sized, now: int) -> int:
        """Take cycles for the packet's bytes; return when the tail leaves."""
        arrived = now + scaled(packet.byte_delay, packet.size)
        left = packet.size
        unplaced = 0 if self._charge and left <= STRAGGLERS else STRAGGLERS
        tail = 0
        at = 0
        while left > unplaced:
            epoch = self._epochs[at]
            end = self._end(epoch)
            if packet.byte_delay <= self._cycle or arrived <= epoch.start:
                if epoch.cycles > left:
                    epoch.start += scaled(self._cycle, left)
                    epoch.cycles -= left
                    return epoch.start
                left -= epoch.cycles
                del self._epochs[at]
                tail = end
            elif arrived >= end:
                here = (end - now) // packet.byte_delay
                buffered = min(left, (here - (packet.size - left)) % COUNT_MODULUS)
                if buffered >= epoch.cycles:
                    left -= epoch.cycles
                    del self._epochs[at]
                else:
                    epoch.cycles -= buffered
                    left -= buffered
                    at += 1
                tail = end
            else:
                self._split(at, arrived)
        return tail

    def _split(self, at: int, time: int) -> None:
        """Cut an epoch in two at `time`; the first part loses the fraction of a cycle."""
        epoch = self._epochs[at]
        before = (time - epoch.start) // self._cycle
        last = at == len(self._epochs) - 1
        after = FULL_EPOCH if last else epoch.cycles - before
        epoch.cycles = before
        self._epochs.insert(at + 1, Epoch(time, after))


ARBITRATORS = {
    "simple": SimpleArbitrator,
    "null": NullArbitrator,
    "cut_through": CutThroughArbitrator,
}
