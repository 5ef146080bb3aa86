"""GOAL text read by regular expressions, one item after another: slow, and plainly the grammar."""

from __future__ import annotations

import re

from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    RECV,
    SEND,
    Dependents as Lists,
    ExecutionGraph,
)

B = r"[ \t]*+"
END = r"(?:\r?\n|\Z)"
IDENT = r"[A-Za-z][A-Za-z0-9_]*+"
WORD_ENDS = r"(?![A-Za-z0-9_])"
INT = r"\d++"
REST = rf"{B}(?:cpu{B}(?P<cpu>{INT}){B})?+(?:nic{B}(?P<nic>{INT}){B})?+{END}"
TAG = rf"{B}(?:tag{B}(?P<tag>-1|{INT}){B})?+"
SIZE = rf"{B}(?P<size>{INT}){B}"

OPERATIONS = {
    SEND: ("send", rf"{SIZE}b{B}to{B}(?P<peer>{INT}){TAG}{REST}"),
    RECV: ("recv", rf"{SIZE}b{B}from{B}(?P<peer>-1|{INT}){TAG}{REST}"),
    CALC: ("calc", rf"{SIZE}(?:cpu{B}(?P<cpu>{INT}){B})?+{END}"),
}
LABEL = rf"(?P<label>{IDENT}){B}:{B}"
KEYWORDS = {"send", "recv", "calc", "rank", "num_ranks"}
BETWEEN = re.compile(r"(?:[ \t]++|\r?\n|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+", re.ASCII)
DEPENDENCY = re.compile(
    rf"(?P<after>{IDENT}){B}(?P<how>i?requires){B}(?P<before>{IDENT}){B}{END}", re.ASCII
)


class Wrong(ValueError):
    """The text is not GOAL."""


def read(text: str) -> ExecutionGraph:
    """Return the graph of a GOAL text.

    Args:
        text: of ASCII or Latin-1 characters.

    Raises:
        Wrong: it is not GOAL.
    """
    at = between(text, 0)
    found = take(rf"num_ranks{WORD_ENDS}{B}({INT})", text, at)
    num_ranks = number(found[1], 1, 2**31 - 1)
    at = between(text, found.end())
    starts, ops = [0], []
    requires: list[tuple[int, int]] = []
    irequires: list[tuple[int, int]] = []
    for rank in range(num_ranks):
        found = take(rf"rank{WORD_ENDS}{B}({INT}){B}{{", text, at)
        if int(found[1]) != rank:
            raise Wrong
        at = between(text, found.end())
        labels: dict[str, int] = {}
        while not text.startswith("}", at):
            at = item(text, at, labels, ops, requires, irequires)
        at = between(text, at + 1)
        starts.append(len(ops))
    if at < len(text):
        raise Wrong
    return graph(starts, ops, requires, irequires)


def item(text, at, labels, ops, requires, irequires):
    """Read one operation or dependency; return where the next item begins."""
    if found := DEPENDENCY.match(text, at):
        if found["after"] in KEYWORDS or not {found["after"], found["before"]} <= labels.keys():
            raise Wrong
        pair = (labels[found["after"]], labels[found["before"]])
        (requires if found["how"] == "requires" else irequires).append(pair)
        return between(text, found.end())
    label = re.compile(LABEL, re.ASCII).match(text, at)
    if label and label["label"] in KEYWORDS:
        raise Wrong
    for kind, (word, rest) in OPERATIONS.items():
        pattern = word + ("" if label else WORD_ENDS) + rest
        found = re.compile(pattern, re.ASCII).match(text, label.end() if label else at)
        if found:
            ops.append(operation(kind, found.groupdict()))
            if label:
                labels.setdefault(label["label"], len(ops) - 1)
            return between(text, found.end())
    raise Wrong


def operation(kind, fields):
    """Return kind, size, peer, tag, cpu and nic."""
    tag = fields.get("tag") or "0"
    peer = fields.get("peer") or "0"
    return (
        kind,
        number(fields["size"], 0, 2**63 - 2),
        ANY_SOURCE if peer == "-1" else number(peer, 0, 2**31 - 1),
        ANY_TAG if tag == "-1" else number(tag, 0, 2**32 - 1),
        number(fields["cpu"] or "0", 0, 255),
        number(fields.get("nic") or "0", 0, 255),
    )


def graph(starts, ops, requires, irequires):
    """Return a graph from lists."""
    import numpy as np

    columns = np.array(ops, dtype=object).reshape(-1, 6).T
    types = (np.uint8, np.int64, np.int32, np.uint32, np.uint8, np.uint8)
    lists = [
        Lists.from_pairs([a for a, _ in pairs], [b for _, b in pairs], len(ops))
        for pairs in (requires, irequires)
    ]
    arrays = [column.astype(kind) for column, kind in zip(columns, types, strict=True)]
    return ExecutionGraph(np.array(starts, np.int64), *arrays, *lists)


def take(pattern, text, at):
    """Return what a pattern finds at a place."""
    found = re.compile(pattern, re.ASCII).match(text, at)
    if not found:
        raise Wrong
    return found


def between(text, at):
    """Return the place after blanks, line ends and comments."""
    return BETWEEN.match(text, at).end()


def number(digits, least, most):
    """Return an integer that must lie in a range."""
    value = int(digits)
    if not least <= value <= most:
        raise Wrong
    return value
