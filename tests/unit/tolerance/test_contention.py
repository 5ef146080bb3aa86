from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from tests.kernels.loggops_programs import random_graph
from workbench.errors import ProgramError
from workbench.models import LogGPS
from workbench.programs import ExecutionGraph, generate, read_goal
from workbench.simulate.llamp import replay_llamp
from workbench.simulate.replay import replay
from workbench.tolerance.contention import (
    RESOURCES,
    ContentionReport,
    _relaxed,
    compare_contention,
)

DEFAULTS = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)
ONE_RANK_FAN = """num_ranks 4
rank 0 {
send 1001b to 1
send 1001b to 2
send 1001b to 3
}
rank 1 {
recv 1001b from 0
}
rank 2 {
recv 1001b from 0
}
rank 3 {
recv 1001b from 0
}
"""


def by_name(report: ContentionReport) -> dict[str, int]:
    return {share.resource: share.time_ps for share in report.shares}


def random_model(rng: np.random.Generator) -> LogGPS:
    L, o, g = (float(rng.integers(0, top)) * 1e-9 for top in (200, 50, 50))
    return LogGPS(L=L, o=o, g=g, G=rng.integers(30) / 1e10, O=rng.integers(20) / 1e10, S=40)


def random_case(seed: int) -> tuple[ExecutionGraph, LogGPS]:
    """Return a program that runs to its end; some of the random ones wait in a circle."""
    rng = np.random.default_rng(seed)
    while True:
        graph = random_graph(
            rng,
            ranks=int(rng.integers(2, 6)),
            events=int(rng.integers(5, 50)),
            cpus=1 + seed % 2,
            nics=1 + (seed % 3 == 0),
            wildcards=0.2 if seed % 4 == 0 else 0.0,
        )
        model = random_model(rng)
        try:
            replay_llamp(graph, model)
            replay(graph, model)
        except ProgramError:
            continue
        return graph, model


@for_each("seed", range(40))
def test_with_all_limits_the_times_are_the_replays(seed: int) -> None:
    """Otherwise a part of the difference would belong to nobody; and no part is below 0."""
    graph, model = random_case(seed)
    full = replay(graph, model, times=True)
    report = compare_contention(graph, model)
    assert _relaxed(full)(np.ones(len(RESOURCES), bool)) == full.makespan_ps
    assert all(s.time_ps >= 0 and s.alone_ps >= 0 for s in report.shares[:-1])
    assert sum(s.time_ps for s in report.shares) == report.loggopsim_ps - report.llamp_ps
    assert report.loggopsim_ps == full.makespan_ps
    assert report.llamp_ps == replay_llamp(graph, model).makespan_ps


def test_three_sends_at_once_by_hand() -> None:
    """The last message leaves two turns late: 2 max(o, g + 1000 G); LLAMP sends all at once."""
    graph = read_goal(ONE_RANK_FAN)
    # o = 0.1 us, g + 1000 G = 3 us: the NIC decides, the core would hold back 2 o = 0.2 us.
    model = LogGPS(L=1e-6, o=1e-7, g=2e-6, G=1e-9, O=0.0, S=65535)
    report = compare_contention(graph, model)
    assert report.llamp_ps == 100_000 + 1_000_000 + 1_000_000 + 100_000
    assert report.loggopsim_ps == report.llamp_ps + 2 * 3_000_000
    assert by_name(report) == {
        "receive NIC": 0,
        "send NIC": 6_000_000 - 200_000,
        "bytes on the CPU": 0,
        "overheads and computations on the CPU": 200_000,
        "rules of the two": 0,
    }
    alone = {share.resource: share.alone_ps for share in report.shares}
    assert alone["send NIC"] == 6_000_000
    assert alone["overheads and computations on the CPU"] == 200_000
    with_O = compare_contention(graph, model.replace(O=2e-9, g=0.0))
    # Each send now holds the core for o + 1000 O = 2.1 us, as each receive does once.
    assert by_name(with_O)["bytes on the CPU"] > 0
    assert with_O.loggopsim_ps == 2 * 2_100_000 + 100_000 + 1_000_000 + 2_100_000


def test_two_computations_of_one_rank() -> None:
    graph = read_goal("num_ranks 1\nrank 0 {\ncalc 300\ncalc 500\n}\n")
    report = compare_contention(graph, DEFAULTS)
    assert (report.llamp_ps, report.loggopsim_ps) == (500_000, 800_000)
    assert by_name(report)["overheads and computations on the CPU"] == 300_000
    assert report.optimistic_percent == pytest.approx(37.5)


def test_a_rendezvous_costs_llamp_its_handshake() -> None:
    graph = read_goal("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n")
    model = DEFAULTS.replace(S=100)
    report = compare_contention(graph, model)
    # LLAMP: 4 L + 2 o + 100 G, and o for the send after it; LogGOPSim: 2 o + L + 100 G.
    assert by_name(report)["rules of the two"] == -(3 * 2_500_000 + 1_500_000)
    assert report.warning is not None and "pessimistic" in report.warning


def test_a_wide_nonblocking_halo_is_where_llamp_misleads() -> None:
    """216 ranks with 26 neighbours; the specification found 42 % on such a program."""
    program = generate.halo((6, 6, 6), neighbours=26, cells=16, iterations=2, rng=1)
    model = DEFAULTS.replace(g=0.0, G=0.0)
    report = compare_contention(program, model)
    shares = by_name(report)
    assert report.optimistic_percent > 40
    assert shares["overheads and computations on the CPU"] > 0.9 * (
        report.loggopsim_ps - report.llamp_ps
    )
    assert shares["receive NIC"] == shares["send NIC"] == shares["bytes on the CPU"] == 0
    assert report.warning is not None
    assert "mostly by overheads and computations on the CPU" in report.warning
    narrow = generate.halo((6, 6, 6), neighbours=6, cells=512, iterations=2, rng=1)
    quiet = compare_contention(narrow, model)
    assert abs(quiet.optimistic_percent) < 5
    assert quiet.warning is None


def test_a_report_speaks() -> None:
    report = compare_contention(read_goal(ONE_RANK_FAN), DEFAULTS)
    assert "LLAMP 11.5 µs, LogGOPSim 25.5 µs, 54.9 % optimistic" in repr(report)
    frame = report.to_frame()
    whole = (report.loggopsim_ps - report.llamp_ps) / 1000
    assert frame["time_ns"].sum() == pytest.approx(whole)
    assert frame["percent"].sum() == pytest.approx(report.optimistic_percent)
    page = report._repr_html_()
    assert all(name in page for name in ("LLAMP", "LogGOPSim", "send NIC"))
    empty = compare_contention(read_goal("num_ranks 1\nrank 0 {\n}\n"), DEFAULTS)
    assert empty.optimistic_percent == 0
    assert empty.warning is None
