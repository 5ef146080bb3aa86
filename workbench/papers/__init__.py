"""The papers the workbench follows: each figure, table, algorithm and claim, and ours.

from workbench import papers

papers.list(paper="000", kind="figure")
papers.run("000-fig-8")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.papers.index import (
        PAPERS as PAPERS,
        PaperIndex as PaperIndex,
        judge as judge,
        list as list,
        run as run,
    )
    from workbench.papers.paper import (
        Paper as Paper,
        PaperRow as PaperRow,
        figure_of as figure_of,
        figure_titles as figure_titles,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
