"""The answers of lesson 4, found by other ways than the lesson's."""

from __future__ import annotations

import pytest

from tests.unit.teaching.test_course import draws
from workbench.teaching.course import which_network as lesson
from workbench.topology import link_loads, parse_topology, torus, traffic
from workbench.topology.metrics import bisection


def test_no_cut_of_a_torus_has_fewer_links_than_the_answer() -> None:
    for given in draws(lesson.BISECTION, 50):
        assert bisection(torus(given.sizes)).exact


def test_the_hosts_of_a_group_share_one_link() -> None:
    given = lesson.ADVERSARIAL.drawn("")
    percent = 100 / (given.a * given.p)
    # Packets begin and end outside the measured time: some of ten thousand.
    assert lesson.ADVERSARIAL.solve(given) == pytest.approx(percent, rel=0.01)


def test_mean_loads_choose_the_same_network_as_packets() -> None:
    ways = {"minimal": "minimal", "valiant": "valiant", "ugal-l": "mixed"}
    networks = {name: parse_topology(spec) for name, spec in lesson.NETWORKS.items()}
    for given in draws(lesson.WHICH, 50):
        fits = {
            name: each.num_links / each.num_hosts
            for name, each in networks.items()
            if link_loads(
                each,
                traffic(each, given.pattern),
                routing=ways[given.routing],  # type: ignore[arg-type]
            ).saturation
            >= given.percent / 100
        }
        assert min(fits, key=lambda name: fits[name]) == lesson.WHICH.solve(given)
