"""The plain-Python reference computes what SST/macro v11.1 printed."""

import json

import pytest

from tests.cases import for_each
from tests.conformance.recorded import RANDOM, RUNNING_BACK, SETS, check, check_running_back, ini
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


def check_set(path, count, every):
    # The recording made two warm-up and four measured iterations of each size; for these sets
    # one of each gives the same figures in a third of the time.
    recorded = json.loads(path.read_text())
    sizes = [int(size) for size in recorded["latency_us"]]
    assert len(sizes) == 23
    check_reference(recorded, sizes[:count:every])


# The kernels are compared with every figure (test_kernel_sstmacro.py); the reference takes a
# thousand times as long, and its time goes with the packets.
@for_each("path", SETS)
def test_recorded_set(path):
    check_set(path, 16, 3)


@pytest.mark.deep
@for_each("path", SETS)
def test_recorded_set_at_each_size(path):
    check_set(path, 23, 1)


def check_with_iterations(path, sizes):
    recorded = json.loads(path.read_text())
    iterations, warmup = recorded["iters"]["lat_iters"], recorded["iters"]["lat_skip"]
    check_reference(recorded, sizes, iterations=iterations, warmup=warmup)


@for_each("path", SETS)
def test_recorded_set_with_the_iterations_of_the_recording(path):
    check_with_iterations(path, [1, 64, 2048])


@pytest.mark.deep
@for_each("path", SETS)
def test_recorded_set_at_each_size_with_the_iterations_of_the_recording(path):
    check_with_iterations(path, [2**k for k in range(15)])


def check_random(recorded, most_bytes):
    sizes = [int(size) for size in recorded["latency_us"] if int(size) <= most_bytes]
    check_reference(recorded, sizes, warmup=recorded["warmup"], iterations=recorded["iterations"])


@for_each("recorded", RANDOM[::16])
def test_random_configuration(recorded):
    check_random(recorded, 4096)


@pytest.mark.deep
@for_each("recorded", RANDOM)
def test_each_random_configuration(recorded):
    check_random(recorded, 16384)


def check_clock(recorded):
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


@for_each("recorded", RUNNING_BACK[::12])
def test_where_the_clock_runs_back(recorded):
    check_clock(recorded)


@pytest.mark.deep
@for_each("recorded", RUNNING_BACK)
def test_wherever_the_clock_runs_back(recorded):
    check_clock(recorded)
