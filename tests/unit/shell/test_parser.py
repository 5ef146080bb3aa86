"""The parser of commands: arguments that are added when they are needed, actions, one error."""

from __future__ import annotations

import argparse

import pytest

from workbench.shell.parser import Action, Parser, add_actions


def command(added: list[str]) -> Parser:
    """Return a command with two actions that note when their arguments are added."""

    def build(parser: argparse.ArgumentParser) -> None:
        added.append("build")
        parser.add_argument("-n", "--ranks-per-host", type=int, help="ranks")

    def actions(parser: argparse.ArgumentParser) -> None:
        added.append("command")
        show = Action("show it", lambda _: None, lambda _: 2, "A long text.")
        add_actions(parser, {"build": Action("build it", build, lambda _: 1), "show": show})

    return Parser(prog="workbench example", add_arguments=actions)


def test_arguments_are_added_once_and_when_they_are_needed() -> None:
    added: list[str] = []
    parser = command(added)
    assert added == []
    for _ in range(2):
        arguments = parser.parse_args(["build", "--ranks-per-host", "3"])
        assert added == ["command", "build"]
    assert (arguments.ranks_per_host, arguments.run(arguments)) == (3, 1)
    assert arguments.option_of["ranks_per_host"] == "--ranks-per-host"


def test_actions_and_their_texts_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    added: list[str] = []
    for words, text in ((["--help"], "show it"), (["show", "--help"], "A long text.")):
        with pytest.raises(SystemExit):
            command(added).parse_args(words)
        assert text in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command(added).parse_args(["build", "--help"])
    assert "build it" in capsys.readouterr().out


def test_a_wrong_word_is_one_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["other"], ["build", "--ranks", "3"], ["build", "-n", "three"]):
        with pytest.raises(SystemExit) as stopped:
            command([]).parse_args(words)
        out, err = capsys.readouterr()
        assert (stopped.value.code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("workbench: error: ")
        assert "--help" in err
