"""The compiled simulator answers as SST/macro v11.1 printed, to the digits."""

import json

import pytest

from tests.conformance.recorded import HERE, RANDOM, SETS, check, ini
from workbench.errors import WorkbenchError
from workbench.models import read_ini
from workbench.simulate import simulate_osu

pytestmark = pytest.mark.conformance


def check_kernel(recorded, **counts):
    model = read_ini(ini(recorded), overrides=recorded["overrides"])
    sizes = [int(size) for size in recorded["latency_us"]]
    curve = simulate_osu(model, sizes, window=recorded["window"], **counts)
    check(recorded, sizes, curve.latency_us, curve.bandwidth_MBps)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_recorded_set(path):
    recorded = json.loads(path.read_text())
    assert len(recorded["latency_us"]) + len(recorded["bandwidth_MBps"]) == 46
    check_kernel(recorded)


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_recorded_set_with_the_iterations_of_the_recording(path):
    recorded = json.loads(path.read_text())
    counts = recorded["iters"]
    check_kernel(recorded, warmup=counts["lat_skip"], iterations=counts["lat_iters"])


@pytest.mark.parametrize("recorded", RANDOM, ids=lambda recorded: recorded["name"])
def test_random_configuration(recorded):
    check_kernel(recorded, warmup=recorded["warmup"], iterations=recorded["iterations"])


STOPPED = [
    recorded
    for recorded in json.loads((HERE / "sstmacro-random" / "refused.json").read_text())
    if recorded["outcome"] != "complete"
]


@pytest.mark.parametrize("recorded", STOPPED, ids=lambda recorded: recorded["name"])
def test_what_sstmacro_does_not_finish_is_refused(recorded):
    sizes = [2**k for k in range(recorded["sizes"])]
    with pytest.raises(WorkbenchError, match=r"=|must|needs"):
        simulate_osu(read_ini(ini(recorded), overrides=recorded["overrides"]), sizes)
