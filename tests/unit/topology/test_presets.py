"""The networks of real machines: they are made, named and sourced, and unknown ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError


@for_each("name", topology.presets())
def test_every_machine_has_a_network_and_a_source(name: str) -> None:
    machine = topology.PRESETS[name]
    made = topology.preset(name)
    assert machine.name == name
    assert machine.source
    assert machine.note
    assert made.name.startswith(machine.title.split(",")[0] + " (")
    assert topology.parse_topology(name) == made


@for_each(
    "name, hosts, routers, links",
    [
        ("hopper", 6528, 3264, 3264 * 5),
        ("edison", 5760, 1440, 15 * 1440 + 105 * 24),
        ("theta", 3456, 864, 9 * 1440 + 36 * 48),
        ("cori", 13056, 3264, 34 * 1440 + 561 * 24),
        ("summit", 4608, 832, 4608 + 4608),
        ("sierra", 4320, 519, 2160 + 2160),
    ],
)
def test_the_sizes_of_the_machines(name: str, hosts: int, routers: int, links: int) -> None:
    made = topology.preset(name)
    assert (made.num_hosts, made.num_routers, made.num_links) == (hosts, routers, links)


@for_each("name, taper", [("summit", 1), ("sierra", 2)])
def test_the_fat_trees_of_36_port_switches(name: str, taper: int) -> None:
    made = topology.preset(name)
    hosts = np.bincount(made.host_router, minlength=made.num_routers)
    leaves = hosts > 0
    assert (hosts + made.degree).max() <= 36
    assert set(hosts[leaves]) == {18}
    assert set(made.degree[leaves]) == {18 // taper}


@for_each("name", ["", "frontier", "hopper "])
def test_a_machine_that_is_not_there(name: str) -> None:
    with pytest.raises(ParameterError, match="a machine must be one of hopper, edison"):
        topology.preset(name)
