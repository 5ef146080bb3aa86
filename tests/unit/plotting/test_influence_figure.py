from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bokeh.models import Div

from workbench.plotting import describe_influence, influence_figure
from workbench.study.influence import Influence, influence


@pytest.fixture(scope="module")
def found() -> Influence:
    return influence("logp", (1, 512, 8192, 1 << 22), 64)


def test_the_cells_are_the_correlations_and_only_those_beyond_chance_have_a_number(
    found: Influence,
) -> None:
    drawn = influence_figure(found, method="pearson")
    for at, name in enumerate(("latency", "bandwidth")):
        data = drawn.sources[name].data
        np.testing.assert_array_equal(data["value"], found.pearson[:, at].ravel())
        for value, text in zip(data["value"], data["text"], strict=True):
            assert bool(text) == (abs(value) >= found.chance)
    assert "Pearson correlation with simulated latency, LogP" in drawn.latency.title.text


def test_a_job_redraws_by_one_write_a_figure(found: Influence) -> None:
    drawn = influence_figure(found)
    before = drawn.sources["latency"]
    fewer = influence("logp", (1, 512, 8192, 1 << 22), 16)
    drawn.show(fewer)
    assert drawn.sources["latency"] is before
    np.testing.assert_array_equal(before.data["value"], fewer.spearman[:, 0].ravel())
    assert "16 configurations" in drawn.latency.title.text


def test_the_reading_says_what_is_strongest_where(found: Influence) -> None:
    text = describe_influence(found)
    key, value = found.strongest(1 << 22, "bandwidth")
    assert key == "node.nic.injection.bandwidth"
    assert f"{key} and node.nic.injection.latency at 4 MiB ({value:+.2f}, " in text
    assert "switch.out_in_latency and switch.hop_latency from 1 B to 8 KiB" in text
    assert f"Below {found.chance:.2f} it may be chance" in text
    assert "refusing" not in text
    tied = replace(found, design=np.full((5, 5), -0.5))
    assert "correlate node.nic.injection.bandwidth and node.nic.injection.latency (−0.50)" in (
        describe_influence(tied)
    )


def test_nothing_simulated_is_reported_and_drawn_grey(found: Influence) -> None:
    nothing = replace(
        found,
        pearson=np.full_like(found.pearson, np.nan),
        spearman=np.full_like(found.spearman, np.nan),
        used=0,
        refused=64,
    )
    assert "0 configurations could be simulated and 64 were refused" in describe_influence(nothing)
    assert set(influence_figure(nothing).sources["latency"].data["text"]) == {""}


def test_the_plot_says_that_it_is_simulated_and_from_what(found: Influence) -> None:
    words = " ".join(div.text for div in found.plot().select({"type": Div}))
    assert "simulated: LogP, variant sstmacro, 64 configurations" in words
    assert "Strongest for latency" in words
