"""The calls of one rank of a SimGrid trace, action by action; slow and obviously right."""

from __future__ import annotations

from dataclasses import dataclass, field

ANY = -1


@dataclass(eq=False)
class Call:
    """A call, and what is known of its request."""

    text: str
    key: tuple[int, int, int] | None = None  # sender, receiver and tag; None without a request
    request: int = -1
    ended: list[Call] = field(default_factory=list)
    test: Call | None = None  # the last of its request
    work_ns: int = 0


def calls_of(rank: int, actions: list[tuple[str, list[int]]]) -> tuple[list[str], list[int]]:
    """Return a rank's calls in words, and the work before each and after the last in ns.

    Args:
        rank: its number.
        actions: names and arguments: those of isend and irecv are peer and tag, of wait and test
            none or sender, receiver and tag; -1 is any.
    """
    calls: list[Call] = []
    pending: list[Call] = []  # oldest first
    turns: list[Call] = []  # the same in the order in which waits with their name take them
    work = 0

    def add(text: str) -> Call:
        nonlocal work
        calls.append(Call(text, work_ns=work))
        work = 0
        return calls[-1]

    def named(key: list[int]) -> Call | None:
        if not key:
            return pending[-1] if pending else None
        sender, receiver, tag = key
        for wanted in ((sender, receiver, tag), (ANY, receiver, tag), (sender, receiver, ANY)):
            for call in turns:
                if call.key == wanted:
                    return call
        return next((call for call in turns if call.key == (ANY, receiver, ANY)), None)

    for name, numbers in actions:
        if name == "compute":
            work += numbers[0]
        elif name in ("isend", "irecv"):
            peer, tag = numbers
            call = add(f"{name} {peer} {tag}")
            call.key = (rank, peer, tag) if name == "isend" else (peer, rank, tag)
            pending.append(call)
            turns.append(call)
        elif name == "waitall" and pending:
            add("wait").ended = pending
            pending, turns = [], []
        elif name in ("wait", "test") and (found := named(numbers)) is not None:
            last = add("wait")
            if name == "wait":
                last.ended.append(found)
                pending.remove(found)
                turns.remove(found)
            else:
                found.test = last
                alike = [call for call in turns if call.key == found.key]
                if alike[0] is found:
                    turns.remove(found)
                    turns.append(found)
    for call in pending:
        if call.test is not None:
            call.test.ended.append(call)
    said, works, requests, rest, work = [], [], 0, work, 0
    for call in calls:
        work += call.work_ns
        if call.text == "wait" and not call.ended:
            continue
        if call.key is not None:
            call.request = requests
            requests += 1
        ends = "".join(f" {one.request}" for one in call.ended)
        said.append(call.text + ends)
        works.append(work)
        work = 0
    return said, [*works, work + rest] if work + rest else works
