from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.panels import kernel
from workbench.panels.session.stateful import Stateful


def a_kernel(monkeypatch: pytest.MonkeyPatch, handle: Any) -> dict[str, Any]:
    handlers = {"comm_msg": handle}
    shell = SimpleNamespace(kernel=SimpleNamespace(shell_handlers=handlers))
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    return handlers


def test_a_message_of_a_widget_waits_until_a_panel_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []
    handlers = a_kernel(monkeypatch, lambda *message: seen.append("message"))
    panel = Stateful()
    with panel._lock:
        thread = threading.Thread(target=handlers["comm_msg"], args=("stream", "ident", {}))
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
        seen.append("tick")
    thread.join(10)
    assert seen == ["tick", "message"]


def test_the_handler_keeps_arguments_results_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(stream: str, ident: str, message: dict[str, int]) -> int:
        return message["value"]

    handlers = a_kernel(monkeypatch, handle)
    kernel.take_turns()
    assert handlers["comm_msg"]("stream", "ident", {"value": 3}) == 3
    with pytest.raises(KeyError):
        handlers["comm_msg"]("stream", "ident", {})
    assert kernel.TURN.acquire(blocking=False)
    kernel.TURN.release()


def test_many_panels_wrap_the_handler_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers = a_kernel(monkeypatch, lambda *message: None)
    Stateful()
    first = handlers["comm_msg"]
    Stateful()
    assert handlers["comm_msg"] is first


def test_outside_of_a_kernel_nothing_happens() -> None:
    kernel.take_turns()
    kernel.after_each_cell(lambda: None)
    assert kernel.kernel_loop() is None
