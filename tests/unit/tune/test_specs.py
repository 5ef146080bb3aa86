from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError
from workbench.tune import Grid, Range
from workbench.tune.specs import axis_of_spec, chosen, options_text, recorded_space, rules

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
NAMES = st.from_regex("[a-z][a-z_]{0,9}", fullmatch=True)


@given(NAMES, st.dictionaries(NAMES, PLAIN, max_size=4))
def test_what_is_written_is_read_back(name: str, options: dict[str, Any]) -> None:
    assert chosen(f"{name}:{options_text(options)}") == (name, options)


def test_dashes_and_spaces_are_taken() -> None:
    assert chosen("annealing: cooling-factor=0.5 , restart=random") == (
        "annealing",
        {"cooling_factor": 0.5, "restart": "random"},
    )


def test_an_option_without_a_value_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"NAME=VALUE.*got 'runs'"):
        chosen("static:runs")


def test_an_option_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="runs must be given once; got 'static:runs=2,runs=3'"):
        chosen("static:runs=2,runs=3")


def test_several_rules_become_one() -> None:
    assert rules(["time:seconds=5"]) == ("time", {"seconds": 5})
    name, options = rules(["time:seconds=5", "count-movement"])
    assert name == "any"
    assert options["rules"] == [{"name": "time", "seconds": 5}, {"name": "count-movement"}]


@for_each(
    "word, axis",
    [
        ("n=1,2,4", [1, 2, 4]),
        ("n=none,a,true", [None, "a", True]),
        ("n=0:8:4", Grid.of([0, 4, 8])),
        ("n=1:8:x2", Grid.of([1, 2, 4, 8])),
        ("n=1:9", Range(1, 9, integer=True)),
        ("n=0.5:9", Range(0.5, 9)),
    ],
)
def test_values_of_an_axis(word: str, axis: Any) -> None:
    assert axis_of_spec(word) == ("n", axis)


@for_each("word", ["n", "n=", "=1", "n=1:2:3:4", "n=a:b", "n=1:none"])
def test_other_axes_are_refused(word: str) -> None:
    with pytest.raises(ParameterError, match="values must be"):
        axis_of_spec(word)


def test_a_recorded_space_is_found_by_its_name() -> None:
    assert recorded_space("simulated-12-ranks/gather/4096").name == "gather/4096"


def test_an_unknown_space_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="bcast/65536"):
        recorded_space("simulated-12-ranks/alltoall/1")


@for_each("word", ["", "/", ".", "../tuning/open-mpi-4-ranks", "which-heuristic"])
def test_an_unknown_recording_names_the_known_ones(word: str) -> None:
    with pytest.raises(
        DatasetError, match=r"; known: dd-write, open-mpi-4-ranks(, simulated-\S+){2}$"
    ):
        recorded_space(word)


def test_a_recording_in_a_folder_is_found_by_its_path() -> None:
    folder = data_folder() / "tuning" / "simulated-12-ranks"
    assert recorded_space(f"{folder}/gather/4096").name == "gather/4096"
