"""Plans: their cells, their names, YAML in and out, and what is refused with which line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.fit import LOSSES, FitStudy
from workbench.study import Cell, ModelChoice, StudyPlan
from workbench.study.plan import __doc__ as PLAN_DOC

YAML = """\
name: which-loss
machines: [azure-hb96v3-hdr, llnl-dane-omnipath]
losses: [rmsre, mae]
models:
  - snappr
  - snappr:repaired
  - {label: small-packets, model: snappr, values: {node.nic.mtu: 512B}}
regimes: [all, low]
threshold: 1024B
seeds: 3
trials: 20
"""


def test_a_plan_is_the_product_of_its_lists() -> None:
    plan = StudyPlan.from_yaml(YAML)
    cells = plan.cells()
    assert len(cells) == len(set(cells)) == 2 * 2 * 3 * 3 * 2
    assert {cell.threshold for cell in cells} == {1024}
    assert plan.targets == ("both", "latency", "bandwidth")
    assert plan.seeds == (3,)
    assert [choice.label for choice in plan.models] == [
        "snappr",
        "snappr-repaired",
        "small-packets",
    ]
    assert repr(plan) == (
        "StudyPlan(which-loss: 2 machines × 2 losses × 3 targets × 3 models × 2 regimes = "
        "72 cells of 20 trials)"
    )
    assert StudyPlan("x", ["azure-hb96v3-hdr"]).losses == tuple(LOSSES)


def test_names_in_the_database_differ_and_are_those_of_a_single_fit() -> None:
    plan = StudyPlan.from_yaml(YAML)
    names = plan.to_frame()["name"]
    assert names.is_unique
    for cell in (c for c in plan.cells() if c.model != "small-packets"):
        # a fit started on its own is the same study as the cell, and goes on with its trials
        alone = FitStudy(
            cell.measured(),
            plan.choice(cell.model).build(),
            loss=cell.loss,
            target=cell.target,
            seed=cell.seed,
            engine=cell.engine,
        )
        assert alone.name == cell.name
    assert Cell("m", "snappr", "rmsre", "both", "high").name == "m[>512]-snappr-rmsre-both-seed0"


def test_values_that_a_plan_states_are_held() -> None:
    choice = ModelChoice("small-packets", "snappr", {"node.nic.mtu": "512B"})
    assert choice.build().get("node.nic.mtu") == 512
    assert "node.nic.mtu" not in choice.space().keys
    assert len(choice.space()) == len(ModelChoice("snappr").space()) - 1


def test_yaml_out_is_read_back_as_the_same_plan(tmp_path: Path) -> None:
    plan = StudyPlan.from_yaml(YAML)
    path = tmp_path / "plan.yaml"
    assert StudyPlan.from_yaml(plan.to_yaml(path)) == plan
    assert StudyPlan.from_yaml(path) == plan
    assert StudyPlan.from_yaml(str(path)) == plan


def test_the_example_of_the_documentation_is_a_plan() -> None:
    assert PLAN_DOC is not None
    example = PLAN_DOC.partition("`` takes:\n")[2]
    lines = [line.removeprefix("    ") for line in example.splitlines()]
    assert len(StudyPlan.from_yaml("\n".join(lines)).models) == 3


@for_each(
    "change, message",
    [
        (("machines:", "machine:"), "plan.yaml:2: no key of a plan is named 'machine'; did you m"),
        (("azure-hb96v3-hdr", "azure-hb96"), "plan.yaml:2: no machine is named 'azure-hb96'; did"),
        (("mae", "rmsle"), "plan.yaml:3: no loss is named 'rmsle'; did you mean rmse"),
        (("- snappr\n", "- snapper\n"), "plan.yaml:4: no model is named 'snapper'; did you mean s"),
        (("repaired", "mended"), "plan.yaml:4: no variant of snappr is named 'mended'; known: "),
        (("node.nic.mtu", "node.nic.mut"), r"plan.yaml:4: .*node\.nic\.mut.*node\.nic\.mtu"),
        (("label: small-packets, ", ""), "plan.yaml:4: a model with its own values needs a la"),
        (("low", "middle"), "plan.yaml:8: no regime is named 'middle'; known: all, low, high"),
        (("1024B", "1024X"), "plan.yaml:9: threshold must be a size"),
        (("seeds: 3", "seeds: [1, 1]"), "plan.yaml:10: seeds must name each once; 1 is named twi"),
        (("trials: 20", "trials: 0"), "plan.yaml:11: trials must be a whole number of at least 1"),
        (
            ("trials: 20", "trials: many"),
            "plan.yaml:11: trials must be a whole .* got 'many'",
        ),
        (
            ("trials: 20", "name: again"),
            "plan.yaml:11: a plan must have name once; it is",
        ),
        (("trials: 20", "trials: [20"), "plan.yaml:12: a plan must be YAML"),
        (("name: which-loss", ""), "plan.yaml: a plan must have the key name"),
        (
            ("[rmsre, mae]", "[]"),
            r"plan.yaml:3: losses must be a list of at least one value; got \[\]",
        ),
        (("seeds: 3", "seeds: 2024-01-99"), "plan.yaml: a plan must be YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    path = tmp_path / "plan.yaml"
    assert change[0] in YAML
    path.write_text(YAML.replace(*change, 1))
    with pytest.raises(ParseError, match=message):
        StudyPlan.from_yaml(path)


@for_each(
    "data",
    [b"", b"- a\n- b\n", b"name: \xff\n", b"\x00\n", b"[" * 5000, b"? [a]\n: b\n", b"1: 2\n"],
)
def test_other_files_are_refused_with_a_message(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"a plan must|a key of a plan must"):
        StudyPlan.from_yaml(data)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_a_plan_or_a_parse_error(data: bytes) -> None:
    with pytest.raises(ParseError):
        # no random text of this length names a machine
        StudyPlan.from_yaml(data)


@given(st.data())
def test_a_plan_with_a_few_bytes_changed_is_a_plan_or_a_parse_error(data: st.DataObject) -> None:
    text = bytearray(YAML.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        plan = StudyPlan.from_yaml(bytes(text))
    except ParseError:
        return
    assert StudyPlan.from_yaml(plan.to_yaml()) == plan


def test_an_attribute_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ParameterError, match="no attribute of a plan is named 'trails'; did you mean trials"
    ):
        StudyPlan.from_yaml(YAML).replace(trails=3)


def test_a_number_with_an_exponent_is_a_number_and_a_text_of_it_stays_one() -> None:
    plan = StudyPlan.from_yaml(
        "name: '1e-3'\nmachines: [azure-hb96v3-hdr]\nseeds: [1]\ntrials: 20\n"
        "models: [{label: slow, model: snappr, values: {node.nic.injection.latency: 1e-6}}]\n"
    )
    assert plan.models[0].build().get("node.nic.injection.latency") == 1e-6
    assert plan.name == "1e-3"
    assert "name: '1e-3'" in plan.to_yaml()
    assert StudyPlan.from_yaml(plan.to_yaml()) == plan
    assert plan.replace(seeds=(np.int64(3),)) == plan.replace(seeds=(3,))
