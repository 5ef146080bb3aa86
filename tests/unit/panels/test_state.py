from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.models import MODELS
from workbench.panels.fit.state import FitState, curve_line, fit_line, model_of
from workbench.simulate import simulate_osu

NAME = "azure-hb96v3-hdr"


@pytest.fixture
def state() -> FitState:
    source = f'datasets.load("{NAME}")'
    return FitState(NAME, source, datasets.load(NAME), "snappr", model_of("snappr"))


@for_each("kind", ["snappr", "hybrid", "logp", "pisces"])
@for_each("variant", ["sstmacro", "repaired"])
def test_the_python_line_gives_the_numbers_that_are_shown(
    state: FitState, kind: str, variant: str
) -> None:
    state = replace(state, kind=kind, model=model_of(kind, variant))
    scope: dict[str, object] = {}
    exec(curve_line(state), scope)
    again, shown = scope["curve"], simulate_osu(state.model, sizes=state.measured.sizes)
    np.testing.assert_array_equal(again.latency_s, shown.latency_s)
    np.testing.assert_array_equal(again.bandwidth_Bps, shown.bandwidth_Bps)


@for_each("kind", MODELS)
def test_the_python_line_holds_every_parameter_that_was_changed(state: FitState, kind: str) -> None:
    model = model_of(kind)
    wanted = {
        p.key: {"flag": not p.value, "choice": p.choices[-1:] and p.choices[-1]}.get(
            p.kind, (p.low + p.high) / 2 if p.kind not in ("bytes", "count") else int(p.high)
        )
        for p in model.parameters()
    }
    changed = model.with_values(wanted)
    lines = curve_line(replace(state, kind=kind, model=changed)).splitlines()
    scope: dict[str, object] = {}
    exec("\n".join(lines[:-1]), scope)
    assert scope["model"] == changed


def test_the_fit_line_is_the_fit_that_start_runs(state: FitState) -> None:
    line = fit_line(replace(state, loss="mae", target="latency", trials=3, seed=5))
    scope: dict[str, object] = {}
    exec(line, scope)
    result = scope["result"]
    assert (result.loss, result.target, result.trials, result.seed) == ("mae", "latency", 3, 5)


def test_the_hybrid_is_snappr_with_the_overlay() -> None:
    hybrid = model_of("hybrid")
    assert hybrid.name == "snappr"
    assert hybrid.get("node.nic.negligible_size") == 512
