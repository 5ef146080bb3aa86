from __future__ import annotations

import pytest

from workbench.errors import ParameterError
from workbench.panels.number_field import REFUSED
from workbench.panels.slider import Even, Listed, Slider


@pytest.fixture
def heard() -> list[float]:
    """What a slider has called back with."""
    return []


@pytest.fixture
def share(heard: list[float]) -> Slider:
    """A slider of even steps."""
    return Slider(Even(0.05, 1.0, 0.05, "share"), 0.7, heard.append, name="Share")


def test_a_slider_moves_by_steps_and_does_not_round_what_is_typed(
    share: Slider, heard: list[float]
) -> None:
    slider = share.input
    assert (slider.min, slider.value, slider.max) == (0, 13, 19)
    assert not slider.readout, "its own would be cut"
    share.text.value = "0.723"
    assert (heard, slider.value) == ([0.723], 13)
    slider.set_state({"value": 13})
    assert heard == [0.723], "what a browser sends back moves nothing"
    share.text.value = "7"
    slider.value = 14
    assert heard == [0.723, 0.75]
    assert share.error.message == ""
    slider.value = 19
    assert share.value == 1.0 and share.text.value == "1"


def test_what_was_refused_is_framed_and_reported_until_it_is_corrected(
    share: Slider, heard: list[float]
) -> None:
    for text in ("7", "much"):
        share.text.value = text
        assert share.error.message == (
            f"share must be a number from 0.05 to 1; got {text}; "
            "the value stays 0.7 until a valid one is typed"
        )
        assert REFUSED in share.text.get_state()["_dom_classes"] and share.value == 0.7
    share.text.value = "0.7"
    assert (share.error.message, heard) == ("", [])
    assert REFUSED not in share.text.get_state()["_dom_classes"]


def test_a_value_that_the_panel_refuses_is_taken_back() -> None:
    def refuse(value: float) -> None:
        raise ParameterError(f"{value} is too much")

    slider = Slider(Even(0, 10, 1, "share"), 3.0, refuse, name="Share")
    slider.text.value = "5"
    assert slider.value == 3.0 and "5.0 is too much; the value stays 3" in slider.error.message
    with pytest.raises(ParameterError, match="too much"):
        slider.take(6)
    assert slider.value == 3.0


def test_sizes_are_chosen_from_a_list(heard: list[float]) -> None:
    slider = Slider(Listed([1, 64, 4096], "threshold"), 64, heard.append, name="Threshold")
    assert slider.text.value == "64 B"
    slider.input.value = 2
    slider.take("64 B")
    slider.take(1)
    assert heard == [4096, 64, 1]
    slider.offer(Listed([32, 1 << 20], "threshold"), 1 << 20)
    assert (slider.value, slider.input.max, slider.text.value) == (1 << 20, 1, "1 MiB")
    assert heard == [4096, 64, 1], "what is offered is not chosen"
