from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.plotting.placement.map import map_columns, placement_map, plot_placement
from workbench.topology import Topology, dragonfly, fat_tree


@dataclass(frozen=True)
class Placed:
    hosts: NDArray[np.int64]
    topology: Topology
    method: str = "block"


def test_each_rank_is_in_the_column_of_its_router() -> None:
    network = dragonfly(a=2, p=2, g=3)
    placed = Placed(np.array([5, 0, 1, 8]), network)
    columns, groups = map_columns(placed, [4, 3, 2, 1])
    cells = {text: at for at, text in enumerate(columns["rank"]) if text != "empty"}
    assert sorted(cells) == ["rank 0", "rank 1", "rank 2", "rank 3"]
    for rank, host in enumerate(placed.hosts.tolist()):
        at = cells[f"rank {rank}"]
        assert columns["host"][at] == host
        assert columns["router"][at] == network.host_router[host]
        assert columns["weight"][at] == 4 - rank
        assert columns["text"][at] == str(rank)
    # Ranks 1 and 2 share a router; the other two leave a host of theirs empty.
    assert columns["rank"].count("empty") == 2
    assert [columns["alpha"][i] for i, r in enumerate(columns["rank"]) if r == "empty"] == [0, 0]
    assert list(groups.values()) == ["0", "1", "2"]
    assert len({columns["x"][cells[f"rank {rank}"]] for rank in (0, 1, 3)}) == 3


def test_ranks_of_one_host_stand_below_one_another() -> None:
    columns, _ = map_columns(Placed(np.array([0, 0, 1, 1]), fat_tree(2)), [0, 0, 0, 0])
    places = list(zip(columns["x"], columns["y"], strict=True))
    assert len(set(places)) == len(places) == 4


def test_many_routers_have_no_numbers_but_a_fixed_height() -> None:
    network = fat_tree(16)
    drawn = placement_map(Placed(np.arange(1024), network), np.arange(1024))
    assert set(drawn.source.data["text"]) == {""}
    assert drawn.mapper.high == 1023
    drawn.show(Placed(np.arange(3), fat_tree(4), "search"), [0, 0, 0])
    assert "search" in drawn.figure.title.text
    assert drawn.mapper.high == 1, "no rank on the critical path is no division by zero"
    assert drawn.source.data["text"][:3] == ["0", "1", "2"]


def test_a_number_is_white_on_dark_and_black_on_light() -> None:
    drawn = placement_map(Placed(np.arange(3), fat_tree(4)), [0, 70, 100])
    data = drawn.source.data
    assert data["white_text"][:3] == ["", "1", "2"]
    assert data["black_text"][:3] == ["0", "", ""]
    # A colour for each row makes the page fail once there are fewer rows.
    inks = [one.glyph.text_color for one in drawn.figure.renderers if hasattr(one.glyph, "text")]
    assert inks == ["#FFFFFF", "#000000"]


def test_there_is_a_weight_for_each_rank() -> None:
    with pytest.raises(ParameterError, match="one for each of 2 ranks"):
        plot_placement(Placed(np.arange(2), fat_tree(4)), [1])
