"""Measured messages between two nodes, and within one: what a prediction starts from.

read_point_to_point("lassen_p2p.csv", "llnl_lassen")   # columns of benchmarks' results
point_to_point_of_osu(between=["latency.out", "bw.out"], within=["intra.out"])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, ParseError
from workbench.machines.rules import message_curves
from workbench.measure import OSUCurve, parse_benchmarks, read_osu
from workbench.measure.benchmark_table import BenchmarkTable
from workbench.measure.experiments import SeveralExperimentsError, TableChoice
from workbench.measure.message_curve import MessageCurve
from workbench.measure.osu_read import not_one_stream, tables_beside
from workbench.suggestions import did_you_mean
from workbench.text_table import numbers_of, read_text_table
from workbench.uq.collectives.models import MOST_NODES

if TYPE_CHECKING:
    import pandas as pd


Level = Literal["between", "within"]
Buffers = Literal["host", "device"]
"""Where the buffers of messages are: in a node's memory, or in an accelerator's."""

NEEDED = ("system", "benchmark", "nodes", "size_bytes", "value", "unit")
# OSU and IMB print us, and MB/s of 10**6 B; the others are for tables that people write.
_TIMES = {"us": 1e-6, "ms": 1e-3, "ns": 1e-9, "s": 1.0}
_RATES = {"MB/s": 1e6, "GB/s": 1e9, "kB/s": 1e3, "B/s": 1.0}  # SI, as the unit's letters say
_COUNTS = ("Messages/s", "msg/s", "messages/s")
_SUMS = ("bibw", "mbw_mr")
_EXCHANGES = ("pingping", "imb_pingping")
_PAIRS = re.compile(r"osu_mbw_mr(?:_ppn(\d{1,4}))?")
_CROWDED = re.compile(r"osu_multi_lat_ppn(\d{1,4})")
_LATENCIES = ("osu_latency", "imb_pingpong")  # the first that was measured counts
# To 128 pairs. The shipped tables have up to 20 runs: with 3 doublings their slowest latencies are
# up to 15 % less, with 6 up to 2 % less, with 8 to 14 up to 2 % more.
_DOUBLINGS = 7
_LONGEST_HEAD = 100_000  # characters of the line with the columns' names
_LEAST_NAMES = 3  # of a table's columns, from which a file is one that may lack some


@dataclass(frozen=True, eq=False, repr=False)
class LevelCurves:
    """What was measured between two nodes, or within one; None where it was not.

    Attributes:
        latency: half of a round trip, the median of the runs.
        interval: time from one message to the next of a window of one pair of ranks.
        both_ways: time until both of two ranks that send at once have received.
        shared: interval of each of ``pairs`` pairs of ranks of the same two nodes.
        pairs: that shared the nodes' network cards.
        crowded: latency while each of ``crowd`` pairs of ranks of the same two nodes sends.
        crowd: their number.
        slowest: latency of the slowest of 2, 4, 8, ... 128 pairs of nodes, where pairs differ as
            the runs do: their quantiles 2/3, 4/5, ... 128/129; empty where there was one run.
    """

    latency: MessageCurve
    interval: MessageCurve | None = None
    both_ways: MessageCurve | None = None
    shared: MessageCurve | None = None
    pairs: int = 1
    slowest: tuple[MessageCurve, ...] = ()
    crowded: MessageCurve | None = None
    crowd: int = 1

    def wait_of(self, size: NDArray[np.float64]) -> FloatArray:
        """Return what a message waits for each other one of its node on the way, s, float64[n].

        Args:
            size: bytes, float64[n].
        """
        if self.crowded is None:
            return np.zeros_like(size)
        more = self.crowded.at(size) - self.latency.at(size)
        return np.asarray(np.maximum(more, 0.0) / (self.crowd - 1))

    def latency_of(self, size: NDArray[np.float64], pairs: NDArray[np.float64]) -> FloatArray:
        """Return the latency of the slowest of some pairs of nodes, s, float64[n].

        Args:
            size: bytes, float64[n].
            pairs: their number, float64[n]; 1 gives the median.
        """
        curves = np.array([one.at(size) for one in (self.latency, *self.slowest)])
        place = np.minimum(np.log2(np.maximum(pairs, 1.0)), len(self.slowest))
        low = np.minimum(place.astype(np.int64), max(len(self.slowest) - 1, 0))
        high, at = np.minimum(low + 1, len(self.slowest)), np.arange(len(place))
        return np.asarray(curves[low, at] + (place - low) * (curves[high, at] - curves[low, at]))

    def __repr__(self) -> str:
        names = ("interval", "both_ways", "shared", "crowded")
        known = [name for name in names if getattr(self, name)]
        return f"LevelCurves({self.latency!r}{''.join(f', {name}' for name in known)})"


@dataclass(frozen=True, eq=False, repr=False)
class PointToPoint:
    """The measured messages of a system.

    Attributes:
        system: its name.
        between: between two nodes.
        within: between two ranks of a node; None where it was not measured.
        source: file, or data set.
        notes: what a reader of the source should know.
        buffers: where the messages were measured from and to.
    """

    system: str
    between: LevelCurves
    within: LevelCurves | None = None
    source: str = ""
    notes: tuple[str, ...] = field(default=())
    buffers: Buffers = "host"

    def __repr__(self) -> str:
        within = "not measured" if self.within is None else repr(self.within.latency)
        return f"PointToPoint({self.system}, between {self.between!r}, within {within})"


def read_point_to_point(
    path: str | Path,
    system: str | None = None,
    *,
    table: TableChoice | None = None,
    within: str | Path | None = None,
    within_table: TableChoice | None = None,
) -> PointToPoint:
    """Return the measured messages of a system in a file; several runs count by their median.

    The file is a table, or any text that ``workbench.measure.read_osu`` reads, such as what OSU's
    osu_latency and osu_bw print on two nodes.

    Several runs of the latency also show how much pairs of nodes may differ.

    Rows of a table have ``system``, ``benchmark``, ``nodes``, ``size_bytes``, ``value`` and
    ``unit``. Read are osu_latency (or imb_pingpong), osu_bw, osu_bibw, imb_pingping and osu_mbw_mr,
    which may end in the pairs on a node, such as osu_mbw_mr_ppn16, and osu_multi_lat with such an
    end; other benchmarks are left out. Rows of one node are of ranks within it.

    Args:
        path: the file.
        system: system of the file; None takes the only one. A text holds none.
        table: which experiment, where a text holds several: its number in the message that lists
            them, words that only it has, or ``all``.
        within: with a text: the same benchmarks run on one node.
        within_table: which experiment of ``within``, which may be the same file.

    Raises:
        ParseError: the file is no such table or text; names the line.
        ParameterError: it does not hold the system, or no latency of it between nodes.
    """
    if not _is_table(path):
        return _of_text(path, system, table, within, within_table)
    if within is not None or table is not None:
        key = "within" if table is None else "table"
        raise ParameterError(
            f"{key} is of a text; a CSV names its system, and has rows of 1 node for messages "
            "within it",
            key=key,
        )
    cells = read_text_table(path, "a table of point-to-point benchmarks", NEEDED)
    known = sorted(set(cells["system"]))
    if system is None and len(known) != 1:
        raise ParameterError(
            f"{path} must hold one system where none is named; it has {', '.join(known) or 'none'}",
            key="system",
        )
    name = known[0] if system is None else system
    chosen = cells[cells["system"] == name]
    if not len(chosen):
        raise ParameterError(
            f"{path} must hold the system; got {name!r}{did_you_mean(name, known)}; it has "
            f"{', '.join(known) or 'none'}",
            key="system",
        )
    rows = _numbers(chosen, str(path))
    between = _level(rows[rows["nodes"] > 1])
    if between is None:
        raise ParameterError(
            f"{path} must hold {' or '.join(_LATENCIES)} of {name} between 2 nodes; it has "
            f"{', '.join(sorted(set(chosen['benchmark'])))}",
            key="system",
        )
    in_a_node, notes = _level(rows[rows["nodes"] == 1]), cells.attrs.get("notes", ())
    return PointToPoint(name, between, in_a_node, str(path), notes)


def _is_table(path: str | Path) -> bool:
    """Return whether a file begins as a table of benchmarks, or not at all as a text."""
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
            names = {name.strip() for name in file.readline(_LONGEST_HEAD).split(",")}
    except OSError as error:
        raise ParseError(
            f"measured messages must be a file that can be read; {error}", source=str(path)
        ) from error
    return len(names & {*NEEDED}) >= _LEAST_NAMES


def _of_text(
    path: str | Path,
    system: str | None,
    table: TableChoice | None,
    within: str | Path | None,
    within_table: TableChoice | None,
) -> PointToPoint:
    """Return the measured messages of what benchmarks printed."""
    curve = _curve_of_text(path, table, system or "")
    inside = None if within is None else _curve_of_text(within, within_table)
    found = point_to_point_of_curve(curve, inside)
    between, notes = _with_others(found.between, path, table, curve.notes)
    in_node = found.within
    if in_node is not None and within is not None and inside is not None:
        in_node, more = _with_others(in_node, within, within_table, inside.notes, nodes=1)
        notes += more
    return replace(found, between=between, within=in_node, source=str(path), notes=tuple(notes))


def _curve_of_text(path: str | Path, table: TableChoice | None, name: str = "") -> OSUCurve:
    """Return the curve of a text, which must have latencies."""
    try:
        curve = read_osu(path, name=name, table=table)
    except SeveralExperimentsError:
        raise
    except ParseError as error:
        sums = [one.program for one in _beside(path, "all")[0] if one.benchmark in _SUMS]
        if not sums:
            raise
        raise _no_latency(str(path), sums) from error
    if not np.isfinite(curve.latency_s).any():
        raise _no_latency(str(path), [curve.provenance.details.get("programs", "")])
    return curve


def _no_latency(source: str, found: Iterable[str]) -> ParseError:
    return ParseError(
        f"a prediction needs latencies, such as osu_latency prints; it has "
        f"{', '.join(dict.fromkeys(filter(None, found))) or 'none'}: put both into one text",
        source=source,
    )


def _beside(
    path: str | Path, table: TableChoice | None
) -> tuple[list[BenchmarkTable], list[BenchmarkTable]]:
    """Return the other tables of an experiment and of others; none of a CSV of a curve."""
    try:
        return tables_beside(path, table)
    except ParseError:
        return [], []


def _with_others(
    curves: LevelCurves,
    path: str | Path,
    table: TableChoice | None,
    known: Iterable[str],
    nodes: int = 2,
) -> tuple[LevelCurves, list[str]]:
    """Return the curves with what osu_bibw, PingPing and osu_mbw_mr add, and notes on them.

    ``nodes`` is on how many they ran, unless the text says it.
    """
    same, elsewhere = _beside(path, table)
    answered = {not_one_stream(one) for one in (*same, *elsewhere) if one.benchmark in _SUMS}
    notes = [note for note in known if note not in answered]
    rows = _rows_of(same, None, nodes)
    both = _curve(rows[rows["benchmark"] == "imb_pingping"])
    if both is None:
        both = _both_ways(rows, curves.latency, curves.interval)
    here = rows[(rows["nodes"] > 1) == (nodes > 1)]
    shared = _of_pairs(here)
    single = shared.pop(1, None)
    pairs = max(shared, default=1)
    found = replace(
        curves,
        interval=curves.interval or single,
        both_ways=both,
        shared=shared.get(pairs),
        pairs=pairs,
    )
    for one in same:
        use = _use(one, found, curves, nodes)
        if use:
            notes.append(f"{one.source}:{one.line}: {one.program} {use}")
    notes += [
        f"{one.source}:{one.line}: {one.program} is of another experiment; not used"
        for one in elsewhere
        if one.benchmark in _SUMS
    ]
    return found, notes


def _use(table: BenchmarkTable, found: LevelCurves, before: LevelCurves, nodes: int) -> str:
    """Return the note on how a table is used that is neither of osu_latency nor of osu_bw."""
    if table.benchmark == "bibw":
        if before.interval is None:
            return "is not used: without osu_bw it does not say what an exchange takes"
        return "gives what an exchange takes" if found.both_ways is not None else "is not used"
    if table.benchmark != "mbw_mr":
        return "gives what an exchange takes" if table.test.lower() in _EXCHANGES else ""
    pairs = _pairs_of(table, None, nodes)
    if pairs is None:
        return "does not say how many pairs of ranks it ran; not used"
    if (int(table.labels.get("nodes", nodes)) > 1) != (nodes > 1):
        return f"ran on {table.labels['nodes']} nodes; not used"
    if pairs == 1:
        used = found.interval is not before.interval
        return "of 1 pair gives the time between messages" if used else "of 1 pair is not used"
    if pairs != found.pairs:
        return f"of {pairs} pairs is not used: that of {found.pairs} is"
    return f"of {pairs} pairs gives the rate that ranks of a node share"


def point_to_point_of_osu(
    between: Iterable[str | Path],
    within: Iterable[str | Path] = (),
    *,
    system: str = "measured",
    pairs: int = 1,
) -> PointToPoint:
    """Return the measured messages of files that OSU's benchmarks printed.

    Args:
        between: files of osu_latency, and osu_bw, osu_bibw and osu_mbw_mr where there are any, run
            on two nodes.
        within: the same, run on one node.
        system: a name.
        pairs: pairs of ranks of osu_mbw_mr, where the text does not say it.

    Raises:
        ParseError: a file is no such output.
        ParameterError: no osu_latency is among the files of two nodes.
    """
    rows = {level: _printed(paths, pairs) for level, paths in (("b", between), ("w", within))}
    found = _level(rows["b"])
    if found is None:
        raise ParameterError(
            "between must hold a file of osu_latency, run on two nodes; it holds none",
            key="between",
        )
    return PointToPoint(system, found, _level(rows["w"]), "output of OSU's benchmarks")


def point_to_point_of_curve(curve: OSUCurve, within: OSUCurve | None = None) -> PointToPoint:
    """Return the measured messages of a latency and bandwidth curve, such as a shipped data set.

    Args:
        curve: between two nodes, with latencies.
        within: between two ranks of a node, where they were measured.

    Raises:
        ParameterError: it has no latency.
    """
    between, inside = (_curves_of(one) for one in (curve, within))
    if between is None:
        raise ParameterError(f"{curve.name} must have latencies; it has none", key="curve")
    # As OSU's title has them: D or H, and M of managed memory, for sender and receiver.
    words = str(curve.provenance.details.get("memory", "")).split()
    buffers: Buffers = "device" if {"D", "M", "MD", "MH"} & {*words} else "host"
    return PointToPoint(curve.name, between, inside, curve.provenance.caption(), buffers=buffers)


def _curves_of(curve: OSUCurve | None) -> LevelCurves | None:
    latency, interval = (None, None) if curve is None else message_curves(curve)
    return None if latency is None else LevelCurves(latency, interval)


def _numbers(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the rows that are read, times in s and rates in B/s; name the line of what is none."""
    wanted = table["benchmark"].map(
        lambda name: (
            name in (*_LATENCIES, "osu_bw", "osu_bibw", "imb_pingping")
            or _PAIRS.fullmatch(name) is not None
            or _CROWDED.fullmatch(name) is not None
        )
    )
    rows = table[wanted & ~table["unit"].isin(_COUNTS)].copy()
    units = _TIMES | _RATES
    for line in rows.index[~rows["unit"].isin(units)]:
        raise ParseError(
            f"unit must be one of {', '.join((*units, *_COUNTS))}; got {rows.loc[line, 'unit']!r}",
            source=source,
            line=int(line),
        )
    for name, least in (("nodes", 1.0), ("size_bytes", 0.0), ("value", 0.0)):
        rows[name] = numbers_of(rows, name, source, least=least)
    for line in rows.index[(rows["nodes"] % 1 > 0) | (rows["nodes"] > MOST_NODES)]:
        raise ParseError(
            f"nodes must be a whole number of at most {MOST_NODES}; got "
            f"{rows.loc[line, 'nodes']:g}",
            source=source,
            line=int(line),
        )
    timed = rows["benchmark"].isin((*_LATENCIES, "imb_pingping"))
    timed |= rows["benchmark"].str.fullmatch(_CROWDED)
    for line in rows.index[timed != rows["unit"].isin(_TIMES)]:
        raise ParseError(
            f"{rows.loc[line, 'benchmark']} must be in {'us' if timed[line] else 'MB/s'}; got "
            f"{rows.loc[line, 'unit']!r}",
            source=source,
            line=int(line),
        )
    rows["value"] *= rows["unit"].map(units).astype(np.float64)
    return rows


def _printed(paths: Iterable[str | Path], pairs: int) -> pd.DataFrame:
    """Return the tables of benchmarks' output as rows of two nodes, in s and B/s."""
    tables = [
        table for path in paths for table in parse_benchmarks(Path(path).read_bytes(), str(path))
    ]
    return _rows_of(tables, pairs, 2)


def _rows_of(tables: Iterable[BenchmarkTable], pairs: int | None, nodes: int) -> pd.DataFrame:
    """Return tables of benchmarks as rows, in s and B/s; those that nothing is made of are none."""
    import pandas as pd

    parts = []
    for table in tables:
        name, of_pairs = f"osu_{table.benchmark}", _pairs_of(table, pairs, nodes)
        if table.benchmark == "other" and table.test.lower() in _EXCHANGES:
            name = "imb_pingping"
        elif table.benchmark == "mbw_mr" and of_pairs is not None:
            name += f"_ppn{of_pairs}"
        elif table.benchmark in ("other", "mbw_mr", "collective"):
            continue
        part = {
            "benchmark": name,
            "nodes": float(table.labels.get("nodes", nodes)),
            "size_bytes": table.sizes.astype(np.float64),
            "value": table.result * (1e-6 if table.unit == "us" else 1e6),
        }
        parts.append(pd.DataFrame(part))
    names = ["benchmark", "nodes", "size_bytes", "value"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)


def _pairs_of(table: BenchmarkTable, unsaid: int | None, nodes: int) -> int | None:
    """Return the pairs of ranks of osu_mbw_mr that share two nodes; None where it does not say."""
    said = table.labels.get("pairs", "")
    on = int(table.labels.get("nodes", nodes))
    return max(int(said) // max(on // 2, 1), 1) if said.isdecimal() else unsaid


def _level(rows: pd.DataFrame) -> LevelCurves | None:
    """Return the curves of one level; None where there is no latency."""
    timed = (_curve(rows[rows["benchmark"] == name]) for name in _LATENCIES)
    latency = next((one for one in timed if one is not None), None)
    if latency is None:
        return None
    shared = _of_pairs(rows)
    single = shared.pop(1, None)
    interval = _interval(rows[rows["benchmark"] == "osu_bw"], 1.0)
    pairs = max(shared, default=1)
    both = _curve(rows[rows["benchmark"] == "imb_pingping"])
    if both is None:
        both = _both_ways(rows, latency, interval)
    slowest = _slowest(rows)
    crowded, crowd = _crowded(rows)
    return LevelCurves(
        latency, interval or single, both, shared.get(pairs), pairs, slowest, crowded, crowd
    )


def _crowded(rows: pd.DataFrame) -> tuple[MessageCurve | None, int]:
    """Return the latency while most pairs of ranks of two nodes send, and their number."""
    counts = {
        int(named[1]): str(name)
        for name in set(rows["benchmark"])
        if (named := _CROWDED.fullmatch(str(name))) is not None and int(named[1]) > 1
    }
    if not counts:
        return None, 1
    return _curve(rows[rows["benchmark"] == counts[max(counts)]]), max(counts)


def _slowest(rows: pd.DataFrame) -> tuple[MessageCurve, ...]:
    """Return the latency of the slowest of 2, 4, ... pairs that differ as the runs do."""
    name = next(one for one in _LATENCIES if (rows["benchmark"] == one).any())
    mine = rows[(rows["benchmark"] == name) & (rows["value"] > 0)]
    by_size = mine.groupby("size_bytes")["value"]
    if by_size.size().max() < 2:
        return ()
    counts = 2.0 ** np.arange(1, _DOUBLINGS + 1)
    quantiles = (by_size.quantile(count / (count + 1.0)) for count in counts)
    return tuple(
        MessageCurve(one.index.to_numpy(np.float64), one.to_numpy(np.float64)) for one in quantiles
    )


def _of_pairs(rows: pd.DataFrame) -> dict[int, MessageCurve]:
    """Return the interval of each pair, by the pairs of ranks that shared their two nodes.

    Without a number the benchmark has a rank on each of its nodes; the fewest nodes count.
    """
    found: dict[int, MessageCurve] = {}
    for name in sorted(set(rows["benchmark"])):
        named = _PAIRS.fullmatch(str(name))
        if named is None:
            continue
        mine = rows[rows["benchmark"] == name]
        nodes = int(mine["nodes"].min())
        pairs = int(named[1]) if named[1] else 1
        senders = pairs * max(nodes // 2, 1)
        curve = _interval(mine[mine["nodes"] == nodes], float(senders))
        if curve is not None and pairs:
            found.setdefault(pairs, curve)
    return found


def _both_ways(
    rows: pd.DataFrame, latency: MessageCurve, interval: MessageCurve | None
) -> MessageCurve | None:
    """Return the time of an exchange: what osu_bibw takes beyond osu_bw comes on top."""
    both = _interval(rows[rows["benchmark"] == "osu_bibw"], 2.0)
    return None if both is None or interval is None else _exchange(both, latency, interval)


def _exchange(both: MessageCurve, latency: MessageCurve, interval: MessageCurve) -> MessageCurve:
    """Return the time of an exchange; ``both`` is that of two messages that pass each other."""
    more = np.maximum(both.times - interval.at(both.sizes), 0.0)
    return MessageCurve(both.sizes, latency.at(both.sizes) + more)


def _curve(rows: pd.DataFrame) -> MessageCurve | None:
    """Return the median time at each size, s; None where none is above 0."""
    rows = rows[rows["value"] > 0] if len(rows) else rows
    if not len(rows):
        return None
    medians = rows.groupby("size_bytes")["value"].median()
    return MessageCurve(medians.index.to_numpy(np.float64), medians.to_numpy(np.float64))


def _interval(rows: pd.DataFrame, senders: float) -> MessageCurve | None:
    """Return the time of a message of each of so many senders that share a rate in B/s."""
    used = rows[(rows["value"] > 0) & (rows["size_bytes"] > 0)] if len(rows) else rows
    if not len(used):
        return None
    times: Mapping[str, NDArray[np.float64]] = {
        "value": senders * used["size_bytes"].to_numpy() / used["value"].to_numpy()
    }
    return _curve(used.assign(**times))
