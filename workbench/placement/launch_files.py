"""Files that start a program with a placement, rankfile and hostfile, and the hosts of a job."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.host_lists import expand_hosts
from workbench.text_table import CUT
from workbench.topology import Topology

HOST_NAMES = "host{}"
"""The default pattern of host names, where the network's file names none; the host's number goes
into the braces."""

_RANK = re.compile(r"rank\s+(\d+)\s*=\s*(\S+)")
_NUMBERED = re.compile(r"(.*?)(\d+)")


def host_names(names: str | Sequence[str], count: int) -> list[str]:
    """Return the name of each host.

    Args:
        names: one for each host, in the order of the network's hosts; or a text, which lists them
            with spaces, commas or lines between, as Slurm does, ``rack[1-2]n[01-16]``, or is a
            pattern with braces for the number, such as ``nid{:05d}``.
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
        listed = _listed(names) if isinstance(names, str) else list(names)
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


def names_of(topology: Topology, names: str | Sequence[str]) -> str | Sequence[str]:
    """Return the names of hosts that are given, or those of the network's file for the default."""
    own = topology.host_names
    if names == HOST_NAMES and own and all(name.split() == [name] for name in own):
        return own
    return names


def job_hosts(text: str, topology: Topology, names: str | Sequence[str] = HOST_NAMES) -> list[int]:
    """Return the numbers of the hosts that a job got, each once, in their order.

    Without ``names`` hosts have the names in the network's file, and where it has none a host's
    name ends in its number, from 0, as ``cn5`` or ``host5``.

    Args:
        text: a list of names as Slurm prints it (``SLURM_JOB_NODELIST``), such as
            ``cn[1,3,5-9]``; the text of a rankfile of Open MPI or of a hostfile of Open MPI or
            MPICH; or a number, which takes the first hosts.
        topology: the network.
        names: of all its hosts, as ``host_names`` takes them.

    Raises:
        ParameterError: a name is none of the network's, or its number is not clear.
    """
    count = topology.num_hosts
    names = names_of(topology, names)
    if re.fullmatch(r"\s*-?\d+\s*", text):
        if not 1 <= int(text) <= count:
            raise ParameterError(
                f"hosts must be 1 to {count}, the hosts of {topology.name}; got {text.strip()}",
                key="hosts",
            )
        return list(range(int(text)))
    lines = _whole_lines(text)
    ranks = [found for line in lines if (found := _RANK.match(line))]
    if ranks:
        if wrong := [line for line in lines if line and not _RANK.match(line)]:
            raise ParameterError(
                f"each line of a rankfile must be as rank 0=cn5; got {wrong[0][:80]!r}", key="hosts"
            )
        given = [found[2].removeprefix("+") for found in sorted(ranks, key=lambda r: int(r[1]))]
    else:
        # What follows a name in a hostfile, slots=4 or :4, is how many ranks it takes.
        words = (line.split()[0] if "=" in line else line for line in lines if line)
        given = [re.sub(r":\d+$", "", name) for word in words for name in _listed(word)]
    if not given:
        raise ParameterError("hosts must name at least one host; got none", key="hosts")
    given = list(dict.fromkeys(given))
    if names != HOST_NAMES:
        number = {name: host for host, name in enumerate(host_names(names, count))}
        odd = next((name for name in given if name not in number), None)
        if odd is not None:
            raise ParameterError(
                f"hosts must be among the names of the network's hosts; got {odd!r}", key="hosts"
            )
        return [number[name] for name in given]
    parts = [_NUMBERED.fullmatch(name) for name in given]
    heads = {part[1] for part in parts if part}
    if None in parts or len(heads) != 1:
        raise ParameterError(
            f"hosts must end in their numbers behind the same letters, as cn5; got {given[0]!r} "
            f"and {given[-1]!r}: give the names of all hosts of the network in order, such as "
            "rack[1-2]n[01-16]",
            key="hosts",
        )
    hosts = [int(part[2]) for part in parts if part]
    if max(hosts) >= count:
        raise ParameterError(
            f"hosts must be numbered 0 to {count - 1}, as those of {topology.name}; got "
            f"{given[hosts.index(max(hosts))]!r}: take a larger network, or give the names of all "
            "its hosts in order",
            key="hosts",
        )
    return hosts


def _whole_lines(text: str) -> list[str]:
    """Return the lines without comments, less a last one that the text ends within.

    No line end follows it, and it has fewer words or signs than each line above it.
    """
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    filled = [(len(line.split()), line.count("="), line.count(":")) for line in lines if line]
    if len(filled) > 1 and lines[-1] and not text.endswith(("\n", "\r")):
        least = np.min(filled[:-1], axis=0)
        no_rank = any(map(_RANK.match, lines)) and not _RANK.match(lines[-1])
        if no_rank or (filled[-1] < least).any():
            warnings.warn(f"line {len(lines)}: {CUT}: {lines.pop()[:80]!r}", stacklevel=3)
    return lines


def _listed(text: str) -> list[str]:
    """Return the names in a text, with spaces, commas or lines between."""
    return [name for word in text.split() for name in expand_hosts(word.strip(","))]


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
