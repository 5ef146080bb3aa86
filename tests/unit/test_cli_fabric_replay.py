"""``workbench fabric replay``: as the functions give it, what is passed on, what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench import programs
from workbench.cli import fabric_replay
from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR, LogGPS
from workbench.simulate.fabric.concurrent_jobs import run_jobs
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.program import replay_on
from workbench.topology import parse_topology

answer = partial(commands.answer, "fabric replay")
run = partial(commands.run, fabric_replay)


@pytest.fixture
def goal(tmp_path: Path) -> str:
    graph = programs.generate.cg(16, iterations=1, jitter=0.2, rng=1).graph()
    return str(graph.to_goal(tmp_path / "cg.goal"))


@for_each("congestion", ["packet", "packet-flow", "flow"])
def test_a_replay_as_the_function_gives_it(
    capsys: pytest.CaptureFixture[str], goal: str, congestion: str
) -> None:
    printed = answer(capsys, goal, "--topology", "torus:4,4", "--congestion", congestion)
    model = PISCES() if congestion == "packet-flow" else SNAPPR()
    fabric = Fabric(parse_topology("torus:4,4"), model, congestion=congestion)
    expected = replay_on(programs.read_goal(Path(goal)), fabric)
    assert printed["finish_ns"] == expected.to_frame()["finish_ns"].tolist()
    assert printed["makespan_ns"] == expected.makespan_s * 1e9
    assert printed["hosts"] == list(range(16))
    assert printed["routing"] == "dimension-order"


def test_every_option_is_passed_on(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    words = "--topology dragonfly:5,2,2 --routing valiant --congestion flow --placement random"
    rest = "--ranks-per-host 2 --seed 7 -o 200 -S 999 -p switch.link.bandwidth=2GB/s"
    printed = answer(capsys, goal, *words.split(), *rest.split())
    fabric = Fabric(
        parse_topology("dragonfly:5,2,2"),
        SNAPPR(link_bandwidth=2e9),
        "valiant",
        "flow",
        seed=7,
    )
    expected = replay_on(
        programs.read_goal(Path(goal)),
        fabric,
        host=LogGPS(L=0, o=2e-7, g=0, G=0, O=0, S=999),
        placement="random",
        ranks_per_host=2,
        rng=7,
    )
    assert printed["finish_ns"] == expected.to_frame()["finish_ns"].tolist()
    assert printed["hosts"] == expected.hosts.tolist()


def test_programs_beside_are_slowed_down_together(
    capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    words = ["--topology", "torus:6,6", "--congestion", "flow", "--placement", "round-robin"]
    printed = answer(capsys, goal, *words, "--beside", goal)
    graph = programs.read_goal(Path(goal))
    fabric = Fabric(parse_topology("torus:6,6"), SNAPPR(), congestion="flow")
    jobs = {goal: graph, f"{goal} (2)": graph}
    expected = run_jobs(jobs, fabric, placement="round-robin")
    assert list(printed["jobs"]) == list(jobs)
    slow = [job["slowdown"] for job in printed["jobs"].values()]
    assert slow == expected.slowdown.tolist()
    assert run(goal, *words, "--beside", goal) == 0
    assert "as long as alone" in capsys.readouterr().out


def test_people_read_the_ranks_that_finish(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    assert run(goal, "--topology", "torus:4,4", "--congestion", "flow", "-L", "5") == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "cg.goal, 16 ranks, simulated"
    assert lines[1] == "topology         torus 4x4"
    ranks = lines[lines.index("") + 1 :]
    assert len(ranks) == 16
    assert ranks[0].startswith("rank 0       host 0")
    assert "note: -L not used" in printed.err


def test_a_file_of_the_network_is_read(
    capsys: pytest.CaptureFixture[str], goal: str, tmp_path: Path
) -> None:
    file = tmp_path / "network.ini"
    file.write_text(PISCES(link_bandwidth=3e9).to_ini())
    words = ["--topology", "torus:4,4", "--config", str(file), "--congestion", "packet-flow"]
    printed = answer(capsys, goal, *words)
    fabric = Fabric(parse_topology("torus:4,4"), PISCES(link_bandwidth=3e9))
    expected = replay_on(programs.read_goal(Path(goal)), fabric)
    assert printed["makespan_ns"] == expected.makespan_s * 1e9
    words[-1] = "packet"
    with pytest.raises(ParameterError, match="needs a model that is SNAPPR"):
        run(goal, *words)
