"""A server for a class: its start page, pages that end their kernels, and one that is full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from workbench.workshop.rehearsal import kernels_of, running

FIRST, OTHER = "00-start-here", "lessons/1-other"
WARM = 1
CELLS = """
import os
from pathlib import Path
from voila.utils import get_query_string
print("query:", get_query_string(), "files:", os.listdir())
Path("mine").touch()
"""


def notebook(path: Path, title: str) -> None:
    """Write a notebook that shows its query and its folder, and has a solution."""
    solution = nbformat.v4.new_code_cell("print('the solution')")
    solution.metadata["tags"] = ["solution"]
    text = nbformat.v4.new_markdown_cell(f"# {title}\n\nThe text.")
    content = nbformat.v4.new_notebook(cells=[text, nbformat.v4.new_code_cell(CELLS), solution])
    content.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    content.metadata["workbench"] = {"question": f"What is {title}?"}
    path.parent.mkdir(exist_ok=True)
    nbformat.write(content, path)


@dataclass(frozen=True)
class Workshop:
    """A running server for a class of one, which has two seats."""

    address: str
    token: str
    process: int

    @property
    def kernels(self) -> int:
        """The number of kernels of pages: one more waits for a page of the first notebook."""
        return len(kernels_of(self.process)) - WARM


@pytest.fixture(scope="module")
def server_of_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    folder = tmp_path_factory.mktemp("notebooks")
    notebook(folder / f"{FIRST}.ipynb", "the first")
    notebook(folder / f"{OTHER}.ipynb", "the other")
    with running(folder, people=1) as (process, address):
        start, _, token = address.partition("/?token=")
        yield Workshop(start, token, process)


@pytest.fixture
def empty(until: Callable[..., float], steady: Callable[..., Any]) -> Callable[[Workshop], bool]:
    """Return a function that waits until a server has no kernels but its warm one."""

    def empty(server: Workshop) -> bool:
        # A warm kernel that was taken is replaced after a second.
        until(lambda: steady(lambda: server.kernels, 1.5) == 0)
        return True

    return empty


@pytest.fixture
def workshop(
    server_of_pages: Workshop, page: Any, empty: Callable[[Workshop], bool]
) -> Iterator[Workshop]:
    """The server, with no page open, and a visitor that it knows."""
    assert empty(server_of_pages)
    page.goto(f"{server_of_pages.address}/?token={server_of_pages.token}")
    yield server_of_pages
    page.goto("about:blank")


def test_a_card_opens_a_notebook_whose_kernel_ends_with_the_page(
    workshop: Workshop,
    page: Any,
    empty: Callable[[Workshop], bool],
    until: Callable[..., float],
    keep: Callable[[str], Path],
) -> None:
    assert page.url == f"{workshop.address}/", "the token must not stay in the address"
    assert page.locator(".card strong").all_inner_texts() == ["the other", "the first"]
    assert page.get_by_text("What is the other?").is_visible()
    keep("start")
    for title in ("the first", "the other"):
        page.locator(".card", has_text=title).first.click()
        page.get_by_role("heading", name=title).wait_for()
        assert page.get_by_text("files: []").is_visible(), "a kernel has a folder of its own"
        assert page.get_by_text("the solution").count() == 0
        until(lambda: workshop.kernels == 1)
        page.go_back()
        assert empty(workshop)
    other = page.context.new_page()
    other.goto(f"{workshop.address}/voila/render/{OTHER}.ipynb", wait_until="commit")
    other.close()
    assert empty(workshop)


def test_a_full_server_says_so_and_has_room_once_a_page_is_closed(
    workshop: Workshop, page: Any, until: Callable[..., float], keep: Callable[[str], Path]
) -> None:
    address = f"{workshop.address}/voila/render/{OTHER}.ipynb"
    others = [page.context.new_page() for _ in range(2)]
    assert [other.goto(address).status for other in others] == [200, 200]
    refused = page.goto(address)
    assert (refused.status, refused.headers["retry-after"]) == (503, "60")
    assert page.get_by_role("heading", name="Full, try again in a minute").is_visible()
    keep("full")
    others[0].close()
    until(lambda: page.reload().status == 200)
    others[1].close()


def test_the_query_of_an_address_reaches_a_warm_kernel(workshop: Workshop, page: Any) -> None:
    """It asks for the query, as panels do, and waits there for its page."""
    page.goto(f"{workshop.address}/voila/render/{FIRST}.ipynb?state=a%20b&token={workshop.token}")
    assert page.url == f"{workshop.address}/voila/render/{FIRST}.ipynb?state=a+b"
    page.get_by_text("query: state=a+b").wait_for()


def test_strangers_and_forged_requests_are_refused(
    workshop: Workshop, page: Any, browser: Any
) -> None:
    with page.expect_websocket() as socket:
        page.goto(f"{workshop.address}/voila/render/{OTHER}.ipynb")
    kernel = socket.value.url.partition("/kernels/")[2].partition("/")[0]
    end = f"{workshop.address}/voila/api/shutdown/{kernel}"
    assert page.request.post(end).status == 403, "without the cookie's value"
    stranger = browser.new_context()
    assert "/login" in stranger.request.get(f"{workshop.address}/voila/tree").url
    assert stranger.request.post(end).status == 403
    assert stranger.request.get(f"{workshop.address}/api/kernels/{kernel}").status in (403, 404)
    stranger.close()
    assert workshop.kernels == 1


@pytest.mark.deep
def test_a_server_that_is_killed_leaves_no_process(
    tmp_path: Path, until: Callable[..., float]
) -> None:
    notebook(tmp_path / f"{FIRST}.ipynb", "the first")
    with pytest.raises(psutil.NoSuchProcess), running(tmp_path, people=1) as (process, _):
        server = psutil.Process(process)
        until(lambda: len(kernels_of(process)) == WARM)
        left = server.children(recursive=True)
        server.kill()
        assert psutil.wait_procs([server, *left], timeout=30)[1] == []
        psutil.Process(process)
