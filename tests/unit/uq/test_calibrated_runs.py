"""A simulator of one's own in files: runs and replicas, a posterior, runs at its draws."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench.cli import uq
from workbench.errors import ParameterError, ParseError
from workbench.panels import UncertaintyPanel
from workbench.uq import Parameter, ParameterBox, calibrate_runs, design, read_replicas, runs_for

command = partial(commands.run, uq)
TRUTH = np.array([2e-6, 4e9])
BOX = ParameterBox([Parameter("latency", "s", 1e-6, 5e-6), Parameter("bandwidth", "B/s", 2e9, 8e9)])
TESTS = {"small": (8, 1e3), "large": (64, 1e6), "other": (8, 1e5)}  # nodes, bytes


def times(values: np.ndarray, tests: dict[str, tuple[int, float]]) -> np.ndarray:
    """Return times in s of tests: latency by doublings of the nodes, and bytes by bandwidth."""
    nodes, size = np.array(list(tests.values())).T
    return np.log2(nodes) * values[:, :1] + size / values[:, 1:]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Runs and replicas with 2 % of noise."""
    points = design(BOX, 60, seed=2)
    runs = pd.DataFrame(points, columns=["latency (s)", "bandwidth (B/s)"])
    runs[list(TESTS)] = times(points, TESTS)
    runs.insert(0, "run", range(60))
    rng = np.random.default_rng(4)
    rows = [
        (name, time * np.exp(0.02 * rng.standard_normal()), *TESTS[name])
        for name, time in zip(TESTS, times(TRUTH[None], TESTS)[0], strict=True)
        for _ in range(10)
    ]
    found = tmp_path / "runs.csv", tmp_path / "replicas.csv"
    runs.to_csv(found[0], index=False)
    pd.DataFrame(rows, columns=["test", "time_s", "nodes", "bytes"]).to_csv(found[1], index=False)
    return found


def test_runs_and_replicas_become_intervals_of_larger_tests(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, draws, larger = (tmp_path / name for name in ("found.json", "draws.csv", "larger.csv"))
    options = ("--noise", "relative", "--draws", 1000, "--store", store, "--next", draws)
    assert command("calibrate-runs", *files, *options, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["surrogate_error"] < 0.01
    low, high = (np.array([row[end] for row in shown["parameters"]][:2]) for end in ("5 %", "95 %"))
    assert (low < TRUTH).all()
    assert (high > TRUTH).all()
    frame = pd.read_csv(draws)
    assert list(frame) == ["draw", "latency (s)", "bandwidth (B/s)"]
    assert len(frame) == 100
    tests = {"4096 nodes": (4096, 1e6)}
    frame["4096 nodes"] = times(frame.iloc[:, 1:].to_numpy(), tests)[:, 0]
    frame.to_csv(larger, index=False)
    assert command("predict-runs", store, larger, "--json") == 0
    shown = capsys.readouterr()
    row = json.loads(shown.out)["predictions"][-1]
    truth = times(TRUTH[None], tests)[0, 0]
    assert row["test"] == "4096 nodes"
    assert row["low (s)"] < truth < row["high (s)"]
    assert row["high (s)"] / row["low (s)"] < 1.2
    assert "are not in the intervals" in shown.err
    frame.loc[3, "latency (s)"] *= 1.01
    frame.to_csv(larger, index=False)
    with pytest.raises(ParseError, match=r"larger.csv:5: a row must hold a draw"):
        command("predict-runs", store, larger)


def test_bounds_are_those_of_the_runs_or_given(files: tuple[Path, Path]) -> None:
    replicas = read_replicas(files[1])
    assert replicas.tests == tuple(TESTS)
    assert replicas.columns["bytes"].tolist() == [1e3, 1e6, 1e5]
    box = runs_for(files[0], replicas).box
    assert box.names == ("latency", "bandwidth")
    assert (box.low >= BOX.low).all()
    assert (box.high <= BOX.high).all()
    given = runs_for(files[0], replicas, list(BOX)).box
    assert list(given) == list(BOX)
    with pytest.raises(ParameterError, match="it has no share"):
        runs_for(files[0], replicas, [Parameter("share", "", 0.1, 0.9)])


@for_each(
    "line, message",
    [
        ("small,0,8,1000", r"other.csv:32: time_s must be above 0"),
        ("small,1e-6,16,1000", "rows of a test must agree in nodes; small has 8, 16"),
    ],
)
def test_replicas_that_cannot_be_are_refused(
    files: tuple[Path, Path], line: str, message: str
) -> None:
    other = files[1].with_name("other.csv")
    other.write_text(f"{files[1].read_text()}{line}\n")
    with pytest.raises(ParseError, match=message):
        read_replicas(other)


def test_a_stopped_calibration_goes_on(files: tuple[Path, Path]) -> None:
    whole = calibrate_runs(*files, chains=2, draws=300, burn_in=100)
    half = calibrate_runs(*files, chains=2, draws=150, burn_in=100)
    found = calibrate_runs(*files, chains=2, draws=300, burn_in=100, resume=half)
    assert np.array_equal(found.posterior.parameters, whole.posterior.parameters)


def test_the_panel_opens_both_tables(files: tuple[Path, Path]) -> None:
    panel = UncertaintyPanel()
    panel.take("runs.csv", files[0].read_bytes())
    assert panel.state.problem == "fugaku/gather"
    panel.take("replicas.csv", files[1].read_bytes())
    assert panel.state.problem == "runs.csv/replicas.csv"
    panel.noise, panel.draws = "relative", 200
    panel.run(every=False)
    panel.wait()
    assert panel.posterior is not None
    assert panel.prediction is not None
    assert panel.prediction.tests == tuple(TESTS)
    assert 'runs_for("runs.csv", replicas)' in panel.python
