"""A posterior carried on: exactly the plain calls, draw by draw, with intervals and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bokeh.models import Div, LayoutDOM

from tests.cases import for_each
from tests.unit.uq.fits import as_fitted, fitted
from tests.unit.uq.simulators import FloatArray
from workbench import tasks
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import SNAPPR, LogGPS, LogP, Protocol
from workbench.programs.collectives import schedule
from workbench.simulate import replay
from workbench.simulate.fabric import Fabric, replay_on
from workbench.tolerance import Sweep, analyse, analyse_wires
from workbench.topology import parse_topology
from workbench.uq import (
    FitPosterior,
    LogGPSPosterior,
    Parameter,
    ParameterBox,
    PushedComparison,
    PushedCrossover,
    PushedCurves,
    PushedForward,
    Replicas,
    calibrate,
    design,
    fit_surrogate,
    posterior_of_fit,
)
from workbench.uq.carry.crossover import crossing_of
from workbench.uq.carry.draws import each_draw

PROGRAM = schedule("allreduce", "rabenseifner", 8, size=20_000).graph()
SIZES = [256, 4096, 65536, 1 << 20, 1 << 24]
QUESTIONS: dict[str, Callable[[FitPosterior], Any]] = {
    "makespan": lambda one: one.makespan(PROGRAM),
    "tolerance": lambda one: one.tolerance(PROGRAM),
    "curve": lambda one: one.latency_curve(PROGRAM, points=5),
    "compare": lambda one: one.compare(PROGRAM, "torus:2,2,2", "fat-tree:4"),
    "crossover": lambda one: one.crossover(
        "allreduce", "ring", "recursive-doubling", nodes=8, sizes=SIZES, draws=5
    ),
}


@pytest.fixture(scope="module")
def posterior() -> FitPosterior:
    keys = ("eager.latency", "eager.bandwidth", "eager.overhead")
    return posterior_of_fit(
        fitted(Protocol(), keys, 2), noise="relative", draws=60, chain_draws=400
    )


@pytest.fixture(scope="module")
def machine(posterior: FitPosterior) -> LogGPS:
    assert isinstance(posterior.result.model, Protocol)
    return LogGPS.from_protocol(posterior.result.model)


def words(layout: LayoutDOM) -> str:
    return " ".join(div.text for div in layout.select({"type": Div}))


def test_one_point_gives_what_the_plain_calls_give(
    posterior: FitPosterior, machine: LogGPS
) -> None:
    one = as_fitted(posterior)
    plain = analyse(PROGRAM, machine, contention=False)
    run_time = one.makespan(PROGRAM, draws=3)
    assert run_time.values.tolist() == [[replay(PROGRAM, machine).makespan_s]] * 3
    assert run_time.fitted.tolist() == run_time.values[0].tolist()
    tolerated = one.tolerance(PROGRAM, draws=2)
    assert tolerated.values.tolist() == [[machine.L, *plain.tolerance.values()]] * 2
    assert tolerated.names == ("base L", "1 % slower", "2 % slower", "5 % slower")
    curve = one.latency_curve(PROGRAM, plain.interval, points=7, draws=2)
    np.testing.assert_allclose(curve.of("T")[0], plain.T_of(curve.x), rtol=1e-12)  # whole ps
    np.testing.assert_array_equal(curve.of("T")[0], curve.of("T")[1])
    assert curve.of("λ_L")[0, 0] == plain.lambda_L
    networks = [parse_topology(spec) for spec in ("torus:2,2,2", "fat-tree:4")]
    compared = one.compare(PROGRAM, *networks, draws=2)
    expected = [analyse_wires(PROGRAM, machine, network).T for network in networks]
    assert compared.values.tolist() == [expected] * 2
    assert compared.names == tuple(network.name for network in networks)


def test_draws_are_those_of_the_posterior_and_the_same_for_every_question(
    posterior: FitPosterior,
) -> None:
    machines = [LogGPS.from_protocol(model) for model in posterior.models(20, seed=4)]
    tolerated = posterior.tolerance(PROGRAM, draws=20, seed=4)
    assert tolerated.of("base L").tolist() == [one.L for one in machines]
    run_times = posterior.makespan(PROGRAM, draws=20, seed=4).of("run time")
    assert run_times.tolist() == [replay(PROGRAM, one).makespan_s for one in machines]
    rendezvous = posterior.tolerance(PROGRAM, draws=20, seed=4, regime="rendezvous")
    assert rendezvous.of("base L").tolist() == [one.L for one in machines]
    assert rendezvous.of("5 % slower").tolist() != tolerated.of("5 % slower").tolist()


def test_bands_of_the_curve_hold_the_curve_of_the_median_draw(posterior: FitPosterior) -> None:
    found = posterior.latency_curve(PROGRAM, points=9, draws=31)
    middle = found.of("T")[:, 4]
    draw = int(np.argsort(middle)[15])
    model = posterior.models(31)[draw]
    plain = Sweep(PROGRAM, LogGPS.from_protocol(model)).curve(found.x)
    np.testing.assert_array_equal(found.of("T")[draw], plain.T)
    frame = found.to_frame([0.9])
    band = frame[frame["curve"] == "T"]
    assert ((band["low"] <= plain.T) & (plain.T <= band["high"])).all()
    assert (band["low"] < band["high"]).all()
    assert list(frame.columns[:3]) == ["curve", "unit", "latency L (s)"]


def test_tolerance_of_one_message_has_a_closed_form(posterior: FitPosterior) -> None:
    size = 1000
    message = schedule("bcast", "binomial", 2, size=size).graph()
    found = posterior.tolerance(message, (1, 10), draws=25)
    for model, row in zip(posterior.models(25), found.values, strict=True):
        one = LogGPS.from_protocol(model)
        whole = 2 * one.o + one.L + (size - 1) * one.G
        for percent, largest in zip((1, 10), row[1:], strict=True):
            assert abs(largest - (one.L + percent / 100 * whole)) < 4e-12  # three roundings to 1 ps


def test_a_network_that_is_always_faster_has_probability_one_and_ties_are_said(
    posterior: FitPosterior,
) -> None:
    torus, tree = parse_topology("torus:2,2,2"), parse_topology("fat-tree:4")
    found = posterior.compare(PROGRAM, torus, tree, draws=20)
    assert found.probabilities == {torus.name: 1.0, tree.name: 0.0}
    assert found.verdict == f"{torus.name} is faster with probability 1.00"
    assert found.probability_below(torus.name, tree.name) == 1.0
    same = posterior.compare(PROGRAM, torus, "torus:2,2,2", draws=20)
    assert same.tied == 1.0
    assert set(same.probabilities.values()) == {0.5}
    names = " and ".join(same.names)
    assert len(set(same.names)) == 2
    assert same.verdict == f"{names} tie as the fastest in every draw"
    assert "tie as the fastest" in words(same.plot())
    mixed = PushedComparison(("a", "b"), np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0], [1.0, 2.0]]))
    assert mixed.probabilities == {"a": 0.625, "b": 0.375}
    assert mixed.verdict == "a is faster with probability 0.62; 25 % of the draws are ties"


@for_each("congestion", ["packet", "packet-flow", "flow"])
def test_fabrics_are_simulated_with_the_drawn_hosts_and_bandwidths(
    posterior: FitPosterior, machine: LogGPS, congestion: Any
) -> None:
    fabrics = [
        Fabric(parse_topology(spec), congestion=congestion) for spec in ("torus:2,4", "fat-tree:4")
    ]
    found = as_fitted(posterior).compare(PROGRAM, *fabrics, draws=1)
    for fabric, time in zip(fabrics, found.values[0], strict=True):
        rate = 1 / machine.G
        ports = fabric.ports.replace(link_bandwidth=rate, injection_bandwidth=rate)
        if congestion != "packet-flow":  # PISCES has no such rate
            ports = ports.replace(nic_bandwidth=rate)
        plain = replay_on(PROGRAM, replace(fabric, model=ports), host=machine)
        assert time == plain.makespan_s
    known = Fabric(parse_topology("torus:2,4"), SNAPPR(), congestion="packet")
    given = as_fitted(posterior).compare(PROGRAM, known, fabrics[1], draws=1)
    assert given.values[0, 0] == replay_on(PROGRAM, known, host=machine).makespan_s
    assert given.names == (known.topology.name, fabrics[1].topology.name)
    assert given.origin is not None and f"{congestion}" in given.origin.provenance.title
    one, other = (Fabric(known.topology, routing=name) for name in ("dimension-order", "valiant"))
    twice = as_fitted(posterior).compare(PROGRAM, one, other, draws=1)
    assert [name.partition(", ")[2] for name in twice.names] == [
        "dimension-order routing",
        "valiant routing",
    ]


def test_a_fit_of_snappr_is_the_model_of_all_ports(posterior: FitPosterior) -> None:
    key = "switch.link.bandwidth"
    model = SNAPPR().with_values({key: 1.1 * float(SNAPPR().get(key))})
    one = replace(
        as_fitted(posterior),
        result=fitted(model, (key,), 1),
        keys=(key,),
        values=np.array([[float(model.get(key))]]),
    )
    networks = [parse_topology(spec) for spec in ("torus:4,2", "fat-tree:4")]
    found = one.compare(PROGRAM, *networks, draws=1)
    for network, time in zip(networks, found.values[0], strict=True):
        lanes = Fabric(network).routes.lanes
        ports = model.replace(switch_credits=model.switch_credits * lanes)
        assert time == replay_on(PROGRAM, Fabric(network, ports)).makespan_s


def test_a_crossover_is_exact_to_the_byte(posterior: FitPosterior) -> None:
    names = "rabenseifner", "recursive-doubling"
    found = posterior.crossover("allreduce", *names, nodes=8, sizes=SIZES, draws=4)
    assert found.crosses == 1.0
    assert found.above == "rabenseifner"
    for model, size in zip(posterior.models(4), found.crossing, strict=True):
        one = LogGPS.from_protocol(model)
        for at, faster in ((int(size) - 1, False), (int(size), True)):
            times = [
                replay(schedule("allreduce", name, 8, size=at).graph(), one).makespan_s
                for name in names
            ]
            assert (times[0] < times[1]) == faster
    assert f"{found.above} beats recursive-doubling from" in found.verdict
    low, high = found.to_frame([0.9]).loc[0, ["low (B)", "high (B)"]]
    assert low <= np.median(found.crossing) <= high
    assert found.probability_faster([low - 1e4, high + 1e4]).tolist() == [0.0, 1.0]


def test_an_order_that_never_or_often_changes_is_said(posterior: FitPosterior) -> None:
    sizes = list(range(1, 101, 9))
    assert np.isnan(crossing_of(lambda size: (1.0, 2.0), sizes)[1])
    assert np.isnan(crossing_of(lambda size: (1.0, 1.0), sizes)[1])
    for border in (2, 37, 50, 99):
        kinked = crossing_of(lambda n, at=border: (5.0 if n < at else 1.0 - n, 2.0), sizes)
        assert kinked[1:] == (border, False)
        straight = crossing_of(lambda n, at=border: (float(at), n + 0.5), sizes)
        assert straight[1:] == (border, False)
    waves = crossing_of(lambda n: (np.sin(n / 10), 0.0), sizes)
    assert waves[1:] == (95, True)  # 30 pi is 94.2
    same = posterior.crossover("allreduce", "ring", "ring", nodes=4, sizes=[64, 4096], draws=2)
    assert same.verdict.startswith("tied: both take the same time at every size")
    apart = posterior.crossover("bcast", "binomial", "linear", nodes=8, sizes=[64, 4096], draws=2)
    assert apart.verdict.startswith("linear beats binomial in every draw")
    assert apart.crosses == 0.0
    assert np.isnan(apart.to_frame()["median (B)"]).all()


@for_each("question", QUESTIONS)
def test_each_answer_is_a_result_with_its_verdict(
    posterior: FitPosterior, question: str, tmp_path: Path
) -> None:
    found = QUESTIONS[question](replace(posterior, weights=np.eye(60)[0]))
    assert isinstance(found, PushedForward | PushedCurves | PushedCrossover)
    origin = found.times.origin if isinstance(found, PushedCrossover) else found.origin
    assert origin is not None
    assert not origin.trusted
    assert "the 60 draws are worth 1" in repr(found)
    text = words(found.plot())
    assert "intervals are rough" in text
    assert "draws are worth 1" in text.replace("The", "the")
    assert "simulated: " in text
    assert "made up" not in text and "a model with noise (synthetic)" in text
    assert origin.python.startswith("posterior.")
    again = type(found).load(found.save(tmp_path / "found.json"))
    assert again.to_json() == found.to_json()
    assert len(found.to_frame()) > 0
    assert "<table" in found._repr_html_()


def test_the_line_of_python_gives_the_result_again(posterior: FitPosterior) -> None:
    found = posterior.compare("cg-8", "torus:2,2,2", "fat-tree:4", draws=5, l_wire_s=1e-6)
    assert found.origin is not None
    again = eval(found.origin.python, {"posterior": posterior})
    assert again.to_json() == found.to_json()
    crossed = posterior.crossover(
        "allreduce", "ring", "rabenseifner", nodes=4, sizes=[64, 4096], draws=2, seed=3
    )
    again = eval(crossed.times.origin.python, {"posterior": posterior})
    assert again.to_json() == crossed.to_json()


def test_chains_that_have_not_converged_are_said(posterior: FitPosterior) -> None:
    few = {
        name: getattr(posterior.posterior, name)[:, :4]
        for name in ("parameters", "hyper", "log_posterior", "times")
    }
    found = replace(posterior, posterior=replace(posterior.posterior, **few))
    answer = found.makespan(PROGRAM, draws=3)
    assert "not converged: there are 4 draws of each chain" in repr(answer)
    assert "Not converged: there are 4 draws of each chain" in words(answer.plot())
    assert "Not converged" in words(found.plot())


def test_the_curves_of_a_posterior_are_drawn_as_bands(posterior: FitPosterior) -> None:
    text = words(posterior.plot())
    assert "OSU curves that the posterior allows" in text
    assert "90 % intervals of the model&#x27;s curve hold" in text
    assert "one more measurement hold 2" in words(posterior.plot(noise=True))


def test_a_stop_keeps_the_draws_so_far(
    posterior: FitPosterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = posterior.makespan(PROGRAM, draws=50)
    seen, calls = [], []
    task = tasks.Task(lambda now: seen.append((now.done, now.total)))

    def stopping(*given: Any, **options: Any) -> Any:
        calls.append(given)
        if len(calls) == 4:
            task.stop()
        return replay(*given) if len(calls) < 4 else replay(*given, **options)

    monkeypatch.setattr(tasks, "cores", lambda: 1)
    monkeypatch.setattr("workbench.uq.carry.program.replay", stopping)
    found = posterior.makespan(PROGRAM, draws=50, task=task)
    assert len(calls) == 4
    # A replay as short as the last one may end before it sees the stop.
    assert found.values.tolist() == whole.values[: len(found.values)].tolist()
    assert len(found.values) in (2, 3)
    assert seen[:2] == [(0, 50), (1, 50)]
    for question in (posterior.makespan, posterior.tolerance, posterior.latency_curve):
        with pytest.raises(tasks.JobError, match="before the first draw"):
            question("cg-8", task=task)


def test_results_after_a_draw_that_was_stopped_are_left_out() -> None:
    def halted_in_the_third(model: int) -> int:
        if model == 2:
            raise SimulationHalted("stopped")
        return 10 * model

    assert each_draw(halted_in_the_third, 0, (1, 2, 3), tasks.Task()) == (0, [10])
    with pytest.raises(tasks.JobError, match="before the first draw"):
        each_draw(halted_in_the_third, 2, (1, 3), tasks.Task())


def test_questions_that_cannot_be_asked_are_refused(posterior: FitPosterior) -> None:
    key = "switch.out_in_latency"
    other = replace(posterior, result=fitted(LogP(), (key,), 1), keys=(key,))
    other = replace(as_fitted(posterior), result=other.result, keys=(key,), values=np.ones((1, 1)))
    with pytest.raises(ParameterError, match="a fit of protocol has; got a fit of LogP"):
        other.makespan(PROGRAM)
    with pytest.raises(ParameterError, match="two networks"):
        posterior.compare(PROGRAM, "torus:2,2,2")
    with pytest.raises(ParameterError, match="two or more that ascend"):
        posterior.crossover("allreduce", "ring", "rabenseifner", nodes=4, sizes=[64, 8])
    with pytest.raises(ParameterError, match="ring"):
        posterior.crossover("allreduce", "rings", "rabenseifner", nodes=4)
    with pytest.raises(ParameterError, match="ascend from at least 0 s"):
        posterior.latency_curve(PROGRAM, (2e-6, 1e-6))
    with pytest.raises(ParameterError, match="the curve must be one of T, λ_L"):
        posterior.latency_curve(PROGRAM, points=2, draws=1).of("L")


def test_a_posterior_of_loggps_parameters_is_carried_on_too(tmp_path: Path) -> None:
    model = LogGPS(L=2e-6, o=3e-7, g=3e-7, G=4e-11, O=1e-11, S=65536)
    box = ParameterBox(
        [
            Parameter("L", "s", 1e-6, 4e-6),
            Parameter("G", "s/B", 1e-11, 1e-10),
        ]
    )
    sizes = (1000, 60_000)
    graphs = [schedule("bcast", "binomial", 2, size=size).graph() for size in sizes]

    def simulate(values: FloatArray) -> FloatArray:
        machines = [model.replace(L=float(L), G=float(G)) for L, G in values]
        return np.array([[replay(graph, one).makespan_s for graph in graphs] for one in machines])

    points = design(box, 40)
    surrogate = fit_surrogate(box, points, simulate(points))
    rng = np.random.default_rng(0)
    true = simulate(np.array([[2e-6, 4e-11]]))[0]
    replicas = Replicas.of([t * np.exp(0.02 * rng.standard_normal(8)) for t in true])
    chains = calibrate(surrogate, replicas, noise="relative", draws=600, burn_in=600)
    posterior = LogGPSPosterior(chains, model, "two messages, synthetic")
    found = posterior.makespan(graphs[0], draws=40)
    low, high = found.to_frame([0.99]).loc[0, ["low (s)", "high (s)"]]
    assert low < true[0] < high < 1.2 * low
    assert found.of("run time").tolist() == [
        replay(graphs[0], one).makespan_s for one in posterior.machines(40)
    ]
    assert {(one.o, one.S) for one in posterior.machines(3)} == {(model.o, model.S)}
    best = simulate(np.array([[posterior.machine().L, posterior.machine().G]]))[0, 0]
    assert found.fitted.tolist() == [best]
    assert found.origin.provenance.title.endswith("calibration to two messages, synthetic")
    assert posterior.compare(PROGRAM, "torus:2,2,2", "fat-tree:4", draws=3).values.shape == (3, 2)
    assert posterior.tolerance(graphs[0], draws=3).names[0] == "base L"
    fabrics = [Fabric(parse_topology(spec)) for spec in ("torus:2,2,2", "fat-tree:4")]
    without = LogGPSPosterior(
        replace(chains, box=ParameterBox([box.parameters[0], replace(box.parameters[1], key="g")])),
        model.replace(G=0.0),
        "x",
    )
    with pytest.raises(ParameterError, match="G must be above 0"):
        without.compare(PROGRAM, *fabrics, draws=2)
    again = LogGPSPosterior.load(posterior.save(tmp_path / "posterior.json"))
    assert again.machines(3) == posterior.machines(3)
    assert "LogGPSPosterior(L, G by two messages, synthetic; " in repr(again)
    other = ParameterBox([replace(one, key=f"my {one.key}") for one in box])
    with pytest.raises(ParameterError, match="of L, o, g, G, O; got my L, my G"):
        LogGPSPosterior(replace(chains, box=other), model, "x")
