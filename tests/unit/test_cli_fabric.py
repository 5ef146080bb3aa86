"""``workbench fabric collective``: times as JSON and as text, notes, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import commands
from workbench.cli import fabric
from workbench.errors import WorkbenchError
from workbench.simulate.fabric.sst import run_collective

MACHINE = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric" / "snappr.ini"
TORUS = {
    "topology.name": "torus",
    "topology.geometry": "[2,2]",
    "switch.router.name": "torus_minimal",
    "node.app1.mode": "allgather",
    "node.app1.min_size": "64",
    "node.app1.max_size": "1024",
    "node.app1.launch_cmd": "aprun -n 4 -N 1",
}


def run(*words: str) -> int:
    """Run the command on the torus."""
    assignments = [word for key, text in TORUS.items() for word in ("-p", f"{key}={text}")]
    options = ["collective", "--config", str(MACHINE), *assignments, *words]
    return commands.run(fabric, *options)


def test_times_as_the_function_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json") == 0
    printed = json.loads(capsys.readouterr().out)
    expected = run_collective(MACHINE, TORUS).time_us()
    times = {str(size): time for size, time in expected.items()}
    assert printed == {"time_us": times, "beyond_sstmacro": ""}
    assert list(printed["time_us"]) == ["64", "256", "1024"]


def test_a_table_says_what_was_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-p", "node.app1.max_size=64") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("# simulated: allgather (bruck) of 4 ranks on a 2x2 torus")
    assert [line.split()[0] for line in lines[2:]] == ["64"]


def test_what_has_no_effect_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-p", "node.app1.mpi.poll_delay=1us") == 0
    assert "note: node.app1.mpi.poll_delay has no effect" in capsys.readouterr().err


def test_what_cannot_run_is_an_error() -> None:
    with pytest.raises(WorkbenchError, match="1 to 4 ranks"):
        run("-p", "node.app1.launch_cmd=aprun -n 5 -N 1")


def test_each_action_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    text = commands.help_text(capsys, "fabric")
    assert all(action in text for action in ("traffic", "replay", "collective"))
