"""Differences between the problem of a stored study and the one that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def problem_differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each key in which two problems differ, the release excepted."""
    asked = json.loads(json.dumps(asked))
    return [
        f"{key} was {_short(stored.get(key))} and is {_short(asked.get(key))}"
        for key in sorted({*stored, *asked})
        if key != "workbench" and stored.get(key) != asked.get(key)
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
