"""The papers the workbench follows: each figure, table, algorithm and claim, and ours.

from workbench import papers

papers.list(paper="000", kind="figure")
papers.run("000-fig-8")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.papers.index import PAPERS, PaperIndex, judge, list, run
    from workbench.papers.paper import Paper, PaperRow, figure_of, figure_titles
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "PAPERS",
    "Paper",
    "PaperIndex",
    "PaperRow",
    "figure_of",
    "figure_titles",
    "judge",
    "list",
    "run",
]
