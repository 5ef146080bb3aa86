"""The largest latency from path to path: its proof, and what HiGHS and sweeps say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.loggops_programs import random_graph
from tests.kernels.test_llamp import FIG4C, chains
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.programs.graph import CALC, SEND
from workbench.tolerance import lp_solvers as module
from workbench.tolerance.lp import LatencyLP
from workbench.tolerance.lp_solvers import SolverError
from workbench.tolerance.sweep import Sweep

MODEL = LogGPS(L=3e-6, o=1.5e-6, g=0.0, G=0.018e-9, O=0.0, S=8192)
FIG_MODEL = LogGPS(L=1e-6, o=0.0, g=0.0, G=5e-9, O=0.0, S=65535)

close = {"rel": 1e-9, "abs": 1e-13}  # HiGHS lets rows be short of 1e-7 µs


@given(st.integers(0, 999), st.integers(0, 20))
@examples(5)
def test_highs_finds_the_same_and_sweeps_a_picosecond_less_at_most(seed, percent):
    graph = random_graph(np.random.default_rng(seed), ranks=4, events=40)
    lp, sweep = LatencyLP(graph, MODEL), Sweep(graph, MODEL)
    T = sweep.makespan() * (1 + percent / 100)
    found = lp.certify(T)
    assert found.L == pytest.approx(lp.largest_latency(T, solver="highs"), **close)
    assert found.T == T
    if math.isfinite(found.L):
        assert abs(found.gap) <= 1e-17  # T * eps
        assert 0 <= found.shortfall <= 1e-17
        swept = sweep.tolerance([percent])[percent]
        assert -1e-16 <= found.L - swept < 1.001e-12
        _, _, slope = sweep.curve([swept])
        assert found.latencies <= slope[0] + 1e-9


def test_the_proof_of_figure_6():
    found = LatencyLP(chains(*FIG4C), FIG_MODEL).certify(2e-6)
    assert (found.L, found.upper) == pytest.approx((0.885e-6, 0.885e-6))
    assert found.latencies == 1
    # C0 S R C3: latency counts.
    assert found.ops.tolist() == [0, 1, 4, 5]
    assert found.passes <= 4


@for_each("S", [8192, 16])
def test_one_class_of_several_and_one_pair_of_ranks(S):
    model = MODEL.replace(S=S)
    graph = generate.halo((2, 2), cells=16, iterations=3).graph()
    messages = int((graph.kind == SEND).sum())
    multiples = np.random.default_rng(5).integers(0, 4, (messages, 2)) / 2
    classes = LatencyLP.by_class(graph, model, {"a": 274e-9, "b": 2e-6}, multiples, 1e-7)
    pairs = LatencyLP.by_pair(graph, model)
    for lp, names in ((classes, ("l_a", "l_b")), (pairs, ("l_0_1", "l_3_2"))):
        T = lp.solve().T * 1.03
        for name in names:
            found = lp.certify(T, of=name)
            assert found.L == pytest.approx(lp.largest_latency(T, of=name, solver="highs"), **close)
            # Latencies are whole picoseconds there.
            away = lp.solve(L={name: found.L}).T - T
            assert abs(away) <= found.latencies * 1e-12
    more = pairs.certify(1.2 * T, of="l_0_1", G=0.02e-9, o=1.6e-6)
    assert more.L < pairs.certify(1.2 * T, of="l_0_1").L
    assert more.L == pytest.approx(
        pairs.largest_latency(1.2 * T, of="l_0_1", G=0.02e-9, o=1.6e-6, solver="highs"), **close
    )


def test_no_latency_matters_to_computations_alone():
    lp = LatencyLP(chains(((CALC, 100),), ((CALC, 300),)), FIG_MODEL)
    found = lp.certify(0.3e-6)
    assert (found.L, found.gap, found.latencies) == (math.inf, 0.0, 0.0)
    assert found.shortfall <= 1e-20
    with pytest.raises(ParameterError, match=r"at least 3e-07 s.*got 2e-07 s"):
        lp.certify(0.2e-6)


def test_the_least_time_and_a_time_that_computations_take_allow_what_keeps_it():
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    # Without latency the other path takes 1.5 µs, up to a latency of 0.385 µs.
    assert lp.certify(1.5e-6).L == pytest.approx(0.385e-6)
    straight = LatencyLP(chains(((SEND, 4),), ((2, 4),)), FIG_MODEL)
    assert straight.certify(straight.solve(L=0.0).T).L == pytest.approx(0.0, abs=1e-20)


def test_what_multipliers_do_not_prove_is_refused(monkeypatch: pytest.MonkeyPatch):
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    longest = module._RowsOverLatency.longest

    def stuck(rows, latency_us):
        cost, times = longest(rows, latency_us)
        return cost - 0.1, times  # µs

    monkeypatch.setattr(module._RowsOverLatency, "longest", stuck)
    with pytest.raises(SolverError, match=r"must prove the largest latency.*solver='highs'"):
        lp.certify(2e-6)


def test_bounds_come_from_the_rows_whatever_the_multipliers():
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    rows = module._RowsOverLatency(lp.rows, lp.system(), lp.rows.num_columns)
    rows.longest(0.885)
    duals = np.zeros(lp.num_rows)
    assert rows.upper_us(duals, 2.0) == math.inf
    duals[rows.path()] = 1.0
    assert rows.upper_us(duals, 2.0) == pytest.approx(0.885)
    assert rows.upper_us(duals, 1.9) == pytest.approx(0.785)
    assert rows.upper_us(2 * duals, 2.0) == math.inf
    assert rows.upper_us(duals - 1, 2.0) == math.inf
    assert rows.shortfall_us(0.885, 2.0) == pytest.approx(0.0, abs=1e-15)
    assert rows.shortfall_us(0.9, 2.0) == pytest.approx(0.015)
    rows.base[1] -= 0.2
    assert rows.shortfall_us(0.885, 2.0) == pytest.approx(0.2)


def test_a_certificate_is_its_fields():
    found = LatencyLP(chains(*FIG4C), FIG_MODEL).certify(2e-6)
    assert replace(found, upper=found.L + 1e-9).gap == pytest.approx(1e-9)
