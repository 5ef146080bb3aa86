from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def file_items(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the value of a FileUpload that holds these files, by name."""
    about = {"type": "", "last_modified": datetime.now(UTC)}
    return [
        {**about, "name": name, "size": len(data), "content": memoryview(data)}
        for name, data in files.items()
    ]
