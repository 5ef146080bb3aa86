"""Whole files in the shapes that SHAMan's own have: components, experiments, and outdated ones.

The files in ``shaman/`` are written for these tests. Of SHAMan's they have the layout alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.tune import (
    Component,
    ExperimentSettings,
    Grid,
    OSULatency,
    WallTime,
    read_components,
    read_experiment,
)
from workbench.tune.experiment import Experiment

FOLDER = Path(__file__).parent / "shaman"
GENETIC = (FOLDER / "experiment-genetic.yaml").read_text()
OPTIONS = {
    "selection": "tournament",
    "crossover": "single-point",
    "mutation": "neighbour",
    "mutation_rate": 0.3,
    "tournament_size": 6,
    "elitism": False,
}


def components(name: str) -> dict[str, Component]:
    return dict(read_components(FOLDER / name))


def experiment(*replacements: tuple[str, str]) -> ExperimentSettings:
    """Return the settings of the genetic search with parts of its text replaced."""
    text = GENETIC
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return read_experiment(text)


def test_words_after_a_command() -> None:
    (pack,) = components("words.yaml").values()
    assert pack.invocation({"level": 9}).text() == (
        "XZ_OPT=quiet tar --create --file=/tmp/pack.tar /usr/share/doc blocking=20k level=9"
    )
    assert pack.target == WallTime()
    assert pack.source == "words.yaml"


def test_every_key_of_a_component() -> None:
    (relay,) = components("every-key.yaml").values()
    call = relay.invocation({"spread": 3}, application=("./app", "a b"))
    assert call.argv == ("relay-start", "--width", "16", "./app", "a b")
    assert dict(call.env) == {"LD_PRELOAD": "librelay.so", "RELAY_DEPTH": "4"}
    assert call.sbatch_options == ("--relay", "--spread=3")
    assert call.header == "module load relay"


def test_plugins_and_lines_of_a_batch_script() -> None:
    found = components("batch.yaml")
    assert list(found) == ["cache-read", "cache-write", "stage_4", "stage_8"]
    application = ("./app",)
    read = found["cache-read"].invocation({"CACHE_LINES": 1}, application=application)
    assert read.argv == application
    assert read.sbatch_options == ("--cache=yes", "--warm=no")
    assert dict(read.env) == {"CACHE_LINES": "1", "CACHE_AHEAD": "33554432"}
    assert "drop_caches" in found["cache-write"].invocation({}, application=application).header
    stage = found["stage_4"].invocation({"copy-threads": 9}, application=application)
    assert stage.directives == (
        "#STAGE pool=/scratch kind=ram_4 keep=0 copy-threads=9 high-water-mark=85",
    )
    assert stage.argv == application


def test_targets_read_from_osu_tables() -> None:
    found = components("osu.yaml")
    assert [one.target for one in found.values()] == [OSULatency(1048576), OSULatency(8)]
    # The default, 0, which SHAMan leaves out, is set.
    algorithm = "OMPI_MCA_coll_tuned_reduce_algorithm"
    call = found["reduce_8"].invocation({}, application=("osu_reduce",))
    assert dict(call.env) == {algorithm: "0"}


def test_every_way_to_pass_a_value() -> None:
    found = components("ways.yaml")
    program = found["program"].invocation({"format": "csv"})
    assert program.argv == ("probe", "--output", "/tmp/", "-f", "csv", "count=3", "-b", "64K")
    with pytest.raises(ParameterError, match="format of program must have a value"):
        found["program"].invocation({})
    preloaded = found["preloaded"].invocation({"PROBE_SIZE": 1}, application=("./app",))
    assert dict(preloaded.env) == {
        "LD_PRELOAD": "libprobe.so",
        "PROBE_SIZE": "1",
        "PROBE_PATH": "/home/",
    }
    # What is optional is left out where nothing is said, and zero is something.
    maybe = found["maybe"]
    assert dict(maybe.invocation({}).env) == {}
    assert dict(maybe.invocation({"PROBE_LIMIT": 0}).env) == {"PROBE_LIMIT": "0"}
    submitted = found["submitted"].invocation({}, application=("./app",))
    assert submitted.sbatch_options == (
        *("--probe_d", "--place", "/tmp/", "-n", "6", "--memory=2G"),
    )


def test_an_experiment_of_two_components() -> None:
    found = experiment()
    assert found.heuristic is not None
    assert (found.heuristic.name, dict(found.heuristic.options)) == ("genetic", OPTIONS)
    assert (found.initial, found.default_first) == (4, True)
    assert dict(found.axes["program"]) == {
        "PROBE_SIZE": Grid((2, 6, 10)),
        "count": Grid((1, 2, 3, 4)),
    }
    assert list(found.axes) == ["program", "maybe"]
    assert found.pruning is None
    assert found.resampling is None
    assert found.notes == ("api is not used; there is no server",)
    maybe = components("ways.yaml")["maybe"]
    with Experiment.from_file(found, maybe, budget=8) as made:
        assert made.settings.heuristic.name == "genetic"
        assert made.settings.initial == 5
        assert made.space.size == 2


@for_each(
    "said, name, options",
    [("5", "fixed", {"seconds": 5.0}), ("default", "default", {})],
)
def test_an_experiment_that_ends_slow_runs(said: str, name: str, options: dict[str, Any]) -> None:
    rule = experiment(
        ("components:", f"pruning:\n  max_step_duration: {said}\n\ncomponents:")
    ).pruning
    assert rule is not None
    assert (rule.name, dict(rule.options)) == (name, options)


def test_an_experiment_that_runs_again() -> None:
    lines = (
        "noise_reduction:\n  resampling_policy: simple_resampling\n  nbr_resamples: 4\n"
        "  fitness_aggregation: simple_fitness_aggregation\n  estimator: numpy.median\n\n"
    )
    found = experiment(
        ("api:\n  host: localhost\n  port: 4999\n\n", ""), ("components:", f"{lines}components:")
    )
    assert found.resampling is not None
    assert (found.resampling.name, dict(found.resampling.options)) == ("static", {"runs": 4})
    assert found.aggregation == "median"
    assert found.notes == ()


def test_a_template_with_empty_sections() -> None:
    found = read_experiment(FOLDER / "experiment-template.yaml")
    assert (found.heuristic, found.pruning, found.resampling, dict(found.axes)) == (None,) * 3 + (
        {},
    )
    assert (found.reevaluate, found.max_retry) == (False, 4)
    assert found.notes == ("the file names no heuristic",)


def test_a_grid_the_wrong_way_round_is_refused_where_it_stands() -> None:
    line = GENETIC.splitlines().index("      min: 1") + 1
    with pytest.raises(
        ParseError, match=rf":{line}: components\.program\.count\.min: min of a grid"
    ):
        experiment(("      min: 1\n      max: 4", "      min: 5\n      max: 4"))


def test_files_of_releases_before_the_format_are_refused() -> None:
    for read in (read_experiment, read_components):
        with pytest.raises(ParseError, match=r"experiment-old\.cfg:2: .* must be YAML"):
            read(FOLDER / "experiment-old.cfg")
        with pytest.raises(ParseError, match="PROBE_LIBRARY: is not a key of a c"):
            read(FOLDER / "variables-old.yaml")
    with pytest.raises(ParseError, match="bbo: belongs to the configuration of an experiment"):
        read_components(GENETIC)
