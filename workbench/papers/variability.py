"""Paper 003: performance that varies from run to run.

Bhatele et al., The Case of Performance Variability on Dragonfly-based Systems.
"""

from __future__ import annotations

from workbench.papers.paper import Paper

VARIABILITY = Paper("003", "Bhatele et al.: variability of performance on dragonflies")
