"""What the browser's tests stand on: other machines are not reached."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.servers import Server

DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
LOADS = """address => new Promise(answer => {
  const image = new Image()
  image.onload = () => answer(true)
  image.onerror = () => answer(false)
  image.src = address
})"""


class Answer(http.server.BaseHTTPRequestHandler):
    """A picture for whoever asks."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.end_headers()
        self.wfile.write(DOT.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server on this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_another_machine_is_not_reached_and_that_it_was_asked_is_reported(
    page: Any, port: int, tmp_path: Path
) -> None:
    """Another name of this machine stands for another machine: somebody would answer there."""
    here, elsewhere = (f"http://{name}:{port}/dot" for name in ("127.0.0.1", "localhost"))
    watch = Server("file", f"http://127.0.0.1:{port}", tmp_path, os.getpid()).watch(page)
    page.goto(here)
    assert page.evaluate(LOADS, f"{here}?2")
    assert watch.outside == [] and watch.errors == []
    assert not page.evaluate(LOADS, elsewhere)
    assert not page.evaluate(LOADS, "http://192.0.2.1/dot")
    assert watch.outside == [elsewhere, "http://192.0.2.1/dot"]
    assert len(watch.errors) == 2
