"""Processor time of each file of tests: ``pytest --cpu-times 20`` prints the largest twenty.

A busy machine changes it less than how long a test takes. Browsers, servers and kernels are in it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from typing import Any

import psutil
import pytest


def used_s() -> float:
    """Return the seconds that this process, those it runs and those it has waited for have used."""
    own, seconds = psutil.Process(), 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:4])
    return seconds


class CpuTimes:
    """Sums up what the files take in this process, and in those of pytest-xdist."""

    def __init__(self, most: int) -> None:
        self._most, self._before_s = most, 0.0
        self._files: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self._before_s = used_s()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any, nextitem: Any) -> Generator[None, Any, Any]:
        """Add up before a file's servers end, and with them the times of their processes."""
        ends = nextitem is None or nextitem.path != item.path
        if ends:
            self._files[item.location[0]] += used_s() - self._before_s
        done = yield
        if ends:
            self._before_s = used_s()
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
