"""Every panel: a session of settings that are not the usual ones gives the same settings again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import pytest

from workbench import panels
from workbench.errors import WorkbenchError
from workbench.panels import read_session
from workbench.panels.number_field import NumberField
from workbench.panels.panel import Panel
from workbench.panels.session.page import PANELS
from workbench.panels.slider import Slider
from workbench.panels.style import choose

PATIENCE_S = 60.0
QUIET: dict[str, dict[str, Any]] = {
    "ComparePanel": {"topologies": ["torus:2x2"], "simulate": False},
    "TuningPanel": {"start": False},
}
"""Arguments with which a panel computes nothing that its settings do not need."""


def another(control: Any) -> Any:
    """Return a value that a control accepts and does not hold, None where there is none."""
    if isinstance(control, Slider):
        return control.scale.value_at(control.scale.last // 3)
    if isinstance(control, NumberField):
        return control.nearest(control.value + 1)
    if isinstance(control, widgets.Checkbox):
        return not control.value
    if isinstance(control, (widgets.Dropdown, widgets.ToggleButtons)):
        values = [one[1] if isinstance(one, tuple) else one for one in control.options]
        return next((one for one in values if one != control.value), None)
    return None


def change(panel: Panel[Any]) -> None:
    """Set each setting that a session holds to another value."""
    for name in panel._saved_names():
        control = panel.controls.get(name)
        value = None if control is None else another(control)
        if value is not None and name not in ("match", "source"):
            choose(control, name, value)


def stop(panel: Panel[Any]) -> None:
    """Stop what the panel computes: its settings are what is tested."""
    if hasattr(panel, "stop"):
        panel.stop()


# Their figures take seconds, and they save and open their settings as the others do. Sessions of
# the first two are opened in test_loading.py.
SLOW = (
    "FitPanel",
    "ReplayPanel",
    "BlamePanel",
    "RegimePanel",
    "SearchComparisonPanel",
    "UncertaintyPanel",
    "ForecastPanel",
    "ValidationPanel",
    "PapersPanel",
)


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.deep if name in SLOW else ()) for name in PANELS]
)
def panel(request: pytest.FixtureRequest) -> Iterator[Panel[Any]]:
    made = getattr(panels, request.param)(**QUIET.get(request.param, {}))
    yield made
    stop(made)
    made.wait(PATIENCE_S)


def test_every_panel_has_a_session() -> None:
    assert set(PANELS) == {name for name in panels.__all__ if name.endswith("Panel")}


def test_a_session_gives_the_same_settings_again(panel: Panel[Any]) -> None:
    usual = panel.session()
    change(panel)
    session = panel.session()
    assert session.settings != usual.settings
    for wanted in (usual, session):
        said = panel.load_session(read_session(wanted.to_json().encode()))
        stop(panel)
        assert panel.session().settings == wanted.settings
        assert list(said) == list(wanted.notes)


@pytest.mark.deep
def test_the_settings_are_the_same_when_all_jobs_have_ended(panel: Panel[Any]) -> None:
    panel.wait(PATIENCE_S)
    change(panel)
    panel.wait(PATIENCE_S)
    session = panel.session()
    again = panels.open_session(read_session(session.to_json().encode()))
    again.wait(PATIENCE_S)
    assert again.session().settings == session.settings
    assert again.error == panel.error
    stop(again)


WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, 2**70, "", "../../etc", [], [1], {}, {"a": 1}),
    *({"name": "x", "program": 3}, [{"program": "cg", "generator": {}, "algorithms": 3}]),
)


@pytest.mark.deep
def test_values_of_any_kind_are_accepted_or_refused_and_a_refusal_changes_nothing(
    panel: Panel[Any],
) -> None:
    panel.wait(PATIENCE_S)
    for name in panel._saved_names():
        for value in WRONG:
            before = panel.session()
            try:
                panel.load_session(replace(before, settings={**before.settings, name: value}))
            except WorkbenchError:
                assert panel.session() == before, (name, value)
            stop(panel)
            panel.load_session(before)
            stop(panel)
