"""A mistyped name finds the one that was meant, everywhere by the same rule."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import for_each
from workbench import datasets, machines, models, programs, topology
from workbench.errors import WorkbenchError
from workbench.programs.collectives import find_algorithm
from workbench.suggestions import Suggesting, close_names, did_you_mean


@for_each(
    "got, meant",
    [
        ("rign", "ring"),
        ("Recursive_Doubling", "recursive-doubling"),
        ("doubling", "recursive-doubling"),
        ("zebra", None),
        ("", None),
        (3, None),
    ],
)
def test_the_nearest_name_is_suggested(got: object, meant: str | None) -> None:
    known = ("ring", "recursive-doubling", "linear")
    assert did_you_mean(got, known) == ("" if meant is None else f"; did you mean {meant}?")


def test_the_nearest_comes_first_and_no_more_than_wanted() -> None:
    known = ("torus", "torus-3d", "fat-tree")
    assert close_names("toru", known, 2) == ["torus", "torus-3d"]
    assert close_names("toru", known) == ["torus"]


@for_each(
    "ask, meant",
    [
        (lambda: find_algorithm("allreduce", "recursive-dubling"), "recursive-doubling"),
        (lambda: datasets.load("azure-hb96v3-hrd"), "azure-hb96v3-hdr"),
        (lambda: machines.load("azure-hb96v3-hrd"), "azure-hb96v3-hdr"),
        (lambda: models.find_model("snaper"), "snappr"),
        (lambda: models.SNAPPR(injection_latncy="1us"), "injection_latency"),
        (lambda: topology.parse_topology("dragonfli:9,4,4"), "dragonfly"),
        (lambda: topology.parse_topology("thetta"), "theta"),
        (lambda: topology.traffic(topology.torus((4, 4)), "unifrom"), "uniform"),
    ],
)
def test_names_of_all_kinds_are_suggested(ask: Callable[[], Any], meant: str) -> None:
    with pytest.raises(WorkbenchError, match=f"did you mean {meant}"):
        ask()


@for_each(
    "make, mistyped, meant",
    [
        (lambda: datasets.load("azure-hb96v3-hdr"), "latency_ms", "latency_us"),
        (lambda: models.SNAPPR(), "paramters", "parameters"),
        (lambda: topology.parse_topology("fat-tree:4"), "num_hots", "num_hosts"),
        (lambda: programs.generate.halo(8), "num_rnks", "num_ranks"),
        (lambda: programs.generate.halo(8).graph(), "num_rank", "num_ranks"),
    ],
)
def test_a_mistyped_attribute_names_the_nearest(
    make: Callable[[], Any], mistyped: str, meant: str
) -> None:
    thing = make()
    with pytest.raises(AttributeError) as told:
        getattr(thing, mistyped)
    assert str(told.value).startswith(f"{type(thing).__name__} has no attribute {mistyped}; did")
    assert meant in str(told.value)
    # Python's own suggestion would repeat this one at a terminal.
    assert "".join(traceback.format_exception(told.value)).count(meant) == 1
    assert not hasattr(thing, "_repr_mistyped_")
    again = copy.copy(thing)
    assert type(again) is type(thing)


def test_a_property_that_fails_keeps_its_own_error() -> None:
    class Odd(Suggesting):
        @property
        def shape(self) -> int:
            return int(None.size)  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'size'"):
        _ = Odd().shape
