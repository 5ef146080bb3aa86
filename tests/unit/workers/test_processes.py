from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import pytest

from workbench.errors import StudyError
from workbench.tasks import Task
from workbench.workers import processes
from workbench.workers.work import Answer, PiecedWork, WorkPiece

READY: Answer = {"ready": True}
DONE: Answer = {"state": "done", "message": "", "ended": True}
DEAD = None


class Process:
    """A process whose answers a test writes."""

    def __init__(self, begin: Callable[[Process], None], inbox: queue.SimpleQueue) -> None:
        self.piece: WorkPiece | None = None
        self.ready = False
        self._begin, self._inbox = begin, inbox

    def answer(self, answer: Answer | None) -> None:
        self._inbox.put((self, answer))

    def begin(self, piece: WorkPiece) -> None:
        self.piece = piece
        self._begin(self)

    def release(self) -> str:
        return "the process was killed by signal 9"

    def order(self, order: dict[str, object]) -> None: ...
    def dismiss(self) -> None: ...
    def await_end(self, deadline: float) -> None: ...


class Scene:
    """Two pieces and the processes that do them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: Answer | None = READY) -> None:
        self.made: list[Process] = []
        self.noted: list[tuple[str, str]] = []
        self.begin: Callable[[Process], None] = lambda process: process.answer(DONE)

        def make(work: PiecedWork, inbox: queue.SimpleQueue) -> Process:
            self.made.append(Process(lambda process: self.begin(process), inbox))
            self.made[-1].answer(first)
            return self.made[-1]

        monkeypatch.setattr(processes, "_Worker", make)

    def run(self) -> None:
        task = Task()
        too_long = threading.Timer(60, task.stop)  # a piece that nobody takes would wait forever
        too_long.start()
        pieces = [WorkPiece("a", {}), WorkPiece("b", {})]
        work = PiecedWork("workbench.none", "s.db", self._note)
        try:
            processes.do_in_processes(work, pieces, 2, task)
        finally:
            too_long.cancel()

    def _note(self, name: str, answer: Answer) -> None:
        self.noted.append((name, answer["state"]))


def test_an_idle_process_takes_the_piece_of_one_that_died(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)

    def begin(process: Process) -> None:
        first = scene.made[0]
        if process is not first:
            process.answer(DONE)
            if process.piece is not first.piece:
                first.answer(DEAD)

    scene.begin = begin
    scene.run()
    assert scene.noted == [("b", "done"), ("a", "waiting"), ("a", "done")]
    assert len(scene.made) == 2


def test_the_death_of_an_idle_process_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)

    def begin(process: Process) -> None:
        if process is not scene.made[0]:
            process.answer(DONE)
            process.answer(DEAD)
            scene.made[0].answer(DONE)

    scene.begin = begin
    scene.run()
    assert scene.noted == [("b", "done"), ("a", "done")]


def test_a_process_that_cannot_start_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match="could not start: the process was killed by signal 9"):
        Scene(monkeypatch, first=DEAD).run()
