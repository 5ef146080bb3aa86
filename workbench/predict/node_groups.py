"""Where the nodes of a job are: their switches and groups, as a batch system or a site lists them.

groups = read_node_groups("allocation.csv", job=7, system="leonardo_booster")
machine.placed(groups)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.text_table import numbers_of, read_text_table

NEEDED = ("job", "first_rank", "group", "switch")


@dataclass(frozen=True)
class NodeGroups:
    """The switch and the group of each node of a job, in the order of its ranks.

    A group is a cell of a Dragonfly+ or a group of a Dragonfly. Links between switches are not
    known, so none is shared.

    Attributes:
        switches: a name for each node.
        groups: a name for each node.
        in_group: routers that a message passes between two switches of a group.
        between_groups: routers that a message passes between two groups.
        notes: what of a file was left out.
    """

    switches: tuple[str, ...]
    groups: tuple[str, ...]
    in_group: int = 3  # leaf, spine, leaf
    between_groups: int = 4  # leaf, spine, spine, leaf
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (len(self.switches) == len(self.groups) >= 1):
            raise ParameterError(
                "switches and groups must have an entry for each node; got "
                f"{len(self.switches)} and {len(self.groups)}",
                key="switches",
            )
        whole(self.in_group, "in_group", 1)
        whole(self.between_groups, "between_groups", self.in_group)

    def routers(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the routers that messages pass, int64[messages]; 1 where both share a switch.

        Args:
            source: int64[messages], sending nodes.
            target: int64[messages], receiving nodes.
        """
        switch, group = (np.unique(one, return_inverse=True)[1] for one in self._named)
        apart = np.where(group[source] == group[target], self.in_group, self.between_groups)
        return np.asarray(np.where(switch[source] == switch[target], 1, apart), np.int64)

    def most_routers(self, nodes: int) -> int:
        """Return the routers on the longest way between two of the first nodes.

        Args:
            nodes: two or more.
        """
        switches, groups = (len(set(one[:nodes])) for one in self._named)
        if groups > 1:
            return self.between_groups
        return self.in_group if switches > 1 else 1

    @property
    def _named(self) -> tuple[list[str], list[str]]:
        """Switches by their full names, and groups: two groups may number switches alike."""
        pairs = zip(self.groups, self.switches, strict=True)
        return [f"{group}/{switch}" for group, switch in pairs], list(self.groups)

    @property
    def label(self) -> str:
        """A few words for tables."""
        count = len(set(self._named[0]))
        return f"{len(self.switches)} nodes on {count} switches of {len(set(self.groups))} groups"


def read_node_groups(
    path: str | Path,
    *,
    job: int | None = None,
    system: str | None = None,
    in_group: int = 3,
    between_groups: int = 4,
) -> NodeGroups:
    """Return where the nodes of a job are, from a CSV file with a row for each node.

    Columns: ``job``, ``first_rank`` (by which the nodes are ordered), ``group`` and ``switch``, and
    ``system`` where the file has several.

    Args:
        path: the file.
        job: its number; None where the file holds one.
        system: of those in the file; None where it holds one.
        in_group: routers that a message passes between two switches of a group.
        between_groups: routers that a message passes between two groups.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: it does not hold the system or the job, or has no groups of it.
    """
    table = read_text_table(path, "a table of a job's nodes", NEEDED)
    notes = table.attrs.get("notes", ())
    if "system" not in table:
        table["system"] = ""
    for column, wanted in (("system", system), ("job", None if job is None else str(job))):
        known = sorted(set(table[column]))
        if wanted is None and len(known) != 1:
            raise ParameterError(
                f"{path} must hold one {column} where none is named; it has {', '.join(known)}",
                key=column,
            )
        if wanted is not None and wanted not in known:
            raise ParameterError(
                f"{path} must hold the {column}; got {wanted!r}{did_you_mean(wanted, known)}; it "
                f"has {', '.join(known)}",
                key=column,
            )
        table = table[table[column] == (known[0] if wanted is None else wanted)]
    if (table[["group", "switch"]] == "").any(axis=None):
        raise ParameterError(
            f"each node in {path} must have a group and a switch; those of this job have none",
            key="job",
        )
    order = np.argsort(numbers_of(table, "first_rank", str(path), least=0.0), kind="stable")
    ordered = table.iloc[order]
    return NodeGroups(
        tuple(ordered["switch"]), tuple(ordered["group"]), in_group, between_groups, notes
    )
