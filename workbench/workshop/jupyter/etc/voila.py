"""The settings of Voilà that are functions; `voila.json` has the others."""

from typing import Any

from workbench.workshop.cards import add_cards

c: Any = get_config()  # type: ignore[name-defined]  # noqa: F821 - Voilà offers it
c.VoilaConfiguration.page_config_hook = add_cards
