from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server, close_notebooks, serve

PATIENCE_S = 180.0
# The plugin that gives Playwright its base_url declares its fixture the old way.
_OLD_FIXTURE = pytest.mark.filterwarnings(
    "ignore:Session-scoped fixtures defined as instance methods"
)


def _server(item: Any) -> str:
    """Return the server that a test opens its notebook in, or ``file`` where it needs none."""
    return next((kind for kind in ("lab", "voila") if kind in item.fixturenames), "file")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests, and run a file's on one server in turn: they share a page.

    The largest groups begin first, so that the processes end at about the same time.
    """
    groups = {
        item: f"{item.path.stem}-{_server(item)}"
        for item in items
        if Path(__file__).parent in item.path.parents
    }
    for item in groups:
        item.add_marker(pytest.mark.browser)
        item.add_marker(_OLD_FIXTURE)
    sizes = Counter(groups.values())
    items.sort(
        key=lambda item: (1, -sizes[groups[item]], groups[item]) if item in groups else (0, 0, "")
    )


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A laptop's screen."""
    return {**browser_context_args, "viewport": {"width": 1440, "height": 900}}


@dataclass
class Shared:
    """The pages that tests share: JupyterLab is loaded once, others once for a file's tests.

    Attributes:
        open_context: opens a context of Playwright.
        contexts: one for each kind of server; their caches hold what every page loads.
        pages: of Playwright, one for each kind of server at most.
        of: whose tests have one now: file and kind of server.
    """

    open_context: Callable[[], Any]
    contexts: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, Any] = field(default_factory=dict)
    of: tuple[Path, str] | None = None

    def take(self, of: tuple[Path, str]) -> Any:
        """Return the page of a file's tests on a server, a new one if there is none.

        Args:
            of: file and kind of server.
        """
        kind = of[1]
        if self.of != of:
            self.leave()
            self.of = of
        if kind not in self.contexts:
            self.contexts[kind] = self.open_context()
            # For a machine that runs four of these at once, slowly.
            self.contexts[kind].set_default_timeout(PATIENCE_S * 1000)
        if kind not in self.pages:
            self.pages[kind] = self.contexts[kind].new_page()
        return self.pages[kind]

    def leave(self, spoilt: bool = False) -> None:
        """End the page's kernels, and close the page unless it is JupyterLab's.

        Args:
            spoilt: whether a test failed on it, which may leave anything behind.
        """
        if self.of is not None:
            kind = self.of[1]
            if not spoilt:
                close_notebooks(self.pages[kind])
            if spoilt or kind != "lab":
                self.close(kind)
            if spoilt:
                self.contexts.pop(kind).close()
        self.of = None

    def close(self, kind: str) -> None:
        """Close the page of a kind of server, if there is one.

        Args:
            kind: of server.
        """
        if (page := self.pages.pop(kind, None)) is not None:
            # Voilà's kernel is ended by whoever opens the next page there.
            page.goto("about:blank")
            page.close()


@pytest.fixture(scope="session")
def shared(browser: Any, browser_context_args: dict[str, Any]) -> Shared:
    return Shared(lambda: browser.new_context(**browser_context_args))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, shared: Shared) -> Iterator[Server]:
    """JupyterLab on a copy of the notebooks."""
    with serve("lab", tmp_path_factory.mktemp("lab")) as server:
        yield replace(server, reload=False)
        shared.leave()
        shared.close("lab")


@pytest.fixture(scope="session")
def voila(tmp_path_factory: pytest.TempPathFactory, shared: Shared) -> Iterator[Server]:
    """Voilà on a copy of the notebooks."""
    with serve("voila", tmp_path_factory.mktemp("voila")) as server:
        yield server
        # A server with a kernel takes its time to end.
        shared.leave()


@pytest.fixture
def server(lab: Server) -> Server:
    """The server that panels are tried on; test_voila.py looks at what the other does by itself."""
    return lab


@pytest.fixture
def page(request: pytest.FixtureRequest, shared: Shared) -> Iterator[Any]:
    """A page, shared by a file's tests on one server; most of them run the notebook anew in it.

    A failed test may leave anything on its page, so the next one gets another.
    """
    failures = request.session.testsfailed
    yield shared.take((request.path, _server(request.node)))
    if request.session.testsfailed > failures:
        shared.leave(spoilt=True)


@pytest.fixture
def keep(request: pytest.FixtureRequest, page: Any) -> Callable[[str], Path]:
    """Return a function that keeps a screenshot, to be looked at; git ignores them."""
    folder = ROOT / "screenshots"
    folder.mkdir(exist_ok=True)

    def keep(name: str) -> Path:
        path = folder / f"{request.node.name}-{name}.png".replace("/", "-")
        page.screenshot(path=path)
        return path

    return keep


@pytest.fixture
def until() -> Callable[..., float]:
    """Return a function that waits until something holds and returns the seconds it took."""

    def until(holds: Callable[[], bool], seconds: float = PATIENCE_S) -> float:
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                pytest.fail(f"did not happen within {seconds} s")
            time.sleep(0.1)  # a look is often a picture, for which the browser computes
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
