"""The ranks of communicators in liballprof traces, which tell no members."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import program, said
from workbench.errors import ParseError
from workbench.programs.program import Program
from workbench.programs.traces.groups import by_color, by_order, by_place, in_subgrids


def members(p: Program, rank: int) -> list[list[int]]:
    """Return the ranks of the communicator of each of a rank's calls."""
    first, last = p.rank_start[rank], p.rank_start[rank + 1]
    return [p.communicators[c].tolist() for c in p.comm[first : last - 1]]


def test_a_split_by_color_with_reordered_keys() -> None:
    # even and odd ranks, in descending order of their ranks
    calls = [
        [f"Comm_split:{{w}}:{r % 2}:{-r}:60", f"Barrier:{500 + r},{(3 - r) // 2},2"]
        for r in range(4)
    ]
    p = program(*calls)
    assert [members(p, r) for r in range(4)] == [[[2, 0]], [[3, 1]], [[2, 0]], [[3, 1]]]
    assert not p.notes


def test_messages_in_a_communicator_name_ranks_of_all() -> None:
    calls = [["Comm_split:{w}:0:0:60", "Comm_rank:500,0,2:1"] for _ in range(4)]
    for r in (0, 2):
        calls[r] = ["Comm_split:{w}:0:0:60"]
    for r in (1, 3):
        calls[r] = ["Comm_split:{w}:1:0:60"]
    calls[1].append("Send:1:1:{d}:1:7:500,0,2")
    calls[3].append("Recv:1:1:{d}:0:7:501,1,2:9")
    p = program(*calls)
    assert said(p, 1) == ["send 8 B to 3 tag 7"]
    assert said(p, 3) == ["recv 8 B from 1 tag 7"]
    assert members(p, 1) == members(p, 3) == [[1, 3]]


def test_undefined_colors_make_no_communicator() -> None:
    calls = [[f"Comm_split:{{w}}:{0 if r < 2 else -32766}:0:60"] for r in range(3)]
    calls[0].append("Barrier:500,0,2")
    calls[1].append("Barrier:501,1,2")
    calls[2].append("Comm_rank:7,0,1:9")
    assert members(program(*calls), 0) == [[0, 1]]


def test_a_duplicate_has_the_ranks_of_its_parent_and_other_messages() -> None:
    calls = [["Comm_dup:{w}:60", f"Barrier:500,{r},2", "Barrier:{w}"] for r in range(2)]
    p = program(*calls)
    assert members(p, 0) == [[0, 1], [0, 1]]
    assert p.comm[0] != p.comm[1]


def test_handles_are_used_again_after_they_were_freed() -> None:
    calls = [
        [
            f"Comm_split:{{w}}:{r % 2}:0:60",
            f"Barrier:500,{r // 2},2",
            "Comm_free:60",
            f"Comm_split:{{w}}:{r // 2}:0:60",
            f"Barrier:500,{r % 2},2",
        ]
        for r in range(4)
    ]
    p = program(*calls)
    assert [members(p, r) for r in range(4)] == [
        [[0, 2], [0, 1]],
        [[1, 3], [0, 1]],
        [[0, 2], [2, 3]],
        [[1, 3], [2, 3]],
    ]


def test_handles_are_used_again_although_the_variable_freed_is_another() -> None:
    calls = [
        [
            f"Comm_split:{{w}}:{r % 2}:0:60",
            f"Barrier:500,{r // 2},2",
            "Comm_free:999",
            f"Comm_split:{{w}}:{r % 2}:0:64",
            f"Barrier:500,{r // 2},2",
        ]
        for r in range(4)
    ]
    p = program(*calls)
    assert len(p.communicators) == 5


def test_a_communicator_that_is_freed_unused_is_not_taken_for_the_next() -> None:
    calls = [
        ["Comm_dup:{w}:60", "Comm_free:60", "Comm_dup:{w}:60", f"Barrier:500,{r},2"]
        for r in range(2)
    ]
    assert members(program(*calls), 0) == [[0, 1]]


def test_any_number_of_communicators_may_be_made_before_they_are_used() -> None:
    calls = [
        [*["Comm_dup:{w}:60"] * 600, *(f"Barrier:{500 + i},{r},2" for i in range(600))]
        for r in range(2)
    ]
    p = program(*calls)
    assert members(p, 0) == [[0, 1]] * 600
    for first in p.rank_start[:2]:
        assert p.comm[first : first + 600].tolist() == list(range(1, 601))
    assert not p.notes


def test_nested_splits() -> None:
    # halves of 8 ranks, then pairs of each half in reverse order
    calls = []
    for r in range(8):
        half, place = r // 4, r % 4
        calls.append(
            [
                f"Comm_split:{{w}}:{half}:0:60",
                f"Comm_split:500,{place},4:{place // 2}:{-place}:64",
                f"Barrier:508,{1 - place % 2},2",
            ]
        )
    p = program(*calls)
    assert [members(p, r) for r in (0, 3, 4, 7)] == [[[1, 0]], [[3, 2]], [[5, 4]], [[7, 6]]]
    assert not p.notes


@for_each("same_order", [True, False])
def test_two_communicators_of_the_same_kind_are_taken_in_the_order_of_other_ranks(
    same_order: bool,
) -> None:
    calls = []
    for r in range(4):
        barriers = [f"Barrier:500,{r % 2},2", f"Barrier:600,{r // 2},2"]
        splits = [f"Comm_split:{{w}}:{r // 2}:0:60", f"Comm_split:{{w}}:{r % 2}:0:64"]
        calls.append(splits + (barriers if same_order else barriers[::-1]))
    p = program(*calls)
    halves, parities = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    pairs = [[halves[r // 2], parities[r % 2]] for r in range(4)]
    assert [members(p, r) for r in range(4)] == [
        pair if same_order else pair[::-1] for pair in pairs
    ]
    assert "in the order in which other ranks use them" in p.notes[0]


def test_comm_self_has_one_rank() -> None:
    p = program(["Barrier:{w}", "Barrier:700,0,1"], ["Barrier:{w}", "Barrier:800,0,1"])
    assert (members(p, 0)[1], members(p, 1)[1]) == ([0], [1])


def test_a_cartesian_grid_keeps_the_order_of_its_parent() -> None:
    calls = [["Cart_create:{w}:2:1:1:0:60", f"Barrier:500,{r},4"] for r in range(4)]
    assert members(program(*calls), 3) == [[0, 1, 2, 3]]


def test_a_cartesian_grid_smaller_than_its_parent() -> None:
    calls = [["Cart_create:{w}:1:1:1:0:60", f"Barrier:500,{r},2"] for r in range(2)]
    calls.append(["Cart_create:{w}:1:1:1:0:60"])
    assert members(program(*calls), 0) == [[0, 1]]


def test_a_reordered_grid_has_the_order_that_its_ranks_show() -> None:
    order = [2, 0, 1]
    calls = [["Cart_create:{w}:1:1:1:1:60", f"Barrier:500,{order[r]},3"] for r in range(3)]
    p = program(*calls)
    assert members(p, 0) == [[1, 2, 0]]
    assert not p.notes


def test_rows_and_columns_of_a_grid() -> None:
    # 2 x 3: rows keep the second dimension, columns the first
    calls = []
    for r in range(6):
        row, column = divmod(r, 3)
        calls.append(
            [
                "Cart_create:{w}:2:1:1:0:60",
                f"Cart_sub:500,{r},6:1:64",
                f"Barrier:600,{column},3",
                f"Cart_sub:500,{r},6:1:68",
                f"Barrier:700,{row},2",
            ]
        )
    p = program(*calls)
    assert members(p, 4) == [[3, 4, 5], [1, 4]]
    assert not p.notes


def test_a_communicator_made_of_a_group() -> None:
    shown = {0: 1, 2: 0}  # the group is ranks 2 and 0
    calls = [["Comm_create:{w}:33:60"] for _ in range(3)]
    for rank, place in shown.items():
        calls[rank].append(f"Barrier:500,{place},2")
    assert members(program(*calls), 0) == [[2, 0]]


def test_only_the_group_calls_comm_create_group() -> None:
    calls = [
        ["Comm_create_group:{w}:33:5:60", "Barrier:500,0,2"],
        ["Barrier:{w}"],
        ["Comm_create_group:{w}:33:5:60", "Barrier:500,1,2"],
    ]
    for r in (0, 2):
        calls[r].append("Barrier:{w}")
    assert members(program(*calls), 0) == [[0, 2], [0, 1, 2]]


def test_calls_on_a_communicator_of_unknown_ranks_are_named() -> None:
    calls = [
        ["Intercomm_create:{w}:0:{w}:1:5:60", "Barrier:500,0,2", "Isend:1:1:{d}:0:7:500,0,2:800"]
        for _ in range(3)
    ]
    left_out = [note for note in program(*calls).notes if "on it is left out" in note]
    assert ["MPI_Barrier" in note for note in left_out] == [True, False]
    assert ["MPI_Isend" in note for note in left_out] == [False, True]


def test_ranks_that_make_different_communicators_are_refused() -> None:
    with pytest.raises(ParseError, match="must create the same communicators") as caught:
        program(["Comm_dup:{w}:60"], ["Comm_split:{w}:0:0:60"])
    assert caught.value.line == 5


def test_files_in_another_order_than_their_names_are_put_in_order() -> None:
    from tests.unit.programs.traces.writing import one
    from workbench.programs.traces import read_trace

    send, recv = "Send:1:1:{d}:1:7:{w}", "Recv:1:1:{d}:0:7:{w}:9"
    p = read_trace({"b": one([recv], 1, 2), "a": one([send], 0, 2)}, format="liballprof")
    assert said(p, 0) == ["send 8 B to 1 tag 7"]


def test_groups_by_color_key_and_place() -> None:
    assert by_color({0: (5, 1), 1: (3, 0), 2: (5, 0), 3: (-1, 0), 4: (5, 1)}) == [[1], [2, 0, 4]]


def test_groups_of_places_that_do_not_make_one_are_unknown() -> None:
    assert by_place({0: (0, 2), 1: (1, 2)}) == [[0, 1]]
    assert by_place({0: (0, 2), 1: (0, 2)}) is None
    assert by_place({0: (0, 3), 1: (1, 3)}) is None


def test_an_order_of_which_some_places_show_nothing() -> None:
    assert by_order(3, {1: (0, 3)}, reorder=True) == [[1, 0, 2]]
    assert by_order(3, {1: (1, 3)}, reorder=False) == [[0, 1, 2]]
    assert by_order(3, {1: (0, 4)}, reorder=False) is None
    assert by_order(3, {0: (1, 3), 1: (1, 3)}, reorder=False) is None


def test_subgrids_that_keep_the_outer_and_the_inner_dimension() -> None:
    # a 2 x 3 x 2 grid of which the second dimension is dropped
    shown = {p: ((p // 6) * 2 + p % 2, 4) for p in range(12)}
    groups, certain = in_subgrids(12, shown)
    assert groups == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    assert certain


def test_subgrids_of_which_too_little_is_shown_are_doubtful() -> None:
    groups, certain = in_subgrids(4, {0: (0, 2), 3: (1, 2)})
    assert groups == [[0, 1], [2, 3]]
    assert not certain
    assert in_subgrids(4, {0: (0, 3)}) == (None, False)
    assert in_subgrids(4, {0: (1, 2), 1: (1, 2), 2: (1, 2)}) == (None, False)
