from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import LayoutDOM

from workbench import programs
from workbench.errors import ParameterError
from workbench.programs import generate
from workbench.simulate import replay
from workbench.tolerance import SolverTimes, Sweep, running_example, time_solvers


def test_three_ways_to_the_run_time_of_the_same_programs(tmp_path: Path) -> None:
    example, model = running_example()
    small = {"example": example, "halo": generate.halo(4, cells=8, iterations=2)}
    found = time_solvers(small, model, repeats=2)
    assert found.programs == ("example", "halo")
    assert found.events.tolist() == [6, small["halo"].graph().num_ops]
    assert found.T_s[0] == pytest.approx(1.615e-6)
    assert found.T_lp_s == pytest.approx(found.T_s, abs=1e-12)
    for way in ("lp", "sweep", "replay"):
        assert found.seconds(way).shape == (2, 2)
        assert (found.seconds(way) > 0).all()
        assert (found.median(way) <= found.seconds(way).max(axis=1)).all()
    frame = found.to_frame()
    ratios = frame["replay / LP"].to_numpy() * frame["LP / sweep"].to_numpy()
    assert ratios == pytest.approx(frame["replay / sweep"].to_numpy())
    again = SolverTimes.load(found.save(tmp_path / "times.json"))
    assert again.to_frame().equals(frame)
    assert isinstance(found.plot(), LayoutDOM)
    assert repr(found).startswith("SolverTimes(2 programs of 6 to ")


def test_what_cannot_be_timed_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one program"):
        time_solvers({})
    with pytest.raises(ParameterError, match="repeats must be a whole number of at least 1"):
        time_solvers(repeats=0)
    found = time_solvers(["transpose-4"], repeats=1)
    with pytest.raises(ParameterError, match="way must be one of lp, sweep, replay; got 'gurobi'"):
        found.median("gurobi")
    graph = programs.load("transpose-4").graph()
    assert found.T_s == pytest.approx([Sweep(graph, found.model).makespan()])
    without = replay(graph, found.model, semantics="llamp").makespan_s
    assert np.abs(found.T_s - without).max() < 1e-12
