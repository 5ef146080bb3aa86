from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.panels import FitPanel


@pytest.fixture
def panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FitPanel]:
    """A panel outside of a kernel, with an empty folder for its study file."""
    monkeypatch.chdir(tmp_path)
    panel = FitPanel("azure-hb96v3-hdr")
    yield panel
    panel.stop()
    panel.wait(20)
