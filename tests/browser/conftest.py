from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server, serve


def _server(item: Any) -> str:
    """Return the server that a test opens its notebook in, or ``file`` where it needs none."""
    return str(item.callspec.params.get("server", "lab" if "lab" in item.fixturenames else "file"))


# Before xdist's own hook, which reads the marks; what is marked after it is in no group.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run a file's tests on one server, one after the other: they share a page."""
    groups = {
        item: f"{item.path.stem}-{_server(item)}"
        for item in items
        if Path(__file__).parent in item.path.parents
    }
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: groups.get(item, ""))


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A laptop's screen."""
    return {**browser_context_args, "viewport": {"width": 1440, "height": 900}}


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab on a copy of the notebooks."""
    with serve("lab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Voilà on a copy of the notebooks."""
    with serve("voila", tmp_path_factory.mktemp("voila")) as server:
        yield server


@dataclass
class Shared:
    """The page that a file's tests share, while there is one.

    Attributes:
        page: of Playwright.
        file: whose tests share it.
    """

    page: Any = None
    file: Path | None = None

    def leave(self) -> None:
        """Go away from the page, which ends Voilà's kernel, and close it."""
        if self.page is not None:
            self.page.goto("about:blank")
            self.page.context.close()
        self.page = self.file = None


@pytest.fixture(scope="session")
def shared() -> Shared:
    return Shared()


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    browser: Any,
    browser_context_args: dict[str, Any],
    shared: Shared,
) -> Iterator[Any]:
    """A page; JupyterLab's is shared by a file's tests, and each runs the notebook anew in it.

    A failed test may leave anything on its page, so the next one gets another.
    """
    sharing = _server(request.node) == "lab"
    if not sharing or shared.file != request.path:
        shared.leave()
    if shared.page is None:
        shared.page = browser.new_context(**browser_context_args).new_page()
        shared.file = request.path
    failures = request.session.testsfailed
    yield shared.page
    if not sharing or request.session.testsfailed > failures:
        shared.leave()


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

    def until(holds: Callable[[], bool], seconds: float = 20.0) -> float:
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                pytest.fail(f"did not happen within {seconds} s")
            time.sleep(0.02)
        return time.monotonic() - began

    return until
