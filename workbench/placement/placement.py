"""Which host each rank is at, and how long the program takes there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.atomic_write import replace_file
from workbench.facts import Fact
from workbench.placement.launch_files import (
    HOST_NAMES,
    host_names,
    hostfile,
    names_of,
    rankfile,
)
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.topology import Topology

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Placement(StoredResult):
    """A host for each rank of a program, and what was predicted for it.

    ``wire_sensitivity`` and ``wire_tolerance`` take it as their ``placement``.

    Attributes:
        hosts: int64[ranks], the host of each rank.
        topology: the network.
        method: how it was found.
        T: the program's time without contention, s.
        block_T: its time with the ranks placed in order, s.
        mean_hops: switches that a message passes, the mean weighted by its bytes.
        seconds: that finding it took.
        evaluations: how many mappings were evaluated for it.
        seed: of the random choices, or None where none were made.
        provenance: what was analysed.
        alike: whether all places are equally far apart, so that every placement takes as long.
    """

    hosts: NDArray[np.int64]
    topology: Topology
    method: str
    T: float
    block_T: float
    mean_hops: float
    seconds: float
    evaluations: int
    seed: int | None
    provenance: Provenance
    alike: bool = False

    @property
    def gain(self) -> float:
        """How much less time the program takes than with block placement, as a share of that."""
        return 1 - self.T / self.block_T if self.block_T else 0.0

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rank: ``rank``, ``host``, ``router``, ``group``."""
        import pandas as pd

        routers = self.topology.host_router[self.hosts]
        return pd.DataFrame(
            {
                "rank": np.arange(len(self.hosts)),
                "host": self.hosts,
                "router": routers,
                "group": self.topology.group[routers],
            }
        )

    def to_rankfile(
        self, path: str | Path | None = None, names: str | Sequence[str] = HOST_NAMES
    ) -> str:
        """Return Open MPI's rankfile, and write it where a path is given.

        Args:
            path: file to write, replaced in one step.
            names: of the network's hosts, in their order: a list, a text with spaces or lines
                between them, or a pattern such as ``nid{:05d}``. Without it they have those of the
                network's file, if any.

        Raises:
            ParameterError: names are missing, stand twice or have spaces.
        """
        return self._launch_file(rankfile, path, names)

    def to_hostfile(
        self, path: str | Path | None = None, names: str | Sequence[str] = HOST_NAMES
    ) -> str:
        """Return a host for each rank, a line each, and write it where a path is given.

        MPICH takes it by ``mpiexec -f``, Slurm by ``SLURM_HOSTFILE`` and ``srun -m arbitrary``.

        Args:
            path: as for ``to_rankfile``.
            names: as for ``to_rankfile``.

        Raises:
            ParameterError: names are missing, stand twice or have spaces.
        """
        return self._launch_file(hostfile, path, names)

    def _launch_file(
        self,
        make: Callable[[NDArray[np.int64], Sequence[str]], str],
        path: str | Path | None,
        names: str | Sequence[str],
    ) -> str:
        names = names_of(self.topology, names)
        text = make(self.hosts, host_names(names, self.topology.num_hosts))
        if path is not None:
            replace_file(path, text.encode())
        return text

    def facts(self) -> tuple[Fact, ...]:
        """Return the predicted times, the search that found the placement, and the topology."""
        ranks = f"{self.method}: {len(self.hosts)} ranks on {self.topology.name}"
        return (
            Fact("", "placement", ranks),
            Fact("method", "", self.method),
            Fact("topology", "", self.topology.name),
            Fact("parameters", "", dict(self.topology.parameters)),
            Fact("hosts", "", self.hosts),
            Fact("makespan_ns", "T", self.T, "time", _compared(self.gain), "run time"),
            Fact("block_makespan_ns", "", self.block_T, "time"),
            Fact("mean_hops", "mean switches", self.mean_hops, about="that a byte passes"),
            Fact("seconds", "found in", self.seconds, "time"),
            Fact("evaluations", "evaluations", self.evaluations),
            Fact("seed", "", self.seed),
        )


def _compared(gain: float) -> str:
    if gain == 0:
        return "as block"
    return f"{100 * abs(gain):.2f} % {'less' if gain > 0 else 'more'} than block"
