"""Pieces of work done on all cores of this machine, by processes that do one after another.

Searches and models are Python, so threads would share one core. Each process has two pipes of its
own and shares nothing else: one that is killed takes no lock with it, and one whose starter is
killed reads the end of its input. (``multiprocessing`` would also run the user's script again.)
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from workbench.errors import StudyError
from workbench.storage.database import absolute
from workbench.tasks import Task
from workbench.workers.work import PATIENCE_S, Answer, PiecedWork, WorkPiece, ended

LOOK_S = 0.05
"""Seconds until a stop is noticed; chosen: at once for a person. Answers are taken as they come."""

_MOST_DEATHS = 2  # chosen: one death may be an accident; a piece that kills two would kill more


def do_in_processes(
    work: PiecedWork,
    pieces: Sequence[WorkPiece],
    workers: int,
    task: Task,  # its stop also ends what is being done
) -> None:
    """Do pieces until all end or a stop; one fails when two of its processes have died."""
    waiting = collections.deque(pieces)
    deaths: collections.Counter[str] = collections.Counter()
    inbox: queue.SimpleQueue[tuple[_Worker, Answer | None]] = queue.SimpleQueue()
    alive: set[_Worker] = set()
    stopped = False
    try:
        while waiting or any(worker.piece for worker in alive):
            if task.stopping and not stopped:
                stopped = True
                waiting.clear()
                for worker in alive:
                    worker.order({"stop": True})
            while len(alive) < workers and len(waiting) > sum(not w.piece for w in alive):
                alive.add(_Worker(work, inbox))
            for worker in alive:
                if waiting and worker.ready and worker.piece is None:
                    worker.begin(waiting.popleft())
            try:
                worker, answer = inbox.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if answer is None:
                alive.discard(worker)
                reason = worker.release()
                if not worker.ready:
                    raise StudyError(f"a process of the study could not start: {reason}")
                if worker.piece is None:
                    continue
                name = worker.piece.name
                deaths[name] += 1
                if deaths[name] < _MOST_DEATHS and not stopped:
                    waiting.appendleft(worker.piece)
                    work.note(name, ended("waiting", reason))
                else:
                    work.note(name, ended("failed", reason))
                continue
            worker.ready = True
            if worker.piece is not None:
                work.note(worker.piece.name, answer)
            if "ended" in answer:
                worker.piece = None
    finally:
        for worker in alive:
            worker.order({"stop": True})
            worker.dismiss()
        deadline = time.monotonic() + PATIENCE_S
        for worker in alive:
            worker.await_end(deadline)


class _Worker:
    """One process, its piece, and the thread that reads its answers."""

    def __init__(
        self, work: PiecedWork, inbox: queue.SimpleQueue[tuple[_Worker, Answer | None]]
    ) -> None:
        self.piece: WorkPiece | None = None
        self.ready = False  # until its first answer
        self._database = absolute(work.database)
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - release() closes it
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workbench.workers.worker", work.performer],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=_environment(),
                text=True,
                encoding="utf-8",
                # Ctrl-C goes to the parent process, which then stops this one.
                start_new_session=True,
            )
        except OSError as error:
            self._complaints.close()
            raise StudyError(f"a process of the study could not start: {error}") from error
        self._ear = threading.Thread(target=self._receive, args=(inbox,), daemon=True)
        self._ear.start()

    def begin(self, piece: WorkPiece) -> None:
        """Order a piece."""
        self.piece = piece
        self.order({"order": dict(piece.order), "database": self._database})

    def order(self, order: dict[str, Any]) -> None:
        """Send a line; `do_in_processes` notices a dead process by its answers' end."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._input.write(json.dumps(order) + "\n")
            self._input.flush()

    def dismiss(self) -> None:
        """Close its input, upon which it ends."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def await_end(self, deadline: float) -> None:
        """Wait until it has ended; kill it after the deadline."""
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
        self.release()

    def release(self) -> str:
        """Release its resources; return a sentence on how it ended."""
        self.dismiss()
        code = self._process.wait()
        self._ear.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        self._complaints.close()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        return f"the process {how}{': ' + lines[-1].strip() if lines else ''}"

    @property
    def _input(self) -> IO[str]:
        if self._process.stdin is None:
            raise ValueError("the process has no input")
        return self._process.stdin

    def _receive(self, inbox: queue.SimpleQueue[tuple[_Worker, Answer | None]]) -> None:
        for line in self._process.stdout or ():
            # A process that is killed may leave half a line.
            with contextlib.suppress(json.JSONDecodeError):
                inbox.put((self, json.loads(line)))
        inbox.put((self, None))


def _environment() -> dict[str, str]:
    import workbench

    code = str(Path(workbench.__file__).resolve().parents[1])
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": f"{code}{os.pathsep}{path}" if path else code,
        # One process per core: libraries that start a thread per core would only compete.
        "OMP_NUM_THREADS": "1",
    }
