"""Which process of a parallel run takes which tests: half of them the browser's, at first."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

BROWSER = "tests/browser/"


class BrowserBeside(LoadGroupScheduling):
    """Half of the processes run browser tests from the start; the others do once no other are left.

    A browser waits for its kernel, its kernel for the browser: what they leave of the processors
    other tests use. Each process that turns to browser tests starts a browser and servers first, so
    only half do while there are others. It never goes back to others, because Playwright leaves an
    event loop running, and others start theirs.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._in_browser: set[Any] = set()  # processes

    def schedule(self) -> None:
        """Let half of the processes begin with the browser's tests, if there are any."""
        if self.collection is None and len(self.nodes) > 1:
            tests = self.registered_collections[self.nodes[0]]
            if any(test.startswith(BROWSER) for test in tests):
                self._in_browser.update(self.nodes[: len(self.nodes) // 2])
        super().schedule()

    def _assign_work_unit(self, node: Any) -> None:
        group = self._next_group(node in self._in_browser) or next(iter(self.workqueue))
        if self._is_of_browser(group):
            self._in_browser.add(node)
        self.workqueue.move_to_end(group, last=False)
        # Groups that have ended would be counted again after each test.
        work = self.assigned_work[node].items()
        self.assigned_work[node] = {name: unit for name, unit in work if not all(unit.values())}
        super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        if node in self._in_browser and self._next_group(True) is None and not node.shutting_down:
            node.shutdown()
        else:
            super()._reschedule(node)

    def _next_group(self, of_browser: bool) -> str | None:
        return next((one for one in self.workqueue if self._is_of_browser(one) == of_browser), None)

    def _is_of_browser(self, group: str) -> bool:
        return next(iter(self.workqueue[group])).startswith(BROWSER)
