"""Paper 004: uncertainty of a coarse-grained simulator.

Wilke et al., Validation and Uncertainty Assessment of Extreme-Scale HPC Simulation through
Bayesian Inference.
"""

from __future__ import annotations

from typing import Any

from workbench.findings import Findings
from workbench.papers.paper import Paper

VALIDATION = Paper("004", "Wilke et al.: validation of SST/macro by Bayesian inference")

_TRUTH = (
    "an analytic model of rounds instead of SST/macro; Hopper's replicas were never published, so "
    "that points are synthetic: a finer model with known parameters, and noise"
)
_NODES = "which nodes the jobs had is not published; random ones, in the torus' order"


@VALIDATION.ours(
    "synthetic",
    reason=f"{_TRUTH}; {_NODES}; injection bandwidth has no visible share here, where the paper "
    "finds a small one",
)
def fig_1() -> Any:
    """MPI_Scatter on Hopper and simulated, and which parameter its time depends on."""
    from workbench.uq.collectives import validate_collective

    return validate_collective("scatter").plot()


@VALIDATION.ours(
    "synthetic",
    reason=f"{_TRUTH}; {_NODES}; the links that are congested with 192 nodes in the paper are not "
    "so here",
)
def fig_2() -> Any:
    """MPI_Gather on Hopper and simulated, and which parameter its time depends on."""
    from workbench.uq.collectives import validate_collective

    return validate_collective("gather").plot()


@VALIDATION.ours(
    "synthetic",
    reason=f"{_TRUTH}; {_NODES}, without congestion, and then shuffled, with congestion from 128 "
    "nodes on, where the paper has it with 512",
)
def fig_3() -> Any:
    """MPI_Allgather on Hopper and simulated, and which parameter its time depends on."""
    from bokeh.layouts import column

    from workbench.uq.collectives import HOPPER, SHUFFLED_HOPPER, validate_collective

    studies = [validate_collective("allgather", places) for places in (HOPPER, SHUFFLED_HOPPER)]
    return column(*(study.plot() for study in studies), sizing_mode="stretch_width")


@VALIDATION.ours(
    "synthetic",
    reason=f"{_TRUTH}; intervals without the points, for there is no machine to measure; {_NODES}",
)
def fig_4() -> Any:
    """Three collectives on more nodes than calibrated, with intervals of 90 %."""
    from bokeh.layouts import column

    from workbench.uq.collectives import validate_collective

    nodes = {"allgather": 1024, "gather": 4096, "scatter": 4096}
    found = [validate_collective(name).predict(count).plot() for name, count in nodes.items()]
    return column(*found, sizing_mode="stretch_width")


_SURVEY = "a survey of other projects' simulators; nothing is computed"
VALIDATION.not_ours("table-1", "Simulators of HPC by analytic models", _SURVEY)
VALIDATION.not_ours("table-2", "Simulators of HPC that simulate the structure", _SURVEY)


@VALIDATION.ours(
    "published",
    reason="the range of Link BW is printed; those of the other parameters are chosen here",
)
def table_3() -> Any:
    """The parameters of the simulated collectives and their nominal values."""
    import pandas as pd

    from workbench.uq.collectives.gemini import BOX, NOMINAL

    columns = {"unit": BOX.units, "nominal": NOMINAL, "low": BOX.low, "high": BOX.high}
    return pd.DataFrame(columns, index=pd.Index(BOX.names, name="parameter"))


@VALIDATION.ours(
    "published",
    "synthetic",
    reason=f"printed, in closed form, and by the full chain with {_TRUTH}; the bandwidth and the "
    "noise of the truth are those that the printed table implies, so that this checks the "
    "procedure and not Hopper. The torus' shape is not printed: 32 x 32 x 32",
)
def table_4() -> Any:
    """Predicted times of MPI_Gather on 65,536 nodes, with intervals of 90 %."""
    from workbench.uq.collectives import compare_table_4

    return compare_table_4().to_frame()


@VALIDATION.ours("synthetic", reason=f"{_TRUTH}; seven parameters, under noise relative to time")
def algorithm_posterior() -> Any:
    """Parameters inferred from run times by Markov chain Monte Carlo (6)."""
    from workbench.uq.collectives import validate_collective

    return validate_collective("gather").posterior()


@VALIDATION.ours(
    "simulated",
    reason="256 points of a Sobol' sequence in seven parameters, where the paper has 1296 and 216 "
    "in four and three; largest relative errors at 100 other points of all 76 tests",
)
def algorithm_surrogate() -> Any:
    """A polynomial of third order in place of the simulator (6)."""
    import pandas as pd

    from workbench.uq.collectives import validate_collective

    studies = [validate_collective(name) for name in ("allgather", "gather", "scatter")]
    return pd.concat([study.to_frame() for study in studies], ignore_index=True)


@VALIDATION.ours(
    "simulated", reason="of the mean-free variance; equation 3 as printed has the mean"
)
def algorithm_sobol() -> Any:
    """Variance-based sensitivity of run time to each parameter (6)."""
    from workbench.uq.collectives import validate_collective

    return validate_collective("allgather").sobol()


@VALIDATION.claims("published", "synthetic", "simulated")
def findings() -> Findings:
    """Judge the paper's claims on a synthetic Hopper and on real systems whose replicas ship."""
    from workbench import uq

    return uq.findings()
