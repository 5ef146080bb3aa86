"""Jobs: what is reported, how they stop, what becomes of errors."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from workbench import tasks
from workbench.errors import SimulationHalted

WAIT = 600.0  # seconds until a test is a failure, not a measurement


def test_a_job_returns_what_its_work_returns() -> None:
    def add(a: int, *, b: int, task: tasks.Task) -> int:
        return a + b

    job = tasks.submit(add, 2, b=3)
    assert job.result(WAIT) == 5
    assert job.state == "done"
    assert job.partial == 5
    assert job.finished
    assert repr(job).startswith("Job(add, done")


def test_progress_and_the_result_so_far_are_readable_while_it_runs() -> None:
    reached, go_on = threading.Event(), threading.Event()
    found = [1]

    def work(task: tasks.Task) -> str:
        task.partial_from(lambda: list(found))
        task.report(1, 4, "first of four")
        reached.set()
        go_on.wait(WAIT)
        return "end"

    job = tasks.submit(work)
    assert reached.wait(WAIT)
    assert job.state == "running"
    assert (job.progress.done, job.progress.total, job.progress.message) == (1, 4, "first of four")
    assert job.progress.fraction == 0.25
    assert job.partial == [1]
    found.append(2)
    assert job.partial == [1, 2]
    with pytest.raises(TimeoutError, match="1 of 4 done"):
        job.result(0.01)
    go_on.set()
    assert job.result(WAIT) == "end"


def test_who_waits_for_a_preview_goes_on_when_the_work_offers_one_or_ends() -> None:
    go_on = threading.Event()

    def work(offers: bool, task: tasks.Task) -> None:
        if offers:
            task.preview()
        go_on.wait(WAIT)

    offering, silent = tasks.submit(work, True), tasks.submit(work, False)
    offering.wait_for_preview(WAIT)
    assert not offering.finished
    go_on.set()
    silent.wait_for_preview(WAIT)
    assert silent.finished


def test_stop_is_seen_by_the_work_and_its_result_kept() -> None:
    begun = threading.Event()

    def count(task: tasks.Task) -> int:
        n = 0
        while not task.stopping:
            n += 1
            begun.set()
            task.breathe()
        return n

    job = tasks.submit(count)
    assert begun.wait(WAIT)
    job.stop()
    job.stop()
    assert job.result(WAIT) > 0
    assert job.state == "stopped"


def test_work_that_a_stop_leaves_without_a_result_has_not_failed() -> None:
    def simulate(task: tasks.Task) -> None:
        task.stop_event.wait(WAIT)
        raise SimulationHalted("the run was stopped before it finished")

    job = tasks.submit(simulate)
    while job.state == "pending":
        time.sleep(0.001)
    job.stop()
    with pytest.raises(SimulationHalted):
        job.result(WAIT)
    assert job.state == "stopped"


def test_what_a_kernel_counts_is_progress_until_the_next_report() -> None:
    task = tasks.Task()
    task.report(0, 10, "counting")
    task.counter[0] = 4
    assert task.progress == tasks.Progress(4, 10, "counting")
    task.report(1, 2, "done")
    assert task.progress == tasks.Progress(1, 2, "done")


def test_what_the_work_raises_is_kept_and_raised_when_asked() -> None:
    def fail(task: tasks.Task) -> None:
        task.partial_from(lambda: "something")
        raise KeyError("lost")

    job = tasks.submit(fail)
    assert job.wait(WAIT)
    assert job.state == "failed"
    assert isinstance(job.exception, KeyError)
    assert job.partial == "something"
    with pytest.raises(KeyError, match="lost"):
        job.result(WAIT)


def test_a_job_that_reports_nothing_has_no_progress_and_no_partial() -> None:
    gate = threading.Event()
    job = tasks.submit(lambda task: gate.wait(WAIT))
    assert job.partial is None
    assert job.progress.fraction == 0.0
    gate.set()
    assert job.result(WAIT) is True


def test_the_thread_does_not_keep_the_process_alive() -> None:
    gate = threading.Event()
    daemon: list[bool] = []

    def work(task: tasks.Task) -> None:
        daemon.append(threading.current_thread().daemon)
        gate.wait(WAIT)

    job = tasks.submit(work)
    gate.set()
    job.result(WAIT)
    assert daemon == [True]


def test_other_threads_run_while_python_work_breathes() -> None:
    """Another thread gets the interpreter from a breath alone; `make bench` prints how soon."""
    between = sys.getswitchinterval()
    sys.setswitchinterval(WAIT)  # nobody is made to let go
    try:
        turns = 0

        def busy(task: tasks.Task) -> int:
            nonlocal turns
            while not task.stopping and turns < 100_000:
                turns += 1
                task.breathe()
            return turns

        job = tasks.submit(busy)
        while turns < 10:
            time.sleep(0.001)
        job.stop()
        assert 10 <= job.result(WAIT) < 100_000
    finally:
        sys.setswitchinterval(between)
