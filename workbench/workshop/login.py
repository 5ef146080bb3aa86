"""The page that asks a visitor for the class's token, instead of Jupyter Server's for passwords."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.identity import PasswordIdentityProvider
from voila.voila_identity_provider import VoilaLoginHandler


class TokenLoginHandler(VoilaLoginHandler):
    """The page with one field, `login.html` of the template."""

    def get_template(self, name: str) -> Any:
        """Return a template from the folders of Voilà's own."""
        return self.settings["voila_jinja2_env"].get_template(name)


class TokenIdentity(PasswordIdentityProvider):
    """Whoever has the token may enter; nobody can set a password."""

    def get_handlers(self) -> list[tuple[str, object]]:
        """Return the handlers of the pages to enter and to leave."""
        theirs = super().get_handlers()
        return [(path, TokenLoginHandler if path == "/login" else one) for path, one in theirs]
