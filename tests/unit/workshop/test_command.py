from __future__ import annotations

import signal
import socket

import pytest
from voila.app import Voila

from tests.source_trees import ROOT
from workbench import workshop
from workbench.cli import main
from workbench.errors import ParameterError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--first", "absent.ipynb"], "first must be a notebook in"),
        (["--people", "0"], "people must be at least 1; got --people 0"),
        (["--notebooks", "absent"], "absent is none. Name one: --notebooks FOLDER"),
    ],
)
def test_what_cannot_be_served_is_named(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["workshop", *words]) == 1
    assert said in capsys.readouterr().err


def test_a_taken_port_is_named_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=f"127.0.0.1, port {port}: "):
            workshop.check_address("127.0.0.1", port)
        assert main(["workshop", "--port", str(port)]) == 1
    said = capsys.readouterr()
    assert f"127.0.0.1, port {port}: " in said.err
    assert said.out == "", "no address that does not answer is printed"


def test_voila_that_is_started_beside_the_notebooks_reads_their_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT / "notebooks")
    handler = signal.getsignal(signal.SIGTERM)
    server = Voila()
    server.initialize([])
    signal.signal(signal.SIGTERM, handler)
    assert server.config.TagRemovePreprocessor.remove_cell_tags == ["solution", "long", "cells"]
    assert server.config.MappingKernelManager.cull_idle_timeout == 600
