"""The common base of the panels that work on a program in the background."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from workbench import tasks
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import JobControls, error_text
from workbench.panels.loggps_choice import LogGPSChoice
from workbench.panels.panel import Panel
from workbench.panels.program_choice import ProgramChoice
from workbench.panels.program_sources import AnyProgram, ProgramSource, files_of, without_files
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.settings import Setting


class ProgramResult(Protocol):
    """What the work on a program finds."""

    @property
    def program(self) -> AnyProgram:
        """The program."""


_T = TypeVar("_T")
_Shown = TypeVar("_Shown", bound=ProgramResult)


class ProgramPanel(Panel[_T], Generic[_T, _Shown]):
    """A panel that works on a program, on a machine, again whenever a control changes."""

    _START: ClassVar[tuple[str, str, str]]
    """Text, tooltip and width of the button that starts the work."""
    _STOP: ClassVar[str]
    """Tooltip of the button that stops it."""
    _KEPT: ClassVar[str]
    """What the figures show after a failure."""

    def __init__(self, source: ProgramSource, machine: str) -> None:
        super().__init__()
        self._shown: _Shown | None = None
        self._programs = ProgramChoice(source, self._program_changed)
        self._loggps = LogGPSChoice(machine, self._model_changed)
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

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls by the names of settings; an algorithm's by its operation."""
        return {**super().controls, **self._programs.controls}

    def _all_settings(self) -> Mapping[str, Setting]:
        return {**self._programs.settings, **self._loggps.settings}

    def _errors(self) -> list[ErrorLine]:
        return [*self._programs.errors, *self._loggps.errors]

    def _sources(self) -> list[ProgramSource]:
        """Return the programs that the present settings name."""
        return [self._programs.source]

    def _own_files(self) -> OwnFiles:
        return {"program": files_of(self._sources())}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use == "program":
            self._programs.take_own(name, files)
        else:
            super()._take_own_files(use, name, files)

    def _not_held(self) -> list[str]:
        return without_files(self._sources())

    def _program_changed(self) -> None:
        """Follow another program, generator's field or algorithm."""
        self._changed()

    def _model_changed(self) -> None:
        """Follow another machine or parameter."""
        self._changed()

    @abstractmethod
    def _changed(self) -> None:
        """Work with the present settings; a small program is drawn before this returns."""

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
        self._clear_errors()
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
        self._offer(shown.program)
        self._show(shown)

    def _refuse(self, error: BaseException) -> None:
        if self._work.refused(error, "" if self._shown is None else self._KEPT):
            return
        self._say(error)
        program = self._program()
        if program is not None:
            # Another algorithm may avoid the error.
            self._offer(program)

    def _offer(self, program: AnyProgram) -> None:
        """Offer what can be chosen with a program."""
        self._programs.offer_algorithms(program)

    def _say(self, error: BaseException) -> None:
        """Show an error at the control that its key names, else at the program."""
        row = self._loggps.rows.get(getattr(error, "key", ""))
        (self._programs if row is None else row).error.say(error_text(error))

    def _clear_errors(self) -> None:
        """Remove what the last work said of the program and the machine."""
        self._programs.error.say("")
        self._loggps.error.say("")
