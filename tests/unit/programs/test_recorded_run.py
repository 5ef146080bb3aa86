"""What a recording took, beside its replay: in the result, in the shell and in the panel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.panels import ReplayPanel
from workbench.programs.recorded_run import RecordedRun
from workbench.programs.traces import read_trace
from workbench.simulate import ReplayResult, replay

MODEL = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=65535)


def trace(rank: int, clock: str = "elapsed") -> str:
    """Return a rank's trace: 100 µs of work, 50 of Puts, 30 in a barrier, 20 of work."""
    return f"""# workbench trace 1
# rank {rank} of 2
# mpi Open MPI v4.1.4
# request stride 0
# clock {clock}
# node 2 ranks on 1 cores

# comm 0 0 1
MPI_Init:-:0:0:0.000
MPI_Put:100.000:130.000
MPI_Put:130.000:150.000
MPI_Barrier:150.000:0,{rank},2:180.000
# elapsed 250.000
MPI_Finalize:200.000:-
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank in range(2):
        (tmp_path / f"trace-{rank}.txt").write_text(trace(rank))
    return tmp_path


def test_time_in_calls_that_are_not_replayed_is_no_work(folder: Path) -> None:
    program = read_trace(folder)
    recorded = program.recorded
    assert recorded is not None
    assert recorded.compute_ns == (120_000, 120_000)
    assert program.compute_ns.sum() == 240_000
    assert recorded.mpi_ns == (80_000, 80_000)
    assert recorded.left_out_ns == (50_000, 50_000)
    assert recorded.time_ns == (200_000, 200_000)
    assert recorded.makespan_ns == 250_000
    assert recorded.shares() == {"compute": 60, "replayed": 15, "left out": 25}
    assert recorded.describe_left_out() == (
        "Not replayed, where they move no data and take no time: MPI_Put × 4 (100 µs); times of "
        "all ranks together."
    )
    text = recorded.compare(125e-6)
    assert "Recorded: 250 µs until the last rank ended; 60 % of the ranks' time between" in text
    assert "25 % inside calls that are not." in text
    assert "The replay's time is 0.5 × the recorded one." in text
    assert "2 ranks shared 1 core while recording" in text
    assert RecordedRun.from_dict(json.loads(json.dumps(recorded.to_dict()))) == recorded
    with pytest.raises(ParameterError, match="damaged"):
        RecordedRun.from_dict({"time_ns": [1]})


def test_the_cpu_clock_is_a_reason_too(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"trace-{rank}.txt").write_text(trace(rank, "cpu"))
    recorded = read_trace(tmp_path).recorded
    assert recorded is not None
    assert "its CPU clock leaves out" in recorded.compare(1e-9)


def test_it_stands_beside_the_replay(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = replay(folder, MODEL, times=True)
    recorded = result.graph.recorded
    assert recorded is not None
    assert "Recorded: 250 µs" in result._repr_html_()
    assert ReplayResult.load(result.save(tmp_path / "result.json")).graph.recorded == recorded
    assert main(["replay", str(folder), "--waiting"]) == 0
    out = capsys.readouterr().out
    assert "MPI_Put × 4 (100 µs)" in out
    assert "late sender" in out
    assert main(["replay", str(folder), "--waiting", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["recorded"]["makespan_ns"] == 250_000
    assert sum(said["waiting"]["transfer_ns"]) + sum(said["waiting"]["collective_ns"]) > 0
    panel = ReplayPanel(str(folder))
    panel.run()
    text = panel._view.description.value  # type: ignore[union-attr]
    assert "MPI_Put × 4 (100 µs)" in text
    assert "for messages under way" in text
