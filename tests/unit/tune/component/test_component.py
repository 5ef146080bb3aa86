"""What a run executes for a configuration: words and variables, never a line for a shell."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune import Choices, Component, ComponentParameter, Grid, Range
from workbench.tune.space.constraints import Expression


def component(*parameters: ComponentParameter, **rest: Any) -> Component:
    """A component with a command."""
    return Component("tool", parameters, command=rest.pop("command", ("tool",)), **rest)


@for_each(
    "parameter, value, words",
    [
        (ComponentParameter("n", cmd_var=True), 4, ("n=4",)),
        (ComponentParameter("n", cmd_var=True, flag="num"), 4, ("--num", "4")),
        (ComponentParameter("n", cmd_var=True, flag="n"), 4, ("-n", "4")),
        (ComponentParameter("n", cmd_var=True, flag="num="), 4, ("--num=4",)),
        (ComponentParameter("n", cmd_var=True, flag="n="), 4, ("--n=4",)),
        (ComponentParameter("n", cmd_var=True, flag="-num"), 4, ("-num", "4")),
        (ComponentParameter("n", cmd_var=True, flag="--mca coll_n"), 4, ("--mca", "coll_n", "4")),
        (ComponentParameter("n", cmd_var=True, flag="s", suffix="K"), 5, ("-s", "5K")),
        (ComponentParameter("n", cmd_var=True, suffix="M"), 1, ("n=1M",)),
        (ComponentParameter("n", cmd_var=True), 0, ("n=0",)),
        (ComponentParameter("s", "str", cmd_var=True, flag="s"), "", ("-s", "")),
        (ComponentParameter("s", "str", cmd_var=True, flag="s"), "a b; $(c)", ("-s", "a b; $(c)")),
        (ComponentParameter("x", "float", cmd_var=True), 0.1, ("x=0.1",)),
        (ComponentParameter("x", "float", cmd_var=True), 2, ("x=2.0",)),
        (ComponentParameter("b", "bool", cmd_var=True, flag="b"), False, ("-b", "0")),
        (ComponentParameter("b", "bool", cmd_var=True, flag="bb", switch=True), True, ("--bb",)),
        (ComponentParameter("b", "bool", cmd_var=True, flag="bb", switch=True), False, ()),
        (ComponentParameter("c", "categorical", cmd_var=True), "x", ("c=x",)),
    ],
)
def test_words_of_a_value(
    parameter: ComponentParameter, value: Any, words: tuple[str, ...]
) -> None:
    one = component(parameter)
    assert one.invocation({parameter.name: value}).argv == ("tool", *words)


def test_zero_false_and_empty_reach_the_environment() -> None:
    one = component(
        ComponentParameter("algorithm", default=3, env_var="OMPI_algorithm"),
        ComponentParameter("on", "bool", default=True, env_var="ON"),
        ComponentParameter("path", "str", default="/home", env_var="PATH_"),
    )
    assert dict(one.invocation({"algorithm": 0, "on": False, "path": ""}).env) == {
        "OMPI_algorithm": "0",
        "ON": "0",
        "PATH_": "",
    }
    assert dict(one.invocation({}).env) == {"OMPI_algorithm": "3", "ON": "1", "PATH_": "/home"}
    assert dict(one.invocation(dict.fromkeys(("algorithm", "on", "path"))).env) == {}


def test_optional_parameters_pass_nothing_by_themselves() -> None:
    one = component(ComponentParameter("n", default=3, optional=True, env_var="N"))
    assert dict(one.invocation({}).env) == {}
    assert dict(one.invocation({"n": 3}).env) == {"N": "3"}
    assert one.defaults() == {"n": None}


def test_a_parameter_may_go_more_ways_than_one() -> None:
    one = component(
        ComponentParameter("n", default=2, env_var="N", cmd_var=True, cli_var=True, flag="nn")
    )
    invocation = one.invocation({})
    assert invocation.argv == ("tool", "--nn", "2")
    assert invocation.sbatch_options == ("--nn", "2")
    assert dict(invocation.env) == {"N": "2"}


def test_options_of_sbatch_are_never_taken_for_its_script() -> None:
    one = component(
        ComponentParameter("n", default=1, cli_var=True),
        ComponentParameter("m", "str", default="a b", cli_var=True, flag="mode"),
        plugin="fastio=yes --ioi=yes",
    )
    assert one.invocation({}).sbatch_options == (
        "--fastio=yes",
        "--ioi=yes",
        "--n=1",
        "--mode",
        "a b",
    )


def test_where_the_parameters_the_application_and_python_stand() -> None:
    n = ComponentParameter("n", default=1, cmd_var=True, flag="n")
    assert component(n).invocation({}, ["app", "-n", "9"]).argv == (
        *("tool", "-n", "1"),
        *("app", "-n", "9"),
    )
    placed = component(n, command=("{python}", "{application}", "--", "{parameters}", "end"))
    assert placed.invocation({}, ["app"]).argv == (sys.executable, "app", "--", "-n", "1", "end")
    before = component(n, command=("run", "{application}", "end"))
    assert before.invocation({}, ["app"]).argv == ("run", "-n", "1", "app", "end")
    only_env = Component(
        "lib", (ComponentParameter("n", default=1, env_var="N"),), ld_preload="lib.so"
    )
    assert only_env.invocation({}, ["app"]).argv == ("app",)
    assert dict(only_env.invocation({}).env) == {"LD_PRELOAD": "lib.so", "N": "1"}
    assert only_env.invocation({}).argv == ()


def test_a_value_that_looks_like_a_place_stays_a_value() -> None:
    one = component(ComponentParameter("s", "str", cmd_var=True, flag="s"))
    assert one.invocation({"s": "{application}"}, ["app"]).argv == (
        *("tool", "-s", "{application}"),
        "app",
    )


def test_the_folder_of_the_file_must_be_known_where_it_is_named() -> None:
    one = component(
        ComponentParameter("n", default=1, env_var="N"), command=("{folder}/run",), folder="/d"
    )
    assert one.invocation({}).argv == ("/d/run",)
    with pytest.raises(ParameterError, match="names its file's folder"):
        component(
            ComponentParameter("n", default=1, env_var="N"), command=("{folder}/run",)
        ).invocation({})


def test_a_command_that_is_a_comment_is_a_line_of_the_batch_script() -> None:
    one = component(
        ComponentParameter("threads", default=2, cmd_var=True),
        ComponentParameter("s", "str", default="x", cmd_var=True),
        command=("#SBB targets=/scratch",),
        header="#SBB trash=all",
    )
    invocation = one.invocation({}, ["app"])
    assert invocation.directives == ("#SBB targets=/scratch threads=2 s=x",)
    assert invocation.argv == ("app",)
    assert invocation.header == "#SBB trash=all"
    for ending in "\n", "\r":
        with pytest.raises(ParameterError, match="must have no line ends"):
            one.invocation({"s": f"x{ending}rm -r"})


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_any_text_stays_one_word(text: str) -> None:
    one = component(ComponentParameter("s", "str", cmd_var=True, env_var="S", flag="s"))
    invocation = one.invocation({"s": text})
    assert invocation.argv == ("tool", "-s", text)
    assert invocation.env["S"] == text


def test_what_a_shell_would_run_reaches_the_program_as_it_is() -> None:
    one = component(
        ComponentParameter("s", "str", cmd_var=True, flag="s"),
        command=("{python}", "-c", "import sys; print(sys.argv[1:])"),
    )
    text = "$(touch x); `touch x` && touch x | \"'\n"
    run = subprocess.run(
        one.invocation({"s": text}).argv, capture_output=True, text=True, check=True
    )
    assert run.stdout == f"{['-s', text]}\n"


@for_each(
    "configuration, message",
    [
        ({"m": 1}, "m is not a parameter of tool; known: n, mode"),
        ({"n": 1.5}, "a value of n must be a whole number; got 1.5"),
        ({"n": "1"}, "a value of n must be a whole number; got '1'"),
        ({"n": True}, "a value of n must be a whole number; got True"),
        ({"mode": "slow"}, "a value of mode must be one of its choices; got 'slow'; known: a, b"),
        ({"mode": 3}, "a value of mode must be a text; got 3"),
    ],
)
def test_values_that_do_not_fit(configuration: dict[str, Any], message: str) -> None:
    one = component(
        ComponentParameter("n", default=1, cmd_var=True),
        ComponentParameter("mode", "str", default="a", choices=("a", "b"), cmd_var=True),
    )
    with pytest.raises(ParameterError, match=message):
        one.invocation(configuration)


def test_a_nul_cannot_be_passed() -> None:
    one = component(ComponentParameter("s", "str", env_var="S"))
    with pytest.raises(ParameterError, match="NUL"):
        one.invocation({"s": "a\0b"})
    with pytest.raises(ParameterError, match="must have a name without =; got 'A=B'"):
        component(ComponentParameter("s", "str", env_var="S"), env={"A=B": "c"}).invocation(
            {"s": ""}
        )


def test_a_parameter_without_a_value_is_reported() -> None:
    one = component(ComponentParameter("n", cmd_var=True))
    with pytest.raises(ParameterError, match="n of tool must have a value, it has no default"):
        one.invocation({})
    assert one.defaults() == {}
    assert one.invocation({"n": 2.0}).argv == ("tool", "n=2")


CONDITIONAL = component(
    ComponentParameter("segment", default=0, env_var="SEG", condition=Expression("algorithm == 5")),
    ComponentParameter("algorithm", "categorical", default=0, env_var="ALG"),
)


def test_a_parameter_that_does_not_apply_is_not_passed() -> None:
    assert CONDITIONAL.defaults() == {"segment": None, "algorithm": 0}
    assert dict(CONDITIONAL.invocation({}).env) == {"ALG": "0"}
    assert dict(CONDITIONAL.invocation({"algorithm": 5}).env) == {"SEG": "0", "ALG": "5"}
    assert dict(CONDITIONAL.invocation({"algorithm": 1, "segment": 4}).env) == {"ALG": "1"}


def test_spaces_take_rules_and_defaults_along() -> None:
    space = CONDITIONAL.space({"segment": [0, 8], "algorithm": [0, 5]})
    assert [tuple(each.values()) for each in space.all()] == [(0, None), (5, 0), (5, 8)]
    assert space.default == {"algorithm": 0, "segment": None}
    assert isinstance(space.axes["algorithm"], Choices)
    assert isinstance(space.axes["segment"], Grid)


def test_a_parameter_that_is_not_tuned_keeps_its_default() -> None:
    with pytest.raises(ParameterError, match=r"segment applies only where .*=0 is not"):
        CONDITIONAL.space({"segment": [0, 8]})
    ruled = component(
        ComponentParameter("a", default=4, cmd_var=True),
        ComponentParameter("b", default=1, cmd_var=True),
        ComponentParameter("c", default=1, optional=True, cmd_var=True),
        constraints=(Expression("a * b <= 8"), Expression("a < 3 or c > 1")),
    )
    space = ruled.space({"b": [1, 2, 3]})
    assert [each["b"] for each in space.all()] == [1, 2]
    assert [each["b"] for each in ruled.space({"b": [1, 2]}, ["b * a > 4"]).all()] == [2]
    with pytest.raises(ParameterError, match="a > 9 must hold, but a=4 is not tuned"):
        ruled.space({"b": [1]}, ["a > 9"])
    with pytest.raises(ParameterError, match="z is not one"):
        ruled.space({"b": [1]}, ["z > 9"])


@for_each("algorithm", [1, 4])
def test_a_default_counts_in_rules_only_where_it_is_passed(algorithm: int) -> None:
    """Whether the segment is passed is up to the algorithm, which is tuned; it itself is not."""
    parameters = (
        ComponentParameter("algorithm", default=algorithm, cmd_var=True),
        ComponentParameter(
            "segment", default=9, cmd_var=True, condition=Expression("algorithm == 4")
        ),
        ComponentParameter("count", default=1, cmd_var=True),
    )
    axes = {"algorithm": [1, 4], "count": [1, 20]}

    def passed(one: Component, values: dict[str, Any]) -> list[tuple[str, ...]]:
        return [one.invocation(each).argv[1:] for each in one.space(values).all()]

    free = [("algorithm=1", "count=1"), ("algorithm=1", "count=20")]
    held = [("algorithm=4", "segment=9", "count=1"), ("algorithm=4", "segment=9", "count=20")]
    # A constraint about what is not passed holds; else it is about the default.
    ruled = component(*parameters, constraints=(Expression("count <= segment"),))
    assert passed(ruled, axes) == [*free, held[0]]
    never = component(*parameters, constraints=(Expression("segment < 9"),))
    assert passed(never, axes) == free
    # A condition that names what is not passed is false.
    count = ComponentParameter(
        "count", default=1, cmd_var=True, condition=Expression("segment > 3")
    )
    assert passed(component(*parameters[:2], count), axes) == [("algorithm=1",), *held]
    # What applies only where such a parameter does: the rule follows through both.
    depth = ComponentParameter(
        "depth", default=9, cmd_var=True, condition=Expression("segment > 3")
    )
    chain = component(*parameters, depth, constraints=(Expression("count <= depth"),))
    assert passed(chain, axes) == [*free, (*held[0], "depth=9")]


def test_axes_fit_their_parameters() -> None:
    one = component(
        ComponentParameter("n", default=1, cmd_var=True, axis=Grid.of([1, 2])),
        ComponentParameter("x", "float", default=1, cmd_var=True),
        ComponentParameter("b", "bool", default=False, cmd_var=True),
        ComponentParameter("o", default=1, optional=True, cmd_var=True),
    )
    assert one.space().names == ("n",)
    axes = one.space(
        {"n": Range(1.0, 9.0), "x": [1, 2], "b": [True, False], "o": Choices((None, 3))}
    ).axes
    assert axes["n"] == Range(1, 9, integer=True)
    assert axes["x"] == Grid((1.0, 2.0))
    assert axes["b"] == Choices((True, False))
    for name, values, message in (
        ("n", [1, "2"], "a value to try of n must be a whole number; got '2'"),
        ("n", [1, None], "got None"),
        ("x", ["a"], "a value of x must be a finite number; got 'a'"),
        ("n", "12", "must be a list, a Grid, a Range or Choices; got '12'"),
        ("n", [], "at least one"),
        ("m", [1], "m is not a parameter of tool"),
    ):
        with pytest.raises(ParameterError, match=message):
            one.space({name: values})
    with pytest.raises(ParameterError, match="tool has no values to try"):
        component(ComponentParameter("n", default=1, cmd_var=True)).space()


@for_each(
    "make, message",
    [
        (
            lambda: ComponentParameter("n"),
            "must reach the component by env_var, cmd_var or cli_var",
        ),
        (
            lambda: ComponentParameter("n", "list", cmd_var=True),
            "must be one of int, float, str, bool",
        ),
        (lambda: ComponentParameter("n", env_var="A=B"), "no = and no NUL"),
        (lambda: ComponentParameter("n", cmd_var=True, flag="n", switch=True), "bool with a flag"),
        (lambda: ComponentParameter("n", "bool", cmd_var=True, switch=True), "and no flag"),
        (
            lambda: ComponentParameter("n", default="4", cmd_var=True),
            "the default of n must be a whole",
        ),
        (
            lambda: ComponentParameter("s", "str", default=4, cmd_var=True),
            "the default of s must be a text",
        ),
        (
            lambda: ComponentParameter("n", choices=("a",), cmd_var=True),
            "a choice of n must be a whole",
        ),
        (
            lambda: ComponentParameter("n", default=3, choices=(1, 2), cmd_var=True),
            "the default of n must be one of its choices; got 3",
        ),
        (
            lambda: ComponentParameter("n", choices=(1, 2), cmd_var=True, axis=Grid.of([1, 3])),
            "a value to try of n must be one of its choices; got 3",
        ),
        (lambda: component(), "at least one parameter"),
        (
            lambda: component(
                ComponentParameter("n", cmd_var=True), ComponentParameter("n", cmd_var=True)
            ),
            "described once",
        ),
        (
            lambda: component(ComponentParameter("n", cmd_var=True, condition=Expression("m > 1"))),
            "the condition of n must name parameters of tool; m is not one",
        ),
        (
            lambda: component(
                ComponentParameter("n", cmd_var=True), constraints=(Expression("m > 1"),)
            ),
            "the rule m > 1 must name parameters of tool; m is not one",
        ),
        (
            lambda: component(ComponentParameter("n", cmd_var=True, condition=Expression("n > 1"))),
            "must not form a cycle",
        ),
    ],
)
def test_components_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_an_invocation_reads_as_one_would_type_it() -> None:
    one = component(
        ComponentParameter("s", "str", default="a b", cmd_var=True, env_var="S"),
        ComponentParameter("q", default=1, cli_var=True),
        header="sync",
    )
    assert one.invocation({}).text() == "sync\nsbatch --q=1: S='a b' tool 's=a b'"
    with pytest.raises(ParameterError, match="z is not a parameter of tool"):
        _ = one["z"]


def test_a_range_has_an_order_and_a_categorical_has_none() -> None:
    one = component(ComponentParameter("c", "categorical", default=4, cmd_var=True))
    with pytest.raises(ParameterError, match=r"must be a list, as .* no order; got a range"):
        one.space({"c": Range(1, 8)})
