"""A simulator that takes microseconds, so that hundreds of trials are a fast test."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy as np
import pytest

from workbench.measure import OSU_SIZES, OSUCurve
from workbench.models import SNAPPR, NetworkModel
from workbench.provenance import Provenance


def toy_simulate(
    model: NetworkModel, sizes: Sequence[int] = OSU_SIZES, **_options: object
) -> OSUCurve:
    """Latency a + b s and bandwidth s / (g + b s); refuses what the real one refuses."""
    model.validate()
    keys = {parameter.key: parameter.value for parameter in model.parameters()}
    times = [v for k, v in keys.items() if k.endswith("latency") and k.startswith("node.nic")]
    rates = [v for k, v in keys.items() if k.endswith("bandwidth") and "memory" not in k]
    packet = next((float(v) for k, v in keys.items() if k.endswith("mtu")), 4096.0)
    s = np.array(sizes, dtype=np.float64)
    per_byte = 1.0 / float(min(rates))
    return OSUCurve(
        name=model.name,
        sizes=np.array(sizes),
        latency_s=sum(times) + s * per_byte,
        bandwidth_Bps=s / (packet * 1e-12 + 1e-7 + s * per_byte),
        provenance=Provenance(origin="simulated", title=model.name),
    )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    # by name: the package's own ``fit`` is the function, not the module
    for name in ("study", "evaluation", "trust.residuals"):
        module = importlib.import_module(f"workbench.fit.{name}")
        monkeypatch.setattr(module, "simulate_osu", toy_simulate)


@pytest.fixture
def machine() -> OSUCurve:
    """A made-up machine that the toy simulator can match, one point not measured."""
    model = SNAPPR().with_values(
        {"node.nic.injection.latency": "900ns", "node.nic.injection.bandwidth": "7GB/s"}
    )
    curve = toy_simulate(model)
    latency = curve.latency_s.copy()
    latency[3] = np.nan
    return OSUCurve(
        name="toy",
        sizes=curve.sizes,
        latency_s=latency,
        bandwidth_Bps=curve.bandwidth_Bps,
        provenance=Provenance(origin="synthetic", title="a machine made up for tests"),
    )
