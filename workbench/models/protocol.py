"""A model with the MPI protocols: short, eager and rendezvous messages have their own costs.

SST/macro's models let the wire decide what a message costs and leave the library's own work to a
few constants; measured curves show the library first. Here each regime has its own latency, host
time and copy cost, and the wire is one latency and one rate, as in LogGPS (Ino et al., LogGPS: A
Parallel Computational Model for Synchronization Analysis, 2001) with the parameters of each regime
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from workbench.models.base import NetworkModel, refuse
from workbench.models.ini_write import write_own_ini
from workbench.models.logp import LogP
from workbench.models.memory import LogPMemory, Processor
from workbench.models.mpi import MPIProtocol
from workbench.models.parameter import INT32_MAX, parameter
from workbench.units import format_quantity

ProtocolRegime = Literal["short", "eager", "rendezvous", "middle"]
REGIMES: tuple[ProtocolRegime, ...] = get_args(ProtocolRegime)


def _size(key: str, default: str, description: str) -> Any:
    return parameter(
        key,
        default,
        kind="bytes",
        maximum=INT32_MAX,
        low=1,
        high=4194304,
        log=True,
        threshold=True,
        section="Thresholds",
        description=description,
    )


def _time(key: str, default: str, low: float, high: float, description: str) -> Any:
    return parameter(
        key,
        default,
        kind="time",
        low=low,
        high=high,
        section=key.partition(".")[0].capitalize(),
        description=description,
    )


def _rate(key: str, default: str, low: float, high: float, description: str) -> Any:
    return parameter(
        key,
        default,
        kind="bandwidth",
        low=low,
        high=high,
        section=key.partition(".")[0].capitalize(),
        description=description,
    )


_COPY = "Rate at which each host handles the bytes of {} message; 1000 GB/s is practically free."
_HOST = "Time each host spends on {} message, whatever its size; the next one waits for it."


@dataclass(frozen=True, kw_only=True, repr=False)
class Protocol(NetworkModel):
    """Two hosts, their NICs and one wire; sizes in bytes, times in s, rates in B/s.

    A message of ``s`` bytes up to ``eager_max`` occupies the sending host for ``overhead +
    s / copy_bandwidth``, then its NIC for ``s / bandwidth``, is under way for ``latency``, and
    occupies the receiving host as the sending one: five stages, each of which handles one message
    at a time in order. Above ``eager_max`` the sender announces it (rendezvous): after its host
    time the header, then the receiver's host time, then the request for the data take
    ``handshake`` together, and the NIC answers the request by itself with the data. Headers,
    requests and acknowledgements occupy no NIC. A message that arrives before its receive is posted
    is put aside by the host, which costs as much again unless it is a header. Messages up to
    ``short_max`` have a latency and host costs of their own.

    The latency of one message is therefore ``latency + 2 (overhead + s / copy_bandwidth) +
    s / bandwidth``, plus ``handshake`` for rendezvous, and a window of messages passes at the pace
    of its slowest stage.

    Where ``middle_limit`` is not 0 there is a fourth regime between it and ``eager_max``, on
    whichever side of ``eager_max`` it lies: below, a library sends the larger eager messages in
    another way (from the user's buffer, say), above, the smaller rendezvous. Middle messages have
    a latency, host costs and a wire rate of their own.

    The defaults are round figures of an InfiniBand machine.

    Raises:
        ParameterError: a value is not accepted.
    """

    name: ClassVar[str] = "protocol"

    short_max: int = _size(
        "short.max_size", "256B", "Largest message that is sent short, with the NIC's command."
    )
    eager_max: int = _size(
        "eager.max_size", "16384B", "Largest message that is sent before the receiver asks for it."
    )
    middle_limit: int = _size(
        "middle.limit",
        "0B",
        "Messages between this size and the largest eager one, on whichever side, are middle ones "
        "with costs of their own; 0: there are none, and what is said of them has no effect.",
    )
    short_latency: float = _time(
        "short.latency", "1.2us", 1e-7, 1e-3, "Time a short message is under way."
    )
    short_overhead: float = _time("short.overhead", "200ns", 1e-9, 1e-4, _HOST.format("a short"))
    short_copy_bandwidth: float = _rate(
        "short.copy_bandwidth", "5GB/s", 1e7, 1e12, _COPY.format("a short")
    )
    eager_latency: float = _time(
        "eager.latency",
        "1.7us",
        1e-7,
        1e-3,
        "Time an eager message, or the data of a rendezvous, is under way.",
    )
    eager_overhead: float = _time("eager.overhead", "200ns", 1e-9, 1e-4, _HOST.format("an eager"))
    eager_copy_bandwidth: float = _rate(
        "eager.copy_bandwidth", "20GB/s", 1e7, 1e12, _COPY.format("an eager")
    )
    eager_bandwidth: float = _rate(
        "eager.bandwidth", "20GB/s", 1e8, 1e12, "Rate of the wire for short and eager messages."
    )
    rendezvous_handshake: float = _time(
        "rendezvous.handshake",
        "3us",
        1e-9,
        1e-3,
        "Time the header and the request for the data are under way, together.",
    )
    rendezvous_overhead: float = _time(
        "rendezvous.overhead",
        "500ns",
        1e-9,
        1e-4,
        "Time each host spends on a rendezvous message: matching, and pinning its buffer.",
    )
    rendezvous_copy_bandwidth: float = _rate(
        "rendezvous.copy_bandwidth", "200GB/s", 1e7, 1e12, _COPY.format("a rendezvous")
    )
    rendezvous_bandwidth: float = _rate(
        "rendezvous.bandwidth", "25GB/s", 1e8, 1e12, "Rate of the wire for rendezvous messages."
    )
    middle_latency: float = _time(
        "middle.latency", "1.7us", 1e-7, 1e-3, "Time the data of a middle message is under way."
    )
    middle_overhead: float = _time("middle.overhead", "500ns", 1e-9, 1e-4, _HOST.format("a middle"))
    middle_copy_bandwidth: float = _rate(
        "middle.copy_bandwidth", "200GB/s", 1e7, 1e12, _COPY.format("a middle")
    )
    middle_bandwidth: float = _rate(
        "middle.bandwidth", "25GB/s", 1e8, 1e12, "Rate of the wire for middle messages."
    )

    def regime_of(self, size_bytes: float) -> ProtocolRegime:
        """Return the regime of a message of this size.

        Args:
            size_bytes: of the message.
        """
        if size_bytes <= self.short_max:
            return "short"
        ends = sorted((self.middle_limit, self.eager_max))
        if self.middle_limit and ends[0] < size_bytes <= ends[1]:
            return "middle"
        return "eager" if size_bytes <= self.eager_max else "rendezvous"

    def to_ini(self) -> str:
        """Return an .ini for ``read_ini`` only; SST/macro does not have this model."""
        return write_own_ini(self)

    def to_sstmacro(self) -> LogP:
        """Return the nearest model that SST/macro can run; what it lacks is dropped.

        SST/macro's LogP has one latency, one rate and no host time that depends on the regime. It
        gets the eager regime's latency and overheads, the rendezvous regime's wire rate, pinning
        and copies at the eager rate, and the eager threshold for EAGER0; short messages cost what
        eager ones do, middle ones what their neighbours do. Simulate it to see how much that loses.
        """
        return LogP(
            mpi=MPIProtocol(
                max_vshort_msg_size=self.eager_max,
                max_eager_msg_size=self.eager_max,
                post_header_delay=self.eager_overhead,
                rdma_pin_latency=self.rendezvous_overhead,
            ),
            memory=LogPMemory(bandwidth=self.eager_copy_bandwidth, latency=0.0),
            processor=Processor(frequency=1e12),
            negligible_size=0,
            injection_bandwidth=self.rendezvous_bandwidth,
            injection_latency=0.0,
            bandwidth=self.rendezvous_bandwidth,
            out_in_latency=self.eager_latency,
            hop_latency=0.0,
        )

    def _check_together(self, largest_message: int | None) -> None:
        if self.short_max > self.eager_max:
            refuse(
                "short messages must not be larger than eager ones: "
                f"{self._label('short.max_size')} {self.short_max} B > "
                f"{self._label('eager.max_size')} {self.eager_max} B; "
                "lower short.max_size or raise eager.max_size",
                rule="short.max_size <= eager.max_size",
                keys=("short.max_size", "eager.max_size"),
            )

    def _headline(self) -> str:
        return (
            f"short up to {format_quantity(self.short_max, 'bytes')} "
            f"{format_quantity(self.short_latency, 'time')}, "
            f"eager up to {format_quantity(self.eager_max, 'bytes')} "
            f"{format_quantity(self.eager_latency, 'time')} "
            f"{format_quantity(self.eager_bandwidth, 'bandwidth')}, "
            f"rendezvous {format_quantity(self.rendezvous_handshake, 'time')} "
            f"{format_quantity(self.rendezvous_bandwidth, 'bandwidth')}"
            f"{self._middle()}"
        )

    def _middle(self) -> str:
        if not self.middle_limit:
            return ""
        low, high = sorted((self.middle_limit, self.eager_max))
        return (
            f", middle {format_quantity(low, 'bytes')} to {format_quantity(high, 'bytes')} "
            f"{format_quantity(self.middle_latency, 'time')} "
            f"{format_quantity(self.middle_bandwidth, 'bandwidth')}"
        )
