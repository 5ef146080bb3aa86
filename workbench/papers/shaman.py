"""Paper 002: black-box tuning of expensive, noisy components.

Robert et al., SHAMan: a versatile auto-tuning framework for costly and noisy HPC systems.
"""

from __future__ import annotations

from workbench.papers.paper import Paper

SHAMAN = Paper("002", "Robert et al.: SHAMan, tuning of noisy components")
