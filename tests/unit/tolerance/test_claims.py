"""LLAMP's claims on shipped programs, and on a program and a machine that answer otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.findings import VERDICTS, Findings
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.programs.program import Program
from workbench.tolerance import Sweep, findings, icon_like, running_example
from workbench.validation import validation_report

BASE = LogGPS(L=2e-6, o=200e-9, g=0.0, G=0.05e-9, O=0.0, S=32768)


@pytest.fixture(scope="module")
def shipped() -> Findings:
    return findings()


def patient(ranks: int) -> Program:
    """Return a program that computes for milliseconds between its messages."""
    return generate.halo(
        ranks, cells=2, iterations=16, ns_per_cell=5e6, reduce_every=16, periodic=True
    )


def test_every_claim_has_a_rule_a_verdict_and_numbers(shipped: Findings) -> None:
    assert len({finding.name for finding in shipped}) == len(shipped) == 22
    for finding in shipped:
        assert finding.verdict in VERDICTS
        assert finding.rule
        assert finding.figure
        if finding.verdict != "cannot be told here":
            assert any(character.isdigit() for character in finding.evidence)


def test_what_does_not_depend_on_the_clock(shipped: Findings) -> None:
    assert shipped["running-example"].verdict == "confirmed"
    assert "6 of 6 numbers" in shipped["running-example"].evidence
    # The formula is printed upside down, and a rendezvous counts as four latencies.
    assert shipped["rho-is-a-share"].verdict == "contradicted"
    assert shipped["lambda-counts-messages"].verdict == "partly"
    assert shipped["slope-rises-to-the-longest-chain"].verdict == "confirmed"
    assert shipped["rendezvous-adds-no-constraint"].verdict == "confirmed"
    assert shipped["ring-hurts-more-at-scale"].verdict == "confirmed"


def test_a_number_of_icons_own_is_not_told_from_stand_ins(shipped: Findings) -> None:
    for name in ("algorithm-3-gains-a-little", "partitioner-is-slightly-worse"):
        assert shipped[name].verdict == "cannot be told here"
    for name in ("ring-tolerates-a-quarter", "ring-doubles-rho", "wires-of-3000-ns"):
        assert shipped[name].verdict == "cannot be told here"
        assert "stand-ins for ICON on 9 machines" in shipped[name].evidence
    assert (
        "0.34 to 1.69 %, below 2 in 18 of 18"
        in shipped["predictions-are-within-2-percent"].evidence
    )


def test_claims_on_run_times_are_judged_on_recordings(shipped: Findings) -> None:
    report = validation_report(arrivals=False)  # the paper's way: whom a master answers as traced
    within = shipped["predictions-are-within-2-percent"]
    assert within.verdict == "partly"
    count = int((report.rrmse_percent < 2).sum())
    assert (
        f"below 2 % in {count} of {len(report.program)} recordings of emulated" in within.evidence
    )
    delays = shipped["injector-delays-as-intended"]
    assert delays.verdict == "confirmed"
    assert "sends delayed would make it 2, 1 and 2" in delays.evidence
    # The master is faster than its trace says; a trace under latency says no better.
    adapts = shipped["charm-adapts-to-latency"]
    assert adapts.verdict == "partly"
    assert "beyond the quartiles of the runs in 2 of 2 recordings" in adapts.evidence
    assert "shorter in 0 of 4 traces" in adapts.evidence


def test_other_programs_and_machines_may_answer_otherwise() -> None:
    halo = generate.halo((2, 2), cells=16, iterations=3)
    found = findings({"halo": halo}, {"mine": BASE}, {"patient": patient})
    assert "1 programs like ICON on 1 machines" in found["wires-of-3000-ns"].evidence
    assert found["wires-of-3000-ns"].verdict == "confirmed"
    assert found["correction-codes-do-no-harm"].verdict == "confirmed"
    assert found["lambda-counts-messages"].verdict == "confirmed"
    assert found["tolerance-differs-between-programs"].verdict == "contradicted"


def test_icon_like_computes_as_long_as_the_papers_table_says() -> None:
    graph = icon_like(64).graph()
    # 0.053 s are 0.75 % of a run time; 3.82 million events are of 64 ranks.
    events = 9 * 16 * 64  # 4 sends, 4 receives and a computation in each of 16 iterations
    run_time_s = 0.053 / 0.0075 * events / 3.82e6
    free = BASE.replace(L=0.0, o=0.0, G=0.0)
    at = Sweep(graph, free).makespan()
    assert at == pytest.approx(run_time_s, rel=0.1)  # computations vary by 10 %


def test_the_running_example_has_the_papers_run_times() -> None:
    for c0_ns, L, T in ((1000, 0.0, 2.015), (1000, 3e-7, 2.315), (100, 5e-7, 1.615), (100, 0, 1.5)):
        assert Sweep(*running_example(c0_ns)).makespan(L) == pytest.approx(T * 1e-6, abs=1e-15)
    path = Sweep(*running_example()).critical_path()
    assert path.ops.tolist() == [0, 1, 4, 5]
    # With a rendezvous the request arrives at 0.6 µs, and three more latencies follow.
    met = Sweep(*running_example(rendezvous=True))
    assert met.makespan(5e-7) == pytest.approx((0.1 + 4 * 0.5 + 0.015 + 1) * 1e-6, abs=1e-15)
    assert np.array_equal(met.critical_latencies(0, 1e-6).L, [0.4e-6])
    with pytest.raises(ParameterError, match="c0_ns"):
        running_example(-1)
