"""The common base of the panels: settings that are attributes, and how they are shown."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from workbench.panels.live import LiveView, renew
from workbench.suggestions import MissingAttributeError, did_you_mean


class Panel(ABC):
    """A panel in a notebook whose settings are attributes, listed in `SETTINGS`."""

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    widget: Any

    def __init__(self) -> None:
        # Callbacks may come from more than one thread of the kernel; one at a time may act.
        self._lock = threading.RLock()

    @abstractmethod
    def _get(self, name: str) -> Any:
        """Return the value of a setting."""

    @abstractmethod
    def _set(self, name: str, value: Any) -> None:
        """Set a setting as the user would."""

    @abstractmethod
    def _live_views(self) -> Iterable[LiveView]:
        """Return the figures, which are sent again before they are shown."""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        renew(*self._live_views())
        return self.widget._repr_mimebundle_(**options)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.SETTINGS})

    def __getattr__(self, name: str) -> Any:
        if name in self.SETTINGS:
            return self._get(name)
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingAttributeError(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "widget":
            object.__setattr__(self, name, value)
        elif name in self.SETTINGS:
            with self._lock:
                self._set(name, value)
        else:
            raise AttributeError(
                f"{name} cannot be set{did_you_mean(name, self.SETTINGS)}; "
                f"{', '.join(self.SETTINGS)} can"
            )
