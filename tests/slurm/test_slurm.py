"""Runs and experiments through a real Slurm, which these tests start for themselves."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.slurm.machine import machine  # noqa: F401 - the fixture
from tests.unit import commands
from tests.unit.tune.runners.waiting import wait
from tests.unit.tune.tuned import bowl
from workbench.cli import tune as cli_tune
from workbench.errors import ParameterError
from workbench.panels.tuning.panel import TuningPanel
from workbench.tasks import submit
from workbench.tune import Invocation, read_components
from workbench.tune.experiment import resume, tune
from workbench.tune.runners import (
    RunHandle,
    Runner,
    RunnerError,
    RunOutput,
    RunRequest,
    Slurm,
    SlurmSteps,
)
from workbench.tune.runners.slurm_commands import queued_jobs
from workbench.tune.store.stored_experiments import load_result, stored_experiments

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.usefixtures("machine"),
]

NAPS = """\
components:
  naps:
    command: [sh, -c, 'sleep $NAP; echo value $NAP']
    target: {regex: 'value ([0-9.]+)'}
    parameters:
      NAP: {type: float, default: 1.0, env_var: true, values: [1.0, 30.0, 0.5]}
"""


def run(runner: Runner, *words: str, limit_s: float | None = None, **env: str) -> RunOutput:
    return wait(runner.start(RunRequest({}, Invocation(words, env), 5, limit_s)))


def jobs(*options: str) -> dict[str, str]:
    """Return the state of each job that has ended, as ``sacct`` reads the completion log."""
    words = ["sacct", "--completion", "--noheader", "--parsable2", "--format=jobid,state"]
    answer = subprocess.run([*words, *options], capture_output=True, text=True, check=True)
    return dict(line.split("|") for line in answer.stdout.splitlines())


def queued() -> str:
    return subprocess.run(["squeue", "--noheader"], capture_output=True, text=True).stdout


def soon(holds: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Return whether something holds within a minute; the queue shows ended jobs for a moment."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def queued_steps() -> list[str]:
    """Return the numbers of the job steps that run programs."""
    words = ["squeue", "--steps", "--noheader", "--format=%i"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return [step for step in found if step.partition(".")[2].isdigit()]


def begin_step(handle: RunHandle, steps: int = 1) -> None:
    """Wait until so many steps run."""
    deadline = time.monotonic() + 60.0
    while len(queued_steps()) < steps:
        assert handle.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


def end_launchers(name: str, job: str) -> None:
    """Kill the programs of that name that hold steps of a job, so that they can tell nobody."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_text().split("\0")
            if Path(words[0]).name == name and f"--jobid={job}" in words:
                os.kill(int(entry.parent.name), signal.SIGKILL)


def nodes() -> str:
    words = ["sinfo", "--noheader", "--format=%N"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def running(ending: str) -> str:
    """Return the number of the job that runs and whose name ends so; empty where there is none."""
    words = ["squeue", "--noheader", "--states=RUNNING", "--format=%i %j"]
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    return next(
        (w[0] for w in map(str.split, answer.stdout.splitlines()) if w[1].endswith(ending)), ""
    )


def test_values_reach_a_job_as_words_and_variables(tmp_path: Path) -> None:
    script = 'echo "$# $1 $2 $A $WORKBENCH_SEED"; sleep 0.2'
    output = run(Slurm(tmp_path), "bash", "-c", script, "x", "a 'b", "$HOME\n;", A="p q")
    assert output.stdout == "2 a 'b $HOME\n; p q 5\n"
    assert (output.state, output.returncode) == ("completed", 0)
    assert output.job_id.isdigit()
    assert output.node_list
    assert output.started
    assert output.seconds >= 0.2
    assert list(tmp_path.iterdir()) == []


def test_time_in_the_queue_is_no_part_of_a_run(tmp_path: Path) -> None:
    later = ("--begin=now+7",)
    began = time.monotonic()
    runner = Slurm(tmp_path, later)
    handle = runner.start(RunRequest({}, Invocation(("true",)), timeout_s=5.0))
    while not runner.waits_for:
        assert handle.poll() is None
        time.sleep(0.05)
    assert runner.waits_for == "1 in the queue (BeginTime)"
    output = wait(handle)
    assert runner.waits_for == ""
    whole = time.monotonic() - began
    assert output.state == "completed"
    assert whole >= 5.0
    # It waited longer than its limit, and was not ended for it.
    assert output.queue_seconds >= 5.0
    assert output.seconds + output.queue_seconds <= whole + 0.1


def test_a_job_is_ended_at_its_limit(tmp_path: Path) -> None:
    output = run(Slurm(tmp_path), "sleep", "60", limit_s=0.5)
    assert output.state == "timeout"
    assert output.seconds >= 0.5
    assert jobs()[output.job_id] == "CANCELLED"


def test_a_job_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    invocation = Invocation(("sleep", "60"))
    handle = Slurm(tmp_path, ("--begin=now+600",)).start(RunRequest({}, invocation))
    assert handle.poll() is None
    handle.cancel()
    output = wait(handle)
    assert (output.state, output.seconds) == ("cancelled", 0.0)


def test_failures_are_reported(tmp_path: Path) -> None:
    output = run(Slurm(tmp_path), "sh", "-c", "echo broken >&2; exit 3")
    assert (output.state, output.returncode) == ("failed", 3)
    assert output.stderr == "broken\n"
    assert "no-such-program" in run(Slurm(tmp_path), "no-such-program").stderr
    with pytest.raises(RunnerError, match=r"sbatch must accept the job.*[Pp]artition"):
        run(Slurm(tmp_path, ("--partition=nowhere",)), "true")
    with pytest.raises(ParameterError, match="name an application"):
        run(Slurm(tmp_path))


def test_options_head_and_header_reach_the_batch_script(tmp_path: Path) -> None:
    invocation = Invocation(
        ("sh", "-c", 'echo "$SLURM_JOB_NAME $SETUP"'),
        sbatch_options=("--job-name=from-option",),
        directives=("#SBATCH --comment=directive",),
        header="export SETUP=done",
    )
    runner = Slurm(tmp_path, keep=True)
    assert wait(runner.start(RunRequest({}, invocation))).stdout == "from-option done\n"
    script = next(tmp_path.rglob("job.sh")).read_text().splitlines()
    assert script[:2] == ["#!/bin/bash", "#SBATCH --comment=directive"]


def test_runs_that_begin_together_are_one_array(tmp_path: Path) -> None:
    requests = [
        RunRequest({}, Invocation(("sh", "-c", "echo $N; sleep 0.1"), {"N": str(number)}))
        for number in range(3)
    ]
    outputs = [wait(handle) for handle in Slurm(tmp_path).start_many(requests)]
    assert [output.stdout for output in outputs] == ["0\n", "1\n", "2\n"]
    array, _, _ = outputs[0].job_id.partition("_")
    assert [output.job_id for output in outputs] == [f"{array}_{task}" for task in range(3)]
    assert list(tmp_path.iterdir()) == []


def test_steps_of_one_allocation_wait_in_no_queue(tmp_path: Path) -> None:
    with SlurmSteps(tmp_path, ("--ntasks=2",)) as runner:
        outputs = [
            run(runner, "sh", "-c", "echo $A $SLURM_STEP_ID; sleep 0.2", A=f"{n} x")
            for n in range(2)
        ]
        # Steps have the tasks that the allocation was asked for.
        assert [sorted(o.stdout.splitlines()) for o in outputs] == [["0 x 0"] * 2, ["1 x 1"] * 2]
        job, _, step = outputs[0].job_id.partition(".")
        assert (step, outputs[1].job_id) == ("0", f"{job}.1")
        assert {output.node_list for output in outputs} == {nodes()}
        assert all(output.seconds >= 0.2 for output in outputs)
        assert run(runner, "sh", "-c", "exit 3").state == "failed"
        # An allocation that somebody else made is not given back.
        with SlurmSteps(tmp_path, job=job, step_options=("--ntasks=1",)) as borrowed:
            output = run(borrowed, "echo", "in")
            assert (output.stdout, output.job_id) == ("in\n", f"{job}.3")
            handle = borrowed.start(RunRequest({}, Invocation(("true",))))
            assert wait(handle).state == "completed"
            borrowed.cancel_orphans("nobody", {handle.job_id})
        assert job in queued()
    assert soon(lambda: job not in queued())
    assert jobs()[job] == "COMPLETED"
    assert list(tmp_path.iterdir()) == []


def test_steps_share_no_processors(tmp_path: Path) -> None:
    with SlurmSteps(tmp_path, ("--ntasks=1",)) as runner:
        invocation = Invocation(("sh", "-c", "date +%s.%N; sleep 0.3; date +%s.%N"))
        handles = [runner.start(RunRequest({}, invocation)) for _ in range(2)]
        times = sorted([float(t) for t in wait(h).stdout.split()] for h in handles)
    (_, first_ended), (second_began, _) = times
    assert first_ended <= second_began


def test_a_step_at_its_limit_is_ended_whatever_it_wants(tmp_path: Path) -> None:
    mark = f"9{time.time_ns() % 10**8}"
    with SlurmSteps(tmp_path) as runner:
        script = f"trap '' TERM; while :; do sleep 0.{mark}; done"
        assert run(runner, "bash", "-c", script, limit_s=0.3).state == "timeout"
        deadline = time.monotonic() + 60.0
        while mark in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_another_allocation_follows_one_that_has_ended(tmp_path: Path) -> None:
    # What runs in the first allocation goes on until that ends, however long Slurm takes for it.
    began = tmp_path.with_name(f"{tmp_path.name}-began")
    words = ("sh", "-c", 'mkdir "$0" && sleep 600; true', str(began))
    with SlurmSteps(tmp_path) as runner:
        first = run(runner, "true").job_id.partition(".")[0]
        handle = runner.start(RunRequest({}, Invocation(words)))
        while not began.exists():
            assert handle.poll() is None
        subprocess.run(["scancel", first], check=True)
        output = wait(handle)
        assert output.state == "completed"
        assert output.job_id.partition(".")[0] not in ("", first)
        with pytest.raises(RunnerError, match=f"allocation {first} must be a running job"):
            run(SlurmSteps(tmp_path, job=first), "true")
    assert list(tmp_path.iterdir()) == []


def test_an_allocation_that_waits_or_is_refused_is_reported(tmp_path: Path) -> None:
    with SlurmSteps(tmp_path, ("--begin=now+600",)) as runner:
        handle = runner.start(RunRequest({}, Invocation(("true",))))
        deadline = time.monotonic() + 60.0
        while not re.fullmatch(r"job \d+ waits for an allocation", runner.waits_for):
            assert handle.poll() is None
            assert time.monotonic() < deadline
        job = runner.waits_for.split()[1]
        handle.cancel()
        assert wait(handle).state == "cancelled"
        assert job in queued()
    assert soon(lambda: job not in queued())
    with pytest.raises(RunnerError, match=r"salloc must grant.*[Pp]artition"):
        run(SlurmSteps(tmp_path, ("--partition=nowhere",)), "true")
    invocation = Invocation(("true",), sbatch_options=("--fastio=yes",))
    with pytest.raises(ParameterError, match="takes no options of sbatch; got '--fastio=yes'"):
        SlurmSteps(tmp_path).start(RunRequest({}, invocation))


def test_an_allocation_ends_with_its_process_however_late_slurm_answers(
    machine: Path,  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    script = (
        "import sys, time\n"
        "from workbench.tune.runners import SlurmSteps\n"
        "runner = SlurmSteps(sys.argv[1])\n"
        "while (place := runner.place('held')) is None: time.sleep(0.02)\n"
        "print(place[0], flush=True)\n"
        "time.sleep(60)\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as stream:
        job = stream.readline().strip()
    assert job in queued()
    (salloc,) = (one for one in psutil.Process(process.pid).children() if one.name() == "salloc")
    # Nothing is sent to Slurm that its authentication service has not signed.
    service = int((machine / "munge" / "pid").read_text())
    os.kill(service, signal.SIGSTOP)
    try:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        # Longer than runs have to end.
        time.sleep(3.0)
    finally:
        os.kill(service, signal.SIGCONT)
    assert soon(lambda: not queued())
    # Sooner than it would be killed.
    assert soon(lambda: not salloc.is_running() or salloc.status() == psutil.STATUS_ZOMBIE, 30.0)


def test_an_experiment_runs_on_slurm_and_its_pruned_run_is_cancelled(
    tmp_path: Path,
) -> None:
    result = tune(
        read_components(NAPS)["naps"],
        Slurm(tmp_path / "runs"),
        heuristic="exhaustive",
        initial=1,
        budget=9,
        most_runs=1,
        pruning=("default", {"factor": 3.0}),
        store=tmp_path / "t.db",
    )
    by_nap = {record.run.configuration["NAP"]: record for record in result.records}
    assert {nap: record.run.status for nap, record in by_nap.items()} == {
        0.5: "complete",
        1.0: "complete",
        30.0: "pruned",
    }
    assert result.best_configuration == {"NAP": 0.5}
    ended = jobs()
    assert ended[by_nap[30.0].job_id] == "CANCELLED"
    assert ended[by_nap[0.5].job_id] == "COMPLETED"
    assert by_nap[30.0].run.seconds < 20.0
    stored = load_result(tmp_path / "t.db")
    assert stored.records == result.records
    assert {record.node_list for record in stored.records} != {""}
    assert stored.settings["runner"] == {"kind": "slurm", "options": []}


def test_a_job_that_a_killed_experiment_left_is_cancelled_when_it_goes_on(
    tmp_path: Path,
) -> None:
    where = tmp_path / "t.db"
    script = (
        "import sys\n"
        "from tests.slurm.test_slurm import NAPS\n"
        "from workbench.tasks import Task\n"
        "from workbench.tune import read_components\n"
        "from workbench.tune.experiment import tune\n"
        "from workbench.tune.runners import Slurm\n"
        "component = read_components(NAPS)['naps']\n"
        "tune(component, Slurm(sys.argv[1]), store=sys.argv[2], budget=4, initial=1,\n"
        "     heuristic='exhaustive',\n"
        "     task=Task(lambda record: print(record.number, flush=True)))\n"
    )
    runs = str(tmp_path / "runs")
    words = [sys.executable, "-c", script, runs, str(where)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as stream:
        # The default has run, then 0.5 is; 30 s is next.
        assert [stream.readline(), stream.readline()] == ["0\n", "1\n"]
    deadline = time.monotonic() + 60.0
    while not (job := running("-2")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # What job it is, is in the store before it runs for long.
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert stored_experiments(where)[0].state == "stopped"
    assert running("-2") == job
    component = read_components(NAPS)["naps"]
    with resume(where, component=component, runner=Slurm(runs)) as experiment:
        result = experiment.run(2)
    # Its budget is spent already; what the other left is taken care of all the same.
    assert len(result) == 2
    deadline = time.monotonic() + 60.0
    while running("-2"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert jobs()[job] == "CANCELLED"


def test_jobs_are_cancelled_whose_numbers_a_killed_experiment_had_no_time_to_note(
    tmp_path: Path,
) -> None:
    where, runs, later = tmp_path / "t.db", tmp_path / "runs", "--begin=now+600"
    script = (
        "import os, sys\n"
        "from tests.unit.tune.tuned import bowl\n"
        "from workbench.tune import search\n"
        "from workbench.tune.experiment import tune\n"
        "from workbench.tune.runners import Slurm\n"
        "search.Search._note_job = lambda self, flight: os.kill(os.getpid(), 9)\n"
        "tune(bowl(), Slurm(sys.argv[1], sys.argv[3:]), store=sys.argv[2], jobs=2, initial=2,\n"
        "     heuristic='random', budget=2)\n"
    )
    words = [sys.executable, "-c", script, str(runs), str(where), later]
    assert subprocess.run(words).returncode == -signal.SIGKILL
    left = queued_jobs()
    assert len([job for job in left.values() if not job.ended and str(runs) in job.label]) == 2
    # One of somebody else's, who is alive.
    other = Slurm(runs, (later,)).start(
        RunRequest({}, Invocation(("true",)), owner="0123456789ab", name="bowl-random-seed0-0")
    )
    with resume(where, component=bowl(), runner=Slurm(runs, (later,)), jobs=2) as experiment:
        going_on = submit(experiment.run)
        deadline = time.monotonic() + 60.0
        while [job for job in queued_jobs().values() if job.number in left and not job.ended]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        going_on.stop()
        going_on.result()
    waiting = [job.number for job in queued_jobs().values() if job.state == "PENDING"]
    assert waiting == [other.job_id]
    other.cancel()


def test_allocations_and_steps_are_found_whose_launchers_were_killed(tmp_path: Path) -> None:
    owner = "0123456789ab"
    request = RunRequest({}, Invocation(("sleep", "60")), owner=owner)
    runner = SlurmSteps(tmp_path, ("--ntasks=1",))
    begin_step(runner.start(request))
    (job,) = queued().split()[:1]
    with SlurmSteps(tmp_path, job=job, step_options=("--ntasks=1",)) as borrowed:
        begin_step(borrowed.start(request), 2)
        # Their own processes go with the machine, and nobody tells Slurm.
        end_launchers("srun", job)
        assert len(queued_steps()) == 2
        borrowed.cancel_orphans(owner, ())
    deadline = time.monotonic() + 60.0
    while queued():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    runner.close()


def test_many_at_once_run_through_an_array(tmp_path: Path) -> None:
    result = tune(bowl(), Slurm(tmp_path), heuristic="random", initial=4, budget=6, jobs=4)
    assert result.counts["complete"] == 6
    first = [r.job_id for r in sorted(result.records, key=lambda r: r.number)[:4]]
    assert len({job.partition("_")[0] for job in first}) == 1


def test_the_panel_and_the_command_run_on_slurm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "tuning.db"
    file = {"naps.yaml": NAPS.replace("30.0", "0.0").encode()}
    panel = TuningPanel(start=False)
    panel.upload(file)
    panel.runner, panel.partition, panel.jobs = "slurm", "lab", 3
    panel.heuristic, panel.resampling, panel.initial, panel.budget = "exhaustive", "none", 0, 3
    panel.store = str(store)
    panel.start()
    result = panel.wait(60.0)
    assert result is not None
    assert panel.error == ""
    assert result.counts["complete"] == 3
    assert {record.job_id.partition("_")[0] for record in result.records} != {""}
    assert all(record.node_list for record in result.records)
    assert "Slurm --partition=lab" in result.name
    first = result.records[0]
    assert f">{first.node_list} ({first.job_id})</td>" in panel._view.runs.table.value
    component = tmp_path / "naps.yaml"
    component.write_bytes(file["naps.yaml"])
    words = f"run {component} --runner slurm --partition lab --heuristic exhaustive"
    words += f" --initial 0 --budget 2 --store {store} --name shell --json"
    assert commands.run(cli_tune, *words.split()) == 0
    capsys.readouterr()
    shell = load_result(store, "shell")
    assert [record.state for record in shell.records] == ["completed"] * 2
    assert shell.settings["runner"] == {"kind": "slurm", "options": ["--partition=lab"]}
    assert not list((tmp_path / "tuning.db-runs").glob("*"))


def test_the_panel_and_the_command_run_steps_of_an_allocation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "tuning.db"
    panel = TuningPanel(start=False)
    panel.upload({"naps.yaml": NAPS.encode()})
    panel.runner, panel.ntasks, panel.time = "slurm-steps", 1, "10"
    panel.heuristic, panel.resampling, panel.initial, panel.budget = "exhaustive", "none", 0, 3
    panel.store = str(store)
    panel.start()
    deadline = time.monotonic() + 60.0
    while panel.result is None or len(panel.result) < 1 or not queued_steps():
        panel.refresh()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # The next one sleeps for 30 s: Stop ends it, and the allocation is given back.
    panel.stop()
    stopped = panel.wait(30.0)
    assert stopped is not None
    assert panel.error == ""
    assert soon(lambda: not queued())
    job = stopped.records[0].job_id
    assert re.fullmatch(r"\d+\.0", job)
    assert f">{nodes()} ({job})</td>" in panel._view.runs.table.value
    settings = {"kind": "slurm-steps", "options": ["--ntasks=1", "--time=10"], "step_options": []}
    assert load_result(store, stopped.name).settings["runner"] == settings
    # The shell goes on in an allocation of its own, and ends what takes too long.
    component = tmp_path / "naps.yaml"
    component.write_text(NAPS)
    words = f"run {component} --runner slurm-steps --ntasks 1 --srun=--quiet --timeout 5"
    words += f" --heuristic exhaustive --initial 1 --budget 1 --store {store} --name shell"
    assert commands.run(cli_tune, *words.split()) == 0
    words = f"resume {store} --name shell --budget 3"
    assert commands.run(cli_tune, *words.split()) == 0
    capsys.readouterr()
    shell = load_result(store, "shell")
    assert {record.run.configuration["NAP"]: record.run.status for record in shell.records} == {
        0.5: "complete",
        1.0: "complete",
        30.0: "pruned",
    }
    first, *rest = (record.job_id.partition(".")[0] for record in shell.records)
    assert first not in rest
    assert len(set(rest)) == 1
    assert soon(lambda: not queued())
    assert not list((tmp_path / "tuning.db-runs").glob("*"))
