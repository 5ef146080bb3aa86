"""The figures of simulated traffic and of jobs that share a network."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Div

from workbench.plotting.replay.fabric_jobs import job_columns
from workbench.plotting.topology.traffic import (
    describe_traffic,
    latency_columns,
    latency_figure,
    plot_traffic,
    queue_figure,
    utilisation_columns,
    utilisation_figure,
)
from workbench.programs.collectives import schedule
from workbench.simulate.fabric import Fabric, FabricResult, SharedRun, run_jobs, run_traffic
from workbench.topology import parse_topology

FABRIC = Fabric(parse_topology("torus:8"), routing="dimension-order")


@pytest.fixture(scope="module")
def result() -> FabricResult:
    return run_traffic(FABRIC, "tornado", 0.25, messages=1000)


@pytest.fixture(scope="module")
def shared() -> SharedRun:
    graph = schedule("alltoall", "linear", 4, size=65_536).graph()
    return run_jobs({"one": graph, "other": graph}, FABRIC, placement="random", rng=1)


def test_every_message_is_in_one_bin(result: FabricResult) -> None:
    columns = latency_columns(result.latencies_s * 1e6)
    assert sum(columns["percent"]) == pytest.approx(100)
    assert columns["left"][1:] == columns["right"][:-1]
    assert columns["left"][0] <= result.latencies_s[0] * 1e6
    assert columns["right"][-1] >= result.latencies_s[-1] * 1e6
    assert latency_columns(np.array([2.0, 2.0]))["percent"] == [100.0]
    assert latency_columns(np.zeros(0))["percent"] == []


def test_the_marks_are_percentiles(result: FabricResult) -> None:
    texts = [
        one.data_source.data["text"][0]
        for one in latency_figure(result).renderers
        if "text" in one.data_source.data
    ]
    assert [text.split()[0] for text in texts] == ["median", "99"]
    assert float(texts[0].split()[1]) == pytest.approx(result.latency_s(50) * 1e6, rel=5e-3)


def test_channels_of_a_kind_from_the_busiest_down(result: FabricResult) -> None:
    (mine,) = np.nonzero(result.kinds == "link")
    assert len(mine) == 16
    columns = utilisation_columns(result, mine, "link")
    assert columns["percent"] == sorted((100 * result.utilisation[mine]).tolist(), reverse=True)
    assert columns["share"][0] == 0
    assert columns["share"][-1] == 100
    assert columns["said"][0].startswith("router ")
    assert "to host" in utilisation_columns(result, np.arange(16, 24), "to hosts")["said"][0]
    names = [item.label.value for item in utilisation_figure(result).legend[0].items]
    assert names == ["link", "to hosts", "at hosts"]


def test_a_large_network_is_drawn_by_few_points(result: FabricResult) -> None:
    many = np.resize(np.arange(16), 1000)
    columns = utilisation_columns(result, many, "link")
    assert len(columns["percent"]) == 200
    assert columns["percent"][0] == 100 * result.utilisation[:16].max()
    assert columns["percent"][-1] == 100 * result.utilisation[:16].min()


def test_queues_are_means_over_the_channels_of_a_kind(result: FabricResult) -> None:
    fig = queue_figure(result)
    lines = {
        one.data_source.data["name"][0]: one.data_source.data
        for one in fig.renderers
        if "depth" in one.data_source.data
    }
    assert list(lines) == ["between routers", "to hosts", "at hosts"]
    assert lines["between routers"]["depth"] * 16 == pytest.approx(result.series.between_routers)
    assert lines["at hosts"]["depth"] * 8 == pytest.approx(result.series.at_hosts)
    warm_up = fig.renderers[0].data_source.data["right"][0]
    assert warm_up == pytest.approx(result.window_s * 1e6, rel=1e-6)


def test_the_sentence_says_what_the_figures_show(result: FabricResult) -> None:
    said = describe_traffic(result)
    assert said.startswith("Simulated, tornado traffic on torus 8, dimension-order routing")
    assert f"{result.accepted:.3f} is delivered;" in said
    between = result.to_frame()[: FABRIC.channels.between_routers]
    busiest = between.loc[between["utilisation"].idxmax()]
    assert f"from router {busiest['source']} to {busiest['target']}, sends" in said
    assert f"{100 * busiest['utilisation']:.0f} % of the time" in said
    drawn = result.plot(height=200)
    assert drawn.select_one({"type": Div}).text.count(said.replace("'", "&#x27;")) == 1


def test_a_network_that_delivers_nothing_in_time_is_drawn() -> None:
    full = run_traffic(FABRIC, "tornado", 0.9, messages=2000)
    assert full.delivered == 0
    assert "the network is saturated." in describe_traffic(full)
    assert "no message" in latency_figure(full).renderers[-1].data_source.data["text"][0]
    alone = Fabric(parse_topology("fully-connected:1,hosts=4"))
    assert plot_traffic(run_traffic(alone, "uniform", 0.2, messages=100)) is not None


def test_two_bars_a_job(shared: SharedRun) -> None:
    fig = shared.plot()
    assert fig.y_range.factors == ["other", "one"]
    columns = job_columns(shared)
    assert columns["alone_ns"] == pytest.approx((1e9 * shared.alone_s).tolist(), rel=1e-12)
    assert columns["shared_ns"] == pytest.approx((1e9 * shared.shared_s).tolist(), rel=1e-12)
    assert shared.slowdown.max() > 1
    for text, slow in zip(columns["shared_text"], shared.slowdown, strict=True):
        assert text.endswith(f"{slow:.2f}× as long")
    assert "simulated" in fig.title.text
    assert "simulated" in shared.together.plot().title.text
