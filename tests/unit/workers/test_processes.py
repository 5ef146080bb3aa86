from __future__ import annotations

import queue
import threading

import pytest

from workbench.workers import processes
from workbench.workers.work import Answer, PiecedWork, WorkPiece


def test_an_idle_process_takes_the_piece_of_one_that_died(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process of two dies at its piece once the second has done the other."""
    made: list[Process] = []

    class Process:
        def __init__(self, work: PiecedWork, inbox: queue.SimpleQueue) -> None:
            self.piece: WorkPiece | None = None
            self.ready = False
            self.inbox = inbox
            made.append(self)
            inbox.put((self, {"ready": True}))

        def begin(self, piece: WorkPiece) -> None:
            self.piece = piece
            if self is made[0]:
                return
            self.inbox.put((self, {"state": "done", "message": "", "ended": True}))
            if made[0].piece is not None and piece is not made[0].piece:
                self.inbox.put((made[0], None))

        def release(self) -> str:
            return "the process was killed by signal 9"

        def order(self, order: dict[str, object]) -> None: ...
        def dismiss(self) -> None: ...
        def await_end(self, deadline: float) -> None: ...

    noted: list[tuple[str, str]] = []

    def note(name: str, answer: Answer) -> None:
        noted.append((name, answer["state"]))

    monkeypatch.setattr(processes, "_Worker", Process)
    stop = threading.Event()
    too_long = threading.Timer(60, stop.set)  # a piece that nobody takes would wait without end
    too_long.start()
    pieces = [WorkPiece("a", {}), WorkPiece("b", {})]
    processes.do_in_processes(PiecedWork("workbench.none", "s.db", note), pieces, 2, stop)
    too_long.cancel()
    assert noted == [("b", "done"), ("a", "waiting"), ("a", "done")]
    assert len(made) == 2
