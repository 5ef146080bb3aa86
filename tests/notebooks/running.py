"""A notebook, run in a kernel that can ask no other machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

from tests.source_trees import ROOT

# Nothing but this machine may be asked, also not by a library that means well.
OFFLINE = """
import gc, socket
gc.set_threshold(100_000, 20, 10)  # a panel is made in three quarters of the time
_connect = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "localhost", "::1"):
        raise AssertionError(f"asked {address}")
    return _connect(self, address)
socket.socket.connect = connect
"""
# A kernel that several notebooks share is empty again for the next one. What stays is loaded code,
# which the collector need not look through again: 1.4 s instead of 7.5 s for notebooks 00 to 09.
EMPTY = """
%reset -f
import gc, os
gc.freeze()
os.chdir({folder!r})
"""


@contextlib.contextmanager
def shared_kernel() -> Iterator[AsyncKernelManager]:
    """Manage a kernel that the first notebook starts, and end it."""
    # Ports are chosen before a kernel takes them, and another test may take one meanwhile. A
    # socket's path must be short.
    with tempfile.TemporaryDirectory() as sockets:
        manager = AsyncKernelManager(transport="ipc", ip=str(Path(sockets) / "kernel"))
        try:
            yield manager
        finally:
            asyncio.run(manager.shutdown_kernel(now=True))


def shorten(cells: list[Any], shorter: dict[str, str]) -> None:
    """Put what is short in the place of what takes long."""
    for long, short in shorter.items():
        there = [cell for cell in cells if long in cell.source]
        if not there:
            raise LookupError(f"a cell must hold {long!r}; SHORTER names what takes long")
        for cell in there:
            cell.source = cell.source.replace(long, short)


def execute(content: Any, folder: Path, after: str, kernel: AsyncKernelManager) -> Any:
    """Run a notebook's cells and one more, and return it with its outputs."""
    before = EMPTY.format(folder=str(folder)) if kernel.has_kernel else OFFLINE
    content.cells.insert(0, nbformat.v4.new_code_cell(before))
    content.cells.append(nbformat.v4.new_code_cell(after))
    paths = [*os.environ.get("PYTHONPATH", "").split(), str(ROOT)]
    client = NotebookClient(
        content, km=kernel, timeout=600, resources={"metadata": {"path": str(folder)}}
    )
    try:
        return client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    finally:
        client.kc.stop_channels()
