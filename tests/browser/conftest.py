from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser.panel import stderr_outputs
from tests.browser.servers import ROOT, Server, Watch, serve
from tests.browser.showing import show_panel

PATIENCE_S = 300.0  # a machine that runs four of these at once, slowly
# The plugin that gives Playwright its base_url declares its fixture the old way.
_OLD_FIXTURE = pytest.mark.filterwarnings(
    "ignore:Session-scoped fixtures defined as instance methods"
)


def _server(item: Any) -> str:
    """Return the server that a test opens its notebook in, or ``file`` where it needs none."""
    return next((kind for kind in ("lab", "voila") if kind in item.fixturenames), "file")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests, and begin with the largest files, so that the processes end together."""
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.browser)
        item.add_marker(_OLD_FIXTURE)
    sizes = Counter(item.path for item in ours)
    items.sort(
        key=lambda item: (-sizes[item.path], str(item.path)) if item.path in sizes else (1, "")
    )


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A small screen: a panel is as wide as in JupyterLab at 1280 pixels with its file browser."""
    return {**browser_context_args, "viewport": {"width": 1030, "height": 900}}


@dataclass
class Pages:
    """The pages that tests share, one for each kind of server.

    Attributes:
        open_context: opens a context of Playwright.
        contexts: one for each kind of server; their caches hold what every page loads.
        pages: of Playwright.
    """

    open_context: Callable[[], Any]
    contexts: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, Any] = field(default_factory=dict)

    def take(self, kind: str) -> Any:
        """Return the page of a kind of server, a new one if there is none."""
        if kind not in self.contexts:
            self.contexts[kind] = self.open_context()
            self.contexts[kind].set_default_timeout(PATIENCE_S * 1000)
        if kind not in self.pages:
            self.pages[kind] = self.contexts[kind].new_page()
        return self.pages[kind]

    def close(self, kind: str) -> None:
        """Close the page of a kind of server, if there is one."""
        if (page := self.pages.pop(kind, None)) is not None:
            page.close()


@pytest.fixture(scope="session")
def pages(browser: Any, browser_context_args: dict[str, Any]) -> Pages:
    return Pages(lambda: browser.new_context(**browser_context_args))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, pages: Pages) -> Iterator[Server]:
    """JupyterLab on a copy of the notebooks."""
    with serve("lab", tmp_path_factory.mktemp("lab")) as server:
        yield replace(server, reload=False)
        pages.close("lab")


@pytest.fixture(scope="session")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Voilà on a copy of the notebooks."""
    with serve("voila", tmp_path_factory.mktemp("voila")) as server:
        yield server


@pytest.fixture
def page(request: pytest.FixtureRequest, pages: Pages) -> Iterator[Any]:
    """A page: that of JupyterLab is loaded once, unless a test fails, which may leave anything."""
    failures, kind = request.session.testsfailed, _server(request.node)
    yield pages.take(kind)
    if kind != "lab" or request.session.testsfailed > failures:
        pages.close(kind)


@pytest.fixture
def show(lab: Server, page: Any, steady: Callable[..., Any]) -> Iterator[Callable[..., Watch]]:
    """Return `show_panel` for JupyterLab; at the end nothing may have gone wrong on the page."""
    watches = []

    def show(notebook: str, *said: Any, **options: Any) -> Watch:
        watches.append(show_panel(lab, page, steady, notebook, *said, **options))
        return watches[-1]

    yield show
    for watch in watches:
        assert (watch.errors, watch.outside) == ([], [])
    assert stderr_outputs(page) == 0


@pytest.fixture
def keep(request: pytest.FixtureRequest, page: Any) -> Callable[[str], None]:
    """Return a function that keeps a screenshot, to be looked at, if there is screenshots/."""
    folder = ROOT / "screenshots"  # git ignores it

    def keep(name: str) -> None:
        if folder.is_dir():
            page.screenshot(path=folder / f"{request.node.name}-{name}.png".replace("/", "-"))

    return keep


@pytest.fixture
def until() -> Callable[..., float]:
    """Return a function that waits until something holds and returns the seconds it took."""

    def until(holds: Callable[[], bool], seconds: float = PATIENCE_S) -> float:
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                pytest.fail(f"did not happen within {seconds} s")
            time.sleep(0.25)  # a look is often a picture, for which the browser computes
        return time.monotonic() - began

    return until


@pytest.fixture
def steady(until: Callable[..., float]) -> Callable[..., Any]:
    """Return a function that waits until something is the same at two looks, and returns it."""

    def steady(look: Callable[[], Any], apart_s: float = 0.3) -> Any:
        seen = [look()]

        def same() -> bool:
            time.sleep(apart_s)
            seen.append(look())
            return bool(seen[-1] == seen.pop(0))

        until(same)
        return seen[0]

    return steady
