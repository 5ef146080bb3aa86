from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.panels import inputs, kernel


@pytest.fixture
def in_a_kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[..., Any]], None]]:
    """Return a function that runs a coroutine as a kernel runs its cells."""
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setattr(kernel, "_shell", lambda: shell)
    monkeypatch.setattr(kernel, "_loops", [])
    yield lambda cells: asyncio.run(cells())


def page_sends(*messages: Callable[[], None]) -> None:
    """Take messages of a page in another thread, as a kernel with subshells does."""

    def take() -> None:
        for message in messages:
            message()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "a message must not wait for a cell"


def test_a_choice_is_not_lost_to_new_options(in_a_kernel: Any) -> None:
    """A panel that offers other options chooses one again; a choice made meanwhile stays."""
    seen: list[tuple[str, str]] = []

    async def cells() -> None:
        kernel.kernel_loop()
        control = inputs.Dropdown(options=["block", "greedy"])
        button = inputs.Button()
        name = threading.current_thread().name
        control.observe(lambda move: seen.append((move["new"], threading.current_thread().name)))
        button.on_click(lambda _: seen.append(("clicked", threading.current_thread().name)))
        before, control.options = control.value, ["block", "greedy", "random"]
        seen.clear()
        page_sends(lambda: control.set_state({"index": 2}), button.click)
        control.value = before  # the end of what the panel does
        assert (control.value, seen) == ("block", [])
        await asyncio.sleep(0)
        assert control.value == "random"
        assert ("random", name) in seen and seen[-1] == ("clicked", name)

    in_a_kernel(cells)


def test_a_slider_skips_values_and_a_waiting_cell_takes_messages(in_a_kernel: Any) -> None:
    seen: list[int] = []

    async def cells() -> None:
        kernel.kernel_loop()
        slider = inputs.IntSlider()
        slider.observe(lambda move: seen.append(move["new"]), "value")
        page_sends(*(lambda to=to: slider.set_state({"value": to}) for to in (1, 2, 3)))
        kernel.run_waiting()
        assert seen == [3]
        await asyncio.sleep(0)
        assert seen == [3]

    in_a_kernel(cells)


def test_outside_of_a_kernel_a_message_is_taken_at_once() -> None:
    seen: list[int] = []
    kernel.after_each_cell(lambda: None)
    assert kernel.kernel_loop() is None
    page_sends(lambda: kernel.on_loop(lambda: seen.append(1)))
    assert seen == [1]
