"""Files that start a program with a placement: rankfile and hostfile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError

HOST_NAMES = "host{}"
"""The default pattern of host names; the host's number goes into the braces."""


def host_names(names: str | Sequence[str], count: int) -> list[str]:
    """Return the name of each host.

    Args:
        names: one for each host, in the order of the network's hosts; or a text, which lists them
            with spaces, commas or lines between, or is a pattern with braces for the number, such
            as ``nid{:05d}``.
        count: hosts of the network.

    Raises:
        ParameterError: there are fewer names than hosts, one stands twice or has a space in it, or
            the pattern is none.
    """
    if isinstance(names, str) and "{" in names:
        try:
            listed = [names.format(host) for host in range(count)]
        except (ValueError, IndexError, KeyError) as error:
            raise ParameterError(
                "a pattern of host names must have one pair of braces for the host's number, such "
                f"as nid{{:05d}}; got {names!r}: {error}",
                key="names",
            ) from None
    else:
        listed = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    if len(listed) < count:
        raise ParameterError(
            f"there must be a name for each of the network's {count} hosts; got {len(listed)}: "
            "add names, or take a pattern such as nid{:05d}",
            key="names",
        )
    listed = listed[:count]
    odd = next((name for name in listed if not name or name.split() != [name]), None)
    if odd is not None:
        raise ParameterError(f"a host's name must have no spaces; got {odd!r}", key="names")
    if len(set(listed)) < count:
        twice = next(name for name in listed if listed.count(name) > 1)
        raise ParameterError(
            f"each host must have its own name; {twice!r} occurs twice", key="names"
        )
    return listed


def rankfile(hosts: NDArray[np.int64], names: Sequence[str]) -> str:
    """Return Open MPI's rankfile (``mpirun --rankfile FILE``) for hosts, int64[ranks].

    Ranks of one host take its slots, which Open MPI reads as cores, from 0 in their order.
    """
    taken: dict[int, int] = {}
    lines = []
    for rank, host in enumerate(hosts.tolist()):
        slot = taken.get(host, 0)
        taken[host] = slot + 1
        lines.append(f"rank {rank}={names[host]} slot={slot}\n")
    return "".join(lines)


def hostfile(hosts: NDArray[np.int64], names: Sequence[str]) -> str:
    """Return a line with the name of the host for each rank, for hosts, int64[ranks].

    MPICH takes it by ``mpiexec -f FILE``, Slurm by ``SLURM_HOSTFILE=FILE srun
    --distribution=arbitrary``.
    """
    return "".join(f"{names[host]}\n" for host in hosts.tolist())
