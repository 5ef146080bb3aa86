"""What holds of predictions from two nodes, as verdicts: the target, the ranking, what to learn."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.findings import Finding, Findings, all_or_some, counted, graded, listed
from workbench.predict.prediction_errors import (
    TARGET_ERROR,
    TARGET_SPAN,
    VARIANTS,
    PredictionErrors,
    Variant,
    shipped_evaluation,
)

_NEAR = 1.1  # of the best time: within 10 %
_SMALL, _LARGE = 2**11, 2**18  # bytes: where latency, and where memory and links, take most time
_WHERE = "paper 000, VII: future work"


def prediction_findings(found: PredictionErrors | None = None) -> Findings:
    """Return what holds of predictions from two nodes, a verdict for each question.

    The claims are questions of ours: paper 000 leaves open how its error carries on from two nodes
    to a topology.

    Args:
        found: of ``evaluate_predictions``; None takes the shipped one.
    """
    errors = shipped_evaluation() if found is None else found
    findings = [_target(errors), _two_nodes(errors), _learnt(errors), _several_ranks(errors)]
    ranking = errors.ranking()
    findings += [_ranked(ranking, system) for system in dict.fromkeys(ranking["system"])]
    return Findings(tuple(findings))


def _target(errors: PredictionErrors) -> Finding:
    rows = errors.targets()
    failed = rows[~rows["holds"].astype(bool)]
    worst = (
        f"{row.collective} on {row.system} ({row.algorithm}) {row.error:.0f} %"
        for row in failed.rename(columns={"median error (%)": "error"}).itertuples()
    )
    low, high = TARGET_SPAN
    return Finding(
        "target-at-2-to-8-times",
        f"Named or learnt on the fewest nodes, algorithms are predicted to {TARGET_ERROR:.0%} in "
        f"the median on {low} to {high} times these",
        _WHERE,
        "one rank a node and messages of the same system; it holds for each system and collective; "
        "partly: for some",
        f"{counted(rows['holds'], 'systems and collectives')}; more than that: "
        f"{listed(list(worst))}",
        all_or_some(rows["holds"].astype(bool)),
        "heatmap of errors",
    )


def _two_nodes(errors: PredictionErrors) -> Finding:
    medians = _by_system(errors, "two nodes")
    texts = [f"{name} {100 * value:.0f} %" for name, value in medians.items()]
    return Finding(
        "two-nodes-alone",
        f"Messages between two nodes alone predict collectives to {TARGET_ERROR:.0%} in the median",
        _WHERE,
        "one rank a node and messages of the same system; all collectives, nodes and sizes of a "
        "system; partly: on some systems",
        listed(texts),
        all_or_some([value <= TARGET_ERROR for value in medians.values()]),
        "heatmap of errors",
    )


def _learnt(errors: PredictionErrors) -> Finding:
    bigger = errors.times_least > 1
    texts, better = [], []
    alone = np.abs(errors.errors_of("two nodes"))
    for variant in VARIANTS[1:]:
        then = np.abs(errors.errors_of(variant))
        both = bigger & np.isfinite(alone) & np.isfinite(then) & _own(errors)
        before, after = float(np.median(alone[both])), float(np.median(then[both]))
        better.append(after < before)
        texts.append(f"{variant} {100 * before:.0f} to {100 * after:.0f} % ({both.sum()} tests)")
    return Finding(
        "one-thing-learnt",
        "One thing learnt on the fewest nodes, or the two fewest, brings those on more nearer",
        _WHERE,
        "one rank a node and messages of the same system; the median error of the same tests is "
        "less, by the algorithm and by the surplus of a round, of one number of nodes and of two; "
        "partly: by one of them",
        listed(texts),
        all_or_some(better),
        "heatmap of errors",
    )


def _several_ranks(errors: PredictionErrors) -> Finding:
    several = np.array([one.ranks_per_node > 1 for one in errors.cases], np.bool_)[errors.case]
    used = several & np.isfinite(errors.predicted[0])
    names = {errors.cases[at].system for at in errors.case[used]}
    medians = {
        name: float(np.median(np.abs(errors.errors_of("two nodes")[used & _of(errors, name)])))
        for name in sorted(names)
    }
    crowd = {one.system for one in errors.cases if one.crowd_measured}
    texts = [
        f"{name} {100 * value:.0f} % ({'measured' if name in crowd else 'not measured'}; "
        f"{_bias(errors, used & _of(errors, name))})"
        for name, value in medians.items()
    ]
    holds = [value <= TARGET_ERROR for value in medians.values()]
    return Finding(
        "several-ranks-a-node",
        f"With many ranks a node predictions hold to {TARGET_ERROR:.0%} too",
        _WHERE,
        "messages within a node are assumed, for none are published; those of all ranks of a node "
        "at once are assumed not to wait where they were not measured (osu_multi_lat); partly: on "
        "some systems",
        listed(texts),
        graded(holds, holds),
        "heatmap of errors",
    )


def _bias(errors: PredictionErrors, used: np.ndarray) -> str:
    """Return the median signed errors of small and of large blocks, in words."""
    off = errors.errors_of("two nodes")
    parts = {
        "to 2 KiB": used & (errors.block_bytes <= _SMALL),
        "from 256 KiB": used & (errors.block_bytes >= _LARGE),
    }
    return ", ".join(
        f"{words} {100 * float(np.median(off[part])):+.0f} %"
        for words, part in parts.items()
        if part.any()
    )


def _ranked(ranking: pd.DataFrame, system: str) -> Finding:
    rows = ranking[ranking["system"] == system]
    known, forced = rows["over best known"] <= _NEAR, rows["over best"] <= _NEAR
    return Finding(
        f"ranking-{system.split()[0].lower()}",
        f"The algorithm that is predicted best is within 10 % of the best one on {system}",
        _WHERE,
        "in 90 % of the collectives, nodes and sizes, of all algorithms that were forced; partly: "
        "of those whose rounds are known",
        f"{counted(forced, 'of all forced')} ({forced.mean():.0%}); {counted(known)} "
        f"({known.mean():.0%}) of those whose rounds are known",
        graded([forced.mean() >= 0.9], [known.mean() >= 0.9]),
        "ranking",
    )


def _own(errors: PredictionErrors) -> np.ndarray:
    """Return whether a test has its system's messages and one rank a node, bool[tests]."""
    own = [one.own_messages and one.ranks_per_node == 1 for one in errors.cases]
    return np.array(own, np.bool_)[errors.case]


def _of(errors: PredictionErrors, system: str) -> np.ndarray:
    return np.array([one.system == system for one in errors.cases], np.bool_)[errors.case]


def _by_system(errors: PredictionErrors, variant: Variant) -> dict[str, float]:
    """Return the median |error| of each system with its own messages and one rank a node."""
    off = np.abs(errors.errors_of(variant))
    used = _own(errors) & np.isfinite(off)
    names = dict.fromkeys(errors.cases[at].system for at in errors.case[used])
    return {name: float(np.median(off[used & _of(errors, name)])) for name in names}
