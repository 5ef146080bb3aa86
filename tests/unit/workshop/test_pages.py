"""A page and its kernel, and the scripts of pages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from jupyter_server import CallContext
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

from workbench.workshop.kernels import WorkshopKernels, tell_pages
from workbench.workshop.pages import NotebookPage, bokeh_scripts


class Kernels:
    """Kernels that take a while to find a warm one for a page."""

    def __init__(self) -> None:
        self.left: list[str] = []

    async def get_rendered_notebook(self, name: str) -> tuple[str, list[str], str]:
        await asyncio.sleep(0.01)
        return "task", [name], "the kernel"

    def leave(self, kernel_id: str) -> None:
        self.left.append(kernel_id)


@pytest.mark.parametrize(("closed", "left"), [(False, []), (True, ["", "the kernel"])])
def test_a_warm_kernel_ends_with_a_page_that_is_closed_before_it_is_whole(
    closed: bool, left: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels: Any = Kernels()
    tell_pages(kernels)
    monkeypatch.setattr(NotebookPage, "kernel_manager", kernels)
    page = NotebookPage.__new__(NotebookPage)
    page._finished = False

    async def visit() -> Any:
        CallContext.set(CallContext.JUPYTER_HANDLER, page)
        taken = asyncio.ensure_future(kernels.get_rendered_notebook("one"))
        await asyncio.sleep(0)
        if closed:
            page.on_connection_close()
        return await taken

    assert asyncio.run(visit()) == ("task", ["one"], "the kernel")
    assert page.kernel_id == "the kernel"
    assert kernels.left == left


def test_pages_load_bokeh_from_the_server() -> None:
    folder, addresses = bokeh_scripts()
    files = [folder / address.rpartition("/")[2].partition("?v=")[0] for address in addresses]
    assert files[0].name == "bokeh.min.js"
    assert all(file.is_file() for file in files)


def test_a_server_that_ends_asks_no_kernel_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits for its page would print an error when it is asked to end."""
    asked: list[bool] = []

    async def end(kernels: Any, now: bool) -> None:
        asked.append(now)

    monkeypatch.setattr(AsyncMappingKernelManager, "shutdown_all", end)
    asyncio.run(WorkshopKernels().shutdown_all())
    assert asked == [True]
