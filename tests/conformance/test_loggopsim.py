"""The replay against LogGOPSim's own figures: 33 schedules, 175 runs, to the nanosecond."""

import json
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.conformance.loggopsim.schedules import SCHEDULES
from tests.reference import loggops as reference
from workbench.errors import ProgramError
from workbench.models import LogGPS
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.simulate.replay import replay

pytestmark = pytest.mark.conformance

FIGURES = json.loads((Path(__file__).parent / "loggopsim" / "figures.json").read_text())
del FIGURES["about"]

# Schedules that do what LogGOPSim computes in a way of its own, see replay's docstring.
QUIRKS = {"multi_cpu_quirk", "zero_byte_quirk"}


def model_of(run):
    L, o, g, G, O, S = run["L, o, g, G, O, S"]  # noqa: E741 - the field's letter
    return LogGPS(L=L * 1e-9, o=o * 1e-9, g=g * 1e-9, G=G * 1e-9, O=O * 1e-9, S=S)


def stable(run):
    return run.get("finish_stable_sort", run["finish"])


def check(graph, run, finish_ns, **options):
    if not run["finish"]:
        with pytest.raises(ProgramError, match="wait for ever"):
            replay(graph, model_of(run), **options)
        return
    result = replay(graph, model_of(run), **options)
    assert result.finish_ns == finish_ns
    assert result.events == run["events"]


def test_all_runs_are_here():
    assert FIGURES.keys() == SCHEDULES.keys()
    assert len(FIGURES) == 33
    assert sum(len(runs) for runs in FIGURES.values()) == 175


@for_each("name", sorted(SCHEDULES))
def test_compatible_replay_gives_loggopsims_figures(name):
    graph = SCHEDULES[name]()
    for run in FIGURES[name]:
        check(graph, run, stable(run), compatible=True)
        check(graph, run, run["finish"], compatible=True, ties="libstdc++")


@for_each("name", sorted(SCHEDULES.keys() - QUIRKS))
def test_default_replay_gives_loggopsims_figures(name):
    graph = SCHEDULES[name]()
    for run in FIGURES[name]:
        check(graph, run, stable(run))
        check(graph, run, run["finish"], ties="libstdc++", times=True)


@for_each("name", sorted(QUIRKS))
def test_quirks_are_off_by_default(name):
    graph = SCHEDULES[name]()
    for run in FIGURES[name]:
        assert max(replay(graph, model_of(run)).finish_ns) > max(run["finish"])


def test_ties_matter_where_the_figures_say_so():
    (run,) = FIGURES["linear_bcast_64_unstable_sort"]
    assert run["finish"] != run["finish_stable_sort"]


@for_each("name", sorted(SCHEDULES))
def test_plain_reference_gives_loggopsims_figures(name):
    graph = SCHEDULES[name]()
    for run in FIGURES[name]:
        costs = PicosecondCosts.of(model_of(run))
        parameters = reference.Parameters(
            costs.L, costs.o, costs.g, costs.G.whole, costs.O.whole, costs.S
        )
        if not run["finish"]:
            with pytest.raises(reference.Stuck):
                reference.replay(graph, parameters, compatible=True)
            continue
        found = reference.replay(graph, parameters, compatible=True)
        assert [ps // 1000 for ps in found.finish_ps] == stable(run)
        assert found.events == run["events"]
