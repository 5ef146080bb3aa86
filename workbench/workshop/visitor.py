"""A visitor without a browser: opens a page, moves its slider, and leaves."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.websocket import WebSocketClientConnection, websocket_connect

from workbench.errors import WorkshopError

SLIDER = "injection latency"
"""The slider that visitors move, of the panel of notebook 00."""

_PAUSE_S = (0.5, 1.5)
"""Shortest and longest pause between the answer to a move and the next move."""

_PATIENCE_S = 300.0
_HEADER = {"username": "", "session": "", "date": "", "version": "5.3"}


@dataclass
class Visitor:
    """A page without a browser: it says to the server what a browser does.

    Drawing, which a visitor's own machine does, is left out.
    """

    address: str  # of the server, with its token
    notebook: str
    picture_s: float = 0.0  # from the request to all that the first picture needs
    answers_s: list[float] = field(default_factory=list)  # from a move to the new curves
    values: list[int] = field(default_factory=list)  # of the slider, as moved
    held: int | None = None  # by the kernel at the end
    _start: str = ""
    _cookies: SimpleCookie = field(default_factory=SimpleCookie)
    _kernel: str = ""
    _socket: WebSocketClientConnection | None = None
    _slider: str = ""

    async def enter(self) -> None:
        """Open the page and fetch all that it shows."""
        began = time.perf_counter()
        start, _, query = self.address.partition("?")
        self._start = start.rstrip("/")
        await self._fetch(f"/?{query}")
        page = await self._fetch(f"/voila/render/{self.notebook}")
        found = re.search(rb'"kernelId": "([\w-]+)"', page.body)
        if page.code != 200 or found is None:
            raise WorkshopError(f"the page must open; it answered {page.code} {page.reason}")
        self._kernel = found[1].decode()
        for script in re.findall(rb'<script src="(/[^"]+)"', page.body):
            await self._fetch(script.decode())
        address = f"{self._start}/api/kernels/{self._kernel}/channels?session_id={uuid4().hex}"
        self._socket = await websocket_connect(
            HTTPRequest("ws" + address.removeprefix("http"), headers=self._headers()),
            max_message_size=1 << 28,
        )
        states = await self._states()
        self._slider = _model(states, description=SLIDER)
        self.picture_s = time.perf_counter() - began

    async def move(self, values: Sequence[int], pauses: random.Random) -> None:
        """Move the slider to one value after another, with a pause after each answer."""
        for value in values:
            began = time.perf_counter()
            update = {"method": "update", "state": {"value": value}, "buffer_paths": []}
            await self._done(
                await self._send("comm_msg", {"comm_id": self._slider, "data": update})
            )
            self.answers_s.append(time.perf_counter() - began)
            self.values.append(value)
            await asyncio.sleep(pauses.uniform(*_PAUSE_S))
        states = await self._states()
        self.held = states[self._slider]["state"]["value"]

    async def leave(self) -> None:
        """Close the page, which asks for the end of its kernel."""
        if self._socket is not None:
            self._socket.close()
        form = urlencode({"_xsrf": self._cookies["_xsrf"].value})
        await self._fetch(f"/voila/api/shutdown/{self._kernel}", form)

    async def _fetch(self, path: str, form: str | None = None) -> HTTPResponse:
        """Return an answer, and keep its cookies, as a browser does."""
        request = HTTPRequest(
            self._start + path,
            method="GET" if form is None else "POST",
            body=form,
            headers=self._headers(),
            follow_redirects=False,
            connect_timeout=_PATIENCE_S,
            request_timeout=_PATIENCE_S,
        )
        # A client that all visitors share would let ten of them wait at a time.
        client = AsyncHTTPClient(force_instance=True)
        answer = await client.fetch(request, raise_error=False)
        client.close()
        for cookie in answer.headers.get_list("Set-Cookie"):
            self._cookies.load(cookie)
        return answer

    def _headers(self) -> HTTPHeaders:
        kept = "; ".join(f"{name}={cookie.coded_value}" for name, cookie in self._cookies.items())
        return HTTPHeaders({"Cookie": kept} if kept else {})

    async def _states(self) -> dict[str, Any]:
        """Return the states of all widgets, as the page asks for them."""
        comm = uuid4().hex
        opened = {"comm_id": comm, "target_name": "jupyter.widget.control", "data": {}}
        await self._send("comm_open", opened, version="1.0.0")
        await self._send("comm_msg", {"comm_id": comm, "data": {"method": "request_states"}})
        answer = await self._until(lambda one: _of(one, comm))
        states: dict[str, Any] = answer["content"]["data"]["states"]
        return states

    async def _send(self, kind: str, content: dict[str, Any], **metadata: str) -> str:
        """Send a message to the kernel and return its number."""
        if self._socket is None:
            raise WorkshopError("a visitor must enter before anything else")
        number = uuid4().hex
        message = {
            "channel": "shell",
            "header": _HEADER | {"msg_id": number, "msg_type": kind},
            "parent_header": {},
            "metadata": metadata,
            "content": content,
            "buffers": [],
        }
        await self._socket.write_message(json.dumps(message))
        return number

    async def _done(self, number: str) -> None:
        """Wait until the kernel is idle again, as it has sent all that a message changes."""
        await self._until(lambda one: _because(one) == number and _idle(one))

    async def _until(self, wanted: Any) -> dict[str, Any]:
        """Return the first message from now on that is wanted."""
        if self._socket is None:
            raise WorkshopError("a visitor must enter before anything else")
        while True:
            text = await asyncio.wait_for(self._socket.read_message(), _PATIENCE_S)
            if text is None:
                raise WorkshopError("the kernel must live until its visitor leaves; it has gone")
            message = _message(text)
            if wanted(message):
                return message


def _message(text: str | bytes) -> dict[str, Any]:
    """Return a message of a kernel without its buffers, which follow the JSON in a binary one."""
    if isinstance(text, bytes):
        first, second = (int.from_bytes(text[4 * n : 4 * n + 4], "big") for n in (1, 2))
        text = text[first:second] if int.from_bytes(text[:4], "big") > 1 else text[first:]
    message: dict[str, Any] = json.loads(text)
    return message


def _of(message: dict[str, Any], widget: str) -> bool:
    """Return whether a message comes from a widget."""
    return message["msg_type"] == "comm_msg" and bool(message["content"]["comm_id"] == widget)


def _idle(message: dict[str, Any]) -> bool:
    """Return whether a kernel says that it has done what it was asked."""
    return bool(message["content"].get("execution_state") == "idle")


def _because(message: dict[str, Any]) -> str:
    """Return the number of the message that this one answers."""
    return str(message["parent_header"].get("msg_id", ""))


def _model(states: dict[str, Any], **wanted: str) -> str:
    """Return the id of the first widget whose state holds these values."""
    for model, one in states.items():
        state = one["state"] | {"_model_name": one["model_name"]}
        if all(state.get(name) == value for name, value in wanted.items()):
            return model
    raise WorkshopError(f"the page must have a widget with {wanted}; it has none")
