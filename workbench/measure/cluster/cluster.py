"""An emulated cluster as one object: its hosts, its switch, and the programs that run on it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from workbench.checks import above_zero, number, whole
from workbench.errors import ParameterError
from workbench.measure.cluster.errors import ClusterError
from workbench.measure.cluster.hosts import MOST_HOSTS, EmulatedHosts
from workbench.measure.cluster.launch import ClusterLauncher, may_be_realtime
from workbench.measure.cluster.switch import Switch, SwitchReport
from workbench.mpi import find_launcher, run_command
from workbench.mpi.command import check_command
from workbench.tasks import Task, task_of

_LONGEST_LATENCY_S = 10.0  # chosen: a mistyped unit is refused; a satellite adds 0.3 s
_START_S = 30.0  # that an MPI may take to start beside the time limit of a program
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class ClusterRun:
    """A program's run on the cluster.

    Attributes:
        output: what it wrote.
        elapsed_s: how long it took, with the start of the MPI.
        latency_s: that the switch added, one way.
        load: processes that wanted a processor of this machine in the last minute, before the run.
        switch: what passed the switch.
    """

    output: str
    elapsed_s: float
    latency_s: float
    load: float
    switch: SwitchReport


class Cluster:
    """An emulated cluster, a context manager.

    Args:
        hosts: number of hosts, each with one rank; 1 to 64.
        latency_s: that the switch adds to each packet, one way, s.
        bandwidth: of each port, B/s; None is no limit.
        jitter_s: each packet waits up to so much longer, evenly drawn, s.
        mtu: bytes of a packet, at most 9000.
        mpirun: launcher of the MPI; None takes the path's ``mpirun``.
        realtime: give the ranks, and above them the switch, real-time priority, so that other
            programs of the machine disturb them little; None does so where it is allowed. Ranks of
            MPICH may not have it: as they start they wait without ever giving way. Nor may those
            of Open MPI 5, whose daemons then lose one another (5.0.7).
        mca: Open MPI's own settings.

    Raises:
        ParameterError: a value is out of range.
        MPIError: there is no MPI or no compiler.
        NamespaceError: the system allows no network namespaces; raised when it is entered.
        ClusterError: it allows no TAP devices, or a part fails; raised when it is entered or used.
    """

    def __init__(
        self,
        hosts: int,
        *,
        latency_s: float = 0.0,
        bandwidth: float | None = None,
        jitter_s: float = 0.0,
        mtu: int = 9000,
        mpirun: str | Path | None = None,
        realtime: bool | None = None,
        mca: Mapping[str, str] = NO_VARIABLES,
    ) -> None:
        whole(hosts, "hosts", 1, MOST_HOSTS)
        whole(mtu, "mtu", 1280, 9000)
        self._latency_s = _checked_latency(latency_s)
        self._jitter_s = number(jitter_s, "jitter_s", least=0)
        self._bandwidth = bandwidth and above_zero(bandwidth, "bandwidth", unit="B/s")
        self._mpi = find_launcher(mpirun)
        self._mpi.compiler()
        if realtime and not self._mpi.has_orte:
            raise ParameterError(
                "realtime must be False for MPICH and Open MPI 5, which do not start programs so; "
                "got True",
                key="realtime",
            )
        self._hosts = EmulatedHosts(hosts, mtu=mtu)
        self._mca = dict(mca)
        self.realtime = self._mpi.has_orte and may_be_realtime() if realtime is None else realtime
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as unfinished:
            scratch = tempfile.TemporaryDirectory(prefix="workbench-cluster-")
            folder = Path(unfinished.enter_context(scratch))
            hosts = unfinished.enter_context(self._hosts)
            switch = Switch(hosts.devices, mpicc=self._mpi.compiler(), realtime=self.realtime)
            self._switch = unfinished.enter_context(switch)
            switch.set_rate(self._bandwidth)
            switch.set_jitter(self._jitter_s)
            switch.set_latency(self._latency_s)
            self.launcher = ClusterLauncher(
                self._mpi.mpirun,
                self._mpi.mpicc,
                self._mpi.family,
                self._mpi.version,
                agent=hosts.agent(folder),
                hosts=hosts.names,
                realtime=self.realtime,
                mca=self._mca,
                folder=folder,
            )
            self._open = unfinished.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return len(self._hosts.names)

    @property
    def latency_s(self) -> float:
        """The latency that the switch adds, one way, s."""
        return self._latency_s

    def set_latency(self, latency_s: float) -> None:
        """Let the switch add another latency to each packet from now on, s, one way."""
        self._latency_s = _checked_latency(latency_s)
        self._switch.set_latency(self._latency_s)

    def set_pair_latency(self, sender: int, receiver: int, latency_s: float) -> None:
        """Set the latency from one host to another, s, until `set_latency` is called."""
        self._switch.set_pair_latency(sender, receiver, _checked_latency(latency_s))

    def report(self) -> SwitchReport:
        """Return what passed the switch since the last report, or since it started."""
        return self._switch.report()

    def run(
        self,
        command: Sequence[str],
        *,
        ranks: int | None = None,
        environment: Mapping[str, str] = NO_VARIABLES,
        timeout: float = 60.0,
        output: Callable[[str], object] | None = None,
        task: Task | None = None,
    ) -> ClusterRun:
        """Run an MPI program, one rank on each host, and return what it wrote.

        Args:
            command: the program and its arguments; no shell reads them.
            ranks: on the first hosts; None is one on each host.
            environment: variables for the ranks.
            timeout: seconds after which the switch kills it.
            output: called with each line that it writes, from a thread.
            task: once it is stopped, the program is ended.

        Raises:
            ParameterError: the number of ranks or the time limit is out of range.
            MPIError: the program could not be started, or was stopped.
            ClusterError: it failed or took too long.
        """
        number = self.hosts if ranks is None else whole(ranks, "ranks", 1, MOST_HOSTS)
        above_zero(timeout, "timeout", unit="s")
        check_command(command)
        lines: list[str] = []

        def read(line: str) -> None:
            lines.append(line)
            if output is not None:
                output(line)

        words = self.launcher.command(command, number, environment)
        self._switch.report()
        load, start = os.getloadavg()[0], time.perf_counter()
        status, last = run_command(
            words,
            self.launcher.own_environment(),
            timeout + _START_S,
            read,
            task_of(task),
            started=lambda process: self._switch.watch(process, timeout),
        )
        elapsed_s = time.perf_counter() - start
        self._switch.unwatch()
        if status != 0:
            within = f" within {timeout:g} s" if elapsed_s > timeout else ""
            raise ClusterError(
                f"{command[0]} must succeed on the cluster{within}; it ended with status {status}"
                + (f" and wrote: {last}" if last else " and wrote nothing")
            )
        report = self._switch.report()
        return ClusterRun("\n".join(lines), elapsed_s, self._latency_s, load, report)


def _checked_latency(latency_s: float) -> float:
    return number(latency_s, "latency_s", 0, _LONGEST_LATENCY_S, unit="s")
