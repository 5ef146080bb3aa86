"""Topologies beside one another as a table: a row a metric, the best of each row marked."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workbench.html_table import Html, bold, html_table
from workbench.plotting.descriptions import plain_number
from workbench.plotting.theme import AS_DRAWN


@dataclass(frozen=True)
class MetricRow:
    """One metric of several topologies."""

    name: str  # with its unit
    texts: Mapping[str, str]  # of the cells, by topology
    best: Collection[str] = ()  # topologies to mark; empty for none
    about: str = ""  # tooltip of the name


def metrics_table(rows: Sequence[MetricRow], names: Mapping[str, str]) -> str:
    """Return an HTML table with the best of each row marked; `names` gives each column's colour."""
    head: list[str] = ["★ best of its row"]
    head += [
        Html(f'{html.escape(name)}<div style="height:3px;background:{colour};{AS_DRAWN}"></div>')
        for name, colour in names.items()
    ]
    cells = (_row(row, list(names)) for row in rows)
    return html_table(cells, head, cell_style="white-space:nowrap")


def _row(row: MetricRow, names: Sequence[str]) -> list[str]:
    title = f' title="{html.escape(row.about)}"' if row.about else ""
    cells: list[str] = [Html(f"<span{title}>{html.escape(row.name)}</span>")]
    for name in names:
        text = row.texts.get(name, "–")
        cells.append(bold(f"★ {text}") if name in row.best else text)
    return cells


@dataclass(frozen=True)
class Standing:
    """Figures of one topology for the sentence about a comparison."""

    name: str
    carried: float  # load under the traffic, as a share of the hosts' bandwidth
    links_per_host: float  # links between routers only
    mean_routers: float  # that a message passes


def describe_comparison(standings: Sequence[Standing], traffic: str, routing: str) -> str:
    """Return a sentence that compares the topology that carries the most with the next best one."""
    if not standings:
        return "Choose a topology."
    most = max(one.carried for one in standings)
    alike = [one for one in standings if math.isclose(one.carried, most, rel_tol=5e-3)]
    # Of those that carry as much, the one that does it with the fewest links.
    best = min(alike, key=lambda one: one.links_per_host)
    carried = f"{plain_number(best.carried)} of the hosts' bandwidth"
    if len(standings) == 1:
        return f"{best.name} carries {carried} of {traffic} traffic with {routing}."
    others = [one for one in standings if one not in alike]
    if not others:
        dear = max(standings, key=lambda one: one.links_per_host)
        if dear is best:
            return f"All carry {carried} of {traffic} traffic with {routing}."
        return (
            f"All carry {carried} of {traffic} traffic with {routing}; {best.name} does it with "
            f"{_ratio(best.links_per_host, dear.links_per_host)} the links a host of {dear.name}."
        )
    following = max(others, key=lambda one: one.carried)
    last = min(others, key=lambda one: one.carried)
    with_it = [one.name for one in alike if one is not best]
    like = f", like {' and '.join(with_it)}," if with_it else ""
    text = (
        f"{best.name}{like} carries {_ratio(best.carried, following.carried)} the {traffic} load "
        f"of {following.name}: {plain_number(best.carried)} against "
        f"{plain_number(following.carried)} of the hosts' bandwidth with {routing}, at "
        f"{_ratio(best.links_per_host, following.links_per_host)} its links a host and "
        f"{_ratio(best.mean_routers, following.mean_routers)} its mean distance"
    )
    if last is following:
        return f"{text}."
    return f"{text}. The least is {plain_number(last.carried)}, {last.name}."


def _ratio(one: float, other: float) -> str:
    if other <= 0:
        return "∞×"
    value = one / other
    return f"{value:.2g}×" if value < 10 else f"{value:.0f}×"
