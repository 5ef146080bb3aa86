"""Networks that panels read from files."""

from __future__ import annotations

from workbench.panels.compare.controls import read_files
from workbench.topology import Topology


def ring(routers: int) -> Topology:
    """Return a ring, read from a list of its links as a panel reads it."""
    edges = "".join(f"{at} {(at + 1) % routers}\n" for at in range(routers))
    return read_files({"ring.txt": edges.encode()})
