"""A server for a class: its start page, pages that end their kernels, a limit, and its own end."""

from __future__ import annotations

import contextlib
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

Until = Callable[..., float]

FIRST, OTHER, BUSY = "00-start-here", "lessons/1-other", "lessons/2-busy"
LACKING = "lessons/3-lacking"
READY, SEATS = 1, 2  # of a class of one
PAGE = """
import os
from voila.utils import get_query_string
from workbench.panels import setup
setup()
print("query:", get_query_string(), "files:", os.listdir())
open("mine", "w").close()
"""
# The first page of it shows a widget that its kernel does not have.
LACKS = """
import os
from IPython.display import display
widget = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
if os.path.exists("shown"):
    print("all there")
else:
    open("shown", "w").close()
    display({"application/vnd.jupyter.widget-view+json": widget, "text/plain": ""}, raw=True)
"""
# Python's lock is held meanwhile: no thread of the kernel runs, and no handler of a signal.
BLOCKED = """
import ctypes
open("blocked", "w").close()
ctypes.PyDLL(None).sleep(3600)
"""


def notebook(path: Path, title: str, code: str) -> None:
    """Write a notebook with a cell and a solution."""
    solution = nbformat.v4.new_code_cell("print('the solution')")
    solution.metadata["tags"] = ["solution"]
    text = nbformat.v4.new_markdown_cell(f"# {title}\n\nThe text.")
    content = nbformat.v4.new_notebook(cells=[text, nbformat.v4.new_code_cell(code), solution])
    content.metadata["workbench"] = {"question": f"What is {title}?"}
    path.parent.mkdir(exist_ok=True)
    nbformat.write(content, path)


@dataclass(frozen=True)
class Workshop:
    """A running server for a class of one, and what it said."""

    process: subprocess.Popen[str]
    folder: Path
    address: str
    token: str

    def kernels(self) -> list[psutil.Process]:
        """Return the processes of its kernels, those included that wait for a page."""
        return [
            one
            for one in psutil.Process(self.process.pid).children(recursive=True)
            if not ended(one) and "ipykernel_launcher" in one.cmdline()
        ]


def ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, even if nobody has asked for its status yet."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def notebooks(folder: Path) -> Path:
    """Write four notebooks into a folder, and return it."""
    notebook(folder / f"{FIRST}.ipynb", "the first", PAGE)
    notebook(folder / f"{OTHER}.ipynb", "the other", "")
    notebook(folder / f"{BUSY}.ipynb", "the busy one", BLOCKED)
    notebook(folder / f"{LACKING}.ipynb", "the lacking one", LACKS)
    return folder


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Workshop]:
    """Serve notebooks as in the background of a script, and kill what is left afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workbench", "workshop", "--people", "1"]
    command += ["--port", str(port), "--notebooks", str(folder)]
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"trap '' INT; exec {shlex.join(command)}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    started: list[psutil.Process] = []
    try:
        said = next(line for line in process.stdout or () if "http://" in line)
        address, _, token = said.split()[-1].partition("/?token=")
        server = psutil.Process(process.pid)
        yield Workshop(process, folder, address, token)
        started = server.children(recursive=True) if server.is_running() else []
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            for one in [*started, process]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
            process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, pages: Any) -> Iterator[Workshop]:
    with running(notebooks(tmp_path_factory.mktemp("notebooks"))) as server:
        # The cookie of a visitor of the start page.
        pages.take("file").context.request.get(f"{server.address}/?token={server.token}")
        yield server


@pytest.fixture
def workshop(server: Workshop, page: Any, until: Until) -> Iterator[Workshop]:
    """The server, with no page open, and a page of somebody who has been there."""
    until(lambda: len(server.kernels()) == READY)
    yield server
    page.goto("about:blank")


def render(server: Workshop, name: str) -> str:
    return f"{server.address}/voila/render/{name}.ipynb"


def test_a_card_opens_a_notebook_whose_kernel_ends_with_the_page(
    workshop: Workshop, page: Any, until: Until, keep: Callable[[str], None]
) -> None:
    page.goto(f"{workshop.address}/?token={workshop.token}")
    assert page.locator(".card strong").all_inner_texts() == [
        "the other",
        "the busy one",
        "the lacking one",
        "the first",
    ]
    assert page.get_by_text("What is the other?").is_visible()
    keep("start")
    page.locator(".card", has_text="the other").first.click()
    page.get_by_role("heading", name="the other").wait_for()
    assert page.get_by_text("the solution").count() == 0
    assert len(workshop.kernels()) == READY + 1
    page.get_by_role("link", name="All pages").click()
    until(lambda: len(workshop.kernels()) == READY)


def test_a_ready_kernel_has_the_query_of_its_page_and_a_folder_of_its_own(
    workshop: Workshop, page: Any, until: Until
) -> None:
    (ready,) = workshop.kernels()
    page.goto(f"{render(workshop, FIRST)}?state=a+b")
    page.get_by_text("query: state=a+b files: []").wait_for()
    assert not ended(ready), "the kernel that waited has become the page's"
    page.goto("about:blank")
    until(lambda: ended(ready) and len(workshop.kernels()) == READY)


def test_a_full_server_says_so_and_has_room_once_a_page_is_closed(
    workshop: Workshop, page: Any, until: Until, keep: Callable[[str], None]
) -> None:
    others = [page.context.new_page() for _ in range(SEATS)]

    def opened(page: Any) -> int:
        """Open a page as far as its kernel is known to it, which it ends when it goes."""
        return int(page.goto(render(workshop, OTHER), wait_until="domcontentloaded").status)

    assert [opened(other) for other in others] == [200] * SEATS
    assert opened(page) == 503
    assert page.get_by_role("heading", name="Full, try again in a minute").is_visible()
    keep("full")
    others[0].goto("about:blank")
    until(lambda: opened(page) == 200)
    for other in others:
        other.goto("about:blank")
        other.close()


@pytest.mark.deep
def test_a_page_that_lacks_a_widget_loads_once_more(workshop: Workshop, page: Any) -> None:
    page.goto(render(workshop, LACKING))
    page.get_by_text("all there").wait_for()


def test_strangers_get_no_page(workshop: Workshop, browser: Any) -> None:
    stranger = browser.new_context()
    for path in ("voila/tree", f"voila/render/{OTHER}.ipynb"):
        login = stranger.request.get(f"{workshop.address}/{path}")
        assert "/login" in login.url
        assert "Token" in login.text() and "new_password" not in login.text()
    stranger.close()
    assert len(workshop.kernels()) == READY


def test_ctrl_c_ends_a_server_and_a_kernel_that_is_blocked(
    workshop: Workshop, page: Any, until: Until
) -> None:
    """The last test of its server. SIGINT was ignored when it started."""
    page.goto(render(workshop, BUSY), wait_until="commit")
    until((workshop.folder / "lessons" / "blocked").exists)
    kernels = workshop.kernels()
    assert len(kernels) == READY + 1
    workshop.process.send_signal(signal.SIGINT)
    assert workshop.process.wait(60) == 0
    assert [one for one in kernels if not ended(one)] == [], "it returns when all have ended"


@pytest.mark.deep
def test_a_server_that_is_killed_leaves_no_process(tmp_path: Path, until: Until) -> None:
    """Voilà reads the end of its input, and ends itself and its kernels."""
    with running(notebooks(tmp_path)) as server:
        until(lambda: len(server.kernels()) == READY)
        left = psutil.Process(server.process.pid).children(recursive=True)
        server.process.kill()
        until(lambda: all(ended(one) for one in left))
