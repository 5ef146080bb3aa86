"""What all results share: JSON, tables of lists, and figures that a notebook shows."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from IPython.core.formatters import DisplayFormatter

import workbench
from workbench import datasets, models, plotting, programs, simulate, topology
from workbench.fit import FitResult, fit
from workbench.jsonfile import plain
from workbench.plotting import notebook
from workbench.result import Drawing, Result

# What goes into a calculation has file formats of its own: GOAL, GraphML and others.
INPUTS = {"Program", "ExecutionGraph", "Topology"}


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


def test_every_drawing_is_a_figure_of_plotting() -> None:
    drawings = {c: vars(c)["plot"] for c in classes() if isinstance(vars(c).get("plot"), Drawing)}
    assert len(drawings) > 12
    for drawing in drawings.values():
        assert drawing.function in plotting.__all__


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
    machine = models.profile("azure-hb96v3-hdr").loggps
    fitted = fit(measured, "logp", engine="least-squares", trials=20)
    return {
        "fit": fitted,
        "told": fitted.identify(),
        "curve": measured,
        "model": models.SNAPPR(),
        "replay": simulate.replay(graph, machine, times=True),
        "profile": models.profile("azure-hb96v3-hdr"),
        "metrics": topology.compare([topology.parse_topology("torus:4,4")]),
        "datasets": datasets.list(),
        "programs": programs.list(),
    }


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


def test_numbers_that_json_lacks_become_null() -> None:
    values = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), 3: (np.int64(2), np.bool_(1))}
    assert plain(values) == {"a": [1.0, None], "b": None, "3": [2, True]}


@pytest.mark.parametrize("kernel", [object(), None])
def test_a_figure_shows_itself_in_a_notebook_only(
    kernel: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    shell = SimpleNamespace(kernel=kernel, display_formatter=DisplayFormatter())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(notebook, "show", shown.append)
    monkeypatch.setattr(notebook, "load_bokeh", lambda: shown.append("BokehJS"))
    notebook.show_by_themselves()
    fig = figure()
    shell.display_formatter.format(fig)
    assert shown == (["BokehJS", fig] if kernel is not None else [])
