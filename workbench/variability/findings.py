"""The claims of Bhatele et al. on variability, judged on published, emulated and synthetic runs.

Each is a sentence of The Case of Performance Variability on Dragonfly-based Systems in our words,
with a rule that decides whether data agree with it and the numbers of the rule. The paper's data
are not published. How much runs vary is judged on the published times of two other machines; all
else on the reports that ship: six programs like the paper's on a made-up dragonfly, where causes
are known, and a program of ours on an emulated link. What holds there by construction is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.findings import Finding, Findings, all_or_most, all_or_some, counted, graded, span
from workbench.variability.blame_scores import CULPRIT, BlameScores, shipped_blame_scores
from workbench.variability.forecasting.forecast import Forecast
from workbench.variability.forecasting.grid import ForecastGrid
from workbench.variability.known_reports import shipped_report, shipped_reports
from workbench.variability.report import VariabilityReport
from workbench.variability.tables.run_times import RunTimes, load_run_times
from workbench.variability.tables.steps import feature_of
from workbench.variability.world.users import EXPERIMENTER

if TYPE_CHECKING:
    import pandas as pd


_WITHIN = 5.0  # % of a step's time
_RELEVANT = 0.8  # share of folds from which relevance is high: chosen
_MODERATE = (0.3, 0.7)  # and between which it is moderate: chosen, as folds are ten
_FOLLOWS = 0.5  # rank correlation
_MODEL = "network"  # the paper's
_MIXED = "attention"  # ours, the network mixed with ridge
_LEADING = 3  # features, the first by importance: chosen, as the paper names two or three of each
_STALLS = "RT_RB_STL"
_BY_CONSTRUCTION = "in all of them by construction, for the programs are made by us"


def findings(
    reports: Mapping[str, VariabilityReport] | None = None,
    times: RunTimes | None = None,
    scores: BlameScores | None = None,
) -> Findings:
    """Return the result of published, emulated and synthetic runs on the paper's claims.

    Args:
        reports: by name, ``milc-128`` and the like among them; None takes those that ship.
        times: of runs on real machines; None takes those that ship.
        scores: of methods of blame where causes are known; None takes those that ship.

    Raises:
        DatasetError: something of it does not ship.
    """
    if reports is None:
        reports = {name: shipped_report(name) for name in shipped_reports()}
    times = load_run_times() if times is None else times
    scores = shipped_blame_scores() if scores is None else scores
    return Findings(
        (
            _three_times_slower(times, reports),
            _mean_behaviour(reports),
            _computation_varies_little(reports),
            _counters_follow_the_time(reports),
            _listed_users_are_to_blame(reports),
            _neighbours_tell(scores),
            _own_jobs_interfere(reports),
            _relevant(
                reports,
                ("amg-512", "milc-128", "milc-512"),
                ((_STALLS,),),
                "router-stalls-tell-of-milc",
                "Stalls of router tiles are highly relevant for the deviation of MILC and of AMG "
                "on 512 nodes",
            ),
            _relevant(
                reports,
                ("umt-128",),
                (("PT_RB_STL_RQ",),),
                "end-point-stalls-tell-of-umt",
                "Stalls of requests at processor tiles are most relevant for the deviation of UMT",
                most=True,
            ),
            _relevant(
                reports,
                ("minivite-128",),
                (("PT_FLIT_VC0", "PT_FLIT_VC4"), ("RT_FLIT_TOT",)),
                "flits-tell-of-minivite",
                "Flits at processor and router tiles are most relevant for miniVite's deviation",
                most=True,
            ),
            _relevant(
                reports,
                ("milc-128", "milc-512"),
                (("PT_CB_STL_RS",),),
                "end-point-stalls-tell-some-of-milc",
                "Stalls of responses on the way to nodes have moderate relevance for MILC's "
                "deviation",
                within=_MODERATE,
            ),
            _relevant(
                reports,
                ("amg-128", "amg-512"),
                (("PT_RB_STL_RQ",), ("PT_RB_2X_USG",)),
                "end-point-stalls-tell-of-amg",
                "Stalls of requests, and of both kinds at once, at processor tiles are relevant "
                "for AMG's deviation",
                within=(_MODERATE[0], 1.0),
            ),
            _deviation_within_5_percent(reports),
            _relevant_is_responsible(reports),
            _more_helps(
                reports,
                axis=0,
                name="longer-history-helps",
                claim="Forecasts from more steps have significantly lower errors",
            ),
            _more_helps(
                reports,
                axis=1,
                name="longer-horizon-helps",
                claim="Forecasts of more steps together have lower errors, for bursts average out",
            ),
            _larger_jobs_are_harder(reports),
            _placement_does_not_help(reports),
            _system_counters_help(reports),
            _io_flits_matter_most(reports),
            _other_stalls_matter_for_amg(reports),
            _flits_matter_for_amg(reports),
            _half_a_run_ahead(reports),
            _job_routers_tell_most(reports),
            _long_runs_can_be_forecast(reports),
        )
    )


def _three_times_slower(times: RunTimes, reports: Mapping[str, VariabilityReport]) -> Finding:
    ratio = np.array(
        [times.relative[rows].max() for rows in times.groups(("system", "application")).values()]
    )
    made = span([one.slowest for one in reports.values()], ".2f")
    return Finding(
        "up-to-three-times-slower",
        "The same program with the same input can be up to three times slower, miniVite 3.8 times "
        "and UMT 3.3 times",
        "I and III-B, Fig. 1",
        "confirmed if the slowest run of some program takes three times as long as its fastest or "
        "more, on a real machine; partly if twice as long",
        f"slowest over fastest run: {span(ratio, '.2f')} over {len(ratio)} programs on two "
        f"Slingshot machines, published by others; {made} in the synthetic and emulated runs here",
        graded(np.array([ratio.max() >= 3]), ratio >= 2),
        "notebook 11; load_run_times().plot()",
    )


def _mean_behaviour(reports: Mapping[str, VariabilityReport]) -> Finding:
    medians = [float(np.nanmedian(one.mean.agreement)) for one in reports.values()]
    return Finding(
        "mean-behaviour-is-discernible",
        "Each program has a mean behaviour over its steps, which runs deviate from to different "
        "degrees and which is still discernible in all",
        "III-B, Fig. 3",
        "not judged where programs are made by us",
        f"rank correlation of a run's steps with the mean of the other runs, median: "
        f"{span(medians, '.2f')} over {len(medians)} data sets, {_BY_CONSTRUCTION}",
        "cannot be told here",
        "MeanBehaviour.plot()",
    )


def _computation_varies_little(reports: Mapping[str, VariabilityReport]) -> Finding:
    known = [one.routines for one in reports.values() if one.routines is not None]
    spreads = [
        [100 * float(np.std(part) / np.mean(part)) for part in (one.computation_s, one.mpi_s)]
        for one in known
    ]
    computation, mpi = np.array(spreads).T
    return Finding(
        "computation-varies-little",
        "The time in computation does not vary significantly; that in MPI does, and makes runs "
        "vary",
        "III-B, Figs. 4 and 5",
        "not judged where programs are made by us",
        f"standard deviation over runs: {span(computation, '.1f')} % of the time in computation, "
        f"{span(mpi, '.1f')} % of that in MPI over {len(known)} data sets, {_BY_CONSTRUCTION}",
        "cannot be told here",
        "RoutineTimes.plot()",
    )


def _counters_follow_the_time(reports: Mapping[str, VariabilityReport]) -> Finding:
    shares = []
    for one in reports.values():
        own = [feature_of(name) == "app" for name in one.mean.counters]
        agreement = one.mean.counter_agreement[own]
        shares.append(float(np.mean(agreement >= _FOLLOWS)))
    return Finding(
        "counters-follow-the-mean-time",
        "The mean values of many counters over the steps have trends like that of the mean time",
        "V-B, Fig. 7",
        "confirmed if the means of at least half of the job's counters have a rank correlation of "
        "0.5 or more with the mean time, on all data sets; partly if on some",
        f"{span(100 * np.array(shares))} % of the counters over {len(shares)} data sets",
        all_or_some(np.array(shares) >= 0.5),
        "plot_mean_steps(..., counters=...)",
    )


def _listed_users_are_to_blame(reports: Mapping[str, VariabilityReport]) -> Finding:
    made = [one for one in reports.values() if one.slowed]
    lists = [listed_users(one) for one in made]
    counts = Counter(user for users in lists for user in users)
    recurring = sorted(user for user, count in counts.items() if count > 1)
    slows = {
        user: float(np.mean([one.slowed.get(user, 0.0) for one in made])) for user in recurring
    }
    guilty = np.array([slows[user] >= CULPRIT for user in recurring], np.bool_)
    all_users = {user for one in made for user in one.slowed}
    base = np.mean(
        [np.mean([one.slowed.get(user, 0.0) for one in made]) >= CULPRIT for user in all_users]
    )
    return Finding(
        "recurring-users-are-to-blame",
        "Users whose presence goes with slow runs in more than one data set are likely to slow "
        "down others' jobs",
        "V-A, Table 3",
        "confirmed if all users that mutual information lists in two or more data sets slow runs "
        f"down by {100 * CULPRIT:g} % or more in truth, in the mean over the data sets; partly if "
        "most do",
        f"{len(recurring)} users are on two or more of {len(made)} lists of "
        f"{span([len(users) for users in lists])}, {counted(guilty, 'of them')} truly slow runs "
        f"down; of all {len(all_users)} users {100 * base:.0f} % do",
        all_or_most(guilty),
        "003-table-3",
    )


def listed_users(one: VariabilityReport) -> tuple[str, ...]:
    """Return users whose presence goes with slow runs, by mutual information, the first the most.

    As in table III of the paper, which does not say from what amount on a user is listed: here it
    is a p-value of 5 %, without a correction for the number of users.
    """
    rows = one.blame.to_frame("signed-mutual-information")
    found = rows[(rows["p"] <= 0.05) & (rows["score"] > 0)]["user"]
    return tuple(name for together in found for name in together.split(", "))


def listed_users_table() -> pd.DataFrame:
    """Return a row a program: the users listed, and which of them slow its runs down in truth."""
    import pandas as pd

    rows = []
    for name in shipped_reports():
        one = shipped_report(name)
        if not one.slowed:
            continue
        users = listed_users(one)
        rows.append(
            {
                "program": name,
                "listed": ", ".join(users),
                "of these to blame": ", ".join(u for u in users if one.slowed[u] >= CULPRIT),
                "to blame": sum(effect >= CULPRIT for effect in one.slowed.values()),
                "users": len(one.slowed),
            }
        )
    return pd.DataFrame(rows)


def _neighbours_tell(scores: BlameScores) -> Finding:
    at = scores.methods.index("mutual-information")
    low, high = scores.interval(scores.auc)[:, at]
    best = scores.methods.index(scores.best)
    return Finding(
        "neighbours-tell",
        "Even a coarse analysis of run times and of who was running can help to find users who "
        "slow down others",
        "V-A",
        "confirmed if the area under the curve of mutual information is above 0.5 in all of the "
        "interval over worlds whose causes are known; partly if in some worlds",
        f"mutual information {scores.auc[:, at].mean():.2f} ({low:.2f} to {high:.2f}) over "
        f"{len(scores.auc)} synthetic worlds; {scores.best} {scores.auc[:, best].mean():.2f}",
        graded(np.array([low > 0.5]), scores.auc[:, at] > 0.5),
        "notebook 11; BlameScores.plot()",
    )


def _own_jobs_interfere(reports: Mapping[str, VariabilityReport]) -> Finding:
    own = np.array([one.slowed[EXPERIMENTER] for one in reports.values() if one.slowed])
    return Finding(
        "own-jobs-interfere",
        "Two jobs of the experimenter's own can slow each other down",
        "V-A, Table 3",
        f"confirmed if the experimenter's other runs slow those beside them down by "
        f"{100 * CULPRIT:g} % or more in truth in some data set; else it cannot be told where no "
        "two runs are known to have met as the paper's did",
        f"{span(100 * own, '.1f')} % over {len(own)} synthetic data sets",
        "confirmed" if own.max() >= CULPRIT else "cannot be told here",
        "notebook 11",
    )


def _relevant(
    reports: Mapping[str, VariabilityReport],
    programs: Sequence[str],
    counters: Sequence[Sequence[str]],  # of each kind, any
    name: str,
    claim: str,
    *,
    most: bool = False,  # whether the claim is that nothing else is as relevant
    within: tuple[float, float] = (_RELEVANT, 1.0),
) -> Finding:
    every, some, words = [], [], []
    low, high = within
    for program in programs:
        told = reports[program].deviation
        relevance = told.relevance[told.ways.index("paper")]
        each = np.array(
            [max(relevance[told.counters.index(one)] for one in kind) for kind in counters]
        )
        held = (low <= each) & (each <= high)
        every.append(bool((each >= relevance.max()).all() if most else held.all()))
        some.append(bool(held.any()))
        places = [told.counters.index(one) for kind in counters for one in kind]
        named = ", ".join(
            f"{told.counters[at]} {relevance[at]:.1f} (its group by run "
            f"{told.group_relevance[told.group[at]]:.1f})"
            for at in places
        )
        first = told.counters[int(np.argmax(relevance))]
        words.append(f"{program}: {named}; first {first} {relevance.max():.1f}")
    wanted = f"{low:g} or more" if high == 1 else f"from {low:g} to {high:g}"
    kinds = " for each kind of counter named" if len(counters) > 1 else ""
    return Finding(
        name,
        claim,
        "V-B, Fig. 9",
        "confirmed if relevance, the share of folds that need the counter among the job's own, is "
        f"{'the greatest of all counters' if most else wanted} the paper's way{kinds}, in all of "
        f"its data sets; partly if {wanted} in some{' for one kind' if kinds else ''}; the machine "
        "and the programs are made up",
        f"{'; '.join(words)}; counters that go together share their relevance by chance",
        graded(np.array(every), np.array(some)),
        "003-fig-9",
    )


def _deviation_within_5_percent(reports: Mapping[str, VariabilityReport]) -> Finding:
    rows = [
        [
            one.deviation.mape[one.deviation.ways.index(way), one.deviation.models.index(model)]
            for way, model in (
                ("paper", "trees"),
                ("by-run", "trees"),
                ("by-run", "mean-trajectory"),
            )
        ]
        for one in reports.values()
    ]
    paper, by_run, mean = np.array(rows).T
    return Finding(
        "deviation-within-5-percent",
        "The mean absolute percentage error of the predicted deviation is less than 5 % on all "
        "data sets",
        "V-B",
        "confirmed if the error of a step's time is less than 5 % on all data sets, the paper's "
        "way; partly if on some",
        f"{span(paper, '.1f')} % the paper's way, {span(by_run, '.1f')} % for runs held out, over "
        f"{len(rows)} data sets; {counted(paper < _WITHIN)} and {counted(by_run < _WITHIN)} below "
        f"5 %; the mean of each step alone leaves {span(mean, '.1f')} %",
        all_or_some(paper < _WITHIN),
        "003-fig-9",
    )


def _relevant_is_responsible(reports: Mapping[str, VariabilityReport]) -> Finding:
    found = {name: one.cause for name, one in reports.items() if one.cause is not None}
    right = np.array([not (one.misleading or one.overlooked) for one in found.values()])
    some = np.array([one.correlation > _FOLLOWS for one in found.values()])
    misleading = [len(one.misleading) for one in found.values()]
    overlooked = [len(one.overlooked) for one in found.values()]
    return Finding(
        "relevant-counters-are-responsible",
        "Models of deviation identify the counters that are responsible for the variability, where "
        "one counter stands for all that go up and down with it or wait for the same links: which "
        "of these is needed is chance, so none of them can be called responsible or not alone",
        "VII, Fig. 9",
        "confirmed if all groups of counters with a relevance of 0.5 or more count stalls that "
        "cause a tenth of the delay or more in truth, and no such group is missed, in all data "
        "sets; partly if relevance and cause have a rank correlation above 0.5 in some",
        f"rank correlation {span([one.correlation for one in found.values()], '.2f')} over "
        f"{len(found)} synthetic data sets; relevant without causing are {span(misleading)} "
        f"counters, causing without being relevant {span(overlooked)}, not counting those of whose "
        "group another does",
        graded(right, some),
        "notebook 12; RelevanceAndCause.plot()",
    )


def _grids(reports: Mapping[str, VariabilityReport], program: str = "") -> dict[str, ForecastGrid]:
    """Return the forecasts from counters alone by data set, of one program of the paper or all."""
    return {
        name: one.forecasts
        for name, one in reports.items()
        if one.forecasts is not None and name.startswith(program)
    }


def _errors(grid: ForecastGrid, model: str = _MODEL) -> tuple[FloatArray, FloatArray]:
    """Return the MAPE of a model [m, k, features] and its interval, in %."""
    at = grid.models.index(model)
    return grid.mape[..., at], grid.mape_interval[..., at, :]


def _more_helps(
    reports: Mapping[str, VariabilityReport], *, axis: int, name: str, claim: str
) -> Finding:
    lower, apart, mixed, words = [], [], [], []
    for program, grid in _grids(reports).items():
        mape, interval = _errors(grid)
        few, many = np.take(mape, 0, axis), np.take(mape, -1, axis)
        low_of_few = np.take(interval, 0, axis)[..., 0]
        high_of_many = np.take(interval, -1, axis)[..., 1]
        lower.append((many < few).ravel())
        apart.append((high_of_many < low_of_few).ravel())
        both, _ = _errors(grid, _MIXED)
        first, last = np.take(both, 0, axis), np.take(both, -1, axis)
        mixed.append((last < first).ravel())
        words.append(
            f"{program} {few.mean():.1f} to {many.mean():.1f} % (mixed with ridge "
            f"{first.mean():.1f} to {last.mean():.1f})"
        )
    every, significant = np.concatenate(lower), np.concatenate(apart)
    return Finding(
        name,
        claim,
        "V-C, Figs. 8 and 10",
        "confirmed if the error of the network alone is lower, with intervals apart, in all places "
        "of all grids; partly if lower in most",
        f"{'; '.join(words)} in the mean; lower in {counted(every, 'places')} (mixed "
        f"{int(np.concatenate(mixed).sum())}), intervals apart in {int(significant.sum())}",
        graded(significant, np.array([2 * every.sum() > every.size])),
        "003-fig-8 and 003-fig-10",
    )


def _larger_jobs_are_harder(reports: Mapping[str, VariabilityReport]) -> Finding:
    grids = _grids(reports, "amg-")
    alone, mixed = (
        [_errors(grids[f"amg-{nodes}"], model)[0].ravel() for nodes in (128, 512)]
        for model in (_MODEL, _MIXED)
    )
    higher = alone[1] > alone[0]
    return Finding(
        "larger-jobs-are-harder-to-forecast",
        "Errors for AMG are slightly higher on 512 nodes than on 128",
        "V-C, Fig. 8",
        "confirmed if the error of the network alone is higher in all places of the grid; partly "
        "if in some",
        f"{span(alone[0], '.1f')} % on 128 nodes, {span(alone[1], '.1f')} % on 512; higher in "
        f"{counted(higher, 'places')}; mixed with ridge {span(mixed[0], '.1f')} % and "
        f"{span(mixed[1], '.1f')} %, higher in {int((mixed[1] > mixed[0]).sum())}",
        all_or_some(higher),
        "003-fig-8",
    )


def _placement_does_not_help(reports: Mapping[str, VariabilityReport]) -> Finding:
    apart, change, mixed = [], [], []
    for grid in _grids(reports, "amg-").values():
        mape, interval = _errors(grid)
        both, _ = _errors(grid, _MIXED)
        apart.append((interval[..., 1, 1] < interval[..., 0, 0]).ravel())
        change.append(float((mape[..., 1] - mape[..., 0]).mean()))
        mixed.append(float((both[..., 1] - both[..., 0]).mean()))
    overlap = ~np.concatenate(apart)
    return Finding(
        "placement-does-not-help-amg",
        "The placement's features do not improve AMG's forecast significantly",
        "V-C, Fig. 8",
        "confirmed if the intervals of the network alone with and without them overlap in all "
        "places of the grids; partly if in some",
        f"error changes by {span(change, '+.2f')} points in the mean (mixed with ridge "
        f"{span(mixed, '+.2f')}); intervals overlap in {counted(overlap, 'places')}",
        all_or_some(overlap),
        "003-fig-8",
    )


def _system_counters_help(reports: Mapping[str, VariabilityReport]) -> Finding:
    steps, words = [], []
    for program, grid in _grids(reports, "milc-").items():
        mape, mixed = (_errors(grid, model)[0] for model in (_MODEL, _MIXED))
        with_io = [at for at, name in enumerate(grid.features) if "io" in name.split("+")]
        before = mape[..., with_io[0] - 1]
        for at in with_io:
            steps.append((mape[..., at] < before).ravel())
            before = mape[..., at]
        words.append(
            f"{program} "
            + ", ".join(
                f"{name} {alone:.2f} ({both:.2f})"
                for name, alone, both in zip(
                    grid.features, mape.mean(axis=(0, 1)), mixed.mean(axis=(0, 1)), strict=True
                )
            )
        )
    lower = np.concatenate(steps)
    return Finding(
        "io-and-system-counters-help-milc",
        "Counters of I/O and then of other routers successively lower the errors for MILC",
        "V-C, Fig. 10",
        "confirmed if each lowers the error of the network alone in all places of the grids; "
        "partly if in most",
        f"MAPE in % (mixed with ridge): {'; '.join(words)}; lower in {counted(lower, 'steps')}",
        all_or_most(lower),
        "003-fig-10",
    )


def _leading(told: Forecast) -> tuple[str, ...]:
    """Return what the network alone relies on, the most important first."""
    order = np.argsort(-told.network_importance, kind="stable")
    return tuple(told.important[at] for at in order)


def _importances(reports: Mapping[str, VariabilityReport], program: str) -> dict[str, Forecast]:
    """Return the forecasts whose importances are known, of one program of the paper."""
    return {
        name: one.importance
        for name, one in reports.items()
        if one.importance is not None and name.startswith(program)
    }


def _first_three(found: Mapping[str, Forecast]) -> str:
    """Return what forecasts rely on most, of the network alone and of its mixture with ridge."""
    words = []
    for name, told in found.items():
        mixed = [told.important[at] for at in np.argsort(-told.importance, kind="stable")]
        words.append(
            f"{name}: {', '.join(_leading(told)[:_LEADING])} (mixed with ridge "
            f"{', '.join(mixed[:_LEADING])})"
        )
    return "; ".join(words)


def _io_flits_matter_most(reports: Mapping[str, VariabilityReport]) -> Finding:
    found = _importances(reports, "milc-")
    first = [_leading(told)[0] == "IO_PT_FLIT_TOT" for told in found.values()]
    return Finding(
        "io-flits-matter-most-for-milc",
        "The flits at processor tiles of I/O nodes' routers are the most important feature of "
        "MILC's forecast",
        "V-C, Fig. 11",
        "confirmed if they are first by importance for the network alone in both data sets; partly "
        "if in one; the machine and the programs are made up",
        f"first three {_first_three(found)}",
        all_or_some(np.array(first)),
        "003-fig-11",
    )


def _other_stalls_matter_for_amg(reports: Mapping[str, VariabilityReport]) -> Finding:
    found = _importances(reports, "amg-")
    places = {
        name: [_leading(told).index(one) + 1 for one in ("PT_RB_STL_RQ", "PT_RB_STL_RS")]
        for name, told in found.items()
    }
    gone = [requests > _LEADING for requests, _ in places.values()]
    come = places["amg-512"][1] <= _LEADING
    words = ", ".join(f"{name} {rq} and {rs}" for name, (rq, rs) in places.items())
    return Finding(
        "other-stalls-matter-for-amg-forecasts",
        "For AMG's forecast stalls of requests at processor tiles are no longer relevant; those of "
        "responses are highly relevant on 512 nodes",
        "V-C, Fig. 11",
        f"confirmed if the first are not among the first {_LEADING} features by importance for the "
        "network alone and the second are, on 512 nodes; partly if one of both; the machine and "
        "the programs are made up",
        f"places of PT_RB_STL_RQ and PT_RB_STL_RS: {words}; first {_first_three(found)}",
        all_or_some(np.array([*gone, come])),
        "003-fig-11",
    )


def _flits_matter_for_amg(reports: Mapping[str, VariabilityReport]) -> Finding:
    found = _importances(reports, "amg-")
    wanted = {"amg-128": (_STALLS, "RT_FLIT_TOT"), "amg-512": (_STALLS, "RT_PKT_TOT")}
    places = {
        name: {one: _leading(found[name]).index(one) + 1 for one in counters}
        for name, counters in wanted.items()
    }
    among = [at <= _LEADING for each in places.values() for at in each.values()]
    words = "; ".join(
        f"{name}: {', '.join(f'{one} {at}' for one, at in each.items())}"
        for name, each in places.items()
    )
    return Finding(
        "flits-matter-for-amg-forecasts",
        "Stalls of router tiles are still important for AMG's forecast, and flits of router tiles "
        "on 128 nodes, packets on 512 are relevant too",
        "V-C, Fig. 11",
        f"confirmed if all are among the first {_LEADING} features by importance for the network "
        "alone; partly if some; the machine and the programs are made up",
        f"places {words}; first {_first_three(found)}",
        all_or_some(np.array(among)),
        "003-fig-11",
    )


def _half_a_run_ahead(reports: Mapping[str, VariabilityReport]) -> Finding:
    halved, beaten, words = [], [], []
    for name, grid in _grids(reports).items():
        at = (-1, -1, -1, grid.models.index(_MODEL))  # most steps seen, most ahead, all counters
        mean, persists = grid.skill[at]
        low = grid.skill_interval[at][1, 0]
        halved.append(mean >= 0.5)
        beaten.append(low > 0)
        words.append(f"{name} {grid.mape[at]:.1f} %, {1 - mean:.2f} and {1 - persists:.2f} times")
    both = np.array(halved) & np.array(beaten)
    return Finding(
        "half-a-run-can-be-forecast",
        "Forecasts are accurate for up to 50 % of a run's time ahead",
        "VII",
        "accurate: the network alone, from the most steps and all counters, has at most half the "
        "error of the mean trajectory and beats persistence, which the paper lacks, in the whole "
        "interval; confirmed if in all data sets; partly if half the error in some",
        "MAPE of half a run, beside those of the mean trajectory and of persistence: "
        f"{'; '.join(words)}",
        graded(both, np.array(halved)),
        "003-fig-8 and 003-fig-10",
    )


def _job_routers_tell_most(reports: Mapping[str, VariabilityReport]) -> Finding:
    shares: dict[str, list[float]] = {_MODEL: [], _MIXED: []}
    for grid in (_grids(reports, "amg-") | _grids(reports, "milc-")).values():
        mean = grid.mape[..., 0, grid.models.index("mean-trajectory")]
        for model, found in shares.items():
            saved = mean[..., None] - _errors(grid, model)[0]
            found.append(float(saved[..., 0].mean() / saved.max(axis=-1).mean()))
    alone, mixed = (100 * np.array(found) for found in shares.values())
    return Finding(
        "job-routers-tell-most",
        "Most of the predictive power comes from counters of the routers that a job's nodes are at",
        "VII",
        "confirmed if these alone save at least half of what all features save of the mean "
        "trajectory's error, for the network alone, in all data sets; partly if in some",
        f"{span(alone)} % over {len(alone)} data sets, mixed with ridge {span(mixed)} %",
        all_or_some(alone >= 50),
        "003-fig-8 and 003-fig-10",
    )


def _long_runs_can_be_forecast(reports: Mapping[str, VariabilityReport]) -> Finding:
    name = "long-runs-can-be-forecast"
    claim = "The steps of a long run can be forecast by models that were trained on short ones"
    told = reports["milc-128"].long_runs
    if told is None:
        return Finding(
            name,
            claim,
            "V-C, Fig. 12",
            "not judged without long runs",
            "no report has one",
            "cannot be told here",
            "003-fig-12",
        )
    row = told.models.index(_MODEL)
    by_run = told.mape_by_run()
    beats = by_run[row] < by_run[told.models.index("persistence")]
    ends = told.skill_interval[row]
    mean, persists = (
        f"{1 - skill:.2f} times ({1 - high:.2f} to {1 - low:.2f})"
        for skill, (low, high) in zip(told.skill[row], ends, strict=True)
    )
    errors = ", ".join(
        f"{model} {value:.1f} ({low:.1f} to {high:.1f})"
        for model, value, (low, high) in zip(
            told.models, told.mape, told.mape_interval, strict=True
        )
    )
    return Finding(
        name,
        claim,
        "V-C, Fig. 12",
        "confirmed if the network alone, from counters only, has a lower error than the mean "
        "trajectory and than persistence, which the paper lacks, in the whole 95 % interval over "
        "long runs; partly if than the mean trajectory",
        f"MAPE in % of {len(told.at)} pieces of {told.k} steps from {told.m}, of "
        f"{len(told.run_names)} runs: {errors}; the network's is {mean} the mean trajectory's "
        f"and {persists} persistence's, which it beats in {counted(beats, 'runs')}",
        graded((ends[:, 0] > 0), ends[:1, 0] > 0),
        "003-fig-12",
    )
