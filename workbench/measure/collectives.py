"""Times of collectives in the benchmarks' own output, as the rows that questions take."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ParameterError
from workbench.measure.benchmark_table import BenchmarkTable

if TYPE_CHECKING:
    import pandas as pd

_OF_ALL_RANKS = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter")
"""Tests of nccl-tests whose size is that of all ranks' blocks (doc/PERFORMANCE.md there)."""


def collective_rows(
    tables: Iterable[BenchmarkTable],
    source: str | Path,
    *,
    nodes: int | None = None,
    ranks_per_node: int | None = None,
) -> pd.DataFrame:
    """Return the tables of collectives as rows of texts: a row a size, its index the line.

    Nodes and ranks are those of the table's command where they are not given. Of nccl-tests the
    results out of place count. Where tables of a test on as many nodes have different labels, the
    label stands for the algorithm: they are different experiments.
    """
    import pandas as pd

    tables = [
        one
        for one in tables
        if one.benchmark == "collective" and one.labels.get("in_place") != "in-place"
    ]
    placed = [(one, _place(one, source, nodes, ranks_per_node)) for one in tables]
    named: dict[tuple[str, tuple[int, int]], set[str]] = {}
    for table, place in placed:
        named.setdefault((table.test, place), set()).add(table.labels.get("label", ""))

    rows: dict[str, list[str]] = {
        name: []
        for name in ("benchmark", "nodes", "ranks_per_node", "block_bytes", "avg_us", "algorithm",
                     "fabric", "system")
    }  # fmt: skip
    lines: list[int] = []
    for table, (on, each) in placed:
        several = len(named[table.test, (on, each)]) > 1
        label = table.labels.get("label", "") if several else ""
        parts = on * each if table.tool == "nccl" and table.test in _OF_ALL_RANKS else 1
        for line, size, value in zip(
            table.lines.tolist(), table.sizes.tolist(), table.result.tolist(), strict=True
        ):
            lines.append(line)
            rows["benchmark"].append(_name(table))
            rows["nodes"].append(str(on))
            rows["ranks_per_node"].append(str(each))
            rows["block_bytes"].append(str(size // parts))
            rows["avg_us"].append(repr(value))
            rows["algorithm"].append(table.labels.get("algorithm", label))
            rows["fabric"].append(table.labels.get("fabric", ""))
            rows["system"].append(table.labels.get("system", Path(source).stem))
    return pd.DataFrame(rows, index=pd.Index(lines, dtype="int64"), dtype=str)


def _name(table: BenchmarkTable) -> str:
    """Return the benchmark's name as tables of collectives have it, such as ``imb_allreduce``."""
    if table.tool == "osu":
        return table.test
    plain = table.test.lower()
    if plain not in ("reduce_scatter", "reduce_scatter_block"):
        plain = plain.replace("_", "")
    return f"{table.tool}_{plain}"


def _place(
    table: BenchmarkTable, source: str | Path, nodes: int | None, ranks_per_node: int | None
) -> tuple[int, int]:
    """Return the nodes of a table and the ranks on each; ask for what neither says."""
    labels = table.labels
    ranks = int(labels["ranks"]) if labels.get("ranks", "").isdigit() else 0
    on = nodes or (int(labels["nodes"]) if labels.get("nodes", "").isdigit() else 0)
    told = labels.get("ranks_per_node", "")
    each = ranks_per_node or (int(told) if told.isdigit() else 0)
    if not on and ranks and each:
        on = -(-ranks // each)
    if not on:
        raise ParameterError(
            f"nodes must be given: the text does not say on how many nodes {table.test} at "
            f"{source}:{table.line} ran{f', only its {ranks} ranks' if ranks else ''}; or put the "
            "command, such as mpirun -n 64 -ppn 16, on a line above the table",
            key="nodes",
        )
    return on, each or (max(ranks // on, 1) if ranks else 1)
