"""Paper 003: performance that varies from run to run.

Bhatele et al., The Case of Performance Variability on Dragonfly-based Systems.
"""

from __future__ import annotations

from typing import Any

from workbench.papers.paper import Paper

VARIABILITY = Paper("003", "Bhatele et al.: variability of performance on dragonflies")

_NOT_YET = "not in the workbench yet"

VARIABILITY.not_ours(
    "fig-1", "Run times of four applications on 128 nodes over four months", _NOT_YET
)


@VARIABILITY.ours(
    "published", reason="Theta's cabling, also a Cray XC40, as Cori's is not published"
)
def fig_2() -> Any:
    """The dragonfly of a Cray XC: groups of 16 by 6 Aries routers and their links."""
    from workbench import plotting, topology

    return plotting.plot_topology(topology.parse_topology("theta"))


for part, title in {
    "fig-3": "Mean time of each step by application over all runs",
    "fig-4": "Time in computation and in MPI's routines, AMG and MILC",
    "fig-5": "Time in computation and in MPI's routines, miniVite and UMT",
    "fig-6": "How application, system and I/O data become a forecast",
    "fig-7": "Mean time of each step beside the mean counters of each step",
    "fig-8": "Error of the forecast of AMG by length of history and of horizon",
    "fig-9": "Relevance of each counter for the deviation from the mean, by data set",
    "fig-10": "Error of the forecast of MILC by features, history and horizon",
    "fig-11": "Importance of the features of the forecasts of AMG and MILC",
    "fig-12": "Forecast of a run of 620 steps in segments of 40",
    "table-1": "The applications, their nodes and inputs",
    "table-2": "The counters of Aries routers and tiles that are recorded",
    "table-3": "The users whose jobs go with slow runs, by data set",
    "claim-up-to-three-times-slower": "The same executable and input can be up to 3 times slower "
    "(I, Fig. 1)",
    "claim-mean-behaviour-is-discernible": "Each application has a mean behaviour over its steps, "
    "which all runs follow in shape (III-B, Fig. 3)",
    "claim-computation-varies-little": "Computation does not vary much; time in MPI does (III-B)",
    "claim-users-go-with-slow-runs": "Some users appear in most lists of those whose jobs go with "
    "slow runs (V-A, Table 3)",
    "claim-stalls-predict-deviation": "Stalls of router tiles are highly relevant for MILC and for "
    "AMG on 512 nodes, end-point stalls for UMT (V-B, Fig. 9)",
    "claim-deviation-within-5-percent": "Predicted deviations are off by less than 5 % (V-B)",
    "claim-longer-history-helps": "A longer history lowers the error of a forecast significantly, "
    "a longer horizon too (V-C, Figs. 8 and 10)",
    "claim-io-counters-help-milc": "Counters of I/O and of other routers lower MILC's error (V-C)",
    "claim-long-runs-can-be-forecast": "Steps of a long run that no training saw can be forecast "
    "(V-C, Fig. 12)",
}.items():
    VARIABILITY.not_ours(part, title, _NOT_YET)
