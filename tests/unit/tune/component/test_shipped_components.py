"""The components that ship: they load, their grids are as they say, and the demos really run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.errors import DatasetError
from workbench.tune import OSULatency, components
from workbench.tune.component.component_yaml import AXIS_KEYS
from workbench.tune.target import Output

MPI = ("mpirun", "-np", "4", "osu", "-m", "4096:4096")


def run(name: str, **values: object) -> float:
    """Run a shipped component once and return its number."""
    component = components()[name]
    invocation = component.invocation(values)  # type: ignore[arg-type]
    process = subprocess.run(
        invocation.argv,
        env=dict(invocation.env),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    class Finished:
        seconds = 0.0
        stdout = process.stdout
        stderr = process.stderr

    output: Output = Finished()
    return component.target.read(output)


def test_all_load_with_a_default_and_a_sample() -> None:
    found = components()
    assert found.names == (
        "ackley",
        "dd-copy",
        "dd-write",
        "fio-write",
        "open-mpi-allreduce",
        "open-mpi-bcast",
        "open-mpi-gather",
        "open-mpi-reduce",
        "sort",
    )
    for component in found.things:
        space = component.space()
        assert space.size == len(list(space.all()))
        assert space.default is not None
        assert component.description
        assert component.notes == ()
        component.invocation(space.default)
        for configuration in space.all():
            component.invocation(configuration)
    assert "441" in repr(found)
    with pytest.raises(DatasetError, match="did you mean sort"):
        _ = found["sorts"]


def test_sizes_of_the_grids() -> None:
    sizes = {one.name: one.space().size for one in components().things}
    assert sizes == {
        "ackley": 21 * 21,
        "dd-copy": 16,
        "dd-write": 15 * 2 * 2 + 12 * 2,
        "fio-write": 6 * 4 * (1 + 2 * 7) - 6 * 2 * (1 + 2 + 3),
        "open-mpi-allreduce": 6 + 6,
        "open-mpi-bcast": 4 + 4 * 6 + 6 * 4 + 6 * 4,
        "open-mpi-gather": 3 + 6,
        "open-mpi-reduce": 3 + 4 * 6 + 6 * 4,
        "sort": 9 * 5 * 2,
    }


def test_open_mpi_gets_what_its_manual_names() -> None:
    bcast = components()["open-mpi-bcast"]
    assert bcast.target == OSULatency()
    invocation = bcast.invocation({"algorithm": 7, "segment_bytes": 0, "knomial_radix": 2}, MPI)
    assert invocation.argv == MPI
    assert dict(invocation.env) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_bcast_algorithm": "7",
        "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize": "0",
        "OMPI_MCA_coll_tuned_bcast_algorithm_knomial_radix": "2",
    }
    default = bcast.invocation(bcast.defaults(), MPI)
    assert default.env["OMPI_MCA_coll_tuned_bcast_algorithm"] == "0"
    assert len(default.env) == 2


@pytest.mark.skipif(shutil.which("ompi_info") is None, reason="Open MPI is not installed")
def test_open_mpi_has_the_variables() -> None:
    run = subprocess.run(
        ["ompi_info", "--param", "coll", "tuned", "--level", "9", "--parsable"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for component in components().things:
        if component.name.startswith("open-mpi"):
            for parameter in component.parameters:
                name = parameter.env_var.removeprefix("OMPI_MCA_")
                assert f":param:{name}:value:" in run.stdout
                for choice in parameter.choices:
                    assert f":param:{name}:enumerator:value:{choice}:" in run.stdout


def test_sorting_runs_and_is_timed() -> None:
    assert run("sort", cutoff=32, ways=3, heap=True) > 0
    assert run("sort", cutoff=1, ways=2, heap=False) > 0


def test_ackley_has_its_minimum_at_the_origin() -> None:
    assert run("ackley", x=0.0, y=0.0) == pytest.approx(1, rel=0.3)  # six deviations of the noise
    assert run("ackley", x=4.5, y=-4.5) > 8


@pytest.mark.skipif(shutil.which("dd") is None, reason="there is no dd")
def test_dd_says_its_time() -> None:
    assert 0 < run("dd-copy", bs=4194304) < 60


def test_the_bandwidth_is_found_in_what_fio_prints() -> None:
    class Finished:
        seconds = 0.0
        stdout = """{
  "jobs" : [ {
      "read" : {
        "io_bytes" : 0,
        "bw_bytes" : 0,
        "slat_ns" : { "min" : 0 }
      },
      "write" : {
        "io_bytes" : 67108864,
        "bw_bytes" : 123456789,
        "slat_ns" : { "min" : 1 }
      },
      "trim" : { "bw_bytes" : 0 }
  } ]
}"""
        stderr = ""

    output: Output = Finished()
    target = components()["fio-write"].target
    assert target.read(output) == 123456789
    assert not target.minimise


def test_the_readme_names_every_key_of_a_grid(root: Path) -> None:
    text = (root / "datasets/components/README.md").read_text("utf-8")
    for key in AXIS_KEYS:
        assert key in text
