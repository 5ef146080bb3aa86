"""Programs run here: their words, their time, their output, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.errors import ParameterError
from workbench.tune import Invocation
from workbench.tune.runners import Local, RunHandle, Runner, RunnerError, RunOutput, RunRequest


def run(
    invocation: Invocation, runner: Runner | None = None, timeout_s: float | None = None
) -> RunOutput:
    handle = (runner or Local()).start(RunRequest({}, invocation, 7, timeout_s))
    while (output := handle.poll()) is None:
        time.sleep(0.002)
    return output


def alive(pid: int) -> bool:
    """Whether a process is there and no corpse."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it may end between open and read
        return False


def gone(pid: int) -> bool:
    while alive(pid):
        time.sleep(0.01)
    return True


def test_values_reach_a_program_as_words_and_variables() -> None:
    words = ("a b", "", "$HOME", "'; exit 3", "c\nd")
    output = run(
        Invocation(
            (sys.executable, "-c", "import os, sys; print(sys.argv[1:], os.environ['V'])", *words),
            {"V": "x'\n$(y)"},
        )
    )
    assert output.stdout == f"{list(words)} x'\n$(y)\n"
    assert (output.state, output.returncode) == ("completed", 0)
    assert output.started
    assert output.queue_seconds == 0.0


def test_a_program_finds_the_seed_of_its_run() -> None:
    assert run(Invocation(("sh", "-c", "echo $WORKBENCH_SEED"))).stdout == "7\n"


def test_the_time_is_the_programs_own_and_not_that_of_its_header() -> None:
    invocation = Invocation(
        ("sh", "-c", "echo $A $B; sleep 0.1"), {"A": "1 2"}, header="sleep 0.5\nexport B=3"
    )
    began = time.perf_counter()
    output = run(invocation)
    whole = time.perf_counter() - began
    assert output.stdout == "1 2 3\n"
    # sleep takes at least what it is told; the two clocks may differ by a few milliseconds.
    assert 0.095 <= output.seconds <= whole - 0.495


def test_what_a_program_says_of_its_failure_is_kept() -> None:
    output = run(Invocation(("sh", "-c", "echo out; echo err >&2; exit 4")))
    assert (output.state, output.returncode) == ("failed", 4)
    assert (output.stdout, output.stderr) == ("out\n", "err\n")


def test_a_limit_ends_the_program_and_what_it_started() -> None:
    invocation = Invocation(("sh", "-c", "sleep 60 & echo $!; sleep 60"))
    for limit_s in (0.2, 1.0, 5.0, 25.0):
        output = run(invocation, timeout_s=limit_s)
        assert output.state == "timeout"
        assert output.seconds >= limit_s
        if output.stdout:  # on a busy machine the program may not have written before
            break
    assert gone(int(output.stdout))


def test_what_a_program_left_running_is_ended_with_it() -> None:
    output = run(Invocation(("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")))
    assert output.state == "completed"
    assert gone(int(output.stdout))


def test_a_cancelled_program_ends_even_if_it_does_not_want_to(tmp_path: Path) -> None:
    words = ("bash", "-c", "trap '' TERM; touch on; sleep 60 & wait; wait")
    handle = Local(tmp_path).start(RunRequest({}, Invocation(words)))
    while not (tmp_path / "on").exists():
        assert handle.poll() is None
    handle.cancel()
    handle.cancel()
    while (output := handle.poll()) is None:
        time.sleep(0.01)
    assert output.state == "cancelled"
    assert gone(int(output.job_id))


def test_a_program_dies_with_its_experiment_and_so_does_what_it_started() -> None:
    # A process group of its own, as mpirun gives its ranks: by job control.
    words = "set -m; sleep 60 & echo $!; wait"
    script = (
        "import time\n"
        "from workbench.tune.component.invocation import Invocation\n"
        "from workbench.tune.runners import Local, RunRequest\n"
        "from workbench.tune.runners.process_cleanup import GUARD\n"
        f"handle = Local().start(RunRequest({{}}, Invocation(('bash', '-c', {words!r}))))\n"
        "while not (text := handle._stdout.text):\n"
        "    time.sleep(0.01)\n"
        # Whoever watches over it is killed; the next one takes it over.
        "GUARD._process.kill(), GUARD._process.wait()\n"
        "Local().start(RunRequest({}, Invocation(('true',))))\n"
        "print(handle.job_id, text, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout as stream:
        first, second = map(int, stream.readline().split())
    assert alive(first)
    assert alive(second)
    assert os.getpgid(second) != os.getpgid(first)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert gone(first)
    assert gone(second)


def test_output_is_read_to_its_end_and_kept_in_part() -> None:
    output = run(Invocation(("seq", "1", "1000000")), Local(most_output_bytes=2000))
    assert output.stdout.startswith("1\n2\n")
    assert output.stdout.endswith("\n1000000\n")
    assert "bytes left out]" in output.stdout
    assert len(output.stdout) < 2100


def test_bytes_that_are_no_text_are_kept_as_far_as_they_can_be() -> None:
    assert run(Invocation(("printf", r"a\377\000b"))).stdout == "a\ufffd\ufffdb"


def test_programs_run_in_a_folder_with_variables(tmp_path: Path) -> None:
    runner = Local(tmp_path, environment={"Q": "1"})
    assert run(Invocation(("sh", "-c", "pwd; echo $Q")), runner).stdout == f"{tmp_path}\n1\n"


def test_what_cannot_be_run_is_reported_before_it_is() -> None:
    with pytest.raises(RunnerError, match="no-such-program must be a program that can run"):
        run(Invocation(("no-such-program",)))
    with pytest.raises(ParameterError, match="name an application"):
        run(Invocation(()))
    with pytest.raises(ParameterError, match="no batch system that could take '--fastio=yes'"):
        run(Invocation(("true",), sbatch_options=("--fastio=yes",)))


def test_of_several_runs_none_is_left_where_one_cannot_start(tmp_path: Path) -> None:
    number = tmp_path / "number"
    code = "import os, sys, time; open(sys.argv[1], 'w').write(f'{os.getpid()} '); time.sleep(60)"
    sleeper = Invocation((sys.executable, "-c", code, str(number)))

    class Waits(Local):
        def start(self, request: RunRequest) -> RunHandle:
            if request.invocation is not sleeper:
                while not (number.exists() and number.read_text().endswith(" ")):
                    time.sleep(0.002)
            return super().start(request)

    missing = Invocation((str(tmp_path / "missing"),))
    with pytest.raises(RunnerError, match="missing"):
        Waits().start_many([RunRequest({}, sleeper), RunRequest({}, missing)])
    assert gone(int(number.read_text()))


def test_a_process_that_ran_something_ends_without_a_warning() -> None:
    code = """
import sys, time
from workbench.tune import Invocation
from workbench.tune.runners import Local, RunRequest
handle = Local().start(RunRequest({}, Invocation((sys.executable, "-c", "pass"))))
while handle.poll() is None:
    time.sleep(0.002)
"""
    words = [sys.executable, "-W", "default::ResourceWarning", "-c", code]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
