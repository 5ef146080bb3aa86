"""A window cannot be slower than messages one at a time; some measurements say it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench import datasets
from workbench.measure import contradiction
from workbench.measure.consistency import excess_percent
from workbench.models import PISCES, SNAPPR, LogP, NetworkModel, Protocol
from workbench.simulate import simulate_osu


# SST/macro's PISCES gives packets of one or two bytes no time alone, but some in a window.
@pytest.mark.parametrize(
    "model", [SNAPPR(), LogP(), PISCES(variant="repaired"), Protocol()], ids=lambda m: m.name
)
def test_what_a_model_gives_is_consistent(model: NetworkModel) -> None:
    assert contradiction(simulate_osu(model)) == ""


def test_a_bandwidth_that_no_model_can_give_is_named_with_its_sizes() -> None:
    said = contradiction(datasets.load("gcp-c2d-ethernet-gce"))
    assert "at 512 KiB, 1 MiB, 2 MiB and 4 MiB" in said
    assert "at 1 MiB 1113 us against 764.6 us" in said


def test_the_excess_is_that_of_the_window_over_single_messages() -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    assert (excess_percent(curve) < 0).all()
    slow = replace(curve, bandwidth_Bps=curve.sizes / curve.latency_s / 2.0)
    assert excess_percent(slow)[-1] == pytest.approx(97, abs=1)
    assert np.isnan(excess_percent(curve.alone("latency"))).all()
    assert contradiction(curve.alone("latency")) == ""
