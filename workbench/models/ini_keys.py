"""Keys of an .ini beside a model's parameters, and those that are not modelled.

SST/macro ignores keys it does not know, so a slip of the pen changes nothing and says nothing.
Here every key is either a parameter, listed below, or an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

# Keys that start, place, time or record a run and leave the two nodes' figures as they are.
RUN_KEYS: tuple[str, ...] = (
    "backup_buffer_size",
    "busy_loop_count",
    "cpu_affinity",
    "debug",
    "debug_startup",
    "env.*",
    "epoch_print_interval",
    "event_manager",
    "num_profile_loops",
    "partition",
    "partition.*",
    "runtime",
    "serialization_buffer_size",
    "sst_nthread",
    "timestamp_print_units",
    "node.app1.allocation",
    "node.app1.apis",
    "node.app1.argv",
    "node.app1.cerr",
    "node.app1.core_affinities",
    "node.app1.cout",
    "node.app1.env.*",
    "node.app1.exe",
    "node.app1.globals_size",
    "node.app1.host_compute_timer",
    "node.app1.indexing",
    "node.app1.min_op_cutoff",
    "node.app1.name",
    "node.app1.notify",
    "node.app1.random_allocation_seed",
    "node.app1.random_indexer_seed",
    "node.app1.size",
    "node.app1.start",
    "node.app1.stderr",
    "node.app1.stdout",
    "node.app1.tasks_per_node",
    "node.app1.terminate",
    "node.app1.tls_size",
    "node.app1.ftq.*",
    "node.app1.mpi.delays.*",
    "node.app1.mpi.otf2.*",
    "node.app1.mpi.spy_bytes.*",
    "node.debug",
    "node.env.*",
    "node.id",
    "node.job_launcher",
    "node.launchRoot",
    "node.nsockets",
    "node.os.*",
    "node.proc.ncores",
    "node.services",
    "node.nic.spy_bytes.*",
    "node.nic.xmit_flows.*",
    "node.nic.injection.bytes_sent.*",
    "node.nic.injection.queue_depth.*",
    "node.nic.injection.state.*",
    "node.nic.injection.xmit_*",
    "switch.id",
    "switch.link.bytes_sent.*",
    "switch.link.queue_depth.*",
    "switch.link.state.*",
    "switch.link.xmit_*",
    "switch.recv_bytes.*",
    "switch.router.seed",
    "topology.dump_file",
    "topology.output_graph",
    "topology.outputXYZ",
    "topology.seed",
)

# Read by SST/macro, or by an older version, without an effect on two nodes and one switch.
NO_EFFECT_KEYS: dict[str, str] = {
    "node.app1.mpi.allgather": "it chooses a collective's algorithm",
    "node.app1.mpi.alltoall": "it chooses a collective's algorithm",
    "node.app1.mpi.eager_cutoff": "it concerns collectives",
    "node.app1.mpi.iprobe_delay": "the benchmarks do not probe",
    "node.app1.mpi.poll_delay": "SST/macro reads it and never uses it",
    "node.app1.mpi.smp_optimize": "it concerns collectives",
    "node.app1.mpi.test_delay": "the benchmarks do not call MPI_Test",
    "node.app1.mpi.use_put_protocol": "it concerns collectives",
    "node.memory.max_single_bandwidth": "it belongs to the pisces memory model",
    "node.memory.total_bandwidth": "it belongs to the pisces memory model",
    "node.memory.mtu": "it belongs to the pisces memory model",
    "node.memory.nchannels": "it belongs to the pisces memory model",
    "node.nic.ejection.arbitrator": "the ejection link has no arbitrator",
    "node.nic.ejection.bandwidth": "the ejection link has no bandwidth of its own",
    "node.nic.ejection.credits": "the switch's credits limit ejection",
    "node.nic.injection.redundant": "there is one injection port",
    "switch.xbar.credits": "it is read and not used",
    "switch.xbar.latency": "the crossbar adds no latency",
    "switch.model": "it is the spelling of an older version",
    "node.model": "it is the spelling of an older version",
    "node.nic.model": "it is the spelling of an older version",
}


def _one_of(*allowed: str) -> Callable[[str], bool]:
    return lambda text: text in allowed


def _one_switch(text: str) -> bool:
    return re.fullmatch(r"\[?\s*1\s*\]?", text) is not None


def _two_or_more(text: str) -> bool:
    return re.fullmatch(r"0*(?:[2-9]|[1-9]\d{1,6})", text) is not None


def _two_ranks_apart(text: str) -> bool:
    ranks = re.search(r"-np?\s*(\d+)", text)
    each = re.search(r"-N\s*(\d+)", text)
    return (ranks is None or ranks.group(1) == "2") and (each is None or each.group(1) == "1")


_ZERO_QOS = ("the message has a quality of service of its own", _one_of("0", "-1"), "0")
_OFF = _one_of("false", "0")

# Keys whose other values change the figures in ways that are not modelled:
# key -> (what other values do, whether a text is the modelled value, that value).
FIXED_KEYS: dict[str, tuple[str, Callable[[str], bool], str]] = {
    "stop_time": (
        "it ends the run early",
        lambda text: re.match(r"0+(\.0*)?\D*$", text) is not None,
        "0",
    ),
    "node.name": ("other nodes behave differently", _one_of("simple"), "simple"),
    "node.app1.launch_cmd": (
        "the benchmarks run two ranks on two nodes",
        _two_ranks_apart,
        "aprun -n 2 -N 1",
    ),
    "node.app1.mpi.use_put_window": ("messages are then put directly", _OFF, "false"),
    "node.app1.mpi.software_ack": (
        "rendezvous is then acknowledged by the NIC",
        _one_of("true", "1"),
        "true",
    ),
    "node.nic.ignore_memory": ("packets then ask the memory first", _one_of("true", "1"), "true"),
    "node.nic.qos_levels": ("ports then have several lanes", _one_of("1"), "1"),
    "node.nic.queue": ("messages are then injected in another order", _one_of("fifo"), "fifo"),
    "node.nic.rdma_get_qos": _ZERO_QOS,
    "node.nic.scatter_qos": ("packets are then spread over lanes", _OFF, "false"),
    "node.nic.injection.debug_qos": (
        "packets of that lane are then held back",
        _one_of("-1"),
        "-1",
    ),
    "node.proc.processor": (
        "copies then cost something else",
        _one_of("instruction"),
        "instruction",
    ),
    "switch.qos_levels": ("ports then have several lanes", _one_of("1"), "1"),
    "switch.link.debug_qos": ("packets of that lane are then held back", _one_of("-1"), "-1"),
    "switch.router.name": (
        "one switch needs no other routing",
        _one_of("fully_connected_minimal", "star_minimal"),
        "fully_connected_minimal",
    ),
    "topology.name": (
        "here are two nodes on one switch",
        _one_of("fully_connected", "star"),
        "fully_connected",
    ),
    "topology.geometry": ("here is one switch", _one_switch, "[1]"),
    "topology.concentration": ("two nodes share the switch", _two_or_more, "2"),
    "topology.injection_redundant": ("a node then has several links", _one_of("1"), "1"),
    "topology.redundant": ("switches then have several links", _one_switch, "[1]"),
} | {
    f"node.app1.mpi.{name}": _ZERO_QOS
    for name in (
        "default_qos",
        "eager0_qos",
        "eager1_ack_qos",
        "eager1_header_qos",
        "eager1_rdma_get_qos",
        "rendezvous_ack_qos",
        "rendezvous_header_qos",
        "rendezvous_rdma_get_qos",
    )
}

# With SNAPPR these two name a port's arbitration; PISCES has parameters of the same names.
SNAPPR_FIXED_KEYS: dict[str, tuple[str, Callable[[str], bool], str]] = {
    key: ("lanes are then weighed against each other", _one_of("fifo"), "fifo")
    for key in ("node.nic.injection.arbitrator", "switch.link.arbitrator")
}

# Keys that ask for something that is not modelled, whatever their value.
REFUSED_KEYS: dict[str, str] = {
    "node.app1.mpi.catch_up_*": "a quality of service that changes with the load",
    "node.app1.mpi.qos.*": "an analysis that gives messages a quality of service",
    "node.nic.qos_credits": "credits for each quality of service (write node.nic.credits)",
    "node.nic.injection.vl_*": "lanes with weights",
    "node.nic.injection.qos_*": "lanes with weights",
    "switch.qos_credits": "credits for each quality of service (write switch.credits)",
    "switch.vl_credits": "credits for each lane (write switch.credits)",
    "switch.link.vl_*": "lanes with weights",
    "switch.link.qos_*": "lanes with weights",
    "switch.router.names": "a router for each quality of service (write switch.router.name)",
    "switch.contention.*": "random contention",
    "switch.random_*": "random extra latency",
    "switch.logp.contention.*": "random contention",
    "switch.logp.random_*": "random extra latency",
}


def matches(key: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a dotted key is one of these keys or patterns."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def refused(key: str) -> str:
    """Return the feature a key asks for that is not modelled, or an empty text."""
    return next((what for p, what in REFUSED_KEYS.items() if fnmatchcase(key, p)), "")
