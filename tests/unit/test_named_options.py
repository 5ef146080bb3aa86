from __future__ import annotations

import inspect
from typing import TypedDict, Unpack

import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

from workbench.named_options import defaults_of, named_options
from workbench.programs import Program
from workbench.sensitivity.placement import compare_placements, place, place_all
from workbench.study import StudyResult
from workbench.topology import compare, summary
from workbench.tune import Experiment, SearchSettings, tune


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


def test_only_what_was_given_reaches_the_function() -> None:
    assert example("a", seed=3) == ("a", {"seed": 3})


@pytest.mark.parametrize(
    ("call", "offered"),
    [
        ("example('a', bud", "budget="),
        ("tune('sort', heur", "heuristic="),
        ("Experiment('sort', max_re", "max_retries="),
        ("StudyResult.one(machi", "machine="),
        ("place_all(program, model, network, ranks_", "ranks_per_host="),
        ("compare([], pri", "prices="),
        ("Program.graph(program, allr", "allreduce="),
    ],
)
def test_a_notebook_completes_an_option(call: str, offered: str) -> None:
    names = (example, tune, Experiment, StudyResult, place_all, compare, Program)
    completer = IPCompleter(namespace={one.__name__: one for one in names})
    with provisionalcompleter():
        found = [one.text for one in completer.completions(call, len(call))]
    assert offered in found


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
