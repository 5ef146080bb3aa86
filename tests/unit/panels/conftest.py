from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.fit import DEFAULT_ENGINE
from workbench.measure import OSUCurve
from workbench.models import PISCES, NetworkModel
from workbench.panels import FitPanel, RegimePanel, StudyPanel
from workbench.panels.fit import simulation_job
from workbench.panels.fit.settings import DEFAULT_STUDY
from workbench.panels.fit.state import opening_model
from workbench.panels.regime.state import RegimeState
from workbench.simulate import simulate_osu
from workbench.study import StudyPlan, StudyResult, run

MACHINES = ("azure-hb96v3-hdr", "aws-hpc6a-efa")
FIRST_FIT: dict[str, Any] = {
    "machine": MACHINES[0],
    "kind": "snappr",
    "variant": "sstmacro",
    "loss": "rmsre",
    "target": "both",
    "engine": DEFAULT_ENGINE,
    "trials": 2000,
    "seed": 0,
    "held": "",
    "without": "",
    "pinned": "",
    "study": DEFAULT_STUDY,
}


@pytest.fixture(scope="session")
def only_fit_panel() -> FitPanel:
    """The panel that tests share: it takes a third of a second to make."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation_job, "_AT_ONCE_S", 60.0)
        return FitPanel(MACHINES[0])


@pytest.fixture
def panel(
    only_fit_panel: FitPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FitPanel]:
    """The shared panel as it was when it was new, with an empty folder for its study file."""
    monkeypatch.chdir(tmp_path)
    # A busy machine may need longer for what is quick; what takes long sets its own.
    monkeypatch.setattr(simulation_job, "_AT_ONCE_S", 60.0)
    panel, first = only_fit_panel, FIRST_FIT
    if panel.result is not None or panel.error:
        panel.machine = MACHINES[1]  # its fit and its errors are forgotten with a machine
    for name, value in first.items():
        if getattr(panel, name) != value:
            setattr(panel, name, value)
    if panel.model != opening_model("snappr", panel.measured):
        panel.reset()
    panel.open("Convergence")
    assert (panel.running, panel.result, panel.error) == (False, None, "")
    yield panel
    panel.stop()
    panel.wait(20)


@pytest.fixture
def slow_packets_of_1_B(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations with packets of 1 B take minutes unless they are stopped, as PISCES's do."""
    # Compiling cannot be stopped.
    simulate_osu(PISCES(), [1])

    def simulated(model: NetworkModel, *arguments: Any, **options: Any) -> OSUCurve:
        if getattr(model, "mtu", None) == 1:
            simulate_osu(PISCES(mtu=1), *arguments, **options)
        return simulate_osu(model, *arguments, **options)

    monkeypatch.setattr(simulation_job, "simulate_osu", simulated)


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """A study of LogP with all axes but the seed, a few trials each."""
    plan = StudyPlan(
        "small",
        MACHINES,
        losses=("rmsre", "mae"),
        targets=("both", "latency"),
        models=("logp",),
        regimes=("all", "low", "high"),
        trials=6,
    )
    return run(plan, tmp_path_factory.mktemp("study") / "small.db", workers=1)


@pytest.fixture
def study_panel(small_study: StudyResult) -> Iterator[StudyPanel]:
    """A panel of one test's own on half of the small study, outside of a kernel."""
    some = tuple(one for one in small_study.cells if one.cell.target == "both")
    panel = StudyPanel(StudyResult(small_study.plan, some))
    yield panel
    panel.stop()
    panel.wait(20)


@pytest.fixture(scope="session")
def only_study_panel(small_study: StudyResult) -> StudyPanel:
    """The panel that tests share: it takes half a second to make."""
    return StudyPanel(small_study)


@pytest.fixture
def shared_study_panel(only_study_panel: StudyPanel) -> StudyPanel:
    """The shared panel as it was when it was new, for tests that draw no figure of all fits."""
    panel, first = only_study_panel, only_study_panel.result.cells[0].cell
    panel.rows, panel.value = "loss", "joint"
    panel.unpin()
    for name in ("machine", "loss", "target", "regime"):
        if getattr(panel, name) != getattr(first, name):
            setattr(panel, name, getattr(first, name))
    panel.open("Parameters")
    assert panel.chosen.cell is panel.result.cells[0] and panel.error == ""
    return panel


@pytest.fixture(scope="session")
def only_regime_panel(small_study: StudyResult) -> RegimePanel:
    """The panel that tests share: it takes half a second to make."""
    return RegimePanel(MACHINES[0], [small_study])


@pytest.fixture
def regime_panel(only_regime_panel: RegimePanel) -> RegimePanel:
    """The shared panel in the state of a new one: the small study's fits of LogP."""
    panel, first = only_regime_panel, RegimeState(MACHINES[0])
    for name in ("machine", "low", "high", "threshold"):
        if getattr(panel, name) != getattr(first, name):
            setattr(panel, name, getattr(first, name))
    panel.open("Parameters")
    assert (panel.state, panel.error) == (first, "")
    return panel


@pytest.fixture
def own_regime_panel(small_study: StudyResult) -> Iterator[RegimePanel]:
    """A panel of one test's own, which may fit."""
    panel = RegimePanel(MACHINES[0], [small_study])
    yield panel
    panel.stop()
    panel.wait(20)
