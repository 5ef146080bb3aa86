"""How far a fit can be trusted: what the data show, what else would do, what holds beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.fit.trust.bootstrap import (
        Intervals as Intervals,
        intervals as intervals,
    )
    from workbench.fit.trust.generalise import (
        CrossTarget as CrossTarget,
        HoldOut as HoldOut,
        cross_target as cross_target,
        generalisation_table as generalisation_table,
        hold_out as hold_out,
    )
    from workbench.fit.trust.identify import (
        Identifiability as Identifiability,
        identify as identify,
    )
    from workbench.fit.trust.thresholds import settle_thresholds as settle_thresholds
else:
    __getattr__, __dir__ = lazy_exports(__name__)
