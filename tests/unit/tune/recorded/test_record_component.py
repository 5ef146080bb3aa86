"""The recording of any component, in passes that can be stopped and continued."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import ParameterError
from workbench.tasks import Task
from workbench.tune import read_components
from workbench.tune.component.component import Component, components
from workbench.tune.recorded.files import read_recording
from workbench.tune.recorded.record_component import record_component
from workbench.tune.recorded.replayed_experiment import replayed

PROGRAM = """\
import sys
from pathlib import Path
size = int(sys.argv[1].removeprefix("size="))
Path("left-behind").write_text("x")
if size == 4:
    sys.exit(3)
print("took", 10 - size if size != 3 else "nothing", "ms")
"""


def component(folder: Path, values: str = "[1, 2, 3, 4, 5]", more: str = "") -> Component:
    (folder / "program.py").write_text(PROGRAM)
    path = folder / "own.yaml"
    path.write_text(
        "components:\n  own:\n    command: '{python} {folder}/program.py {parameters}'\n"
        f"    target: {{regex: 'took ([0-9]+) ms', unit: ms{more}}}\n"
        f"    parameters:\n      size: {{type: int, default: 1, cmd_var: true, values: {values}}}\n"
    )
    return read_components(path)["own"]


def test_each_run_is_kept_and_one_that_gave_nothing_is_no_value(tmp_path: Path) -> None:
    progress = record_component(tmp_path / "out", component(tmp_path), rounds=2)
    assert (progress.started, progress.wanted, progress.failed) == (10, 10, 4)
    recording = read_recording(tmp_path / "out")
    assert list(recording) == ["own"]
    space = recording["own"]
    assert (space.unit, space.provenance.origin) == ("ms", "measured")
    assert [one["size"] for one in space.configurations] == [1, 2, 5]
    assert [list(each) for each in space.values] == [[9, 9], [8, 8], [5, 5]]
    assert [one["size"] for one in space.failed] == [3, 4]
    assert "bytes" not in space.context
    found = replayed(space, heuristic="exhaustive", budget=5).run()
    assert found.best_configuration == {"size": 5}
    # What the programs wrote is gone with their folder.
    assert {one.name for one in (tmp_path / "out").iterdir()} == {"own.csv", "datapackage.json"}


def test_a_recording_is_stopped_and_goes_on(tmp_path: Path) -> None:
    own = component(tmp_path)
    task = Task(lambda now: task.stop() if now.done == 2 else None)
    first = record_component(tmp_path / "out", own, rounds=1, task=task)
    assert (first.started, first.whole) == (3, False)
    assert record_component(tmp_path / "out", own, rounds=1).started == 5
    assert record_component(tmp_path / "out", own, rounds=2).started == 10


def test_a_folder_holds_one_component_over_one_space(tmp_path: Path) -> None:
    record_component(tmp_path / "out", component(tmp_path), rounds=1)
    with pytest.raises(ParameterError, match="over other values"):
        record_component(tmp_path / "out", component(tmp_path, "[1, 2]"), rounds=1)
    with pytest.raises(ParameterError, match="holds a recording with component own"):
        record_component(tmp_path / "out", "sort", rounds=1)


def test_what_cannot_be_recorded(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="less must be better"):
        record_component(tmp_path / "out", component(tmp_path, more=", maximise: true"))
    with pytest.raises(ParameterError, match="rounds must be a whole number of at least 1"):
        record_component(tmp_path / "out", components()["sort"], rounds=0)
    assert not (tmp_path / "out").exists()
