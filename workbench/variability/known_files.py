"""What a file of jobs or of counters is, before anything is done with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from workbench.errors import ParseError
from workbench.reading import Reading
from workbench.variability.tables.job_log import read_jobs
from workbench.variability.tables.samples import header_beside, names_no_columns, read_samples

_HEAD = 1 << 16  # bytes in which the names of columns stand
_JOBS = {"job", "user", "nodes", "start", "end"}
_OF_SACCT = {
    *("jobname", "user", "account", "partition", "nnodes", "allocnodes", "alloccpus", "state"),
    *("start", "end", "submit", "elapsed", "exitcode", "nodelist", "group", "reqtres", "alloctres"),
}
_LEAST_OF_SACCT = 2  # besides the job's number
_UNNAMED_JOB = re.compile(rb"\s*\d[^|\n]*\|(?:[^\n]*\|)?\d{4}-\d\d-\d\dT[\d:]{8}\|")
"""The first line of sacct -n: a job's number, and a date between signs of columns."""

_COMPONENTS = {"ProducerName", "producer", "component_id", "CompId"}
_TIMES = {"#Time", "# Time", "Time", "#Time_msec"}


def reading_of(content: bytes, source: str, path: Path | None) -> Reading | None:
    """Return what a table of jobs or of counters' samples holds; None for another file."""
    if names_no_columns(content):
        return _counters(content, source, path)
    for names in _names_of_columns(content):
        plain = {name.lower() for name in names}
        if "JOBID" in names and "end" not in plain:
            return None  # squeue's
        sacct = plain & {"jobid", "jobidraw"} and len(plain & _OF_SACCT) >= _LEAST_OF_SACCT
        if sacct or names >= _JOBS:
            return _jobs(content, source, "sacct" if sacct else "Jobs")
        if (names & _TIMES and names & _COMPONENTS) or names >= {"time", "component"}:
            return _counters(content, source, path)
    if _UNNAMED_JOB.match(content):
        raise ParseError(
            "it looks like sacct's output without the names of its columns: print it without -n "
            "(--noheader), or add a first line such as JobID|User|NNodes|Start|End",
            source=source,
            line=1,
        )
    return None


def _names_of_columns(content: bytes) -> Iterator[set[str]]:
    """Yield the words of each of the first lines, which may be names of columns."""
    if content.startswith(b"PAR1"):
        return
    head = content[:_HEAD].replace(b"\0", b"").decode("latin-1").lstrip("ï»¿ÿþ")
    for line in head.splitlines()[:50]:
        bare = line.replace('"', "")
        yield {cell.strip() for cell in re.split(r"[,;\t|^~]", bare)} - {""}
        yield {*line.lstrip("#> ").split()}


def _jobs(content: bytes, source: str, what: str) -> Reading:
    jobs = read_jobs((source, content))
    if not len(jobs):
        why = "".join(f"; {note}" for note in jobs.notes)
        raise ParseError(f"a job log must have a job that ran; it has none{why}", source=source)
    users = len(set(jobs.user))
    finite = jobs.end[np.isfinite(jobs.end)]
    return Reading(
        source,
        "jobs",
        f"{what}: {len(jobs)} jobs of {users} users, up to {jobs.nodes.max()} nodes",
        {
            "rows": len(jobs),
            "left_out": jobs.left_out,
            "users": users,
            "first_start_s": float(jobs.start.min()),
            "last_end_s": float(finite.max()) if len(finite) else None,
        },
        notes=jobs.notes,
    )


def _counters(content: bytes, source: str, path: Path | None) -> Reading:
    header = None
    if names_no_columns(content):
        header = header_beside(path) if path is not None else None
        if header is None:
            return _without_names(content, source)
    samples = read_samples((source, content), header=header)
    rows, components = len(samples.time), len(samples.component)
    return Reading(
        source,
        "counters",
        f"{'LDMS counters' if b'Time' in content[:_HEAD] else 'Counters'}: {rows} samples of "
        f"{len(samples.counters)} counters on {components} components",
        {
            "rows": rows,
            "components": components,
            "counters": list(samples.counters),
            "interval_s": samples.interval_s,
        },
        notes=samples.notes,
    )


def _without_names(content: bytes, source: str) -> Reading:
    """Return what is known of LDMS's samples whose columns are named in another file."""
    lines = [line for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    columns = lines[0].count(",") + 1
    notes = [
        "line 1: the columns have no names here; LDMS writes them into <name>.HEADER...: put that "
        "file beside this one, or give read_samples its name or the columns' names as header="
    ]
    if lines[-1].count(",") + 1 < columns:
        notes.append(f"line {len(lines)}, the last, is cut off")
        lines.pop()
    return Reading(
        source,
        "counters",
        f"LDMS counters without names: {len(lines)} samples of {columns} columns",
        {"rows": len(lines), "columns": columns},
        notes=tuple(notes),
    )
