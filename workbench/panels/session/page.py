"""The page of a panel: the session in its address, and the address that opens one."""

from __future__ import annotations

import functools
import os
from pathlib import PurePath
from typing import Final
from urllib.parse import parse_qs

from workbench.errors import WorkbenchError
from workbench.panels.session.session import LONGEST_LINK, Session, session_of_query

PANELS: Final[dict[str, str]] = {
    "ExplorePanel": "00-start-here.ipynb",
    "FitPanel": "01-fit-a-machine.ipynb",
    "StudyPanel": "02-which-loss.ipynb",
    "RegimePanel": "03-message-regimes.ipynb",
    "ReplayPanel": "04-replay-a-program.ipynb",
    "TolerancePanel": "05-latency-tolerance.ipynb",
    "PlacementPanel": "06-where-to-place-ranks.ipynb",
    "ComparePanel": "07-compare-topologies.ipynb",
    "TuningPanel": "08-tune-a-component.ipynb",
    "SearchComparisonPanel": "09-which-heuristic.ipynb",
    "UncertaintyPanel": "10-how-sure.ipynb",
    "BlamePanel": "11-who-slowed-my-job.ipynb",
    "ForecastPanel": "12-forecast-the-next-steps.ipynb",
    "ValidationPanel": "13-against-reality.ipynb",
    "PapersPanel": "14-the-papers.ipynb",
}
"""The panels that a session can be of, and the notebook that shows each."""

_QUERY, _NAME = "QUERY_STRING", "session"
_AHEAD = "VOILA_PREHEAT"

_taken: set[str] = set()


def session_of_page(panel: str) -> Session | None:
    """Return the session in the page's address, once; None if there is none for this panel.

    Voilà passes the query of the address to the kernel. A damaged one raises a ParseError.
    """
    text = _query()
    if f"{_NAME}=" not in text or text in _taken:
        return None
    try:
        found = parse_qs(text[: 4 * LONGEST_LINK]).get(_NAME, [""])
        session = session_of_query(found[0])
    except WorkbenchError:
        _taken.add(text)
        raise
    if session.panel != panel:
        return None
    _taken.add(text)
    return session


def page_of(panel: str) -> str:
    """Return the path of the open notebook, where Jupyter tells it; else that of a clone's own."""
    opened = PurePath(os.environ.get("JPY_SESSION_NAME", ""))
    return opened.as_posix() if opened.suffix == ".ipynb" else f"notebooks/{PANELS.get(panel, '')}"


def is_of_voila() -> bool:
    """Return whether Voilà runs this kernel, for a page or ahead of one."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila/") or _started_ahead()


def _started_ahead() -> bool:
    return os.environ.get(_AHEAD) == "True"


def _query() -> str:
    """Return the query of the page's address, "" outside of Voilà."""
    if _started_ahead():
        _wait_for_page()
    return os.environ.get(_QUERY, "")


@functools.cache
def _wait_for_page() -> None:
    """Wait, once, until the kernel that Voilà has started ahead is taken for a page."""
    from voila.utils import wait_for_request

    wait_for_request()
