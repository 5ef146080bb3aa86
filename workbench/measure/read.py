"""What a file is, before anything is done with it."""

from __future__ import annotations

from pathlib import Path

from workbench.measure.osu_read import OSUSource, label_and_content
from workbench.reading import Reading, reading_of


def read(source: OSUSource) -> Reading:
    """Return what a file is, what it holds and what is doubtful about it.

    The output of benchmarks, topologies, tables of jobs and counters, traces and GOAL are
    recognised by what they hold, not by their names.

    Args:
        source: path of a file or folder; or a text of more than one line, bytes, or a pair of a
            name and the content.

    Raises:
        ParseError: it cannot be read, is nothing that is read, or is broken; names the line.
    """
    label, content = label_and_content(source)
    path = Path(source) if isinstance(source, str | Path) and "\n" not in str(source) else None
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return reading_of(data, label, path)
