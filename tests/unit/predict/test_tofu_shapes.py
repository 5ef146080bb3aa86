"""Shapes that a job on Tofu-D may have had, and predictions over them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit import commands
from tests.unit.predict.machines import straight_machine, written
from workbench.cli import predict
from workbench.errors import ParameterError
from workbench.predict import predict_collective
from workbench.predict.tofu_shapes import plausible_shapes, torus_of
from workbench.topology.spec import parse_topology

MACHINE = straight_machine()


@for_each("nodes", [1, 2, 12, 13, 100, 384, 385, 1000, 4096])
def test_shapes_hold_the_nodes_with_few_to_spare(nodes: int) -> None:
    specs = plausible_shapes(nodes)
    assert len(set(specs)) == len(specs)
    assert specs[-1].endswith("mesh=true") == (nodes <= 384)
    for spec in specs:
        made = parse_topology(spec)
        sides = sorted(int(side) for side in str(made.parameters["shape"]).split("x"))
        assert nodes <= made.num_hosts
        assert sides[-1] <= 4 * sides[0]
    longest = [max(int(side) for side in spec[7:].split(",")[0].split("x")) for spec in specs]
    assert longest[0] == min(longest)


def test_a_shape_is_a_torus_of_six_dimensions_and_a_mesh_none() -> None:
    assert torus_of("tofu-d:4x3x2") == ((2, 3, 4, 2, 3, 2), "")
    assert torus_of("tofu-d:4x3x2,mesh=true") == (None, "tofu-d:4x3x2,mesh=true")
    assert torus_of("torus:4x4") == ((4, 4), "")


@for_each("algorithm, nodes", [("linear", 1000), ("bruck", 64), ("bruck", 2000)])
def test_an_unknown_shape_covers_what_each_shape_gives(algorithm: str, nodes: int) -> None:
    sizes = [8, 1 << 20]
    found = predict_collective(MACHINE.on("tofu-d"), "alltoall", nodes, sizes, algorithm=algorithm)
    each = [
        predict_collective(MACHINE.on(spec), "alltoall", nodes, sizes, algorithm=algorithm).times
        for spec in plausible_shapes(nodes)
    ]
    assert found.times == pytest.approx(each[0])
    np.testing.assert_allclose(found.shapes, [np.min(each, axis=0), np.max(each, axis=0)])
    assert found.shapes[1, 1] > found.shapes[0, 1]  # large messages share links
    low, high = found.interval
    assert low == pytest.approx(found.spread.low * found.shapes[0])
    assert high == pytest.approx(found.spread.high * found.shapes[1])
    assert any(sentence.startswith("shape of the job: tofu-d:") for sentence in found.assumed)


def test_a_known_shape_has_one_time() -> None:
    found = predict_collective(MACHINE.on("tofu-d:2x2x2"), "gather", 96, [8], algorithm="binomial")
    assert (found.shapes == found.times).all()
    with pytest.raises(ParameterError):
        MACHINE.on("tofu-e")


def test_the_command_takes_an_unknown_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("collective", "--p2p", written(tmp_path), "--system", "a", "--collective", "alltoall")
    words = (*words, "--algorithm", "linear", "--nodes", "48", "--bytes", "1MiB")
    assert commands.run(predict, *words, "--topology", "tofu-d", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert "shape of the job: tofu-d:" in " ".join(found["assumed"])
    assert "holds" in found["interval"]
    assert 0.8 < found["interval_held"] < 1.0
