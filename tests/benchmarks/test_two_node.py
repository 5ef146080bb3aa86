"""Speed of the two-node simulator: trials a second, packet hops a second, and what skipping gains.

One trial is osu_latency and osu_bw at 23 sizes (1 B to 4 MiB), one warm-up and one measured
iteration. Ratios are taken within one run, since machines differ and are shared.
"""

import contextlib
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.kernels.skipping import curve_and_events
from tests.kernels.table_two import corners, sample
from workbench.errors import ConfigurationError
from workbench.measure import OSU_SIZES
from workbench.models import PISCES, SNAPPR, LogP
from workbench.simulate import simulate_osu

CASES = {
    "SNAPPR, mtu 4096": SNAPPR(),
    "SNAPPR, mtu 128": SNAPPR(mtu=128),
    "SNAPPR repaired, mtu 4096": SNAPPR(variant="repaired"),
    "SNAPPR + LogP overlay to 512 B": SNAPPR(negligible_size=512),
    "SNAPPR, credits of two packets": SNAPPR(nic_credits=8192, switch_credits=8192),
    "PISCES, mtu 4096": PISCES(),
    "LogP": LogP(),
}
STAGES = 2  # output ports a packet passes: the NIC's and the switch's


def cpu_seconds(action, repeats):
    """Return the median thread time of a call, after one that compiles."""
    action()
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        action()
        times.append(time.thread_time() - begin)
    return statistics.median(times)


def every_event(model):
    """Simulate without skipping; return the number of events."""
    return curve_and_events(model, skip=False)[1]


def packet_hops(model, window=64, windows=2):
    """Return the packets of a trial's payloads times the ports they pass."""
    packets = sum(-(-size // getattr(model, "mtu", size)) for size in OSU_SIZES)
    return packets * STAGES * windows * (window + 2)


@pytest.mark.parametrize("name", CASES)
def test_one_trial(name):
    model = CASES[name]
    fast = cpu_seconds(lambda: simulate_osu(model), 15)
    whole = cpu_seconds(lambda: every_event(model), 1)
    events = every_event(model)
    hops = packet_hops(model)
    print(
        f"\n{name}: {fast * 1e3:.2f} ms a trial, {1 / fast:.0f} trials/s, "
        f"{hops / fast / 1e6:.0f} M packet hops/s; every event: {whole * 1e3:.0f} ms, "
        f"{events / whole / 1e6:.0f} M events/s; skipping is {whole / fast:.0f} times faster"
    )
    assert fast > 0


def seconds_of(action):
    """Return the thread time of a call, which may be refused on the way."""
    begin = time.thread_time()
    with contextlib.suppress(ConfigurationError):
        action()
    return time.thread_time() - begin


@pytest.mark.parametrize(
    ("name", "at_random", "at_corners", "compared"),
    [("SNAPPR", 1000, True, 12), ("PISCES", 700, False, 6)],
)
def test_a_trial_anywhere_in_table_two(table, beside_events, name, at_random, at_corners, compared):
    drawn = sample(name.lower(), at_random, seed=21)
    models = drawn + (corners(name.lower()) if at_corners else [])
    simulate_osu(drawn[0])
    taken = [seconds_of(lambda m=m: simulate_osu(m)) for m in models]
    # The machine is shared: what seems slow is measured again.
    for i in np.argsort(taken)[-10:]:
        taken[i] = min(taken[i], *(seconds_of(lambda m=models[i]: simulate_osu(m)) for _ in "ab"))
    # Every event of a trial takes seconds where packets are small.
    few = range(0, len(drawn), len(drawn) // compared)
    whole = [seconds_of(lambda m=drawn[i]: every_event(m)) for i in few]
    gain = sum(whole) / sum(taken[i] for i in few)
    what = f"{name}, {len(models)} trials of Table II{' and its corners' if at_corners else ''}"
    reference = f"every event, {len(whole)} of them"
    worst, mean = max(taken), statistics.mean(taken)
    table.add("4", f"{what}: worst", worst, "s", at_most=5.0, **beside_events(worst))
    table.add("4", f"{what}: median", 1e3 * statistics.median(taken), "ms")
    table.add("4", f"{what}: mean", 1e3 * mean, "ms", at_most=0.25, **beside_events(mean))
    table.add("4", "  as fast as every event simulated", gain, "x", reference=reference)


def test_threads():
    models = [SNAPPR(injection_bandwidth=rate) for rate in np.linspace(5e9, 20e9, 200)]
    seconds = {}
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            begin = time.perf_counter()
            curves = list(pool.map(simulate_osu, models))
            seconds[threads] = time.perf_counter() - begin
    assert len(curves) == len(models)
    print(f"\n2 threads are {seconds[1] / seconds[2]:.2f} times as fast as 1 (wall, 200 trials)")
