"""What a study is made for: one that exists is taken up for the same problem alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def problem_differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return what differs between two problems, in words; the release that made them may.

    Args:
        stored: the problem a study was made for.
        asked: the problem that is to be solved.
    """
    asked = json.loads(json.dumps(asked))
    return [
        f"{key} was {_short(stored.get(key))} and is {_short(asked.get(key))}"
        for key in sorted({*stored, *asked})
        if key != "workbench" and stored.get(key) != asked.get(key)
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
