"""T over G: closed forms, the linear program, convexity, and what its slope is."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.kernels.loggops_programs import random_graph
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs import generate, read_goal
from workbench.tasks import Task
from workbench.tolerance import (
    BandwidthSensitivity,
    LatencyLP,
    Sweep,
    analyse_bandwidth,
    running_example,
)

MODEL = LogGPS(L=30e-9, o=3e-9, g=0.0, G=1e-9, O=0.0, S=100)
PS = 1e-12


def test_the_running_example_by_hand() -> None:
    """T is the greatest of 1.5 µs and 1.6 µs + 3 G; 3 G are 15 ns at the base."""
    found = analyse_bandwidth(*running_example(), interval=(0.0, 1e-6))
    assert found.T == pytest.approx(1.615e-6, abs=PS)
    assert found.lambda_G == 3
    assert found.rho_G == pytest.approx(15 / 1615)
    for percent, G in found.tolerance.items():
        assert pytest.approx(1.615e-6 * (1 + percent / 100)) == 1.6e-6 + 3 * G
    assert found.T_of(1e-7) == pytest.approx(1.9e-6)
    late = analyse_bandwidth(
        read_goal(
            "num_ranks 2\nrank 0 {\ncalc 2000\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}"
        ),
        LogGPS(L=0.0, o=0.0, g=0.0, G=1e-9, O=0.0, S=4096),
        percent=[50],
        interval=(0.0, 4e-9),
    )
    # The message begins at once and takes 1000 G; the computation ends after 2 µs.
    assert late.corners == pytest.approx([0.0, 2e-9, 4e-9])
    assert late.slopes.tolist() == [0, 1000]
    assert late.lambda_G == 0
    assert late.tolerance[50] == pytest.approx(3e-9)


@for_each("seed", range(8))
def test_the_curve_is_that_of_sweeps_and_of_the_linear_program(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), ranks=4, events=30)
    found = analyse_bandwidth(graph, MODEL, interval=(0.0, 20e-9))
    sweep, lp = Sweep(graph, MODEL), LatencyLP(graph, MODEL)
    allowed = (sweep.messages + 1) * PS  # a replay rounds each message to a picosecond
    for G in np.linspace(0.0, 20e-9, 23).tolist():
        at = sweep.replace(MODEL.replace(G=G))
        assert found.T_of(G) == pytest.approx(at.makespan(), abs=allowed)
        assert lp.solve(G=G).T == pytest.approx(float(found.T_of(G)), abs=allowed)
    assert (np.diff(found.slopes) > 0).all()
    assert np.diff(found.corner_T) / np.diff(found.corners) == pytest.approx(found.slopes)


@for_each("seed", range(8))
def test_lambda_G_is_the_derivative_and_a_tolerance_is_reached(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), ranks=4, events=30)
    found = analyse_bandwidth(graph, MODEL, percent=[0, 3])
    sweep = Sweep(graph, MODEL)
    left, right = (
        (sweep.replace(MODEL.replace(G=MODEL.G + d)).makespan() - found.T) / d
        for d in (-1e-12, 1e-12)
    )
    allowed = sweep.messages  # of bytes: a picosecond for each message over 1 ps/B
    assert left - allowed <= found.lambda_G <= right + allowed
    bound = found.T * 1.03
    over = found.tolerance[3]
    rounded = (sweep.messages + 1) * PS
    assert sweep.replace(MODEL.replace(G=over)).makespan() <= bound + rounded
    assert sweep.replace(MODEL.replace(G=over * 1.01)).makespan() > bound - rounded
    assert found.tolerance[0] >= MODEL.G * (1 - 1e-9)


@for_each("seed", range(4))
def test_between_critical_gaps_the_slope_is_the_dual_of_the_linear_program(seed: int) -> None:
    """Its bytes are those of a path; primal and dual agree; each critical gap has two slopes."""
    graph = random_graph(np.random.default_rng(seed), ranks=4, events=30)
    found = analyse_bandwidth(graph, MODEL, interval=(0.0, 20e-9))
    lp, sweep = LatencyLP(graph, MODEL), Sweep(graph, MODEL)
    for at, (low, high) in enumerate(pairwise(found.corners.tolist())):
        middle = (low + high) / 2
        solved = lp.solve(G=middle)
        path = sweep.replace(MODEL.replace(G=middle)).critical_path()
        assert round(solved.lambda_G) == found.slopes[at] == int(path.bytes.sum())
        assert found.lambda_of(middle) == found.slopes[at]
        assert found.T_of(middle) == pytest.approx(solved.T, abs=(sweep.messages + 1) * PS)
    assert found.critical == pytest.approx(found.corners[1:-1])


def test_tolerances_are_also_of_bandwidth() -> None:
    """T is 1.6 µs + 3 G: within 5 % of 1.615 µs G may be 31.9 ns/B, from 5."""
    found = analyse_bandwidth(*running_example())
    G = (1.615e-6 * 1.05 - 1.6e-6) / 3
    assert found.least_bandwidth_Bps[5] == pytest.approx(1 / G)
    row = found.tolerances().iloc[2]
    assert row.least_bandwidth_GBps == pytest.approx(1e-9 / G)
    assert row.times_the_base == pytest.approx(G / 5e-9)
    assert row.bandwidth_loss_percent == pytest.approx(100 * (1 - 5e-9 / G))
    assert found.summary()["tolerance_ns_per_byte"]["5"] == pytest.approx(G * 1e9)
    assert analyse_bandwidth(Sweep(*running_example())).T == found.T


def test_an_analysis_ends_on_request(stopped: Task) -> None:
    sweep = Sweep(*running_example())
    with pytest.raises(SimulationHalted):
        analyse_bandwidth(sweep, task=stopped)


def test_a_program_without_bytes_takes_any_bandwidth() -> None:
    calc = read_goal("num_ranks 1\nrank 0 {\ncalc 10\n}\n")
    found = analyse_bandwidth(calc, MODEL)
    assert set(found.tolerance.values()) == {math.inf}
    assert set(found.least_bandwidth_Bps.values()) == {0}
    assert found.lambda_G == 0
    assert "G within 5 % any gap" in repr(found)
    assert found.notes == ("no bandwidth makes the program slower by 1 %, 2 %, 5 %",)


def test_it_is_saved_shown_and_refused(tmp_path: Path) -> None:
    found = analyse_bandwidth(generate.cg(8, cells=64, iterations=2), MODEL)
    found.save(tmp_path / "bandwidth.json")
    assert BandwidthSensitivity.load(tmp_path / "bandwidth.json").lambda_G == found.lambda_G
    assert f"λ_G {found.lambda_G:,}, ρ_G" in repr(found)
    assert "(bytes on the critical path)" in found.report()
    assert len(found.to_frame()) == len(found.slopes)
    time, _, slope, share = found.plot().children
    assert time.yaxis[0].axis_label == "run time T"
    assert slope.yaxis[0].axis_label == "λ_G (bytes)"
    assert share.yaxis[0].axis_label == "ρ_G (%)"
    assert share.xaxis[0].axis_label == "gap per byte G, and bandwidth, its inverse"
    with pytest.raises(ParameterError, match=r"G must lie within .* s/B; got 1 to 1 s/B"):
        found.T_of(1.0)
    with pytest.raises(ParameterError, match="interval must ascend"):
        analyse_bandwidth(*running_example(), interval=(2e-9, 1e-9))
    with pytest.raises(ParameterError, match="percent"):
        analyse_bandwidth(*running_example(), percent=[-1])
