"""What a class waits for: `make visitors` has all without a browser, here one of them has one."""

from __future__ import annotations

import asyncio
import os
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from tests.benchmarks.conftest import Table
from tests.browser.servers import ROOT
from workbench.workshop.rehearsal import MOVES, NOTEBOOK, running
from workbench.workshop.visitor import Visitor

OTHERS = 9
PATIENCE_MS = 300_000


async def others(address: str, stop: Future[None]) -> None:
    """Let visitors without a browser move their sliders until told to stop."""
    guests = [Visitor(address, NOTEBOOK) for _ in range(OTHERS)]
    await asyncio.gather(*(guest.enter() for guest in guests))
    while not stop.done():
        await asyncio.gather(*(guest.move(range(40, 45), random.Random(0)) for guest in guests))
    await asyncio.gather(*(guest.leave() for guest in guests))


def answers(page: Any) -> list[float]:
    """Return the seconds from each press of a key to the sentence below the new curves."""
    sentence = page.get_by_text("8 KiB message").first
    page.locator(".workbench-panel .noUi-handle").first.focus()
    found = []
    for _ in range(MOVES):
        before, began = sentence.inner_text(), time.perf_counter()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "([node, before]) => node.innerText !== before",
            arg=[sentence.element_handle(), before],
        )
        found.append(time.perf_counter() - began)
        time.sleep(0.5)
    return found


def test_one_of_ten_visitors_has_a_browser(table: Table) -> None:
    """With thirty browsers on the machine of the server, these would be what is measured."""
    stop: Future[None] = Future()
    with (
        running(ROOT / "notebooks", OTHERS + 1) as (_, address),
        ThreadPoolExecutor(1) as pool,
        sync_playwright() as playwright,
    ):
        crowd = pool.submit(asyncio.run, others(address, stop))
        try:
            chromium = os.environ["WORKBENCH_CHROMIUM"]
            page = playwright.chromium.launch(executable_path=chromium).new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(address)
            began = time.perf_counter()
            page.locator(f".card[href*='{NOTEBOOK}']").click()
            page.locator(".bk-Figure").first.wait_for()
            what = f"one of {OTHERS + 1} visitors of a class, in a browser"
            table.add("2", f"{what}: first picture", time.perf_counter() - began, "s")
            p95_ms = 1000 * float(np.percentile(answers(page), 95))
            table.add("2", f"{what}: key press to sentence, 95th percentile", p95_ms, "ms")
            page.goto("about:blank")
        finally:
            stop.set_result(None)
        crowd.result()
