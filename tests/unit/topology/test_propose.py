"""Proposed networks are what their closed formulas say, near what was asked for, and comparable."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from workbench.errors import ParameterError
from workbench.topology.families import FAMILIES
from workbench.topology.family_sizes import MEMBERS
from workbench.topology.propose import ProposedTopology, matched, propose, usual_radix


def check(proposal: ProposedTopology) -> None:
    """Build a proposal and compare it with what its formulas say."""
    made = proposal.build()
    per_router = np.bincount(made.host_router, minlength=made.num_routers)
    built = made.num_hosts, made.num_routers, made.num_links, int((made.degree + per_router).max())
    said = proposal.hosts, proposal.routers, proposal.links, proposal.radix
    assert built == said, proposal.spec
    assert per_router.max() == proposal.hosts_per_router
    assert made.family == proposal.family
    assert proposal.ports == 2 * made.num_links + made.num_hosts


def test_every_family_can_be_proposed() -> None:
    assert MEMBERS.keys() == FAMILIES.keys()


@for_each("hosts, radix", [(12, 5), (64, 8), (100, 16), (500, 24), (1000, 48)])
def test_formulas_are_those_of_what_is_built(hosts: int, radix: int) -> None:
    found = propose(hosts, radix, tolerance=0.4, most=4)
    assert found
    for proposal in found:
        check(proposal)


@examples(5)
@given(st.sampled_from(sorted(MEMBERS)), st.integers(4, 600), st.integers(4, 40))
def test_any_proposal_is_what_its_formulas_say(family: str, hosts: int, radix: int) -> None:
    for proposal in propose(hosts, radix, [family], tolerance=0.9, most=2):
        check(proposal)


@given(st.integers(1, 2**22), st.integers(2, 130), st.floats(0, 0.9), st.integers(1, 4))
@examples(8)
def test_proposals_keep_to_what_was_asked_for(
    hosts: int, radix: int, tolerance: float, most: int
) -> None:
    found = propose(hosts, radix, tolerance=tolerance, most=most)
    families = [proposal.family for proposal in found]
    assert all(families.count(family) <= most for family in families)
    assert len({proposal.spec for proposal in found}) == len(found)
    for proposal in found:
        assert abs(proposal.hosts - hosts) <= tolerance * hosts + 1
        assert proposal.radix <= radix
    # Closest first, in steps of a tenth, within which a family's convention decides.
    steps = [int(abs(log(proposal.hosts / hosts)) / 0.1) for proposal in found]
    assert steps == sorted(steps)


def test_about_a_thousand_hosts() -> None:
    """Families come as they are known: full, and balanced as their papers say."""
    words = {proposal.family: proposal.spec for proposal in matched(hosts=1000)}
    assert words["fat-tree"] == "fat-tree:16"
    assert words["dragonfly"] == "dragonfly:a=8,p=4,h=4,g=33,links=none"
    assert words["torus"] == "torus:10x10x10"
    assert words["hypercube"] == "hypercube:10,hosts=1"
    assert words["slim-fly"] == "slim-fly:9,hosts=6"
    assert words["spectralfly"] == "spectralfly:11,7,hosts=6"
    # 24 ports reach no thousand hosts in one step, and a Cray XC's routers have more.
    assert not {"fully-connected", "star", "aries"} & words.keys()


def test_one_of_each_matched_on_hosts_radix_or_ports() -> None:
    families = ["torus", "fat-tree", "slim-fly", "dragonfly", "jellyfish"]
    for hosts in (100, 1024, 10000):
        found = matched(families, hosts=hosts)
        assert [proposal.family for proposal in found] == families
        assert all(0.5 <= proposal.hosts / hosts <= 2 for proposal in found)
    for radix in (16, 24, 48):
        found = matched(families, radix=radix, about=2000)
        assert [proposal.family for proposal in found] == families
        assert all(radix / 1.5 <= proposal.radix <= radix for proposal in found)
    for ports in (2000, 20000):
        found = matched(families, ports=ports)
        assert [proposal.family for proposal in found] == families
        assert all(0.5 <= proposal.ports / ports <= 2 for proposal in found)
        # Families of any size come close.
        assert abs(found[4].ports / ports - 1) <= 0.11
    for proposal in matched(radix=20, about=300) + matched(ports=1500) + matched(hosts=200):
        check(proposal)


def test_what_nothing_fits_is_left_out() -> None:
    assert matched(["fat-tree"], radix=3) == []
    assert matched(["aries"], hosts=10) == []
    assert matched(["star"], hosts=2**22) == []
    assert propose(7, 2, ["fat-tree"], tolerance=0) == []
    assert [proposal.spec for proposal in propose(16, 4, ["fat-tree"], tolerance=0)] == [
        "fat-tree:4"
    ]


@for_each("hosts, radix", [(1, 8), (16, 8), (128, 12), (1000, 24), (65536, 96)])
def test_the_usual_radix_is_half_as_much_again_as_a_fat_trees(hosts: int, radix: int) -> None:
    assert usual_radix(hosts) == radix


@for_each(
    "call, said",
    [
        (lambda: propose(0), "at least 1"),
        (lambda: propose(2**23), "at most 4194304"),
        (lambda: propose(10, 1), "at least 2"),
        (lambda: propose(10, tolerance=1.0), "tolerance"),
        (lambda: propose(10, tolerance=float("nan")), "tolerance"),
        (lambda: propose(10, most=0), "at least 1"),
        (lambda: propose(10, families=["ring"]), "got 'ring'"),
        (lambda: matched(), "got none"),
        (lambda: matched(hosts=10, radix=4), "got hosts, radix"),
        (lambda: matched(radix=1), "at least 2"),
        (lambda: matched(ports=10, limit=0), "limit"),
        (lambda: matched(["ring"], hosts=4), "got 'ring'"),
    ],
)
def test_arguments_that_are_wrong(call, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParameterError, match=said):
        call()
