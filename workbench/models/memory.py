"""The cost of copying a message inside a node: the memory models and the processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.models.parameter import INT32_MAX, coerce_fields, parameter


@dataclass(frozen=True, kw_only=True)
class LogPMemory:
    """One link per node: a copy takes ``latency`` and its bytes over ``bandwidth``, in turn.

    Units: B/s and s. Raises ``ParameterError`` for a value that is not accepted.
    """

    name: ClassVar[str] = "logp"

    bandwidth: float = parameter(
        "node.memory.bandwidth",
        "20GB/s",
        kind="bandwidth",
        low=1e9,
        high=500e9,
        section="Memory and processor",
        description="Rate at which the node's memory moves the bytes of a copy.",
    )
    latency: float = parameter(
        "node.memory.latency",
        "10ns",
        kind="time",
        low=1e-9,
        high=1e-6,
        section="Memory and processor",
        description="Time the memory adds to every copy of more than 64 bytes.",
    )

    def __post_init__(self) -> None:
        coerce_fields(self)


@dataclass(frozen=True, kw_only=True)
class SnapprMemory:
    """Several channels that serve a copy in chunks, one chunk outstanding at a time.

    Units: B/s and bytes. Raises ``ParameterError`` for a value that is not accepted.
    """

    name: ClassVar[str] = "snappr"

    channel_bandwidth: float = parameter(
        "node.memory.channel_bandwidth",
        "20GB/s",
        kind="bandwidth",
        low=0.1e9,
        high=500e9,
        section="Memory and processor",
        description="Rate of one memory channel.",
    )
    num_channels: int = parameter(
        "node.memory.num_channels",
        1,
        kind="count",
        minimum=1,
        maximum=4096,
        low=1,
        high=16,
        section="Memory and processor",
        description="Number of memory channels that chunks are dealt to in turn.",
    )
    flow_mtu: int = parameter(
        "node.memory.flow_mtu",
        512,
        kind="bytes",
        absent=512,
        minimum=1,
        maximum=INT32_MAX,
        low=64,
        high=65536,
        log=True,
        section="Memory and processor",
        description="Size of the chunks a copy is split into.",
    )

    def __post_init__(self) -> None:
        coerce_fields(self)


@dataclass(frozen=True, kw_only=True)
class NullMemory:
    """No memory at all: a copy of more than ``negligible_compute_bytes`` takes no time.

    SST/macro v11.1 never finishes such a copy; it only runs where none occurs.
    """

    name: ClassVar[str] = "null"


Memory = LogPMemory | SnapprMemory | NullMemory
MEMORIES: dict[str, type[LogPMemory] | type[SnapprMemory] | type[NullMemory]] = {
    memory.name: memory for memory in (LogPMemory, SnapprMemory, NullMemory)
}


@dataclass(frozen=True, kw_only=True)
class Processor:
    """The core that runs the copy loop: a copy of n bytes is n / 8 loops of three instructions.

    Units: Hz and bytes. Raises ``ParameterError`` for a value that is not accepted.
    """

    frequency: float = parameter(
        "node.proc.frequency",
        "2.1GHz",
        kind="frequency",
        exclusive=True,
        low=0.5e9,
        high=5e9,
        section="Memory and processor",
        description="Clock rate of the core; one instruction takes one cycle.",
    )
    parallelism: float = parameter(
        "node.proc.parallelism",
        1.0,
        kind="number",
        absent=1.0,
        exclusive=True,
        low=1,
        high=16,
        section="Memory and processor",
        description="Instructions the core completes per cycle.",
    )
    negligible_compute_bytes: int = parameter(
        "node.proc.negligible_compute_bytes",
        64,
        kind="bytes",
        absent=64,
        maximum=INT32_MAX,
        low=0,
        high=4096,
        section="Memory and processor",
        description="Copies up to this size cost instructions but no memory time.",
    )
    lib_compute_access_width: int = parameter(
        "node.app1.lib_compute_access_width",
        64,
        kind="count",
        absent=64,
        minimum=8,
        maximum=INT32_MAX,
        low=8,
        high=512,
        section="Memory and processor",
        description="Bits moved by one turn of the copy loop.",
    )
    lib_compute_loop_overhead: float = parameter(
        "node.app1.lib_compute_loop_overhead",
        1.0,
        kind="number",
        absent=1.0,
        maximum=1e6,
        low=0,
        high=8,
        section="Memory and processor",
        description="Pairs of control instructions added to each turn of the copy loop.",
    )

    def __post_init__(self) -> None:
        coerce_fields(self)
