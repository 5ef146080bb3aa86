"""Commands of the shell, run as tests run them: in this process, and on one module alone."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.cli import main
from workbench.shell.parser import Parser


def run(command: ModuleType, *words: str | Path) -> int:
    """Run a command's module as the entry point does, and return its status; errors are raised."""
    parser = Parser(add_arguments=command.add_arguments)
    parser.set_defaults(run=getattr(command, "run", None))
    arguments = parser.parse_args([str(word) for word in words])
    return int(arguments.run(arguments))


def answer(command: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Run ``command`` with ``--json``, which must succeed, and return what it prints."""
    return answer_and_notes(capsys, *command.split(), *words)[0]


def answer_and_notes(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str]:
    """Run a command with ``--json``, which must succeed; return what it prints, and its stderr."""
    status = main([*words, "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out), err


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that is refused; return its one paragraph on stderr."""
    assert main([*words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("workbench: error: ")
    assert err.count("\n") == 1
    return err


def usage(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command line that is wrong; return its one paragraph on stderr."""
    with pytest.raises(SystemExit) as stopped:
        main([*words])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("workbench: error: ")
    assert err.count("\n") == 1
    return err


def help_text(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the text of ``--help`` without line ends."""
    with pytest.raises(SystemExit) as stopped:
        main([*words, "--help"])
    assert stopped.value.code == 0
    return " ".join(capsys.readouterr().out.split())
