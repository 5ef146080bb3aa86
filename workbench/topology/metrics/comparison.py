"""Several networks beside one another, and which is best at what."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from workbench.errors import ParameterError
from workbench.html_table import bold, html_table
from workbench.named_options import defaults_of, named_options
from workbench.result import StoredResult
from workbench.topology.metrics.summary import Row, SummaryOptions, TopologyMetrics, summary
from workbench.topology.throughput import EQUAL
from workbench.topology.topology import Topology

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison(StoredResult):
    """Measures of several networks beside one another.

    Attributes:
        metrics: of each network.
    """

    metrics: tuple[TopologyMetrics, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the networks, with a number where two have the same."""
        names = [one.name for one in self.metrics]
        return tuple(
            name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})"
            for i, name in enumerate(names)
        )

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that are known of any of the networks, in the order of a table."""
        seen: dict[str, None] = {}
        for one in self.metrics:
            seen |= dict.fromkeys(one.rows())
        return tuple(seen)

    def row(self, measure: str) -> tuple[Row, ...]:
        """Return a measure of each network; nan where it is not known.

        Args:
            measure: one of ``measures``.
        """
        return tuple(one.rows().get(measure, Row(math.nan)) for one in self.metrics)

    def best(self, measure: str) -> tuple[int, ...]:
        """Return the places of the networks that are best, or may be where there are bounds.

        Args:
            measure: one of ``measures``.

        Returns:
            None of them where neither more nor less is better, or where all are equal. A network
            on which something else was measured is not among them, unless it was on all.
        """
        row = self.row(measure)
        better = next((one.better for one in row if one.better), 0)
        known = [i for i, one in enumerate(row) if not math.isnan(one.lower)]
        known = [i for i in known if not row[i].instead] or known
        if not better or len(known) < 2:
            return ()
        ends = {i: sorted((better * row[i].lower, better * row[i].highest)) for i in known}
        bar = max(low for low, _ in ends.values())
        slack = EQUAL * abs(bar) if math.isfinite(bar) else 0.0
        winners = tuple(i for i in known if ends[i][1] >= bar - slack)
        return () if len(winners) == len(known) else winners

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before the networks are compared, a sentence each."""
        labels = self.labels
        notes = [
            f"{measure}: {label} has no groups of hosts and ran {row.instead} instead"
            if row.instead
            else f"{measure}: {label} has {row.note}"
            for measure in self.measures
            for label, row in zip(labels, self.row(measure), strict=True)
            if row.instead or row.note
        ]
        return (
            *notes,
            *unequal_hosts({n: m.hosts for n, m in zip(labels, self.metrics, strict=True)}),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure and a column for each network, as text.

        The column ``best`` names the best ones.
        """
        import pandas as pd

        labels, measures = self.labels, self.measures
        frame = pd.DataFrame(
            [[str(one) for one in self.row(measure)] for measure in measures],
            index=pd.Index(measures, name="measure"),
            columns=list(labels),
        )
        frame["best"] = ["; ".join(labels[i] for i in self.best(m)) for m in measures]
        return frame

    def numbers(self) -> pd.DataFrame:
        """Return a row for each network and measure: ``lower``, ``upper`` and ``best``."""
        import pandas as pd

        rows = [
            {
                "topology": label,
                "measure": measure,
                "lower": row.lower,
                "upper": row.highest,
                "best": place in self.best(measure),
            }
            for measure in self.measures
            for place, (label, row) in enumerate(zip(self.labels, self.row(measure), strict=True))
        ]
        return pd.DataFrame(rows, columns=["topology", "measure", "lower", "upper", "best"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        labels = self.labels
        return {
            "topologies": [one.to_dict() for one in self.metrics],
            "best": {m: [labels[i] for i in self.best(m)] for m in self.measures},
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.labels)})"

    def _repr_html_(self) -> str:
        rows = []
        for measure in self.measures:
            winners = self.best(measure)
            cells = (
                bold(f"{row} ★") if place in winners else str(row)
                for place, row in enumerate(self.row(measure))
            )
            rows.append((measure, *cells))
        return (
            html_table(rows, ("", *self.labels))
            + "<p>★ best, or may be the best of what lies between bounds. Cost is an estimate.</p>"
            + "".join(f"<p>{html.escape(note)}.</p>" for note in self.notes)
        )


def unequal_hosts(hosts: Mapping[str, int]) -> tuple[str, ...]:
    """Return a note if networks have unequal numbers of hosts, else an empty tuple."""
    if len(set(hosts.values())) < 2:
        return ()
    listed = "; ".join(f"{name}: {count:,}" for name, count in hosts.items())
    return (
        f"Networks have unequal numbers of hosts ({listed}): totals and distances grow with "
        "them, and only measures per host allow for it",
    )


@named_options(SummaryOptions, defaults_of(summary))
def compare(
    topologies: Sequence[Topology | TopologyMetrics], **options: Unpack[SummaryOptions]
) -> Comparison:
    """Return several networks beside one another.

    Args:
        topologies: networks, or their measures.
        options: of ``summary``, for those that are networks.

    Raises:
        ParameterError: there is none, or an option is not accepted.
    """
    if not topologies:
        raise ParameterError("a comparison needs one topology at least", key="topologies")
    return Comparison(
        tuple(
            one if isinstance(one, TopologyMetrics) else summary(one, **options)
            for one in topologies
        )
    )
