"""Time in computation and in routines of MPI."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from workbench.errors import ParseError
from workbench.plotting import describe_routine_times, plot_routine_times
from workbench.variability import RoutineTimes, read_routines

TEXT = """run,routine,time_s
a,Compute,10
a,Wait,2
a,Wait,1
a,Allreduce,4
b,Compute,11
b,Wait,9
"""


def times_of(folder: Path, text: str) -> RoutineTimes:
    path = folder / "routines.csv"
    path.write_text(text)
    return read_routines(path)


def test_times_are_added_and_ordered(tmp_path: Path) -> None:
    times = times_of(tmp_path, TEXT)
    assert times.routine == ("Compute", "Wait", "Allreduce")
    np.testing.assert_array_equal(times.time_s, [[10, 3, 4], [11, 9, np.nan]])
    np.testing.assert_array_equal(times.mpi_s, [7, 9])
    np.testing.assert_array_equal(times.computation_s, [10, 11])
    assert times.notes == (
        "1 rows name a routine of a run again; their times were added",
        "1 of 2 runs have no time of Allreduce",
    )
    frame = times.to_frame().set_index("routine")
    assert frame.loc["Wait", ["mean (s)", "least (s)", "greatest (s)"]].tolist() == [6, 3, 9]
    assert repr(times) == "RoutineTimes(2 runs, 3 routines, 43.2 % of the time in MPI)"
    read = RoutineTimes.load(times.save(tmp_path / "times.json"))
    assert read.to_frame().equals(times.to_frame())


def test_they_are_drawn_with_the_least_and_greatest_run(tmp_path: Path) -> None:
    times = times_of(tmp_path, TEXT)
    drawn = plot_routine_times(times).references()
    both, mpi = sorted(
        (one for one in drawn if isinstance(one, ColumnDataSource)),
        key=lambda one: one.data["name"][0] != "computation",
    )
    assert list(both.data["mean"]) == [10.5, 8]
    assert list(mpi.data["name"]) == ["Wait", "Allreduce"]
    assert (list(mpi.data["least"]), list(mpi.data["greatest"])) == ([3, 4], [9, 4])
    assert describe_routine_times(times).startswith("43 % of the time is in MPI.")
    alone = times_of(tmp_path, "run,routine,time_s\na,Wait,2\nb,Wait,3\n")
    assert np.isnan(alone.computation_s).all()
    assert describe_routine_times(alone).startswith("Wait takes longest")
    assert len([one for one in alone.plot().references() if isinstance(one, ColumnDataSource)]) == 1


def test_a_bad_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="2: time_s must be a time of 0 s or more; got '-1'"):
        times_of(tmp_path, "run,routine,time_s\na,Wait,-1\n")
    with pytest.raises(ParseError, match="must have rows"):
        times_of(tmp_path, "run,routine,time_s\n")
