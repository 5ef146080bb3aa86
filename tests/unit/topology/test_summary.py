"""A network's measures in one table, several beside one another, and which is best."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.topology.test_metrics import network
from workbench import topology
from workbench.errors import ParameterError, SimulationHalted
from workbench.tasks import Task
from workbench.topology.metrics import PARTS, Comparison, Row, TopologyMetrics, compare, summary


@pytest.fixture(scope="module")
def three() -> Comparison:
    return compare(
        [topology.fat_tree(4), topology.slim_fly(5), topology.dragonfly(4, 2, 2)],
        traffic=["uniform"],
        method="quick",
        parts=PARTS,
    )


def test_all_that_is_known_of_a_slim_fly(three: Comparison) -> None:
    found = three.metrics[1]
    rows = found.rows()
    assert (found.hosts, found.routers, found.links, found.radix) == (200, 50, 175, 11)
    assert (found.degree, found.least_degree) == (7, 7)
    assert rows["diameter"].lower == 2
    assert rows["average path"].lower == pytest.approx(2 - 7 / 49)
    assert rows["Moore efficiency"].lower == 1
    assert rows["girth"].lower == 5
    assert rows["spectral gap"].lower == pytest.approx(5)
    assert str(rows["Ramanujan"]) == "yes"
    assert str(rows["bisection"]) == "63 to 65"
    assert str(rows["bisection per host"]) == "0.63 to 0.65"
    assert rows["links per host"].lower == 0.875
    assert repr(found) == (
        "TopologyMetrics(Slim Fly, q=5, 4 hosts a router: 200 hosts, 50 routers, 175 links, "
        "diameter 2, bisection 63 to 65)"
    )
    assert ">63 to 65</td>" in found._repr_html_()
    frame = found.to_frame()
    assert frame.loc["bisection"].tolist() == [63, 65]
    assert frame.loc["diameter"].tolist() == [2, 2]


def test_json_takes_it_all(three: Comparison) -> None:
    said = json.loads(json.dumps(three.to_dict()))
    slim = said["topologies"][1]
    assert slim["bisection"] == [63, 65]
    assert slim["bisection bounds"]["spectral"] == pytest.approx(62.5)
    assert slim["bisection bounds"]["best cut"] == 65
    assert slim["diameter"] == 2
    assert slim["Ramanujan"] is True
    assert said["topologies"][0]["Ramanujan"] is None
    assert slim["links by class"] == dict(three.metrics[1].link_classes)
    assert slim["pairs of routers by links"] == [0, 350, 2100]
    assert said["best"]["diameter"] == ["Slim Fly, q=5, 4 hosts a router"]
    assert slim["throughput is exact"] == {"uniform": True}


def test_the_best_of_each_row(three: Comparison) -> None:
    assert three.best("diameter") == (1,)
    assert three.best("bisection per host") == (0,)
    # Neither many hosts nor many cycles are better or worse.
    assert three.best("hosts") == three.best("girth") == ()
    frame = three.to_frame()
    assert frame.loc["diameter", "best"] == "Slim Fly, q=5, 4 hosts a router"
    numbers = three.numbers()
    chosen = numbers[(numbers["measure"] == "diameter") & numbers["best"]]
    assert chosen["topology"].tolist() == ["Slim Fly, q=5, 4 hosts a router"]
    assert set(numbers["measure"]) == set(three.measures)
    assert "★" in three._repr_html_()


def test_the_average_path_is_between_routers_with_hosts() -> None:
    """A tree's spines are nobody's end: of 8 leaves of two hosts one is 2 links away, six are 4."""
    tree = topology.fat_tree(4)
    found = summary(tree, parts=["distances"])
    assert found.rows()["average path"].lower == pytest.approx((1 * 2 + 6 * 4) / 7)
    leaves = np.unique(tree.host_router)
    apart = tree.router_hops[np.ix_(leaves, leaves)].astype(float)
    assert found.rows()["average path"].lower == pytest.approx(apart.sum() / (8 * 7))
    assert found.distances is not None
    assert found.distances.average < found.distances.between_hosts
    with_spines = topology.parse_topology("dragonfly-plus:4,4,4,2")
    both = compare([with_spines, topology.dragonfly(4, 4, 2, 9)], parts=["distances"])
    # Its spines are near to all; messages between hosts go farther than in the dragonfly.
    assert both.best("average path") == (1,) == both.best("routers passed")


def test_bounds_that_overlap_may_all_be_best() -> None:
    class Told(TopologyMetrics):
        """Measures that are given."""

        def rows(self) -> dict[str, Row]:
            return {"throughput": Row(self.links / 10, self.routers / 10, better=1)}

    def told(low: int, high: int) -> TopologyMetrics:
        return Told("n", "custom", {}, 1, high, low, {}, 1, 1, 1)

    pairs = [(5, 7), (6, 6), (3, 5), (5, 6)]
    compared = Comparison(tuple(told(*pair) for pair in pairs))
    assert compared.best("throughput") == (0, 1, 3)
    assert compared.labels == ("n (1)", "n (2)", "n (3)", "n (4)")
    same = Comparison((told(5, 5), told(5, 5)))
    assert same.best("throughput") == ()
    assert Comparison((told(5, 5),)).best("throughput") == ()


def test_only_what_was_asked_for() -> None:
    made = topology.torus((4, 4))
    sizes = summary(made, parts=[])
    assert list(sizes.rows()) == [
        "hosts",
        "routers",
        "links",
        "radix",
        "routers per host",
        "links per host",
    ]
    assert sizes.distances is sizes.bisection is sizes.cost is None
    assert math.isnan(sizes.moore_efficiency)
    assert "diameter" not in repr(sizes)
    whole = summary(made)
    assert whole.resilience is None
    # What one does not know has an empty place beside what the other does.
    compared = compare([sizes, whole])
    assert compared.to_frame().loc["diameter"].tolist() == ["–", "4", ""]
    with pytest.raises(ParameterError, match=r"parts must be of distances, .*; got 'colour'"):
        summary(made, parts=["colour"])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="needs one topology"):
        compare([])


def test_networks_in_parts_without_hosts_or_alone_have_measures_too() -> None:
    apart = summary(network([(0, 1), (2, 3)], [1] * 4)).rows()
    assert str(apart["diameter"]) == "∞"
    assert str(apart["bisection"]) == "0"
    assert str(apart["Moore efficiency"]) == "–"
    bare = summary(network([(0, 1), (1, 2)], [0, 0, 0])).rows()
    assert str(bare["bisection"]) == "–"
    assert str(bare["cost per host"]) == "–"
    alone = summary(network([], [2]), traffic=["uniform"]).rows()
    assert str(alone["throughput, uniform"]) == "1"
    assert str(alone["routers passed"]) == "1"


@for_each("word", topology.FAMILIES)
def test_every_family_is_measured(word: str) -> None:
    made = topology.parse_topology(f"{word}:{topology.FAMILIES[word].example}")
    found = summary(made, traffic=["uniform", "longest-matching"], method="quick", starts=2)
    assert found.family == word
    for name, row in found.rows().items():
        assert row.lower <= row.highest or math.isnan(row.lower), name
        # Nothing is unknown but what has no meaning there.
        assert not math.isnan(row.lower) or name == "Ramanujan", name


def test_progress_is_reported_and_a_stop_ends_it(stopped: Task) -> None:
    told: list[tuple[int, int, str]] = []
    summary(
        topology.torus((3, 3)),
        parts=["cost", "distances"],
        traffic=["uniform"],
        task=Task(lambda now: told.append((now.done, now.total, now.message))),
    )
    assert told == [(0, 3, "distances"), (1, 3, "cost"), (2, 3, "uniform"), (3, 3, "its end")]
    with pytest.raises(SimulationHalted, match="stopped before distances"):
        summary(topology.torus((3, 3)), task=stopped)
