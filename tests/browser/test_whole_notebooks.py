"""Every cell of every notebook in JupyterLab; tests/notebooks runs them without a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.mark.deep
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_all_cells_are_shown(
    lab: Server, page: Any, keep: Callable[[str], None], notebook: str
) -> None:
    watch = lab.open(page, notebook, whole=True)
    keep("whole")
    assert page.locator("[data-mime-type$=stderr], [data-mime-type$=error]").count() == 0
    assert watch.errors == []
    assert watch.outside == []
