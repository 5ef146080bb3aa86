"""A limit on the kernels of Voilà: a page more than there are seats is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.web import HTTPError
from traitlets import Integer


class LimitedKernels(AsyncMappingKernelManager):
    """Kernels of open pages and those that wait for one, at most so many.

    Voilà makes its own class of this one (``VoilaConfiguration.multi_kernel_manager_class``).
    """

    most = Integer(40, min=1, help="how many kernels may run at once").tag(config=True)

    starting = 0

    async def start_kernel(self, *, env: Mapping[str, str], **options: Any) -> str:
        """Start a kernel; where all run, a page gets status 503, and a kernel for later waits."""
        while len(self) + self.starting >= self.most:
            if env.get("VOILA_PREHEAT") != "True":
                raise HTTPError(503)
            await asyncio.sleep(1.0)
        self.starting += 1
        try:
            return str(await super().start_kernel(env=env, **options))
        finally:
            self.starting -= 1
