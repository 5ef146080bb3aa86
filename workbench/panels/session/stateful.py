"""The settings of a panel as one value: read whole, set whole, drawn once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import traitlets

from workbench.errors import ParameterError, WorkbenchError
from workbench.jsonfile import plain
from workbench.panels.kernel import kernel_loop
from workbench.panels.session.history import UndoHistory
from workbench.panels.session.session import Files, OwnFiles, Session
from workbench.panels.settings import Setting
from workbench.suggestions import did_you_mean

_P = TypeVar("_P", bound="Stateful")

_REFUSED = (
    *(TypeError, ValueError, LookupError, AttributeError, ArithmeticError),
    traitlets.TraitError,
)
"""What controls raise for a value of another kind than theirs."""


def drawn_once(draw: Callable[..., None]) -> Callable[..., None]:
    """Let a panel's method that draws run once, at the end, while several settings are set."""

    @functools.wraps(draw)
    def run(panel: Any, *arguments: Any) -> None:
        waiting = panel._waiting
        if waiting is None:
            draw(panel, *arguments)
        else:
            waiting[draw.__name__] = functools.partial(run, panel, *arguments)

    return run


class Stateful:
    """What has settings that a session holds, and undo and redo go through."""

    _waiting: dict[str, Callable[[], None]] | None = None
    """What is to be drawn at the end, while several settings are set."""

    def __init__(self) -> None:
        kernel_loop()
        self._late: dict[str, Any] = {}
        self._history = UndoHistory(self._saved_settings, self._take_step_of_undo)

    def _all_settings(self) -> Mapping[str, Setting]:
        """Return the present settings by name, in the order in which a session sets them."""
        raise NotImplementedError

    def _setting_names(self) -> tuple[str, ...]:
        """Return the names of the settings that are attributes."""
        return tuple(name for name, one in self._all_settings().items() if one.attribute)

    def _get(self, name: str) -> Any:
        """Return the value of a setting."""
        return self._all_settings()[name].value()

    def _set(self, name: str, value: Any) -> None:
        """Set a setting as the user would."""
        self._all_settings()[name].set(name, value)

    def _saved_names(self) -> tuple[str, ...]:
        """Return the names of what a session holds, in the order in which it is set."""
        return tuple(name for name, one in self._all_settings().items() if one.session != "no")

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Return those of some settings that choose among results: they are set after all jobs."""
        known = self._all_settings()
        return tuple(n for n in settings if n in known and known[n].session == "after jobs")

    def _saved(self, name: str) -> Any:
        """Return a setting as JSON can hold it."""
        one = self._all_settings().get(name)
        return plain(self._get(name)) if one is None or one.save is None else one.save()

    def _restore(self, name: str, value: Any) -> None:
        """Set a setting to what `_saved` returned."""
        one = self._all_settings().get(name)
        if one is None or one.restore is None:
            self._set(name, value)
        else:
            one.restore(value)

    def _own_files(self) -> OwnFiles:
        """Return the user's own files that the present settings need."""
        return {}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        """Take the user's own files of a session as an upload does, without choosing them."""
        raise ParameterError(f"this panel takes no files for {use!r}; got {name!r}", key="session")

    def _not_held(self) -> Sequence[str]:
        """Return a sentence for each part of the state that a session does not hold."""
        return ()

    def _restored(self) -> None:
        """Begin what the settings of a session need, such as a world that is to be made."""

    def _saved_settings(self) -> dict[str, Any]:
        return {name: self._saved(name) for name in self._saved_names()}

    def _session(self) -> Session:
        """Return the present state."""
        from workbench import __version__

        return Session(
            type(self).__name__,
            self._saved_settings() | self._late,
            {use: of for use, of in self._own_files().items() if of},
            tuple(self._not_held()),
            __version__,
        )

    def _load(self, session: Session) -> tuple[str, ...]:
        """Restore all of a session, or none of it; return a sentence for each setting it lacks."""
        name = type(self).__name__
        if session.panel != name:
            raise ParameterError(
                f"the session must be of {name}; it is of {session.panel[:60]}: open it in "
                "that panel's notebook, or with workbench.panels.open_session",
                key="session",
            )
        self._history.settle()
        before, files_before = (
            self._saved_settings(),
            self._own_files() if session.files else {},
        )
        with self._drawing_once():
            try:
                self._take_all_files(session.files)
                early, late = self._parted(session.settings)
                left = self._apply(early)
            except WorkbenchError:
                self._take_all_files(files_before)
                self._apply(before, leniently=True)
                raise
            self._late = late
            self._restored()
        return (*self._lacks(session, left), *session.notes)

    def _take_all_files(self, files: OwnFiles) -> None:
        for use, of in files.items():
            for name, contents in of.items():
                self._take_own_files(use, name, contents)

    def _lacks(self, session: Session, left: Sequence[str]) -> list[str]:
        """Return sentences about settings that the session, or this version, does not have."""
        known = self._saved_names()
        found = []
        for name in left:
            hint = did_you_mean(name, known)
            found.append(f"{name[:60]} is no setting here{hint}; it is left out")
        absent = [name for name in known if name not in session.settings]
        if absent:
            found.append(f"the session does not say {', '.join(absent)}; that stays as it was")
        return found

    def _apply(self, settings: Mapping[str, Any], *, leniently: bool = False) -> list[str]:
        """Set what differs, each in its turn; return the names that are no settings."""
        pending = dict(settings)
        while True:
            # Settings may come and go as others are set: a model's parameters with the model.
            name = next((one for one in self._saved_names() if one in pending), None)
            if name is None:
                return list(pending)
            value = pending.pop(name)
            try:
                self._apply_one(name, value)
            except WorkbenchError:
                if not leniently:
                    raise

    def _apply_one(self, name: str, value: Any) -> None:
        present = self._saved(name)
        if present == value:
            return
        if None not in (present, value) and _kind(present) is not _kind(value):
            raise ParameterError(
                f"the session's {name} must be {_WORDS[_kind(present)]}; got {value!r:.60}",
                key=name,
            )
        try:
            self._restore(name, value)
        except WorkbenchError:
            raise
        except _REFUSED as error:
            raise ParameterError(
                f"the session's {name} is not accepted: {value!r:.60}", key=name
            ) from error

    def _apply_late(self) -> list[str]:
        """Set the settings that waited for the jobs; return a sentence for each refused one."""
        late, self._late = self._late, {}
        refused = []
        with self._drawing_once():
            for name in self._saved_names():
                try:
                    if name in late:
                        self._apply_one(name, late[name])
                except WorkbenchError as error:
                    refused.append(str(error))
        return refused

    def _take_step_of_undo(self, settings: Mapping[str, Any]) -> None:
        """Set another state of undo and redo."""
        with self._drawing_once():
            early, self._late = self._parted(settings)
            self._apply(early, leniently=True)

    def _parted(self, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the settings that are set at once, and those that wait for the jobs."""
        names = self._late_names(settings)
        late = {name: value for name, value in settings.items() if name in names}
        return {name: settings[name] for name in settings if name not in late}, late

    @contextmanager
    def _drawing_once(self) -> Iterator[None]:
        """Let methods that are `drawn_once` wait until the end."""
        if self._waiting is not None:
            yield
            return
        self._waiting = {}
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            for draw in waiting.values():
                draw()


def _kind(value: Any) -> type:
    """Return what kind of value JSON has for a value: bool, float for any number, str …."""
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, int | float) else type(value)


_WORDS = {
    bool: "true or false",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
