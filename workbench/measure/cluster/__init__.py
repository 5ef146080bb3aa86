"""An emulated cluster on one machine: MPI programs on hosts with a network of chosen latency.

    with Cluster(4, latency_s=500e-6) as cluster:
        run = cluster.run(["./app", "100"])
        cluster.set_latency(1e-3)
        slower = cluster.run(["./app", "100"])

Each host is a network namespace with a TAP device; a switch in user space (``switch.c``) joins
them. Every packet leaves the switch the latency later than it came, whatever else is under way, as
on a longer cable: what LLAMP's injector does for messages (Shen et al., III-A and Fig. 8 D) holds
here for packets, so a rendezvous' handshake and what is inside a collective are delayed too. The
programs talk MPI over TCP, and ranks that wait for a message sleep (``idle.c``). All processors are
this machine's: computing ranks that outnumber them share them, so programs that are measured here
should sleep where they would compute.

Network namespaces need root, or a user namespace (`unshare --user --map-root-user`) where
``/dev/net/tun`` is open to everybody. Whatever ends this process also ends the programs, the switch
and the namespaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.measure.cluster.cluster import Cluster as Cluster, ClusterRun as ClusterRun
    from workbench.measure.cluster.collective_times import measure_collective as measure_collective
    from workbench.measure.cluster.costs import (
        MessageCost as MessageCost,
        Quartiles as Quartiles,
        measure_costs as measure_costs,
    )
    from workbench.measure.cluster.errors import ClusterError as ClusterError
    from workbench.measure.cluster.hosts import EmulatedHosts as EmulatedHosts
    from workbench.measure.cluster.launch import ClusterLauncher as ClusterLauncher
    from workbench.measure.cluster.switch import SwitchReport as SwitchReport
else:
    __getattr__, __dir__ = lazy_exports(__name__)
