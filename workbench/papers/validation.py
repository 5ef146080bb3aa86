"""Paper 004: uncertainty of a coarse-grained simulator.

Wilke et al., Validation and Uncertainty Assessment of Extreme-Scale HPC Simulation through
Bayesian Inference.
"""

from __future__ import annotations

from workbench.papers.paper import Paper

VALIDATION = Paper("004", "Wilke et al.: validation of SST/macro by Bayesian inference")

for part, title in {
    "fig-1": "MPI_Scatter on Hopper and simulated, and which parameter its time depends on",
    "fig-2": "MPI_Gather on Hopper and simulated, and which parameter its time depends on",
    "fig-3": "MPI_Allgather on Hopper and simulated, and which parameter its time depends on",
    "fig-4": "Three collectives on more nodes than calibrated, with intervals of 90 %",
    "table-1": "Simulators of HPC by analytic models",
    "table-2": "Simulators of HPC that simulate the structure",
    "table-3": "The parameters of the simulated collectives and their nominal values",
    "table-4": "Predicted times of MPI_Gather on 65,536 nodes, with intervals of 90 %",
    "algorithm-posterior": "Parameters inferred from run times by Markov chain Monte Carlo (6)",
    "algorithm-surrogate": "A polynomial of third order in place of the simulator (6)",
    "algorithm-sobol": "Variance-based sensitivity of run time to each parameter (6)",
    "claim-runtimes-within-the-observed": "In general simulated run times lie within the range of "
    "the measured ones (7, Figs. 1, 2 and 3)",
    "claim-surrogate-within-1-percent": "The surrogate is within about 1 % of the simulator (6)",
    "claim-injection-matters-for-scatter-only": "Injection bandwidth matters for a scatter, and "
    "negligibly for a gather (7, Figs. 1 and 2)",
    "claim-latency-and-bandwidth-matter-for-allgather": "Both matter for a ring allgather, and "
    "bandwidth more as buffers grow (7, Fig. 3)",
    "claim-small-runs-bracket-large-ones": "Uncertainty calibrated on small runs brackets the "
    "error on large ones, where the small ones stress what limits them (7, Fig. 4)",
    "claim-gather-on-65536-nodes-is-precise": "A gather on 65,536 nodes is predicted precisely (7, "
    "Table 4)",
}.items():
    VALIDATION.not_ours(part, title, "not in the workbench yet")
