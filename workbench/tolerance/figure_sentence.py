"""Sentences on a figure of latency tolerance, and the names and origins of its curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.errors import ParameterError
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.style import time_text
from workbench.provenance import Provenance
from workbench.tolerance.curve import (
    RENDEZVOUS,
    BandwidthSensitivity,
    LatencySensitivity,
    more_than_messages,
)
from workbench.tolerance.figure_columns import MOST_MARKS, value_text

if TYPE_CHECKING:
    from workbench.tolerance.curve import ToleranceCurve

    Results = ToleranceCurve | Sequence[ToleranceCurve] | Mapping[str, ToleranceCurve]


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
    words, say = result.parameter, partial(value_text, result.variable)
    text = f"At {result.variable} = {say(result.base)} the program takes "
    text += f"{time_text(result.T * 1e9)}, and {plain_percent(100 * result.rho)} of that "
    warnings: tuple[str, ...] = ()
    if isinstance(result, LatencySensitivity):
        text += f"is latency: {_latencies(result)}."
        warnings = result.warnings
        if more_than_messages(result):
            text += f" {RENDEZVOUS[0].upper()}{RENDEZVOUS[1:]}."
    elif isinstance(result, BandwidthSensitivity):
        text += f"is bytes: {result.lambda_G:,} of them on the critical path."
    if result.tolerance:
        borne = ", ".join(
            f"{_borne(result, largest)} for {percent:g} %"
            for percent, largest in result.tolerance.items()
        )
        text += f" It tolerates {words.a_value} of at most {borne}."
    count = len(result.critical)
    noun = words.critical if count == 1 else words.criticals
    text += f" {count:,} {noun} between {' and '.join(say(end) for end in result.interval)}"
    text += f", of which {MOST_MARKS} are marked." if count > MOST_MARKS else "."
    return text + "".join(f" Warning: {warning}." for warning in warnings)


def by_name(results: Results) -> dict[str, ToleranceCurve]:
    """Return analyses of one parameter by unique names, in their order."""
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
    variables = dict.fromkeys(result.variable for result in named.values())
    if len(variables) > 1:
        raise ParameterError(
            f"analyses in one figure must be over one parameter; got {' and '.join(variables)}",
            key="results",
        )
    return named


def is_relative(named: Mapping[str, ToleranceCurve]) -> bool:
    """Return whether run times differ so much that only their growth can share an axis."""
    times = [result.T for result in named.values()]
    return min(times) > 0 and max(times) > _APART * min(times)


def origin_of(named: Mapping[str, ToleranceCurve]) -> Provenance:
    """Return the provenance of one analysis, or a common one for several."""
    first, *others = named.values()
    if not others:
        return first.provenance
    alike = all(other.model == first.model for other in others)
    model = str(first.model) if alike else "each with its own parameters"
    noun = first.parameter.several
    return Provenance(
        "simulated", f"{len(named)} {noun}, LLAMP's semantics, no contention, {model}"
    )


def _describe_several(named: Mapping[str, ToleranceCurve]) -> str:
    percents = set.intersection(*(set(result.tolerance) for result in named.values()))
    first = next(iter(named.values()))
    what = first.parameter.share_of
    shares = ", ".join(
        f"{name} {plain_percent(100 * result.rho)}" for name, result in named.items()
    )
    if not percents:
        return f"{what} share of the critical path: {shares}."
    percent = min(percents)
    order = sorted(named, key=lambda name: named[name].tolerance[percent])
    least, most = order[0], order[-1]
    return (
        f"Within {percent:g} % {most} tolerates the most, {first.parameter.a_value} of "
        f"{_borne(named[most], named[most].tolerance[percent])}, and {least} the least, "
        f"{_borne(named[least], named[least].tolerance[percent])}. {what} share of the critical "
        f"path: {shares}."
    )


def _borne(result: ToleranceCurve, largest: float) -> str:
    """Return a tolerance as text; ``any latency`` or ``any gap`` where it is infinite."""
    if math.isfinite(largest):
        return value_text(result.variable, largest)
    return f"any {result.parameter.kind}"


def _latencies(result: LatencySensitivity) -> str:
    """Return λ_L, and the messages it is of, as text: ``96 latencies …, of 24 messages``."""
    noun = "latency" if result.lambda_L == 1 else "latencies"
    text = f"{result.lambda_L:,} {noun} on the critical path"
    if result.critical_messages is None:
        return text
    noun = "message" if result.critical_messages == 1 else "messages"
    return f"{text}, of {result.critical_messages:,} {noun}"
