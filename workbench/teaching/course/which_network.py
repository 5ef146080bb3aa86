"""Lesson 4, which network: diameter, bisection, cost in links; traffic, minimal routes, detours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.simulate.fabric import Fabric, FabricResult, run_traffic
from workbench.teaching.answers import Amount, OneOf, WholeNumber
from workbench.teaching.exercise import Exercise, Given, Mistake
from workbench.teaching.lesson import Lesson, LessonPart
from workbench.teaching.mistakes import reciprocal, share_for_percent
from workbench.teaching.student import ParameterDraw
from workbench.topology import Topology, dragonfly, parse_topology, torus
from workbench.topology.metrics import bisection

NETWORKS = {
    "torus": "torus:4x4x4",
    "fat tree": "fat-tree:6",
    "dragonfly": "dragonfly:a=4,p=2,h=2",
    "Slim Fly": "slim-fly:4,hosts=2",
}
"""Four networks of 54 to 72 hosts, whose packets are simulated in no time."""

_ALONE = 0.05  # of the hosts' bandwidth: packets hardly meet


def _torus_of(*sizes: tuple[int, ...]) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        chosen = draw.one_of(sizes)
        return {"sizes": chosen, "written": " × ".join(map(str, chosen))}

    return given


DIAMETER = Exercise(
    number="4.1",
    question="What is the diameter of a torus of {written} routers?",
    kind=WholeNumber("links"),
    given=_torus_of((8, 8, 4), (6, 6, 6), (10, 10), (12, 6)),
    answer=lambda given: torus(given.sizes).diameter,
    look_again="Take one dimension: how far apart can two routers of a ring be? A way goes through "
    "one dimension after the other.",
    because="In a ring one goes the shorter way round, so half of it is the farthest, and the "
    "dimensions add up.",
    mistakes=(
        Mistake(
            "no way round",
            "That is a mesh. In a torus the ends of each dimension are joined.",
            lambda right, given: [sum(given.sizes) - len(given.sizes)],
        ),
        Mistake(
            "whole rings",
            "That goes round each whole ring. Would you walk past the half of it?",
            lambda right, given: [sum(given.sizes)],
        ),
        Mistake(
            "one dimension",
            "That is the farthest in one dimension. There are others to cross.",
            lambda right, given: [max(given.sizes) // 2],
        ),
        Mistake(
            "routers",
            "You counted the routers on the way, with both ends. Count the links between them.",
            lambda right, given: [right + 1],
        ),
    ),
)


def _cut_links(given: Given) -> int:
    return round(bisection(torus(given.sizes)).upper)


def _routers(given: Given) -> int:
    return torus(given.sizes).num_routers


BISECTION = Exercise(
    number="4.2",
    question="How many links join the two halves of a torus of {written} routers, cut where they "
    "are fewest?",
    kind=WholeNumber("links"),
    given=_torus_of((8, 4), (12, 6), (6, 6, 6), (10, 10)),
    answer=_cut_links,
    look_again="Cut across the longest dimension. How many rings do you cut, and how many times "
    "each?",
    because="Each ring across the cut is cut twice, and there are as many rings as routers in the "
    "other dimensions together.",
    mistakes=(
        Mistake(
            "each ring once",
            "Halves of a ring are joined in two places.",
            lambda right, given: [right // 2],
        ),
        Mistake(
            "the other dimension",
            "You cut lengthwise. Is there a direction that cuts fewer?",
            lambda right, given: (
                [2 * _routers(given) // min(given.sizes)] if len(set(given.sizes)) > 1 else []
            ),
        ),
        Mistake(
            "all links",
            "Those are all links of the network. Which of them lead from one half to the other?",
            lambda right, given: [torus(given.sizes).num_links],
        ),
    ),
)


def _dragonfly_of(*parameters: tuple[int, int, int]) -> Any:
    def given(draw: ParameterDraw) -> Mapping[str, Any]:
        return dict(zip("aph", draw.one_of(parameters), strict=True))

    return given


HOSTS = Exercise(
    number="4.3",
    question="The largest dragonfly with {a} routers in a group, {p} hosts and {h} global links at "
    "each router: how many hosts has it?",
    kind=WholeNumber("hosts"),
    given=_dragonfly_of((8, 4, 4), (6, 3, 3), (6, 3, 2), (8, 4, 3), (10, 5, 5)),
    answer=lambda given: dragonfly(given.a, given.p, given.h).num_hosts,
    look_again="How many global links has a group, all its routers together? Each leads to another "
    "group. Then count the hosts of all groups.",
    because="A group reaches as many others as it has global links, and is one itself. From small "
    "routers grows a large machine: that is what dragonflies are for.",
    mistakes=(
        Mistake(
            "without the own group",
            "You counted the groups that one group reaches. Which is missing?",
            lambda right, given: [given.a * given.p * given.a * given.h],
        ),
        Mistake(
            "one group",
            "Those are the hosts of one group.",
            lambda right, given: [given.a * given.p],
        ),
        Mistake(
            "routers",
            "Those are routers. How many hosts has each?",
            lambda right, given: [given.a * (given.a * given.h + 1)],
        ),
        Mistake(
            "links of one router",
            "All routers of a group have global links, not one only.",
            lambda right, given: [given.a * given.p * (given.h + 1)],
        ),
    ),
)


@cache
def _network(spec: str) -> Topology:
    return parse_topology(spec)


@cache
def _traffic(spec: str, routing: str, pattern: str, load: float) -> FabricResult:
    return run_traffic(Fabric(_network(spec), routing=routing), pattern, load)


def _accepted_percent(given: Given) -> float:
    spec = f"dragonfly:a={given.a},p={given.p},h={given.h}"
    return 100 * _traffic(spec, "minimal", "adversarial", 1.0).accepted


ADVERSARIAL = Exercise(
    number="4.4",
    question="In a dragonfly with {a} routers in a group, {p} hosts and {h} global links at each "
    "router, all hosts of a group send to the next group, by minimal routes. At which percentage "
    "of their bandwidth can they send?",
    kind=Amount("%", "packets are drawn at random, so that a simulation is off by 1 %", 0.02),
    given=_dragonfly_of((4, 2, 2), (4, 3, 2), (6, 3, 3), (6, 3, 2), (3, 2, 2)),
    answer=_accepted_percent,
    look_again="Between two groups is one link, as fast as a host's. Which hosts have to share it?",
    because="All hosts of a group share the one link to the next group. The other global links are "
    "idle, and no minimal route takes them.",
    mistakes=(
        share_for_percent(),
        Mistake(
            "all links of the group",
            "The group has more global links, but where do they lead?",
            lambda right, given: [100 * given.h / given.p],
        ),
        Mistake(
            "the hosts of one router",
            "The link is at one router, but more than its own hosts send through it.",
            lambda right, given: [100 / given.p],
        ),
        Mistake(
            "the links of one router",
            "A router has several global links. How many of them lead to the next group?",
            lambda right, given: [100 * given.h / (given.a * given.p)],
        ),
        Mistake(
            "hosts",
            "That is how many hosts share the link. What is each one's part of it, in percent?",
            lambda right, given: [given.a * given.p],
        ),
        Mistake(
            "groups",
            "You divided by the number of groups. To how many of them does one group send here?",
            lambda right, given: [100 / (given.a * given.h + 1)],
        ),
    ),
)


def _alone(given: Given, routing: str) -> FabricResult:
    return _traffic(given.spec, routing, "uniform", _ALONE)


def _network_of(draw: ParameterDraw) -> Mapping[str, Any]:
    name = draw.one_of(("dragonfly", "torus", "Slim Fly", "fat tree"))
    return {"network": name, "spec": NETWORKS[name], "load": _ALONE}


DETOUR = Exercise(
    number="4.5",
    question="Uniform traffic at a load of {load} on the {network} `{spec}`: how many times as "
    "many links does a message cross with Valiant as with minimal routes, on average?",
    kind=Amount("", "destinations are drawn at random: a few percent", relative=0.05),
    given=_network_of,
    answer=lambda given: _alone(given, "valiant").mean_hops / _alone(given, "minimal").mean_hops,
    look_again='Run the traffic twice, with `routing="valiant"` and `routing="minimal"`, and '
    "compare `mean_hops`.",
    because="There are two ways instead of one, each to a random router. That is the price of "
    "Valiant: what needs no detour fills more links, and the network carries less.",
    mistakes=(
        reciprocal("Which of the two is the longer way? It is asked in terms of the shorter one."),
        Mistake(
            "more links",
            "That is how many links more. How many times as many is that?",
            lambda right, given: [
                _alone(given, "valiant").mean_hops - _alone(given, "minimal").mean_hops
            ],
        ),
        Mistake(
            "latency",
            "You compared latencies, which have the hosts' links in them. Compare the links that "
            "lie between routers.",
            lambda right, given: [
                _alone(given, "valiant").mean_latency_s / _alone(given, "minimal").mean_latency_s
            ],
        ),
        Mistake(
            "not compared",
            "That is how many links it crosses with Valiant. Compare it with the minimal routes.",
            lambda right, given: [_alone(given, "valiant").mean_hops],
        ),
    ),
)


def _case(draw: ParameterDraw) -> Mapping[str, Any]:
    pattern, routing, percent = draw.one_of(
        (
            ("longest-matching", "ugal-l", 65),
            ("longest-matching", "ugal-l", 85),
            ("longest-matching", "minimal", 40),
            ("uniform", "minimal", 80),
            ("uniform", "valiant", 65),
            ("longest-matching", "ugal-l", 40),
        )
    )
    return {"pattern": pattern, "routing": routing, "percent": percent}


def _links_per_host(name: str) -> float:
    return _network(NETWORKS[name]).num_links / _network(NETWORKS[name]).num_hosts


def _fits(name: str, given: Given) -> bool:
    load = given.percent / 100
    return not _traffic(NETWORKS[name], given.routing, given.pattern, load).saturated


def _cheapest(given: Given) -> str:
    return min((name for name in NETWORKS if _fits(name, given)), key=_links_per_host)


WHICH = Exercise(
    number="4.6",
    question="Each host must be able to send {percent} % of its bandwidth under {pattern} traffic "
    "with the routing `{routing}`. Which of the four networks does so with the fewest links "
    "a host?",
    kind=OneOf(tuple(NETWORKS)),
    given=_case,
    answer=_cheapest,
    look_again="For each network run the traffic at the load that is asked, and see whether it is "
    "`saturated`. Of those that are not, take the one with the fewest links a host.",
    because="First what the traffic needs, then the price: what carries still more is paid for "
    "and not used.",
    mistakes=(
        Mistake(
            "does not carry it",
            "That one is saturated at the load that is asked.",
            lambda right, given: [name for name in NETWORKS if not _fits(name, given)],
        ),
        Mistake(
            "not the cheapest",
            "That one carries the load. Is there another one that does, with fewer links?",
            lambda right, given: [
                name for name in NETWORKS if name != right and _fits(name, given)
            ],
        ),
    ),
)


LESSON = Lesson(
    number=4,
    title="Which network",
    question="Which network is best for a machine and its traffic?",
    objectives=(
        "find the diameter and the bisection of a network",
        "compare families of networks by what they cost in links",
        "predict where traffic meets a bottleneck, and what a detour gains and costs",
        "choose a network for given traffic",
    ),
    prerequisites=("lesson 1", "latency and bandwidth"),
    parts=(
        LessonPart("Far apart, and cut in two", 13, ("4.1", "4.2")),
        LessonPart("Four families", 12, ("4.3",)),
        LessonPart("Traffic and routes", 17, ("4.4", "4.5")),
        LessonPart("Choose", 10, ("4.6",)),
        LessonPart("What to remember", 3),
    ),
    exercises=(DIAMETER, BISECTION, HOSTS, ADVERSARIAL, DETOUR, WHICH),
)
