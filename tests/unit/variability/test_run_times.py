"""Run times of programs: groups, bootstrap intervals, tables of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.plotting import describe_run_times, plot_run_times
from workbench.variability import RunTimes, RunTimeSummary, load_run_times, read_run_times

TEXT = """application,system,nodes,date,time_s
amg,A,128,2019-01-31,100
amg,A,128,2019-02-01,150
amg,A,512,2019-02-01,300
milc,A,128,,80
"""


def times_of(folder: Path, text: str, **options: object) -> RunTimes:
    path = folder / "times.csv"
    path.write_text(text)
    return read_run_times(path, **options)  # type: ignore[arg-type]


def test_times_are_relative_to_the_best_on_as_many_nodes(tmp_path: Path) -> None:
    times = times_of(tmp_path, TEXT)
    np.testing.assert_array_equal(times.relative, [1, 1.5, 1, 1])
    assert list(times.groups(("application", "nodes"))) == [
        "amg 128 nodes",
        "amg 512 nodes",
        "milc 128 nodes",
    ]
    assert list(times.groups(("month",))) == ["2019-01", "2019-02", "no date"]
    assert times.notes == ("1 runs have no date",)
    assert times.only(application="milc").time_s.tolist() == [80]
    assert RunTimes.load(times.save(tmp_path / "t.json")).to_frame().equals(times.to_frame())
    bare = times_of(
        tmp_path, "app,runtime\nx,2\nx,3\n", columns={"application": "app", "time_s": "runtime"}
    )
    np.testing.assert_array_equal(bare.relative, [1, 1.5])
    with pytest.raises(
        ParameterError, match="by must be some of system, application, nodes, month"
    ):
        times.groups(("year",))
    with pytest.raises(ParameterError, match="some run must be of umt on any machine"):
        times.only(application="umt")
    with pytest.raises(ParseError, match="3: time_s must be a time above 0 s"):
        times_of(tmp_path, "application,time_s\na,1\na,0\n")


def test_intervals_are_those_of_the_bootstrap(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    draw = np.exp(0.1 * rng.standard_normal(400))
    rows = "".join(f"a,{time}\n" for time in draw)
    times = times_of(tmp_path, "application,time_s\n" + rows)
    found = times.summary(draws=1000)
    relative = draw / draw.min()
    assert found.median[0] == pytest.approx(np.median(relative))
    assert found.worst[0] == pytest.approx(relative.max())
    # The standard error of a median of n normal values is 1.253 sd / sqrt(n); 1000 draws of
    # 400 runs give the interval's width within a fifth.
    width = 2 * 1.96 * 1.253 * 0.1 * found.median[0] / np.sqrt(400)
    assert found.median_high[0] - found.median_low[0] == pytest.approx(width, rel=0.25)
    assert found.worst_high[0] == found.worst[0]
    assert times.summary(draws=1000).to_frame().equals(found.to_frame())
    assert not times.summary(draws=1000, seed=1).to_frame().equals(found.to_frame())
    read = RunTimeSummary.load(found.save(tmp_path / "summary.json"))
    assert read.to_frame().equals(found.to_frame())


def test_the_published_times_are_those_of_the_source() -> None:
    times = load_run_times()
    counts = {label: len(rows) for label, rows in times.groups(("system", "application")).items()}
    assert counts == {
        "Frontier MILC": 38,
        "Frontier deepCAM": 123,
        "Perlmutter AMG2023": 103,
        "Perlmutter MILC": 78,
        "Perlmutter nanoGPT": 94,
    }
    first = times.to_frame().iloc[0]
    assert (first["date"], first["time (s)"]) == ("2025-02-08", 371.953)
    assert times.provenance.origin == "published"
    assert "no licence seen" in times.provenance.caption()
    assert any("AMG2023 on Frontier mixes two groups" in note for note in times.notes)
    found = times.summary().to_frame().set_index("group")
    # deepCAM on Frontier is as variable as the codes of the paper on Cori (up to 3 times slower).
    assert found.loc["Frontier deepCAM", "worst"] == pytest.approx(3.176, abs=1e-3)
    assert found.loc["Perlmutter AMG2023", "spread"] < 0.01
    with pytest.raises(DatasetError, match="no run times are named 'slingshots'; did you mean"):
        load_run_times("slingshots")


def test_they_are_drawn(tmp_path: Path) -> None:
    times = load_run_times()
    sources = [
        one for one in plot_run_times(times).references() if isinstance(one, ColumnDataSource)
    ]
    dated = [source for source in sources if "date" in source.data]
    assert sum(len(source.data["date"]) for source in dated) == 436
    monthly = plot_run_times(times, by=("application", "month")).references()
    rows = next(one for one in monthly if isinstance(one, ColumnDataSource) and "row" in one.data)
    assert "AMG2023 2025-03 (74)" in rows.data["group"]
    assert describe_run_times(times).startswith("Frontier deepCAM varies most: its slowest of 123")
    without_dates = times_of(tmp_path, "application,time_s\na,1\na,2\n")
    drawn = without_dates.plot().references()
    assert not [one for one in drawn if isinstance(one, ColumnDataSource) and "date" in one.data]
