"""Undo and redo: a step for each change, drawn once, and none for what the panel does itself."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.panels import ExplorePanel, FitPanel, ReplayPanel, Session
from workbench.panels.fit.curve_view import CurveView
from workbench.panels.session.history import UndoHistory


def test_the_history_goes_back_and_ahead() -> None:
    state: dict[str, Any] = {"a": 0}
    history = UndoHistory(lambda: dict(state), state.update)
    assert not history.move(-1)
    for value in (1, 2, 2, 3):
        state["a"] = value
        history.settle()
    assert history.steps == (3, 0)
    assert history.move(-1) and history.move(-1) and state == {"a": 1}
    assert history.move(1) and state == {"a": 2} and history.steps == (2, 1)
    state["a"] = 9
    assert history.move(-1) and state == {"a": 2}, "what has not settled is a step too"
    assert history.steps == (2, 1)
    for value in range(1000):
        state["a"] = value
        history.settle()
    assert history.steps == (99, 0)


def test_settings_are_undone_in_any_order() -> None:
    panel = FitPanel()
    before = panel.session()
    panel.injection_latency = "300ns"
    panel.machine = "aws-hpc6a-efa"
    panel.kind = "logp"
    panel.trials = 77
    panel.wait(60)  # the text is of what has been simulated
    after, text = panel.session(), panel.text
    seen = []
    while panel.undo():
        seen.append((panel.trials, panel.kind, panel.machine))
    assert seen == [
        (2000, "logp", "aws-hpc6a-efa"),
        (2000, "snappr", "aws-hpc6a-efa"),
        (2000, "snappr", "azure-hb96v3-hdr"),
        (2000, "snappr", "azure-hb96v3-hdr"),
    ]
    assert panel.session() == before
    while panel.redo():
        pass
    panel.wait(60)
    assert panel.session() == after and panel.text == text


def test_a_step_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = ExplorePanel()
    panel.machine = "aws-hpc6a-efa"
    drawn: list[object] = []
    monkeypatch.setattr(CurveView, "draw", lambda view, *curves: drawn.append(curves))
    changed = {**panel.session().settings, "machine": "azure-hb96v3-hdr", "injection_latency": 1e-6}
    panel.load_session(Session("ExplorePanel", changed))
    assert len(drawn) == 1
    panel.undo()
    assert len(drawn) == 2 and panel.machine == "aws-hpc6a-efa"
    panel.undo()
    assert len(drawn) == 3


@pytest.mark.deep
def test_a_program_is_undone_with_its_algorithms() -> None:
    panel = ReplayPanel("cg-8")
    panel.wait(60)
    panel.algorithms = {"allreduce": "ring"}
    panel.program = "halo-8"
    panel.wait(60)
    panel.undo()
    panel.wait(60)
    assert (panel.program, panel.algorithms) == ("cg-8", {"allreduce": "ring"})
    assert panel.result.graph.num_ranks == 8 and panel.error == ""
