"""Runs on Dask workers of this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.tune.runners.waiting import wait
from tests.unit.tune.tuned import bowl
from workbench.errors import ParameterError
from workbench.tune import Invocation
from workbench.tune.experiment import tune
from workbench.tune.runners import Dask, RunnerError, RunRequest

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

# Dask's own threads and sockets outlive what closes them by a moment.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # Threads of this process: what is tested here is this side of Dask.
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            protocol="tcp",
            dashboard_address="127.0.0.1:0",
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_a_run_on_a_worker_is_what_a_local_one_is(client: Any) -> None:
    invocation = Invocation(("sh", "-c", 'echo "$A $WORKBENCH_SEED"; sleep 0.1'), {"A": "x y"})
    output = wait(Dask(client).start(RunRequest({}, invocation, 5)))
    assert (output.stdout, output.state) == ("x y 5\n", "completed")
    assert output.seconds >= 0.1
    assert output.queue_seconds >= 0.0


def test_limits_and_cancelling_reach_the_worker(client: Any) -> None:
    runner = Dask(client)
    request = RunRequest({}, Invocation(("sleep", "60")), timeout_s=0.1)
    assert wait(runner.start(request)).state == "timeout"
    handle = runner.start(RunRequest({}, Invocation(("sleep", "60"))))
    time.sleep(0.2)
    handle.cancel()
    assert wait(handle).state == "cancelled"
    # The worker's thread is free again: two runs at once need both.
    handles = [runner.start(RunRequest({}, Invocation(("sleep", "0.1")))) for _ in range(2)]
    assert [wait(each).state for each in handles] == ["completed", "completed"]


def test_a_program_that_is_not_there_fails_with_a_reason(client: Any) -> None:
    output = wait(Dask(client).start(RunRequest({}, Invocation(("no-such-program",)))))
    assert output.state == "failed"
    assert "no-such-program must be a program" in output.reason


def test_an_experiment_runs_on_a_cluster_two_at_a_time(client: Any) -> None:
    result = tune(bowl(), Dask(client), heuristic="random", budget=16, jobs=2)
    assert result.counts == {"complete": 16, "pruned": 0, "failed": 0}
    assert sorted(record.number for record in result.records) == list(range(16))


def test_a_runner_with_a_client_of_its_own_can_go_on(client: Any) -> None:
    with Dask.at(client.scheduler.address) as runner:
        assert wait(runner.start(RunRequest({}, Invocation(("true",))))).state == "completed"
        runner.close()
        assert wait(runner.start(RunRequest({}, Invocation(("true",))))).state == "completed"
    with pytest.raises(ParameterError, match="scheduler must be an address"):
        Dask.at("nowhere")
    with pytest.raises(RunnerError, match=r"must answer at tcp://127.0.0.1:1; .*refused"):
        Dask.at("tcp://127.0.0.1:1")


def test_that_no_worker_is_there_is_reported_until_one_comes() -> None:
    with distributed.LocalCluster(
        n_workers=0,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
    ) as local:
        told = []

        def lend(runner: Dask) -> None:
            while not runner.waits_for:
                time.sleep(0.01)
            told.append(runner.waits_for)
            local.scale(1)

        with Dask.at(local.scheduler_address) as runner:
            assert runner.waits_for == ""
            lender = threading.Thread(target=lend, args=(runner,))
            lender.start()
            result = tune(bowl(), runner, heuristic="random", budget=3)
            lender.join()
            assert told == [f"no Dask worker at {local.scheduler_address}"]
            assert runner.waits_for == ""
    assert result.counts["complete"] == 3


def test_a_cluster_that_is_gone_ends_the_experiment_and_is_no_failure_of_a_run(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Dask(client)
    handle = runner.start(RunRequest({}, Invocation(("sleep", "60"))))
    # As Dask does when its connection breaks: futures are cancelled by nobody.
    monkeypatch.setattr(client, "status", "connecting")
    client.futures[handle.job_id].cancel()
    with pytest.raises(RunnerError, match="the runs there are lost"):
        wait(handle)
    with pytest.raises(RunnerError, match="restart it and resume"):
        runner.start(RunRequest({}, Invocation(("true",))))
    monkeypatch.undo()
    handle.cancel()
    assert wait(handle).state == "cancelled"


def test_what_is_no_client_is_refused() -> None:
    with pytest.raises(ParameterError, match="for a cluster object pass Client"):
        Dask(object())  # type: ignore[arg-type]
