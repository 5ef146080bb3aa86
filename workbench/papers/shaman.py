"""Paper 002: black-box tuning of expensive, noisy components.

Robert et al., SHAMan: a versatile auto-tuning framework for costly and noisy HPC systems.
"""

from __future__ import annotations

from typing import Any

from workbench.findings import Findings
from workbench.papers.paper import Paper

SHAMAN = Paper("002", "Robert et al.: SHAMan, tuning of noisy components")

_RECORDED = (
    "Open MPI measured on 4 ranks of one machine, and collectives simulated for 12 and 576 ranks, "
    "instead of Open MPI on a cluster of 12 nodes"
)
_ONE_SEARCH = "one search of simulated runs with 5 % of noise added"


@SHAMAN.ours("simulated", reason=f"the records of {_ONE_SEARCH}, instead of a drawing of the loop")
def fig_1() -> Any:
    """The optimization loop: propose a configuration, run it, learn, propose the next."""
    from workbench import tune
    from workbench.tune.recorded.replayed_experiment import replayed

    collectives = tune.shipped_recording("simulated-12-ranks")
    search = replayed(collectives["bcast/65536"], "normal", heuristic="surrogate-gp", budget=20)
    return search.run().to_frame()[
        ["initial", "algorithm", "segment_bytes", "fanout", "value", "best_so_far"]
    ]


@SHAMAN.ours("simulated", reason=f"the records of {_ONE_SEARCH}, instead of a drawing of the loop")
def fig_2() -> Any:
    """The loop with a resampling filter, which decides whether a configuration runs again."""
    from workbench import tune
    from workbench.tune.recorded.replayed_experiment import replayed

    collectives = tune.shipped_recording("simulated-12-ranks")
    search = replayed(
        collectives["bcast/65536"],
        "normal",
        heuristic="annealing",
        resampling="improved",
        budget=20,
    )
    return search.run().to_frame()[
        ["algorithm", "segment_bytes", "fanout", "value", "resampled", "best_so_far"]
    ]


@SHAMAN.ours("simulated", reason=f"{_ONE_SEARCH}; the panel of notebook 08 shows one as it runs")
def fig_3() -> Any:
    """The trajectory of a search: the time of each run and the best so far."""
    from workbench import plotting, tune
    from workbench.tune.recorded.replayed_experiment import replayed

    collectives = tune.shipped_recording("simulated-12-ranks")
    search = replayed(collectives["bcast/65536"], "normal", heuristic="annealing", budget=40)
    return plotting.plot_trajectory(search.run())


@SHAMAN.ours("simulated", reason=f"{_ONE_SEARCH}; the panel of notebook 08 shows one as it runs")
def fig_4() -> Any:
    """The trajectory of a search that repeats runs: aggregated values beside single runs."""
    from workbench import plotting, tune
    from workbench.tune.recorded.replayed_experiment import replayed

    collectives = tune.shipped_recording("simulated-12-ranks")
    search = replayed(
        collectives["bcast/65536"], "normal", heuristic="annealing", resampling="static", budget=40
    )
    return plotting.plot_trajectory(search.run())


SHAMAN.not_ours(
    "fig-5",
    "The architecture: web page, REST interface, database, optimization engine",
    "there are no services here: a notebook is the page, a SQLite file or PostgreSQL the store",
)


@SHAMAN.ours("simulated", reason="MPI collectives instead of the two I/O accelerators")
def fig_6() -> Any:
    """Distance to the optimum by heuristic."""
    from workbench.plotting.searches.ranking import plot_search_ranking
    from workbench.plotting.searches.style import picked
    from workbench.tune import shipped_search_comparison

    where = {"recording": "simulated-12-ranks", "noise": "normal 5 %", "pick": "expected"}
    method = {"resampling": "none", "stopping": "best improvement 15", "pruning": "none"}
    rows = picked(shipped_search_comparison().methods, **where, **method)
    return plot_search_ranking(rows, "distance")


@SHAMAN.ours(
    "simulated",
    reason="collectives simulated for 12 and 576 ranks at the nine doubling sizes from 4 KiB to "
    "1 MiB (the paper counts 20), with 5 % of noise; the default is the workbench's own choice",
)
def fig_7() -> Any:
    """Gain of Bayesian optimization over the default: its distribution, with the median."""
    from workbench.plotting.searches.gains import plot_search_gains
    from workbench.plotting.searches.style import picked
    from workbench.tune import shipped_search_comparison

    cells = shipped_search_comparison("paper-scale").cells
    return plot_search_gains(picked(cells, heuristic="surrogate-gp"))


@SHAMAN.ours("measured", "simulated", reason=_RECORDED)
def table_1() -> Any:
    """Distance between the configuration found and the optimum, beside the noise."""
    from workbench.plotting.searches.tables import TABLE_1, by_collective, paper_table
    from workbench.tune import shipped_search_comparison

    method = {"heuristic": "surrogate-gp", "resampling": "none", "stopping": "best improvement 15"}
    table = by_collective(shipped_search_comparison(), pick="expected", **method)
    return paper_table(table, TABLE_1)


@SHAMAN.ours("measured", "simulated", reason=_RECORDED)
def table_2() -> Any:
    """Time of the search against that of an exhaustive one."""
    from workbench.plotting.searches.tables import TABLE_2, by_collective, paper_table
    from workbench.tune import shipped_search_comparison

    method = {"heuristic": "surrogate-gp", "resampling": "none", "stopping": "best improvement 15"}
    table = by_collective(shipped_search_comparison(), pick="expected", **method)
    return paper_table(table, TABLE_2)


@SHAMAN.ours(reason="more of them, random draws among them")
def algorithm_heuristics() -> Any:
    """The heuristics: surrogate models, simulated annealing, genetic algorithms (3.1)."""
    import pandas as pd

    from workbench.tune import HEURISTICS

    rules = [(name, (rule.__doc__ or "").partition("\n")[0]) for name, rule in HEURISTICS.items()]
    return pd.DataFrame(rules, columns=["name", "what it does"])


@SHAMAN.ours(reason="also a limit of time, and any and all of several")
def algorithm_stopping() -> Any:
    """The stop criteria: budget, improvement, movement (3.2)."""
    import pandas as pd

    from workbench.tune import STOPPINGS

    rules = [(name, (rule.__doc__ or "").partition("\n")[0]) for name, rule in STOPPINGS.items()]
    return pd.DataFrame(rules, columns=["name", "what it does"])


@SHAMAN.ours(reason="also one without a normal distribution")
def algorithm_resampling() -> Any:
    """The resampling filters: static, standard error, improved (3.3)."""
    import pandas as pd

    from workbench.tune import RESAMPLINGS

    rules = [(name, (rule.__doc__ or "").partition("\n")[0]) for name, rule in RESAMPLINGS.items()]
    return pd.DataFrame(rules, columns=["name", "what it does"])


@SHAMAN.ours(reason="also a fixed limit")
def algorithm_pruning() -> Any:
    """The pruning strategies: by the default run, by an estimator (3.4)."""
    import pandas as pd

    from workbench.tune import PRUNINGS

    rules = [(name, (rule.__doc__ or "").partition("\n")[0]) for name, rule in PRUNINGS.items()]
    return pd.DataFrame(rules, columns=["name", "what it does"])


@SHAMAN.claims("measured", "simulated")
def findings() -> Findings:
    """Judge the paper's claims on the shipped comparisons of searches."""
    from workbench import tune

    scale = tune.shipped_search_comparison("paper-scale")
    return tune.findings(tune.shipped_search_comparison(), scale=scale)
