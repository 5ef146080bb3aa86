"""Paper 001: how much network latency a program tolerates.

Shen et al., LLAMP: Assessing Network Latency Tolerance of HPC Applications with Linear Programming.
"""

from __future__ import annotations

from workbench.papers.paper import Paper

LLAMP = Paper("001", "Shen et al.: LLAMP, latency tolerance of programs")
