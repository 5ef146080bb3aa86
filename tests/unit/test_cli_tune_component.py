"""The command ``workbench tune component``: says what a component file declares."""

from __future__ import annotations

import json
import textwrap
from functools import partial
from pathlib import Path

import pytest

from tests.unit import commands
from workbench.cli import main, tune_component
from workbench.errors import ParseError
from workbench.tune import read_components

run = partial(commands.run, tune_component)

GOOD = """\
components:
  tool:
    description: a tool
    command: echo
    constraints: [n < 9]
    parameters:
      n: {type: int, default: 1, cmd_var: true, flag: n, values: [1, 2]}
      m: {type: int, default: 5, optional: true, env_var: M}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tool.yaml"
    path.write_text(GOOD)
    return path


def test_check_says_what_it_understood(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", file) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "tool: a tool",
        "  target: wall time in s, less is better",
        "  parameter  type  default     reaches the program as  values to try  count",
        "  n          int   1           -n N                    1, 2           2",
        "  m          int   not passed  $M                      not tuned      1",
        "  constraint: n < 9",
        "  configurations: 2",
        "  one of its runs:",
        "    echo -n 2",
    ]
    assert err == ""


def test_check_for_machines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", file, "--json") == 0
    tool = json.loads(capsys.readouterr().out)["tool"]
    assert tool["configurations"] == 2
    assert tool["sample"] == "echo -n 2"
    assert not tool["needs_application"]
    assert tool["parameters"][0]["values"] == {"kind": "grid", "values": [1, 2]}
    assert tool["constraints"] == ["n < 9"]


def test_an_error_names_file_line_key_and_rule(file: Path) -> None:
    file.write_text(GOOD.replace("default: 1", "default: one"))
    with pytest.raises(
        ParseError,
        match=r"^tool.yaml:7: components.tool.parameters.n.default: the default of n must be",
    ):
        run("check", file)


def test_rules_that_leave_nothing_are_an_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(GOOD.replace("n < 9", "n > 9").replace("command: echo", "command: echo > x"))
    assert run("check", file) == 1
    out, err = capsys.readouterr()
    assert "  configurations: 0" in out
    assert "note: tool: the command is not run by a shell; > is an argument" in err
    assert "error: tool.yaml: tool: the constraints must leave something to try" in err


def test_what_cannot_run_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD.replace("default: 1", "default: 7"))
    assert run("check", file) == 1
    assert "default of n must be one of its values to try, 1, 2; got 7" in capsys.readouterr().err
    file.write_text(GOOD.replace("command: echo", "command: no-such-program"))
    assert run("check", file) == 0  # it may be on compute nodes alone
    assert "note: tool: 'no-such-program' is not in PATH here" in capsys.readouterr().err


def test_a_component_that_needs_a_program_says_so(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("", "    command: '#TOOL on'\n"):
        file.write_text(GOOD.replace("    command: echo\n", command))
        assert run("check", file) == 0
        assert (
            "one of its runs, of the program that --application names:" in capsys.readouterr().out
        )
        assert run("check", file, "--json") == 0
        assert json.loads(capsys.readouterr().out)["tool"]["needs_application"]


def test_a_value_left_to_the_experiment(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD.replace("default: 1, ", "").replace(", values: [1, 2]", ""))
    assert run("check", file) == 0
    out = capsys.readouterr().out
    assert "  n          int   none " in out
    assert "  an experiment must give a value of n\n" in out


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    assert "open-mpi-allreduce" in capsys.readouterr().out
    assert run("list", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ackley"]["configurations"] == 441


def test_the_help_explains_the_yaml_by_a_file_that_can_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["tune", "component", "--help"])
    said = capsys.readouterr().out
    example = said[said.index("  components:") : said.index("\nA parameter is passed")]
    (component,) = read_components(textwrap.dedent(example)).values()
    assert component.invocation({"bs": "4K"}).argv[-1] == "bs=4K"
    for key in ("cmd_var", "env_var", "cli_var", "flag", "suffix", "values", "step_type", "log"):
        assert key in said
