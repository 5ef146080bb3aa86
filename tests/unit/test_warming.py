from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import warming
from workbench.panels import setup as opened
from workbench.panels.setup import COMPILING

HOLD = """
from workbench import warming
with warming.marked():
    print("held", flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_others_see_it_for_the_time_of_the_block() -> None:
    assert not warming.going_on()
    with warming.marked(), warming.marked():
        assert warming.going_on()
    assert not warming.going_on()


def test_a_kill_ends_it(cache: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert warming.going_on()
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not warming.going_on()


def test_a_notebook_says_so_meanwhile(capsys: pytest.CaptureFixture[str]) -> None:
    opened()
    assert COMPILING not in capsys.readouterr().out
    with warming.marked():
        opened()
    assert COMPILING[:20] in capsys.readouterr().out
