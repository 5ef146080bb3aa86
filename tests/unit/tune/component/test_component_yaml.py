"""Component files: SHAMan's as they are, ours beside them, and what is wrong with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.tune import (
    Choices,
    Component,
    Grid,
    OSULatency,
    OutputRegex,
    Range,
    WallTime,
    read_components,
)

# Made up, with every key that files for SHAMan have, in the ways they have them.
SHAMAN = """\
components:
  copy:
    command: cp -v "/scratch/a file" /dev/null
    parameters:
      bs:
        cmd_var: True
        type: int
        default: 1
        suffix: "M"
      label:
        env_var: True
        type: str
        default: "toto"
  burst:
    plugin: burst=yes --keep=no
    header: sync $(hostname)
    command: "#BB targets=/scratch flavor=ram"
    ld_preload: liba.so
    custom_target: parse_execution_time.parse_slurm_times
    parameters:
      worker-threads:
        cmd_var: True
        type: int
        default: 2
      mode:
        cli_var: True
        type: str
        flag: m
      rate:
        cli_var: True
        type: int
        default: 0
        optional: True
  mpi:
    custom_target: parse_osu_output.parse_osu_output_1024
    parameters:
      OMPI_MCA_coll_tuned_allgather_algorithm:
        env_var: True
        type: int
        default: 0
"""

OURS = """\
components:
  tool:
    description: a tool
    command: [tool, "{parameters}", "> log"]
    env: {A: 1, B: x y}
    constraints: n * `block-size` <= 64
    target: {regex: 't=([0-9.]+)', unit: ms, maximise: true, stream: stdout, name: speed}
    parameters:
      n: {type: int, default: 1, cmd_var: true, min: 1, max: 8, step: 2, step_type: multiplicative}
      block-size: {type: int, default: 8, cmd_var: true, flag: b, values: [8, 1, 8]}
      x: {type: float, default: 0, env_var: X_VALUE, low: 0.5, high: 2, log: true}
      k: {type: int, default: 3, env_var: true, low: 1, high: 9}
      mode:
        type: categorical
        default: 0
        cmd_var: true
        choices: [0, 1, auto]
        values: [0, 1]
        condition: n > 2
"""


def test_shamans_files_are_read_as_they_are() -> None:
    found = read_components(SHAMAN)
    assert tuple(found) == ("copy", "burst", "mpi")
    copy = found["copy"]
    assert copy.command == ("cp", "-v", "/scratch/a file", "/dev/null")
    assert copy.target == WallTime()
    assert copy.invocation({"label": ""}).text() == (
        "label='' cp -v '/scratch/a file' /dev/null bs=1M"
    )
    burst = found["burst"].invocation({"mode": "x", "worker-threads": 0})
    assert burst.directives == ("#BB targets=/scratch flavor=ram worker-threads=0",)
    assert burst.sbatch_options == ("--burst=yes", "--keep=no", "-m", "x")
    assert burst.header == "sync $(hostname)"
    assert dict(burst.env) == {"LD_PRELOAD": "liba.so"}
    assert found["mpi"].target == OSULatency(1024)
    # Algorithm 0 can be asked for.
    name = "OMPI_MCA_coll_tuned_allgather_algorithm"
    assert dict(found["mpi"].invocation({}).env) == {name: "0"}


def test_a_value_may_be_left_to_the_experiment() -> None:
    burst = read_components(SHAMAN)["burst"]
    assert burst["mode"].default is None
    with pytest.raises(ParameterError, match="mode of burst must have a value"):
        burst.invocation({})


def test_our_additions() -> None:
    tool = read_components(OURS)["tool"]
    assert [one.axis for one in tool.parameters] == [
        Grid((1, 2, 4, 8)),
        Grid((1, 8)),
        Range(0.5, 2, log=True),
        Range(1, 9, integer=True),
        Choices((0, 1)),
    ]
    assert tool.target == OutputRegex(
        "t=([0-9.]+)", minimise=False, unit="ms", stream="stdout", name="speed"
    )
    assert dict(tool.env) == {"A": "1", "B": "x y"}
    assert tool.notes == ()
    assert tool.space().constraints[0].text == "n * `block-size` <= 64"
    assert tool.invocation({"n": 4, "mode": "auto"}).argv == (
        *("tool", "n=4", "-b", "8", "mode=auto", "> log"),
    )
    assert tool.invocation({"n": 4}).env["X_VALUE"] == "0.0"


def test_the_file_gives_its_name_and_folder(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(OURS.replace("[tool,", "['{folder}/tool',"))
    tool = read_components(path)["tool"]
    assert tool.source == "mine.yaml"
    assert tool.invocation({}).argv[0] == f"{tmp_path}/tool"
    assert read_components(str(path)) == {"tool": tool}
    assert read_components(OURS.encode())["tool"].source == "text"


def test_what_means_nothing_is_noted() -> None:
    text = SHAMAN.replace("command: cp", "cli_command: x\n    command: cp $HOME |")
    notes = read_components(text)["copy"].notes
    assert notes[0].startswith("cli_command is not used")
    assert "$HOME is an argument" in notes[1]
    assert "| is an argument" in notes[2]


@for_each(
    "old, new, message",
    [
        ("type: int", "type: list", "7: components.copy.parameters.bs.type: must be one of int,"),
        ("type: int", "kind: int", "7: components.copy.parameters.bs.kind: is not a key of a para"),
        ("        type: int\n", "", "5: components.copy.parameters.bs: must have a type"),
        ("cmd_var: True", "cmd_var: 3", "6: components.copy.parameters.bs.cmd_var: must be true"),
        ("flag: m", "flag: m=", "flag: must state whether it has dashes; got m=: write --m= for"),
        ("cmd_var: True", "cmdvar: True", "6: .*cmdvar: is not a key .* did you mean cmd_var"),
        ("cmd_var: True", "cmd_var: False", "bs.env_var: bs must reach the component by env_var"),
        ('default: "toto"', "default: 4", "13: .*label.default: .* must be a text; got 4; put it"),
        ('default: "toto"', "default: on", "13: .*must be a text; got True; put it in quotes"),
        ("default: 1", "default: 1.5", "8: .*bs.default: .*must be a whole number; got 1.5"),
        ('"M"', "[M]", r"9: .*bs.suffix: must be a text; got \['M'\]; put it in quotes"),
        ('command: cp -v "', "command: cp -v ", "3: components.copy.command: must be words"),
        ("  copy:", "  copy: 3\n  other:", "2: components.copy: must be a mapping"),
        ("components:", "component:", "1: component: is not a key .* did you mean components"),
        ("parse_slurm_times", "other", "custom_target: must be one of SHAMan's own: .* never imp"),
        (
            "ld_preload:",
            "ldpreload:",
            "ldpreload: is not a key of a component; did you mean ld_pre",
        ),
        ("      label:", "      bs:", "10: a component file must have bs once; it is on line 5"),
        ("      label:", "      3:", "10: .*must have texts as keys; the key 3 is not one"),
        ("      label:", "      on:", "10: .*must have texts as keys; the key on is not one"),
        ("      label:", "      ? [a]\n      :", "must have texts as keys; the key is not one"),
        ("plugin:", "plugin: &a\n      *a", "1[56]: a component file must be YAML"),
        ("plugin: burst", "plugin: @burst", "15: a component file must be YAML: found character"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line_and_key(old: str, new: str, message: str) -> None:
    assert old in SHAMAN
    with pytest.raises(ParseError, match=f"^text:.*{message}"):
        read_components(SHAMAN.replace(old, new, 1))


@for_each(
    "old, new, message",
    [
        ("min: 1", "min: 9", "9: .*n.min: min of a grid must be at most max; got min 9, max 8"),
        ("step: 2, ", "", "9: .*parameters.n: must have step beside min, max, step_type"),
        ("step: 2, ", "values: [1], step: 2, ", "9: .*n: must give its values in one way"),
        ("multiplicative", "geometric", "must be additive or multiplicative; got 'geometric'"),
        ("values: [8, 1, 8]", "values: []", "block-size.values: must be a list of at least one"),
        ("values: [8, 1, 8]", "values: [a]", "10: .*block-size: a value to try .* got 'a'"),
        ("values: [8, 1, 8]", "values: 8", "10: .*must be a list of at least one value; got 8"),
        ("log: true", "log: 1", "11: .*x.log: must be true or false; got 1"),
        ("low: 0.5", "low: 0", "11: .*x.low: low of a range on a log scale must be positive"),
        ("values: [0, 1]", "values: [0, 2]", "13: .*mode: a value to try .* its choices; got 2"),
        ("choices: [0, 1, auto]", "choices: 0", "17: .*mode.choices: must be a list; got 0"),
        ("n > 2", "n.real > 2", "19: .*mode.condition: a rule must .* has Attribute in it"),
        ("n > 2", "m > 2", "13: .*mode: the condition of mode must name .* m is not one"),
        ("n * `b", "m * `b", "6: components.tool.constraints: the rule .* m is not one"),
        ("n * `b", "n ** `b", "6: components.tool.constraints.0: a rule must"),
        ("{regex:", "{rege:", "7: components.tool.target.rege: is not a key .* did you mean regex"),
        ("'t=([0-9.]+)'", "'t=('", "7: .*target.regex: .* must be a regular expression"),
        ("unit: ms", "osu: 8", "7: .*target: must have regex or osu, one of them"),
        ("maximise: true", "maximise: yes please", "7: .*maximise: must be true or false"),
        ("A: 1", "A: [1]", "5: components.tool.env.A: must be a text"),
        ("target:", "custom_target: x\n    target:", "8: .*target: and custom_target exclude"),
        ("target: {", "target: fast\n    description: {", "must have description once"),
    ],
)
def test_what_is_wrong_in_our_additions(old: str, new: str, message: str) -> None:
    assert old in OURS
    with pytest.raises(ParseError, match=f"^text:.*{message}"):
        read_components(OURS.replace(old, new, 1))


@for_each(
    "target, expected",
    [
        ("wall-time", WallTime()),
        ("{regex: 'a', group: 0}", OutputRegex("a", 0)),
        ("{osu: 8}", OSULatency(8)),
        ("{osu: 8, statistic: Max}", OSULatency(8, statistic="Max")),
        ("{osu: all}", OSULatency()),
        ("{osu: all, weights: size}", OSULatency(weights="size")),
        ("{osu: all, weights: {'8': 1, '16': 2.5}}", OSULatency(weights={8: 1, 16: 2.5})),
    ],
)
def test_targets(target: str, expected: object) -> None:
    text = (
        f"components: {{t: {{target: {target}, parameters: {{n: {{type: int, env_var: true}}}}}}}}"
    )
    assert read_components(text + "\n")["t"].target == expected


@for_each(
    "target, message",
    [
        ("fast", "target: must be wall-time, .* got 'fast'"),
        ("{osu: -1}", "target.osu: size must be a whole number of at least 0 B"),
        ("{osu: 8, weights: size}", "target.weights: a size and weights exclude"),
        ("{osu: all, weights: {'x': 1}}", "got 1 for 'x'"),
        ("{osu: 8, unit: s}", "target.unit: is not a key of a target with an OSU table"),
        ("{regex: 3}", "target.regex: a pattern must be a text"),
        ("{regex: a, group: [1]}", "target.group: group must be one of 0"),
        ("{regex: '(a)', stream: {}}", "target.stream"),
        ("{}", "must have regex or osu"),
    ],
)
def test_targets_that_cannot_be(target: str, message: str) -> None:
    text = (
        f"components: {{t: {{target: {target}, parameters: {{n: {{type: int, env_var: true}}}}}}}}"
    )
    with pytest.raises(ParseError, match=message):
        read_components(text + "\n")


@for_each(
    "data, message",
    [
        (b"", "must be a mapping"),
        (b"- a\n", "must be a mapping"),
        (b"components:\n", "at least one component"),
        (b"components: {a: }\n", "a must have at least one parameter"),
        (b"a: \xff\n", "text:1: a component file must be UTF-8"),
        (b"a: 1\n---\nb: 2\n", "must be YAML"),
        (b"a: !!python/object/apply:os.system [true]\n", "must be YAML: could not determine"),
        (b"#" * 300_001, "at most 300000 bytes"),
        (b"a: " + b"[" * 500 + b"]" * 500, "nested at most|must be YAML"),
        (b"a: " + b"9" * 5000 + b"\n", "must be YAML|is not a key"),
        (b"bbo: {heuristic: genetic_algorithm}\n", "read_experiment reads such a file"),
    ],
)
def test_files_that_are_something_else(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_components(data)


def test_a_file_is_read_no_further_than_a_component_file_can_be(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(10**13)
    with pytest.raises(ParseError, match="at most 300000 bytes"):
        read_components(path)


def test_aliases_that_repeat_one_another_end_in_a_message() -> None:
    """Nine levels of ten aliases stand for 10^9 values."""
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(9):
        items = ", ".join([f"*a{level}"] * 10)
        lines.append(f"b{level}: &a{level + 1} [{items}]")
    with pytest.raises(ParseError, match="must have at most 200000 values"):
        read_components("\n".join(lines))


@for_each(
    "more, message",
    [
        ("default: on", "default of s must be a text; got True; put it in quotes"),
        ("choices: [on, off]", "choice of s must be a text; got True; put it in quotes"),
        ("values: [1, 2]", "value to try of s must be a text; got 1; put it in quotes"),
    ],
)
def test_texts_that_yaml_reads_as_something_else(more: str, message: str) -> None:
    text = f"components: {{t: {{parameters: {{s: {{type: str, env_var: true, {more}}}}}}}}}\n"
    with pytest.raises(ParseError, match=message):
        read_components(text)


def test_what_no_run_could_be_given_is_reported_when_the_file_is_read() -> None:
    text = "components:\n  t:\n    {}\n    parameters: {{n: {{type: int, env_var: true}}}}\n"
    for line, message in (
        ('plugin: "a \'b"', "text:3: components.t.plugin: .*No closing quotation"),
        ("env: {'A=B': x}", "text:3: components.t.env: .*a name without =; got 'A=B'"),
    ):
        with pytest.raises(ParseError, match=message):
            read_components(text.format(line))


def test_keys_that_are_left_empty() -> None:
    for key in ("constraints", "env", "command", "plugin", "target", "header"):
        text = f"components: {{t: {{{key}: , parameters: {{n: {{type: int, env_var: true}}}}}}}}\n"
        assert read_components(text)["t"] == read_components(text.replace(f"{key}: ,", ""))["t"]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(OSError, match="no-such"):
        read_components("no-such.yaml")


STRUCTURE = ["components:", "  a:", "    parameters:", "      n:", "        type: int", "type: int"]
CONTENT = ["default: 0", "env_var: true", "values: [1]", "condition: n > 1", "target: {osu: 1}"]
SIGNS = [*"{}[],'\"#|?\n\x00", "&a", "*a", "<<: *a", "- ", ": ", "  ", "!!int"]
TOKENS = st.sampled_from([*STRUCTURE, *CONTENT, *SIGNS])


@given(st.lists(TOKENS, max_size=25).map("".join), st.integers(0, 800), st.binary(max_size=3))
def test_damaged_files_end_in_a_component_or_in_a_message(text: str, at: int, junk: bytes) -> None:
    damaged = OURS.encode()[:at] + junk + OURS.encode()[at + 2 :]
    for data in (text.encode(), damaged):
        try:
            found = read_components(data)
        except WorkbenchError:
            continue
        assert all(isinstance(one, Component) for one in found.values())


def test_numbers_that_only_old_yaml_reads_as_texts() -> None:
    text = "components: {t: {parameters: {x: {type: float, default: 1e-3, env_var: true, values: "
    (one,) = read_components(text + "[1e-3, 2E+3, -5.e1, .5e1]}}}}\n")["t"].parameters
    assert one.default == 0.001
    assert one.axis == Grid((-50.0, 0.001, 5.0, 2000.0))
    words = read_components(
        "components: {t: {parameters: {s: {type: str, env_var: true, values: ['1e3', e3, 1e]}}}}\n"
    )
    assert words["t"].parameters[0].axis == Choices(("1e3", "e3", "1e"))


def test_a_mapping_is_not_merged_into_itself() -> None:
    with pytest.raises(ParseError, match=r"text:3: .* must not merge a mapping into itself"):
        read_components("components:\n  t: &t\n    <<: *t\n")


def test_numbers_that_name_algorithms_are_asked_about() -> None:
    text = """
components:
  tool:
    command: tool
    parameters:
      algorithm: {type: int, default: 1, cmd_var: true, values: [1, 2, 3, 4]}
      mode: {type: categorical, default: 1, cmd_var: true, values: [1, 2, 3]}
      threads: {type: int, default: 1, cmd_var: true, values: [1, 2, 3]}
"""
    (note,) = read_components(text)["tool"].notes
    assert note.startswith(
        "algorithm is a number to the search, by which 1 is nearer to 2 than to 4"
    )
    assert "type: categorical" in note
