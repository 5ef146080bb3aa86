"""The steps of undo and redo: states of a panel's settings, from the first to the present one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_MOST = 100  # chosen: a state is a small dict, and nobody goes back further step by step


class UndoHistory:
    """The states so far; ``read`` returns the present settings and ``write`` sets others."""

    def __init__(
        self, read: Callable[[], Mapping[str, Any]], write: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._read, self._write = read, write
        self._states: list[Mapping[str, Any]] = []
        self._at = -1
        self.changed = True
        """Whether a control has changed since the last state was taken."""

    @property
    def steps(self) -> tuple[int, int]:
        """The number of steps that can be undone, and redone."""
        return max(self._at, 0), len(self._states) - 1 - self._at

    def settle(self) -> None:
        """Take the present settings as a state, if they are others than those of the last one."""
        self.changed = False
        present = self._read()
        if self._at >= 0 and present == self._states[self._at]:
            return
        self._states[self._at + 1 :] = [present]
        del self._states[:-_MOST]
        self._at = len(self._states) - 1

    def move(self, by: int) -> bool:
        """Set the state some steps later, or earlier if negative; return whether there is one."""
        self.settle()
        if not 0 <= self._at + by < len(self._states):
            return False
        self._at += by
        self._write(self._states[self._at])
        # What could not be set again is no step of its own.
        self._states[self._at] = self._read()
        self.changed = False
        return True
