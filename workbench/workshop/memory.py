"""Memory: what kernels hold, and what this machine can give them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbclient import NotebookClient

from workbench.panels.setup import BOKEH_IN_PAGE

_CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


def held_bytes(process: int) -> int:
    """Return a process's share of memory in bytes: PSS, or USS where there is none."""
    held = psutil.Process(process).memory_full_info()
    return int(getattr(held, "pss", held.uss))


def own_bytes(process: int) -> int:
    """Return the memory in bytes that a process shares with no other: USS."""
    return int(psutil.Process(process).memory_full_info().uss)


def kernel_bytes(
    cells: list[Any], folder: str | Path, measure: Callable[[int], int], timeout_s: int = 900
) -> int:
    """Run cells in a kernel, in a folder, and return what ``measure`` says of its process."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=timeout_s, resources=where)
    client.create_kernel_manager()
    # Sockets in that folder, as those of a server for a class.
    client.km.transport, client.km.connection_file = "ipc", str(Path(folder) / "kernel.json")
    with client.setup_kernel(env={**os.environ, BOKEH_IN_PAGE: "True"}):
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
        return measure(client.km.provisioner.pid)


def free_bytes() -> int:
    """Return the memory that new processes can have, in bytes; limits of a container count."""
    free = int(psutil.virtual_memory().available)
    for folder, most, used, cache in _CGROUPS:
        with contextlib.suppress(OSError, ValueError, KeyError):
            limit = int(Path(folder, most).read_text())  # or "max"
            lines = Path(folder, "memory.stat").read_text().splitlines()
            kept = int(dict(line.split() for line in lines)[cache])
            free = min(free, limit - int(Path(folder, used).read_text()) + kept)
    return free
