"""The compiled simulator answers as SST/macro v11.1 printed, to the digits."""

import json

import pytest

from tests.cases import for_each
from tests.conformance.recorded import (
    HERE,
    RANDOM,
    RUNNING_BACK,
    SETS,
    check,
    check_running_back,
    ini,
)
from workbench.errors import WorkbenchError
from workbench.models import read_ini
from workbench.simulate import simulate_osu

pytestmark = pytest.mark.conformance


def check_kernel(recorded, **counts):
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    sizes = [int(size) for size in recorded["latency_us"]]
    curve = simulate_osu(model, sizes, window=recorded["window"], **counts)
    check(recorded, sizes, curve.latency_us, curve.bandwidth_MBps)


@for_each("path", SETS)
def test_recorded_set(path):
    recorded = json.loads(path.read_text())
    assert len(recorded["latency_us"]) + len(recorded["bandwidth_MBps"]) == 46
    check_kernel(recorded)


@for_each("path", SETS)
def test_recorded_set_with_the_iterations_of_the_recording(path):
    recorded = json.loads(path.read_text())
    counts = recorded["iters"]
    check_kernel(recorded, warmup=counts["lat_skip"], iterations=counts["lat_iters"])


@for_each("recorded", RANDOM)
def test_random_configuration(recorded):
    check_kernel(recorded, warmup=recorded["warmup"], iterations=recorded["iterations"])


@for_each("recorded", RUNNING_BACK)
def test_where_the_clock_runs_back_the_latencies_are_those_and_the_result_says_so(recorded):
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    sizes = [int(size) for size in recorded["latency_us"]]
    counts = {key: recorded[key] for key in ("iterations", "warmup", "window")}
    curve = simulate_osu(model, sizes, benchmarks=["latency"], **counts)
    check_running_back(recorded, sizes, curve.latency_us)
    printed = recorded["latency_us"].items()
    odd = [f"{size} B" for size, latency_us in printed if latency_us <= 0]
    (note,) = curve.notes
    assert "the clock of SST/macro runs back (latency at" in note
    assert all(size in note for size in odd)


def test_a_clock_that_would_run_back_below_0_is_refused():
    # There SST/macro's clock wraps to 1844 s: it printed 6.87e-6 MB/s.
    recorded = next(r for r in RUNNING_BACK if r["bandwidth_MBps"].get("66") == 6.87e-06)
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    with pytest.raises(WorkbenchError, match=r"clock runs back below 0.*'repaired'"):
        simulate_osu(model, [66], iterations=recorded["iterations"], window=recorded["window"])
    repaired = simulate_osu(model.replace(variant="repaired"), [66], window=recorded["window"])
    assert repaired.notes == ()


STOPPED = [
    recorded
    for recorded in json.loads((HERE / "sstmacro-random" / "refused.json").read_text())
    if recorded["outcome"] != "complete"
]


@for_each("recorded", STOPPED)
def test_what_sstmacro_does_not_finish_is_refused(recorded):
    sizes = [2**k for k in range(recorded["sizes"])]
    with pytest.raises(WorkbenchError, match=r"=|must|needs"):
        simulate_osu(read_ini(ini(recorded), overrides=recorded["overrides"]), sizes)
