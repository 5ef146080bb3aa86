"""The plain-Python reference computes what SST/macro v11.1 printed."""

import json

import pytest

from tests.conformance.recorded import (
    RANDOM,
    RUNNING_BACK,
    SETS,
    check,
    check_running_back,
    ini,
)
from tests.reference import Config, run_osu
from workbench.models import read_ini

pytestmark = pytest.mark.conformance


def check_reference(recorded, sizes, **counts):
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    figures = run_osu(Config.from_model(model), sizes, window=recorded["window"], **counts)
    latencies_us = [seconds * 1e6 for seconds in figures.latency_s]
    check(recorded, sizes, latencies_us, [rate / 1e6 for rate in figures.bandwidth_Bps])


def test_all_nineteen_sets_are_here():
    assert len(SETS) == 19


# Sizes above 32 KiB hold 127 of 128 bytes, and the time goes with the packets; the kernels are
# compared at every size.
@pytest.mark.parametrize("count", [16, pytest.param(23, marks=pytest.mark.deep)])
@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_recorded_set(path, count):
    # The recording made two warm-up and four measured iterations of each size; for these sets
    # one of each gives the same figures in a third of the time.
    recorded = json.loads(path.read_text())
    sizes = [int(size) for size in recorded["latency_us"]]
    assert len(sizes) == 23
    check_reference(recorded, sizes[:count])


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_recorded_set_with_the_iterations_of_the_recording(path):
    recorded = json.loads(path.read_text())
    iterations, warmup = recorded["iters"]["lat_iters"], recorded["iters"]["lat_skip"]
    check_reference(recorded, [2**k for k in range(15)], iterations=iterations, warmup=warmup)


# The kernels, which the reference checks on other configurations, are tried on each of these too.
@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param(one, id=one["name"], marks=() if n % 8 == 0 else pytest.mark.deep)
        for n, one in enumerate(RANDOM)
    ],
)
def test_random_configuration(recorded):
    sizes = [int(size) for size in recorded["latency_us"] if int(size) <= 16384]
    check_reference(recorded, sizes, warmup=recorded["warmup"], iterations=recorded["iterations"])


@pytest.mark.parametrize(
    "recorded",
    [
        pytest.param(one, id=one["name"], marks=() if n % 3 == 0 else pytest.mark.deep)
        for n, one in enumerate(RUNNING_BACK)
    ],
)
def test_where_the_clock_runs_back(recorded):
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    sizes = [int(size) for size in recorded["latency_us"]]
    counts = {key: recorded[key] for key in ("iterations", "warmup", "window")}
    figures = run_osu(Config.from_model(model), sizes, **counts)
    latencies_us = [max(seconds, 0.0) * 1e6 for seconds in figures.latency_s]
    check_running_back(recorded, sizes, latencies_us)
    for size, seconds, ran_back in zip(
        sizes, figures.latency_s, figures.latency_ran_back, strict=True
    ):
        assert ran_back or seconds > 0, size
