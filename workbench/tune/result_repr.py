"""A tuning result in one line and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.html_table import html_table
from workbench.tune.runners.replay import describe_noise
from workbench.tune.space.constraints import Configuration

if TYPE_CHECKING:
    from workbench.tune.result import TuningResult


def result_line(result: TuningResult) -> str:
    """Return a result in one line: the best, the recommended, and why the search ended."""
    parts = [_runs(result)]
    if result.best is not None:
        parts.append(f"best {result.label} {_value(result, result.best_value)}")
        parts.append(f"with {_words(result.best_configuration)}")
    if math.isfinite(result.improvement):
        parts.append(f"{100 * result.improvement:.1f} % better than the default")
    expected = result.recommended
    if expected is not None:
        same = expected[0] == result.best_configuration
        what = "that" if same else f"{_words(expected[0])} ({_value(result, expected[1])} expected)"
        parts.append(f"recommended is {what}")
    if math.isfinite(result.explored):
        parts.append(f"{100 * result.explored:.1f} % of the space explored")
    if result.stop_reason:
        parts.append(result.stop_reason)
    return f"TuningResult({result.name}: {', '.join(parts)})"


def result_html(result: TuningResult) -> str:
    """Return a result as an HTML table: best, recommended and default configuration."""
    rows: list[tuple[str, Configuration, str]] = []
    if result.best is not None:
        rows.append(("best of the runs", result.best_configuration, _shown(result)))
    if result.recommended is not None:
        configuration, value = result.recommended
        text = f"{_value(result, value)} expected"
        rows.append(("recommended", configuration, text))
    if result.space.default is not None and math.isfinite(result.default_value):
        rows.append(
            ("default", result.space.canonical(result.space.default), _default_text(result))
        )
    caption = f"{result.name}: {_runs(result)}"
    if math.isfinite(result.explored):
        caption += f", {100 * result.explored:.1f} % of the space explored"
    if result.stop_reason:
        caption += f"; {result.stop_reason}"
    if source := replay_text(result.settings):
        caption += f"; {source}"
    head = ("", *result.space.names, result.label)
    cells = (
        (what, *(_word(one[name]) for name in result.space.names), value)
        for what, one, value in rows
    )
    return html_table(cells, head, caption)


def replay_text(settings: Mapping[str, Any]) -> str:
    """Return the recording and noise of a replayed experiment; empty if it ran a program."""
    runner = settings.get("runner", {})
    if runner.get("kind") != "replay":
        return ""
    recording, checksum = runner.get("recording", ""), runner.get("checksum", "")
    name = f"{recording}/{runner['recorded']}" if recording else runner["recorded"]
    parts = [f"replayed {name}", describe_noise(runner["noise"]), checksum]
    return ", ".join(part for part in parts if part)


def _runs(result: TuningResult) -> str:
    counts = result.counts
    parts = [f"{len(result)} runs"]
    parts += [f"{counts[status]} {status}" for status in ("pruned", "failed") if counts[status]]
    return ", ".join(parts)


def _shown(result: TuningResult) -> str:
    times = len(result.history.runs_of(result.best_configuration))
    often = "one run" if times == 1 else f"{result.aggregation} of {times} runs"
    return f"{_value(result, result.best_value)} ({often})"


def _default_text(result: TuningResult) -> str:
    better = result.improvement
    tail = f" (the best is {100 * better:.1f} % better)" if math.isfinite(better) else ""
    return _value(result, result.default_value) + tail


def _value(result: TuningResult, value: float) -> str:
    return f"{value:.6g} {result.unit}".rstrip()


def _words(configuration: Configuration) -> str:
    return ", ".join(f"{name}={value}" for name, value in configuration.items())


def _word(value: Any) -> str:
    if value is None:
        return "not passed"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
