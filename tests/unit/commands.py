"""Commands of the shell, run as tests run them: in this process, and on one module alone."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.cli import main


def run(command: ModuleType, *words: str | Path) -> int:
    """Run a command's module as the entry point does, and return its status; errors are raised."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return int(command.run(parser.parse_args([str(word) for word in words])))


def answer(command: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Run ``command`` with ``--json``, which must succeed, and return what it prints."""
    return answer_and_notes(capsys, *command.split(), *words)[0]


def answer_and_notes(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str]:
    """Run a command with ``--json``, which must succeed; return what it prints, and its stderr."""
    status = main([*words, "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out), err
