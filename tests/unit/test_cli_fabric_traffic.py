"""``workbench fabric traffic``: curves as JSON and as text, what is passed on, what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench.cli import main
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric import Fabric, load_curve
from workbench.topology import parse_topology
from workbench.topology.demand import read_demand

FEW = ["--messages", "200"]
answer = partial(commands.answer, " ".join(["fabric traffic", *FEW]))


def without_clock(curve: dict[str, Any]) -> dict[str, Any]:
    for run in curve["runs"]:
        run.pop("seconds")
    return curve


def test_a_curve_as_the_function_gives_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = "dragonfly:9,4,2,2 --pattern adversarial --load 0.2 0.1 --routing ugal-l --seed 3"
    printed = answer(capsys, *words.split())
    fabric = Fabric(parse_topology("dragonfly:9,4,2,2"), routing="ugal-l", seed=3)
    curve = load_curve(fabric, "adversarial", [0.1, 0.2], seeds=[3], messages=200)
    assert without_clock(printed) == without_clock(curve.to_dict())
    assert [run["load"] for run in printed["runs"]] == [0.1, 0.2]
    assert printed["simulated"] is True


def test_what_each_channel_and_router_did(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["torus:4x4", "--load", "0.2", "--tables"]
    (run,) = answer(capsys, *words)["runs"]
    assert {len(column) for column in run["channels"].values()} == {64 + 32}
    assert {len(column) for column in run["routers"].values()} == {16}
    assert {"utilisation", "stalled", "most_queued"} <= run["channels"].keys()


def test_every_option_is_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "torus:4x4 --load 0.3 --routing valiant --congestion packet-flow --process bernoulli "
        "--message-bytes 1024 --seeds 2 --workers 2 -p switch.link.bandwidth=6GB/s"
    )
    printed = answer(capsys, *words.split())
    fabric = Fabric(
        parse_topology("torus:4x4"),
        PISCES(link_bandwidth=6e9),
        routing="valiant",
    )
    options: dict[str, Any] = {"process": "bernoulli", "message_bytes": 1024, "messages": 200}
    curve = load_curve(fabric, "uniform", [0.3], seeds=[0, 1], **options)
    assert without_clock(printed) == without_clock(curve.to_dict())
    assert [run["seed"] for run in printed["runs"]] == [0, 1]


def test_a_configuration_gives_the_ports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "ports.ini"
    config.write_text(SNAPPR(mtu=2048).to_ini())
    printed = answer(capsys, "torus:4", "--load", "0.1", "--config", str(config))
    assert printed["runs"][0]["message_bytes"] == 2048


def test_a_curve_as_text_and_its_channels(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "channels.csv"
    words = ["torus:8", "--pattern", "tornado", "--load", "0.1", "0.9", "--csv", str(table)]
    assert main(["fabric", "traffic", *words, "--messages", "3000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("LatencyLoad(simulated: torus 8")
    assert "2 lanes by datelines, no deadlock" in lines[1]
    assert lines[3].split()[0] == "0.100"
    assert lines[4].split()[-1] == "saturated"
    frame = pd.read_csv(table)
    assert len(frame) == 16 + 16
    assert frame["utilisation"].max() > 0.9


def test_a_matrix_of_ones_own_is_simulated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("0,1,0,0\n0,0,1,0\n0,0,0,1\n1,0,0,0\n")
    printed = answer(capsys, "torus:4", "--pattern", str(path), "--load", "0.5")
    assert printed["pattern"] == "mine.csv"
    fabric, sent = Fabric(parse_topology("torus:4")), read_demand(path)
    curve = load_curve(fabric, sent.on(fabric.topology), [0.5], messages=200)
    assert without_clock(printed) == without_clock(curve.to_dict())


def test_several_seeds_have_a_spread(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["torus:8", "--load", "0.2", "--seeds", "3", *FEW]
    assert main(["fabric", "traffic", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("mean latency of the runs")
    curve = load_curve(Fabric(parse_topology("torus:8")), loads=[0.2], seeds=range(3), messages=200)
    low, high = curve.latency_ends_s[:, 0] * 1e6
    assert lines[3].endswith(f"{low:.3f} to {high:.3f} us in 3")
    assert low < high


@for_each(
    "words, said",
    [
        (["torus:8", "--load", "2"], "load must be above 0 and at most 1"),
        (["torus:8", "--pattern", "none"], "traffic pattern must be one of uniform"),
        (["torus:8", "--routing", "none"], "routing must be one of minimal"),
        (["torus:8", "--routing", "up-down"], "needs a tree"),
        (["torus:8", "--seeds", "0"], "at least one load and one seed"),
        (["torus:8", "--congestion", "flow"], "simulated as packets"),
        (["nothing:8"], "topology must be one of"),
        (["torus:4x4", "--routing", "minimal", "-p", "switch.credits=9000"], "4 lanes"),
    ],
)
def test_what_is_refused(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["fabric", "traffic", *words, *FEW]) == 1
    assert said in capsys.readouterr().err
