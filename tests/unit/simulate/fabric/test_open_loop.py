"""Open-loop traffic beside queueing theory, closed forms and the bounds of links."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.stored import trust_arrays
from workbench.errors import ConfigurationError, ParameterError, ParseError, SimulationHalted
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric.fabric import Congestion, Fabric
from workbench.simulate.fabric.latency_load import load_curve
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.simulate.fabric.result import FabricResult
from workbench.tasks import Task
from workbench.topology import parse_topology
from workbench.topology.link_load import link_loads
from workbench.topology.routing import route
from workbench.topology.traffic import Traffic, traffic

MODEL = SNAPPR()
PACKET_S = MODEL.mtu / MODEL.injection_bandwidth


def run(
    word: str, pattern: str | Traffic = "uniform", load: float = 0.5, **options
) -> FabricResult:
    fabric = {name: options.pop(name) for name in ("routing", "model") if name in options}
    return run_traffic(Fabric(parse_topology(word), **fabric), pattern, load, **options)


def all_to_one(word: str) -> Traffic:
    topology = parse_topology(word)
    n = topology.num_hosts
    others = np.arange(1, n, dtype=np.int32)
    share = np.full(n - 1, 1.0 / (n - 1))
    return Traffic("all to one", topology, others, np.zeros(n - 1, np.int32), share)


@for_each("load", [0.3, 0.6, 0.8])
def test_the_wait_at_a_host_is_that_of_a_queue_with_poisson_arrivals(load: float) -> None:
    """M/D/1: W = rho / (2 (1 - rho)) services (Pollaczek, Khinchine)."""
    result = run("fully-connected:2", "permutation", load, messages=150_000)
    idle = MODEL.injection_latency + MODEL.link_latency + MODEL.ejection_latency
    wait = (result.mean_latency_s - idle) / PACKET_S
    rho = result.offered
    # Waits are alike over 1 / (1 - rho)^2 services: at 0.8 6,000 of these are independent.
    assert wait == pytest.approx(rho / (2 * (1 - rho)), rel=0.06)
    assert result.latencies_s.min() == pytest.approx(idle, rel=1e-9)


def test_the_wait_at_the_port_to_a_host_of_many_senders() -> None:
    pattern = all_to_one("star:40")
    result = run_traffic(Fabric(pattern.topology), pattern, 0.7, messages=60_000)
    ports = MODEL.injection_latency + 2 * MODEL.link_latency + MODEL.ejection_latency
    wait = (result.mean_latency_s - ports) / PACKET_S
    # Senders at 1.8 % load hardly smooth what they send; the star's centre does not queue either.
    rho = 0.7 * result.offered / 0.7
    assert wait == pytest.approx(rho / (2 * (1 - rho)), rel=0.08)
    assert result.received[1:].sum() == 0


@for_each("process", ["bernoulli"])
def test_messages_of_slots_never_wait_for_one_another(process) -> None:
    result = run("fully-connected:2", "permutation", 0.9, process=process, messages=5000)
    assert result.latencies_s.max() == pytest.approx(result.latencies_s.min(), rel=1e-9)
    assert result.offered == pytest.approx(0.9, rel=0.02)


@for_each(
    "word, routing",
    [("torus:4x4", "dimension-order"), ("dragonfly:9,4,2,2", "minimal"), ("fat-tree:4", "minimal")],
)
def test_an_idle_network_takes_its_latencies(word: str, routing: str) -> None:
    result = run(word, "uniform", 1e-4, routing=routing, messages=2000)
    hops = np.flatnonzero(result.hops)
    ends = MODEL.injection_latency + MODEL.ejection_latency
    expected = np.sort(np.repeat(ends + hops * MODEL.link_latency, result.hops[hops]))
    # Few of 2,000 messages meet another one.
    late = ~np.isclose(np.sort(result.latencies_s), expected, rtol=1e-9)
    assert late.mean() < 0.01
    assert result.mean_hops == pytest.approx(float(hops @ result.hops[hops]) / result.delivered)


def test_slow_links_and_long_messages_in_closed_form() -> None:
    """Packets pass a slow link one after the other; faster links wait for their tails."""
    model = SNAPPR(link_bandwidth=6.25e9, nic_bandwidth=25e9)
    result = run(
        "star:4", "bit-complement", 1e-4, model=model, message_bytes=3 * 4096, messages=500
    )
    slow = 4096 / 6.25e9
    idle = model.injection_latency + 2 * model.link_latency + model.ejection_latency
    tail = slow - 4096 / 25e9
    assert np.median(result.latencies_s) == pytest.approx(idle + 2 * slow + tail, rel=1e-6)


def test_the_repaired_variant_charges_the_last_packet() -> None:
    plain = run("star:4", "permutation", 1e-4, messages=300)
    whole = run("star:4", "permutation", 1e-4, messages=300, model=SNAPPR(variant="repaired"))
    np.testing.assert_allclose(whole.latencies_s, plain.latencies_s + PACKET_S, rtol=1e-9)


@for_each("word", ["torus:16", "torus:4x4", "dragonfly:9,4,2,2", "hyperx:4x4"])
def test_no_more_is_accepted_than_links_carry(word: str) -> None:
    topology = parse_topology(word)
    bound = min(link_loads(topology, routing="minimal").saturation, 1.0)
    result = run_traffic(Fabric(topology), "uniform", 1.0, messages=10_000)
    assert 0.6 * bound < result.accepted < 1.03 * bound
    assert result.utilisation.max() <= 1.0 + 1e-9


def test_a_dragonfly_under_adversarial_traffic() -> None:
    """Kim, Dally, Scott, Abts, ISCA 2008, figure 8b: 1/(a p) minimal, up to 1/2 by Valiant."""
    word = "dragonfly:9,4,2,2"
    accepted = {
        name: run(word, "adversarial", 0.6, routing=name, messages=5000).accepted
        for name in ("minimal", "valiant", "ugal-l", "ugal-g", "par")
    }
    assert accepted["minimal"] == pytest.approx(1 / 8, rel=0.02)
    assert 0.36 < accepted["valiant"] <= 0.5
    for name in ("ugal-l", "ugal-g", "par"):
        assert 0.3 < accepted[name] <= 0.5 + 1 / 8


def test_adaptive_routing_keeps_to_shortest_ways_where_they_do() -> None:
    word = "dragonfly:9,4,2,2"
    for name in ("ugal-l", "ugal-g", "par"):
        idle = run(word, "uniform", 0.005, routing=name, messages=2000)
        straight = run(word, "uniform", 0.005, messages=2000)
        assert idle.mean_hops == pytest.approx(straight.mean_hops, rel=0.02)
        busy = run(word, "uniform", 0.7, routing=name, messages=5000)
        assert not busy.saturated
    assert run(word, "uniform", 0.7, routing="valiant", messages=5000).saturated


def test_ugal_g_sees_the_same_queues_where_messages_have_many_packets() -> None:
    # It looks when a window opens. Recorded when each packet was an event at its host, which opens
    # windows too.
    result = run("fat-tree:4", "uniform", 0.8, routing="ugal-g", message_bytes=9000, messages=400)
    assert result.to_dict()["mean_latency_us"] == pytest.approx(5.1905552261126235, rel=1e-12)


def test_tornado_on_a_ring() -> None:
    """Three hops one way load each link with 3; by Valiant four hops are spread over both ways."""
    straight = run("torus:8", "tornado", 0.9, routing="dimension-order", messages=5000)
    around = run("torus:8", "tornado", 0.9, routing="valiant", messages=5000)
    assert straight.accepted == pytest.approx(1 / 3, rel=0.02)
    assert 0.38 < around.accepted <= 0.5


def test_a_nic_with_larger_buffers_than_lanes_starves_who_passes() -> None:
    """First come, first served: why the defaults give a NIC fewer credits than a lane."""
    greedy = SNAPPR(nic_credits=64_000, switch_credits=64_000)
    result = run("torus:8", "tornado", 0.9, routing="dimension-order", model=greedy, messages=5000)
    assert result.accepted < 0.25
    assert result.saturated
    assert result.received.min() < 0.1 * result.received.mean()


def test_every_message_arrives_and_every_byte_is_counted() -> None:
    result = run("torus:4x4", load=0.6, messages=5000)
    assert result.complete
    assert result.generated == result.delivered == result.hops.sum() == len(result.latencies_s)
    full = 16 * result.window_s * MODEL.injection_bandwidth
    assert result.received.sum() / full == pytest.approx(result.accepted)
    assert result.generated * result.message_bytes / full == pytest.approx(result.offered)
    # What is busy is sending: as many bytes as the bandwidth has time for, but for the ends.
    sent = result.channel.busy_s * MODEL.link_bandwidth
    np.testing.assert_allclose(sent, result.channel.n_bytes, atol=20 * 4096)
    assert result.series.under_way[1:].min() > 0
    assert len(result.series.time_s) > 60


@for_each("congestion", ["packet", "packet-flow"])
def test_stalls_fill_the_time_that_a_port_does_not_send(congestion: Congestion) -> None:
    """However time is cut: those that begin before the measured time, or end after it, too."""
    network = parse_topology("dragonfly:9,4,2,2")
    fabric = Fabric(network, routing="minimal", congestion=congestion)

    def window(begin_us: float, end_us: float) -> FabricResult:
        spans = {"warm_up_s": begin_us * 1e-6, "measure_s": (end_us - begin_us) * 1e-6}
        return run_traffic(fabric, "adversarial", 0.9, samples=2, **spans)

    parts, whole = (window(20, 20.5), window(20.5, 30)), window(20, 30)
    for result in (*parts, whole):
        assert (result.stalled + result.utilisation).max() <= 1 + 1e-9
    together = parts[0].channel.stalled_s + parts[1].channel.stalled_s
    # Rates are doubles: times are a few ticks off.
    assert together == pytest.approx(whole.channel.stalled_s, abs=1e-14)
    at_hosts = whole.kinds == "injection"
    assert whole.stalled[~at_hosts].max() > 0.5
    # Hosts have more than the network takes: their ports send, or they wait for credits.
    assert (whole.stalled + whole.utilisation)[at_hosts] == pytest.approx(1, abs=0.02)
    assert whole.stalled[at_hosts].min() > 0.3


@for_each("congestion", ["packet", "packet-flow"])
def test_what_hosts_have_not_sent_yet_is_queued_there(congestion: Congestion) -> None:
    fabric = Fabric(parse_topology("torus:8"), routing="dimension-order", congestion=congestion)
    result = run_traffic(fabric, "tornado", 0.9, messages=3000)
    series = result.series
    # What is neither queued nor at its host is on a link, in a crossbar, or a message's first part.
    elsewhere = series.under_way - series.at_hosts - series.between_routers - series.to_hosts
    assert series.at_hosts[-1] > 3000
    assert abs(elsewhere).max() < 200
    most = result.channel.most_queued[result.kinds == "injection"]
    assert most.sum() == pytest.approx(series.at_hosts[-1], rel=0.05)


def test_the_same_seed_gives_the_same_run_with_any_number_of_workers() -> None:
    fabric = Fabric(parse_topology("dragonfly:9,4,2,2"), routing="ugal-l")
    loads = (0.2, 0.5)
    one = load_curve(fabric, "uniform", loads, seeds=(1, 2), messages=1000)
    many = load_curve(fabric, "uniform", loads, seeds=(1, 2), messages=1000, workers=3)
    assert [run.seed for run in many.runs] == [1, 2, 1, 2]
    for left, right in zip(one.runs, many.runs, strict=True):
        np.testing.assert_array_equal(left.latencies_s, right.latencies_s)
        np.testing.assert_array_equal(left.channel.busy_s, right.channel.busy_s)
    assert not np.array_equal(one.runs[0].latencies_s, one.runs[1].latencies_s)
    each = np.array([run.mean_latency_s for run in one.runs]).reshape(2, 2)
    assert one.num_runs.tolist() == [2, 2]
    np.testing.assert_array_equal(one.latency_ends_s, [each.min(axis=1), each.max(axis=1)])
    assert (one.latency_ends_s[0] < one.latency_ends_s[1]).all()
    (drawn, *_) = (r.data_source.data for r in one.plot().renderers if "said" in r.data_source.data)
    np.testing.assert_allclose(drawn["high"], one.latency_ends_s[1] * 1e6)
    other = run_traffic(
        Fabric(fabric.topology, routing=fabric.routes, seed=9),
        "uniform",
        0.2,
        messages=1000,
        seed=1,
    )
    assert not np.array_equal(other.latencies_s, one.runs[0].latencies_s)


def test_a_curve_rises_and_saturates() -> None:
    task = Task(lambda part: seen.append((task.progress.done, task.progress.total, len(part.runs))))
    seen = []
    curve = load_curve(
        Fabric(parse_topology("torus:16")),
        "uniform",
        [0.6, 0.1, 0.3],
        messages=4000,
        task=task,
    )
    assert curve.offered.tolist() == [0.1, 0.3, 0.6]
    assert curve.saturated.tolist() == [False, False, True]
    assert curve.saturation == 0.6
    latency = curve.mean_latency_s
    assert latency[0] < latency[1]
    assert np.isnan(latency[2])
    assert curve.latency_s(99)[1] > latency[1]
    assert curve.throughput == curve.accepted.max() < 0.56
    assert seen == [(1, 3, 1), (2, 3, 2), (3, 3, 3)]
    assert len(task.partial.runs) == 3
    assert "simulated" in repr(curve)
    frame = curve.to_frame()
    assert frame["load"].tolist() == [0.1, 0.3, 0.6]
    assert json.loads(json.dumps(curve.to_dict()))["saturation"] == 0.6
    assert curve.plot() is not None


def test_packet_flow_charges_the_last_packet_and_saturates_alike() -> None:
    fabric = Fabric(parse_topology("torus:4x4"), congestion="packet-flow")
    assert isinstance(fabric.ports, PISCES)
    flow = run_traffic(fabric, "uniform", 0.3, messages=3000)
    packet = run("torus:4x4", load=0.3, messages=3000)
    assert flow.mean_latency_s - packet.mean_latency_s == pytest.approx(PACKET_S, rel=0.1)
    assert flow.accepted == pytest.approx(packet.accepted, rel=0.02)


def test_tables_of_channels_and_routers() -> None:
    result = run("fat-tree:4", load=0.4, messages=2000)
    channels = result.to_frame()
    assert len(channels) == 2 * 32 + 2 * 16
    assert set(channels["kind"]) == {"intra-group", "inter-group", "ejection", "injection"}
    injected = channels[channels["kind"] == "injection"]
    assert injected["utilisation"].mean() == pytest.approx(result.offered, rel=0.05)
    routers = result.routers()
    assert routers["bytes"].sum() == channels["bytes"].sum() - injected["bytes"].sum()
    assert len(routers) == 20
    for name in ("utilisation", "stalled"):
        mean = np.average(routers[name], weights=routers["ports"])
        assert mean == pytest.approx(channels[channels["kind"] != "injection"][name].mean())
    assert "FabricResult(simulated: fat tree, k=4" in repr(result)
    assert "simulated" in result._repr_html_()


def test_a_link_is_as_busy_as_its_busier_direction() -> None:
    result = run("torus:8", "tornado", 0.2, routing="dimension-order", messages=1000)
    channels = result.to_frame().query("kind not in ('injection', 'ejection')")
    ends = channels[["source", "target"]].to_numpy()
    busier = channels.groupby([ends.min(axis=1), ends.max(axis=1)])["utilisation"].max()
    links = [tuple(sorted(pair)) for pair in result.fabric.topology.links.tolist()]
    assert result.link_utilisation.tolist() == [busier[pair] for pair in links]
    # Tornado goes one way round; the other way is idle.
    assert channels["utilisation"].min() == 0.0 < result.link_utilisation.min()


def test_every_statistic_is_there_as_plain_values() -> None:
    result = run("torus:8", "tornado", 0.36, messages=1000)
    found = json.loads(json.dumps(result.to_dict(tables=True)))
    assert found.items() >= result.figures().items()
    percentiles = found["latency_percentiles_us"]
    assert percentiles["99"] == result.figures()["p99_latency_us"]
    assert list(percentiles.values()) == sorted(percentiles.values())
    assert sum(found["hops"]) == result.delivered
    assert found["queues"] == result.queues().to_dict("list")
    assert found["queues"]["time_us"][-1] * 1e-6 > result.window_s
    assert found["channels"] == result.to_frame().to_dict("list")
    assert found["routers"]["packets"] == result.routers()["packets"].tolist()
    assert 0 < found["mean_stalled"] < found["max_stalled"] <= 1
    assert found["mean_stalled"] + found["mean_utilisation"] <= 1
    assert "channels" not in result.to_dict()


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    topology = parse_topology("dragonfly:9,4,2,2")
    routing = route(topology, "minimal", choice="least")
    fabric = Fabric(topology, SNAPPR(mtu=2048, variant="repaired"), routing, seed=5)
    result = run_traffic(fabric, "adversarial", 0.1, messages=500)
    path = result.save(tmp_path / "run.json")
    again = FabricResult.load(path)
    assert again.to_dict() == result.to_dict()
    assert again.fabric.topology == topology
    assert again.fabric.ports == fabric.ports
    assert again.fabric.routes.choice == "least"
    assert again.provenance == result.provenance
    for name in ("latencies_s", "hops", "received", "utilisation"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    np.testing.assert_array_equal(again.series.time_s, result.series.time_s)
    usual = run("torus:4", load=0.1, messages=200)
    assert FabricResult.load(usual.save(tmp_path / "usual.json")).fabric.routing_name


def test_what_is_no_saved_result_is_refused(tmp_path: Path) -> None:
    path = run("torus:4", load=0.1, messages=200).save(tmp_path / "run.json")
    text = path.read_text()
    for broken in (
        text[: len(text) // 2],
        text.replace("workbench FabricResult", "other"),
        text.replace('"version": 1', '"version": 3'),
        text.replace('"num_routers": 4', '"num_routers": 2000000000'),
        text.replace('"routing": "dimension-order"', '"routing": "none"'),
        text.replace('"generated": ', '"generate": '),
        "[]",
    ):
        path.write_text(broken)
        with pytest.raises(ParseError):
            FabricResult.load(path)
    path.write_text(text)
    trust_arrays(path)
    arrays = path.with_suffix(".npz")
    arrays.write_bytes(arrays.read_bytes()[:-200])
    with pytest.raises(ParseError, match=r"run\.npz"):
        FabricResult.load(path)


def test_a_run_can_be_stopped(stopped) -> None:
    fabric = Fabric(parse_topology("torus:4x4"))
    with pytest.raises(SimulationHalted):
        run_traffic(fabric, "uniform", 0.5, messages=10**6, task=stopped)
    with pytest.raises(SimulationHalted, match="before the first run"):
        load_curve(fabric, "uniform", [0.5], seeds=range(9000), messages=10**6, task=stopped)
    shares: list[float] = []
    run_traffic(
        fabric, "uniform", 0.5, messages=100, task=Task(lambda now: shares.append(now.fraction))
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_what_cannot_be_simulated_is_refused() -> None:
    fabric = Fabric(parse_topology("torus:4x4"))
    for options, match in (
        ({"load": 0.0}, "load must be above 0"),
        ({"load": 1.5}, "load must be above 0"),
        ({"pattern": "funny"}, "traffic pattern must be one of"),
        ({"process": "regular"}, "process must be one of"),
        ({"messages": 0}, "messages must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"samples": 0}, "samples must be a whole number of at least 1"),
        ({"message_bytes": 0}, "message_bytes must be a whole number of at least 1 B"),
        ({"message_bytes": 1.5}, "message_bytes must be a whole number of at least 1 B"),
        ({"measure_s": -1.0}, "measure_s must be above 0"),
        ({"measure_s": math.nan}, "simulated time must stay below"),
        ({"messages": 10**400}, "messages must be at most 1000000000000"),
        ({"load": 5e-324}, "must end before the clock does.*raise load"),
        ({"samples": 10**30}, "samples must be at most 1048576"),
    ):
        with pytest.raises(ParameterError, match=match):
            run_traffic(fabric, **options)
    with pytest.raises(ParameterError, match="must be of torus 4x4"):
        run_traffic(fabric, traffic(parse_topology("torus:4"), "uniform"))
    with pytest.raises(ParameterError, match="congestion must be one of"):
        Fabric(fabric.topology, congestion="fluid")  # type: ignore[arg-type]
    assert Fabric(fabric.topology, PISCES()).congestion == "packet-flow"
    with pytest.raises(ParameterError, match="needs a model that is SNAPPR"):
        Fabric(fabric.topology, PISCES(), congestion="packet")
    with pytest.raises(ParameterError, match="simulated as packets"):
        run_traffic(Fabric(fabric.topology, congestion="flow"))
    with pytest.raises(ParameterError, match="routing must be one of torus 4x4"):
        Fabric(fabric.topology, routing=route(parse_topology("torus:4")))
    with pytest.raises(ParameterError, match="at least one load"):
        load_curve(fabric, loads=[])
    for workers, match in ((0, "a whole number of at least 1"), (10**30, "at most")):
        with pytest.raises(ParameterError, match=f"workers must be {match}"):
            load_curve(fabric, workers=workers)
    with pytest.raises(ParameterError, match="at most 10000 runs; got 2 loads and more than"):
        load_curve(fabric, loads=[0.1, 0.2], seeds=range(10**30))
    with pytest.raises(ConfigurationError, match="must take some time to send"):
        run("torus:4x4", model=SNAPPR(injection_bandwidth=1e30))
    small = SNAPPR(switch_credits=8000, mtu=4096)
    with pytest.raises(ConfigurationError, match=r"4 lanes.*8000 B / 4 = 2000 B < mtu 4096 B"):
        run("torus:4x4", routing="valiant", model=small)


def test_nobody_who_sends() -> None:
    none = np.zeros(0, np.int32)
    topology = parse_topology("torus:4")
    with pytest.raises(ParameterError, match="needs a host that sends"):
        run_traffic(Fabric(topology), Traffic("silence", topology, none, none, np.zeros(0)))
    two = np.array([0, 0], np.int32)
    loud = Traffic("loud", topology, two, np.array([1, 2], np.int32), np.array([1.0, 1.0]))
    with pytest.raises(ParameterError, match="host 0 sends 2"):
        run_traffic(Fabric(topology), loud)
