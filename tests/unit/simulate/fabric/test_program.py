"""Programs on a fabric: closed forms, LogGPS where the models coincide, what is conserved."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.test_llamp import chains, graph_of, random_graph
from tests.unit.stored import trust_arrays
from workbench import topology
from workbench.errors import (
    ConfigurationError,
    ParameterError,
    ParseError,
    ProgramError,
    SimulationHalted,
)
from workbench.models import PISCES, SNAPPR, LogGPS
from workbench.models.parameter import INT32_MAX
from workbench.programs import generate, read_goal
from workbench.programs.collectives import schedule
from workbench.programs.graph import CALC, RECV, SEND
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.program import replay_on
from workbench.simulate.fabric.program_result import FabricReplay
from workbench.simulate.replay import replay
from workbench.tasks import Task
from workbench.topology import parse_topology

NS = 10**7
TICKS_PER_PS = 10**4
BYTE = 10**6
LATENCY = 11 * 10**9
"""Of a star: injection 500 ns, two links of 100 ns, ejection 400 ns."""

MODEL = SNAPPR(injection_bandwidth=1e10, link_bandwidth=1e10, variant="repaired")
PORTS = {
    "flow": MODEL,
    "packet": MODEL.replace(nic_bandwidth=1e10),
    "packet-flow": PISCES(
        injection_bandwidth=1e10, link_bandwidth=1e10, xbar_bandwidth=1e13, negligible_size=2
    ),
}
CONGESTIONS = tuple(PORTS)


def star(n=4, congestion="flow", **changes):
    return Fabric(topology.star(n), PORTS[congestion].replace(**changes), congestion=congestion)


def hosts_cost(o=0.0, O=0.0, S=INT32_MAX):  # noqa: E741 - the field's letter
    return LogGPS(L=0, o=o, g=0, G=0, O=O, S=S)


def message(size):
    return chains([(SEND, size)], [(RECV, size)])


@for_each("size", [0, 1, 100, 4096, 1_000_000])
def test_a_fluid_message_takes_its_latency_and_its_bytes(size) -> None:
    run = replay_on(message(size), star(), host=hosts_cost(o=1e-6), times=True)
    assert run.arrived_ticks is not None
    assert run.arrived_ticks[0] == 1000 * NS + LATENCY + size * BYTE
    assert run.finish_ticks.tolist() == [1000 * NS, 2000 * NS + LATENCY + size * BYTE]


@for_each("size", [1, 100, 4096, 9_000, 1_000_000])
def test_packets_without_traffic_take_as_long_as_fluid(size) -> None:
    """With whole last packets SNAPPR streams at full bandwidth, as credits suffice."""
    assert replay_on(message(size), star(congestion="packet")).makespan_s == pytest.approx(
        (LATENCY + size * BYTE) / 1e16, rel=1e-15
    )


def test_packets_that_flow_take_as_long_as_fluid_but_for_cut_byte_delays() -> None:
    """PISCES's cut-through counts whole ticks for each byte and stage: 2 % of a packet at most."""
    run = replay_on(message(1_000_000), star(congestion="packet-flow"))
    assert run.makespan_s == pytest.approx((LATENCY + 1_000_000 * BYTE) / 1e16, rel=1e-3)


def test_snappr_as_sstmacro_has_it_does_not_charge_the_last_packet() -> None:
    fabric = star(congestion="packet", variant="sstmacro")
    assert replay_on(message(4096), fabric).finish_ticks.tolist() == [0, LATENCY]


@for_each("in_turn", [True, False])
def test_two_messages_of_a_host_take_turns_or_share(in_turn) -> None:
    """Sizes s and 3 s; in turn the second waits, shared the first has half the bandwidth."""
    graph = graph_of(
        [[(SEND, 1000, 1, 0), (SEND, 3000, 2, 0)], [(RECV, 1000, 0, 0)], [(RECV, 3000, 0, 0)]], []
    )
    run = replay_on(graph, star(), in_turn=in_turn)
    first = 1000 if in_turn else 2000
    assert run.finish_ticks.tolist() == [0, LATENCY + first * BYTE, LATENCY + 4000 * BYTE]


def test_messages_to_one_host_share_its_link() -> None:
    graph = graph_of(
        [[(RECV, 500, 1, 0), (RECV, 1500, 2, 0)], [(SEND, 500, 0, 0)], [(SEND, 1500, 0, 0)]], []
    )
    run = replay_on(graph, star(), times=True)
    assert run.end_ticks is not None
    assert run.end_ticks[:2].tolist() == [LATENCY + 1000 * BYTE, LATENCY + 2000 * BYTE]


def test_a_large_message_waits_for_its_receiver() -> None:
    """Header, request, bytes, acknowledgement; the receive is posted at 9 µs."""
    graph = chains([(SEND, 500)], [(CALC, 9000), (RECV, 500)])
    o = 1000 * NS
    run = replay_on(graph, star(), host=hosts_cost(o=1e-6, S=499), times=True)
    assert run.end_ticks is not None
    received = 9000 * NS + o + LATENCY + 500 * BYTE + LATENCY + o
    assert run.end_ticks.tolist() == [received + LATENCY + o, 9000 * NS, received]


def test_a_send_above_S_ends_as_in_LLAMP() -> None:
    """Its send ends m + 3 o + 3 L + s G; LLAMP's receive ends one L later than here."""
    graph = chains([(SEND, 500)], [(CALC, 9000), (RECV, 500)])
    run = replay_on(graph, star(), host=hosts_cost(o=1e-6, S=499))
    L = LATENCY / 1e16
    model = LogGPS(L=L, o=1e-6, g=0, G=BYTE / 1e16, O=0, S=499)
    llamp = replay(graph, model, semantics="llamp")
    assert run.finish_ticks[0] == llamp.finish_ps[0] * TICKS_PER_PS + BYTE


def uncontended(seed):
    """Return a program in which a token goes round: no two operations are under way at once."""
    rng = np.random.default_rng(seed)
    ops = [[], [], [], []]
    at = 0
    for number in range(int(rng.integers(1, 20))):
        ops[at].append((CALC, int(rng.integers(0, 5000)), 0, 0))
        to = int((at + rng.integers(1, 4)) % 4)
        size = int(rng.integers(1, 100_000))
        ops[at].append((SEND, size, to, number))
        ops[to].append((RECV, size, at, number))
        at = to
    lines = [(rank, i, i - 1) for rank, own in enumerate(ops) for i in range(1, len(own))]
    return graph_of(ops, lines)


@examples(5)
@given(st.integers(0, 2**32 - 1))
def test_without_contention_an_eager_program_ends_as_LogGPS_says(seed) -> None:
    graph = uncontended(seed)
    run = replay_on(graph, star(), host=hosts_cost(o=1.5e-6))
    # A fluid message of s bytes takes s G, LogGPS's (s - 1) G: L has the byte that lacks.
    model = LogGPS(L=(LATENCY + BYTE) / 1e16, o=1.5e-6, g=0, G=BYTE / 1e16, O=0, S=INT32_MAX)
    llamp = replay(graph, model, semantics="llamp")
    assert run.finish_ticks.tolist() == (llamp.finish_ps * TICKS_PER_PS).tolist()


@examples(5)
@given(st.integers(0, 2**32 - 1))
def test_packets_end_an_uncontended_program_at_the_same_tick(seed) -> None:
    graph = uncontended(seed)
    fluid = replay_on(graph, star(), host=hosts_cost(o=1.5e-6))
    packets = replay_on(graph, star(congestion="packet"), host=hosts_cost(o=1.5e-6))
    assert packets.finish_ticks.tolist() == fluid.finish_ticks.tolist()


@examples(5)
@given(st.integers(0, 2**32 - 1))
def test_nothing_ends_before_it_would_with_the_network_to_itself(seed) -> None:
    """LLAMP's times, without contention, bound those of fluid from below."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5, 25)
    model = LogGPS(L=(LATENCY) / 1e16, o=1e-6, g=0, G=BYTE / 1e16, O=0, S=INT32_MAX)
    alone = replay(graph, model, semantics="llamp")
    hosts = rng.permutation(8)[:5]
    shared = replay_on(graph, star(8), host=model, placement=hosts)
    to_itself = graph.peer[graph.kind == SEND] == graph.rank_of(np.flatnonzero(graph.kind == SEND))
    if not to_itself.any():
        assert (shared.finish_ticks >= alone.finish_ps * TICKS_PER_PS).all()


@for_each("congestion", CONGESTIONS)
@for_each("spec", ["torus:3,3", "dragonfly:5,2,2", "fat-tree:4"])
def test_every_byte_is_carried_from_host_to_host(congestion, spec) -> None:
    fabric = Fabric(parse_topology(spec), PORTS[congestion], congestion=congestion)
    graph = generate.cg(9, iterations=1).graph()
    run = replay_on(graph, fabric, placement="round-robin")
    numbered = run.channels
    sends = graph.kind == SEND
    out = np.zeros(fabric.topology.num_hosts, np.int64)
    into = out.copy()
    np.add.at(out, run.hosts[graph.rank_of(np.flatnonzero(sends))], graph.size[sends])
    np.add.at(into, run.hosts[graph.peer[sends]], graph.size[sends])
    assert run.channel_bytes[numbered.injection].tolist() == out.tolist()
    assert run.channel_bytes[numbered.ejection].tolist() == into.tolist()
    between = run.channel_bytes[: numbered.between_routers]
    routers = fabric.topology.host_router[run.hosts]
    hops = fabric.routes.minimal.hops[
        routers[graph.rank_of(np.flatnonzero(sends))],
        fabric.routes.minimal.column[routers[graph.peer[sends]]],
    ]
    assert between.sum() == (hops * graph.size[sends]).sum()
    assert 0 < run.utilisation.max() <= 1
    assert len(run.link_utilisation) == fabric.topology.num_links


@for_each("congestion", CONGESTIONS)
def test_a_run_can_be_repeated(congestion) -> None:
    fabric = Fabric(parse_topology("dragonfly:5,2,2"), PORTS[congestion], "valiant", seed=3)
    one, other = (replay_on(generate.halo(16, iterations=1), fabric, times=True) for _ in range(2))
    assert np.array_equal(one.finish_ticks, other.finish_ticks)
    assert np.array_equal(one.arrived_ticks, other.arrived_ticks)


@for_each("congestion", CONGESTIONS)
def test_ranks_of_one_host_need_no_network(congestion) -> None:
    run = replay_on(
        message(10**6), star(congestion=congestion), ranks_per_host=2, host=hosts_cost(o=1e-6)
    )
    assert run.finish_ticks.tolist() == [1000 * NS, 2000 * NS]
    assert not run.channel_bytes.any()


def test_a_core_does_one_thing_at_a_time() -> None:
    """Two messages are there at once; the second waits for the core."""
    graph = graph_of([[(RECV, 8, 1, 0), (RECV, 8, 2, 0)], [(SEND, 8, 0, 0)], [(SEND, 8, 0, 0)]], [])
    run = replay_on(graph, star(), host=hosts_cost(o=1e-6))
    assert run.finish_ticks[0] == 3000 * NS + LATENCY + 16 * BYTE


def test_wildcards_meet_as_in_a_replay() -> None:
    goal = "num_ranks 3\nrank 0 {\nrecv 8b from -1\nrecv 8b from -1\n}\n"
    goal += "rank 1 {\ncalc 5000\nl: send 8b to 0\n}\nrank 2 {\nsend 8b to 0\n}\n"
    run = replay_on(read_goal(goal), star(), times=True)
    assert run.end_ticks is not None
    assert (run.end_ticks >= 0).all()


@for_each("congestion", CONGESTIONS)
def test_what_waits_for_ever_is_reported_as_in_a_replay(congestion) -> None:
    both_wait = chains([(RECV, 8), (SEND, 8)], [(RECV, 8), (SEND, 8)])
    with pytest.raises(ProgramError, match="wait for one another in a circle"):
        replay_on(both_wait, star(congestion=congestion))
    with pytest.raises(ProgramError, match="every send must have its receive"):
        replay_on(chains([(SEND, 8)], [(CALC, 8)]), star(congestion=congestion))


def test_a_program_beyond_the_clock_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="where the clock ends"):
        replay_on(chains([(CALC, 300 * 10**9)], [(CALC, 1)]), star())
    side_by_side = graph_of([[(CALC, 10**11, 0, 0)] * 3, []], [])
    with pytest.raises(ConfigurationError, match="where the clock ends"):
        replay_on(side_by_side, star())


@for_each("congestion", CONGESTIONS)
def test_a_stop_ends_the_run(congestion, stopped) -> None:
    graph = generate.halo(16, iterations=200).graph()
    fabric = Fabric(parse_topology("torus:4,4"), PORTS[congestion], congestion=congestion)
    with pytest.raises(SimulationHalted):
        replay_on(graph, fabric, task=stopped)


@for_each("congestion", CONGESTIONS)
def test_a_run_counts_its_operations(congestion) -> None:
    graph, task = generate.halo(16, iterations=2).graph(), Task()
    replay_on(graph, Fabric(parse_topology("torus:4,4"), congestion=congestion), task=task)
    assert task.progress.done == task.progress.total == graph.num_ops


def test_coarse_sharing_is_near_the_exact_one() -> None:
    graph = generate.halo(27, iterations=2, jitter=0.2, rng=1).graph()
    fabric = Fabric(parse_topology("torus:3,3,3"), MODEL, congestion="flow")
    exact, coarse = (replay_on(graph, fabric, resolution_ns=ns) for ns in (0, 20))
    assert coarse.makespan_s == pytest.approx(exact.makespan_s, rel=0.01)
    assert not np.array_equal(coarse.finish_ticks, exact.finish_ticks)
    with pytest.raises(ParameterError, match="resolution_ns"):
        replay_on(graph, fabric, resolution_ns=-1)


def test_a_note_says_where_flows_may_be_far_from_packets() -> None:
    """Without a shared channel they end with the packets' last byte; with one they may not."""
    topology = parse_topology("torus:4,4,4")
    packets = Fabric(topology, Fabric(topology).ports.replace(variant="repaired"))
    flows = Fabric(topology, congestion="flow")
    alone = schedule("allgather", "ring", 64, size=16_384).graph()
    run = replay_on(alone, flows)
    assert run.notes == ()
    assert run.makespan_s == pytest.approx(replay_on(alone, packets).makespan_s, rel=1e-3)
    exchange = schedule("alltoall", "pairwise", 64, size=16_384).graph()
    run = replay_on(exchange, flows)
    assert run.makespan_s < 0.8 * replay_on(exchange, packets).makespan_s
    (note,) = run.notes
    assert note.startswith("up to 2 fluid messages shared a channel")
    assert run.to_dict()["notes"] == [note]
    assert note in run._repr_html_()
    assert replay_on(exchange, packets).notes == ()


def test_the_result_says_what_it_is() -> None:
    run = replay_on(generate.cg(4, iterations=1), star(), times=True)
    assert repr(run).startswith("FabricReplay(cg 2×2, 4 ranks, simulated: topology star")
    assert "simulated" in repr(run)
    assert ">simulated" in run._repr_html_()
    frame = run.to_frame()
    assert frame["finish_ns"].max() == run.makespan_s * 1e9
    channels = run.channel_frame()
    assert channels["bytes"].is_monotonic_decreasing
    assert len(run.message_frame()) == (run.graph.kind == SEND).sum()
    assert run.to_dict()["busiest_channel"]["bytes"] == channels["bytes"][0]
    with pytest.raises(ParameterError, match="times=True"):
        replay_on(generate.cg(4, iterations=1), star()).message_frame()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="need 5 hosts"):
        replay_on(graph_of([[(CALC, 1, 0, 0)]] * 5, []), star(4))
    adaptive = Fabric(parse_topology("dragonfly:5,2,2"), MODEL, "ugal-l", congestion="flow")
    with pytest.raises(ParameterError, match="depends on queues"):
        replay_on(message(8), adaptive, placement=[0, 9])


@for_each("times", [True, False])
def test_a_run_comes_back_from_its_files(tmp_path, times) -> None:
    fabric = Fabric(parse_topology("dragonfly:5,2,2"), MODEL, "valiant", "flow", seed=3)
    run = replay_on(generate.cg(4, iterations=1), fabric, host=hosts_cost(o=1e-6), times=times)
    same = FabricReplay.load(run.save(tmp_path / "run.json"))
    assert same.graph == run.graph
    assert same.fabric.topology == fabric.topology
    assert repr(same) == repr(run)
    assert same.host == run.host
    assert same.provenance == run.provenance
    assert same.to_dict() == run.to_dict()
    again = replay_on(same.graph, same.fabric, host=same.host, placement=same.hosts, times=times)
    assert np.array_equal(again.finish_ticks, run.finish_ticks)
    for name in ("start_ticks", "end_ticks", "arrived_ticks"):
        assert (getattr(same, name) is not None) == times
        assert np.array_equal(getattr(same, name), getattr(run, name))


def test_lines_of_the_programs_file_come_back_too(tmp_path) -> None:
    goal = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1\nb requires a\n}\n"
    program = read_goal(goal + "rank 1 {\nrecv 8b from 0\n}\n")
    assert program.line is not None
    run = replay_on(program, star(), placement=[0, 1], times=True)
    same = FabricReplay.load(run.save(tmp_path / "run.json"))
    np.testing.assert_array_equal(same.graph.line, program.line)


def test_files_that_are_no_run_are_refused(tmp_path) -> None:
    path = replay_on(message(8), star()).save(tmp_path / "run.json")
    arrays = path.with_suffix(".npz")
    whole = arrays.read_bytes()
    arrays.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ParseError, match="as it was saved"):
        FabricReplay.load(path)
    trust_arrays(path)
    with np.load(io.BytesIO(whole)) as file:
        kept = {name: file[name] for name in file.files if name != "finish_ticks"}
    np.savez(arrays, **kept, finish_ticks=np.zeros(7, np.int64))
    with pytest.raises(ParseError, match=r"finish_ticks must be int64\[2\]"):
        FabricReplay.load(path)
    path.write_text("{}")
    with pytest.raises(ParseError, match="a saved FabricReplay"):
        FabricReplay.load(path)
