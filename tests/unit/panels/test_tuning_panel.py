from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.panels.waiting import PATIENCE_S, settled
from workbench.errors import ParameterError, WorkbenchError
from workbench.panels.tuning.panel import TuningPanel
from workbench.panels.tuning.runner_choice import RunnerChoice
from workbench.panels.tuning.state import FIRST_SETTINGS
from workbench.panels.tuning.subjects import first_word, subjects
from workbench.panels.tuning.view import output_html, true_values
from workbench.tune import Range, TuningSpace
from workbench.tune.experiment import tune
from workbench.tune.result import TuningResult
from workbench.tune.runners import Function, RunnerError

SMALL = "open-mpi-4-ranks/gather/65536"
FILE = """\
components:
  greeting:
    description: says <b>n</b>
    command: sh -c 'echo n is $N; test $N != 4'
    parameters:
      n: {type: int, default: 1, env_var: N, description: what it says, values: [1, 2, 4]}
"""


AT_FIRST: dict[str, Any] = {
    "subject": SMALL,
    "heuristic": "random",
    "resampling": "static:runs=2",
    "pruning": "none",
    "stopping": "none",
    "initial": 4,
    "budget": 12,
    "seed": 0,
    "noise": "measured",
    "jobs": 1,
    "store": "",
}


@pytest.fixture(scope="module")
def only_panel() -> TuningPanel:
    """The panel that the tests share, outside of a kernel: its figures take a second to make."""
    return TuningPanel(SMALL, start=False)


@pytest.fixture
def panel(only_panel: TuningPanel) -> TuningPanel:
    """The shared panel over few recorded configurations, whatever a test before has done to it."""
    only_panel.open("Compare")
    only_panel.press("Clear")
    for name, value in AT_FIRST.items():
        setattr(only_panel, name, value)
    assert only_panel.error == ""
    return only_panel


def run(panel: TuningPanel) -> Any:
    panel.start()
    result = settled(panel)
    assert panel.error == ""
    return result


def test_it_opens_with_recorded_runs_of_a_real_library() -> None:
    panel = TuningPanel()
    result = panel.wait(PATIENCE_S)
    assert panel.error == ""
    assert result is not None
    assert len(result) == FIRST_SETTINGS.budget
    assert panel.subject == "recorded:open-mpi-4-ranks/bcast/65536"
    assert result.space.size == 76
    assert result.best_value < result.default_value
    assert "better than the default" in panel.description
    assert panel.drawn("best")["best"][-1] == result.best_so_far()[-1]
    assert "budget of 60 runs is spent" in panel.text


def test_its_python_gives_its_result(panel: TuningPanel) -> None:
    panel.resampling = "static:runs=2"
    panel.noise, panel.seed = "none", 3
    result = run(panel)
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert [r.run for r in scope["result"].records] == [r.run for r in result.records]
    assert "'none'" in panel.python


def test_going_on_gives_what_one_go_would(panel: TuningPanel) -> None:
    run(panel)
    with pytest.raises(ParameterError, match="12 runs are done; raise the budget"):
        panel.resume()
    panel.budget = 20
    panel.resume()
    result = panel.wait(PATIENCE_S)
    assert result is not None
    assert len(result) == 20
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert [r.run for r in scope["result"].records] == [r.run for r in result.records]


def test_a_store_is_taken_up(panel: TuningPanel, tmp_path: Path) -> None:
    panel.store, panel.budget = str(tmp_path / "tuning.db"), 5
    first = run(panel)
    other = TuningPanel(SMALL, start=False)
    with pytest.raises(ParameterError, match="there is no run yet"):
        other.save(tmp_path / "runs.csv")
    for name in ("heuristic", "initial", "store"):
        setattr(other, name, getattr(panel, name))
    other.budget, other.stopping = 7, "improvement:window=500"
    result = run(other)
    assert len(result) == 7
    assert [r.run for r in result.records[:5]] == [r.run for r in first.records]
    other.stopping, other.budget = "none", 8
    other.resume()
    result = other.wait(PATIENCE_S)
    assert result is not None
    assert len(result) == 8
    assert "stopping" not in other.python


def test_a_store_of_a_killed_kernel_is_looked_into(panel: TuningPanel, tmp_path: Path) -> None:
    panel.store, panel.budget = str(tmp_path / "tuning.db"), 5
    first = run(panel)
    other = TuningPanel(SMALL, start=False)
    for name in ("heuristic", "initial"):
        setattr(other, name, getattr(panel, name))
    assert not other.buttons["Resume"]
    other.store = panel.store
    assert "tuning.db holds 5 of 60 runs; Resume continues" in other.text
    assert other.buttons["Resume"]
    assert other.result is not None
    assert other.result.records == first.records
    # Another search is another experiment; what the store has of this subject is said.
    other.seed = 1
    assert "holds experiments with other settings" in other.text
    assert "4 initial, seed 0 (5 of 5 runs)" in other.text
    assert not other.buttons["Resume"]
    assert other.result is None
    other.seed, other.budget = 0, 5
    with pytest.raises(ParameterError, match="5 runs are done; raise the budget"):
        other.resume()
    other.budget = 7
    other.press("Resume")
    result = other.wait(PATIENCE_S)
    assert result is not None
    assert [r.run for r in result.records[:5]] == [r.run for r in first.records]
    assert len(result) == 7


def test_without_a_store_the_rule_of_stopping_stays(panel: TuningPanel) -> None:
    run(panel)
    panel.budget, panel.stopping = 30, "time:seconds=5"
    panel.press("Resume")
    assert "can change only with a store" in panel.error


def test_stop_keeps_what_ran(panel: TuningPanel) -> None:
    panel.subject, panel.heuristic, panel.budget = "open-mpi-4-ranks/bcast/4096", "tpe", 100_000
    panel.start()
    panel.stop()
    result = panel.wait(PATIENCE_S)
    assert result is not None
    assert not result.stop_reason
    assert "Resume continues" in panel.text
    assert panel.buttons["Resume"]
    assert not panel.controls["subject"].disabled


def test_experiments_of_one_subject_are_compared(panel: TuningPanel) -> None:
    run(panel)
    panel.heuristic = "exhaustive"
    run(panel)
    assert list(panel.results) == [
        "random, static(runs=2), 4 initial, seed 0",
        "exhaustive, static(runs=2), 4 initial, seed 0",
    ]
    panel.open("Compare")
    assert "Of 2 experiments" in panel.text
    recorded = panel._controls.chosen.recorded  # the truth to compare with
    assert recorded is not None
    for name, value in true_values(panel.results, recorded).items():
        assert value == recorded.median(panel.results[name].best_configuration)
        assert f"{value:.4g} µs" in panel.text
    panel.subject = "open-mpi-4-ranks/gather/4096"
    assert panel.results == {}
    panel.subject = SMALL
    assert len(panel.results) == 2
    panel.press("Clear")
    assert panel.results == {}


def test_a_mistake_is_shown_beside_its_rule(panel: TuningPanel) -> None:
    panel.controls["resampling_options"].value = "runs=0"
    assert "runs must be" in panel.error
    panel.press("▶ Start")
    assert not panel.running
    assert panel.error == panel.error
    panel.controls["resampling_options"].value = "runs=3"
    assert panel.error == ""
    panel.stopping = "time"
    panel.press("▶ Start")
    assert "needs seconds" in panel.error


def test_another_rule_forgets_the_options(panel: TuningPanel) -> None:
    panel.heuristic = "annealing:cooling=logarithmic"
    assert panel.state.settings.heuristic.options == {"cooling": "logarithmic"}
    panel.controls["heuristic"].value = "genetic"
    assert panel.heuristic == "genetic"
    assert "mutation_rate=" in panel.controls["heuristic_options"].placeholder


def test_the_values_to_try_can_be_changed(panel: TuningPanel) -> None:
    panel.upload({"mine.yaml": FILE.encode()})
    assert panel.controls["values"].placeholder == "all; or others, such as n=1,2"
    panel.values = "n=2,8"
    assert "2 configurations" in panel._controls.size.value
    panel.heuristic, panel.resampling, panel.budget = "exhaustive", "none", 3
    panel.start()
    result = settled(panel)
    tried = {record.run.configuration["n"] for record in result.records}
    assert tried == {1, 2, 8}
    assert "n=2,8" in panel.python
    assert "with_axes" in panel.python
    # What cannot be tried is said at the field, and the values before it stay.
    panel.values = "m=1,2"
    assert "m is not a parameter of greeting" in panel.error
    with pytest.raises(ParameterError, match="m is not a parameter"):
        panel.start()
    # Those of one component mean nothing to another.
    panel.subject = "sort"
    assert (panel.values, panel.error) == ("", "")
    panel.subject = SMALL
    assert panel.controls["values"].layout.display == "none"


def test_an_uploaded_component_is_run_here(panel: TuningPanel) -> None:
    panel.upload({"mine.yaml": FILE.encode()})
    assert panel.subject == "file:mine.yaml/greeting"
    panel.open("Parameters")
    assert "what it says" in panel.text
    assert "says <b>n" in panel.text
    panel.heuristic, panel.resampling, panel.budget = "exhaustive", "none", 3
    panel.initial = 0
    result = run(panel)
    assert result.counts == {"complete": 2, "pruned": 0, "failed": 1}
    texts = [output_html(record) for record in result.records]
    assert sum("n is" in text for text in texts) == 3
    assert 'read_components("mine.yaml")["greeting"]' in panel.python


def test_a_rate_that_is_made_small_has_a_warning(panel: TuningPanel) -> None:
    rate = FILE.replace(
        "parameters:", "target: {regex: '([0-9]+)', unit: MB/s}\n    parameters:", 1
    )
    panel.upload({"mine.yaml": rate.encode()})
    assert "of 'MB/s' more is usually better; write maximise" in panel._controls.doubt.message
    panel.upload({"mine.yaml": rate.replace("unit", "maximise: true, unit").encode()})
    assert panel._controls.doubt.message == ""


def test_a_file_without_components_is_refused(panel: TuningPanel) -> None:
    with pytest.raises(WorkbenchError, match=r"^bad.yaml:1: a component file must be YAML"):
        panel.upload({"bad.yaml": b"components: [1"})
    with pytest.raises(WorkbenchError, match=r"^mine.yaml: greeting has no values to try"):
        panel.upload({"mine.yaml": FILE.replace(", values: [1, 2, 4]", "").encode()})
    away = FILE.replace("sh -c 'echo n is $N; test $N != 4'", "'{folder}/hello'")
    with pytest.raises(WorkbenchError, match=r"^mine.yaml: .* greeting must name absolute paths"):
        panel.upload({"mine.yaml": away.encode()})
    assert panel.subject == f"recorded:{SMALL}"


def test_files(panel: TuningPanel, tmp_path: Path) -> None:
    result = run(panel)
    text = panel.save(tmp_path / "runs.csv").read_text()
    assert len(text.splitlines()) == 13
    read = TuningResult.load(panel.save(tmp_path / "all.json"))
    assert [r.run for r in read.records] == [r.run for r in result.records]
    assert json.loads((tmp_path / "all.json").read_text())["unit"] == "µs"
    with pytest.raises(ParameterError, match="suffix must be one of"):
        panel.save(tmp_path / "runs.txt")


def test_what_is_not_offered_is_refused(panel: TuningPanel) -> None:
    with pytest.raises(ParameterError, match="no subject is named"):
        panel.subject = "luck"
    with pytest.raises(ParameterError, match="known are"):
        panel.heuristic = "luck"
    with pytest.raises(ParameterError, match="budget must be a whole number"):
        panel.budget = 0
    with pytest.raises(ParameterError, match="initial must be a whole number from 0 to 10,000"):
        panel.initial = 1_000_000
    with pytest.raises(AttributeError, match="cannot be set"):
        panel.speed = 3
    assert not hasattr(panel, "speed")


def test_every_subject_can_be_shown(panel: TuningPanel) -> None:
    known, problem = subjects()
    assert problem == ""
    assert first_word(known) == "recorded:open-mpi-4-ranks/bcast/65536"
    for word in ("component:sort", "component:ackley", "component:open-mpi-bcast"):
        panel.subject = word
        assert panel._controls.size.value  # other texts name configurations too
        assert panel.error == ""
    with pytest.raises(ParameterError):
        first_word({})


def test_what_cannot_be_run_is_reported(panel: TuningPanel) -> None:
    panel.subject, panel.application = "open-mpi-bcast", "mpirun -np '4"
    panel.press("▶ Start")
    assert "must be words as in a shell" in panel.error
    panel.application = ""
    panel.press("▶ Start")
    panel.wait(PATIENCE_S)
    assert "name an application" in panel.error
    panel.subject, panel.store = SMALL, "/nowhere/tuning.db"
    panel.press("▶ Start")
    assert "/nowhere" in panel.error
    panel.store = ""
    run(panel)


def test_what_executes_runs_is_chosen_where_there_is_a_choice(
    panel: TuningPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert panel.runner == "replay"
    with pytest.raises(ParameterError, match="slurm is not a known runner; known are replay"):
        panel.runner = "slurm"
    panel.subject, panel.heuristic = "sort", "random"
    assert panel.runner == "local"
    with pytest.raises(ParameterError, match="jobs must be a whole number from 1"):
        panel.jobs = 0
    here = panel.state
    panel.runner, panel.partition, panel.nodes, panel.jobs = "slurm", "lab", 2, 3
    panel.slurm = ["--comment=a b", "--exclusive"]
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(RunnerError, match="sbatch"):
            panel.start()
        assert "sbatch" in panel.error
    for name in ("sbatch", "salloc"):
        found = tmp_path / name
        found.write_text("#!/bin/sh\n")
        found.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    panel.slurm = "--comment='a b' --exclusive"
    assert panel.error == ""
    state = panel.state
    words = ("--partition=lab", "--nodes=2", "--comment=a b", "--exclusive")
    assert (state.by, state.jobs) == (RunnerChoice("slurm", slurm=words), 3)
    assert f"with Slurm('workbench-runs', {list(words)}) as runner:" in state.python()
    assert "        runner,\n" in state.python()
    assert "jobs=3," in state.python()
    # In one store, the same search by another runner is another experiment.
    assert state.name != here.name
    # So is that of another program, however long its words are.
    names = set()
    for size in ("1024", "2048"):
        panel.application = f"mpirun -np 4 ./a-program-with-a-long-name {size} and its other words"
        names.add(panel.state.name)
    assert len(names) == 2
    assert max(map(len, names)) < 150
    panel.application = ""
    # So is one that searches otherwise in any way that is kept.
    others = {"pruning": "default", "initial": 9, "start": "uniform", "aggregation": "min"}
    kept = {name: getattr(panel, "start_from" if name == "start" else name) for name in others}
    for name, value in {**others, "most_runs": 1, "timeout_s": 3.0}.items():
        setattr(panel, "start_from" if name == "start" else name, value)
        names.add(panel.state.name)
    assert len(names) == 2 + 6
    for name, value in {**kept, "most_runs": 5, "timeout_s": None}.items():
        setattr(panel, "start_from" if name == "start" else name, value)
    panel.slurm = "--comment='a"
    assert "options of Slurm must be words as in a shell" in panel.error
    panel.slurm = "exclusive"
    assert "must begin with a dash" in panel.error
    panel.slurm, panel.nodes = "", "many"
    assert "nodes must be a whole number of at least 1; got 'many'" in panel.error
    panel.nodes, panel.time = None, "soon"
    assert "hours:minutes:seconds" in panel.error
    panel.partition, panel.time = "", ""


def test_steps_of_an_allocation_and_a_cluster_are_chosen(
    panel: TuningPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("salloc", "srun"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    panel.subject, panel.heuristic = "sort", "random"
    panel.runner, panel.ntasks, panel.time, panel.srun = "slurm-steps", 4, "1:00:00", "--mpi=pmix"
    assert panel.error == ""
    by = RunnerChoice("slurm-steps", slurm=("--ntasks=4", "--time=1:00:00"), srun=("--mpi=pmix",))
    assert panel.state.by == by
    assert "step_options=['--mpi=pmix']) as runner:" in panel.state.python()
    compile(panel.state.python(), "panel", "exec")
    panel.allocation = "12"
    assert "leave --ntasks=4 --time=1:00:00 out" in panel.error
    panel.ntasks = panel.time = None
    assert panel.state.by == RunnerChoice("slurm-steps", srun=("--mpi=pmix",), allocation="12")
    panel.allocation = "mine"
    assert "must be the number of a job" in panel.error
    panel.allocation = panel.srun = ""
    panel.runner = "dask"
    # What is only missing is no mistake yet.
    assert panel.error == ""
    panel.press("▶ Start")
    assert "must be the address of a Dask cluster's" in panel.error
    panel.scheduler = "tcp://127.0.0.1:1"
    panel.press("▶ Start")
    assert "must answer at tcp://127.0.0.1:1" in panel.error
    panel.scheduler, panel.runner = "", "local"
    assert panel.runner == "local"


def test_experiments_of_a_store_are_compared(panel: TuningPanel, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="name a store"):
        panel.load()
    panel.initial, panel.budget = 1, 2
    panel.store = str(tmp_path / "tuning.db")
    run(panel)
    panel.seed = 1
    run(panel)
    panel.open("Compare")
    panel.press("Clear")
    panel.press("Load the store")
    assert panel.error == ""
    assert list(panel.results) == [
        f"random, static(runs=2), 1 initial, seed {seed}" for seed in (0, 1)
    ]
    tune("sort", Function(lambda _: 1.0), budget=1, store=tmp_path / "own.db", name="mine")
    assert panel.load(tmp_path / "own.db") == panel.results
    panel.subject = "component:sort"
    assert list(panel.results) == ["mine"]
    panel.press("Load the store")
    with pytest.raises(ParameterError, match="it holds none"):
        panel.load(tmp_path / "empty.db")


def test_a_number_out_of_range_is_reported_and_starts_nothing(panel: TuningPanel) -> None:
    budget = panel.controls["budget"]
    held = panel.budget
    budget.typed.value = 0
    assert "Budget (runs) must be a whole number from 1" in panel.error
    panel.press("▶ Start")
    assert not panel.running
    assert "correct Budget (runs) first" in panel.error
    budget.typed.value = held
    panel.budget = held
    assert panel.error == "correct Budget (runs) first; nothing was started"
    budget.typed.value = 3
    assert (panel.budget, panel.error) == (3, "")
    with pytest.raises(ParameterError, match="timeout_s must be a number from 0 to 1,000,000"):
        panel.timeout_s = -1


def test_another_subject_shows_nothing_of_the_one_before(panel: TuningPanel) -> None:
    first = run(panel)
    assert panel.buttons["Resume"]
    other = "open-mpi-4-ranks/reduce/65536"
    panel.subject = other
    assert panel.result is None
    assert panel.description == panel.python == ""
    assert panel.figures == ["Experiments"], "those of the subject, in the tab that is open"
    assert "No experiment with these settings" in panel.text
    assert not panel.buttons["Resume"]
    with pytest.raises(ParameterError, match=r"no experiment with .* can be resumed"):
        panel.resume()
    second = run(panel)
    assert other in second.name
    panel.subject = SMALL
    assert panel.result.records == first.records
    assert '["gather/65536"]' in panel.python
    panel.budget = len(first) + 2
    panel.resume()
    assert panel.wait(PATIENCE_S).name == first.name
    assert len(panel.result) == len(first) + 2
    assert len(panel.figures) > 1


def test_all_experiments_of_a_store_are_listed(panel: TuningPanel, tmp_path: Path) -> None:
    store = str(tmp_path / "tuning.db")
    space, runner = TuningSpace({"x": Range(0, 1)}), Function(lambda c: float(c["x"]))
    tune(space, runner, budget=2, initial=1, store=store, name="another")
    panel.store = store
    assert [one.name for one in panel.experiments] == ["another"]
    panel.open("Compare")
    assert "another" in panel.text
    run(panel)
    assert len(panel.experiments) == 2
    for words in ("12 of 12", "2 of 2", "finished", SMALL):
        assert words in panel.text
    panel.store = ""
    assert "another" not in panel.text
