"""Measured collectives: the benchmarks' own output, or a CSV with a row per run on some nodes.

What OSU, IMB and nccl-tests print is read as it is. Columns of a CSV: ``benchmark`` (such as
``osu_allreduce``), ``nodes``, ``block_bytes``, ``avg_us``; and, where there are any, ``median_us``,
``ranks_per_node``, ``algorithm``, ``system`` (else the file's name) and ``fabric``, which may end
in the shape of a torus, such as ``Tofu-D 8x8x8``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, ParseError
from workbench.measure.collectives import collective_rows
from workbench.measure.log_lines import decoded
from workbench.measure.osu_read import tables_of_text
from workbench.provenance import Provenance
from workbench.suggestions import did_you_mean
from workbench.text_table import parsed_numbers, read_text_table
from workbench.uq.collectives.models import CollectiveTest, known_algorithms
from workbench.uq.replicas import Replicas, without_slow

if TYPE_CHECKING:
    import pandas as pd


COORDINATES = ("nodes", "block_bytes")

_NEEDED = ("benchmark", "nodes", "avg_us", "block_bytes")
_SHAPE = re.compile(r"\b(\d+(?:x\d+)+)$")


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredCollective:
    """The tests of one collective with their replicas."""

    system: str
    collective: str
    label: str  # of its algorithm; empty is the library's default
    tests: tuple[CollectiveTest, ...]
    replicas: tuple[FloatArray, ...]  # s, of each test
    provenance: Provenance | None = None
    notes: tuple[str, ...] = ()  # what of the file was left out

    @property
    def medians(self) -> FloatArray:
        """Median of each test's replicas in s, float64[tests]."""
        return np.array([np.median(each) for each in self.replicas])

    @property
    def usual_count(self) -> int:
        """Number of replicas of a test, the median of all."""
        return int(np.median([len(each) for each in self.replicas]))

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms here that the label may mean; none if it is unknown."""
        return known_algorithms(self.collective, self.label)

    def to_replicas(self) -> Replicas:
        """Return the replicas as a calibration takes them, tests placed by nodes and bytes."""
        labels = [test.label for test in self.tests]
        return Replicas.of(self.replicas, labels, columns_of(self.tests))

    def without_outliers(self) -> MeasuredCollective:
        """Return the tests without severe outliers, as ``Replicas.without_outliers`` does."""
        kept = tuple(without_slow(each) for each in self.replicas)
        gone = sum(map(len, self.replicas)) - sum(map(len, kept))
        notes = (f"{gone} outliers were removed",) if gone else ()
        return replace(self, replicas=kept, notes=self.notes + notes)

    def on(self, nodes: Iterable[int]) -> MeasuredCollective:
        """Return the tests on these numbers of nodes."""
        wanted = set(nodes)
        kept = [at for at, test in enumerate(self.tests) if test.nodes in wanted]
        if missing := wanted - {test.nodes for test in self.tests}:
            known = sorted({test.nodes for test in self.tests})
            raise ParameterError(
                f"nodes must be among the measured {', '.join(map(str, known))}; got "
                f"{', '.join(map(str, sorted(missing)))}",
                key="nodes",
            )
        return self.pick(kept)

    def pick(self, numbers: Iterable[int]) -> MeasuredCollective:
        """Return the tests of these numbers."""
        kept = list(numbers)
        return replace(
            self,
            tests=tuple(self.tests[at] for at in kept),
            replicas=tuple(self.replicas[at] for at in kept),
        )

    def __repr__(self) -> str:
        nodes = ", ".join(map(str, nodes_of(self.tests)))
        counts = sorted({len(each) for each in self.replicas})
        replicas = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        return (
            f"MeasuredCollective({self.collective} {self.label or 'by default'} on {self.system}, "
            f"{nodes} nodes, {len(self.tests)} tests of {replicas} replicas)"
        )


def read_measured(
    path: str | Path,
    collective: str,
    algorithm: str = "",
    *,
    nodes: int | None = None,
    ranks_per_node: int | None = None,
    least_bytes: int = 1,
) -> MeasuredCollective:
    """Return the replicas of a collective in a file: a CSV, or what a benchmark printed.

    Args:
        path: the file.
        collective: collective, such as ``gather``.
        algorithm: label of the algorithm in the file; without one the library's choice.
        nodes: of a benchmark's output; None takes what the command in it says.
        ranks_per_node: ranks on each node; None takes the least that was measured.
        least_bytes: smaller blocks are left out.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: it does not hold the collective, the algorithm or the ranks, or does not
            say on how many nodes it ran.
    """
    table = _table(path, nodes, ranks_per_node)
    usual_of = {"algorithm": "", "fabric": "", "system": Path(path).stem, "ranks_per_node": "1"}
    for name, usual in usual_of.items():
        if name not in table:
            table[name] = usual
    names = table["benchmark"].map(collective_of)
    chosen = table[names == collective]
    if not len(chosen):
        known = sorted(set(names))
        raise ParameterError(
            f"{path} must hold the collective; got {collective!r}"
            f"{did_you_mean(collective, known)}; it has {', '.join(known)}",
            key="collective",
        )
    labels = sorted(set(chosen["algorithm"]))
    chosen = chosen[chosen["algorithm"] == algorithm]
    if not len(chosen):
        raise ParameterError(
            f"{path} must hold the algorithm; got {algorithm!r}{did_you_mean(algorithm, labels)}; "
            f"{collective} has {', '.join(label or 'the default (empty)' for label in labels)}",
            key="algorithm",
        )
    rows = _numbers(chosen, str(path))
    found = _grouped(rows, str(path), collective, algorithm, ranks_per_node, least_bytes)
    return replace(found, notes=table.attrs.get("notes", ()))


def algorithms_of(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the collectives of a CSV file, each with the labels of its algorithms.

    Args:
        path: the file.

    Raises:
        ParseError: the file is no such table; names the line.
    """
    table = _table(path, 1)  # of whatever nodes
    labels = table["algorithm"] if "algorithm" in table else [""] * len(table)
    found: dict[str, dict[str, None]] = {}
    for benchmark, label in zip(table["benchmark"], labels, strict=True):
        found.setdefault(collective_of(benchmark), {})[label] = None
    return {collective: tuple(of) for collective, of in found.items()}


def _table(
    path: str | Path, nodes: int | None = None, ranks_per_node: int | None = None
) -> pd.DataFrame:
    """Return the cells of a CSV, or the rows of a benchmark's output in its columns."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        content = b""  # the reader of tables says what is wrong
    if any(name.encode() not in content[:4096] for name in ("benchmark", "avg_us")):
        try:
            tables = tables_of_text(decoded(content, str(path)), str(path))
        except ParseError:
            tables = []
        if any(table.benchmark == "collective" for table in tables):
            return collective_rows(tables, path, nodes=nodes, ranks_per_node=ranks_per_node)
    return read_text_table(path, "a table of collectives", _NEEDED)


def collective_of(benchmark: str) -> str:
    """Return the collective of a benchmark's name, such as ``gather`` of ``osu_gather``."""
    name = benchmark.rpartition("_")[2]
    return "reduce_scatter" if benchmark.endswith("reduce_scatter") else name


def _numbers(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the table with numbers, one time in s a row; name the line of what is none."""
    import pandas as pd

    median = table["median_us"] if "median_us" in table else table["avg_us"]
    found = table[["system", "fabric"]].copy()
    found["time_us"] = median.where(median != "", table["avg_us"])
    for name in ("nodes", "ranks_per_node", "block_bytes"):
        found[name] = table[name]
    for row in found.index[found["time_us"].str.strip() == ""]:
        columns = "neither median_us nor avg_us" if "median_us" in table else "no avg_us"
        raise ParseError(
            f"each row must have a time; this test of {table.loc[row, 'nodes']} nodes and "
            f"{table.loc[row, 'block_bytes']} B has {columns}; remove the row or measure again",
            source=source,
            line=int(row),
        )
    for name in ("time_us", "nodes", "ranks_per_node", "block_bytes"):
        values = pd.Series(parsed_numbers(found[name]), found.index)
        least = 0 if name == "block_bytes" else 1e-6
        for row in found.index[~(values >= least) | ~np.isfinite(values)]:
            column = name
            if name == "time_us":
                column = (
                    "avg_us" if found.loc[row, name] == table.loc[row, "avg_us"] else "median_us"
                )
            raise ParseError(
                f"{column} must be a positive number; got {found.loc[row, name]!r}",
                source=source,
                line=int(row),
            )
        found[name] = values
    return found


def _grouped(
    rows: pd.DataFrame,
    source: str,
    collective: str,
    label: str,
    ranks_per_node: int | None,
    least_bytes: int,
) -> MeasuredCollective:
    known = sorted({int(one) for one in rows["ranks_per_node"]})
    per_node = known[0] if ranks_per_node is None else ranks_per_node
    if per_node not in known:
        raise ParameterError(
            f"ranks_per_node must be one of {', '.join(map(str, known))}; got {per_node}",
            key="ranks_per_node",
        )
    kept = rows[(rows["ranks_per_node"] == per_node) & (rows["block_bytes"] >= least_bytes)]
    pairs = zip(kept["system"], kept["fabric"], strict=True)
    systems = sorted({_without_shape(system, fabric) for system, fabric in pairs})
    if len(systems) > 1:
        raise ParameterError(
            f"the rows must be of one system and network; got {'; '.join(systems)}; keep the rows "
            "of one of them in the file",
            key="path",
        )
    tests, replicas = [], []
    grouped = kept.groupby(["nodes", "block_bytes", "fabric"])["time_us"]
    for key, times in grouped:
        nodes, size, fabric = (str(part) for part in key)
        count = int(float(nodes))
        shape = shape_of(fabric, count)
        try:
            tests.append(CollectiveTest(count, int(float(size)), per_node, shape))
        except ParameterError as error:
            raise ParseError(str(error), source=source, line=int(times.index[0])) from error
        replicas.append(1e-6 * times.to_numpy(np.float64))
    if not tests:
        raise ParameterError(
            f"some blocks must have at least {least_bytes} B; got none", key="least_bytes"
        )
    system = str(rows["system"].iloc[0])
    return MeasuredCollective(system, collective, label, tuple(tests), tuple(replicas))


def shape_of(fabric: str, nodes: int) -> tuple[int, ...] | None:
    """Return the torus shape at the end of a fabric's name, None where it names none."""
    found = _SHAPE.search(fabric.strip())
    if found is None:
        return None
    shape = tuple(int(part) for part in found[1].split("x"))
    return shape if int(np.prod(shape)) == nodes else None


def _without_shape(system: str, fabric: str) -> str:
    return f"{system} {_SHAPE.sub('', fabric.strip())}".strip()


def columns_of(tests: Sequence[CollectiveTest]) -> dict[str, list[int]]:
    """Return what places the tests for ``gaussian-process``: nodes and bytes."""
    return {name: [getattr(test, name) for test in tests] for name in COORDINATES}


def nodes_of(tests: Sequence[CollectiveTest]) -> list[int]:
    """Return the numbers of nodes, ascending."""
    return sorted({test.nodes for test in tests})


def split_tests(
    measured: MeasuredCollective,
) -> tuple[MeasuredCollective, MeasuredCollective, str]:
    """Return the tests to calibrate to, those to predict, and the latter in words.

    To predict are those of the largest number of nodes; of a single number every other size, of
    which there must be four.
    """
    nodes = nodes_of(measured.tests)
    if len(nodes) > 1:
        return measured.on(nodes[:-1]), measured.on(nodes[-1:]), f"{nodes[-1]} nodes"
    count = len(measured.tests)
    if count < 4:
        raise ParameterError(
            f"an unknown algorithm needs two numbers of nodes, or four sizes; got {count} tests on "
            f"{nodes[0]} nodes: measure more, or name one model",
            key="nodes",
        )
    return measured.pick(range(0, count, 2)), measured.pick(range(1, count, 2)), "every other size"
