"""A notebook, run in a kernel of its own that can ask no other machine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from tests.source_trees import ROOT

# Nothing but this machine may be asked, also not by a library that means well.
OFFLINE = """
import socket
_connect = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "localhost", "::1"):
        raise AssertionError(f"asked {address}")
    return _connect(self, address)
socket.socket.connect = connect
"""


def execute(content: Any, folder: Path, after: str, **variables: str) -> Any:
    """Run a notebook's cells and one more, and return it with its outputs."""
    content.cells.insert(0, nbformat.v4.new_code_cell(OFFLINE))
    content.cells.append(nbformat.v4.new_code_cell(after))
    paths = [*os.environ.get("PYTHONPATH", "").split(), str(ROOT)]
    # Ports are chosen before a kernel takes them, and another test may take one meanwhile. A
    # socket's path must be short.
    with tempfile.TemporaryDirectory() as sockets:
        address = {"transport": "ipc", "ip": str(Path(sockets) / "kernel")}
        client = NotebookClient(
            content,
            timeout=600,
            resources={"metadata": {"path": str(folder)}},
            config=Config({"KernelManager": address}),
        )
        return client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables})
