"""Plans of designs: from YAML and back, refused with their line, and the simulators they name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.simulators import NETWORK
from workbench import machines
from workbench.errors import ParameterError, ParseError
from workbench.models import SNAPPR
from workbench.simulate import replay, simulate_osu
from workbench.uq import DESIGN_MODELS, DesignPlan, design, named_model
from workbench.uq.collectives import SHUFFLED_HOPPER, CollectiveTest, GeminiCollective
from workbench.uq.collectives.gemini import BOX, NOMINAL, paper_tests
from workbench.uq.collectives.gemini_fabric import FabricCollective

TEXT = """name: small
model: gemini
settings: {collective: gather, nodes: [128], block_bytes: [8192]}
parameters:
- Max BW
- {name: Link BW, unit: B/s, low: 2e9, high: 2.5e9}
fixed: {Inj BW: 6e9}
method: grid
points: 3
holdout: 5
"""


def test_a_plan_is_yaml_and_back(tmp_path: Path) -> None:
    plan = DesignPlan.from_yaml(TEXT)
    assert plan.parameters.names == ("Max BW", "Link BW")
    assert plan.parameters.high.tolist() == [2e9, 2.5e9]
    assert plan.tests == ("128 nodes, 8192 B",)
    assert (len(plan.design), plan.row_count) == (9, 14)
    assert np.array_equal(plan.rows[9:], design(plan.parameters, 5))
    plan.to_yaml(tmp_path / "plan.yaml")
    again = DesignPlan.from_yaml(tmp_path / "plan.yaml")
    assert again == plan
    assert again.to_dict() == plan.to_dict()
    assert "9 points, grid and 5 to judge by, in Max BW, Link BW" in repr(plan)
    assert plan.to_frame()["set"].tolist() == ["design"] * 9 + ["holdout"] * 5
    assert "to judge by" in plan._repr_html_()


def test_other_parameters_are_nominal_or_fixed() -> None:
    plan = DesignPlan.from_yaml(TEXT)
    (row,) = plan.completed(np.array([[1.7e9, 2.1e9]]))
    expected = {**dict(zip(BOX.names, NOMINAL, strict=True)), "Max BW": 1.7e9, "Link BW": 2.1e9}
    assert dict(zip(BOX.names, row, strict=True)) == {**expected, "Inj BW": 6e9}


def test_a_sobol_design_is_extended_and_its_hold_out_follows() -> None:
    plan = DesignPlan("a", NETWORK, 40, holdout=8, seed=3)
    longer = plan.replace(points=48)
    assert np.array_equal(plan.rows, longer.design)
    assert np.array_equal(longer.holdout_design, design(NETWORK, 8, seed=3, skip=48))
    assert plan.problem(["t"]) == longer.problem(["t"])
    assert plan.problem(["t"]) != plan.replace(method="latin-hypercube").problem(["t"])


@for_each(
    "old, new, line, message",
    [
        ("model: gemini", "model: gemimi", 2, "did you mean gemini"),
        ("collective: gather", "collective: gathr", 3, "did you mean gather"),
        ("collective: gather, ", "", 3, "settings of gemini must have collective"),
        ("nodes: [128]", "node: [128]", 3, "did you mean nodes"),
        ("nodes: [128]", "nodes: many", 3, "settings of gemini"),
        ("- Max BW", "- Max B", 4, "did you mean Max BW"),
        ("high: 2.5e9", "high: 1e9", 4, "low of Link BW must be below high"),
        ("Inj BW: 6e9", "Max BW: 6e9", 7, "fixed must name parameters that do not vary"),
        ("method: grid", "method: gird", 8, "did you mean grid"),
        ("points: 3", "points: none", 9, "points must be a whole number"),
        ("holdout: 5", "hold: 5", 10, "did you mean holdout"),
        ("points: 3\n", "", 0, "must have the key points"),
        ("model: gemini", "model: 'os.system'", 2, "model must be one of"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_line(old: str, new: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        DesignPlan.from_yaml(TEXT.replace(old, new))
    assert caught.value.line == line


def test_a_function_needs_a_box_and_no_settings_of_a_model() -> None:
    with pytest.raises(ParameterError, match="only a named model has ranges of its own"):
        DesignPlan("a", ["Max BW"], 4)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="parameters must be a ParameterBox"):
        DesignPlan("a", points=4)
    with pytest.raises(ParameterError, match="fixed must be empty"):
        DesignPlan("a", NETWORK, 4, fixed={"hop latency": 1e-7})
    with pytest.raises(ParameterError, match="must name its model"):
        DesignPlan("a", NETWORK, 4).times(NETWORK.sample(2))
    with pytest.raises(ParameterError, match="did you mean points"):
        DesignPlan("a", NETWORK, 4).replace(point=5)


def test_a_named_collective_is_the_collective() -> None:
    places = {"shape": [17, 8, 24], "hosts": 2, "parallel": [2, 1, 2], "seed": 0, "shuffled": True}
    ways = (places, "shuffled-hopper")
    found = [named_model("gemini", {"collective": "allgather", "places": one}) for one in ways]
    tests = paper_tests("allgather")
    points = design(BOX, 3)
    expected = GeminiCollective("allgather", tests, SHUFFLED_HOPPER)(points)
    for each in found:
        assert each.tests == tuple(test.label for test in tests)
        assert np.array_equal(each.times(points), expected)


def test_a_named_collective_may_be_that_of_the_fabric() -> None:
    settings = {"collective": "gather", "nodes": [16], "block_bytes": [8192]}
    points = design(BOX, 2)
    model = named_model("gemini", {**settings, "model": "flow"})
    fabric = FabricCollective("gather", (CollectiveTest(16, 8192),), "flow")
    assert np.array_equal(model.times(points), fabric(points))
    assert model.about == "gather on a Gemini-like torus, by fluid messages over its links"
    with pytest.raises(ParameterError, match="did you mean flow"):
        named_model("gemini", {**settings, "model": "flows"})


def test_named_osu_tests_are_those_of_the_model() -> None:
    model = named_model("osu", {"model": "snappr", "sizes": [8, 65536]})
    assert model.tests[0] == "latency at 8 B"
    (times,) = model.times(np.array([model.nominal]))
    curve = simulate_osu(SNAPPR(), [8, 65536])
    assert times.tolist() == [*curve.latency_s, *(curve.sizes / curve.bandwidth_Bps)]
    assert "node.nic.mtu" not in model.box.names  # a threshold acts in steps
    with pytest.raises(ParameterError, match="benchmarks must be among latency, bandwidth"):
        named_model("osu", {"benchmarks": ["throughput"]})


def test_a_named_program_is_its_replay() -> None:
    machine = machines.load("azure-hb96v3-hdr").loggps
    model = named_model("program", {"programs": ["cg-8"], "machine": "azure-hb96v3-hdr"})
    assert model.box.names == ("L", "o", "G")
    (times,) = model.times(np.array([model.nominal]))
    assert times.tolist() == [replay("cg-8", machine).makespan_s]


def test_named_rounds_are_those_of_a_calibration() -> None:
    settings = {"collective": "gather", "algorithm": "binomial", "nodes": [8], "block_bytes": [64]}
    model = named_model("rounds", {**settings, "shape": [2, 2, 2]})
    assert model.tests == (CollectiveTest(8, 64, shape=(2, 2, 2)).label,)
    slow = np.array([model.nominal])
    slow[0, 0] *= 10
    assert model.times(slow)[0, 0] > model.times(np.array([model.nominal]))[0, 0] > 0


def test_every_named_model_is_known_to_these_tests() -> None:
    assert set(DESIGN_MODELS) == {"gemini", "osu", "program", "rounds"}
