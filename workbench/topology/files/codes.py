"""The cabling of dragonflies for CODES: a configuration and two files of binary integers.

``intra-group-connections`` holds one group's links, three little-endian int32 each: the two routers
in their group and 0 along a row or 1 along a column. ``inter-group-connections`` holds two each:
routers counted through all groups. Every link is there once each way. The configuration's
``num_router_rows``, ``num_router_cols``, ``num_groups`` and ``num_cns_per_router`` (hosts of a
router) give the sizes; models ``dragonfly_custom`` and ``dragonfly_dally`` read such files. Where
it has ``local_bandwidth``, ``global_bandwidth`` and ``cn_bandwidth``, in GiB/s, links within and
between groups and hosts' links have these.
"""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.topology.files.assembly import MOST_HOSTS_OF_ROUTER, Place, whole_number
from workbench.topology.generator_checks import LARGEST
from workbench.topology.topology import TERMINAL, Topology

CLASSES = (TERMINAL, "row", "column", "blue")
"""Of hosts, along rows and columns of a group, and between groups, as those of a Cray XC."""

MODELS = ("dragonfly_custom", "dragonfly_dally")
"""CODES's models that read such files."""

_RATES = ("local_bandwidth", "global_bandwidth", "cn_bandwidth")
_GIB = 2.0**30  # B; CODES's rates are in GiB/s
_INTRA, _INTER = "intra-group-connections", "inter-group-connections"
_VALUE = re.compile(r'([\w-]{1,80})\s*=\s*(?:"([^"\n]*)"|\(([^)\n]*)\))\s*;')


def parse_configuration(text: str, source: str) -> dict[str, tuple[str, int]]:
    """Return the values of a CODES configuration, each with its line."""
    values = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for found in _VALUE.finditer(line.partition("#")[0]):
            key, value, several = found.groups()
            values[key] = (value if several is None else several, number)
    model = values.get("modelnet_order", ("", 0))[0]
    if not any(re.search(rf"\b{name}\b", model) for name in MODELS):
        raise ParseError(
            f"CODES's modelnet_order must name {' or '.join(MODELS)}, whose cabling is in files; "
            f"got {model[:80]!r}: for other networks take the family itself",
            source=source,
            line=values.get("modelnet_order", ("", 0))[1],
        )
    return values


def connection_files(values: dict[str, tuple[str, int]], source: str) -> tuple[str, str]:
    """Return the names of the files within and between groups, without their folders."""
    names = []
    for key in (_INTRA, _INTER):
        value, line = values.get(key, ("", 0))
        name = PurePosixPath(value.replace("\\", "/")).name
        if not name or "\0" in name:
            raise ParseError(f"it must have {key}, a file", source=source, line=line)
        names.append(name)
    return names[0], names[1]


def parse_codes(
    values: dict[str, tuple[str, int]],  # of the configuration
    intra: bytes,  # file of links within a group
    inter: bytes,  # file of links between groups
    source: str,  # name of the configuration, for errors
    *,
    hosts: int | None = None,  # of each router; None: as in the configuration
) -> Topology:
    """Return the dragonfly of CODES's files; coordinates are group, row and column."""
    sizes = [
        _size(values, key, source) for key in ("num_router_rows", "num_router_cols", "num_groups")
    ]
    rows, columns, groups = sizes
    if hosts is None:
        hosts = _size(values, "num_cns_per_router", source)
    of_group = rows * columns
    routers = of_group * groups
    if routers * max(hosts, 1) > LARGEST:
        raise ParseError(
            f"a topology must have at most {LARGEST} routers and hosts; got {routers} routers of "
            f"{hosts} hosts",
            source=source,
        )
    within = _links(intra, 3, of_group, _INTRA)
    between = _links(inter, 2, routers, _INTER)
    kinds = within[:, 2]
    if len(kinds) and not 0 <= kinds.min() <= kinds.max() <= 1:
        raise ParseError("links within a group must be of type 0 or 1", source=_INTRA)
    same = np.flatnonzero(between[:, 0] // of_group == between[:, 1] // of_group)
    if len(same):
        raise ParseError(
            f"links must join two groups; one joins routers {between[same[0]].tolist()} of one",
            source=_INTER,
        )
    if len(within) * groups + len(between) > LARGEST:
        raise ParseError(f"a topology must have at most {LARGEST} links", source=source)
    first = np.arange(groups)[:, None, None] * of_group
    links = np.concatenate(((within[None, :, :2] + first).reshape(-1, 2), between))
    local, globally, own = _rates(values, source)
    counts = len(links) - len(between), len(between)
    rates = np.repeat((local, globally), counts) if local else np.zeros(0)
    return Topology(
        name=f"{source}, {groups} groups of {rows}x{columns}",
        num_routers=routers,
        links=links.astype(np.int32),
        link_class=np.concatenate((np.tile(kinds + 1, groups), np.full(len(between), 3))).astype(
            np.uint8
        ),
        classes=CLASSES,
        host_router=np.repeat(np.arange(routers, dtype=np.int32), hosts),
        group=np.repeat(np.arange(groups, dtype=np.int32), of_group),
        coordinates=np.indices((groups, rows, columns), np.int32).reshape(3, -1).T,
        link_bandwidth=rates,
        host_bandwidth=np.full(routers * hosts, own) if own else np.zeros(0),
    )


def _rates(values: dict[str, tuple[str, int]], source: str) -> tuple[float, float, float]:
    """Return the bandwidths of local, global and hosts' links, B/s; 0 where they are not stated."""
    found = []
    for key in _RATES:
        value, line = values.get(key, ("0", 0))
        try:
            rate = float(value) * _GIB
        except ValueError:
            rate = math.nan
        if not (0 < rate < math.inf) and key in values:
            raise ParseError(
                f"{key} must be above 0 GiB/s; got {value[:80]!r}", source=source, line=line
            )
        found.append(rate)
    local, globally, own = found
    if bool(local) != bool(globally):
        raise ParseError(
            "it must have local_bandwidth and global_bandwidth, or neither", source=source
        )
    return local, globally, own


def _size(values: dict[str, tuple[str, int]], key: str, source: str) -> int:
    value, line = values.get(key, ("", 0))
    most = MOST_HOSTS_OF_ROUTER
    return whole_number(value.strip(), key, most, Place(source, line), 1)


def _links(content: bytes, width: int, routers: int, source: str) -> NDArray[np.int64]:
    """Return the links of a file, each once, smaller router first."""
    if len(content) % (4 * width):
        raise ParseError(
            f"it must be records of {4 * width} bytes; it has {len(content)}, which are no whole "
            "number of them",
            source=source,
        )
    rows = np.frombuffer(content, "<i4").reshape(-1, width).astype(np.int64)
    ends = rows[:, :2]
    wrong = np.flatnonzero(((ends < 0) | (ends >= routers)).any(axis=1))
    if len(wrong):
        raise ParseError(
            f"record {int(wrong[0])} must name routers 0 to {routers - 1}; got "
            f"{ends[wrong[0]].tolist()}",
            source=source,
        )
    loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(loops):
        raise ParseError(
            f"record {int(loops[0])} must join two routers; it joins router "
            f"{int(ends[loops[0], 0])} to itself",
            source=source,
        )
    backwards = ends[:, 0] > ends[:, 1]
    turned = rows.copy()
    turned[:, :2] = np.sort(ends, axis=1)
    there, back = turned[~backwards], turned[backwards]
    there, back = (part[np.lexsort(part.T[::-1])] for part in (there, back))
    if not np.array_equal(there, back):
        raise ParseError(
            f"every link must be there once each way; {len(there)} lead to routers with a larger "
            f"number and {len(back)} back, or not to the same ones",
            source=source,
        )
    return there


def to_codes(topology: Topology, name: str) -> dict[str, bytes]:
    """Return a topology as CODES's files, by their names: configuration, intra and inter.

    Args:
        topology: of equal groups of rows and columns, numbered group by group, row by row.
        name: what the files are called: ``name.conf``, ``intra-name`` and ``inter-name``.

    Raises:
        ParameterError: it has no such groups, as those of `aries` and of CODES's own files, or its
            links differ in bandwidth other than within and between groups.
    """
    at = topology.coordinates
    shape = tuple((at.max(axis=0) + 1).tolist()) if at.shape[1] == 3 else (0, 0, 0)
    groups, rows, columns = shape
    of_group = rows * columns
    hosts = np.bincount(topology.host_router, minlength=topology.num_routers)
    numbered = groups * of_group == topology.num_routers and np.array_equal(
        at, np.indices(shape).reshape(3, -1).T
    )
    if not numbered or len(set(hosts.tolist())) != 1 or topology.classes[1:4] != CLASSES[1:]:
        raise ParameterError(
            f"CODES's files hold groups of rows and columns with as many hosts at every router, "
            f"and links of the classes {', '.join(CLASSES[1:])}; {topology.name} is not one",
            key="topology",
        )
    local = topology.link_class < 3
    link_group = topology.links[:, 0] // of_group
    patterns = []
    for group in range(groups):
        chosen = local & (link_group == group)
        ends = topology.links[chosen] - group * of_group
        rows_of = np.column_stack((ends, topology.link_class[chosen] - 1))
        both = np.concatenate((rows_of, rows_of[:, [1, 0, 2]]))
        patterns.append(both[np.lexsort(both.T[::-1])])
    if any(not np.array_equal(pattern, patterns[0]) for pattern in patterns):
        raise ParameterError(
            f"CODES's files hold one cabling for all groups; those of {topology.name} differ",
            key="topology",
        )
    between = topology.links[~local]
    both = np.concatenate((between, between[:, ::-1]))
    values = {
        "num_router_rows": rows,
        "num_router_cols": columns,
        "num_groups": groups,
        "num_cns_per_router": int(hosts[0]),
        "num_global_channels": int(np.bincount(both[:, 0]).max()) if len(both) else 0,
        **_written_rates(topology, local),
        _INTRA: f"intra-{name}",
        _INTER: f"inter-{name}",
    }
    text = "\n".join(
        (
            "LPGROUPS",
            "{",
            "   MODELNET_GRP",
            "   {",
            f'      repetitions="{topology.num_routers}";',
            f'      nw-lp="{hosts[0]}";',
            f'      modelnet_dragonfly_custom="{hosts[0]}";',
            '      modelnet_dragonfly_custom_router="1";',
            "   }",
            "}",
            "PARAMS",
            "{",
            f'   modelnet_order=( "{MODELS[0]}","{MODELS[0]}_router" );',
            *(f'   {key}="{value}";' for key, value in values.items()),
            "}",
            "",
        )
    )
    return {
        f"{name}.conf": text.encode(),
        f"intra-{name}": patterns[0].astype("<i4").tobytes(),
        f"inter-{name}": both[np.lexsort(both.T[::-1])].astype("<i4").tobytes(),
    }


def _written_rates(topology: Topology, local: NDArray[np.bool_]) -> dict[str, str]:
    """Return the configuration's bandwidths, GiB/s; none where links are alike or not known."""
    if topology.relative and topology.unequal:
        raise ParameterError(
            f"CODES's files hold bandwidths in GiB/s; those of {topology.name} are multiples of a "
            "host's link: state them in B/s",
            key="bandwidth",
        )
    links = topology.link_bandwidth
    of_links = (links[local], links[~local]) if len(links) else (np.zeros(0), np.zeros(0))
    found = {}
    for key, rates in zip(_RATES, (*of_links, topology.host_bandwidth), strict=True):
        if len(set(rates.tolist())) > 1:
            raise ParameterError(
                f"CODES's files hold one {key}; {topology.name} has several: write GraphML or CSV",
                key="bandwidth",
            )
        if len(rates):
            found[key] = f"{rates[0] / _GIB:.17g}"
    return found
