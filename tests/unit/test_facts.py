"""Facts of a result: one line, text, tables and JSON from the same values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import for_each
from workbench.facts import Fact, facts_columns, facts_table
from workbench.result import Result


@dataclass(frozen=True, eq=False)
class Run(Result):
    T: float
    largest: dict[float, float]
    ends: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def facts(self) -> tuple[Fact, ...]:
        key = "tolerance_ns"
        return (
            Fact("", "program", "cg <8>"),
            Fact("makespan_ns", "T", self.T, "time", "at L", "run time"),
            *(
                Fact(key, f"L within {p:g} %", L, "time", "any" * math.isinf(L), at=f"{p:g}")
                for p, L in self.largest.items()
            ),
            Fact("ends_us", "λ_L", self.ends, "time"),
            Fact("messages", "messages", None),
            Fact("", "by", "sweep"),
            Fact("seconds", "", 2.0),
        )


RUN = Run(1.25e-3, {1.0: 2e-6, 5.0: math.inf}, np.array([1e-6, 3e-6]), ("it <is> off",))


def test_json_has_the_facts_with_a_key_in_its_unit() -> None:
    assert RUN.to_dict() == {
        "makespan_ns": pytest.approx(1.25e6),
        "tolerance_ns": {"1": pytest.approx(2000), "5": math.inf},
        "ends_us": [1, 3],
        "messages": None,
        "seconds": 2.0,
    }
    assert list(RUN.to_dict()) == ["makespan_ns", "tolerance_ns", "ends_us", "messages", "seconds"]
    assert '"5": null' in RUN.to_json()


def test_a_line_has_them_with_a_name_too_and_the_notes() -> None:
    assert repr(RUN) == (
        "Run(cg <8>: T 1.25 ms at L, L within 1 % 2 µs, L within 5 % any, λ_L 2; it <is> off)"
    )


def test_a_report_has_a_line_a_name_and_times_to_the_picosecond() -> None:
    assert RUN.report().splitlines() == [
        "cg <8>",
        "T             1,250,000 ns at L (run time)",
        "L within 1 %  2,000 ns",
        "L within 5 %  any",
        "λ_L           2",
        "by            sweep",
    ]


def test_a_notebook_shows_a_row_a_name_and_a_note() -> None:
    page = RUN._repr_html_()
    for text in ("cg &lt;8&gt;", "1.25 ms at L (run time)", "λ<sub>L</sub>", "it &lt;is&gt; off"):
        assert text in page
    assert page.count("<tr>") == 7


def test_several_results_have_a_column_a_fact() -> None:
    other = Run(2e-3, {1.0: 3e-6, 2.0: 4e-6}, np.array([]))
    heads, rows = facts_columns({"a": RUN.facts(), "b": other.facts()}, exact=True)
    assert [head.name for head in heads] == [
        *("program", "T", "L within 1 %", "L within 5 %", "λ_L", "L within 2 %")
    ]
    assert rows == [
        ["a", "cg <8>", "1,250,000 ns at L", "2,000 ns", "any", "2", ""],
        ["b", "cg <8>", "2,000,000 ns at L", "3,000 ns", "", "0", "4,000 ns"],
    ]
    page = facts_table({"a": RUN.facts()}, "<of>")
    assert '<span title="run time">T</span>' in page and "1.25 ms at L" in page
    assert "&lt;of&gt;" in page


@for_each(
    "fact, text",
    [
        (Fact("", "a", 1234567), "1,234,567"),
        (Fact("", "a", np.int64(1234567)), "1,234,567"),
        (Fact("", "a", 0.16216, "share", "of it"), "16.22 % of it"),
        (Fact("", "a", 5e-11, "gap"), "0.05 ns/B (20 GB/s)"),
        (Fact("", "a", math.nan), "–"),
        (Fact("", "a", math.inf, "time"), "∞"),
        (Fact("", "a", 2.5), "2.5"),
    ],
)
def test_values_are_worded_by_their_quantity(fact: Fact, text: str) -> None:
    assert fact.text() == text


def test_json_may_have_a_value_of_its_own() -> None:
    assert Fact("rules", "rules", "loggopsim, ties in order", plain="loggopsim").in_json() == (
        "loggopsim"
    )
    assert Fact("a", "a", "unknown", plain=None).in_json() is None


def test_a_result_without_facts_is_as_it_was() -> None:
    @dataclass(frozen=True)
    class Plain(Result):
        a: int

    assert repr(Plain(1)).endswith("Plain(a=1)")
    assert Plain(1).report() == repr(Plain(1))
    assert Plain(1).to_dict() == {"a": 1}
