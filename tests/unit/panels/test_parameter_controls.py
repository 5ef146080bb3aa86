from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cases import for_each
from workbench.models import MODELS, ModelParameter
from workbench.panels.parameter_controls import (
    ParameterControl,
    ParameterControls,
    parameter_control,
)
from workbench.parameters import Value

PARAMETERS = {f"{name} {p.key}": p for name, m in MODELS.items() for p in m().parameters()}
SLIDERS = {name: p for name, p in PARAMETERS.items() if p.kind not in ("flag", "choice")}

Heard = list[tuple[str, Value]]


@pytest.fixture
def make() -> Callable[[ModelParameter], tuple[ParameterControl, Heard]]:
    def make(described: ModelParameter) -> tuple[ParameterControl, Heard]:
        heard: Heard = []
        return parameter_control(described, lambda key, value: heard.append((key, value))), heard

    return make


@for_each("name", SLIDERS)
def test_a_slider_covers_the_bounds_and_says_nothing_by_itself(name: str, make: Callable) -> None:
    described = SLIDERS[name]
    control, heard = make(described)
    assert heard == []
    assert control.value == described.value
    control.input.value = control.input.max
    control.input.value = control.input.min
    ends = [value for _, value in heard][-2:] if len(heard) > 1 else [described.low, heard[0][1]]
    assert ends == pytest.approx([described.high, described.low], rel=0.005)  # three digits


@for_each("name", SLIDERS)
def test_every_step_changes_the_value(name: str, make: Callable) -> None:
    control, heard = make(SLIDERS[name])
    control.input.value = 0
    heard.clear()
    for position in range(1, control.input.max + 1):
        control.input.value = position
    values = [value for _, value in heard]
    assert values == sorted(set(values)), "strictly ascending"
    assert len(values) == control.input.max


@for_each("name", PARAMETERS)
def test_what_a_browser_sends_back_moves_nothing(name: str, make: Callable) -> None:
    """A slider that is drawn reports its own position; it must be the one it was given."""
    control, heard = make(PARAMETERS[name])
    name = "index" if control.described.kind == "choice" else "value"
    control.input.set_state({name: control.input.get_state()[name]})
    assert heard == []


def test_a_value_is_typed_with_its_unit(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    control.text.value = "1.25 µs"
    control.text.value = "300ns"
    assert [value for _, value in heard] == pytest.approx([1.25e-6, 3e-7], rel=1e-15)
    assert control.text.value == "300 ns"


def test_a_number_without_a_unit_is_refused_where_the_unit_is_not_obvious(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    for text in ("1", "2e-6"):
        control.text.value = text
        assert f"got '{text}', which has no unit" in control.error.message
        assert "units are s, ms, us (or µs), ns and ps" in control.error.message
    assert heard == []
    sizes, heard = make(PARAMETERS["snappr node.nic.mtu"])
    sizes.text.value = "2048"
    assert heard == [("node.nic.mtu", 2048)]


def test_a_value_outside_the_slider_is_marked_until_it_is_inside(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    control.text.value = "1s"
    assert heard == [("node.nic.injection.latency", 1.0)]
    assert control.error.message == "1 s lies outside the slider, 1 ns to 1 ms; check its unit"
    control.text.value = "0s"
    assert control.error.message == ""
    control.show(2.0)
    assert "2 s lies outside" in control.error.message
    control.input.value = 3
    assert control.error.message == ""


@for_each("name", MODELS)
def test_no_default_is_marked(name: str) -> None:
    assert [p.key for p in MODELS[name]().parameters() if p.unusual(p.value)] == []


def test_what_a_readout_shows_can_be_typed_again(make: Callable) -> None:
    for described in SLIDERS.values():
        control, heard = make(described)
        control.input.value = (control.input.max + 1) // 2
        shown, value = control.text.value, control.value
        control.input.value = 0
        control.text.value = shown
        assert control.error.message == "", shown
        assert heard[-1][1] == pytest.approx(value, rel=0.005), shown  # three digits


def test_a_typed_value_beyond_the_slider_is_kept(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    control.text.value = "2s"
    assert heard == [("node.nic.injection.latency", 2.0)]
    assert control.input.value == control.input.max


def test_a_mistyped_value_is_named_beside_its_control(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    control.text.value = "300 parsecs"
    assert heard == []
    assert "'300 parsecs'" in control.error.message
    assert control.error.layout.display == ""
    assert 'role="alert"' in control.error.value


def test_the_complaint_goes_when_the_old_text_comes_back(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.injection.latency"])
    before = control.text.value
    control.text.value = "?"
    assert control.error.message
    control.text.value = before
    assert control.error.message == ""
    assert heard == []


def test_binary_sizes_may_be_typed(make: Callable) -> None:
    control, heard = make(PARAMETERS["snappr node.nic.mtu"])
    control.text.value = "2 KiB"
    control.text.value = "1.5MiB"
    assert [value for _, value in heard] == [2048, 1_572_864]


def test_parameters_stand_under_their_sections() -> None:
    controls = ParameterControls(MODELS["snappr"](), lambda *_: None)
    sections = ("NIC", "Switch", "LogP overlay", "MPI protocol", "Memory and processor")
    assert controls.widget.titles == sections
    assert len(controls.controls) == len(MODELS["snappr"]().parameters())


def test_a_parameter_without_effect_cannot_be_moved() -> None:
    model = MODELS["snappr"]().with_values({"node.nic.flow_control": False})
    controls = ParameterControls(model, lambda *_: None)
    assert not controls.controls["node.nic.credits"].enabled
    controls.show(MODELS["snappr"]())
    assert controls.controls["node.nic.credits"].enabled
