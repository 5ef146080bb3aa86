"""What all results share: JSON, tables of lists, and figures that a notebook shows."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bokeh.io import curdoc
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from IPython.core.formatters import DisplayFormatter
from numpy.typing import NDArray

import workbench
from tests.cases import for_each
from workbench import (
    datasets,
    fit as fits,
    machines,
    models,
    placement,
    programs,
    simulate,
    study,
    tolerance,
    topology,
    tune,
)
from workbench.diagnosis import Diagnosis, InstallationCheck
from workbench.fit import FitResult, fit
from workbench.fit.baseline import baseline
from workbench.jsonfile import plain
from workbench.plotting import embedding
from workbench.result import Result, StoredResult
from workbench.simulate import fabric
from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.fabric.sst_configuration import read_configuration
from workbench.tune.history import Run
from workbench.tune.runners import Function

# What goes into a calculation has file formats of its own: GOAL, GraphML and others.
INPUTS = {"Program", "ExecutionGraph", "LatencyLP", "Topology"}


def classes() -> Iterator[type]:
    """Yield every public class of the library, panels and figures left out."""
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        part = module.name.split(".")[1]
        if part in ("panels", "plotting", "cli", "__main__", "_shipped_datasets"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            own = isinstance(value, type) and value.__module__ == module.name
            if own and not name.startswith("_"):
                yield value


SST_MACHINE = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric" / "snappr.ini"
ALLGATHER = {
    "topology.name": "torus",
    "topology.geometry": "[4,4]",
    "switch.router.name": "torus_minimal",
    "node.app1.mode": "allgather",
    "node.app1.min_size": "64",
    "node.app1.max_size": "256",
    "node.app1.launch_cmd": "aprun -n 16 -N 1",
}
_TABLE = "numbers of several kinds, which a table shows"
_DERIVED = "its figure is that of a replay, a fit or a comparison of several"
NO_PLOT = {
    "Comparison": _TABLE,
    "ContentionReport": _TABLE,
    "CounterSamples": _TABLE,
    "DataSheet": _TABLE,
    "DelayedRun": _TABLE,
    "DesignComparison": _TABLE,
    "DesignPlan": _TABLE,
    "Diagnosis": "text",
    "InjectedMessages": _TABLE,
    "InjectorComparison": _TABLE,
    "Intervals": _DERIVED,
    "JobLog": _TABLE,
    "JobPlacement": _TABLE,
    "LPSolution": _DERIVED,
    "LinkRecording": _TABLE,
    "LinkTruth": _TABLE,
    "LinkSchedule": _TABLE,
    "LogGPS": _TABLE,
    "MeasuredRuns": "plot_tolerance draws them beside what is predicted",
    "MeanSizeOverhead": _TABLE,
    "Neighbourhood": _TABLE,
    "OverheadTable": _TABLE,
    "ShapleyTruth": _TABLE,
    "StallCurve": "plot_stall_check draws what it makes of links",
    "StepTable": _TABLE,
    "PaperIndex": "text",
    "Placement": "plot_placement needs the weights of the ranks",
    "Machine": _TABLE,
    "ProposedTopology": _TABLE,
    "RecordedLink": "its runs, steps and routines have figures",
    "Replicas": _TABLE,
    "RunTimeSummary": "plot_run_times draws it beside the runs",
    "Runs": _TABLE,
    "SearchComparisonResult": "plot_search_methods needs one recording, noise and stopping rule",
    "SearchComparisonTables": "plot_search_methods needs one recording, noise and stopping rule",
    "StudyPlan": _TABLE,
    "StudyStatus": _TABLE,
    "Surrogate": _TABLE,
    "TableFour": _TABLE,
    "Throughput": _TABLE,
    "TopologyMetrics": _TABLE,
    "WireSensitivity": _DERIVED,
    "World": "its runs, steps and routines have figures",
    "WorldTruth": "plot_blame_methods draws it beside what is blamed",
}
NO_FILE = {
    "DataSheet": "written by hand, read by workbench.measure.datasheet",
    "DesignPlan": "to_yaml and from_yaml",
    "PaperIndex": "the functions of workbench.papers; its verdicts are files of Findings",
    "SearchComparisonResult": "its tables, with those of other plans, as SearchComparisonTables",
    "StudyPlan": "to_yaml and from_yaml",
}


def test_every_result_is_shown_tabulated_drawn_and_saved() -> None:
    found = [c for c in classes() if issubclass(c, Result) and is_dataclass(c) and exported(c)]
    assert len(found) > 30
    lacking = {
        name: sorted(c.__name__ for c in found if not hasattr(c, name))
        for name in ("_repr_html_", "to_json", "to_frame", "plot", "save", "load")
    }
    # A model is an input with a file format of its own, the .ini.
    models_ = {c.__name__ for c in found if issubclass(c, models.NetworkModel)}
    assert all(c.__repr__ is not object.__repr__ for c in found)
    assert {name: {*lacking[name]} - models_ for name in lacking} == {
        "_repr_html_": set(),
        "to_json": set(),
        "to_frame": set(),
        "plot": {*NO_PLOT},
        "save": {*NO_FILE},
        "load": {*NO_FILE},
    }


def exported(found: type) -> bool:
    """Return whether its module or a package above it offers the class."""
    parts = found.__module__.split(".")
    packages = (importlib.import_module(".".join(parts[:end])) for end in range(1, len(parts) + 1))
    return any(found.__name__ in getattr(package, "__all__", ()) for package in packages)


def test_every_result_with_a_table_or_a_figure_becomes_json() -> None:
    able = [c for c in classes() if hasattr(c, "to_frame") or hasattr(c, "plot")]
    assert len(able) > 20
    assert [c for c in able if not issubclass(c, Result) and c.__name__ not in INPUTS] == []


def test_a_time_in_another_unit_stands_beside_that_in_seconds() -> None:
    for found in (c for c in classes() if issubclass(c, Result)):
        names = {*getattr(found, "__dataclass_fields__", ()), *dir(found)}
        methods = {name for name in names if callable(getattr(found, name, None))}
        for name in names - methods:
            stem, _, unit = name.rpartition("_")
            if unit in ("ps", "ns", "us", "ms"):
                assert f"{stem}_s" in names, f"{found.__name__}.{name}"


def test_a_plot_has_the_arguments_and_the_help_of_its_figure(results: dict[str, Any]) -> None:
    plot = results["curve"].plot
    assert list(signature(plot.__func__).parameters)[1:] == [*signature(plot).parameters]
    assert "height" in signature(plot).parameters
    assert "height of each figure" in plot.__doc__
    assert isinstance(plot(height=200), LayoutDOM)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    measured = datasets.load("azure-hb96v3-hdr")
    graph = programs.load("cg-8").graph()
    machine = machines.load("azure-hb96v3-hdr").loggps
    fitted = fit(measured, "logp", engine="least-squares", trials=20)
    return {
        "fit": fitted,
        "identifiability": fitted.identify(),
        "curve": measured,
        "model": models.SNAPPR(),
        "replay": simulate.replay(graph, machine, times=True),
        "machine": machines.load("azure-hb96v3-hdr"),
        "metrics": topology.compare([topology.parse_topology("torus:4,4")]),
        "datasets": datasets.list(),
        "programs": programs.list(),
        **_fits(fitted),
        **_sensitivities(),
        **_networks(),
        **_studies(),
        "diagnosis": Diagnosis((InstallationCheck("numba", "threads", "2", "few", "add some"),)),
    }


def _fits(fitted: FitResult) -> dict[str, Any]:
    quick: dict[str, Any] = {"engine": "least-squares", "trials": 8}
    curve = datasets.load("azure-hb96v3-hdr")
    return {
        "baseline": baseline("azure-hb96v3-hdr"),
        "bolted": fits.Bolted(fitted, fitted, 512),
        "engines": fits.compare_engines(curve, "logp", engines=["tpe", "least-squares"], trials=3),
        "held out": fits.hold_out(curve, "logp", **quick),
        "across": fits.cross_target(curve, "logp", **quick),
        "intervals": fits.intervals(fitted, draws=2),
    }


def _sensitivities() -> dict[str, Any]:
    graph = programs.load("cg-8").graph()
    machine = machines.load("azure-hb96v3-hdr").loggps
    network = topology.parse_topology("torus:4,4")
    placed = placement.place(graph, machine, network, method="round-robin")
    return {
        "tolerance": tolerance.analyse(graph, machine),
        "linear program": tolerance.LatencyLP(graph, machine).solve(),
        "pairs": tolerance.pair_sensitivity(graph, machine),
        "placement": placed,
        "wires": tolerance.wire_sensitivity(graph, machine, network, placed),
        "contention": tolerance.compare_contention(graph, machine),
    }


def _networks() -> dict[str, Any]:
    network = topology.parse_topology("torus:4,4")
    over = fabric.Fabric(network)
    jobs = {name: programs.load("cg-8") for name in ("one", "two")}
    return {
        "replay on": fabric.replay_on("cg-8", over),
        "jobs": fabric.run_jobs(jobs, over),
        "loads": fabric.load_curve(over, "uniform", [0.1], messages=100),
        "traffic": fabric.run_traffic(over, "uniform", 0.1, messages=100),
        "summary": topology.summary(network),
        "link loads": topology.link_loads(network),
        "resilience": topology.resilience(network, trials=2),
        "throughput": topology.throughput(network, "uniform"),
        "proposal": topology.propose(16)[0],
        "collective": run_collective(read_configuration(SST_MACHINE, ALLGATHER)),
    }


def _studies() -> dict[str, Any]:
    shipped = study.shipped("which-loss")
    progress = tuple(study.CellProgress(one.cell, "done", 1, 2) for one in shipped.cells[:2])
    space = tune.TuningSpace({"n": tune.Grid.of([1, 2])})
    tuned = tune.tune(space, Function(lambda c: float(c["n"])), heuristic="random", budget=2)
    return {
        "study": shipped,
        "findings": study.findings(
            study.shipped("which-loss-eager0"), study.shipped("message-regimes")
        ),
        "influence": study.influence("logp", configurations=8),
        "status": study.StudyStatus(shipped.plan, progress),
        "tuned": tuned,
    }


def test_every_result_shows_itself_as_a_table(results: dict[str, Any]) -> None:
    for name, result in results.items():
        assert "<" in result._repr_html_(), name
        assert len(result.to_frame()) > 0, name
        assert "\n" not in repr(result) or name in ("datasets", "programs", "findings"), name


def test_every_result_that_draws_itself_does(results: dict[str, Any]) -> None:
    for name, result in results.items():
        if hasattr(result, "plot"):
            assert isinstance(result.plot(), LayoutDOM), name


def test_every_saved_result_is_read_back_whole(results: dict[str, Any], tmp_path: Path) -> None:
    for name, result in results.items():
        if isinstance(result, StoredResult):
            again = type(result).load(result.save(tmp_path / f"{name}.json"))
            assert again.to_json() == result.to_json(), name
            once, twice = tmp_path / f"{name}.json", again.save(tmp_path / f"{name} again.json")
            assert once.read_text() == twice.read_text(), name
            first, second = (path.with_suffix(".npz") for path in (once, twice))
            assert first.exists() == second.exists(), name
            if first.exists():
                with np.load(first) as was, np.load(second) as now:
                    assert {key: was[key].tobytes() for key in was} == {
                        key: now[key].tobytes() for key in now
                    }, name


def test_json_holds_what_the_result_does(results: dict[str, Any], tmp_path: Path) -> None:
    for name, result in results.items():
        path = tmp_path / f"{name}.json"
        text = result.to_json(path)
        assert path.read_text() == text
        assert json.loads(text) == plain(result.to_dict()), name
    replay = json.loads(results["replay"].to_json())
    assert max(replay["finish_ns"]) == results["replay"].makespan_ns
    assert len(replay["breakdown"]["rank"]) == replay["ranks"] == 8
    curve = json.loads(results["curve"].to_json())
    assert curve["size_bytes"] == results["curve"].sizes.tolist()
    assert curve["provenance"]["origin"] == "published"
    parameters = json.loads(results["model"].to_json())["parameters"]
    assert parameters["node.nic.mtu"] == models.SNAPPR().mtu


def test_a_fit_read_back_from_its_json_is_the_fit(results: dict[str, Any], tmp_path: Path) -> None:
    results["fit"].to_json(tmp_path / "fit.json")
    assert FitResult.load(tmp_path / "fit.json") == results["fit"]


def test_a_list_of_what_ships_is_a_table() -> None:
    frame = datasets.list().to_frame()
    assert frame["name"].tolist() == [*datasets.list()]
    assert "interconnect" in frame.columns
    assert programs.list().to_frame()["name"].tolist() == [*programs.list()]


@dataclass(frozen=True)
class Kept(StoredResult):
    """A result with a nan in each kind of field."""

    number: float = field(default_factory=lambda: float("nan"))
    pair: tuple[float, ...] = field(default_factory=lambda: (1.0, float("nan")))
    by_name: Mapping[str, float] = field(default_factory=lambda: {"a": float("nan")})
    array: NDArray[np.float64] = field(default_factory=lambda: np.array([np.nan, 2.0]))


def test_a_result_with_nan_equals_the_one_that_is_read_back(tmp_path: Path) -> None:
    assert Kept() == Kept.load(Kept().save(tmp_path / "kept.json"))
    failed = [Run({"a": 1}, float("nan"), 1.0, "failed") for _ in range(2)]
    assert failed[0] == failed[1]
    for other in (Kept(0.0), Kept(pair=(1.0,)), Kept(by_name={}), Kept(array=np.zeros(2))):
        assert Kept() != other


def test_numbers_that_json_lacks_become_null() -> None:
    values = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), 3: (np.int64(2), np.bool_(1))}
    assert plain(values) == {"a": [1.0, None], "b": None, "3": [2, True]}


@for_each("kernel", [object(), None])
def test_a_figure_shows_itself_in_a_notebook_only(
    kernel: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    shell = SimpleNamespace(kernel=kernel, display_formatter=DisplayFormatter())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    def show(fig: figure) -> None:
        curdoc().add_root(fig)
        shown.append(fig)

    monkeypatch.setattr(embedding, "show", show)
    monkeypatch.setattr(embedding, "load_bokeh", lambda: shown.append("BokehJS"))
    embedding.show_by_themselves()
    fig = figure()
    shell.display_formatter.format(fig)
    assert shown == (["BokehJS", fig] if kernel is not None else [])
    assert curdoc().roots == [], "the next figure would look through this one"
