"""Which process of a parallel run takes which tests."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.schedule import BROWSER, NOTEBOOKS, BrowserBeside

UNITS = [f"tests/unit/test_{name}.py::test" for name in "abcdefgh"]
PAGES = [f"{BROWSER}test_{n}.py::test_{n}_{k}@page-{n}" for n in range(4) for k in range(2)]


class Process:
    """What a scheduler sees of a process of pytest-xdist."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.queue: list[int] = []
        self.ran: list[str] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def run(tests: list[str], count: int, slow: Sequence[int] = ()) -> list[Process]:
    """Run tests in turn on processes, of which the slow ones run one in three rounds."""
    options = {"tx": [f"{count}*popen"]}
    config: Any = SimpleNamespace(
        getvalue=options.get, option=SimpleNamespace(loadscopereorder=False)
    )
    scheduler = BrowserBeside(config)
    processes = [Process(f"gw{n}") for n in range(count)]
    for process in processes:
        scheduler.add_node(process)
    for process in processes:
        scheduler.add_node_collection(process, tests)
    scheduler.schedule()
    for turn in range(3 * len(tests)):
        for n, process in enumerate(processes):
            if process.queue and (n not in slow or turn % 3 == 0):
                index = process.queue.pop(0)
                process.ran.append(tests[index])
                scheduler.mark_test_complete(process, index)
    assert scheduler.tests_finished
    assert all(process.shutting_down for process in processes)
    assert sorted(one for process in processes for one in process.ran) == sorted(tests)
    return processes


def of_browser(process: Process) -> list[bool]:
    return [test.startswith(BROWSER) for test in process.ran]


@pytest.mark.parametrize(("count", "slow"), [(3, ()), (3, (0,)), (3, (1, 2)), (4, ()), (4, (0,))])
def test_browser_tests_begin_at_once_and_no_process_leaves_them(
    count: int, slow: tuple[int, ...]
) -> None:
    processes = run([*UNITS, *PAGES], count, slow)
    assert all(of_browser(processes[0]))
    for process in processes:
        assert of_browser(process) == sorted(of_browser(process))
        pages = [test.rpartition("@")[2] for test in process.ran if "@" in test]
        assert len(pages) == 2 * len(set(pages)), "a group stays in one process"
    if slow == (0,):
        assert any(of_browser(processes[1])), "who has nothing else left helps"


def test_one_process_runs_all_and_the_browser_tests_last() -> None:
    (process,) = run([*UNITS, *PAGES], 1)
    assert process.ran == [*UNITS, *PAGES]


def test_a_file_stays_in_one_process_and_notebooks_are_spread() -> None:
    files = [f"tests/unit/test_{name}.py::test_{n}" for name in "abcd" for n in range(4)]
    notebooks = [f"{NOTEBOOKS}test_notebooks.py::test[{n}]" for n in range(4)]
    processes = run([*files, *notebooks], 2)
    for name in "abcd":
        assert sum(any(f"test_{name}.py" in test for test in one.ran) for one in processes) == 1
    assert all(any(test in notebooks for test in process.ran) for process in processes)


@pytest.mark.parametrize("tests", [UNITS, PAGES])
def test_where_all_are_of_a_kind_all_processes_run_them(tests: list[str]) -> None:
    assert all(process.ran for process in run(tests, 3))
