"""The common base of the panels that work on a program in the background."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from workbench import tasks
from workbench.panels.job_controls import JobControls
from workbench.panels.panel import Panel
from workbench.panels.program_sources import AnyProgram, ProgramSource, files_of, without_files
from workbench.panels.replay.controls import SAVED
from workbench.panels.session.session import Files, OwnFiles


class ProgramResult(Protocol):
    """What the work on a program finds."""

    @property
    def program(self) -> AnyProgram:
        """The program."""


_T = TypeVar("_T")
_Shown = TypeVar("_Shown", bound=ProgramResult)


class ProgramPanel(Panel[_T], Generic[_T, _Shown]):
    """A panel that works on a program again whenever a control changes."""

    _START: ClassVar[tuple[str, str, str]]
    """Text, tooltip and width of the button that starts the work."""
    _STOP: ClassVar[str]
    """Tooltip of the button that stops it."""
    _KEPT: ClassVar[str]
    """What the figures show after a failure."""

    _controls: Any
    """The controls, with ``say`` and ``clear_errors``."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: _Shown | None = None
        self._work: JobControls[_Shown] = JobControls(
            self._START,
            self._STOP,
            "",
            lock=lambda running: None,
            ended=self._ended,
            failed=self._refuse,
            width=160,
        )
        self._work.start.on_click(lambda _: self.run())

    def run(self) -> tasks.Job[_Shown]:
        """Work with the present controls, in the background, and return at once."""
        return self._begin(0.0)

    def stop(self) -> None:
        """Stop the work; the last figures remain."""
        self._work.stop()

    def upload(self, files: Mapping[str, bytes], name: str = "") -> None:
        """Choose the program in uploaded files: one of GOAL, or all of a trace.

        Args:
            files: content by file name.
            name: what the program is called; "" takes the name of its files.

        Raises:
            WorkbenchError: they hold no program.
        """
        self._programs.take_upload(files, name)

    def _sources(self) -> list[ProgramSource]:
        """Return the programs that the present settings name."""
        return [self._programs.state.source]

    def _own_files(self) -> OwnFiles:
        return {"program": files_of(self._sources())}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use == "program":
            self._programs.take_own_program(name, files)
        else:
            super()._take_own_files(use, name, files)

    def _not_held(self) -> list[str]:
        return without_files(self._sources())

    def _saved(self, name: str) -> Any:
        return self._programs.saved(name) if name in SAVED else super()._saved(name)

    def _restore(self, name: str, value: Any) -> None:
        if name in SAVED:
            self._programs.restore(name, value)
        else:
            super()._restore(name, value)

    @property
    def _programs(self) -> Any:
        """The controls that choose the program, with ``take_upload`` and ``offer_algorithms``."""
        return self._controls

    @abstractmethod
    def _submit(self) -> tuple[tasks.Job[_Shown], Callable[[], tuple[float, str]]]:
        """Start to work with the present controls; return the job, and what tells its progress."""

    @abstractmethod
    def _show(self, shown: _Shown) -> None:
        """Draw what the work has found."""

    @abstractmethod
    def _program(self) -> Any:
        """Return the program of the present controls, None if it is not known yet."""

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job]

    def _refresh(self) -> bool:
        self._take_so_far()
        return self._work.refresh()

    def _begin(self, patience_s: float) -> tasks.Job[_Shown]:
        """Work in a thread; draw the result at once if it is finished after this time."""
        # Only the latest change counts: the result of an earlier run must not replace it.
        self.stop()
        # Not when it ends: an error made meanwhile must still be shown then.
        self._controls.clear_errors()
        job, how_far = self._submit()
        self._work.begin(job, how_far, patience_s, self._take_so_far)
        if self.refresh():
            self._ticker.start()
        return job

    def _take_so_far(self) -> None:
        """Show what the running job has found so far, if that is anything new."""
        job = self._work.job
        if job is not None and not job.finished:
            so_far = job.partial
            if so_far is not None and so_far is not self._shown:
                self._take(so_far)

    def _ended(self, job: tasks.Job[_Shown]) -> None:
        self._work.progress.value = 1.0
        self._work.status.value = ""
        self._take(job.result())

    def _take(self, shown: _Shown) -> None:
        self._shown = shown
        self._programs.offer_algorithms(shown.program)
        self._show(shown)

    def _refuse(self, error: BaseException) -> None:
        if self._work.refused(error, "" if self._shown is None else self._KEPT):
            return
        self._controls.say(error)
        program = self._program()
        if program is not None:
            # Another algorithm may avoid the error.
            self._programs.offer_algorithms(program)
