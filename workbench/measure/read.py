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
        source: path of a file, or of a trace's folder; or a text of more than one line, bytes, or a
            pair of a name and the content.

    Raises:
        ParseError: it cannot be read, is nothing that is read, or is broken; names the line.
    """
    is_path = isinstance(source, Path) or (isinstance(source, str) and "\n" not in source)
    path = Path(str(source)) if is_path else None
    if path is not None and path.is_dir():
        return reading_of(b"", path.name, path)
    label, content = label_and_content(source)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return reading_of(data, label, path)
