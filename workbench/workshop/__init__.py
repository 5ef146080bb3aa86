"""The notebooks as pages for a class, a kernel for each open page.

The server is Voilà with a page that lists the notebooks, a limit on open pages, kernels that wait
ready, and kernels that end with their page. `jupyter/` holds Voilà's template and settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.workshop.cards import Card, cards
    from workbench.workshop.forks import ForkServer, forked_kernels
    from workbench.workshop.need import Need, need
    from workbench.workshop.rehearsal import rehearse
    from workbench.workshop.server import check_address, serve
    from workbench.workshop.visitors import VisitorTable, Visits
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Card",
    "ForkServer",
    "Need",
    "VisitorTable",
    "Visits",
    "cards",
    "check_address",
    "forked_kernels",
    "need",
    "rehearse",
    "serve",
]
