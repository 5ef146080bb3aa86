"""Paper 001: how much network latency a program tolerates.

Shen et al., LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear Programming.
"""

from __future__ import annotations

from typing import Any

from workbench.papers.paper import Paper

LLAMP = Paper("001", "Shen et al.: LLAMP, latency tolerance of programs")

_NO_APPLICATIONS = "generated programs, for the paper's applications are not recorded here"
_NO_RUNS = "no cluster of ours ran under injected latency, so that only the prediction is there"
_INJECTOR = "latency is not injected into an MPI library here; a replay takes any L instead"


@LLAMP.ours(
    "measured",
    reason=f"three programs recorded on 8 ranks instead of MILC, LULESH and ICON; {_NO_RUNS}",
)
def fig_1() -> Any:
    """Run time of three programs over the latency, and the zones of 1, 2 and 5 % slowdown."""
    from workbench import models, plotting, programs
    from workbench.sensitivity import analyse

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    names = ("transpose-8", "cg-8", "halo-8")
    return plotting.plot_tolerance({name: analyse(programs.load(name), network) for name in names})


LLAMP.not_ours(
    "fig-2",
    "The toolchain: traces, execution graphs, linear programs, solver, metrics",
    "a drawing of a program; README's map and notebook 05 show ours: recorder, graph, sweep or LP",
)


@LLAMP.ours("measured", reason="a recorded program instead of four lines of a trace")
def fig_3() -> Any:
    """A trace of blocking calls, its space-time diagram and its execution graph."""
    from workbench import models, programs, simulate

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    graph = programs.load("transpose-4").graph()
    return simulate.replay(graph, network, semantics="llamp", times=True)


@LLAMP.ours(
    "synthetic",
    reason="HiGHS instead of Gurobi, a replay of ours instead of LogGOPSim, one generated program; "
    "timed on this machine, once",
    also=("table-1",),
)
def fig_7() -> Any:
    """Run time of the linear program's solver against that of the simulator, by application."""
    from timeit import timeit

    import pandas as pd

    from workbench import models, programs, simulate
    from workbench.sensitivity import LatencyLP, Sweep

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    graph = programs.generate.cg(64, cells=128, iterations=8).graph()
    lp, sweep = LatencyLP(graph, network), Sweep(graph, network)
    seconds = {
        "linear program": timeit(lp.solve, number=1),
        "sweep": timeit(sweep.makespan, number=1),
        "simulator": timeit(lambda: simulate.replay(graph, network), number=1),
    }
    return pd.DataFrame({"operations": graph.num_ops, "seconds": seconds}).rename_axis("way")


LLAMP.not_ours(
    "fig-8", "Four ways to inject latency into messages, and what each delays", _INJECTOR
)


@LLAMP.ours("synthetic", reason=f"{_NO_APPLICATIONS}; {_NO_RUNS}")
def fig_9() -> Any:
    """Run time, λ_L and ρ_L over added latency, for weak and strong scaling."""
    from workbench import models, plotting, programs
    from workbench.sensitivity import analyse

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    sizes = {"weak": 16, "strong": 96}
    halos = {
        f"{scaling}, {ranks} ranks": programs.generate.halo(
            ranks,
            dims=3,
            cells=cells,
            scaling=scaling,
            ns_per_cell=100,
            overlap=True,
            rng=0,
            jitter=0.1,
        )
        for scaling, cells in sizes.items()
        for ranks in (8, 64)
    }
    return plotting.plot_tolerance({name: analyse(halos[name], network) for name in halos})


@LLAMP.ours("synthetic", reason="generated conjugate gradients instead of ICON, 64 and 256 ranks")
def fig_10() -> Any:
    """Latency tolerance with recursive doubling and with the ring for the allreduce."""
    from workbench import models, plotting, programs
    from workbench.sensitivity import analyse

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    results = {
        f"{ranks} ranks, {algorithm}": analyse(
            programs.generate.cg(ranks, cells=128, iterations=4, rng=0).graph(allreduce=algorithm),
            network,
        )
        for ranks in (64, 256)
        for algorithm in ("recursive-doubling", "ring")
    }
    return plotting.plot_tolerance(results)


@LLAMP.ours("synthetic", reason="generated conjugate gradients instead of ICON")
def fig_11() -> Any:
    """Tolerance of a wire's latency on a fat tree and on a dragonfly."""
    from workbench import models, programs, topology
    from workbench.plotting.tolerance.wires import plot_wire_tolerance
    from workbench.sensitivity import wire_tolerance

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    program = programs.generate.cg(256, cells=128, iterations=4, rng=0)
    graph = program.graph(allreduce="recursive-doubling")
    networks = [topology.fat_tree(16), topology.dragonfly(a=4, p=8, g=8)]
    found = {one.name: wire_tolerance(graph, network, one) for one in networks}
    tolerances = {
        name: {percent: seconds * 1e9 for percent, seconds in of_one.items()}
        for name, of_one in found.items()
    }
    return plot_wire_tolerance(tolerances, base_ns=274)


LLAMP.not_ours(
    "fig-12",
    "Measured and predicted run times of NAMD, traced at several latencies",
    "Charm++ schedules by what arrives; a recording here has one fixed order, as in the paper's "
    "own limit, and NAMD is not recorded",
)


@LLAMP.ours("synthetic", reason="a generated halo exchange on four ranks instead of one pair")
def fig_13() -> Any:
    """Non-blocking calls and their execution graph."""
    from workbench import models, programs, simulate

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    graph = programs.generate.halo(4, cells=64, iterations=1, overlap=True).graph()
    return simulate.replay(graph, network, semantics="llamp", times=True)


LLAMP.not_ours("fig-17", "The latency injector on top of MPICH and UCX", _INJECTOR)


@LLAMP.ours("synthetic", reason="a generated program instead of a drawing of two ranks")
def fig_18() -> Any:
    """Latencies of messages replaced by those of the wires and switches between their hosts."""
    from workbench import models, programs, topology
    from workbench.sensitivity import wire_sensitivity

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    program = programs.generate.halo(16, cells=64, iterations=2)
    return wire_sensitivity(program, network, topology.fat_tree(4)).to_frame()


@LLAMP.ours("synthetic", reason="a generated program instead of a drawing of a dragonfly")
def fig_19() -> Any:
    """A dragonfly whose wires to hosts, within groups and between groups have own latencies."""
    from workbench import models, programs, topology
    from workbench.sensitivity import wire_sensitivity

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    program = programs.generate.cg(256, cells=128, iterations=2, rng=0)
    return wire_sensitivity(program, network, topology.dragonfly(a=4, p=8, g=8)).to_frame()


@LLAMP.ours("synthetic", reason="run times are predicted, of generated conjugate gradients")
def fig_20() -> Any:
    """Run times with ranks placed in order, by Algorithm 3, and by the volume of messages."""
    from workbench import models, plotting, programs, topology
    from workbench.sensitivity import compare_placements

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    program = programs.generate.cg(32, cells=64, iterations=4, rng=0)
    placed = compare_placements(
        program,
        network,
        topology.dragonfly(a=4, p=2, g=5),
        methods=("block", "volume", "algorithm-3"),
    )
    return plotting.plot_placements(placed, name="cg on 32 ranks")


LLAMP.not_ours(
    "table-2",
    "Errors of predicted run times of seven applications on three numbers of nodes",
    f"{_NO_RUNS}; the replay itself agrees with LogGOPSim to the nanosecond "
    "(tests/conformance/test_loggopsim.py)",
)


@LLAMP.ours("synthetic", reason="solved by HiGHS or written to a file, as MPS or LP; here as text")
def algorithm_1() -> Any:
    """An execution graph converted to a linear program."""
    from workbench import models, programs
    from workbench.sensitivity import LatencyLP

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    ping = programs.generate.halo(2, dims=1, cells=4, iterations=1)
    return str(LatencyLP(ping, network).to_pulp())


@LLAMP.ours("synthetic", reason="beside the exact way: a sweep, which needs no step")
def algorithm_2() -> Any:
    """The critical latencies in an interval, found by ranging of the linear program."""
    import pandas as pd

    from workbench import models, programs
    from workbench.sensitivity import LatencyLP, Sweep

    network = models.LogGPS(L=3e-6, o=5e-6, g=0, G=0.018e-9, O=0, S=256 * 1024)
    graph = programs.generate.halo(4, cells=64, iterations=2, jitter=0.3, rng=1).graph()
    ranging = LatencyLP(graph, network).critical_latencies(0, 20e-6, step_s=0)
    exact = Sweep(graph, network).critical_latencies(0, 20e-6)
    found = {"Algorithm 2": sorted(ranging.latencies), "sweep": exact.L}
    columns = {f"{way} (µs)": pd.Series(L, dtype=float) * 1e6 for way, L in found.items()}
    return pd.DataFrame(columns)


@LLAMP.ours("synthetic", reason="a generated program; the text of the paper, step by step")
def algorithm_3() -> Any:
    """Ranks placed by swaps that gain the most by the sensitivity of each pair."""
    from workbench import models, programs, topology
    from workbench.sensitivity import place

    network = models.LogGPS(L=1.4e-6, o=6.03e-6, g=0, G=0.013e-9, O=0, S=256 * 1024)
    program = programs.generate.cg(32, cells=64, iterations=4, rng=0)
    dragonfly = topology.dragonfly(a=4, p=2, g=5)
    return place(program, network, dragonfly, method="algorithm-3").to_frame()
