from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.models import ColorBar

from workbench.errors import ParameterError
from workbench.plotting.tiles import MOST_TILES
from workbench.tolerance.figure_network import (
    describe_pairs,
    pair_columns,
    pairs_figure,
    plot_pairs,
)

MATRIX = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 0]])


def test_tiles_are_the_pairs_on_the_critical_path() -> None:
    drawn = pairs_figure(MATRIX, name="ring")
    data = drawn.source.data
    assert list(zip(data["y"], data["x"], data["value"], strict=True)) == [(0, 1, 3), (1, 0, 1)]
    assert data["text"] == ["3 latencies", "1 latency"]
    assert data["share"] == ["75 %", "25 %"]
    fig = drawn.figure
    assert fig.title.text == "λ_L between two ranks: ring"
    assert (fig.xaxis.axis_label, fig.yaxis.axis_label) == ("receiving rank", "sending rank")
    assert (fig.y_range.start, fig.y_range.end) == (2.5, -0.5), "rank 0 is on top"
    bar = next(item for item in fig.right if isinstance(item, ColorBar))
    assert bar.title == "λ_L (latencies on the critical path)"
    assert (drawn.mapper.low, drawn.mapper.high) == (0, 3)


def test_either_sensitivity_of_a_result_can_be_shown() -> None:
    pairs = SimpleNamespace(lambda_L=MATRIX, lambda_G=MATRIX * 1024)
    drawn = pairs_figure(pairs)
    assert drawn.source.data["value"] == [3, 1]
    drawn.show(pairs, value="lambda_G")
    assert drawn.source.data["text"] == ["3 KiB", "1 KiB"]
    assert "bytes on the critical path" in next(
        item.title for item in drawn.figure.right if isinstance(item, ColorBar)
    )


def test_many_ranks_share_tiles_and_nothing_is_lost() -> None:
    ranks = 3 * MOST_TILES - 5
    matrix = np.random.default_rng(0).integers(0, 3, (ranks, ranks)).astype(float)
    columns = pair_columns(matrix, "lambda_L")
    assert sum(columns["value"]) == matrix.sum()
    assert max(columns["x"]) == 3 * (MOST_TILES - 2) + 1
    assert columns["senders"][0] == "ranks 0 to 2"
    assert columns["senders"][-1] == "rank 378" and ranks == 379
    assert pairs_figure(matrix).figure.title.text == "λ_L between two groups of 3 ranks"


def test_a_program_without_messages_is_an_empty_map() -> None:
    drawn = pairs_figure(np.zeros((2, 2)))
    assert drawn.source.data["value"] == []
    assert describe_pairs(np.zeros((2, 2))) == "No pair of ranks is on the critical path: λ_L is 0."


def test_describe_names_the_heaviest_pair() -> None:
    assert describe_pairs(MATRIX) == (
        "2 of 6 ordered pairs of ranks are on the critical path, with 4 latencies in all; the "
        "most, 3 latencies or 75 %, from rank 0 to rank 1."
    )


def test_what_is_no_matrix_of_ranks_is_refused() -> None:
    for wrong in (np.zeros((2, 3)), np.zeros(4), np.zeros((0, 0))):
        with pytest.raises(ParameterError, match="a square matrix"):
            plot_pairs(wrong)
    with pytest.raises(ParameterError, match="value must be one of lambda_L, lambda_G"):
        plot_pairs(MATRIX, value="lambda_o")  # type: ignore[arg-type]
