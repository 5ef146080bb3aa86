"""The fabric's arbiters give every packet what the plain-Python ones give it."""

from dataclasses import dataclass

import numpy as np
import pytest

from kernels.fabric.arbiters import CUT_THROUGH, NULL, SIMPLE, arbitrate, is_last, make_idle
from kernels.fabric.layout import N_FREE, N_SETTINGS, RECORD, USED
from tests.reference.arbitrator import ARBITRATORS
from tests.reference.engine import byte_delay

KINDS = {"simple": SIMPLE, "null": NULL, "cut_through": CUT_THROUGH}
N_ARBITERS = 3
CELLS = N_SETTINGS


@dataclass
class Packet:
    size: int
    byte_delay: int


def idle(kind):
    state = np.zeros(N_SETTINGS + N_ARBITERS, np.int64)
    records = np.zeros(400 * RECORD, np.int64)
    state[USED] = 1
    for arbiter in range(N_ARBITERS):
        make_idle(state, records, CELLS + arbiter, kind)
    return state, records


def in_use(state):
    return state[USED] - 1 - state[N_FREE]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_random_packets(kind, seed):
    rng = np.random.default_rng(seed)
    bandwidths = rng.choice([6.25e9, 12.5e9, 1e11], N_ARBITERS)
    expected = [ARBITRATORS[kind](bandwidth, True) for bandwidth in bandwidths]
    cycles = [byte_delay(bandwidth) for bandwidth in bandwidths]
    state, records = idle(KINDS[kind])
    now = 0
    for _ in range(300):
        now += int(rng.choice([0, 0, rng.integers(1, 200_000), rng.integers(1, 3_000_000)]))
        size = int(rng.choice([1, 2, 3, 64, rng.integers(1, 5000), 1024]))
        arriving = int(rng.choice([0, 100, 800, rng.integers(1, 4000)]))
        at = int(rng.integers(N_ARBITERS))
        packet = Packet(size, arriving)
        head, tail = expected[at].arbitrate(packet, now)
        got = arbitrate(state, records, CELLS + at, KINDS[kind], cycles[at], now, size, arriving)
        assert got == (head, tail, packet.byte_delay)


@pytest.mark.parametrize("kind", KINDS)
def test_no_packet_leaves_before_one_that_is_said_to_be_the_last(kind):
    rng = np.random.default_rng(7)
    state, records = idle(KINDS[kind])
    now, last, said = 0, 0, set()
    for _ in range(300):
        now += int(rng.choice([0, 0, rng.integers(1, 200_000), rng.integers(1, 3_000_000)]))
        size = int(rng.choice([1, 2, 3, 64, rng.integers(1, 5000), 1024]))
        arriving = int(rng.choice([0, 100, 800, rng.integers(1, 4000)]))
        head, tail, _ = arbitrate(state, records, CELLS, KINDS[kind], 800, now, size, arriving)
        assert last <= head <= tail
        said.add(bool(is_last(state, records, CELLS, KINDS[kind], tail)))
        if is_last(state, records, CELLS, KINDS[kind], tail):
            last = tail
    assert said == {"simple": {True}, "null": {False}, "cut_through": {True, False}}[kind]


def test_epochs_that_are_over_are_free_again():
    state, records = idle(CUT_THROUGH)
    assert in_use(state) == N_ARBITERS
    for packet in range(20):
        arbitrate(state, records, CELLS, CUT_THROUGH, 100, packet, 1024, 800)
    assert in_use(state) > N_ARBITERS
    arbitrate(state, records, CELLS, CUT_THROUGH, 100, 10**12, 1024, 100)
    assert in_use(state) == N_ARBITERS


def test_a_slow_packet_leaves_cycles_to_others():
    # Its bytes come 800 ticks apart and need 100 each: 7 of 8 cycles stay idle meanwhile.
    state, records = idle(CUT_THROUGH)
    slow = arbitrate(state, records, CELLS, CUT_THROUGH, 100, 0, 1000, 800)
    assert slow == (0, 800_000, 800)
    head, tail, _ = arbitrate(state, records, CELLS, CUT_THROUGH, 100, 0, 1000, 100)
    assert (head, tail) == (0, 100_000)
