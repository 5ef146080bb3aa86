"""Tables of IMB, perftest, nccl-tests, ucx_perftest and NetPIPE.

Each tool is a `TextFormat`: the lines that open a table, its columns, and what else a line tells.
Results are in us and in MB/s of 10^6 bytes, whatever the tool prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.measure.benchmark_table import BenchmarkTable, Note, Role
from workbench.measure.log_lines import integer, number, pointed
from workbench.text_table import CUT

_MIB = 1.048576
"""MB/s of 10^6 bytes in one of 2^20, which perftest, UCX and NetPIPE 3 print."""

_MOST_BYTES = 1 << 62
"""Larger sizes are no message's, and fit no int64."""

_TIMES = {"usec": 1.0, "us": 1.0, "nsec": 1e-3, "ns": 1e-3, "msec": 1e3, "ms": 1e3, "sec": 1e6,
          "s": 1e6, "nsecs": 1e-3, "usecs": 1.0, "msecs": 1e3, "secs": 1e6}  # fmt: skip
"""Microseconds in a unit of time."""


@dataclass(frozen=True)
class TextFormat:
    """How one tool prints its tables."""

    tool: str  # a word of TOOLS
    title: re.Pattern[str]  # a line that opens a table; its group ``test`` names the benchmark
    heading: re.Pattern[str]  # a line of column headings
    facts: re.Pattern[str]  # what other lines tell, as named groups that become labels
    row: Callable[[Sequence[str]], bool]  # whether a line's words are a row
    make: Callable[[TextSection, str], Iterator[BenchmarkTable]]


@dataclass
class TextSection:
    """The lines under one title, as they are collected."""

    format: TextFormat
    line: int
    test: str = ""
    heading: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    version: str = ""
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    truncated: bool = False
    hosts: dict[str, int] = field(default_factory=dict)  # that facts name, and how often
    commas: bool = False  # whether decimals stand behind commas

    def take(self, bare: str, at: int) -> bool:
        """Keep a line if it is a row or tells something; return whether it was kept."""
        words = bare.split()
        commas = [pointed(word) for word in words] if "," in bare else words
        if self.format.row(words) or self.format.row(commas):
            self.rows.append((at, words))
            self.commas = self.commas or any(
                number(word) is None and number(other) is not None
                for word, other in zip(words, commas, strict=True)
            )
            return True
        told = False
        for match in self.format.facts.finditer(bare):
            self.labels |= {name: text.strip() for name, text in match.groupdict().items() if text}
            if host := match.groupdict().get("host"):
                self.hosts[host] = self.hosts.get(host, 0) + 1
            told = True
        # Before the headings stand settings of the benchmark.
        return (
            told or not self.heading or bare.startswith("#") or not any(c.isalnum() for c in bare)
        )

    def head(self, bare: str, at: int) -> None:
        """Take a line of headings; that of some tools is a row as well."""
        self.heading = bare
        self.take(bare, at)

    def tables_begun(self, bare: str) -> bool:
        """Return whether a line of headings begins another table under the same title."""
        return bool(self.rows) and not self.format.row(bare.split())

    def tables(self, source: str, open_line: int) -> Iterator[BenchmarkTable]:
        """Yield the tables; a last row that may be cut in the middle is left out with a note."""
        if self.commas:
            self.rows = [(at, [pointed(word) for word in words]) for at, words in self.rows]
        if self.rows and self.rows[-1][0] == open_line:
            longest = max(len(words) for _, words in self.rows)
            at, words = self.rows[-1]
            others = [_decimals(row[-1]) for _, row in self.rows[:-1] if len(row) == len(words)]
            if len(words) < longest or (others and _decimals(words[-1]) < min(others)):
                del self.rows[-1]
                self.truncated = True
                self.notes.append(
                    Note(
                        at, f"the text ends in the middle of this row; left out: {' '.join(words)}"
                    )
                )
        yield from self.format.make(self, source)

    def table(
        self,
        role: Role,
        unit: str,
        column: str,
        values: dict[int, tuple[int, float]],
        **labels: str,
    ) -> BenchmarkTable:
        """Return a table of the section: by size the line and the value, in ``unit``."""
        sizes = sorted(size for size in values if size < _MOST_BYTES)
        return BenchmarkTable(
            benchmark=role,
            title=f"{self.format.tool} {self.test}".strip(),
            version=self.version,
            source="",
            line=self.line,
            columns=(column,),
            sizes=np.array(sizes, np.int64),
            values=np.array([values[size][1] for size in sizes], np.float64).reshape(-1, 1),
            lines=np.array([values[size][0] for size in sizes], np.int64),
            notes=tuple(self.notes),
            truncated=self.truncated,
            tool=self.format.tool,
            test=self.test,
            unit=unit,
            labels=self.labels | labels,
        )


def _decimals(word: str) -> int:
    return len(word.partition(".")[2])


def _numbers(words: Sequence[str], least: int) -> bool:
    return len(words) >= least and all(number(word) is not None for word in words)


def _whole_rows(section: TextSection, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with as many fields as the heading; note the others."""
    for at, words in section.rows:
        if len(words) == width:
            yield at, words
        else:
            section.notes.append(
                Note(at, f"a row of {len(words)} fields where {width} were expected; left out")
            )


def _of_run(runs: list[dict[int, tuple[int, float]]], size: int) -> dict[int, tuple[int, float]]:
    """Return the run that a row of a size is of; one whose size was there begins another.

    Size 0 may be repeated, as nccl-tests does where a size is less than one element of each rank.
    """
    if size in runs[-1] and size > 0:
        runs.append({})
    return runs[-1]


# Intel MPI Benchmarks

_IMB_COLLECTIVES = re.compile(
    r"I?(?:Allreduce|Reduce|Reduce_scatter(?:_block)?|Allgatherv?|Gatherv?|Scatterv?|Alltoallv?|"
    r"Alltoallw|Bcast|Barrier)",
    re.IGNORECASE,
)
_IMB_TESTS = re.compile(
    r"(?:PingPong|PingPing|Sendrecv|Exchange|Uniband|Biband)(?:Specific\w+)?", re.IGNORECASE
)
"""Tests that a line above a table may name, as where a log was cut to its rows."""
_IMB_ROLES: dict[str, Role] = {
    "pingpong": "latency", "uniband": "bw", "biband": "bibw"
}  # fmt: skip


def _imb(section: TextSection, source: str) -> Iterator[BenchmarkTable]:
    columns = [word.lower() for word in section.heading.replace("#", " ").split()]
    width = len(columns)
    where = {name: columns.index(name) for name in columns}
    result = next(
        (
            name
            for name in ("t_avg[usec]", "t[usec]", "t_pure[usec]", "t_ovrl[usec]", "mbytes/sec")
            if name in where
        ),
        None,
    )
    if result is None:
        return
    found: list[dict[int, tuple[int, float]]] = [{}]
    for at, words in _whole_rows(section, width):
        size = integer(words[where["bytes"]]) if "bytes" in where else 0
        value = number(words[where[result]])
        if size is None or value is None:
            continue
        if size in found[-1]:
            found.append({})
        found[-1][size] = (at, value * (_imb_megabyte(words, where) if "mbytes" in result else 1))
    label = section.labels.get("label", "").strip(":：# ")
    if not section.test and (_IMB_TESTS.fullmatch(label) or _IMB_COLLECTIVES.fullmatch(label)):
        section.test = label
    if result == "t_pure[usec]":
        section.notes.append(
            Note(section.line, "the time without computation, t_pure; t_ovrl is with it")
        )
    lower = section.test.lower()
    role = _IMB_ROLES.get(lower, "other")
    if _IMB_COLLECTIVES.fullmatch(section.test):
        role = "collective"
    ranks = section.labels.get("ranks", "")
    if lower in ("uniband", "biband") and ranks.isdigit() and int(ranks) > 2:
        role = "mbw_mr" if lower == "uniband" else "other"
        section.labels["pairs"] = str(int(ranks) // 2)
        section.notes.append(
            Note(section.line, f"the rate is the sum over {int(ranks) // 2} pairs of ranks")
        )
    unit = "MB/s" if result == "mbytes/sec" else "us"
    for rows in found:
        if rows:
            yield section.table(role, unit, result, rows)


def _imb_megabyte(words: Sequence[str], where: dict[str, int]) -> float:
    """Return MB/s of 10^6 bytes in one as printed: before 2018 IMB meant 2^20."""
    size, rate, messages = (
        (number(words[where[name]]) or 0.0) if name in where else 0.0
        for name in ("bytes", "mbytes/sec", "msg/sec")
    )
    if not (size and rate and messages):
        return 1.0
    return _MIB if abs(size * messages / rate / 1e6 - _MIB) < 0.02 else 1.0


# perftest

_PERFTEST_NAMED = re.compile(r"\bib_(write|read|send|atomic)_(?:lat|bw)\b")
_PERFTEST = {"rdma_write": "write", "rdma_read": "read", "send": "send", "atomic": "atomic"}


def _perftest(section: TextSection, source: str) -> Iterator[BenchmarkTable]:
    names = [
        " ".join(match[0].split())
        for match in re.finditer(
            r"#?\w+\[[^\]]*\]|[\w.]+% percentile\[[^\]]*\]|BW \w+\[[^\]]*\]|#\w+|\w+",
            section.heading,
        )
    ]
    result = next(
        (n for w in ("t_avg", "t_typical", "BW average", "BW peak") for n in names if w in n), None
    )
    if result is None:
        return
    unit = result.partition("[")[2].rstrip("]")
    timed = result.startswith("t_")
    scale = _TIMES.get(unit) if timed else _rate(unit)
    if scale is None:
        section.notes.append(Note(section.line, f"results in {unit} are not read"))
        return
    found: list[dict[int, tuple[int, float]]] = [{}]
    place = names.index(result)
    for at, words in section.rows:
        size = integer(words[0])
        value = number(words[place]) if place < len(words) else None
        if size is None or value is None:
            section.notes.append(Note(at, "a row that ends early; left out"))
        else:
            _of_run(found, size)[size] = (at, value * scale)
    named = _PERFTEST_NAMED.search(section.labels.get("command", ""))
    verb = _PERFTEST.get(section.test.lower().partition(" ")[0], named[1] if named else "")
    both = "bidirectional" in section.test.lower()
    section.test = f"ib_{verb or 'test'}_{'lat' if timed else 'bw'}"
    if unit in ("MB/sec", "MiB/sec"):
        section.notes.append(
            Note(section.line, f"perftest's {unit} are 2^20 bytes; now MB/s of 10^6")
        )
    direction = {"direction": "both"} if both else {}
    role: Role = "latency" if timed else "bibw" if both else "bw"
    for rows in found:
        if rows:
            yield section.table(role, "us" if timed else "MB/s", result, rows, **direction)


def _rate(unit: str) -> float | None:
    """Return MB/s of 10^6 bytes in a unit of a rate, None for one that is unknown."""
    return {
        "MB/sec": _MIB, "MiB/sec": _MIB, "Gb/sec": 125.0, "Gbps": 125.0, "Gib/sec": 134.217728,
        "GB/s": 1e3, "MB/s": 1.0,
    }.get(unit)  # fmt: skip


# nccl-tests

_NCCL_TESTS = {"sendrecv": "sendrecv", "alltoall": "alltoall", "hypercube": "hypercube"}
_NCCL_PROGRAM = re.compile(r"\b\w+_perf\b")
_NCCL_NAMED = re.compile(
    r"(all_?reduce|all_?gather|reduce_?scatter|alltoall|broadcast|sendrecv|scatter|gather|"
    r"hypercube|reduce)",
    re.IGNORECASE,
)


def _nccl(section: TextSection, source: str) -> Iterator[BenchmarkTable]:
    heading = section.heading.replace("#wrong", "wrong").replace("#", " ").split()
    if "time" not in heading:
        return
    first = heading.index("time")
    # The number of columns before the times differs: sendrecv may print neither redop nor root.
    wide = [
        (at, words) for at, words in section.rows if len(words) in (len(heading), len(heading) - 1)
    ]
    for at, words in section.rows:
        if (at, words) not in wide:
            section.notes.append(Note(at, "a row that ends early; left out"))
    per_half = (len(heading) - first) // 2
    factor = 0.0
    largest = busiest = 0.0
    halves: tuple[list[dict[int, tuple[int, float]]], ...] = ([{}], [{}])
    for at, words in wide:
        size = integer(words[0])
        start = len(words) - 2 * per_half
        for half, runs in enumerate(halves):
            fields = [number(word) for word in words[start + half * per_half :][:3]]
            if size is None or len(fields) < 3 or fields[0] is None:
                continue
            _of_run(runs, size)[size] = (at, fields[0])
            alg, bus = fields[1:]
            busiest = max(busiest, bus or 0.0)
            if alg and bus is not None and alg > largest:
                largest, factor = alg, bus / alg
    reduces = any(
        word in ("sum", "prod", "max", "min", "avg", "mulsum")
        for word in heading + [word for _, words in wide for word in words]
    )
    concluded, last = section.labels.pop("concluded", ""), section.labels.pop("rank", "")
    section.labels.pop("host", None)
    above = _NCCL_PROGRAM.search(section.labels.get("label", ""))
    named = _NCCL_NAMED.search(
        section.test
        or concluded
        or section.labels.get("command", "")
        or (above[0] if above else "")
        or source
    )
    test, ranks, note = _nccl_test(named[1].lower() if named else "", factor, reduces)
    section.test = test
    if note:
        section.notes.append(Note(section.line, note))
    if largest and not busiest:
        section.labels |= {"ranks": "1", "ranks_per_node": "1", "nodes": "1"}
        message = "busbw is 0: each process ran alone, on one rank; built without MPI?"
        section.notes.append(Note(section.line, message))
    elif last and int(last) + 1 >= ranks:
        # The list of devices counts ranks; a command's -np counts processes, of several devices.
        counted, on = int(last) + 1, len(section.hosts)
        section.labels["ranks"] = str(counted)
        if sum(section.hosts.values()) == counted:  # nothing was cut out of the list
            section.labels |= {"nodes": str(on), "ranks_per_node": str(-(-counted // on))}
    if ranks and "ranks" not in section.labels:
        section.labels["ranks"] = str(ranks)
        section.notes.append(
            Note(section.line, f"{ranks} ranks, from busbw over algbw = {factor:.4g}")
        )
    role: Role = "other" if test == "sendrecv" else "collective"
    for runs, place in zip(halves, ("out-of-place", "in-place"), strict=True):
        for rows in runs:
            if rows:
                yield section.table(role, "us", "time", rows, in_place=place)


def _nccl_test(named: str, factor: float, reduces: bool) -> tuple[str, int, str]:
    """Return the collective, its ranks by busbw over algbw, and what is doubtful.

    The factor is 2 (n - 1) / n for allreduce, (n - 1) / n where each rank keeps a part, else 1
    (nccl-tests, doc/PERFORMANCE.md).
    """
    named = named.replace("_", "")
    if named == "allreduce" or (not named and factor > 1.0):
        ranks = round(2.0 / (2.0 - factor)) if 1.0 <= factor < 2.0 else 0
        return "all_reduce", ranks, "" if named else "taken for all_reduce: busbw is above algbw"
    parts = {"allgather": "all_gather", "reducescatter": "reduce_scatter", "alltoall": "alltoall"}
    if named in parts:
        return parts[named], round(1.0 / (1.0 - factor)) if 0.0 < factor < 0.999 else 0, ""
    if named:
        return named, 0, ""
    if factor and factor < 0.999:
        kind = "reduce_scatter" if reduces else "all_gather or alltoall"
        return kind, round(1.0 / (1.0 - factor)), "the collective is not named; by busbw over algbw"
    return (
        "sendrecv",
        0,
        ("the test is not named; busbw is algbw as of sendrecv, broadcast, reduce or two ranks"),
    )


# UCX

_UCX_TEST = re.compile(r"\b(?:ucp_|uct_)?\w+_(?:lat|bw|mr)\b")


def _ucx(section: TextSection, source: str) -> Iterator[BenchmarkTable]:
    final = [row for row in section.rows if row[1][0] == "Final:"]
    used = final or section.rows[-1:]
    if not used:
        return
    if not final:
        section.notes.append(Note(used[0][0], "no line of final results; the last line is used"))
    stated = section.labels.get("message_size") or section.labels.get("size", "")
    size = integer(stated)
    if size is None:
        estimates = [size for row in section.rows for size in _ucx_sizes(row[1])]
        if not estimates:
            return
        size = round(float(np.median(estimates)))
        section.notes.append(
            Note(
                used[0][0],
                f"the size of the messages is not printed; {size} bytes by bandwidth over "
                "message rate",
            )
        )
    at, words = used[-1]
    overall = _ucx_values(words)[2]
    rate = _ucx_values(words)[4] * _MIB
    above = _UCX_TEST.search(section.labels.get("label", ""))
    test = section.labels.get("test") or (above[0] if above else "")
    overhead = section.labels.pop("overhead", "")
    section.test = f"ucx_perftest {test}".strip()
    bandwidth = bool(overhead) or "bandwidth" in test or test.endswith("_bw")
    section.notes.append(Note(at, "UCX's MB/s are 2^20 bytes; now MB/s of 10^6"))
    if not bandwidth:
        yield section.table("latency", "us", "latency, overall", {size: (at, overall)})
    yield section.table(
        "bw" if bandwidth else "other", "MB/s", "bandwidth, overall", {size: (at, rate)}
    )


def _ucx_values(words: Sequence[str]) -> list[float]:
    """Return latency at a percentile, average, overall; bandwidth and rate, average and overall."""
    return [number(word) or 0.0 for word in words[-7:]]


def _ucx_sizes(words: Sequence[str]) -> Iterator[float]:
    *_, average, overall, rate, rate_overall = _ucx_values(words)
    for bandwidth, messages in ((average, rate), (overall, rate_overall)):
        if bandwidth > 0 and messages > 0:
            yield bandwidth * _MIB * 1e6 / messages


def _is_ucx_row(words: Sequence[str]) -> bool:
    if words and words[0] == "[thread":
        words = words[2:]
    elif words and words[0] == "Final:":
        words = words[1:]
    return len(words) == 8 and _numbers(words, 8)


# NetPIPE

_NETPIPE_ROW = re.compile(
    r"(?:[0-9]+:\s*)?(?P<size>[0-9]+(?:\.[0-9]+)?)\s*(?P<of>bytes|B|KB|MB|GB)\s+[0-9]+\s+times\s+-->"
    r"\s+(?:\S.{0,60}>:\s*)?[0-9.,]+\s*[MGK]?bps\s+in\s+(?P<time>[0-9.,]+)\s*(?P<unit>[a-z]+)"
)


def _netpipe(section: TextSection, source: str) -> Iterator[BenchmarkTable]:
    found: list[dict[int, tuple[int, float]]] = [{}]
    rounded = 0
    for at, words in section.rows:
        match = _NETPIPE_ROW.match(" ".join(words))
        if match is None or match["unit"] not in _TIMES:
            continue
        printed, time = number(match["size"]), number(match["time"])
        if printed is not None and time is not None:
            size = round(printed * _NETPIPE_BYTES[match["of"]])
            _of_run(found, size)[size] = (at, time * _TIMES[match["unit"]])
            rounded = rounded or (at if match["of"] in ("MB", "GB") else 0)
    section.test = "NetPIPE"
    if rounded:
        section.notes.append(Note(rounded, "NetPIPE 5 rounds sizes of 1 MB and more to 1000 bytes"))
    for rows in found:
        if rows:
            yield section.table("latency", "us", "time one way", rows)


_NETPIPE_BYTES = {"bytes": 1.0, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9}
"""Bytes in a unit of version 5 (its netpipe.c, bytestring)."""

_NP_OUT_ROW = re.compile(r"\s*([0-9]{1,15})\s+([0-9]{1,12}\.[0-9]{6})\s+([0-9]{1,6}\.[0-9]{8})\s*")
_TIME_STEP = 1e-8  # s, the last decimal of a time
_LEAST_ROWS = 3  # of a file without a title


def np_out_table(
    lines: Sequence[tuple[int, str]], source: str, open_line: int
) -> BenchmarkTable | None:
    """Return the table of NetPIPE 3's np.out: bytes, Mbps and seconds; None where it is another.

    It has no title; each rate must be the size over the time, in units of 10^6 or 2^20 bits.
    """
    rows: dict[int, tuple[int, float]] = {}
    notes: list[Note] = []
    for at, line in lines:
        if not line.strip():
            continue
        match = _NP_OUT_ROW.fullmatch(line)
        if match is None:
            if at != open_line or len(rows) < _LEAST_ROWS:
                return None
            notes.append(Note(at, f"{CUT}: {line.strip()}"))
            continue
        size, rate, time = int(match[1]), float(match[2]), float(match[3])
        slow, fast = time + _TIME_STEP, max(time - _TIME_STEP, 1e-12)
        if not any(
            8 * size / unit / slow <= 1.01 * rate and 0.99 * rate <= 8 * size / unit / fast
            for unit in (1e6, _MIB * 1e6)
        ):
            return None
        if time > 0:
            rows[size] = (at, 1e6 * time)
    if len(rows) < _LEAST_ROWS:
        return None
    known = next(one for one in FORMATS if one.tool == "netpipe")
    section = TextSection(known, min(at for at, _ in rows.values()), "NetPIPE", notes=notes)
    return replace(section.table("latency", "us", "time one way", rows), source=source)


FORMATS: tuple[TextFormat, ...] = (
    TextFormat(
        "imb",
        title=re.compile(r"#?\s*Benchmarking\s+(?P<test>[A-Za-z][\w-]*)\b.*"),
        heading=re.compile(
            r"#?(?:bytes\s+#)?\s*#?repetitions\s+(?:t\w*\[|Mbytes).*|"
            r"#bytes\s+#repetitions\s.*",
            re.IGNORECASE,
        ),
        facts=re.compile(
            r"#\s*#processes\s*=\s*(?P<ranks>[0-9]+)|"
            r"\bMODE:\s*(?P<mode>[\w-]+)|\(\s*(?P<groups>[0-9]+)\s+groups of|"
            r"\(\s*[0-9]+ additional processes"
        ),
        row=lambda words: _numbers(words, 2),
        make=_imb,
    ),
    TextFormat(
        "perftest",
        title=re.compile(
            r"-*\s*(?P<test>(?:RDMA_Write|RDMA_Read|Send|Atomic)\b[\w \t-]{0,40}?(?:Latency|BW))"
            r"(?:\s+[\w -]{0,40}?)?\s+Test\b.*"
        ),
        heading=re.compile(r"#bytes\s+#iterations\s.*", re.IGNORECASE),
        facts=re.compile(
            r"\bDevice\s*:\s*(?P<device>\S+)|Number of qps\s*:\s*(?P<queue_pairs>[0-9]+)|"
            r"Connection type\s*:\s*(?P<connection>\w+)|Link type\s*:\s*(?P<link_type>\w+)|"
            r"\bMtu\s*:\s*(?P<mtu>[0-9]+)"
        ),
        row=lambda words: _numbers(words, 3),
        make=_perftest,
    ),
    TextFormat(
        "nccl",
        title=re.compile(
            r"#\s*Collective test starting:\s*(?P<test>\w+?)(?:_perf)?\s*|"
            r"#?\s*nThread\s+[0-9]+\s+nGpus\s.*"
        ),
        heading=re.compile(r"#?\s*size\s+count\s+type\s.*\btime\s+algbw\s+busbw\b.*"),
        facts=re.compile(
            r"#\s*nccl-tests version\s+(?P<library>\S+)|"
            r"#?\s*Collective test concluded:\s*(?P<concluded>\w+)|"
            r"#?\s*Rank\s+(?P<rank>[0-9]{1,8})\s.{0,80}?\bon\s+(?P<host>\S{1,100})\s+device\b"
        ),
        row=lambda words: (
            len(words) > 3
            and integer(words[0]) is not None
            and integer(words[1]) is not None
            and words[2][:1].isalpha()
        ),
        make=_nccl,
    ),
    TextFormat(
        "ucx",
        title=re.compile(r"\|\s*API:\s*.*\||[|\s]+(?:latency|overhead) \(usec\)\s*\|.*"),
        heading=re.compile(r"\|\s*(?:Stage\s*\|\s*)?# iterations\s*\|.*"),
        facts=re.compile(
            r"(?P<overhead>overhead) \(usec\)|"
            r"\|\s*(?:Test:\s*(?P<test>[^|]{1,60}?)|Send memory:\s*(?P<send_memory>[^|]{1,40}?)|"
            r"Recv memory:\s*(?P<recv_memory>[^|]{1,40}?)|"
            r"Message size:\s*(?P<message_size>[0-9]+))\s*\|"
        ),
        row=_is_ucx_row,
        make=_ucx,
    ),
    TextFormat(
        "netpipe",
        title=re.compile(r"(?!)"),
        heading=_NETPIPE_ROW,
        facts=re.compile(r"(?!)"),
        row=lambda words: _NETPIPE_ROW.match(" ".join(words)) is not None,
        make=_netpipe,
    ),
)
"""What is read beside OSU's output."""
