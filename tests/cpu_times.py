"""Processor time of each file of tests: ``pytest --cpu-times 20`` prints the largest twenty.

How long a test takes depends on what else the machine does; the processor time of a run is nearly
the same each time. It counts the processes that tests start, browsers and kernels too; what all
tests share, such as a server, counts for the file that starts it and for those that use it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from typing import Any

import psutil
import pytest


def used_s() -> float:
    """Return the seconds that this process, what it runs and what it has waited for have used."""
    own = psutil.Process()
    seconds = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:4])
    return seconds


class CpuTimes:
    """Sums up what the files take in this process, and in those of pytest-xdist."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._files: Counter[str] = Counter()
        self._before_s = 0.0

    def pytest_collection_finish(self) -> None:
        self._before_s = used_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        done = yield
        if nextitem is None or nextitem.path != item.path:
            now_s = used_s()
            self._files[item.location[0]] += max(0.0, now_s - self._before_s)
            self._before_s = now_s
        return done

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output["cpu_times"] = dict(self._files)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._files.update(getattr(node, "workeroutput", {}).get("cpu_times", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        total = sum(self._files.values())
        terminalreporter.section(f"processor time of {len(self._files)} files: {total:.0f} s")
        for file, seconds in self._files.most_common(self._most):
            terminalreporter.write_line(f"{seconds:8.1f} s {file}")
