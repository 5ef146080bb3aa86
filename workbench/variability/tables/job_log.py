"""Jobs of all users of a machine, from a table or from Slurm's accounting.

jobs = read_jobs("sacct.txt", zone="America/Los_Angeles")
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, ParseError
from workbench.host_lists import expand_hosts
from workbench.result import StoredResult
from workbench.text_table import check_columns
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.table_file import (
    LONGEST_HEAD,
    MOST_BEFORE,
    PARQUET,
    Shapes,
    TableNotes,
    TableSource,
    content_of,
    decoded,
    read_table,
    remedy,
    renamed,
    source_of,
    texts_of,
    whole_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


_WHAT = "a job log"
_NEEDED = ("job", "user", "nodes", "start", "end")
_SACCT = {
    "job": ("JobID", "JobIDRaw"),
    "user": ("User",),
    "nodes": ("NNodes", "AllocNodes", "NodeList", "AllocTRES", "ReqTRES"),
    "start": ("Start",),
    "end": ("End",),
}
"""What sacct calls our columns."""

_HOLD_NODES = ("nodelist", "alloctres", "reqtres")
"""Columns that hold the number of nodes among other things, the names of hosts first."""

_NODES_OF_TRES = re.compile(r"(?:^|,)node=(\d+)")
_NOT_YET = ("", "Unknown", "None", "N/A")
_STEP = re.compile(
    r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?\.(?:\d+(?:\+\d+)?|batch|extern|interactive|\w*\+)"
)
"""A job's number, of an array (``8_1``) or of several parts (``8+1``), and a step of it."""

_DASHES = re.compile(rb"([#>\s]*)-+(?: +-+)+\s*")
"""The line below the names of fixed columns, behind the sign of a quote or of a comment."""

_COUNT = re.compile(r"(\d+(?:\.\d+)?)([KMG]?)")
_COUNTED_IN = {
    "": 1,
    "K": 1024,
    "M": 1024**2,
    "G": 1024**3,
}  # as sacct abbreviates, see --noconvert
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*|\d+(?:\.\d*)?|Unknown|None|N/A|")
_NAME = re.compile(r"\S*")
_LASTED = re.compile(r"(?:\d+-)?[\d:.]+|UNLIMITED|Partition_Limit|INVALID|")
_SHAPES = {
    **dict.fromkeys(("JobID", "JobIDRaw", "job"), re.compile(r"\d\S*")),
    **dict.fromkeys(("NNodes", "AllocNodes", "NCPUS", "AllocCPUS", "ReqCPUS"), _COUNT),
    "NTasks": re.compile(rf"{_COUNT.pattern}|"),  # of steps only
    **dict.fromkeys(("Start", "End", "Submit", "Eligible", "start", "end"), _TIME),
    **dict.fromkeys(("Elapsed", "Timelimit", "TotalCPU", "CPUTime"), _LASTED),
    **dict.fromkeys(("User", "Account", "Partition", "QOS", "Group", "Cluster", "user"), _NAME),
    "nodes": _COUNT,
    "State": re.compile(r"[A-Z_]+\+?(?: by \S+)?|"),
    "ExitCode": re.compile(r"\d+:\d+|"),
    "NodeList": re.compile(r"\S*|None assigned"),
}
"""How sacct's fields look, to find them where a job's name holds the separator."""

_FREE = frozenset(
    {
        *("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Extra"),
        *("Constraints", "Reason", "Container", "StdOut", "StdErr", "StdIn", "WCKey"),
    }
)
"""Columns of sacct whose fields are what a user typed."""

_LISTS = frozenset({"NodeList", "ReqTRES", "AllocTRES", "Flags", "Licenses"})
_PRINT = "; print them with sacct -a -P -o JobID,User,NNodes,Start,End"


@dataclass(frozen=True, eq=False, repr=False)
class JobLog(StoredResult):
    """Jobs with their users, sizes and times.

    Attributes:
        job: name or number of each job.
        user: of each job.
        nodes: int64[jobs].
        start: float64[jobs], s since 1970-01-01 UTC, or since the log's own origin.
        end: float64[jobs], s; infinite for a job that still runs.
        notes: what was left out or taken for granted, each a sentence.
        left_out: rows of the file that are no jobs that ran: steps, jobs that never started.
    """

    job: tuple[str, ...]
    user: tuple[str, ...]
    nodes: NDArray[np.int64]
    start: FloatArray
    end: FloatArray
    notes: tuple[str, ...] = ()
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.job)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a job: ``job``, ``user``, ``nodes``, ``start`` and ``end`` in s."""
        import pandas as pd

        return pd.DataFrame(
            {
                "job": self.job,
                "user": self.user,
                "nodes": self.nodes,
                "start (s)": self.start,
                "end (s)": self.end,
            }
        )

    def __repr__(self) -> str:
        users = len(set(self.user))
        return f"JobLog({len(self)} jobs of {users} users, up to {self.nodes.max(initial=0)} nodes)"


def read_jobs(
    path: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    zone: str = "UTC",
    offset_s: float = 0.0,
) -> JobLog:
    """Return the jobs in a table ``job,user,nodes,start,end``, CSV or Parquet, or sacct's output.

    Of sacct the columns JobID, User, NNodes (or AllocNodes, NodeList, AllocTRES), Start and End are
    needed, as
    ``--parsable2``, ``--parsable`` or ``--delimiter`` separate them or in columns of fixed width. A
    row whose job's name holds the separator is read by the shapes of its other fields. Steps of
    jobs are left out, as are jobs that never started or had no nodes, and a last line that is cut
    off; a job without an end still runs. The result's ``notes`` say how many there were of each.

    Args:
        path: the file, or its name and content.
        columns: the file's names of our columns, such as ``{"user": "account"}``.
        zone: time zone of times that name none, such as ``America/Los_Angeles``.
        offset_s: seconds added to all times, where the clock of the log differs from that of the
            runs.

    Raises:
        ParseError: the file is no job log; names the line.
        ParameterError: the zone, or a column's name of ours, is unknown.
    """
    notes, source = TableNotes(), source_of(path)
    table = _read(path, columns, notes)
    steps = table["job"].str.fullmatch(_STEP)
    # A job that has not started yet, or never will, has no start.
    waiting = ~steps & table["start"].isin(_NOT_YET)
    kept = table[~steps & ~waiting]
    kept, again = _once_each(kept)
    nodes = _node_counts(kept, source, notes)
    idle = nodes == 0
    kept, nodes = kept[~idle], nodes[~idle]
    running = kept["end"].isin(_NOT_YET)
    start, words = seconds_of(kept, "start", source, zone)
    end = np.full(len(kept), np.inf)
    ended, more = seconds_of(kept[~running], "end", source, zone)
    end[~running.to_numpy()] = ended
    _check(kept, start, end, source)
    counted = (
        (int(steps.sum()), "steps of jobs were left out"),
        (int(waiting.sum()), "jobs that never started were left out"),
        (int(idle.sum()), "jobs with 0 nodes, cancelled before they started, were left out"),
        (again, "rows are of a job and start that another row has too; left out"),
        (int(running.sum()), "jobs without an end still run"),
    )
    notes += [f"{count} {what}" for count, what in counted if count]
    return JobLog(
        tuple(kept["job"]),
        tuple(kept["user"]),
        nodes,
        start + offset_s,
        end + offset_s,
        (*notes, *dict.fromkeys((*words, *more))),
        left_out=notes.left_out + len(table) - len(kept),
    )


def _read(file: TableSource, columns: Mapping[str, str] | None, notes: TableNotes) -> pd.DataFrame:
    """Return the cells of the needed columns as texts, under our names."""
    import pandas as pd

    given, source = dict(columns or {}), source_of(file)
    table = cells_of_jobs(file, notes, given)
    theirs = {str(name).lower(): str(name) for name in table}
    if len(theirs) == 1 and {*next(iter(theirs)).split()} > {"jobid"}:
        raise ParseError(
            f"sacct's columns of fixed width need the line of dashes below their names{_PRINT}",
            source=source,
        )
    if any(name.lower() in theirs for name in _SACCT["job"]):
        for ours, names in _SACCT.items():
            if ours not in given:
                known = (theirs[name.lower()] for name in names if name.lower() in theirs)
                given[ours] = next(known, names[0])
        if given["nodes"].lower() in _HOLD_NODES:
            table = _counted_hosts(table, given["nodes"], source, notes)
        words = _PRINT + remedy(table)
        check_columns(table, "sacct's output", given.values(), source, words)
    table = renamed(table, given, _WHAT, _NEEDED, source)
    return pd.DataFrame(
        {name: texts_of(table[name]) for name in _NEEDED}, table.index, dtype=object
    )


def cells_of_jobs(
    file: TableSource, notes: TableNotes, columns: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return the cells of a job log under the file's own names."""
    given, source = columns or {}, source_of(file)
    content = content_of(file, _WHAT)
    table = _fixed_width(content, source, notes)
    if table is not None:
        return table
    named = {theirs: _SHAPES[ours] for ours, theirs in given.items() if ours in _SHAPES}
    needed = frozenset({*_NEEDED, *given.values(), *itertools.chain(*_SACCT.values())})
    heads = (given.get("job", "job"), *_SACCT["job"])
    return read_table(
        (source, content),
        _WHAT,
        notes=notes,
        heads=heads,
        shapes=Shapes(_SHAPES | named, _FREE, _LISTS, needed),
    )


def _fixed_width(content: bytes, source: str, notes: TableNotes) -> pd.DataFrame | None:
    """Return sacct's columns of fixed width, a blank between them; None for another file."""
    import pandas as pd

    head = content[:LONGEST_HEAD].replace(b"\0", b"").split(b"\n")[:MOST_BEFORE]
    dashed = (at for at, line in enumerate(head) if at and _DASHES.fullmatch(line.rstrip(b"\r")))
    under = next(dashed, None)
    if under is None or content.startswith(PARQUET):
        return None
    text = decoded(content, _WHAT, source, notes)
    # sacct counts bytes, so a letter outside ASCII moves the letters after it, not the bytes.
    coding = "utf-8" if not notes else "latin-1"
    lines = [line.rstrip("\r").encode(coding) for line in text.split("\n")]
    dashes = _DASHES.fullmatch(lines[under])
    before = dashes[1] if dashes else b""
    lines[under - 1] = lines[under - 1].lstrip(b"#> \t")
    lines[under:] = [_without(before, line) for line in lines[under:]]
    ends = list(itertools.accumulate(len(one) + 1 for one in lines[under].rstrip().split(b" ")))
    names = lines[under - 1].decode(coding).split()
    if len(names) != len(ends):
        raise ParseError(
            f"sacct's columns must each have a name above its dashes; there are {len(names)} names "
            f"and {len(ends)} columns",
            source=source,
            line=under,
        )
    rows = {
        at: line
        for at, line in enumerate(lines[under + 1 :], start=under + 2)
        if line.strip() and line not in (lines[under], lines[under - 1])
    }
    last = max(rows, default=0)
    if last == len(lines) and len(rows) > 1:  # no end of line: the file may be cut off there
        width = min(len(line.rstrip()) for at, line in rows.items() if at != last)
        if len(rows[last].rstrip()) < width:
            del rows[last]
            notes.left_out += 1
            notes.append(f"line {last}, the last, is cut off; left out")
    spans = list(zip([0, *ends[:-1]], ends, strict=True))
    cells = [
        [line[low : high - 1].decode(coding, "replace").strip() for low, high in spans]
        for line in rows.values()
    ]
    table = pd.DataFrame(cells, columns=names, index=list(rows), dtype=object)
    for name in table.columns.intersection(["JobID", "JobIDRaw"]):
        # A prompt, the end of a block of code, or what was skipped.
        odd = ~table[name].str.contains(r"\d").astype(bool)
        if odd.any():
            notes.append(
                f"{int(odd.sum())} lines without a job's number, such as line "
                f"{table.index[odd][0]}, were left out"
            )
        table = table[~odd]
    for name in table.columns.intersection(["User", "Account"]):
        if cut := int(table[name].str.endswith("+").sum()):
            notes.append(
                f"{cut} names of {name} end in +, where sacct cut them off: print with -P, or "
                f"{name}%30"
            )
    return table


def _without(before: bytes, line: bytes) -> bytes:
    """Return a line without what stands before each line of a table."""
    head = line[: len(before)]
    return line[len(before) :] if head == before or head.isspace() else line


def _counted_hosts(
    table: pd.DataFrame, column: str, source: str, notes: TableNotes
) -> pd.DataFrame:
    """Return a table with the nodes that each cell of a column lists or counts, 0 for none."""
    counts = list[str]()
    for line, text in table[column].items():
        hosts = str(text).strip()
        try:
            if hosts.endswith("+"):
                raise ParameterError(f"{column} must be whole; it is cut off: {hosts[:80]!r}")
            if column.lower() != _HOLD_NODES[0]:
                stated = _NODES_OF_TRES.search(hosts)
                counts.append(stated[1] if stated else "0")
                continue
            given = hosts not in (*_NOT_YET, "None assigned", "(null)")
            counts.append(str(len(expand_hosts(hosts)) if given else 0))
        except ParameterError as error:
            message = f"{error}; print the number of nodes too, NNodes"
            raise ParseError(message, source=source, line=int(str(line))) from error
    notes.append(f"the numbers of nodes are those in {column}")
    return table.assign(**{column: counts})


def _once_each(table: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the rows of each job and start once, the one with an end, and how many went."""
    ended = ~table["end"].isin(_NOT_YET)
    order = table.assign(_ended=ended).sort_values("_ended", ascending=False, kind="stable")
    kept = order.drop_duplicates(["job", "user", "start"]).sort_index()[list(table.columns)]
    return kept, len(table) - len(kept)


def _node_counts(table: pd.DataFrame, source: str, notes: TableNotes) -> NDArray[np.int64]:
    """Return the numbers of nodes, of those that sacct abbreviates too (``1.50K``)."""
    counts, rounded = list[str](), list[str]()
    for text in table["nodes"]:
        found = _COUNT.fullmatch(text)
        if found is None or not found[2]:
            counts.append(text)
            continue
        counts.append(str(round(float(found[1]) * _COUNTED_IN[found[2]])))
        rounded.append(f"{text} as {counts[-1]}")
    if rounded:
        notes.append(
            f"{len(rounded)} numbers of nodes are abbreviated and were read in units of 1024, such "
            f"as {rounded[0]}; sacct --noconvert prints them in full"
        )
    return whole_numbers(table.assign(nodes=counts), "nodes", source, least=0)


def _check(table: pd.DataFrame, start: FloatArray, end: FloatArray, source: str) -> None:
    """Refuse a job without a user, and one that ends before it starts."""
    nameless = table["user"] == ""
    for bad, words in (
        (nameless.to_numpy(), "each job must have a user; job {job} has none"),
        (end < start, "a job must not end before it starts; job {job} runs from {start} to {end}"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            cells = {name: table[name].iloc[at] for name in _NEEDED}
            raise ParseError(words.format(**cells), source=source, line=int(table.index[at]))
