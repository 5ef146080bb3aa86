from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.teaching import student


@pytest.fixture(autouse=True)
def progress_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A progress file of the test's own, and nobody's name."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(path))
    monkeypatch.delenv("WORKBENCH_STUDENT", raising=False)
    student("")
    yield path
    student("")
