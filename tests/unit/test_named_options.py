from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, Unpack

from IPython.core.completer import IPCompleter, provisionalcompleter

from tests.cases import for_each
from tests.source_trees import definitions, trees_of
from workbench.models import SNAPPR, LogGPS, LogP
from workbench.named_options import defaults_of, named_options
from workbench.panels import StudyPanel
from workbench.placement import compare_placements, place, place_all
from workbench.programs import Program
from workbench.study import StudyPlan, StudyResult
from workbench.topology import PriceTable, compare, summary
from workbench.tune import Experiment, SearchSettings, tune

# Functions whose options have no types, with the reason.
_FIELDS = "the fields of the class, which named_fields lists"
_BY_NAME = "the options of the rule or heuristic that is named; options_of returns them"
UNTYPED = {
    "cli/signals.py run_stoppable": "those of the function that is run",
    "models/base.py __new__": "the fields, before the dataclass is made; its __init__ lists them",
    "models/base.py replace": _FIELDS,
    "models/loggps.py replace": _FIELDS,
    "models/parameter.py parameter": "the fields of ModelParameter, which its constructor checks",
    "named_options.py listed": _FIELDS,
    "plotting/marks.py hover": "those of Bokeh's HoverTool",
    "shell/function_options.py add": "those of argparse's add_argument",
    "shell/parser.py __init__": "those of argparse.ArgumentParser",
    "shell/parser.py add_actions": "those of argparse.ArgumentParser",
    "shell/parser.py add_argument": "those of argparse's add_argument",
    "tasks.py submit": "those of the function that is submitted",
    "topology/metrics/cost.py replace": _FIELDS,
    "tune/heuristics/__init__.py make_heuristic": _BY_NAME,
    "tune/pruning.py make_pruning": _BY_NAME,
    "tune/resampling.py make_resampling": _BY_NAME,
    "tune/rules_by_name.py make": _BY_NAME,
    "tune/stopping.py make_stopping": _BY_NAME,
    "workshop/cards.py add_cards": "what Voilà passes to a hook, of which it may pass more",
    "yaml_plan.py replace": _FIELDS,
}


class Options(TypedDict, total=False):
    """Two options."""

    budget: int
    seed: int | None


@named_options(Options, {"budget": 100})
def example(name: str, **options: Unpack[Options]) -> tuple[str, Options]:
    return name, options


def test_the_signature_lists_the_options_with_their_types_and_defaults() -> None:
    listed = inspect.signature(example).parameters
    assert list(listed) == ["name", "budget", "seed"]
    assert listed["budget"].kind is inspect.Parameter.KEYWORD_ONLY
    assert (listed["budget"].annotation, listed["budget"].default) == ("int", 100)
    assert listed["seed"].default is None


def test_options_have_types() -> None:
    root = Path(inspect.getfile(named_options)).parent
    found = {
        f"{path.relative_to(root).as_posix()} {node.name}"
        for path, tree in trees_of("workbench").items()
        for node in definitions(tree)
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None
        if ast.unparse(node.args.kwarg.annotation or ast.Name("")) in ("", "Any", "object")
    }
    assert found == {*UNTYPED}


def test_a_copy_has_the_fields_of_its_own_class() -> None:
    found = {kind: inspect.signature(kind().replace).parameters for kind in (LogP, SNAPPR)}
    assert "mtu" in found[SNAPPR]
    assert "mtu" not in found[LogP]
    assert "attributes changed" in (inspect.getdoc(SNAPPR.replace) or "")
    assert SNAPPR().replace(mtu=512).mtu == 512


def test_only_what_was_given_reaches_the_function() -> None:
    assert example("a", seed=3) == ("a", {"seed": 3})


# A function, one with its module, a class, a method, and a method of what a name stands for.
@for_each(
    "call, offered",
    [
        ("example('a', bud", "budget="),
        ("tune('sort', heur", "heuristic="),
        ("Experiment('sort', max_re", "max_retries="),
        ("Program.graph(program, allr", "allreduce="),
        ("model.replace(injection_l", "injection_latency="),
    ],
)
def test_a_notebook_completes_an_option(call: str, offered: str) -> None:
    names = (example, tune, Experiment, Program)
    live = {one.__name__: one for one in names} | {"model": SNAPPR()}
    completer = IPCompleter(namespace=live)
    with provisionalcompleter():
        found = [one.text for one in completer.completions(call, len(call))]
    assert offered in found


@for_each(
    "function, option",
    [
        (StudyResult.one, "machine"),
        (place_all, "ranks_per_host"),
        (compare, "prices"),
        (LogGPS(1e-6, 1e-7, 0, 0, 0, 0).replace, "errors"),
        (StudyPlan.replace, "losses"),
        (PriceTable.replace, "router_fixed"),
        (StudyPanel.look_at, "loss"),
        (StudyPanel.run, "trials"),
    ],
)
def test_the_signature_that_completion_reads_has_the_option(
    function: Callable[..., object], option: str
) -> None:
    assert inspect.signature(function).parameters[option].kind is inspect.Parameter.KEYWORD_ONLY


def test_the_defaults_are_those_of_the_function_that_takes_the_options() -> None:
    for function, origin in (
        (place_all, place),
        (compare_placements, place),
        (compare, summary),
        (tune, Experiment),
    ):
        own = {k: v for k, v in defaults_of(function).items() if k in defaults_of(origin)}
        assert own == {k: defaults_of(origin)[k] for k in own}
        assert len(own) >= 8
    assert defaults_of(tune)["budget"] == SearchSettings().budget
