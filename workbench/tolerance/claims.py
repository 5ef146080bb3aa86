"""The claims of Shen et al., LLAMP, judged on programs and machines that are at hand.

Each is a sentence of the paper in our words, with a rule that decides whether data agree with it
and the numbers of the rule; other programs and machines may answer otherwise. The texts of claims
and rules are in `datasets/findings/001.json`, beside the verdict and the evidence that the judges
here found last; a claim without a judge cannot be told here.

Run times are simulated without contention, as in the paper; those under added latency are of
recorded programs on an emulated cluster. Of the paper's applications none is here: claims on one
that grows with its ranks are judged on `icon_like` programs, whose computation follows the paper's
Table II. The numbers of ICON's own that hang on what the paper does not say cannot be told from
these stand-ins, whichever way they point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workbench import machines as profiles
from workbench.arrays import FloatArray
from workbench.findings import Findings, Verdict, all_or_some, counted, graded, span
from workbench.models import LogGPS
from workbench.papers.paper import findings_file
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.generate import cg, halo
from workbench.programs.graph import ExecutionGraph
from workbench.programs.program import Program
from workbench.programs.shipped import load
from workbench.tolerance.lp import LatencyLP
from workbench.tolerance.running_example import running_example
from workbench.tolerance.solver_times import timed
from workbench.tolerance.sweep import Sweep
from workbench.tolerance.wires import FEC_INTERVAL_S, Wires, along_wires
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
_WIRE_S, _WIRE_WITH_CODES_S = FEC_INTERVAL_S
_SCALES = (8, 32, 64)  # of Table II
_dragonfly = partial(dragonfly, a=4, p=8, g=8)  # of the case studies
_FIRST_COME = "master_worker"  # its master answers whichever worker sends first
_MOST_LP_OPS = 15_000  # chosen: eight of eleven shipped programs; the next has 24,576

Icon = Callable[[int], Program]
_Judged = tuple[Verdict, str]  # and the evidence


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
    chosen = programs or {name: load(name) for name in SHIPPED}
    shipped = {name: profiles.load(name).loggps for name in profiles.shipped()}
    like = {f"allreduce every {n}": partial(icon_like, reduce_every=n) for n in _REDUCE_EVERY}
    cases = _Cases(
        {name: graph_of(program) for name, program in chosen.items()},
        machines or shipped | {"Piz Daint": PIZ_DAINT},
        icons or like,
        stand_ins=icons is None,
    )
    judged: dict[str, _Judged] = {
        "running-example": _running_example(),
        "tolerance-differs-between-programs": _programs_differ(cases),
        "lambda-counts-messages": _lambda_counts_messages(cases),
        "slope-rises-to-the-longest-chain": _slopes_rise_to_the_longest_chain(cases),
        "rho-is-a-share": _rho_is_a_share(cases),
        "rendezvous-adds-no-constraint": _rendezvous_adds_no_constraint(cases),
        "algorithm-2-finds-all": _algorithm_2_finds_all(cases),
        "linear-program-beats-replay": _linear_programs_beat_replay(cases),
        "building-takes-seconds-a-million": _building_is_quick(cases),
        "weak-scaling-keeps-tolerance": _weak_scaling_keeps_tolerance(cases),
        "strong-scaling-lowers-tolerance": _strong_scaling_lowers_tolerance(cases),
        "ring-tolerates-a-quarter": _ring_tolerates_a_quarter(cases),
        "ring-hurts-more-at-scale": _ring_hurts_more_at_scale(cases),
        "ring-doubles-rho": _ring_doubles_rho(cases),
        "dragonfly-tolerates-marginally-more": _dragonfly_tolerates_marginally_more(cases),
        "correction-codes-do-no-harm": _correction_codes_do_no_harm(cases),
        "wires-of-3000-ns": _wires_of_3000_ns(cases),
        "algorithm-3-gains-a-little": _algorithm_3_gains_a_little(cases),
        "partitioner-is-slightly-worse": _partitioner_is_slightly_worse(cases),
        "injector-delays-as-intended": _injector_delays_as_intended(),
        "predictions-are-within-2-percent": _predictions_are_within_2_percent(),
        "charm-adapts-to-latency": _programs_adapt_to_latency(),
    }
    claims = {claim.name: claim for claim in Findings.load(findings_file("001"))}
    for name, (verdict, evidence) in judged.items():
        claims[name] = replace(claims[name], verdict=verdict, evidence=evidence)
    return Findings(tuple(claims.values()))


@dataclass(eq=False)
class _Cases:
    """The programs, the machines, and their sweeps, each packed once."""

    programs: Mapping[str, ExecutionGraph]
    machines: Mapping[str, LogGPS]
    icons: Mapping[str, Icon]
    stand_ins: bool  # whether the programs like ICON are ours
    kept: dict[tuple[int, str], list[Sweep]] = field(default_factory=dict)

    def on(self, graph: ExecutionGraph) -> list[Sweep]:
        """Return the sweep of a program on each machine."""
        first, *others = self.machines.values()
        packed = Sweep(graph, first)
        return [packed, *(packed.replace(model) for model in others)]

    @cached_property
    def by_program(self) -> dict[str, list[Sweep]]:
        """The sweep of each program on each machine."""
        return {name: self.on(graph) for name, graph in self.programs.items()}

    @property
    def every(self) -> list[Sweep]:
        """The sweeps of all programs on all machines."""
        return [sweep for sweeps in self.by_program.values() for sweep in sweeps]

    @property
    def small(self) -> list[Sweep]:
        """The programs that linear programs are solved for, on the first machine."""
        first = (sweeps[0] for sweeps in self.by_program.values())
        return [sweep for sweep in first if sweep.graph.num_ops <= _MOST_LP_OPS]

    def of_icons(self, ranks: int, allreduce: str = "recursive-doubling") -> list[Sweep]:
        """Return the sweep of each ICON-like program on each machine."""
        key = ranks, allreduce
        if key not in self.kept:
            graphs = [icon(ranks).graph(allreduce=allreduce) for icon in self.icons.values()]
            self.kept[key] = [sweep for graph in graphs for sweep in self.on(graph)]
        return self.kept[key]

    def by_allreduce(
        self, value: Callable[[Sweep], float], ranks: int = _CASE_STUDY_RANKS[-1]
    ) -> tuple[FloatArray, FloatArray]:
        """Return a value of each ICON-like program with recursive doubling, and with a ring."""
        doubling, ring = (
            np.array([value(sweep) for sweep in self.of_icons(ranks, allreduce)])
            for allreduce in ("recursive-doubling", "ring")
        )
        return doubling, ring

    @cached_property
    def over_wires(self) -> list[Sweep]:
        """The sweeps over the latency of wires, of all on the fat tree, then on the dragonfly."""
        ranks = _CASE_STUDY_RANKS[-1]
        wires = [Wires.of(network, ranks) for network in (fat_tree(16), _dragonfly())]
        packed = self.of_icons(ranks)
        return [along_wires(sweep, one, None, _WIRE_S) for one in wires for sweep in packed]

    @property
    def wire_tolerance_ns(self) -> FloatArray:
        """The largest latency of a wire within 1 %, of each of `over_wires`."""
        return np.array([1e9 * one.tolerance([1], _WIRE_S)[1] for one in self.over_wires])

    def added_by_scale(
        self, scaling: str, cells: int, cg_cells: int, others: Mapping[str, Icon] | None = None
    ) -> dict[str, FloatArray]:
        """Return the latency that may be added at 5 %, s, float64[scales, machines], by program."""
        stencil = partial(
            halo, dims=3, neighbours=26, cells=cells, ns_per_cell=1000, scaling=scaling,
            periodic=False, reduce_every=1,
        )  # fmt: skip
        gradients = partial(cg, dims=3, cells=cg_cells, scaling=scaling)
        makers: dict[str, Icon] = {"halo": stencil, "cg": gradients, **(others or {})}
        return {
            name: np.array(
                [[_added(sweep) for sweep in self.on(make(ranks).graph())] for ranks in _SCALES]
            )
            for name, make in makers.items()
        }

    def on_icon(self, verdict: Verdict) -> Verdict:
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


def _added(sweep: Sweep) -> float:
    """Return the latency in s that may be added for a growth of T by 5 %."""
    return sweep.tolerance([5])[5] - sweep.model.L


def _lp(sweep: Sweep, **changes: int) -> LatencyLP:
    """Return the linear program of a sweep's program and model, with changes of the model."""
    return LatencyLP(sweep.graph, sweep.model.replace(**changes), match=sweep.match)


def _running_example() -> _Judged:
    lp = LatencyLP(*running_example())
    at, below = lp.solve(), lp.solve(L=0.2e-6)
    tolerated = lp.largest_latency(2e-6, solver="highs")
    critical = lp.critical_latencies(0.2e-6, 0.5e-6, step_s=0.0)
    late = LatencyLP(*running_example(1000)).solve(L=0.0)
    pairs = (
        (at.T, 1.615e-6),
        (at.lambda_L, 1.0),
        (below.lambda_L, 0.0),
        (tolerated, 0.885e-6),
        (float(critical.latencies[0]), 0.385e-6),
        (late.T, 2.015e-6),
    )
    same = [abs(ours - theirs) <= 1e-9 * max(theirs, 1e-6) for ours, theirs in pairs]
    return all_or_some(same), (
        f"{counted(same, 'numbers')}; T {at.T * 1e6:.4g} µs, critical latency "
        f"{critical.latencies[0] * 1e6:.4g} µs after {len(critical.L)} solves, tolerated "
        f"{tolerated * 1e6:.4g} µs"
    )


def _programs_differ(cases: _Cases) -> _Judged:
    added = np.array([[_added(one) for one in sweeps] for sweeps in cases.by_program.values()])
    ratio = added.max(axis=0) / added.min(axis=0)
    first, names = added[:, 0], list(cases.programs)
    return graded(ratio >= 30, ratio >= 3), (
        f"{span(ratio)} times over {cases.counted}; on the first {names[first.argmin()]} can take "
        f"{format_quantity(first.min(), 'time')} and {names[first.argmax()]} "
        f"{format_quantity(first.max(), 'time')}"
    )


def _lambda_counts_messages(cases: _Cases) -> _Judged:
    eager: list[float] = []
    met: list[float] = []  # with a rendezvous on the path
    for sweep in cases.every:
        path = sweep.critical_path()
        per_message = sweep.at().lambda_L_right / max(len(path.messages), 1)
        sizes = sweep.graph.size[sweep.send_ops[path.messages]]
        (met if (sizes > sweep.model.S).any() else eager).append(per_message)
    right = np.equal(eager, 1)
    holds = len(right) > 0 and bool(right.all())
    return graded([holds and not met], [holds]), (
        f"equal in {counted(right, 'cases')} without a rendezvous on the path; "
        + (f"with one, {span(met, '.2g')} latencies a message; " if met else "")
        + cases.counted
    )


def _slopes_rise_to_the_longest_chain(cases: _Cases) -> _Judged:
    holds, shares = [], []
    for sweep in cases.small:
        L = sweep.model.L
        found = sweep.critical_latencies(L, 1.0)
        slopes = np.concatenate([found.lambda_left[:1], found.lambda_right])
        longest = sweep.at(1.0).lambda_L_right
        rises = (np.diff(slopes) > 0).all() and slopes[-1:].max(initial=longest) == longest
        holds.append(bool(rises) and len(found) <= longest)
        shares.append(sweep.at(L).lambda_L_left / max(longest, 1))
    return all_or_some(holds), (
        f"{counted(holds, 'programs')}; at the base latency λ_L is {span(shares, '.2f')} of what "
        "it becomes"
    )


def _rho_is_a_share(cases: _Cases) -> _Judged:
    rho = np.array([sweep.at().rho_L for sweep in cases.every])
    printed = 1 / rho[rho > 0]
    return all_or_some(printed <= 1), (
        f"as printed it is {span(printed, '.3g')}; its inverse, L λ_L / T, is {span(rho, '.2g')} "
        f"over {cases.counted}, and is what the paper's figures and the workbench show"
    )


def _rendezvous_adds_no_constraint(cases: _Cases) -> _Judged:
    met, eager = (
        np.array([_lp(sweep, S=S).num_rows for sweep in cases.small]) for S in (0, 2**31 - 1)
    )
    same = met == eager
    return all_or_some(same), f"{counted(same, 'programs')}, of {span(eager)} rows"


def _algorithm_2_finds_all(cases: _Cases) -> _Judged:
    missed, extra, total, by_tangents, by_ranging = 0, 0, 0, 0.0, 0.0
    right = []
    chosen = sorted(cases.small, key=lambda sweep: sweep.graph.num_ops)[:3]
    for sweep in chosen:
        low, high = sweep.model.L, sweep.tolerance([1.0])[1.0]
        exact, tangents = timed(sweep.critical_latencies, low, high)
        lp, building = timed(_lp, sweep)
        found, ranging = timed(lp.critical_latencies, low, high, step_s=(high - low) / 20)
        by_tangents += tangents
        by_ranging += building + ranging
        near = np.abs(exact.L[:, None] - found.latencies[None, :]) <= 1e-12
        hit, real = near.any(axis=1), near.any(axis=0)
        missed += int((~hit).sum())
        extra += int((~real).sum())
        total += len(exact.L)
        right.append(bool(hit.all() and real.all()))
    return graded(right if by_ranging < by_tangents else [False], right), (
        f"it misses {missed} of {total} critical latencies within 1 % of T on the {len(chosen)} "
        f"smallest programs, returns {extra} that are none, and takes {by_ranging:.2g} s; tangents "
        f"find all in {by_tangents:.2g} s"
    )


def _linear_programs_beat_replay(cases: _Cases) -> _Judged:
    from workbench.simulate import replay

    gains = []
    for sweep in cases.small:
        replay(sweep.graph, sweep.model)  # the first run is not timed
        _, replayed = timed(replay, sweep.graph, sweep.model)
        gains.append(replayed / _lp(sweep).solve().seconds)
    faster = np.array(gains) > 1
    theirs = np.array([simulated / solved for solved, simulated in _TABLE_I])
    return graded([faster.all() and np.median(gains) >= 6], faster), (
        f"replay / HiGHS {span(gains, '.2g')} over {len(gains)} programs of at most "
        f"{_MOST_LP_OPS:,} operations; Table I has {span(theirs, '.1f')}, at least 6 in "
        f"{counted(theirs >= 6, 'rows')}, with Gurobi on programs of 34,400 to 156 million events, "
        "and neither solver nor sizes are those here"
    )


def _building_is_quick(cases: _Cases) -> _Judged:
    spent = [timed(_lp, sweep)[1] / sweep.graph.num_ops * 1e6 for sweep in cases.small]
    quick = np.array(spent) < 15
    return graded([2 * quick.sum() > len(quick)], []), (
        f"{span(spent, '.2g')} s a million over {len(spent)} programs"
    )


def _weak_scaling_keeps_tolerance(cases: _Cases) -> _Judged:
    added = cases.added_by_scale("weak", 16, 48)
    ratios = {name: table[-1] / table[0] for name, table in added.items()}
    kept = [bool(((r >= 2 / 3) & (r <= 1.5)).all()) for r in ratios.values()]
    return all_or_some(kept), (
        "; ".join(f"{name} to {span(r, '.2f')} of its first" for name, r in ratios.items())
        + f"; {len(cases.machines)} machines; an allreduce takes more rounds with more ranks"
    )


def _strong_scaling_lowers_tolerance(cases: _Cases) -> _Judged:
    added = list(cases.added_by_scale("strong", 64, 192, cases.icons).values())
    ratios = [table[-1] / table[0] for table in added]
    falls = [
        bool((np.diff(table, axis=0) < 0).all() and (ratio <= 0.5).all())
        for table, ratio in zip(added, ratios, strict=True)
    ]
    return all_or_some(falls), (
        f"to {span(ratios, '.2f')} of its first over {len(ratios)} programs on "
        f"{len(cases.machines)} machines"
    )


def _ring_tolerates_a_quarter(cases: _Cases) -> _Judged:
    doubling, ring = cases.by_allreduce(lambda sweep: sweep.tolerance([5])[5])
    ratio = doubling / ring
    return cases.on_icon(graded((ratio >= 3) & (ratio <= 5), [bool((ratio > 1).all())])), (
        f"{span(ratio, '.2g')} times, the median {np.median(ratio):.2g}, over "
        f"{cases.icons_counted}; the fewer allreduces, the nearer to 1"
    )


def _ring_hurts_more_at_scale(cases: _Cases) -> _Judged:
    ratios = {}
    for ranks in _CASE_STUDY_RANKS:
        doubling, ring = cases.by_allreduce(lambda sweep: sweep.at().lambda_L_right, ranks)
        ratios[ranks] = ring / doubling
    table = np.array(list(ratios.values()))
    told = ", ".join(f"{span(row, '.2g')} at {ranks}" for ranks, row in ratios.items())
    return (
        all_or_some((np.diff(table, axis=0) > 0).all(axis=0) & (table > 1).all(axis=0)),
        f"times as high: {told} ranks; {cases.icons_counted}",
    )


def _ring_doubles_rho(cases: _Cases) -> _Judged:
    doubling, ring = cases.by_allreduce(lambda sweep: sweep.at(sweep.model.L + 100e-6).rho_L)
    double = (ring >= 0.25) & (ring >= 1.5 * doubling) & (ring <= 2.5 * doubling)
    return cases.on_icon(all_or_some(double)), (
        f"{span(100 * ring)} % with the ring, {span(100 * doubling)} % without; "
        f"{counted(double, 'cases')}; {cases.icons_counted}"
    )


def _dragonfly_tolerates_marginally_more(cases: _Cases) -> _Judged:
    on_fat_tree, on_dragonfly = np.split(cases.wire_tolerance_ns - 1e9 * _WIRE_S, 2)
    ratio = on_dragonfly / on_fat_tree
    more = ratio > 1
    return graded(more & (ratio <= 1.5), more), (
        f"{span(ratio, '.3f')} times that of the fat tree; larger in {counted(more, 'cases')}; "
        f"{cases.icons_counted}"
    )


def _correction_codes_do_no_harm(cases: _Cases) -> _Judged:
    growth = np.array(
        [
            100 * (sweep.makespan(_WIRE_WITH_CODES_S) / sweep.makespan(_WIRE_S) - 1)
            for sweep in cases.over_wires
        ]
    )
    held = growth < 1
    return all_or_some(held), (
        f"by {span(growth, '.2g')} %; less than 1 % in {counted(held, 'cases')}; "
        f"{cases.icons_counted}, two topologies"
    )


def _wires_of_3000_ns(cases: _Cases) -> _Judged:
    tolerance = cases.wire_tolerance_ns
    above = tolerance > 3000
    points = [sweep.at(_WIRE_S) for sweep in cases.over_wires]
    per_wire_us = [1e6 * point.T / point.lambda_L_right for point in points]
    needed_us = (3000 - 1e9 * _WIRE_S) / 0.01 / 1e3
    return cases.on_icon(all_or_some(above)), (
        f"{span(tolerance)} ns, the median {np.median(tolerance):.0f} ns; above 3000 ns in "
        f"{counted(above, 'cases')}; it takes about {needed_us:.0f} µs of run time for each wire "
        f"on the critical path, here are {span(per_wire_us)} µs; {cases.icons_counted}, two "
        "topologies"
    )


def _algorithm_3_gains_a_little(cases: _Cases) -> _Judged:
    return _placed(cases, "algorithm-3", lambda gains: (gains > 0) & (gains < 1))


def _partitioner_is_slightly_worse(cases: _Cases) -> _Judged:
    return _placed(cases, "metis", lambda gains: gains < 0, "more in ")


def _placed(
    cases: _Cases,
    method: Literal["algorithm-3", "metis"],
    holds: Callable[[FloatArray], NDArray[np.bool_]],  # of gains over block placement, %
    words: str = "",
) -> _Judged:
    from workbench.placement import place

    icon = list(cases.icons.values())[:2][-1]  # the second of several
    network = _dragonfly()
    gains = np.array(
        [
            100 * place(graph, model, network, method=method, ranks_per_host=8).gain
            for graph in (icon(32).graph(), icon(64).graph())
            for model in cases.machines.values()
        ]
    )
    right = holds(gains)
    return cases.on_icon(all_or_some(right)), (
        f"{span(gains, '.2g')} % less; {words}{counted(right, 'cases')}; a program like ICON of "
        f"32 and 64 ranks, 8 to a node of a dragonfly, on {len(cases.machines)} machines"
    )


def _predictions_are_within_2_percent() -> _Judged:
    from workbench.validation import validation_report

    printed = np.array([row[-1] for rows in _TABLE_II.values() for row in rows])
    report = validation_report(arrivals=False)  # as LLAMP predicts: whom a master answers as traced
    within = report.rrmse_percent < 2
    worst = int(np.argmax(report.rrmse_percent))
    return all_or_some(within), (
        f"below 2 % in {counted(within, 'recordings')} of emulated runs, "
        f"{span(report.rrmse_percent, '.2f')} %, the most for {report.program[worst]} on "
        f"{report.ranks[worst]} ranks; {span(np.abs(report.base_percent), '.1f')} % with nothing "
        f"added, {span(report.effect_percent, '.1f')} % of the time that latency adds; Table II "
        f"prints {span(printed, '.2f')} %, below 2 in {counted(printed < 2, 'rows')}"
    )


def _injector_delays_as_intended() -> _Judged:
    from workbench.validation import shipped_two_messages
    from workbench.validation.two_messages import EXPECTED, SCHEMES

    found = shipped_two_messages()
    held, first, second = found.growth.T
    others = [scheme for scheme in SCHEMES if scheme != EXPECTED and found.fits(scheme)]
    return all_or_some([found.fits(EXPECTED) and not others]), (
        "of a library for any MPI in place of the changed MPICH and UCX, between two ranks of one "
        f"machine: with {span(1e3 * found.added_s[1:], '.3g')} ms added the sender is free "
        f"{span(held, '.3f')} latencies later, and the first message there {span(first, '.3f')} "
        f"and the second {span(second, '.3f')}; sends delayed would make it 2, 1 and 2, a progress "
        "thread 0, 1 and 2"
    )


def _programs_adapt_to_latency() -> _Judged:
    from workbench.validation import predict_recording, predict_traces, shipped_recordings

    adapting = [one for one in shipped_recordings() if one.name == _FIRST_COME]
    withstands, told = [], []
    for recording in adapting:
        # As the trace has it: the claim is of what such a trace cannot foresee.
        found = predict_recording(recording, arrivals=False)
        # By more than runs differ: their upper quartile, too, is below the prediction.
        withstands.append(bool(found.points.spread.p75[-1] < found.predicted_s[-1]))
        less = 100 * (1 - found.measured_s[-1] / found.predicted_s[-1])
        told.append(f"{less:.1f} % on {recording.ranks} ranks")
    shorter, changes = [], []
    for recording in (one for one in adapting if len(one.traces) > 1):
        found_by_trace = predict_traces(recording)
        first, *others = found_by_trace.predictions
        for added, one in zip(found_by_trace.traced_s[1:].tolist(), others, strict=True):
            there = int(np.argmin(np.abs(one.added_s - added)))
            change = 100 * (one.predicted_s[there] / first.predicted_s[there] - 1)
            shorter.append(bool(change < 0))
            changes.append(f"{change:+.1f} % at {format_quantity(added, 'time')}")
    return graded(withstands + shorter if shorter else [False], withstands + shorter), (
        "of a master who hands work to whoever answers first, emulated, in place of NAMD: with the "
        f"most latency added it takes {' and '.join(told)} less than a trace without says, beyond "
        f"the quartiles of the runs in {counted(withstands, 'recordings')}; traces taken under "
        f"more latency predict {' and '.join(changes)}, shorter in {counted(shorter, 'traces')}"
    )
