"""The claims of Shen et al., LLAMP, judged on programs and machines that are at hand.

Each is a sentence of the paper in our words, with a rule that decides whether data agree with it
and the numbers of the rule; other programs and machines may answer otherwise. Run times are
simulated without contention, as in the paper. Of its applications none is here: claims on one that
grows with its ranks are judged on `icon_like` programs, whose computation follows the paper's
Table II. The numbers of ICON's own that hang on what the paper does not say cannot be told from
these stand-ins, whichever way they point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench import machines
from workbench.arrays import FloatArray
from workbench.findings import Finding, Findings, Verdict, all_or_some, counted, graded, span
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.generate import halo
from workbench.programs.graph import ExecutionGraph
from workbench.programs.program import Program
from workbench.programs.shipped import load
from workbench.tolerance.lp import LatencyLP
from workbench.tolerance.rank_wires import Wires
from workbench.tolerance.running_example import running_example
from workbench.tolerance.sweep import Sweep
from workbench.tolerance.wires import FEC_INTERVAL_S, along_wires
from workbench.topology import dragonfly, fat_tree
from workbench.units import format_quantity

SHIPPED = (
    *("cg-4", "cg-8", "halo-4", "halo-8", "transpose-4", "transpose-8"),
    *("cg-64", "halo2d-64", "ring-pipeline-64", "training-64", "training-blocking-64"),
)
"""Programs that claims on any program are judged on: recorded and generated ones."""

PIZ_DAINT = LogGPS(L=1.4e-6, o=6.03e-6, g=0.0, G=0.013e-9, O=0.0, S=256 * 1024)
"""The paper's parameters of Piz Daint, with the overhead that ICON had on 256 nodes."""

# Table II: ranks, events of the execution graph, RMSE in s, RRMSE in percent.
_TABLE_II = {
    "LULESH": ((8, 895e3, 0.031, 0.54), (27, 4.55e6, 0.038, 0.61), (64, 13.5e6, 0.037, 0.58)),
    "HPCG": ((8, 738e3, 0.053, 1.02), (32, 4.83e6, 0.099, 1.42), (64, 12.2e6, 0.095, 1.10)),
    "MILC": ((8, 2.79e6, 0.052, 0.60), (32, 12.1e6, 0.050, 1.05), (64, 23.6e6, 0.068, 1.69)),
    "ICON": ((8, 362e3, 0.074, 0.34), (32, 1.89e6, 0.051, 0.52), (64, 3.82e6, 0.053, 0.75)),
    "LAMMPS": ((8, 155e3, 0.083, 1.40), (32, 596e3, 0.102, 1.46), (64, 1.21e6, 0.128, 1.65)),
    "OpenMX": ((8, 271e3, 0.204, 0.88), (32, 1.78e6, 0.097, 0.55)),
    "CloverLeaf": ((8, 162e3, 0.037, 0.70),),
}
# Table I: seconds of LLAMP with Gurobi and of LogGOPSim.
_TABLE_I = (
    *((36.4, 248.6), (31.6, 253.8), (0.05, 0.2), (6.7, 886.1), (296.9, 1081.1)),
    *((4.4, 32.1), (55.1, 381.8), (56.3, 338.6), (9.4, 65.0)),
)

# Of Table II, at 64 ranks: the run time of an event, and the events of an iteration of `icon_like`.
_RANKS, _EVENTS, _RMSE_S, _PERCENT = _TABLE_II["ICON"][2]
_EVENT_NS = _RMSE_S / (_PERCENT / 100) * _RANKS / _EVENTS * 1e9
_EVENTS_PER_ITERATION = 9  # 4 sends, 4 receives, 1 computation
_GRID = (160, 128)  # R02B04 has 20,480 cells
_LEVELS = 90  # chosen: DWD's global ICON had 90 levels; the paper does not say

_REDUCE_EVERY = (4, 16, 64)  # chosen: the paper does not say how often; claims must hold for each
_CASE_STUDY_RANKS = (32, 64, 256)  # IV: 32, 64 and 256 nodes of a rank each
_SCALES = (8, 32, 64)  # of Table II
_MOST_LP_OPS = 15_000  # chosen: eight of eleven shipped programs; the next has 24,576
_RECURSIVE, _RING = "recursive-doubling", "ring"
_NOT_BY_STAND_INS = "; a number of ICON's own, so it cannot be told from stand-ins"

Icon = Callable[[int], Program]


def icon_like(ranks: int = 64, *, reduce_every: int = 16) -> Program:
    """Return a program with the computation of ICON in LLAMP's Table II, strongly scaled.

    Ranks exchange the border of 20,480 columns of 90 levels with four neighbours. How often ICON
    adds up over all ranks the paper does not say. Each computation varies by 10 %.

    Args:
        ranks: how many.
        reduce_every: iterations from one allreduce of one double to the next.

    Raises:
        ParameterError: a number is not accepted, or a rank would have no column.
    """
    return halo(
        ranks,
        neighbours=4,
        cells=_GRID,
        bytes_per_cell=8 * _LEVELS,
        iterations=max(reduce_every, 16),
        ns_per_cell=_EVENT_NS * _EVENTS_PER_ITERATION * _RANKS / (_GRID[0] * _GRID[1]),
        scaling="strong",
        reduce_every=reduce_every,
        jitter=0.1,
        rng=0,
    )


def findings(
    programs: Mapping[str, ProgramLike] | None = None,
    machines: Mapping[str, LogGPS] | None = None,
    icons: Mapping[str, Icon] | None = None,
) -> Findings:
    """Return the result of programs on machines on the paper's claims; it takes seconds.

    Args:
        programs: by name, for claims on any program; None takes shipped ones, recorded and
            generated.
        machines: by name; None takes the shipped profiles and the paper's Piz Daint.
        icons: functions from a number of ranks to a program like ICON, by name, for claims on
            scales, collectives, topologies and placement; None takes ``icon_like`` with an
            allreduce every 4, 16 and 64 iterations.

    Raises:
        ProgramError: a program cannot run to its end.
        ParameterError: a time is beyond what 64 bits of picoseconds hold.
    """
    cases = _Cases(
        {name: graph_of(program) for name, program in (programs or _shipped()).items()},
        dict(machines or _machines()),
        dict(icons or _icons()),
        stand_ins=icons is None,
    )
    return Findings(
        (
            _running_example(),
            _programs_differ(cases),
            _lambda_counts_messages(cases),
            _slopes_rise_to_the_longest_chain(cases),
            _rho_is_a_share(cases),
            _rendezvous_adds_no_constraint(cases),
            _algorithm_2_finds_all(cases),
            _linear_programs_beat_replay(cases),
            _building_is_quick(cases),
            _weak_scaling_keeps_tolerance(cases),
            _strong_scaling_lowers_tolerance(cases),
            _ring_tolerates_a_quarter(cases),
            _ring_hurts_more_at_scale(cases),
            _ring_doubles_rho(cases),
            _dragonfly_tolerates_marginally_more(cases),
            _correction_codes_do_no_harm(cases),
            _wires_of_3000_ns(cases),
            _algorithm_3_gains_a_little(cases),
            _partitioner_is_slightly_worse(cases),
            *_cannot_be_told(),
        )
    )


def _shipped() -> dict[str, ExecutionGraph]:
    return {name: graph_of(load(name)) for name in SHIPPED}


def _machines() -> dict[str, LogGPS]:
    shipped = {name: machines.load(name).loggps for name in machines.shipped()}
    return shipped | {"Piz Daint": PIZ_DAINT}


def _icons() -> dict[str, Icon]:
    from functools import partial

    return {
        f"allreduce every {every}": partial(icon_like, reduce_every=every)
        for every in _REDUCE_EVERY
    }


@dataclass(eq=False)
class _Cases:
    """The programs, the machines, and their sweeps, each packed once."""

    programs: dict[str, ExecutionGraph]
    machines: dict[str, LogGPS]
    icons: dict[str, Icon]
    stand_ins: bool  # whether the programs like ICON are ours
    kept: dict[Any, list[Sweep]] = field(default_factory=dict)

    def each_program(self) -> list[tuple[str, Sweep]]:
        """Return the sweep of each program on each machine, with the program's name."""
        return [
            (name, sweep) for name, graph in self.programs.items() for sweep in self.on(name, graph)
        ]

    def each_icon(self, ranks: int, allreduce: str = _RECURSIVE) -> list[Sweep]:
        """Return the sweep of each ICON-like program on each machine."""
        found: list[Sweep] = []
        for name, icon in self.icons.items():
            key = name, ranks, allreduce
            found += self.kept.get(key) or self.on(key, icon(ranks).graph(allreduce=allreduce))
        return found

    def on(self, key: Hashable, graph: ExecutionGraph) -> list[Sweep]:
        """Return the sweep of a program on each machine."""
        if key not in self.kept:
            first, *others = self.machines.values()
            packed = Sweep(graph, first)
            self.kept[key] = [packed, *(packed.replace(model) for model in others)]
        return self.kept[key]

    def over_wires(self) -> dict[str, list[Sweep]]:
        """Return the sweep over the latency of wires of each ICON-like program, by topology."""
        ranks = _CASE_STUDY_RANKS[-1]
        for name, network in (("fat tree", fat_tree(16)), ("dragonfly", dragonfly(a=4, p=8, g=8))):
            if name not in self.kept:
                wires = Wires.of(network, ranks)
                self.kept[name] = [
                    along_wires(sweep, wires, None, FEC_INTERVAL_S[0])
                    for sweep in self.each_icon(ranks)
                ]
        return {name: self.kept[name] for name in ("fat tree", "dragonfly")}

    def small(self) -> dict[str, Sweep]:
        """Return the programs that linear programs are solved for, on the first machine."""
        return {
            name: self.on(name, graph)[0]
            for name, graph in self.programs.items()
            if graph.num_ops <= _MOST_LP_OPS
        }

    def of_icon(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a number of ICON's, which stand-ins cannot give."""
        return "cannot be told here" if self.stand_ins else verdict

    @property
    def counted(self) -> str:
        """How many programs and machines a number is from."""
        return f"{len(self.programs)} programs on {len(self.machines)} machines"

    @property
    def icons_counted(self) -> str:
        """How many ICON-like programs and machines a number is from."""
        kind = "stand-ins for ICON" if self.stand_ins else "programs like ICON"
        return f"{len(self.icons)} {kind} on {len(self.machines)} machines"


def _added(sweep: Sweep, percent: float) -> float:
    """Return the latency in s that may be added for a growth of T by some percent."""
    return sweep.tolerance([percent])[percent] - sweep.model.L


def _running_example() -> Finding:
    lp = LatencyLP(*running_example())
    at, below = lp.solve(), lp.solve(L=0.2e-6)
    tolerated = lp.largest_latency(2e-6, solver="highs")
    critical = lp.critical_latencies(0.2e-6, 0.5e-6, step_s=0.0)
    late = LatencyLP(*running_example(1000))
    offset = late.solve(L=0.0).T
    pairs = (
        (at.T, 1.615e-6),
        (at.lambda_L, 1.0),
        (below.lambda_L, 0.0),
        (tolerated, 0.885e-6),
        (float(critical.latencies[0]), 0.385e-6),
        (offset, 2.015e-6),
    )
    same = [abs(ours - theirs) <= 1e-9 * max(theirs, 1e-6) for ours, theirs in pairs]
    return Finding(
        "running-example",
        "A message between two ranks: T = L + 2.015 µs; after a shorter computation 1.615 µs at L "
        "= 0.5 µs, λ_L 1 there and 0 below the critical latency of 0.385 µs, which two solves "
        "find, and 0.885 µs tolerated within 2 µs",
        "Figs. 4, 5, 6 and 16",
        "each printed number is found to 1e-9 of it; partly: some are",
        f"{sum(same)} of {len(same)} numbers; T {at.T * 1e6:.4g} µs, critical latency "
        f"{critical.latencies[0] * 1e6:.4g} µs after {len(critical.L)} solves, tolerated "
        f"{tolerated * 1e6:.4g} µs",
        all_or_some(same),
        "tolerance.LatencyLP(*tolerance.running_example())",
    )


def _programs_differ(cases: _Cases) -> Finding:
    added = np.array(
        [
            [_added(sweep, 5) for sweep in cases.on(name, graph)]
            for name, graph in cases.programs.items()
        ]
    )
    ratio = added.max(axis=0) / added.min(axis=0)
    names = list(cases.programs)
    least, most = (names[int(at)] for at in (added[:, 0].argmin(), added[:, 0].argmax()))
    return Finding(
        "tolerance-differs-between-programs",
        "Applications differ significantly in the latency they tolerate: 20 µs hurts MILC, ICON "
        "withstands more than 650 µs",
        "I, Fig. 1",
        "at 5 % the most tolerant program can take 30 times the added latency of the least "
        "tolerant on every machine (650 / 20 is 32.5); partly: 3 times",
        f"{span(ratio)} times over {cases.counted}; on the first {least} can take "
        f"{format_quantity(added[:, 0].min(), 'time')} and {most} "
        f"{format_quantity(added[:, 0].max(), 'time')}",
        graded(ratio >= 30, ratio >= 3),
        "tolerance.analyse(program, model).plot()",
    )


def _lambda_counts_messages(cases: _Cases) -> Finding:
    eager: list[float] = []
    met: list[float] = []
    for _, sweep in cases.each_program():
        path = sweep.critical_path()
        S = sweep.model.S
        per_message = sweep.at().lambda_L_right / max(len(path.messages), 1)
        sizes = sweep.graph.size[sweep.send_ops[path.messages]]
        (met if (sizes > S).any() else eager).append(per_message)
    right = np.array(eager) == 1
    verdict: Verdict = "contradicted"
    if len(eager) and right.all():
        verdict = "partly" if met else "confirmed"
    return Finding(
        "lambda-counts-messages",
        "λ_L is the number of messages along the critical path",
        "II-B and II-D1",
        "λ_L just above the base latency is the number of messages on that critical path in every "
        "case; partly: where no message is a rendezvous",
        f"equal in {int(right.sum())} of {len(eager)} cases without a rendezvous on the path; "
        + (f"with one, {span(met, '.2g')} latencies a message; " if met else "")
        + f"{cases.counted}",
        verdict,
        "tolerance.analyse(program, model)",
    )


def _slopes_rise_to_the_longest_chain(cases: _Cases) -> Finding:
    holds, shares = [], []
    for sweep in cases.small().values():
        L = sweep.model.L
        found = sweep.critical_latencies(L, 1.0)
        slopes = np.concatenate([found.lambda_left[:1], found.lambda_right])
        longest = sweep.at(1.0).lambda_L_right
        rises = (np.diff(slopes) > 0).all() and slopes[-1:].max(initial=longest) == longest
        holds.append(bool(rises) and len(found) <= longest)
        shares.append(sweep.at(L).lambda_L_left / max(longest, 1))
    return Finding(
        "slope-rises-to-the-longest-chain",
        "λ_L rises with L at the critical latencies, at most as many as the longest chain of "
        "messages has, and levels off at that chain",
        "II-B, equation 3; III-C",
        "from the base latency to 1 s λ_L rises at each critical latency, there are no more of "
        "them than latencies in the longest chain, and it ends there, for every program",
        f"{counted(holds, 'programs')}; at the base latency λ_L is {span(shares, '.2f')} of what "
        "it becomes",
        all_or_some(holds),
        "tolerance.analyse(program, model).plot()",
    )


def _rho_is_a_share(cases: _Cases) -> Finding:
    rho = np.array([sweep.at().rho_L for _, sweep in cases.each_program()])
    printed = 1 / rho[rho > 0]
    within = printed <= 1
    return Finding(
        "rho-is-a-share",
        "ρ_L = T / (L λ_L) is the fraction of the critical path that is latency",
        "II-D1",
        "T / (L λ_L) lies between 0 and 1 in every case; partly: in some",
        f"as printed it is {span(printed, '.3g')}; its inverse, L λ_L / T, is {span(rho, '.2g')} "
        f"over {cases.counted}, and is what the paper's figures and the workbench show",
        all_or_some(within),
        "tolerance.analyse(program, model).rho_L",
    )


def _rendezvous_adds_no_constraint(cases: _Cases) -> Finding:
    same, rows = [], []
    for sweep in cases.small().values():
        sizes = [
            LatencyLP(sweep.graph, sweep.model.replace(S=S), match=sweep.match).num_rows
            for S in (0, 2**31 - 1)
        ]
        same.append(sizes[0] == sizes[1])
        rows.append(sizes[1])
    return Finding(
        "rendezvous-adds-no-constraint",
        "A rendezvous takes no more constraints than an eager message",
        "appendix B, Fig. 15",
        "with S = 0 each program's linear program has as many rows as with every message eager",
        f"{counted(same, 'programs')}, of {span(rows)} rows",
        all_or_some(same),
        "print(tolerance.LatencyLP(*tolerance.running_example(rendezvous=True)).to_text())",
    )


def _algorithm_2_finds_all(cases: _Cases) -> Finding:
    missed, extra, total, spent = 0, 0, 0, [0.0, 0.0]
    right = []
    chosen = sorted(cases.small().values(), key=lambda sweep: sweep.graph.num_ops)[:3]
    for sweep in chosen:
        low, high = sweep.model.L, sweep.tolerance([1.0])[1.0]
        began = time.perf_counter()
        exact = sweep.critical_latencies(low, high).L
        middle = time.perf_counter()
        lp = LatencyLP(sweep.graph, sweep.model, match=sweep.match)
        found = lp.critical_latencies(low, high, step_s=(high - low) / 20).latencies
        spent[0] += middle - began
        spent[1] += time.perf_counter() - middle
        near = np.abs(exact[:, None] - found[None, :]) <= 1e-12
        missed += int((~near.any(axis=1)).sum())
        extra += int((~near.any(axis=0)).sum())
        total += len(exact)
        right.append(bool(near.any(axis=1).all() and near.any(axis=0).all()))
    return Finding(
        "algorithm-2-finds-all",
        "Critical latencies take parameter sweeps by graph analysis; Algorithm 2 explores an "
        "interval more efficiently",
        "II-C, II-D1 and appendix D",
        "Algorithm 2 with a step of a twentieth of the interval finds all and no other critical "
        "latencies to 1 ps, in less time than sweeps along tangents over the graph; partly: finds "
        "them",
        f"it misses {missed} of {total} critical latencies within 1 % of T on the {len(chosen)} "
        f"smallest programs, returns {extra} that are none, and takes {spent[1]:.2g} s; tangents "
        f"find all in {spent[0]:.2g} s",
        graded(right if spent[1] < spent[0] else [False], right),
        "tolerance.LatencyLP(program, model).critical_latencies(low_s, high_s, step_s=step_s)",
    )


def _linear_programs_beat_replay(cases: _Cases) -> Finding:
    from workbench.simulate import replay

    gains = []
    for sweep in cases.small().values():
        replay(sweep.graph, sweep.model)
        began = time.perf_counter()
        replay(sweep.graph, sweep.model)
        replayed = time.perf_counter() - began
        lp = LatencyLP(sweep.graph, sweep.model, match=sweep.match)
        gains.append(replayed / lp.solve().seconds)
    theirs = np.array([simulated / solved for solved, simulated in _TABLE_I])
    faster = np.array(gains) > 1
    return Finding(
        "linear-program-beats-replay",
        "A solver of linear programs outperforms LogGOPSim consistently, often by more than 6 "
        "times, whatever the size",
        "II-D3, Fig. 7 and Table I",
        "HiGHS takes less time than the replay with LogGOPSim's semantics on every program, on "
        "most by 6 times; partly: on some",
        f"replay / HiGHS {span(gains, '.2g')} over {len(gains)} programs of at most "
        f"{_MOST_LP_OPS:,} operations; Table I has {span(theirs, '.1f')}, at least 6 in "
        f"{int((theirs >= 6).sum())} of {len(theirs)} rows, with Gurobi on programs of 34,400 to "
        "156 million events, and neither solver nor sizes are those here",
        graded([faster.all() and np.median(gains) >= 6], faster),
        "tolerance.LatencyLP(program, model).solve().seconds",
    )


def _building_is_quick(cases: _Cases) -> Finding:
    spent = []
    for sweep in cases.small().values():
        began = time.perf_counter()
        LatencyLP(sweep.graph, sweep.model, match=sweep.match)
        spent.append((time.perf_counter() - began) / sweep.graph.num_ops * 1e6)
    quick = np.array(spent) < 15
    return Finding(
        "building-takes-seconds-a-million",
        "Converting a graph into a linear program takes typically less than 15 s for a million "
        "vertices",
        "appendix E",
        "less than 15 s for a million operations, for most programs",
        f"{span(spent, '.2g')} s a million over {len(spent)} programs",
        "confirmed" if 2 * quick.sum() > len(quick) else "contradicted",
        "tolerance.LatencyLP(program, model)",
    )


def _scaled(cases: _Cases, scaling: str) -> dict[str, FloatArray]:
    """Return the latency that may be added at 5 %, s, float64[machines, scales], by program."""
    from workbench.programs.generate import cg

    makers: dict[str, Icon] = {
        "halo": lambda ranks: halo(
            ranks, dims=3, neighbours=26, cells=16 if scaling == "weak" else 64, ns_per_cell=1000,
            scaling=scaling, periodic=False, reduce_every=1,
        ),
        "cg": lambda ranks: cg(
            ranks, dims=3, cells=48 if scaling == "weak" else 192, scaling=scaling
        ),
    }  # fmt: skip
    if scaling == "strong":
        makers |= cases.icons
    return {
        name: np.array(
            [
                [
                    _added(sweep, 5)
                    for sweep in cases.on((name, scaling, ranks), make(ranks).graph())
                ]
                for ranks in _SCALES
            ]
        ).T
        for name, make in makers.items()
    }


def _weak_scaling_keeps_tolerance(cases: _Cases) -> Finding:
    added = _scaled(cases, "weak")
    ratios = {name: table[:, -1] / table[:, 0] for name, table in added.items()}
    kept = [bool(((r >= 2 / 3) & (r <= 1.5)).all()) for r in ratios.values()]
    return Finding(
        "weak-scaling-keeps-tolerance",
        "Under weak scaling latency tolerance stays relatively stable, as of LULESH and HPCG",
        "III-C, Fig. 9",
        f"for stencils and conjugate gradients from {_SCALES[0]} to {_SCALES[-1]} ranks the added "
        "latency at 5 % changes by a factor of at most 1.5 on every machine; partly: for one",
        "; ".join(f"{name} to {span(r, '.2f')} of its first" for name, r in ratios.items())
        + f"; {len(cases.machines)} machines; an allreduce takes more rounds with more ranks",
        all_or_some(kept),
        "panels.TolerancePanel, weak scaling",
    )


def _strong_scaling_lowers_tolerance(cases: _Cases) -> Finding:
    added = _scaled(cases, "strong")
    ratios = {name: table[:, -1] / table[:, 0] for name, table in added.items()}
    falls = [
        bool((np.diff(table, axis=1) < 0).all() and (ratios[name] <= 0.5).all())
        for name, table in added.items()
    ]
    return Finding(
        "strong-scaling-lowers-tolerance",
        "Under strong scaling latency tolerance decreases substantially, as of MILC and ICON",
        "III-C, Fig. 9",
        f"from {_SCALES[0]} to {_SCALES[-1]} ranks the added latency at 5 % falls at each step and "
        "at least by half, for each program on every machine; partly: for some",
        f"to {span(np.concatenate(list(ratios.values())), '.2f')} of its first over {len(ratios)} "
        f"programs on {len(cases.machines)} machines",
        all_or_some(falls),
        "panels.TolerancePanel, strong scaling",
    )


def _ring_tolerates_a_quarter(cases: _Cases) -> Finding:
    ranks = _CASE_STUDY_RANKS[-1]
    largest = [
        np.array([sweep.tolerance([5])[5] for sweep in cases.each_icon(ranks, name)])
        for name in (_RECURSIVE, _RING)
    ]
    ratio = largest[0] / largest[1]
    near = (ratio >= 3) & (ratio <= 5)
    return Finding(
        "ring-tolerates-a-quarter",
        "At 256 nodes ICON tolerates 4 times the latency with recursive doubling as with a ring "
        "allreduce, within 5 %",
        "IV-1, Fig. 10",
        "the largest L within 5 % is 3 to 5 times as high with recursive doubling in every case; "
        f"partly: higher in every case{_NOT_BY_STAND_INS}",
        f"{span(ratio, '.2g')} times, the median {np.median(ratio):.2g}, over "
        f"{cases.icons_counted}; the fewer allreduces, the nearer to 1",
        cases.of_icon(graded(near, [bool((ratio > 1).all())])),
        "tolerance.analyse(icon_like(256).graph(allreduce='ring'), model).plot()",
    )


def _ring_hurts_more_at_scale(cases: _Cases) -> Finding:
    ratios = np.array(
        [
            [
                ring.at().lambda_L_right / doubling.at().lambda_L_right
                for doubling, ring in zip(
                    cases.each_icon(ranks, _RECURSIVE), cases.each_icon(ranks, _RING), strict=True
                )
            ]
            for ranks in _CASE_STUDY_RANKS
        ]
    )
    grows = (np.diff(ratios, axis=0) > 0).all(axis=0) & (ratios > 1).all(axis=0)
    told = ", ".join(
        f"{span(row, '.2g')} at {ranks}"
        for ranks, row in zip(_CASE_STUDY_RANKS, ratios, strict=True)
    )
    return Finding(
        "ring-hurts-more-at-scale",
        "With a ring allreduce ICON is more sensitive to latency, the more so the larger the scale",
        "IV-1, Fig. 10",
        "λ_L at the base latency is higher with the ring, and by a factor that grows from 32 to 64 "
        "to 256 ranks, in every case; partly: in some",
        f"times as high: {told} ranks; {cases.icons_counted}",
        all_or_some(grows),
        "tolerance.analyse(icon_like(256).graph(allreduce='ring'), model).plot()",
    )


def _ring_doubles_rho(cases: _Cases) -> Finding:
    ranks = _CASE_STUDY_RANKS[-1]
    doubling, ring = (
        np.array([s.at(s.model.L + 100e-6).rho_L for s in cases.each_icon(ranks, name)])
        for name in (_RECURSIVE, _RING)
    )
    double = (ring >= 0.25) & (ring >= 1.5 * doubling) & (ring <= 2.5 * doubling)
    return Finding(
        "ring-doubles-rho",
        "At 256 nodes and 100 µs of added latency ρ_L surpasses 25 % with a ring allreduce, double "
        "that with recursive doubling",
        "IV-1, Fig. 10",
        "ρ_L is at least 25 % with the ring and 1.5 to 2.5 times that with recursive doubling in "
        f"every case; partly: in some{_NOT_BY_STAND_INS}",
        f"{span(100 * ring)} % with the ring, {span(100 * doubling)} % without; "
        f"{counted(double, 'cases')}; {cases.icons_counted}",
        cases.of_icon(all_or_some(double)),
        "tolerance.analyse(icon_like(256).graph(allreduce='ring'), model).plot()",
    )


def _wire_tolerances(cases: _Cases) -> dict[str, FloatArray]:
    """Return the largest latency of a wire within 1 %, ns, of each case, by topology."""
    return {
        name: np.array([1e9 * sweep.tolerance([1], FEC_INTERVAL_S[0])[1] for sweep in sweeps])
        for name, sweeps in cases.over_wires().items()
    }


def _dragonfly_tolerates_marginally_more(cases: _Cases) -> Finding:
    tolerance = _wire_tolerances(cases)
    added = {name: ns - 1e9 * FEC_INTERVAL_S[0] for name, ns in tolerance.items()}
    ratio = added["dragonfly"] / added["fat tree"]
    more = ratio > 1
    return Finding(
        "dragonfly-tolerates-marginally-more",
        "ICON tolerates marginally slower wires on a dragonfly than on a fat tree, as its messages "
        "pass fewer switches",
        "IV-2, Fig. 11",
        "at 1 % the latency that may be added to each wire is larger on the dragonfly, by at most "
        "half, in every case; partly: larger in some",
        f"{span(ratio, '.3f')} times that of the fat tree; larger in {counted(more, 'cases')}; "
        f"{cases.icons_counted}",
        graded(more & (ratio <= 1.5), more),
        "tolerance.topology_study(programs, model, topologies)",
    )


def _correction_codes_do_no_harm(cases: _Cases) -> Finding:
    growth = np.concatenate(
        [
            [
                100 * (s.makespan(FEC_INTERVAL_S[1]) / s.makespan(FEC_INTERVAL_S[0]) - 1)
                for s in sweeps
            ]
            for sweeps in cases.over_wires().values()
        ]
    )
    held = growth < 1
    return Finding(
        "correction-codes-do-no-harm",
        "The wire latency that complex forward error correction adds leaves ICON's run time "
        "largely unaffected on both topologies",
        "IV-2, Fig. 11",
        "from 274 to 424 ns a wire T grows by less than 1 % in every case; partly: in some",
        f"by {span(growth, '.2g')} %; less than 1 % in {counted(held, 'cases')}; "
        f"{cases.icons_counted}, two topologies",
        all_or_some(held),
        "tolerance.analyse_wires(icon_like(256), model, topology).plot()",
    )


def _wires_of_3000_ns(cases: _Cases) -> Finding:
    tolerance = np.concatenate(list(_wire_tolerances(cases).values()))
    above = tolerance > 3000
    sweeps = np.concatenate(list(cases.over_wires().values())).tolist()
    points = [sweep.at(FEC_INTERVAL_S[0]) for sweep in sweeps]
    per_wire_us = [1e6 * point.T / point.lambda_L_right for point in points]
    needed_us = (3000 - 1e9 * FEC_INTERVAL_S[0]) / 0.01 / 1e3
    return Finding(
        "wires-of-3000-ns",
        "A wire's latency must exceed 3000 ns before ICON's run time grows by 1 %",
        "IV-2",
        "the largest wire latency within 1 % is above 3000 ns in every case; partly: in some"
        f"{_NOT_BY_STAND_INS}",
        f"{span(tolerance)} ns, the median {np.median(tolerance):.0f} ns; above 3000 ns in "
        f"{counted(above, 'cases')}; it takes about {needed_us:.0f} µs of run time for each wire "
        f"on the critical path, here are {span(per_wire_us)} µs; {cases.icons_counted}, two "
        "topologies",
        cases.of_icon(all_or_some(above)),
        "tolerance.wire_tolerance(icon_like(256), model, topology)",
    )


def _placed_gains(cases: _Cases, method: Any) -> FloatArray:
    """Return a method's gain over block placement in percent, for each size and machine."""
    from workbench.placement import place

    name = next(iter(cases.icons)) if len(cases.icons) == 1 else list(cases.icons)[1]
    gains = []
    for ranks in (32, 64):
        graph = cases.icons[name](ranks).graph()
        gains += [
            100
            * place(graph, model, dragonfly(a=4, p=8, g=8), method=method, ranks_per_host=8).gain
            for model in cases.machines.values()
        ]
    return np.array(gains)


def _algorithm_3_gains_a_little(cases: _Cases) -> Finding:
    gains = _placed_gains(cases, "algorithm-3")
    small = (gains > 0) & (gains < 1)
    return Finding(
        "algorithm-3-gains-a-little",
        "Placement by Algorithm 3 reduces ICON's run time slightly, by less than 1 %; the paper "
        "calls it inconclusive",
        "appendix J, Fig. 20",
        "the predicted run time is less than that of block placement, by less than 1 %, in every "
        f"case; partly: in some{_NOT_BY_STAND_INS}",
        f"{span(gains, '.2g')} % less; {counted(small, 'cases')}; a program like ICON of 32 and 64 "
        f"ranks, 8 to a node of a dragonfly, on {len(cases.machines)} machines",
        cases.of_icon(all_or_some(small)),
        "placement.compare_placements(program, model, topology, ranks_per_host=8)",
    )


def _partitioner_is_slightly_worse(cases: _Cases) -> Finding:
    gains = _placed_gains(cases, "metis")
    worse = gains < 0
    return Finding(
        "partitioner-is-slightly-worse",
        "Placement by a partitioner of the bytes exchanged, Scotch's, is slightly slower for ICON "
        "than block placement",
        "appendix J, Fig. 20",
        "the predicted run time by METIS, a partitioner of the same kind, is more than that of "
        f"block placement in every case; partly: in some{_NOT_BY_STAND_INS}",
        f"{span(gains, '.2g')} % less; more in {counted(worse, 'cases')}; a program like ICON of "
        f"32 and 64 ranks, 8 to a node of a dragonfly, on {len(cases.machines)} machines",
        cases.of_icon(all_or_some(worse)),
        "placement.compare_placements(program, model, topology, ranks_per_host=8)",
    )


def _cannot_be_told() -> tuple[Finding, ...]:
    percent = [row[3] for rows in _TABLE_II.values() for row in rows]
    below = sum(value < 2 for value in percent)
    return (
        Finding(
            "predictions-are-within-2-percent",
            "Predicted run times of applications under injected latency are consistently within "
            "2 % of the measured ones",
            "III-C, Fig. 9 and Table II",
            "the relative RMSE over injected latencies is below 2 % for every application",
            f"Table II prints {span(percent, '.2f')} %, below 2 in {below} of {len(percent)} rows; "
            "here is no cluster whose latency can be raised, so no measured run time to compare "
            "with",
            "cannot be told here",
            "none",
        ),
        Finding(
            "injector-delays-as-intended",
            "Releasing received messages from a delay thread adds latency as intended, where "
            "delaying sends or a progress thread alone does not",
            "III-A, Fig. 8",
            "measured times of two eager messages fit the first scheme and not the others",
            "it takes the paper's changed MPICH and UCX on a network; neither is here",
            "cannot be told here",
            "none",
        ),
        Finding(
            "charm-adapts-to-latency",
            "NAMD on charm++ reorders its communication and withstands more latency than a trace "
            "taken without it shows",
            "VI, Fig. 12",
            "traces taken under more latency predict shorter run times there",
            "it takes traces of charm++ under injected latency; none is here",
            "cannot be told here",
            "none",
        ),
    )
