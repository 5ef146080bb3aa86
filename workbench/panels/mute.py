"""Mutes the callbacks of controls while a panel itself sets them."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class Mute:
    """Within ``with mute:`` its ``on`` is true, and callbacks that read it return at once."""

    def __init__(self) -> None:
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._depth -= 1

    @property
    def on(self) -> bool:
        """Whether callbacks are muted."""
        return self._depth > 0

    def set(self, control: Any, value: Any, options: Any = None) -> None:
        """Set a control, and before that its list of options, without its callbacks."""
        # New options choose the first of them for a moment.
        with self:
            if options is not None:
                control.options = options
            control.value = value
