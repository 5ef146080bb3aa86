"""The recording of a shared link: its schedules, its tables, and a small one made here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.unit import commands
from tests.unit.processes import descendants
from workbench.cli import variability
from workbench.errors import DatasetError, ParameterError
from workbench.namespaces import NamespaceError, check_system
from workbench.variability.recorded_link import RecordedLink
from workbench.variability.recording import (
    LinkRecording,
    LinkRecordingError,
    LinkRun,
    LinkSchedule,
    LinkSettings,
    emulated_users,
    link_tables,
    record_link,
)
from workbench.variability.recording.network import LinkNetwork
from workbench.variability.recording.step_program import StepProgram
from workbench.variability.recording.traffic import PATTERNS, share

command = partial(commands.run, variability)


def why_not_here() -> str:
    """Return why no link can be recorded on this machine; empty where one can."""
    try:
        check_system()
        StepProgram.found()
        with LinkNetwork(rate_Mbps=10, queue_kB=64):
            return ""
    except (LinkRecordingError, NamespaceError) as error:
        return str(error)


@pytest.fixture(scope="module")
def here() -> None:
    if reason := why_not_here():
        pytest.skip(reason)


def a_run(number: int, slot_start: float) -> LinkRun:
    start = tuple(slot_start + 1 + at for at in range(3))
    return LinkRun(
        number=number,
        slot_start=slot_start,
        slot_end=start[-1] + 0.5,
        start=start,
        end=tuple(at + 0.5 for at in start),
        time_s=(0.5, 0.25, 0.5),
        routine_s=(0.3, 0.6, 0.1, 0.0),
        counters=("JOB_RETRANSMITTED", "LINK_EAST_BACKLOG"),
        values=((1, 2), (3, 4), (5, 6)),
        sent=tuple(tuple(1000 * user for user in range(9)) for _ in range(3)),
        load=(0.5, 0.5, 0.6),
        busy=(0.25, 1.0, 0.5),
    )


@pytest.fixture(scope="module")
def recording() -> LinkRecording:
    run_starts = (1e9, 1e9 + 4, 1e9 + 5000)
    runs = tuple(a_run(number, start) for number, start in enumerate(run_starts))
    users = emulated_users(1)
    return LinkRecording(LinkSettings(steps=3, seed=1), users, runs, "tbf", "reno", "mpirun 1")


@for_each("seed", range(4))
def test_users_have_names_that_say_nothing(seed: int) -> None:
    users = emulated_users(seed)
    assert [user.user for user in users] == [f"u{at}" for at in range(1, 10)]
    assert sum(user.crosses for user in users) == 5
    for user in users:
        sides = {host.partition("-")[0] for host in (user.sender, user.receiver)}
        assert user.crosses == (len(sides) == 2)
    (companion,) = (user for user in users if user.companion)
    heaviest = max((user for user in users if user.crosses), key=lambda user: user.rate)
    assert not companion.crosses
    assert companion.companion == heaviest.user
    assert emulated_users(seed) == users


@examples(5)
@given(st.integers(0, 1000), st.integers(1, 30))
def test_a_longer_schedule_goes_on_with_a_shorter_one(seed: int, runs: int) -> None:
    users = emulated_users(seed)
    short, long = (
        LinkSchedule.drawn(users, runs=count, slot_s=10.0, seed=seed) for count in (runs, runs + 20)
    )
    for run in range(runs):
        one, other = short.during(run), long.during(run)
        assert {(job.user, job.start, job.end) for job in one} == {
            (job.user, job.start, job.end) for job in other
        }
        for job in one:
            assert 0 <= job.start < 10
            assert job.end is None or job.start < job.end < 10


@for_each("pattern", PATTERNS)
def test_a_pattern_has_a_mean_of_one(pattern: str) -> None:
    at = np.arange(0, 15, 0.001)
    # 15000 samples over whole periods: what is left is rounding and the edges of bursts.
    assert np.mean([share(pattern, each) for each in at]) == pytest.approx(1, abs=1e-3)


def test_settings_are_checked() -> None:
    with pytest.raises(ParameterError, match="steps must be a whole number of at least 1"):
        LinkSettings(steps=0)
    with pytest.raises(ParameterError, match="rate_Mbps must be above 0"):
        LinkSettings(rate_Mbps=-1)
    # 4 s, and steps of 0.08 s and twice 2 x 524288 B at 100 Mbit/s.
    assert LinkSettings().slot_s == pytest.approx(4 + 60 * (0.08 + 2 * 2 * 524288 * 8e-8))


def test_a_recording_is_saved_and_read_back(recording: LinkRecording, tmp_path: Path) -> None:
    back = LinkRecording.load(recording.save(tmp_path / "recording.json"))
    assert (back.settings, back.users, back.runs) == (
        recording.settings,
        recording.users,
        recording.runs,
    )
    assert repr(back) == "LinkRecording(3 runs of 1.25 to 1.25 s, 3 steps each, 9 users)"
    assert list(back.to_frame()["jobs beside"]) == [
        len(back.schedule.during(number)) for number in range(3)
    ]


def test_its_tables_are_those_that_analyses_read(recording: LinkRecording, tmp_path: Path) -> None:
    tables = link_tables(recording, "own", created_by="a test")
    back = RecordedLink.load(tables.save(tmp_path / "own"))
    assert back.runs.run == ("r000", "r001", "r002")
    np.testing.assert_allclose(back.runs.time_s, 1.25)
    np.testing.assert_array_equal(back.steps.values[0], [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(back.sent_kB[1, 2], np.arange(9))
    np.testing.assert_array_equal(back.load_average[0], [0.5, 0.5, 0.6])
    np.testing.assert_array_equal(back.busy[2], [0.25, 1.0, 0.5])
    assert back.users == tables.users
    assert back.crossing == tuple(user.user for user in recording.users if user.crosses)
    assert back.provenance.origin == "emulated"
    assert back.routines.routine == ("compute", "Testall", "Iallreduce", "Ibarrier")
    assert back.to_frame().shape == (9, 9)
    assert "9 users of whom 5 cross the link" in repr(back)
    (tmp_path / "own" / "sent.csv").write_text("run,step\n")
    with pytest.raises(DatasetError, match=r"sent\.csv must have the checksum"):
        RecordedLink.load(tmp_path / "own")


def test_the_job_log_has_a_job_once_unless_the_recording_paused(recording: LinkRecording) -> None:
    jobs = link_tables(recording, "own", created_by="a test").jobs
    assert [name for name in jobs.job if name.startswith("r")] == ["r000", "r001", "r002"]
    assert {*jobs.user} <= {"me", *(f"u{at}" for at in range(1, 10))}
    schedule = recording.schedule
    both = {j.number for j in schedule.during(0) if j.end is None and j.start < 3} & {
        j.number for j in schedule.during(1)
    }
    assert both
    spanning = (jobs.start <= 1e9 + 1) & (jobs.end > 1e9 + 4)
    assert spanning.sum() == len(both)
    # The third run came more than an hour later: nobody's job spans that.
    assert (jobs.end - jobs.start).max() < 10
    with pytest.raises(ParameterError, match="2 or more finished runs"):
        link_tables(replace(recording, runs=recording.runs[:1]), "own", created_by="a test")


@pytest.mark.usefixtures("here")
def test_a_small_recording_is_made_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (
        descendants(os.getpid()),
        threading.active_count(),
        set(Path("/proc/self/fd").iterdir()),
    )
    folder = tmp_path / "small"
    assert command("record", "--runs", 1, "--steps", 3, "--output", folder) == 0
    assert "tables need 2 or more" in capsys.readouterr().err
    first = LinkRecording.load(folder / "recording.json").runs
    assert command("record", "--runs", 2, "--output", folder) == 0
    assert "2 runs of" in capsys.readouterr().out
    assert LinkRecording.load(folder / "recording.json").runs[:1] == first
    tables = RecordedLink.load(folder)
    steps = tables.steps
    assert steps.time_s.shape == (2, 3)
    assert (steps.time_s > 0.08).all()  # what it sleeps
    # Two ranks a side send 512 KiB each in a step, which all has to cross the link.
    for name in ("JOB_LEFT_BYTES", "JOB_RIGHT_BYTES", "LINK_EAST_BYTES", "LINK_WEST_BYTES"):
        assert (steps.values[:, :, steps.counters.index(name)] > 2 * 524_288).all()
    assert (tables.routines.time_s[:, 0] >= 3 * 0.08).all()
    with pytest.raises(ParameterError, match="name another folder"):
        record_link(folder, runs=3, settings=LinkSettings(steps=4))
    # What earlier tests left may end meanwhile.
    assert set(descendants(os.getpid())) <= set(before[0])
    assert threading.active_count() <= before[1]
    assert set(Path("/proc/self/fd").iterdir()) <= before[2]


@pytest.fixture
def running(tmp_path: Path, here: None) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A recording by the command, in a process of its own, with a finished run."""
    folder = tmp_path / "long"
    words = ["variability", "record", "--runs", "20", "--steps", "3", "--output", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (folder / "recording.json").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    yield process, folder
    process.kill()
    process.communicate()


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_recording_that_is_ended_leaves_its_runs_and_no_process(
    running: tuple[subprocess.Popen[bytes], Path], number: signal.Signals
) -> None:
    process, folder = running
    started = descendants(process.pid)
    assert started
    process.send_signal(number)
    process.wait(60)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        time.sleep(0.1)
    kept = LinkRecording.load(folder / "recording.json")
    assert len(kept.runs) >= 1
    more = record_link(folder, runs=len(kept.runs) + 1)
    assert more.runs[:-1] == kept.runs
