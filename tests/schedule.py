"""Which process of a parallel run takes which tests: one the browser's, beside the others."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

BROWSER = "tests/browser/"
NOTEBOOKS = "tests/notebooks/"


class BrowserBeside(LoadGroupScheduling):
    """One process runs browser tests from the start; the others do once no other tests are left.

    A browser waits for its kernel, its kernel for the browser: what they leave of the processors
    other tests use. A process never goes back from browser tests to others, because Playwright
    leaves an event loop running, and others start theirs.

    One process runs the tests of a file, whose fixtures it makes and whose kernels it loads once;
    notebooks, which take long and share nothing, are spread.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self._in_browser: set[Any] = set()  # processes

    def schedule(self) -> None:
        """Let the first of several processes begin with the browser's tests, if there are any."""
        if self.collection is None and len(self.nodes) > 1:
            first = self.nodes[0]
            if any(test.startswith(BROWSER) for test in self.registered_collections[first]):
                self._in_browser.add(first)
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        if group == nodeid and not nodeid.startswith(NOTEBOOKS):
            return nodeid.partition("::")[0]
        return group

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
