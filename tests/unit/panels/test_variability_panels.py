"""The panel of blame on a small world and on tables of the user's own."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench import variability
from workbench.errors import ParameterError
from workbench.panels import BlamePanel
from workbench.panels.variability.blame_state import TRUTH_STEPS
from workbench.variability import World
from workbench.variability.world.scene import WorldSettings
from workbench.variability.world.truth import WorldTruth


@pytest.fixture(scope="module")
def made() -> BlamePanel:
    with pytest.MonkeyPatch.context() as patch:
        # The causes take the longest: of two steps of each run instead of eight.
        patch.setattr("workbench.panels.variability.blame_tables.TRUTH_STEPS", 2)
        panel = BlamePanel(application="umt-128", runs=10)
        assert panel.wait(120) is not None
    return panel


@pytest.fixture
def panel(made: BlamePanel) -> Iterator[BlamePanel]:
    yield made
    made.source, made.view, made.user = "generated", "run", ""
    made.wait(60)


def own_files(folder: Path) -> tuple[Path, Path]:
    """Write runs that ``bad`` makes half longer, and jobs of three users; return both files."""
    rng = np.random.default_rng(3)
    start = 1000.0 * np.arange(40)
    beside = rng.random((40, 3)) < 0.5
    time_s = 300 * (1 + 0.5 * beside[:, 0]) * np.exp(0.02 * rng.standard_normal(40))
    runs = pd.DataFrame({"Name": np.arange(40), "start": start, "end": start + time_s})
    jobs = pd.DataFrame(
        [
            (f"{run}-{user}", user, 256, start[run] - 1, start[run] + 600)
            for run, column in zip(*np.nonzero(beside), strict=True)
            for user in [("bad", "good", "other")[column]]
        ],
        columns=["job", "user", "nodes", "start", "end"],
    )
    paths = folder / "my runs.csv", folder / "jobs.csv"
    runs.to_csv(paths[0], index=False)
    jobs.to_csv(paths[1], index=False)
    return paths


def test_it_opens_on_the_slowest_run_with_its_causes(panel: BlamePanel) -> None:
    tables = panel.tables
    assert tables is not None and tables.world is not None and tables.truth is not None
    assert panel.run == int(tables.runs.time_s.argmax())
    assert panel.figures == [
        f"The machine in step {panel.step} (synthetic)",
        f"Step times of {tables.runs.run[panel.run]} (synthetic)",
    ]
    assert panel.drawn("steps")["time"].tolist() == tables.world.steps.time_s[panel.run].tolist()
    assert "synthetic: UMT-like" in panel.text
    assert panel.error == ""


def test_without_a_user_the_steps_are_simulated_again(panel: BlamePanel) -> None:
    tables = panel.tables
    assert tables is not None and tables.world is not None
    worst = tables.worst(panel.run)[0]
    panel.user = worst
    began = time.monotonic()
    panel.wait(60)
    assert time.monotonic() - began < 10  # 1 s on a machine at rest
    without = tables.world.without(worst, panel.run)
    np.testing.assert_allclose(panel.drawn("without")["time"], without, rtol=1e-12)
    assert f"without {worst} it takes {without.sum():.4g} s" in panel.text
    assert panel.figures[0].endswith(f"without {worst} (synthetic)")
    # The one who is left out has a mark of its own.
    labels = [item.label["value"] for item in panel._run_view._machine.figure.legend[0].items]
    assert f"{worst}, left out" in labels


def test_a_step_is_drawn_at_once(panel: BlamePanel) -> None:
    before = panel.drawn("links")
    began = time.monotonic()
    panel.step = 0 if panel.step else 1
    assert time.monotonic() - began < 1.0  # 20 ms on a machine at rest
    assert panel.figures[0] == f"The machine in step {panel.step} (synthetic)"
    assert not np.array_equal(panel.drawn("links")["value"], before["value"])
    panel.select("steps", 3)
    assert panel.step == 3


def test_runs_beside_a_user_are_marked(panel: BlamePanel) -> None:
    tables = panel.tables
    assert tables is not None and tables.beside is not None
    panel.view = "runs"
    user = next(
        one for one in tables.users if 0 < tables.beside.present[:, tables.column(one)].sum() < 10
    )
    panel.user = user
    count = int(tables.beside.present[:, tables.column(user)].sum())
    assert len(panel.drawn("beside")["run"]) == count
    assert f"The {count} beside {user} took" in panel.text
    panel.select("runs", 0)
    assert panel.run == panel.drawn("runs")["at"][0]


def test_blame_stands_beside_the_truth(panel: BlamePanel, tmp_path: Path) -> None:
    panel.view = "blame"
    panel.permutations = 100
    panel.wait(60)
    found = panel.found
    assert found is not None and found.permutations == 100
    trend = "All runs, and their trend, which is"
    assert panel.figures == ["Truth", *found.methods, f"{trend} removed"]
    panel.trend, panel.tau = False, 0.95
    panel.wait(60)
    as_in_the_paper = panel.found
    assert as_in_the_paper is not None and not as_in_the_paper.trend_removed
    assert as_in_the_paper.tau == 0.95 and panel.figures[-1] == f"{trend} not removed"
    assert "trend=False, tau=0.95" in panel.python
    table = pd.read_csv(panel.save(tmp_path / "blame.csv"))
    assert set(table["method"]) == set(found.methods)
    content = json.loads(panel.save(tmp_path / "blame.json").read_text())
    assert content["data"]["origin"] == "synthetic"
    assert content["truth"].keys() >= set(panel.tables.world.users)


@pytest.mark.parametrize("view", ["run", "runs", "blame"])
def test_the_code_makes_what_is_shown(
    panel: BlamePanel, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = panel.tables
    assert tables is not None and tables.world is not None
    panel.user, panel.permutations = tables.worst(panel.run)[0], 100
    panel.view = view
    panel.wait(60)

    def generated(preset: str, **given: Any) -> World | None:
        """Return the world that is there already, if it is the one that was asked for."""
        settings = WorldSettings(preset, **given)
        return tables.world if settings == tables.world.settings else None

    def truth(world: World, *, steps: int) -> WorldTruth | None:
        """Return the causes that are there already, if they are of as many steps."""
        return tables.truth if steps == TRUTH_STEPS else None

    monkeypatch.setattr(variability, "generate", generated)
    monkeypatch.setattr(World, "truth", truth)
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert scope["runs"].time_s.tolist() == tables.runs.time_s.tolist()
    if view == "run":
        assert scope["figure"].title.text == panel.figures[1]
        assert scope["machine"].title.text == panel.figures[0]
    if view == "blame":
        assert panel.found is not None
        assert scope["found"].score.tolist() == panel.found.score.tolist()


def test_the_recording_of_a_shared_link_has_its_causes_too(panel: BlamePanel) -> None:
    panel.source = "emulated"
    tables = panel.tables
    assert tables is not None and tables.recorded is not None
    assert panel.figures[0].startswith("Sent over the link during")
    sent = panel.drawn("sent")
    assert set(tables.recorded.crossing) < set(sent)
    assert "emulated: a shared link" in panel.text
    panel.step = 7
    panel.view, panel.permutations = "blame", 100
    panel.wait(60)
    assert panel.figures[0] == "Truth"
    scope: dict[str, Any] = {}
    for view in ("blame", "run"):
        panel.view = view
        exec(panel.python, scope)
    assert scope["found"].blamed == panel.found.blamed
    assert scope["traffic"].title.text == panel.figures[0]


def test_own_tables_are_read_and_a_user_is_blamed(panel: BlamePanel, tmp_path: Path) -> None:
    runs, jobs = own_files(tmp_path)
    panel.source = "own"
    assert "Upload a table of runs" in panel.text
    panel.view, panel.permutations = "blame", 100
    panel._own.runs.upload.take({runs.name: runs.read_bytes()})
    assert "40 runs" in panel.text  # its column Name is taken for the runs' names
    panel.take_jobs(jobs)
    panel.wait(60)
    assert panel.error == ""
    assert panel.found is not None and panel.found.blamed == ("bad",)
    assert "measured: my runs.csv and jobs.csv" in panel.text
    assert "read_runs('my runs.csv', columns={'run': 'Name'})" in panel.python
    panel._own.jobs.lists["user"].value = "job"
    assert "job is chosen for job and user" in panel.error
    assert panel.tables is None


def test_what_sacct_prints_has_its_columns_in_sight(panel: BlamePanel) -> None:
    wide = (
        "       JobID      User   NNodes               Start                 End   NodeList\n"
        "------------ --------- -------- ------------------- ------------------- ----------\n"
        "7                  ann      256 2019-01-31T08:00:00 2019-01-31T09:00:00   n[1,3-9]\n"
    )
    name = "16b_pipe_in_name.txt"
    named = (Path(__file__).parents[2] / "data" / "reports" / name).read_bytes()
    for content, jobs in ((wide.encode(), 1), (named, 31)):
        panel._own.jobs.upload.take({name: content})
        assert panel._own.jobs.error.message == ""
        assert len(panel._own.jobs.table) == jobs
        assert "User" in dict(panel._own.jobs.lists["user"].options)


def test_own_steps_are_drawn_beside_their_mean(panel: BlamePanel, tmp_path: Path) -> None:
    runs, jobs = own_files(tmp_path)
    steps = pd.DataFrame(
        [(run, at, 1.0 + (run == 3) * (at == 2)) for run in range(39) for at in range(6)],
        columns=["Job ID", "iteration", "seconds"],
    )
    steps.to_csv(tmp_path / "steps.csv", index=False)
    panel.take_runs(runs)
    panel.take_jobs(jobs)
    with pytest.raises(ParameterError, match="run is not a known view"):
        panel.view = "run"
    panel.take_steps(tmp_path / "steps.csv")
    panel.view, panel.run = "run", 3
    assert panel.figures == ["Step times of run 3 (measured)"]
    assert panel.drawn("steps")["time"].tolist() == [1, 1, 2, 1, 1, 1]
    scope: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        exec(panel.python, scope)
    assert scope["figure"].title.text == panel.figures[0]
    assert len(pd.read_csv(panel.save(tmp_path / "run.csv"))) == 6
    panel.run = 39
    assert panel.figures == [] and "has none of run 39" in panel.text
    other = steps.assign(**{"Job ID": "other"})
    other.to_csv(tmp_path / "steps.csv", index=False)
    panel.take_steps(tmp_path / "steps.csv")
    assert "must be named as in my runs.csv" in panel.error


def test_the_first_runs_are_shown_while_the_others_are_made() -> None:
    panel = BlamePanel(application="umt-128", runs=10, seed=3)
    while panel.tables is None:
        assert panel.refresh()
        time.sleep(0.01)
    assert 6 <= len(panel.tables.runs) < 10
    shown = panel.tables.runs.run[panel.run]
    panel.step = 1
    while len(panel.tables.runs) < 10:
        assert panel.refresh()
        time.sleep(0.01)
    assert panel.tables.runs.run[panel.run] == shown
    panel.stop()  # the causes, which take the longest
    panel.wait(60)
    assert panel.tables.runs.run[panel.run] == shown


def test_a_refusal_stands_beside_its_file(panel: BlamePanel, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("run,start,end\na,1,2\nb,5,4\n")
    with pytest.raises(ParameterError, match="no column"):
        panel.take_runs(path, {"run": "nowhere"})
    assert "a run must end after it starts; run b does not" in panel.error
    assert panel.error.startswith("runs.csv:3: ")
    path.write_bytes(bytes(range(256)) * 4)
    panel._own.runs.upload.take({"noise.csv": path.read_bytes()})
    assert "CSV" in panel.error
    assert panel.tables is None
