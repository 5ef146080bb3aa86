"""The setting of Voilà that is a function; `voila.json` has the others."""

from workbench.workshop.cards import add_cards

get_config().VoilaConfiguration.page_config_hook = add_cards  # type: ignore[name-defined]  # noqa: F821
