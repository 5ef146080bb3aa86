from __future__ import annotations

import pandas as pd
import pytest
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting.placement.comparison import describe_placements, plot_placements

FRAME = pd.DataFrame(
    {
        "method": ["block", "search", "random"],
        "T_ns": [110e3, 100e3, 150e3],
        "seconds": [0.0, 2.5, 0.001],
    }
)


def test_the_fastest_is_on_top() -> None:
    run_time, found_in = (pane for pane in plot_placements(FRAME, name="cg 64").children)
    assert isinstance(run_time, figure)
    assert run_time.title.text == "Run time of cg 64 by placement"
    assert run_time.y_range.factors == ["random", "block", "search"]
    assert run_time.xaxis.axis_label == "run time T"
    assert found_in.xaxis.axis_label == "time spent (s)"
    data = run_time.renderers[0].data_source.data
    assert data["T_text"] == ["100 µs", "110 µs (+10 %)", "150 µs (+50 %)"]
    assert min(data["seconds"]) > 0, "a logarithmic axis has no 0"


def test_describe_names_the_best_and_the_worst() -> None:
    assert describe_placements(FRAME) == (
        "Least run time 100 µs, placed by search in 2.50 s; random takes the longest, 50 % more."
    )
    assert describe_placements(FRAME.head(1)).endswith("no other takes longer.")
    assert describe_placements(FRAME.assign(T_ns=7.0)).endswith("no other takes longer.")


def test_a_table_of_something_else_is_refused() -> None:
    for wrong in (FRAME.drop(columns="T_ns"), FRAME.head(0)):
        with pytest.raises(ParameterError, match="a table of placements must have rows"):
            plot_placements(wrong)
