"""Where the nodes of each run are: on how many routers, in how many groups.

placement = read_placement("placement.csv")      # run,node,router,group
placement.to_frame()                             # NUM_ROUTERS and NUM_GROUPS of each run
steps = placement.add_to(steps)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.host_lists import MOST_NAMES, expand_hosts
from workbench.result import StoredResult
from workbench.variability.tables.steps import StepTable
from workbench.variability.tables.table_file import (
    TableNotes,
    listed,
    names_in,
    read_table,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd

FEATURES = ("NUM_ROUTERS", "NUM_GROUPS")
"""Numbers of routers and groups with nodes of a run (Bhatele et al. 2020, III-C)."""

_WHAT = "a table of placement"
_NEEDED = ("run", "node")
_OPTIONAL = ("router", "group")
# A node of a Cray XC: cabinet X-Y, chassis, slot, node. A slot has one Aries router; a group is two
# cabinets of a row (Faanes et al., SC 2012).
_CNAME = re.compile(r"(c(\d+)-(\d+)c\d+s\d+)(?:a\d+)?n\d+", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class JobPlacement(StoredResult):
    """The nodes of runs, with their routers and groups.

    Attributes:
        run: of each row.
        node: of each row.
        router: of each node; empty where it is not known.
        group: of each router; empty where it is not known.
        notes: what was taken for granted, each a sentence.
    """

    run: tuple[str, ...]
    node: tuple[str, ...]
    router: tuple[str, ...]
    group: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def of(self, run: str) -> frozenset[str]:
        """Return the names of a run's nodes and routers.

        Args:
            run: its name.
        """
        rows = [at for at, name in enumerate(self.run) if name == run]
        names = {self.node[at] for at in rows} | {self.router[at] for at in rows}
        return frozenset(names - {""})

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run: its nodes, ``NUM_ROUTERS`` and ``NUM_GROUPS``, nan if not known."""
        import pandas as pd

        rows = pd.DataFrame(
            {"run": self.run, "nodes": self.node, "router": self.router, "group": self.group}
        )
        found = rows.groupby("run", sort=False).agg(
            nodes=("nodes", "nunique"),
            NUM_ROUTERS=("router", _distinct),
            NUM_GROUPS=("group", _distinct),
        )
        return found.reset_index()

    def add_to(self, steps: StepTable) -> StepTable:
        """Return a table of steps with ``NUM_ROUTERS`` and ``NUM_GROUPS`` among its counters.

        Runs without placement have nan there, and are named in ``notes``.

        Args:
            steps: of some of the same runs.

        Raises:
            ParameterError: the table has such counters, or none of its runs is here.
        """
        table = self.to_frame().set_index("run")
        lacking = [run for run in steps.run if run not in table.index]
        if len(lacking) == len(steps):
            raise ParameterError(
                f"the runs must be those of the placement; it has {listed(table.index)}, "
                f"the steps are of {listed(steps.run)}",
                key="steps",
            )
        known = [name for name in FEATURES if table[name].notna().any()]
        if not known:
            raise ParameterError(
                "the placement must name routers or groups; it names nodes alone", key="placement"
            )
        of_run = table[known].reindex(list(steps.run)).to_numpy(np.float64)
        values = np.repeat(of_run[:, None, :], steps.steps, axis=1)
        notes = list(self.notes)
        if lacking:
            notes.append(f"{len(lacking)} runs have no placement: {listed(lacking)}")
        return steps.with_counters(known, values, notes)

    def __repr__(self) -> str:
        return f"JobPlacement({len(set(self.run))} runs on {len(set(self.node))} nodes)"


def read_placement(path: str | Path, *, columns: Mapping[str, str] | None = None) -> JobPlacement:
    """Return the nodes of runs in a CSV or Parquet table ``run,node,router,group``.

    A node may be a list as Slurm prints it, such as ``nid0[0012-0015,0020]``. Without the columns
    ``router`` and ``group`` they are known of nodes that have a Cray XC's names, such as
    ``c0-0c1s2n3``: a slot is a router, two cabinets of a row are a group.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"node": "NodeList"}``.

    Raises:
        ParseError: the file is no such table, or a list of nodes is none; names the line.
        ParameterError: ``columns`` names a column that such a table does not have.
    """
    source = str(path)
    notes = TableNotes()
    table = read_table(path, _WHAT, _NEEDED, columns=columns, optional=_OPTIONAL, notes=notes)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    cells = {name: names_in(table, name, _WHAT, source) for name in _NEEDED}
    given = {
        name: texts_of(table[name]) if name in table else [""] * len(table) for name in _OPTIONAL
    }
    rows: list[tuple[str, str, str, str]] = []
    for at, (run, text) in enumerate(zip(*cells.values(), strict=True)):
        line = int(table.index[at])
        for node in _nodes(text, source, line):
            router, group = _of_cname(node)
            rows.append((run, node, given["router"][at] or router, given["group"][at] or group))
            if len(rows) > MOST_NAMES:
                raise ParseError(
                    f"{_WHAT} must have at most {MOST_NAMES} nodes of runs",
                    source=source,
                    line=line,
                )
    runs, nodes, routers, groups = (tuple(row[at] for row in rows) for at in range(4))
    named = len(rows) - routers.count("")
    if "router" not in table and named:
        notes.append(f"routers and groups of {named} nodes are taken from the nodes' names")
    for name, known in (("router", routers), ("group", groups)):
        if lacking := known.count(""):
            notes.append(f"{lacking} of {len(rows)} nodes have no {name}")
    return JobPlacement(runs, nodes, routers, groups, tuple(notes))


def _of_cname(node: str) -> tuple[str, str]:
    """Return the router and group of a node with a Cray XC's name; empty for other names."""
    match = _CNAME.fullmatch(node)
    if match is None:
        return "", ""
    router, column, row = match.groups()
    return router.lower(), f"{int(column) // 2}-{int(row)}"


def _nodes(text: str, source: str, line: int) -> list[str]:
    """Return the names in a list of nodes; ParseError names the line of one that is none."""
    try:
        return expand_hosts(text)
    except ParameterError as error:
        raise ParseError(
            str(error).replace("a host", "node", 1), source=source, line=line
        ) from None


def _distinct(names: pd.Series) -> float:
    """Return the number of different names; nan where one is not known."""
    return float(names.nunique()) if (names != "").all() else float("nan")
