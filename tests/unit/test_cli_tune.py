"""The command ``workbench tune``: an experiment run, stopped, resumed, looked at and exported."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench.cli import tune
from workbench.cli.output import FAILED
from workbench.datasets import data_folder
from workbench.errors import ParameterError, StudyError
from workbench.tune.experiment import resume
from workbench.tune.recorded.replayed_experiment import recorded_target
from workbench.tune.result import TuningResult
from workbench.tune.runners import Replay, RunnerError
from workbench.tune.specs import recorded_space

run = partial(commands.run, tune)

REPLAY = "simulated-12-ranks/allreduce/65536"
TOOL = """\
components:
  tool:
    command: sh -c 'exit {status}'
    parameters:
      n: {{type: int, default: 1, env_var: N, values: [1, 2, 4]}}
  other:
    command: "true"
    parameters:
      n: {{type: int, default: 1, env_var: N, values: [1, 2]}}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one experiment of six runs."""
    path = tmp_path_factory.mktemp("made") / "tuning.db"
    assert run("run", "--replay", REPLAY, "--budget", "6", "--store", path, "--name", "a") == 0
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    capsys.readouterr()
    return Path(shutil.copy(made, tmp_path))


def test_a_replay_tells_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--resampling", "static:runs=2", "--stopping", "time:seconds=1e6")
    assert run("run", "--replay", REPLAY, "--budget", "12", *words) == 0
    out = capsys.readouterr().out
    assert "12 runs (12 complete)" in out
    assert re.search(r"best latency: \S+ µs \((median of \d+ runs, \S+ to \S+|one run)\)\n", out)
    assert re.search(r"default: \S+ µs \(one run\); (the best is|nothing that ran)", out)
    assert "the budget of 12 runs is spent" in out


def test_progress_is_shown_where_stderr_is_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "LOG_EVERY_S", 0.0)
    assert run("run", "--replay", REPLAY, "--budget", "2") == 0
    assert re.search(r"^\d of 2 runs, .*\n", capsys.readouterr().err)


def test_json_holds_the_same(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", store, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == 6
    assert found["unit"] == "µs"
    assert found["best"]["value"] > 0
    assert (found["best"]["runs"], found["default_runs"], found["under_way"]) == (1, 1, 0)
    assert found["recommended"]["configuration"].keys() == found["best"]["configuration"].keys()


def test_a_replay_says_which_recording_it_drew_from(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data_folder() / "tuning" / REPLAY.partition("/")[0]
    digest = hashlib.sha256((folder / "allreduce.csv").read_bytes()).hexdigest()
    assert run("show", store) == 0
    line = f"replayed {REPLAY}, noise as recorded, sha256:{digest}\n"
    assert line in capsys.readouterr().out
    assert run("export", store, tmp_path / "a.json") == 0
    runner = TuningResult.load(tmp_path / "a.json").settings["runner"]
    assert (runner["recording"], runner["checksum"]) == (folder.name, f"sha256:{digest}")
    # Runs of another recording are another experiment.
    other = replace(recorded_space(REPLAY), checksum="sha256:0")
    with pytest.raises(StudyError, match=r"runner was .* and is .*; choose another name"):
        resume(store, runner=Replay(other), target=recorded_target(other))


def test_resume_goes_on_and_status_tells(
    store: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("resume", store, "--replay", REPLAY, "--budget", "9", "--name", "a") == 0
    taken = capsys.readouterr()
    assert "continuing 'a'" in taken.err
    assert "after 6 runs" in taken.err
    assert "9 runs (9 complete)" in taken.out
    assert run("list", store) == 0
    listed = capsys.readouterr().out
    assert "a  finished  9 of 9 runs  the budget" in listed
    assert run("status", store) == 0
    assert capsys.readouterr().out == listed
    straight = tmp_path / "straight.json"
    assert run("run", "--replay", REPLAY, "--budget", "9", "--save", straight) == 0
    capsys.readouterr()
    kept = tmp_path / "kept.json"
    assert run("export", store, kept, "--json") == 0
    values = [
        [record.run.value for record in TuningResult.load(path).records]
        for path in (straight, kept)
    ]
    assert values[0] == values[1], "resumed it finds what it would have found in one go"


@for_each("file", ["out.txt", "missing/out.csv", "folder.json"])
def test_a_result_that_could_not_be_saved_is_refused_before_the_search(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.json").mkdir(exist_ok=True)
    store = tmp_path / "none.db"
    words = ("--budget", "3", "--store", store, "--save", tmp_path / file)
    with pytest.raises(SystemExit):
        run("run", "--replay", REPLAY, *words)
    assert "--save: must" in capsys.readouterr().err
    assert not store.exists()


def test_a_study_that_could_not_be_saved_is_refused_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(SystemExit):
        run("compare-searches", "--recording", "simulated-12-ranks", "--save", tmp_path / "taken")
    assert "--save: must be a folder, or one to be made" in capsys.readouterr().err


def test_a_replay_of_a_shipped_recording_goes_on_by_itself(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("resume", store, "--budget", "7") == 0
    assert "7 runs (7 complete)" in capsys.readouterr().out


def test_exports(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.csv"
    assert run("export", store, file) == 0
    with file.open(newline="") as text:
        assert len(list(csv.DictReader(text))) == 6
    assert run("export", store, tmp_path / "a.json") == 0
    capsys.readouterr()
    assert run("show", tmp_path / "a.json") == 0
    assert capsys.readouterr().out.startswith("a: 6 runs")
    with pytest.raises(SystemExit):
        run("export", store, tmp_path / "a.txt")
    assert "must end in .csv or .json" in capsys.readouterr().err


def test_a_component_file_runs_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tool.yaml"
    file.write_text(TOOL.format(status=0))
    words = ("--component", "tool", "--axis", "n=1,2", "--heuristic", "exhaustive")
    assert run("run", file, *words, "--budget", "2", "--initial", "0") == 0
    assert "explored: 100.0 % of 2" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="--component must be one of tool, other"):
        run("run", file)


def test_a_rate_that_is_made_small_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tool.yaml"
    words = ("--component", "tool", "--heuristic", "exhaustive", "--initial", "1", "--budget", "3")

    def write(target: str) -> None:
        text = TOOL.format(status=0).replace(
            "    parameters:", f"    target: {target}\n    parameters:", 1
        )
        file.write_text(text.replace("exit 0", "echo $N"))

    for target in (
        '{regex: "([0-9]+)", unit: MB/s}',
        '{regex: "([0-9]+)", name: throughput}',
        '{regex: "([0-9]+)( GB/s)?"}',
        '{regex: "([0-9]+)", name: "score, higher is better"}',
    ):
        write(target)
        with pytest.raises(ParameterError, match="say which: --better more or --better less"):
            run("run", file, *words)
    assert run("component", "check", file) == 0
    assert "write maximise: true or false in its target" in capsys.readouterr().err
    assert run("run", file, *words, "--better", "more", "--json") == 0
    assert json.loads(capsys.readouterr().out)["best"]["configuration"]["n"] == 4
    write('{regex: "([0-9]+)", unit: MB/s, maximise: false}')
    assert run("run", file, *words) == 0
    with pytest.raises(ParameterError, match="latency less is better"):
        run("run", "open-mpi-bcast", "--better", "more")


def test_where_nothing_is_better_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tool.yaml"
    target = '    target: {regex: "([0-9]+)", unit: ms}\n    parameters:'
    text = TOOL.format(status=0).replace("    parameters:", target, 1)
    file.write_text(text.replace("exit 0", "echo $N"))
    words = ("--component", "tool", "--heuristic", "exhaustive", "--initial", "1")
    assert run("run", file, *words, "--budget", "3") == 0
    assert "default: 1 ms (one run); no run is better\n" in capsys.readouterr().out


def test_a_program_that_fails_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tool.yaml"
    file.write_text(TOOL.format(status=3))
    assert run("run", file, "--component", "tool", "--budget", "2") == FAILED
    err = capsys.readouterr().err
    assert "no run gave a value" in err
    assert "3" in err


def test_what_cannot_be_is_refused(tmp_path: Path, store: Path) -> None:
    with pytest.raises(ParameterError, match="name a component"):
        run("run")
    with pytest.raises(ParameterError, match="leave sort, --axis out"):
        run("run", "sort", "--replay", REPLAY, "--axis", "ways=1,2")
    with pytest.raises(ParameterError, match="leave --runner, --partition out"):
        run("run", "--replay", REPLAY, "--runner", "slurm", "--partition", "lab")
    with pytest.raises(ParameterError, match="heuristic must be one of"):
        run("run", "--replay", REPLAY, "--heuristic", "luck")
    for option in ("--component", "--application", "--experiment"):
        with pytest.raises(ParameterError, match=f"leave {option} out"):
            run("run", "--replay", REPLAY, option, "x")
    with pytest.raises(ParameterError, match="--noise needs --replay"):
        run("run", "sort", "--noise", "none")
    with pytest.raises(ParameterError, match="such as --application 'mpirun -np 4"):
        run("run", "open-mpi-bcast", "--runner", "slurm")
    with pytest.raises(ParameterError, match="sort ships, and is one: leave it out"):
        run("run", "sort", "--component", "other")
    with pytest.raises(OSError, match="does not exist"):
        run("show", tmp_path / "none.db")
    with pytest.raises(StudyError, match="'b'"):
        run("show", store, "--name", "b")


def test_options_of_another_runner_are_refused(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, message in (
        (
            ("--partition", "lab"),
            "--partition is for --runner slurm or slurm-steps; got --runner l",
        ),
        (("--runner", "slurm", "--srun=-v"), "--srun is for --runner slurm-steps"),
        (("--runner", "slurm", "--scheduler", "tcp://a:1"), "--scheduler is for --runner dask"),
        (("--runner", "slurm", "--nodes", "0"), "nodes must be a whole number of at least 1"),
        (("--runner", "slurm-steps", "--srun", "'"), "--srun must be words as in a shell"),
        (("--runner", "slurm-steps", "--srun", "x"), "options of srun must begin with a dash"),
        (("--runner", "dask"), "--scheduler must be the address"),
        (("--initial", "20000"), "initial must be at most 10000; got 20000"),
    ):
        with pytest.raises(ParameterError, match=message):
            run("run", "sort", *words)
    with pytest.raises(ParameterError, match="this experiment's is replay"):
        run("resume", store, "--allocation", "3", "--replay", REPLAY)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunnerError, match="need sbatch"):
        run("run", "sort", "--runner", "slurm", "--partition", "lab", "--slurm=--exclusive")


def test_other_commands_are_part_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("component", "list") == 0
    assert "sort" in capsys.readouterr().out
    assert run("record", "show", "open-mpi-4-ranks") == 0
    assert "bcast/65536" in capsys.readouterr().out
