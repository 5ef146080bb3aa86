"""Kernels of pages: counted, each in a folder of its own, and ended once."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server import CallContext
from jupyter_server._tz import utcnow
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.web import HTTPError
from traitlets import Dict, Integer, Set, Unicode

from workbench.panels.setup import BOKEH_IN_PAGE

FULL = 503
"""The HTTP status where all seats are taken."""


class WorkshopKernels(AsyncMappingKernelManager):
    """Kernels of open pages, no more than there are seats, and warm ones that wait for a page.

    Voilà makes its own class of this one, whose pools hold the warm kernels.
    """

    seats = Integer(30, min=1, help="how many pages may be open at once").tag(config=True)
    folder = Unicode(help="where each kernel gets a folder of its own").tag(config=True)

    _starting: Any = Set()
    _warming: Any = Set()
    _left: Any = Set()
    _ending: Any = Dict()
    _folders: Any = Dict()

    @property
    def visitors(self) -> int:
        """The number of kernels that belong to pages, those that start included."""
        known = (set(self.list_kernel_ids()) | self._starting) - self._ending.keys()
        # Voilà offers no other way to ask for the kernels that wait.
        pools: Mapping[str, list[Any]] = getattr(self, "_pools", {})
        entries = [entry for pool in pools.values() for entry in pool]
        ready = [entry for entry in entries if entry.done() and not entry.exception()]
        waiting = {entry.result()["kernel_id"] for entry in ready}
        return len(known - waiting) - min(len(self._warming), len(entries) - len(ready))

    async def start_kernel(self, *, kernel_name: str, env: Mapping[str, str], path: str) -> str:
        """Start a kernel in a new folder; where all seats are taken, a page gets status 503."""
        warm = env.get("VOILA_PREHEAT") == "True"
        # Where a warm kernel asks for the query of its page, see `voila.utils.wait_for_request`.
        env = {**env, "VOILA_APP_IP": self.parent.ip, BOKEH_IN_PAGE: "True"}
        if not warm and self.visitors >= self.seats:
            raise HTTPError(FULL)
        kernel_id = str(self.new_kernel_id())
        self._starting.add(kernel_id)
        if warm:
            self._warming.add(kernel_id)
        else:
            CallContext.get(CallContext.JUPYTER_HANDLER).take(kernel_id)
        self._folders[kernel_id] = folder = tempfile.mkdtemp(dir=self.folder or None)
        try:
            await super().start_kernel(
                kernel_name=kernel_name, env=env, cwd=folder, kernel_id=kernel_id
            )
        except BaseException:
            self._remove_folder(kernel_id)
            raise
        finally:
            self._starting.discard(kernel_id)
            self._warming.discard(kernel_id)
        if kernel_id in self._left:
            self._left.discard(kernel_id)
            await self.shutdown_kernel(kernel_id)
            raise HTTPError(410, "its page was closed while it started")
        return kernel_id

    async def shutdown_kernel(
        self, kernel_id: str, now: bool = False, restart: bool = False
    ) -> None:
        """End a kernel; a second request for the same waits for the first."""
        await asyncio.shield(self._end(kernel_id, now, restart))

    def _end(
        self, kernel_id: str, now: bool = False, restart: bool = False
    ) -> asyncio.Future[None]:
        if kernel_id not in self._ending:
            self._check_kernel_id(kernel_id)
            ended = super().shutdown_kernel(kernel_id, now=now, restart=restart)
            self._ending[kernel_id] = asyncio.ensure_future(ensure_async(ended))
            self._ending[kernel_id].add_done_callback(lambda _: self._ending.pop(kernel_id, None))
        ending: asyncio.Future[None] = self._ending[kernel_id]
        return ending

    async def shutdown_all(self, now: bool = False) -> None:
        """End all kernels at once: those that wait for a page would each print an error first."""
        await super().shutdown_all(now=True)

    def notify_disconnect(self, kernel_id: str) -> None:
        """Count how long a kernel is idle from when its page has gone, not from its last work."""
        super().notify_disconnect(kernel_id)
        if kernel_id in self:
            self._kernels[kernel_id].last_activity = utcnow()

    def leave(self, kernel_id: str) -> None:
        """End a kernel whose page was closed before it was whole, soon."""
        if kernel_id in self._starting:
            self._left.add(kernel_id)
        elif kernel_id in self:
            self._end(kernel_id)

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget a kernel that has ended, and remove its folder."""
        self._remove_folder(kernel_id)
        return super().remove_kernel(kernel_id)

    def _remove_folder(self, kernel_id: str) -> None:
        folder = self._folders.pop(kernel_id, None)
        if folder is not None:
            shutil.rmtree(Path(folder), ignore_errors=True)


def tell_pages(kernels: Any) -> None:
    """Let a page have the warm kernel that it takes as it has one that is started for it.

    Voilà's own class takes warm kernels for pages, so this is not a method of ours.
    """
    rendered = kernels.get_rendered_notebook

    async def taken(*words: Any, **options: Any) -> Any:
        found = await rendered(*words, **options)
        CallContext.get(CallContext.JUPYTER_HANDLER).take(found[-1])
        return found

    kernels.get_rendered_notebook = taken
