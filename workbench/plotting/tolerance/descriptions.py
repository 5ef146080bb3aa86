"""Sentences on a figure of latency tolerance, and the names and origins of its curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.errors import ParameterError
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.style import time_text
from workbench.plotting.tolerance.columns import MOST_MARKS
from workbench.provenance import Provenance
from workbench.sensitivity.result import (
    RENDEZVOUS,
    latencies_text,
    latency_text,
    more_than_messages,
)

if TYPE_CHECKING:
    from workbench.sensitivity.result import LatencySensitivity

    Results = LatencySensitivity | Sequence[LatencySensitivity] | Mapping[str, LatencySensitivity]

# By the variable of an analysis: its axis, the slope's, and what several analyses are of.
WORDS = {
    "L": ("latency L", "λ_L (latencies)", "programs"),
    "l_wire": ("latency of a wire", "λ_wire (wires)", "topologies"),
}

_APART = 3.0  # times between the longest T and the shortest from which on T is drawn in percent


def describe_tolerance(results: Results) -> str:
    """Return sentences on the latency tolerance of the programs, and their critical paths.

    Args:
        results: as in `plot_tolerance`.

    Raises:
        ParameterError: there is none.
    """
    named = by_name(results)
    if len(named) > 1:
        return _describe_several(named)
    result = next(iter(named.values()))
    text = (
        f"At {result.variable} = {time_text(result.L * 1e9)} the program takes "
        f"{time_text(result.T * 1e9)}, and {plain_percent(100 * result.rho_L)} of that is latency: "
        f"{latencies_text(result)}."
    )
    if more_than_messages(result):
        text += f" {RENDEZVOUS[0].upper()}{RENDEZVOUS[1:]}."
    if result.tolerance:
        borne = ", ".join(
            f"{latency_text(largest)} for {percent:g} %"
            for percent, largest in result.tolerance.items()
        )
        text += f" It tolerates an {result.variable} of at most {borne}."
    count = len(result.critical_latencies)
    noun = "critical latency" if count == 1 else "critical latencies"
    text += f" {count:,} {noun} between {' and '.join(time_text(e * 1e9) for e in result.interval)}"
    text += f", of which {MOST_MARKS} are marked." if count > MOST_MARKS else "."
    return text + "".join(f" Warning: {warning}." for warning in result.warnings)


def by_name(results: Results) -> dict[str, LatencySensitivity]:
    """Return analyses by unique names, in their order."""
    if isinstance(results, Mapping):
        named = dict(results)
    else:
        several = list(results) if isinstance(results, Sequence) else [results]
        named = {}
        for result in several:
            name, number = result.source, 1
            while name in named:
                number += 1
                name = f"{result.source} ({number})"
            named[name] = result
    if not named:
        raise ParameterError("at least one analysis must be given; got none", key="results")
    return named


def is_relative(named: Mapping[str, LatencySensitivity]) -> bool:
    """Return whether run times differ so much that only their growth can share an axis."""
    times = [result.T for result in named.values()]
    return min(times) > 0 and max(times) > _APART * min(times)


def origin_of(named: Mapping[str, LatencySensitivity]) -> Provenance:
    """Return the provenance of one analysis, or a common one for several."""
    first, *others = named.values()
    if not others:
        return first.provenance
    alike = all(other.model == first.model for other in others)
    model = str(first.model) if alike else "each with its own parameters"
    noun = WORDS[first.variable][2]
    return Provenance(
        "simulated", f"{len(named)} {noun}, LLAMP's semantics, no contention, {model}"
    )


def _describe_several(named: Mapping[str, LatencySensitivity]) -> str:
    percents = set.intersection(*(set(result.tolerance) for result in named.values()))
    shares = ", ".join(
        f"{name} {plain_percent(100 * result.rho_L)}" for name, result in named.items()
    )
    if not percents:
        return f"Latency's share of the critical path: {shares}."
    percent = min(percents)
    order = sorted(named, key=lambda name: named[name].tolerance[percent])
    least, most = order[0], order[-1]
    return (
        f"Within {percent:g} % {most} tolerates the most, an L of "
        f"{latency_text(named[most].tolerance[percent])}, and {least} the least, "
        f"{latency_text(named[least].tolerance[percent])}. Latency's share of the critical path: "
        f"{shares}."
    )
