"""Options made from a function: what its source tells, what argparse gets, what is passed on."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench import cli
from workbench.fit import fit
from workbench.named_options import defaults_of
from workbench.shell.documented import REQUIRED, UNREAD, documented_arguments
from workbench.shell.function_options import FunctionOptions
from workbench.shell.parser import Parser

EXAMPLE = '''"""An example."""

import math
from typing import Literal, get_args

from {package}.other import COUNT as MANY, Made as Chosen, Settings as Settings

SIZES, HUGE = (8, 64), 2**62
Way = Literal["fast", "slow"]
WAYS: tuple[Way, ...] = get_args(Way)
raise RuntimeError("imported")


def base(seed: int = 0, hosts: int = 1) -> None:
    """Do it.

    Args:
        seed: seed of the
            draws, 5 % of them. More is not better.
        hosts: number of hosts.
    """


def example(
    first: str,
    *,
    count: int = MANY,
    limit_s: float | None = None,
    share: float = 1.0,
    name: str | None = None,
    force: bool = False,
    contention: bool = True,
    seed: int = 0,
    sizes: tuple[int, ...] = SIZES,
    huge: int = HUGE,
    hosts: object = None,
    ways: tuple[Way, ...] = WAYS,
    undocumented: float = math.inf,
) -> None:
    """Do an example.

    Args:
        first: a word; None takes the usual one.
        count: repeats of ``seed``.
        limit_s: time limit, 1.5 s at least; None is no limit. It is checked now and then.
        share: share of the hosts, as ``shares`` has it.
        name: name of the example. None takes one of 1.5 words.
        force, contention: a fact of both.
        seed: as for ``base``.
        sizes: message sizes, bytes.
        huge: a large number.
        hosts: int[n], the hosts that may be used.
        ways: some of ``fast`` and ``slow``.

    Raises:
        ValueError: an argument is not accepted.
    """
'''
OTHER = '''"""What an example imports."""

from dataclasses import dataclass, field

COUNT: int = 3


@dataclass(frozen=True)
class Settings:
    """What is chosen.

    Attributes:
        steps: number of steps.
        hosts: as for ``base``.
    """

    steps: int = 60
    hosts: int = field(default=2)


class Made:
    """An object.

    Args:
        depth: number of levels.
    """

    def __init__(self, depth: int) -> None:
        pass
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = re.sub(r"\W", "_", f"example_{tmp_path.name}")  # what was read is kept by name
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(
        f"if False:\n    from {name}.example import base, example as exported\n"
    )
    (folder / "other.py").write_text(OTHER)
    (folder / "example.py").write_text(EXAMPLE.format(package=name))
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name)


def test_a_function_is_read_from_its_source_without_its_import(package: str) -> None:
    found = documented_arguments(f"{package}.exported")
    assert f"{package}.example" not in sys.modules
    assert list(found)[:3] == ["first", "count", "limit_s"]
    assert (found["limit_s"].annotation, found["limit_s"].default) == ("float | None", None)
    assert (found["first"].default, found["count"].default) == (REQUIRED, 3)
    assert (found["sizes"].default, found["huge"].default) == ((8, 64), UNREAD)
    assert found["undocumented"].default is UNREAD


@for_each(
    "name, text",
    [
        ("first", "a word (default: the usual one)"),
        ("count", "repeats of ``seed`` (default 3)"),
        ("limit_s", "time limit, 1.5 s at least (default: no limit)"),
        ("share", "share of the hosts, as ``shares`` has it (default 1)"),
        ("name", "name of the example (default: one of 1.5 words)"),
        ("force", "a fact of both"),
        ("contention", "a fact of both"),
        ("seed", "seed of the draws, 5 % of them (default 0)"),
        ("sizes", "message sizes, bytes (default 8,64)"),
        ("huge", "a large number"),
        ("hosts", "the hosts that may be used"),
        ("ways", "some of ``fast`` and ``slow`` (default fast,slow)"),
        ("undocumented", ""),
    ],
)
def test_help_is_the_first_sentence_with_the_default(package: str, name: str, text: str) -> None:
    assert documented_arguments(f"{package}.exported")[name].help() == text


def test_classes_have_the_arguments_of_their_constructor(package: str) -> None:
    fields = documented_arguments(f"{package}.example.Settings")
    assert fields["steps"].help() == "number of steps (default 60)"
    assert (fields["hosts"].default, fields["hosts"].help()) == (UNREAD, "number of hosts")
    made = documented_arguments(f"{package}.example.Chosen")
    assert made["depth"].help() == "number of levels"


def test_what_is_missing_is_named(package: str) -> None:
    with pytest.raises(LookupError, match=f"{package} must define or import absent"):
        documented_arguments(f"{package}.absent")
    with pytest.raises(LookupError, match="exported has no argument absent; it has first, count"):
        FunctionOptions(f"{package}.exported").add(argparse.ArgumentParser(), "absent")


def test_options_have_types_and_what_is_given_is_passed_on(package: str) -> None:
    made = FunctionOptions(f"{package}.exported")
    parser = argparse.ArgumentParser(prog="example", usage="")
    made.add(parser, "count", option=("-c", "--repeats"), metavar="C")
    made.add(parser, "seed", "limit_s", "share", "name", "force", "contention")
    assert made.given(parser.parse_args([])) == {"force": False, "contention": True}
    words = "--repeats 7 --limit 1.5 --share 2 --name x --force --no-contention"
    assert made.given(parser.parse_args(words.split())) == {
        "count": 7,
        "limit_s": 1.5,
        "share": 2.0,
        "name": "x",
        "force": True,
        "contention": False,
    }
    text = " ".join(parser.format_help().split())
    assert "--repeats C repeats of --seed (default 3)" in text  # Python 3.13: "-c, --repeats C"
    assert "--seed N seed of the draws, 5 % of them (default 0)" in text
    assert "--limit S time limit, 1.5 s at least" in text


def test_a_required_argument_is_a_required_option_and_help_names_options(package: str) -> None:
    made = FunctionOptions(f"{package}.exported")
    parser = argparse.ArgumentParser(prog="example")
    made.add(parser, "first", "count")
    assert "repeats of --seed" in parser.format_help()
    with pytest.raises(SystemExit):
        parser.parse_args([])


def test_defaults_are_those_of_the_function() -> None:
    read, defaults = documented_arguments("workbench.fit.fit"), defaults_of(fit)
    assert {name: one.default for name, one in read.items() if one.default is not REQUIRED} == (
        defaults
    )


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, argparse.Action]]:
    """Return each option of all commands and their actions, after the words before it."""
    found: list[tuple[str, argparse.Action]] = []

    class Listing(Parser):
        def __init__(self, **named: Any) -> None:
            super().__init__(**named)
            self.fill()

        def add_argument(self, *names: Any, **named: Any) -> argparse.Action:
            action = super().add_argument(*names, **named)
            found.append((f"{self.prog} {names[-1] if names else named['dest']}", action))
            return action

    monkeypatch.setattr(cli, "Parser", Listing)
    cli._parser([])
    return found


def test_help_explains_each_option_without_words_of_python(
    options: list[tuple[str, argparse.Action]],
) -> None:
    assert len(options) > 500
    for words, action in options:
        text = action.help or ""
        assert text, f"{words} has no help"
        found = re.search(r"``|\b(None|True|False)\b|\w\[\w*\]|\b[a-z]+_[a-z]+\(", text)
        assert found is None, f"{words}: {text}"


def test_help_names_options_that_there_are(options: list[tuple[str, argparse.Action]]) -> None:
    known = {word for _, action in options for word in action.option_strings}
    known |= {"--osu", "--mpi", "--exact", "--exclusive"}  # of a group, and Slurm's
    for words, action in options:
        named = {*re.findall(r"--[a-z][\w-]*", action.help or "")}
        assert named <= known, f"{words}: {named - known}"
