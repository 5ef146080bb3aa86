"""Waiting for what a panel computes in the background."""

from __future__ import annotations

from typing import Any

PATIENCE_S = 300.0


def settled(panel: Any) -> Any:
    """Return the panel's result once nothing runs any more."""
    result = panel.wait(PATIENCE_S)
    assert not panel.running
    return result
