"""The notebooks as pages for a class, a kernel for each open page.

The server is Voilà with options. `jupyter/` holds its settings, the page that lists the notebooks
and the template of a notebook's page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.workshop.cards import Card as Card, cards as cards
    from workbench.workshop.need import Need as Need, need as need
    from workbench.workshop.server import check_address as check_address, serve as serve
else:
    __getattr__, __dir__ = lazy_exports(__name__)
