"""Which parameters are searched, and how a space is edited."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.fit import SearchSpace
from workbench.fit.space import SEARCHED
from workbench.models import MODELS, PISCES, SNAPPR, LogP
from workbench.units import parse_quantity, write_quantity

INJECTION = "node.nic.injection.latency"


@for_each("model", [SNAPPR(), LogP(), PISCES()])
def test_bounds_are_the_models_own(model: SNAPPR | LogP | PISCES) -> None:
    space = SearchSpace.for_model(model)
    own = {parameter.key: parameter for parameter in model.parameters()}
    assert space.keys == SEARCHED[model.name]
    for dimension in space.dimensions:
        described = own[dimension.key]
        assert (dimension.low, dimension.high) == (described.low, described.high)
        assert (dimension.log, dimension.kind) == (described.log, described.kind)
        assert dimension.low < float(described.value) < dimension.high


def test_every_model_has_a_space() -> None:
    assert set(SEARCHED) == set(MODELS)


def test_table_two_gives_the_ranges() -> None:
    space = SearchSpace.for_model(SNAPPR())
    assert (space["node.nic.mtu"].low, space["node.nic.mtu"].high) == (128, 16e6)
    assert (space["node.nic.credits"].low, space["node.nic.credits"].high) == (1e3, 16e6)
    assert (space[INJECTION].low, space[INJECTION].high) == (1e-9, 1e-3)
    link = space["switch.link.bandwidth"]
    assert (link.low, link.high) == (1e9, 50e9)


def test_an_overlay_in_use_is_searched_too() -> None:
    hybrid = SNAPPR().with_values({"node.nic.negligible_size": 256})
    keys = SearchSpace.for_model(hybrid).keys
    assert keys[: len(SEARCHED["snappr"])] == SEARCHED["snappr"]
    assert keys[len(SEARCHED["snappr"]) :] == (
        "switch.logp.bandwidth",
        "switch.logp.out_in_latency",
        "switch.logp.hop_latency",
    )


def test_bounds_take_numbers_and_texts() -> None:
    space = SearchSpace.for_model(SNAPPR()).with_bounds(INJECTION, "100ns", 2e-6)
    assert (space[INJECTION].low, space[INJECTION].high) == (pytest.approx(1e-7, rel=1e-12), 2e-6)
    assert len(space) == len(SEARCHED["snappr"])


def test_fixing_and_freeing() -> None:
    space = SearchSpace.for_model(SNAPPR())
    fixed = space.fix("node.nic.mtu", "4096B")
    assert "node.nic.mtu" not in fixed.keys
    assert fixed.fixed == {"node.nic.mtu": 4096}
    assert "node.nic.mtu" in space.keys  # the first space has not changed
    again = fixed.free("node.nic.mtu")
    assert again.fixed == {}
    assert again["node.nic.mtu"] == space["node.nic.mtu"]
    assert space.fix("node.nic.mtu").fixed == {}
    wider = space.free("node.app1.mpi.post_header_delay")
    assert wider.keys[-1] == "node.app1.mpi.post_header_delay"


def test_what_cannot_be_searched_is_refused() -> None:
    space = SearchSpace.for_model(SNAPPR())
    with pytest.raises(ParameterError, match=r"did you mean node\.nic\.injection\.latency"):
        space.fix("node.nic.injecton.latency")
    with pytest.raises(ParameterError, match="is a flag and cannot be searched"):
        space.free("node.nic.flow_control")
    with pytest.raises(ParameterError, match="must be below high"):
        space.with_bounds(INJECTION, 1e-6, 1e-6)
    with pytest.raises(ParameterError, match="must be below high"):
        space.with_bounds("node.nic.injection.flit_size", 0, 0)
    with pytest.raises(ParameterError, match="must be above 0 on a logarithmic scale"):
        space.with_bounds(INJECTION, 0.0, 1e-6)
    with pytest.raises(ParameterError, match="is not searched"):
        space["node.nic.buffer"]
    for key in space.keys[1:]:
        space = space.fix(key)
    with pytest.raises(ParameterError, match="at least one parameter must be searched"):
        space.fix(space.keys[0])


def test_a_space_survives_json() -> None:
    space = (
        SearchSpace.for_model(SNAPPR()).with_bounds(INJECTION, 1e-7, 1e-5).fix("node.nic.mtu", 512)
    )
    assert SearchSpace.from_dict(space.to_dict(), SNAPPR()) == space


def test_positions_and_bounds_are_on_the_searchs_scale() -> None:
    dimension = SearchSpace.for_model(SNAPPR())[INJECTION]
    assert dimension.position(1e-6) == pytest.approx(0.5, abs=1e-12)
    # 1 % of six decades is 0.06 decades
    assert dimension.at_bound(1e-9 * 10**0.059) == "lower"
    assert dimension.at_bound(1e-9 * 10**0.061) == ""
    assert dimension.at_bound(1e-3 * 10**-0.059) == "upper"


def test_whole_numbers_stay_whole_and_inside() -> None:
    mtu = SearchSpace.for_model(SNAPPR()).with_bounds("node.nic.mtu", 128, 9000)["node.nic.mtu"]
    assert mtu.clip(4096.4) == 4096
    assert isinstance(mtu.clip(4096.4), int)
    assert (mtu.clip(1.0), mtu.clip(1e9)) == (128, 9000)


def test_what_is_tried_has_four_digits_of_its_usual_unit() -> None:
    space = SearchSpace.for_model(SNAPPR())
    latency = space[INJECTION].snap(119.8748256905826e-9)
    assert write_quantity(latency, "time") == "119.9ns"
    rate = space["switch.link.bandwidth"].snap(31032322954.29512)
    assert rate == parse_quantity("31.03GB/s", "bandwidth")
    assert space["switch.credits"].snap(7235563.2) == 7236000
    assert space["node.nic.mtu"].snap(16.2e6) == 16_000_000
    narrow = space.with_bounds(INJECTION, 1e-6, 1.001e-6)[INJECTION]
    assert narrow.snap(1.0001234e-6) == 1.0001234e-6  # four digits would leave two values


def test_a_space_prints_its_bounds() -> None:
    space = SearchSpace.for_model(LogP()).fix("switch.hop_latency", "0ns")
    assert "switch.out_in_latency 1 ns to 1 ms" in repr(space).replace(".00", "")
    assert "fixed: switch.hop_latency = 0" in repr(space)
    assert "<code>switch.bandwidth</code>" in space._repr_html_()
