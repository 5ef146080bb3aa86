"""Processes of this machine, for tests that see that none is left."""

from __future__ import annotations

from pathlib import Path


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
    found = [process]
    for each in found:
        found += [pid for pid, parent in parents.items() if parent == each]
    return found[1:]
