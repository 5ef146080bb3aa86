"""Output of ``workbench tune``: an experiment's result, and the experiments of a store."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tune.result import TuningResult
    from workbench.tune.store.stored_experiments import StoredExperiment


def summary_of(result: TuningResult) -> dict[str, Any]:
    """Return the values of ``--json``: all but the runs, which ``export`` writes."""
    plain = result.to_dict()
    summary = {key: plain[key] for key in plain if key not in ("runs", "space", "sessions")}
    best, default = result.best_configuration, result.space.default
    return summary | {
        "best": plain["best"] | {"runs": _count(result, best)},
        "default_runs": _count(result, default),
        "runs": len(result),
        "under_way": len(result.pending),
        "counts": result.counts,
        "seconds": result.seconds,
        "importance": result.importance(),
        "importance_intervals": result.importance_intervals(),
    }


def result_text(result: TuningResult) -> str:
    """Return a result as text for people."""
    from workbench.storage.importance import FEWEST_CONFIGURATIONS
    from workbench.tune.result_repr import replay_text

    unit = f" {result.unit}" if result.unit else ""
    counts = ", ".join(f"{n} {status}" for status, n in result.counts.items() if n)
    under_way = f", {len(result.pending)} under way" if result.pending else ""
    spent = f"{result.seconds:.4g} s of runs"
    lines = [f"{result.name}: {len(result)} runs ({counts or 'none'}){under_way}, {spent}"]
    if source := replay_text(result.settings):
        lines.append(source)
    if result.stop_reason:
        lines.append(f"ended: {result.stop_reason}")
    if result.best is not None:
        often = _often(result, result.best_configuration)
        lines.append(f"best {result.label}: {result.best_value:.6g}{unit} ({often})")
        lines += _indented(result.best_configuration)
    default = result.space.default
    if default is not None and math.isfinite(result.default_value):
        line = f"default: {result.default_value:.6g}{unit} ({_often(result, default)})"
        if math.isfinite(result.improvement):
            better = f"the best is {100 * result.improvement:.1f} % better"
            line += f"; {better if result.improvement > 0 else 'no run is better'}"
        lines.append(line)
    expected = result.recommended
    if expected is not None:
        head = f"recommended by a model of the noise, which expects {expected[1]:.6g}{unit}:"
        if expected[0] == result.best_configuration:
            lines.append(f"{head} the best")
        else:
            lines += [head, *_indented(expected[0])]
    if math.isfinite(result.explored):
        lines.append(f"explored: {100 * result.explored:.1f} % of {result.space.size}")
    weights, intervals = result.importance(), result.importance_intervals()
    if weights:
        shares = ", ".join(
            f"{name} {100 * share:.0f} % ({_range(intervals.get(name))})"
            for name, share in weights.items()
        )
        lines.append(
            "parameter importance for the best tenth (5 to 95 % over resampled configurations): "
            f"{shares}"
        )
    elif len(result.space) > 1 and result.best is not None:
        lines.append(
            "parameter importance for the best tenth: too few configurations, or all alike; it "
            "takes "
            f"{FEWEST_CONFIGURATIONS}"
        )
    return "\n".join(lines)


def _range(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}"


def experiments_text(found: Sequence[StoredExperiment], store: str) -> str:
    """Return the experiments of a store as text, a line each."""
    if not found:
        return f"{store} holds no experiment"
    width = max(len(one.name) for one in found)
    # A script may go on beyond the budget of the settings.
    done = [
        f"{one.runs} of {one.budget} runs" if one.runs <= (one.budget or 0) else f"{one.runs} runs"
        for one in found
    ]
    column = max(len(text) for text in done)
    lines = []
    for one, runs in zip(found, done, strict=True):
        why = one.stop_reason or (f"{one.running} under way" if one.running else "")
        lines.append(f"{one.name:<{width}}  {one.state:<8}  {runs:>{column}}  {why}".rstrip())
    return "\n".join(lines)


def _count(result: TuningResult, configuration: Mapping[str, Any] | None) -> int:
    return len(result.history.runs_of(configuration)) if configuration else 0


def _often(result: TuningResult, configuration: Mapping[str, Any]) -> str:
    """Return the number of runs behind a configuration's value, and their range, as text."""
    runs = result.history.runs_of(configuration)
    if len(runs) == 1:
        return "one run"
    values = [run.value for run in runs if run.status == "complete"]
    ends = f", {min(values):.6g} to {max(values):.6g}" if len(values) > 1 else ""
    return f"{result.aggregation} of {len(runs)} runs{ends}"


def _indented(configuration: Mapping[str, Any]) -> list[str]:
    width = max((len(name) for name in configuration), default=0)
    return [
        f"  {name:<{width}}  {'not passed' if value is None else value}"
        for name, value in configuration.items()
    ]
