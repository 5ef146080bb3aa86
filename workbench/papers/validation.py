"""Paper 004: uncertainty of a coarse-grained simulator.

Wilke et al., Validation and Uncertainty Assessment of Extreme-Scale HPC Simulation through
Bayesian Inference.
"""

from __future__ import annotations

from workbench.papers.paper import Paper

VALIDATION = Paper("004", "Wilke et al.: validation of SST/macro by Bayesian inference")
