"""Paper 001: how much network latency a program tolerates.

Shen et al., LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear Programming.
"""

from __future__ import annotations

from typing import Any

from workbench.findings import Findings
from workbench.papers.paper import Paper

LLAMP = Paper("001", "Shen et al.: LLAMP, latency tolerance of programs")

_RECORDED = (
    "small programs of ours on 4 and 8 hosts that are emulated on one machine, instead of "
    "applications on a cluster of 188 nodes (III-B): Open MPI over TCP, latency added by a switch "
    "instead of in MPICH and UCX; L, o and G of these hosts instead of 3 µs and 0.018 ns; medians "
    "of five repeats instead of means of ten; computation is sleep"
)
_TIMED = (
    "HiGHS instead of Gurobi and a replay of ours instead of LogGOPSim, on shipped programs of at "
    "most 28,800 events; a sweep beside them; timed on this machine"
)
_ICON = "generated programs with ICON's computation and a halo exchange, for ICON is not recorded"


@LLAMP.ours("emulated", reason=f"with measured run times as well; {_RECORDED}")
def fig_1() -> Any:
    """Run time of three programs over the latency, and the zones of 1, 2 and 5 % slowdown."""
    from workbench import tolerance, validation

    names = ("transpose-4", "cg-4", "halo2d-4")
    found = {one: validation.predict_recording(validation.recording_of(one)) for one in names}
    analyses = {name: one.analysis for name, one in found.items()}
    runs = {name: one.runs for name, one in found.items()}
    return tolerance.plot_tolerance(analyses, measured=runs)


LLAMP.not_ours(
    "fig-2",
    "The toolchain: traces, execution graphs, linear programs, solver, metrics",
    "a drawing of a program; the map and notebook 05 show ours: recorder, graph, sweep or LP",
)


@LLAMP.ours(reason="the same message and computations, as a space-time diagram of the replay")
def fig_3() -> Any:
    """Blocking calls become an execution graph: an eager message between two computing ranks."""
    from workbench import simulate, tolerance

    return simulate.replay(*tolerance.running_example(), semantics="llamp", times=True)


@LLAMP.ours()
def fig_4() -> Any:
    """Run time and λ_L of the running example over the latency, with the critical latency."""
    from workbench import tolerance

    return tolerance.analyse(*tolerance.running_example(), interval=(0, 1e-6))


@LLAMP.ours()
def fig_5() -> Any:
    """The running example's linear program: 1.615 µs at least with a latency of 0.5 µs."""
    from workbench import tolerance

    return tolerance.LatencyLP(*tolerance.running_example()).plot()


@LLAMP.ours()
def fig_6() -> Any:
    """The same, maximised: the largest latency with a run time of 2 µs."""
    from workbench import tolerance

    return tolerance.LatencyLP(*tolerance.running_example()).plot(T=2e-6)


@LLAMP.ours("measured", "synthetic", reason=_TIMED)
def fig_7() -> Any:
    """Run time of the linear program's solver against that of the simulator, by application."""
    from workbench import tolerance

    return tolerance.time_solvers()


@LLAMP.ours("measured", "synthetic", reason=_TIMED)
def table_1() -> Any:
    """Run times of the solver and of LogGOPSim, and the events of each program."""
    from workbench import tolerance

    return tolerance.time_solvers().to_frame()


@LLAMP.ours(
    "simulated",
    reason="when each rank ends, by a replay in which an injector's holds are computations, in "
    "place of a drawing; 2 µs are added to L of 3 µs, o is 1 µs. The emulated cluster's switch is "
    "A, and measure.delay is D, for any MPI; validation.shipped_two_messages has D measured",
)
def fig_8() -> Any:
    """Four ways to inject latency into messages, and what each delays."""
    import pandas as pd

    from workbench import models, programs, simulate

    ways = {  # ns added to L, held before each send, after the first and the second receive
        "A, expected, and D, delay thread": (2000, 0, 0, 0),
        "B, sends delayed": (0, 2000, 0, 0),
        "C, progress thread": (0, 0, 1000, 2000),
    }
    rows = {}
    for way, (added, before_send, first, second) in ways.items():
        builder = programs.ProgramBuilder(2, source=way)
        for hold in (first, second):
            builder.compute(0, before_send)
            builder.send(0, 1, 1)
            builder.recv(1, 0, 1)
            builder.compute(1, hold)
        model = models.LogGPS(L=3e-6 + added * 1e-9, o=1e-6, g=0, G=0, O=0, S=1024)
        rows[way] = simulate.replay(builder.build().graph(), model, semantics="llamp").finish_ns
    return pd.DataFrame(rows, index=["R0 ends (ns)", "R1 ends (ns)"]).T.rename_axis("way")


@LLAMP.ours("emulated", reason=_RECORDED)
def fig_9() -> Any:
    """Measured and predicted run times, λ_L and ρ_L over the added latency."""
    from bokeh.layouts import column

    from workbench import validation

    recordings = validation.shipped_recordings()
    found = [validation.predict_recording(one, arrivals=False) for one in recordings]
    return column(*(one.plot() for one in found), sizing_mode="stretch_width")


@LLAMP.ours("synthetic", reason=_ICON)
def fig_10() -> Any:
    """Latency tolerance with recursive doubling and with the ring for the allreduce."""
    from workbench import tolerance
    from workbench.tolerance.claims import PIZ_DAINT

    programs = {ranks: tolerance.icon_like(ranks) for ranks in (64, 256)}
    found = {
        f"{ranks} ranks, {name}": tolerance.analyse(program.graph(allreduce=name), PIZ_DAINT)
        for ranks, program in programs.items()
        for name in ("recursive-doubling", "ring")
    }
    return tolerance.plot_tolerance(found)


@LLAMP.ours("synthetic", reason=_ICON)
def fig_11() -> Any:
    """Run time over the latency of a wire, 274 to 424 ns, on a fat tree and on a dragonfly."""
    from workbench import tolerance, topology
    from workbench.tolerance.claims import PIZ_DAINT

    program = tolerance.icon_like(256)
    networks = (topology.fat_tree(16), topology.dragonfly(a=4, p=8, g=8))
    found = {one.family: tolerance.analyse_wires(program, PIZ_DAINT, one) for one in networks}
    return tolerance.plot_tolerance(found)


@LLAMP.ours(
    "emulated",
    reason="a master who hands work to whoever answers first, instead of NAMD on Charm++; here the "
    "traces under more latency predict no better than that under none: the order of the workers is "
    f"all that differs between them; {_RECORDED}",
)
def fig_12() -> Any:
    """Measured and predicted run times of NAMD, traced at several latencies."""
    from workbench import validation

    return validation.predict_traces(validation.recording_of("master_worker-4"))


@LLAMP.ours("synthetic", reason="a generated halo exchange on four ranks instead of one pair")
def fig_13() -> Any:
    """Non-blocking calls become an execution graph."""
    from workbench import machines, programs, simulate

    network = machines.load("azure-hb96v3-hdr").loggps
    graph = programs.generate.halo(4, cells=64, iterations=1, overlap=True).graph()
    return simulate.replay(graph, network, semantics="llamp", times=True)


@LLAMP.ours(reason="the replay's times; that an exchange takes four latencies is read from LLAMP")
def fig_14() -> Any:
    """A blocking message under the rendezvous protocol, as a space-time diagram."""
    from workbench import simulate, tolerance

    example = tolerance.running_example(rendezvous=True)
    return simulate.replay(*example, semantics="llamp", times=True)


@LLAMP.ours()
def fig_15() -> Any:
    """The linear program of the running example under the rendezvous protocol."""
    from workbench import tolerance

    return tolerance.LatencyLP(*tolerance.running_example(rendezvous=True)).to_text()


@LLAMP.ours()
def fig_16() -> Any:
    """Algorithm 2 on the running example, from 0.5 down to 0.2 µs."""
    from workbench import tolerance

    lp = tolerance.LatencyLP(*tolerance.running_example())
    return lp.plot(ranging=lp.critical_latencies(0.2e-6, 0.5e-6, step_s=0))


LLAMP.not_ours(
    "fig-17",
    "The latency injector on top of MPICH and UCX",
    "a drawing of a program; ours, measure.delay, stands between a program and any MPI, with the "
    "same two threads, and measure.delay.run_delayed runs a program on it",
)


@LLAMP.ours("synthetic", reason="a generated program instead of a drawing of two ranks")
def fig_18() -> Any:
    """Latencies of messages replaced by those of the wires and switches between their hosts."""
    from workbench import tolerance, topology
    from workbench.tolerance.claims import PIZ_DAINT

    program, network = tolerance.icon_like(16), topology.fat_tree(4)
    return tolerance.wire_sensitivity(program, PIZ_DAINT, network).to_frame()


@LLAMP.ours("synthetic", reason="λ of each class for a generated program, instead of a drawing")
def fig_19() -> Any:
    """A dragonfly whose wires to hosts, within groups and between groups have own latencies."""
    from workbench import tolerance, topology
    from workbench.tolerance.claims import PIZ_DAINT

    program, network = tolerance.icon_like(256), topology.dragonfly(a=4, p=8, g=8)
    return tolerance.wire_sensitivity(program, PIZ_DAINT, network).to_frame()


@LLAMP.ours("synthetic", reason=f"{_ICON}; METIS instead of Scotch; the run times are predicted")
def fig_20() -> Any:
    """Run times with ranks placed in order, by Algorithm 3, and by a partitioner of the bytes."""
    from workbench import placement, plotting, tolerance, topology
    from workbench.tolerance.claims import PIZ_DAINT

    program, network = tolerance.icon_like(32), topology.dragonfly(a=4, p=2, g=5)
    methods = placement.compare_placements(
        program, PIZ_DAINT, network, methods=("block", "algorithm-3", "metis")
    )
    return plotting.plot_placements(methods, name="an ICON-like program on 32 ranks")


@LLAMP.ours("emulated", reason=_RECORDED)
def table_2() -> Any:
    """Errors of predicted run times of seven applications on three numbers of nodes."""
    from workbench import validation

    return validation.validation_report(arrivals=False).to_frame()


@LLAMP.ours(reason="printed as equation 6, of the running example; to_lp and to_mps write files")
def algorithm_1() -> Any:
    """An execution graph converted to a linear program."""
    from workbench import tolerance

    return tolerance.LatencyLP(*tolerance.running_example()).to_text()


@LLAMP.ours("measured", reason="with a step of 1 µs, beside a sweep over the graph, which has none")
def algorithm_2() -> Any:
    """The critical latencies in an interval, from the ranges in which a basis stays optimal."""
    import pandas as pd

    from workbench import machines, programs, tolerance

    network = machines.load("azure-hb96v3-hdr").loggps
    graph = programs.load("halo-4").graph()
    lp, sweep = tolerance.LatencyLP(graph, network), tolerance.Sweep(graph, network)
    ranging = lp.critical_latencies(0, 50e-6, step_s=1e-6)
    found = {"Algorithm 2": ranging.latencies[::-1], "sweep": sweep.critical_latencies(0, 50e-6).L}
    return pd.DataFrame({f"{way} (µs)": pd.Series(L * 1e6) for way, L in found.items()})


@LLAMP.ours("synthetic", reason=_ICON)
def algorithm_3() -> Any:
    """Ranks placed by swaps, each the one that the pairs' sensitivities promise most of."""
    from workbench import placement, tolerance, topology
    from workbench.tolerance.claims import PIZ_DAINT

    program, network = tolerance.icon_like(32), topology.dragonfly(a=4, p=2, g=5)
    return placement.place(program, PIZ_DAINT, network, method="algorithm-3").to_frame()


@LLAMP.claims("measured", "synthetic", "published", "emulated")
def findings() -> Findings:
    """Judge the paper's claims on shipped programs, recordings and machines with a profile."""
    from workbench import tolerance

    return tolerance.findings()
