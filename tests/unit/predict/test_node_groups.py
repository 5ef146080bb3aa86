"""Nodes in groups: routers on the way by hand, files, and what a prediction makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.unit import commands
from tests.unit.predict.machines import straight_machine, written
from workbench.cli import predict
from workbench.errors import ParameterError, ParseError
from workbench.predict import MachineProfile, NodeGroups, predict_collective, read_node_groups
from workbench.predict.shipped import shipped_groups

ROWS = """\
system,job,first_rank,group,switch
s,1,2,cell1,1
s,1,0,cell0,1
s,1,1,cell0,2
s,1,3,cell0,1
s,2,0,cell0,1
t,1,0,,
"""
# In the order of ranks: two nodes share a switch, one is beside it, one in another group.
GROUPS = NodeGroups(("1", "2", "1", "1"), ("cell0", "cell0", "cell1", "cell0"))


def test_routers_are_counted_by_switch_and_group() -> None:
    source, target = np.zeros(4, int), np.arange(4)
    assert GROUPS.routers(source, target).tolist() == [1, 3, 4, 1]
    flat = replace(GROUPS, in_group=2, between_groups=3)
    assert flat.routers(source, target).tolist() == [1, 2, 3, 1]
    assert GROUPS.label == "4 nodes on 3 switches of 2 groups"


def test_a_job_is_read_in_the_order_of_its_ranks(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    assert read_node_groups(path, job=1, system="s") == GROUPS
    for options, message in (
        ({}, "must hold one system where none is named; it has s, t"),
        ({"system": "s"}, "must hold one job where none is named; it has 1, 2"),
        ({"system": "s", "job": 3}, "must hold the job; got '3'; it has 1, 2"),
        ({"system": "t"}, "must have a group and a switch"),
    ):
        with pytest.raises(ParameterError, match=message):
            read_node_groups(path, **options)  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="first_rank must be a number"):
        read_node_groups(written(tmp_path, ROWS.replace("s,1,2,", "s,1,x,")), system="s", job=1)
    with pytest.raises(ParameterError, match="an entry for each node"):
        NodeGroups(("1",), ())


def test_a_round_takes_the_longest_way_of_its_messages(tmp_path: Path) -> None:
    machine = replace(straight_machine(), hop_s=1e-6)
    placed = machine.placed(GROUPS)
    times = [
        predict_collective(one, "gather", 4, [8], algorithm="binomial").times[0]
        for one in (placed, machine)
    ]
    # 1 to 0 and 3 to 2 first: 3 routers and 4; then 2 to 0: 4. One router is in the latency.
    assert times[0] - times[1] == pytest.approx(6e-6, rel=1e-9)
    again = MachineProfile.load(placed.save(tmp_path / "machine.json"))
    assert again.groups == GROUPS
    assert "links" in [sentence.partition(":")[0] for sentence in placed.assumed]
    assert placed.on("torus:2x2").groups is None
    with pytest.raises(ParameterError, match="must have a switch for each of 5 nodes"):
        predict_collective(placed, "gather", 5, [8], algorithm="binomial")


def test_shipped_jobs_have_their_groups() -> None:
    leonardo = shipped_groups("leonardo")
    assert sorted(leonardo) == [4, 32, 128, 254, 256, 512, 1024]
    assert leonardo[512].label == "512 nodes on 345 switches of 20 groups"
    assert shipped_groups("lumi-g")[16].in_group == 2
    assert shipped_groups("lassen") == {}


def test_the_command_takes_a_placement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = partial(commands.run, predict)
    path = tmp_path / "groups.csv"
    path.write_text("".join(line + "\n" for line in ROWS.splitlines() if line[0] != "t"))
    words = ("--p2p", written(tmp_path), "--system", "a", "--collective", "gather")
    words = ("collective", *words, "--nodes", "4", "--bytes", "8", "--json")
    times = []
    for place in ((), ("--placement", path, "--job", "1")):
        assert command(*words, *place) == 0
        times.append(json.loads(capsys.readouterr().out)["times_us"]["8"])
    assert times[1] > times[0]
    with pytest.raises(ParameterError, match="--job is of a file --placement"):
        command(*words, "--job", "1")
    with pytest.raises(ParameterError, match="give one of them"):
        command(*words, "--placement", path, "--topology", "torus:2x2")
