"""The emulated cluster: latency is added, nothing is left behind, and what goes wrong is said."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.unit import commands
from tests.unit.processes import descendants
from workbench.cli import main
from workbench.errors import ParameterError
from workbench.measure.cluster import Cluster, ClusterError, measure_collective, measure_costs
from workbench.mpi import Launcher

# A packet is never early. On a busy machine it is late, so the quickest quarter of the repeats is
# held to what is halfway to another behaviour.

# Open MPI 5's launcher, PRRTE 3.0.8, may wait for ever where a program ends at once: 6 of 339 runs
# of `hostname` on a busy machine, none of 352 of `sleep 0.5`.
MOMENT = "sleep 0.5; "
HOSTNAME = ["sh", "-c", f"{MOMENT}hostname"]


@pytest.mark.usefixtures("openmpi")
def test_messages_take_the_added_latency_longer_with_each_mpi(mpi: Launcher) -> None:
    with Cluster(2, mpirun=mpi.mpirun) as cluster:
        for latency_s in (20e-3, 80e-3):
            cluster.set_latency(latency_s)
            (cost,) = measure_costs(cluster, [64], repeats=8)
            assert latency_s <= cost.half_trip.lower < 1.5 * latency_s


def test_messages_under_way_at_the_same_time_do_not_add_up(openmpi: str) -> None:
    """Figure 8 of LLAMP: the second of two messages is not late by twice the latency."""
    with Cluster(2, mpirun=openmpi, latency_s=20e-3) as cluster:
        (cost,) = measure_costs(cluster, [64], repeats=8)
        assert cost.send.lower < 10e-3  # the sender is not held
        assert cost.gap.lower < 10e-3  # of 16 messages in a burst


def test_a_pair_of_hosts_can_be_farther_apart_than_others(openmpi: str) -> None:
    with Cluster(2, mpirun=openmpi) as cluster:
        cluster.set_pair_latency(0, 1, 20e-3)
        (cost,) = measure_costs(cluster, [64], repeats=8)
        assert 10e-3 <= cost.half_trip.lower < 15e-3


def test_bandwidth_is_limited(openmpi: str) -> None:
    with Cluster(2, mpirun=openmpi, bandwidth=1.25e6) as cluster:
        small, large = measure_costs(cluster, [1, 12_501], repeats=8)
        assert 9e-3 <= large.half_trip.lower < 15e-3  # 10 ms, less what may pass at once
        assert small.half_trip.lower < 5e-3


def test_a_program_that_hangs_is_killed_and_one_that_fails_is_quoted(openmpi: str) -> None:
    with Cluster(2, mpirun=openmpi) as cluster:
        with pytest.raises(ClusterError, match=r"sleep must succeed on the cluster within 1 s"):
            cluster.run(["sleep", "100"], timeout=1)
        with pytest.raises(ClusterError, match=r"ended with status .*wrote: .*no such mesh"):
            cluster.run(["sh", "-c", f"{MOMENT}echo no such mesh; exit 3"])
        assert "here" in cluster.run(["sh", "-c", f"{MOMENT}echo here"]).output
        with pytest.raises(ClusterError, match="has as many ranks at most; got 3"):
            cluster.run(["true"], ranks=3)


def test_nothing_is_left_when_the_process_is_killed(openmpi: str, tmp_path: Path) -> None:
    """Neither ranks nor the switch nor namespaces outlive the process that made them."""
    script = textwrap.dedent(f"""
        from workbench.measure.cluster import Cluster
        with Cluster(2, mpirun={openmpi!r}) as cluster:
            cluster.run(["sh", "-c", "echo $PPID > {tmp_path}/$(hostname); exec sleep 1000"])
    """)
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    try:
        end = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        before = descendants(process.pid)
        assert len(before) > 2
    finally:
        process.kill()
        process.wait()
    end = time.monotonic() + 30
    while any(Path(f"/proc/{one}").exists() for one in before) and time.monotonic() < end:
        time.sleep(0.05)
    assert [one for one in before if Path(f"/proc/{one}").exists()] == []


def test_wrong_values_are_named() -> None:
    with pytest.raises(ParameterError, match=r"hosts must be a whole number of at least 1"):
        Cluster(0)
    with pytest.raises(ParameterError, match=r"latency_s must be a number of at least 0"):
        Cluster(2, latency_s=-1e-6)
    with pytest.raises(ParameterError, match=r"bandwidth must be above 0 B/s"):
        Cluster(2, bandwidth=-1)


def test_only_open_mpi_4_may_have_real_time_priority(mpi: Launcher) -> None:
    if mpi.has_orte:
        assert Cluster(1, mpirun=mpi.mpirun, realtime=False).realtime is False
        return
    assert Cluster(1, mpirun=mpi.mpirun).realtime is False
    with pytest.raises(ParameterError, match="realtime must be False for MPICH"):
        Cluster(1, mpirun=mpi.mpirun, realtime=True)


def test_a_program_is_run_from_the_shell(openmpi: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"cluster run --ranks 2 --latency 1ms --mpirun {openmpi}".split()
    assert main([*words, "--json", "--", *HOSTNAME]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["latency_s"] == 1e-3
    assert report["switch"]["dropped"] == 0
    assert {"host0", "host1"} <= set(err.split())
    assert main([*words, "--", *HOSTNAME]) == 0
    out, err = capsys.readouterr()
    assert {"host0", "host1"} <= set(out.split())
    assert "with 1 ms added" in err


def test_costs_are_printed_from_the_shell(openmpi: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"cluster costs --ranks 2 --bytes 8,64 --mpirun {openmpi}"
    costs = commands.answer(words, capsys)["costs_s"]
    assert [cost["bytes"] for cost in costs] == [8, 64]
    assert costs[0]["half_trip"]["median"] > 0
    assert main(words.split()) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].startswith("emulated, 0 s added")
    assert [line.split()[0] for line in table[2:]] == ["8", "64"]


def test_a_latency_without_a_unit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    said = commands.refusal(capsys, "cluster", "run", "-n", "2", "--latency", "500", "--", "true")
    assert "--latency" in said


def test_costs_need_pairs(openmpi: str) -> None:
    with Cluster(3, mpirun=openmpi) as cluster:
        (cost,) = measure_costs(cluster, [8], repeats=8)
        assert cost.size_bytes == 8
        with pytest.raises(ParameterError, match="repeats must be a whole number of at least 4"):
            measure_costs(cluster, [8], repeats=1)


def test_messages_of_two_hosts_share_the_port_of_the_third(openmpi: str) -> None:
    """A linear gather of 12.5 kB from three hosts takes as long as all of it on one port."""
    settings = {"coll_tuned_use_dynamic_rules": "1", "coll_tuned_gather_algorithm": "1"}
    with Cluster(4, mpirun=openmpi, bandwidth=1.25e6, mca=settings) as cluster:
        times = measure_collective(cluster, "gather", [12_500], repeats=8)
    assert 1e3 * times[12_500].median == pytest.approx(30, rel=0.2)
