"""One line on the terminal with the progress of a run, rewritten in place."""

from __future__ import annotations

import sys
import time
from typing import Self


class ProgressLine:
    """A line on stderr that is cleared at the end; nothing where stderr is no terminal."""

    def __init__(self, *, every_s: float = 0.0) -> None:
        self.visible = sys.stderr.isatty()
        self._every_s = every_s  # least time between two texts
        self._next_s = 0.0
        self._width = 0

    def show(self, text: str) -> None:
        """Replace the line's text."""
        now = time.monotonic()
        if self.visible and now >= self._next_s:
            self._next_s = now + self._every_s
            line = f"{text} (Ctrl-C stops)"
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.visible:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)
