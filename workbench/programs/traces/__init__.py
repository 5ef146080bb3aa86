"""Read recorded MPI programs: liballprof, the workbench's recorder, SimGrid's traces, OTF2.

    program = read_trace("traces/")                    # a folder, one file for each rank
    program = read_trace("traces/pmpi-trace-rank-0.txt")  # the others are found beside it
    program = read_trace("scorep-run/traces.otf2")     # of Score-P, or its folder
    program = read_trace({"trace-0.txt": b"...", "trace-1.txt": b"..."})

What a trace holds that a program does not, and what had to be assumed, stands in the program's
``notes``, a sentence each.
"""

from __future__ import annotations

from pathlib import Path

from workbench.errors import ParameterError, ParseError
from workbench.programs.program import Program
from workbench.programs.traces.files import TraceSource, gather, recognise
from workbench.programs.traces.otf2_archive import anchor_of, read_otf2
from workbench.reading import instead
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of

__all__ = ["FORMATS", "read_trace", "recognise"]

FORMATS = ("workbench", "liballprof", "simgrid", "otf2")
"""Formats of traces: the recorder's, liballprof 1, SimGrid's time-independent traces, Score-P's."""


def read_trace(
    source: TraceSource,
    *,
    format: str | None = None,
    flops_per_second: float = 1e9,
    task: Task | None = None,
) -> Program:
    """Return the program that a trace recorded.

    Args:
        source: a folder; the file of rank 0, the others being found by their names; a list of the
            ranks' files, given as paths or as a file that names them; a zip archive; or the
            contents by file name. Of OTF2 the anchor file, such as ``traces.otf2``, or its folder;
            Score-P's package ``otf2`` must be installed.
        format: one of ``FORMATS``; None recognises it by the first lines.
        flops_per_second: floating-point operations that a rank does in a second, for SimGrid's
            traces, whose work is not recorded in time.
        task: gets the progress after each rank; once it is stopped, reading ends. An OTF2 archive
            is read in one step.

    Raises:
        ParseError: it is no trace, a rank's file is missing, a line is damaged, or the ranks
            disagree; names the file and line.
        ParameterError: the format is not known, the rate is not positive, or ``otf2`` is missing.
        SimulationHalted: the task was stopped.
    """
    if format is not None and format not in FORMATS:
        raise ParameterError(
            f"format must be one of {', '.join(FORMATS)}; got {format!r}"
            f"{did_you_mean(format, FORMATS)}",
            key="format",
        )
    with anchor_of(source) as anchor:
        if anchor is not None:
            name = Path(source).name if isinstance(source, str | Path) else anchor.name
            return read_otf2(anchor, name)
    if format == "otf2":
        raise ParameterError(
            "an OTF2 archive must have an anchor file that ends in .otf2", key="format"
        )
    name, files = gather(source)
    kind = format or recognise(files[0].data)
    if kind is None:
        unknown = "its first line is neither `MPI_Name:start:...:end` nor `rank action ...`"
        raise ParseError(
            "must be a trace of liballprof, SimGrid or the workbench's recorder, or an archive of "
            f"OTF2; {instead(files[0].data, files[0].name) or unknown}",
            source=files[0].name,
        )
    if kind == "simgrid":
        from workbench.programs.traces.simgrid import read_simgrid

        return read_simgrid(files, name, task_of(task), flops_per_second=flops_per_second)
    from workbench.programs.traces.liballprof import read_liballprof, read_recorded

    read = read_recorded if kind == "workbench" else read_liballprof
    return read(files, name, task_of(task))
