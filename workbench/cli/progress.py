"""One line on the terminal with the progress of a run, rewritten in place."""

from __future__ import annotations

import math
import sys
import time
from typing import Self

PROGRESS_S = 0.1
"""Time between two texts of a line: one that changes faster cannot be read."""


class ProgressLine:
    """A line on stderr that is cleared at the end; nothing where stderr is no terminal.

    With ``after_s`` it stays empty for so long.

    With ``log_every_s`` a file or a pipe gets a line of its own each time, none in the first.
    """

    def __init__(
        self, *, after_s: float = 0.0, every_s: float = 0.0, log_every_s: float = math.inf
    ) -> None:
        self.visible = sys.stderr.isatty()
        self._every_s = every_s if self.visible else log_every_s  # least time between two texts
        self._next_s = time.monotonic() + (after_s if self.visible else log_every_s)
        self._width = 0

    def show(self, text: str) -> None:
        """Replace the line's text."""
        now = time.monotonic()
        if now < self._next_s:
            return
        self._next_s = now + self._every_s
        if not self.visible:
            print(text, file=sys.stderr, flush=True)
            return
        line = f"{text} (Ctrl-C stops)"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.visible:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)
