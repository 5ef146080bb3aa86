"""Placements: every rank has a host, no host two jobs, and each word keeps what it says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.simulate.fabric import PLACEMENTS, place_jobs
from workbench.simulate.fabric.hosts import checked_hosts

DRAGONFLY = topology.dragonfly(a=4, p=2, h=2)


@for_each("placement", PLACEMENTS)
def test_jobs_do_not_share_hosts(placement) -> None:
    jobs = place_jobs(DRAGONFLY, [9, 20, 1], placement, ranks_per_host=2, rng=1)
    assert [len(job) for job in jobs] == [9, 20, 1]
    used = [set(job.tolist()) for job in jobs]
    assert [len(hosts) for hosts in used] == [5, 10, 1]
    assert len(set().union(*used)) == 16


def test_block_takes_hosts_as_they_are_numbered() -> None:
    one, other = place_jobs(DRAGONFLY, [3, 2])
    assert one.tolist() == [0, 1, 2]
    assert other.tolist() == [3, 4]


def test_round_robin_takes_one_of_each_router_in_turn() -> None:
    (hosts,) = place_jobs(DRAGONFLY, [72], "round-robin")
    assert hosts[:36].tolist() == list(range(0, 72, 2))
    assert hosts[36:].tolist() == list(range(1, 72, 2))


def test_random_follows_the_generator() -> None:
    (one,) = place_jobs(DRAGONFLY, [72], "random", rng=4)
    (same,) = place_jobs(DRAGONFLY, [72], "random", rng=np.random.default_rng(4))
    (other,) = place_jobs(DRAGONFLY, [72], "random", rng=5)
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert sorted(one) == list(range(72))


def test_by_group_gives_each_job_groups_of_its_own() -> None:
    jobs = place_jobs(DRAGONFLY, [9, 8, 3], "by-group")
    groups = [set(DRAGONFLY.group[DRAGONFLY.host_router[job]].tolist()) for job in jobs]
    assert groups == [{0, 1}, {2}, {3}]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="need 73 hosts"):
        place_jobs(DRAGONFLY, [70, 3])
    with pytest.raises(ParameterError, match="which end at job 1"):
        place_jobs(DRAGONFLY, [65, 1], "by-group")
    with pytest.raises(ParameterError, match="in groups"):
        place_jobs(topology.parse_topology("torus:4,4"), [2], "by-group")
    with pytest.raises(ParameterError, match="one of block"):
        place_jobs(DRAGONFLY, [2], "scatter")
    with pytest.raises(ParameterError, match="ranks_per_host"):
        place_jobs(DRAGONFLY, [2], ranks_per_host=0)


def test_a_host_may_take_more_ranks_than_there_are() -> None:
    assert [job.tolist() for job in place_jobs(DRAGONFLY, [2, 1], ranks_per_host=10**30)] == [
        [0, 0],
        [1],
    ]


def test_given_hosts_are_checked() -> None:
    assert checked_hosts(DRAGONFLY, [5, 5, 0], 3).tolist() == [5, 5, 0]
    with pytest.raises(ParameterError, match="for each of 2 ranks; got 3"):
        checked_hosts(DRAGONFLY, [5, 5, 0], 2)
    with pytest.raises(ParameterError, match="hosts must be"):
        checked_hosts(DRAGONFLY, [72], 1)
