"""Paper 003: performance that varies from run to run.

Bhatele et al., The Case of Performance Variability on Dragonfly-based Systems.
"""

from __future__ import annotations

from typing import Any

from workbench.findings import Findings
from workbench.papers.paper import Paper

VARIABILITY = Paper("003", "Bhatele et al.: variability of performance on dragonflies")

_MADE = (
    "the paper's runs are not published: 200 runs of programs like its own, made up, on a "
    "dragonfly of 5 groups whose congestion is simulated"
)
_MODELS = (
    f"{_MADE}; the paper's network alone beside attention, which mixes it with ridge, all other "
    "models and baselines, with intervals"
)
_LINK = "a program on an emulated link that nine users share, instead of one on Cori"


@VARIABILITY.ours(
    "published", reason="five programs on two Slingshot machines, for Cori's runs are not published"
)
def fig_1() -> Any:
    """Run times of four applications on 128 nodes over four months."""
    from workbench import variability

    return variability.load_run_times("slingshot").plot()


@VARIABILITY.ours(
    "published", reason="Theta's cabling, also a Cray XC40, as Cori's is not published"
)
def fig_2() -> Any:
    """The dragonfly of a Cray XC: groups of 16 by 6 Aries routers and their links."""
    from workbench import plotting, topology

    return plotting.plot_topology(topology.parse_topology("theta"))


@VARIABILITY.ours("synthetic", reason=f"{_MADE}; the course of the steps is drawn after the figure")
def fig_3() -> Any:
    """Mean time of each step by application over all runs."""
    from workbench import plotting, variability

    names = ("amg-128", "amg-512", "milc-128", "milc-512", "minivite-128", "umt-128")
    return plotting.plot_mean_steps({name: variability.shipped_report(name).mean for name in names})


_SHARES = f"{_MADE}; which routines wait is made up after the figure"


@VARIABILITY.ours("synthetic", reason=_SHARES)
def fig_4() -> Any:
    """Time in computation and in MPI's routines, AMG and MILC on 512 nodes."""
    from bokeh.layouts import column

    from workbench import variability

    reports = [variability.shipped_report(name) for name in ("amg-512", "milc-512")]
    return column(*(one.plot("routines") for one in reports), sizing_mode="stretch_width")


@VARIABILITY.ours("synthetic", reason=_SHARES)
def fig_5() -> Any:
    """Time in computation and in MPI's routines, miniVite and UMT on 128 nodes."""
    from bokeh.layouts import column

    from workbench import variability

    reports = [variability.shipped_report(name) for name in ("minivite-128", "umt-128")]
    return column(*(one.plot("routines") for one in reports), sizing_mode="stretch_width")


@VARIABILITY.ours("emulated", reason=f"one run and its forecasts instead of a drawing; {_LINK}")
def fig_6() -> Any:
    """How application, system and I/O data of m steps become a forecast of the next k."""
    from workbench import plotting, variability

    steps = variability.shipped("emulated-link").steps
    found = variability.forecast(steps, m=10, k=20, models=("ridge",))
    return plotting.plot_run_forecast(found, steps, 0)


@VARIABILITY.ours("synthetic", reason=_MADE)
def fig_7() -> Any:
    """Mean time of each step beside the mean counters of each step."""
    from workbench import plotting, variability

    return plotting.plot_mean_steps(
        {name: variability.shipped_report(name).mean for name in ("amg-128", "milc-128")},
        counters=("RT_RB_STL", "RT_FLIT_TOT", "PT_RB_STL_RQ", "PT_PKT_TOT"),
    )


@VARIABILITY.ours("synthetic", reason=_MODELS)
def fig_8() -> Any:
    """Error of the forecast of AMG by length of history and of horizon."""
    from bokeh.layouts import column

    from workbench import variability

    reports = [variability.shipped_report(name) for name in ("amg-128", "amg-512")]
    return column(*(one.plot("forecasts") for one in reports), sizing_mode="stretch_width")


@VARIABILITY.ours(
    "synthetic",
    reason=f"{_MADE}; the job's 13 counters set aside one by one as in the paper, with histogram "
    "trees, the mean of the steps taken over all runs",
)
def fig_9() -> Any:
    """Relevance of each counter for the deviation from the mean, by data set."""
    from workbench import plotting, variability

    names = ("amg-128", "amg-512", "milc-128", "milc-512", "minivite-128", "umt-128")
    found = {name: variability.shipped_report(name).deviation for name in names}
    return plotting.plot_relevance(found, way="paper")


@VARIABILITY.ours("synthetic", reason=_MODELS)
def fig_10() -> Any:
    """Error of the forecast of MILC by features, history and horizon."""
    from bokeh.layouts import column

    from workbench import variability

    reports = [variability.shipped_report(name) for name in ("milc-128", "milc-512")]
    return column(*(one.plot("forecasts") for one in reports), sizing_mode="stretch_width")


@VARIABILITY.ours(
    "synthetic", reason=f"{_MADE}; the network alone beside attention, its mixture with ridge"
)
def fig_11() -> Any:
    """Importance of the features of the forecasts of AMG and MILC."""
    from workbench import plotting, variability

    names = ("amg-128", "amg-512", "milc-128", "milc-512")
    reports = [variability.shipped_report(name) for name in names]
    return plotting.plot_importances(
        {one.name: one.importance for one in reports if one.importance}
    )


@VARIABILITY.ours(
    "synthetic",
    reason=f"{_MADE}; one of twelve long runs is drawn, errors and intervals are over all; the "
    "network alone, then attention, which mixes it with ridge, from counters only",
)
def fig_12() -> Any:
    """Forecast of a run of 620 steps in segments of 40."""
    from bokeh.layouts import column

    from workbench import plotting, variability

    found = variability.shipped_report("milc-128").long_runs
    models = ("network", "attention")
    drawn = [plotting.plot_long_forecast(found, model) for model in models if found is not None]
    return column(*drawn, sizing_mode="stretch_width")


@VARIABILITY.ours("synthetic", reason="programs like the paper's, made up")
def table_1() -> Any:
    """The applications, their nodes and inputs."""
    from workbench.variability.world.application import applications_table

    return applications_table()


@VARIABILITY.ours(
    reason="what the generator counts under each name; the paper describes two as something else"
)
def table_2() -> Any:
    """The counters of Aries routers and tiles that are recorded."""
    from workbench.variability.world.counters import counters_table

    return counters_table()


@VARIABILITY.ours(
    "synthetic",
    reason=f"{_MADE}; listed are users with a p-value of 5 %, beside what is true of them",
)
def table_3() -> Any:
    """The users whose jobs go with slow runs, by data set."""
    from workbench.variability.findings import listed_users_table

    return listed_users_table()


@VARIABILITY.ours(
    "emulated", reason=f"{_LINK}; also with its sign, by ridge, lasso and doubly robust"
)
def algorithm_neighborhood() -> Any:
    """Mutual information between a user's presence and optimal runs (IV-A, equation 1)."""
    from workbench import variability

    recorded = variability.shipped("emulated-link")
    return variability.blame(recorded.runs, recorded.jobs)


@VARIABILITY.ours(
    "emulated", reason=f"{_LINK}; histogram trees, which take a twentieth of the time"
)
def algorithm_elimination() -> Any:
    """Boosted regression of mean-centred steps with recursive feature elimination (IV-B)."""
    from workbench import variability

    return variability.deviation(variability.shipped("emulated-link").steps, ways=("by-run",))


@VARIABILITY.ours(
    "emulated", reason=f"{_LINK}; in numpy; the network alone, and mixed with ridge as attention"
)
def algorithm_attention() -> Any:
    """Scaled dot-product attention and a network that forecast the next k steps (IV-C)."""
    from workbench import variability

    steps = variability.shipped("emulated-link").steps
    return variability.forecast(steps, m=10, k=20, every=5)


@VARIABILITY.claims("published", "emulated", "synthetic")
def _judged() -> Findings:
    """Judge the claims on published, emulated and synthetic runs."""
    from workbench import variability

    return variability.findings()
