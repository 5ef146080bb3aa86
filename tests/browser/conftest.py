from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server, serve


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the browser's tests in one process: they share servers and look at the clock."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


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
