"""The panel of a session, by the name in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.panels.session.page import PANELS
from workbench.panels.session.session import Session, read_session


def open_session(source: Session | str | Path) -> Any:
    """Return a new panel with the state of a session, of the class that the session names.

    Args:
        source: the session, or its file.

    Raises:
        ParseError: the file is no session, damaged, or of a newer version.
        ParameterError: no panel has the name in it, or a value or a dataset is not known here.
    """
    session = source if isinstance(source, Session) else read_session(source)
    if session.panel not in PANELS:
        raise ParameterError(
            f"a session must be of one of {', '.join(PANELS)}; got {session.panel[:60]!r}",
            key="panel",
        )
    # By a list of names of our own: a session cannot name what is imported.
    from workbench import panels

    return getattr(panels, session.panel).from_session(session)
