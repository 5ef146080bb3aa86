"""How an MPI starts programs on the hosts of an emulated cluster."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.measure.cluster.errors import ClusterError
from workbench.measure.cluster.hosts import PORT
from workbench.mpi import Launcher, Recipe, build_preloaded, preload
from workbench.namespaces import alone

_IDLE = Recipe(
    "the library of sleeping ranks",
    "libworkbench-idle.so",
    "cluster",
    ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"),
    (Path(__file__).resolve().parent / "idle.c",),
    "Linux and glibc",
)
_PRIORITY = 5  # any of 1 to 99 precedes all usual processes; the switch's is 20
_ASK_S = 10  # chosen: `chrt --fifo 5 true` takes 6 ms on a machine with load 7
_LONGEST_US = 30_000_000  # that a rank with real-time priority may compute without sleeping
_OPEN_MPI = {
    # After two hosts have met by connecting to each other at once, it may look at its sockets every
    # 10 ms only, unless told otherwise.
    "mpi_event_tick_rate": "1",
    "mpi_preconnect_mpi": "1",  # or the first message to each host pays for its connection
}
_MPICH = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": PORT}


@dataclass(frozen=True)
class ClusterLauncher(Launcher):
    """A launcher that starts rank i on host i; takes its place wherever programs are recorded.

    Attributes:
        agent: script that starts a command on a host.
        hosts: their names.
        realtime: whether ranks have real-time priority.
        mca: Open MPI's own settings, such as ``coll_tuned_allreduce_algorithm``.
        folder: for temporary files.
    """

    agent: Path
    hosts: tuple[str, ...]
    realtime: bool
    mca: Mapping[str, str]
    folder: Path

    def command(
        self,
        program: Sequence[str],
        ranks: int,
        environment: Mapping[str, str],
        *,
        oversubscribe: bool = True,
    ) -> list[str]:
        """Return the command line that starts a program on the first hosts, one rank on each.

        Args:
            program: the program and its arguments.
            ranks: number of ranks, at most as many as hosts.
            environment: variables for the ranks alone.
            oversubscribe: of no meaning here: each host has one rank.

        Raises:
            ClusterError: there are more ranks than hosts.
        """
        if ranks > len(self.hosts):
            raise ClusterError(
                f"an emulated cluster of {len(self.hosts)} hosts has as many ranks at most; got "
                f"{ranks}; make it with more hosts"
            )
        variables = self._with_idle(environment)
        priority = ["prlimit", f"--rttime={_LONGEST_US}", "chrt", "--fifo", str(_PRIORITY)]
        words = [*(priority if self.realtime else ()), *program]
        hosts = self.hosts[:ranks]
        openmpi = self.family == "openmpi"
        mpirun = self._open_mpi(hosts, variables) if openmpi else self._mpich(hosts, variables)
        start = shlex.join([*mpirun, "-n", str(ranks), *words])
        return alone([str(self.agent), self.hosts[0], start])

    def own_environment(self) -> dict[str, str]:
        """Return the environment that the launcher itself runs in."""
        # A folder for each run: process numbers begin anew there, and what a run that was killed
        # has left under its number is in the way of the next.
        folder = tempfile.mkdtemp(prefix="", dir=self.folder)
        return super().own_environment() | {"TMPDIR": folder}

    def _with_idle(self, environment: Mapping[str, str]) -> dict[str, str]:
        variables = dict(environment)
        library = build_preloaded(_IDLE, self.compiler(), None, ClusterError)
        variables["LD_PRELOAD"] = preload(library, variables.get("LD_PRELOAD"))
        return variables

    def _open_mpi(self, hosts: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        words = [str(self.mpirun), "--bind-to", "none"]
        words += ["--host", ",".join(f"{host}:1" for host in hosts)]
        settings = self.reach(self.agent, PORT) | _OPEN_MPI | dict(self.mca)
        for name, value in settings.items():
            words += ["--mca", name, value]
        for name, value in environment.items():
            words += ["-x", f"{name}={value}"]
        return words

    def _mpich(self, hosts: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        words = [str(self.mpirun), "-launcher", "ssh", "-launcher-exec", str(self.agent)]
        words += ["-iface", PORT, "-hosts", ",".join(hosts), "-ppn", "1"]
        for name, value in (_MPICH | dict(environment)).items():
            words += ["-genv", name, value]
        return words


def may_be_realtime() -> bool:
    """Return whether this process may start others with real-time priority."""
    try:
        words = ["chrt", "--fifo", str(_PRIORITY), "true"]
        done = subprocess.run(words, capture_output=True, timeout=_ASK_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
