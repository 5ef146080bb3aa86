"""What a row of a design costs beside its simulator: its lock and its place in a file."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import numpy as np
import pytest

from workbench.storage.row_table import RowTable
from workbench.uq import DesignPlan, Parameter, ParameterBox, evaluate_design

ROWS = 200
BOX = ParameterBox([Parameter("latency", "s", 1e-6, 2e-6)])


@pytest.mark.parametrize("kept_open", [True, False])
def test_a_row_is_stored(kept_open: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kept_open:
        monkeypatch.setattr(RowTable, "kept_open", lambda self: contextlib.nullcontext())
    plan = DesignPlan("rows", BOX, ROWS)
    evaluate_design(plan.replace(name="first"), tmp_path / "d.db", model=np.copy, tests=["a"])
    began = time.perf_counter()
    evaluate_design(plan, tmp_path / "d.db", model=np.copy, tests=["a"], workers=1)
    each = 1e3 * (time.perf_counter() - began) / ROWS
    print(f"\na row takes {each:.1f} ms with the file {'kept open' if kept_open else 'closed'}")
