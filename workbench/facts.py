"""The facts of a result, each said once: its line, its text, its tables and its JSON follow.

Fact("makespan_ns", "T", 1.25e-3, "time") is ``T 1.25 ms`` to people and, in ns, an entry of JSON.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.html_table import Html, html_table
from workbench.units import ShownKind, format_quantity

_SCALES = {"_ns_per_byte": 1e9, "_ns": 1e9, "_us": 1e6, "_GBps": 1e-9, "_MBps": 1e-6}
"""By the end of a key: what a value in SI is multiplied by in JSON."""

_SCALED: tuple[ShownKind, ...] = ("time", "gap", "bandwidth")


@dataclass(frozen=True)
class Fact:
    """One value of a result.

    A fact without a key appears in ``report`` and in the table of one result only. A fact without
    a name, or whose value is None, appears in JSON only.
    """

    key: str  # in JSON, with its unit: makespan_ns
    name: str  # for people: T, λ_L
    value: Any  # SI, or a text; an array is a list in JSON and its length for people
    quantity: ShownKind = "number"  # of the value; whole numbers and texts need none
    words: str = ""  # follow the value, or replace it where it is not finite
    about: str = ""  # a clause on what the value is
    at: str = ""  # which of the values that share the key, in JSON an object: 1 of tolerance_ns
    plain: Any = ...  # the value in JSON, where it is not `value` in the unit of the key

    def in_json(self) -> Any:
        """Return the value as JSON holds it, in the unit of the key."""
        value = self.value if self.plain is ... else self.plain
        if self.plain is ... and self.quantity in _SCALED and value is not None:
            value = value * next((by for end, by in _SCALES.items() if self.key.endswith(end)), 1.0)
        return value.tolist() if isinstance(value, np.ndarray) else value

    def text(self, *, exact: bool = False) -> str:
        """Return value and words for people; `exact` where JSON has the value in ns."""
        value = self.value
        if isinstance(value, np.ndarray):
            value = len(value)
        if isinstance(value, float) and not math.isfinite(value) and self.words:
            return self.words
        if isinstance(value, str):
            shown = value
        elif isinstance(value, int | np.integer):
            shown = f"{value:,}"
        elif math.isfinite(value):
            in_ns = self.key.endswith(("_ns", "_ns_per_byte"))
            shown = format_quantity(value, self.quantity, exact=exact and in_ns)
        else:
            shown = "–" if math.isnan(value) else "∞"
        return f"{shown} {self.words}".rstrip()

    def sentence(self, *, exact: bool = False) -> str:
        """Return the text, and in brackets what it is."""
        return self.text(exact=exact) + (f" ({self.about})" if self.about else "")


def facts_json(facts: Iterable[Fact]) -> dict[str, Any]:
    """Return the facts that have a key as values that JSON can hold."""
    found: dict[str, Any] = {}
    for fact in facts:
        if fact.at:
            found.setdefault(fact.key, {})[fact.at] = fact.in_json()
        elif fact.key:
            found[fact.key] = fact.in_json()
    return found


def facts_line(facts: Sequence[Fact], notes: Iterable[str] = ()) -> str:
    """Return ``value of the first: name value, name value``, and notes."""
    subject, *others = _for_people(facts)
    line = ", ".join(f"{fact.name} {fact.text()}" for fact in others if fact.key)
    return "; ".join([f"{subject.text()}: {line}", *notes])


def facts_report(facts: Sequence[Fact]) -> str:
    """Return a line a fact for a terminal, below the value of the first."""
    subject, *others = _for_people(facts)
    width = max((len(fact.name) for fact in others), default=0)
    rows = (f"{fact.name:<{width}}  {fact.sentence(exact=True)}" for fact in others)
    return "\n".join([subject.text(), *rows])


def facts_html(facts: Sequence[Fact], notes: Iterable[str] = (), caption: str = "") -> str:
    """Return an HTML table with a row a fact, and one a note."""
    one_line = 'style="white-space:nowrap"'
    rows = [(_html(fact.name, one_line), fact.sentence()) for fact in _for_people(facts)]
    rows += [(Html("note"), note) for note in notes]
    return html_table(rows, caption=caption, align="l")


def facts_columns(
    results: Mapping[str, Sequence[Fact]], *, exact: bool = False
) -> tuple[list[Fact], list[list[str]]]:
    """Return several results side by side: the facts that head the columns, and a row a result.

    A row begins with the result's name.
    """
    shown = {
        name: {fact.name: fact for fact in _for_people(facts) if fact.key or fact is facts[0]}
        for name, facts in results.items()
    }
    heads: dict[str, Fact] = {}
    for facts in shown.values():
        for name, fact in facts.items():
            heads.setdefault(name, fact)
    rows = [
        [name, *(facts[head].text(exact=exact) if head in facts else "" for head in heads)]
        for name, facts in shown.items()
    ]
    return list(heads.values()), rows


def facts_table(
    results: Mapping[str, Sequence[Fact]], caption: str = "", *, exact: bool = False
) -> str:
    """Return an HTML table with a row a result and a column a fact, as ``facts_columns``."""
    heads, rows = facts_columns(results, exact=exact)
    names = [_html(fact.name, f'title="{html.escape(fact.about)}"') for fact in heads]
    return html_table(rows, ["", *names], caption)


def _for_people(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.name and fact.value is not None]


def _html(name: str, attribute: str) -> Html:
    """Return a name as HTML, ``λ_L`` as λ with a small L."""
    text = re.sub(r"([λρ])_(\w+)", r"\1<sub>\2</sub>", html.escape(name))
    return Html(f"<span {attribute}>{text}</span>")
