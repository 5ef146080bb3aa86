"""Which request each wait ended, by sets of candidates; slow and obviously right."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Call:
    """A call that began a request, or that may end some."""

    line: int
    ended: list[int] = field(default_factory=list)


@dataclass(eq=False)
class OpenWait:
    """A wait that ended one of its candidates."""

    call: Call
    candidates: dict[int, Call]


class Requests:
    """The requests of one rank by the addresses of their variables."""

    def __init__(self) -> None:
        self.active: dict[int, Call] = {}
        self.open_waits: list[OpenWait] = []
        self.tests: dict[int, Call] = {}  # by the line that began what was tested
        self.unsettled = self.tested = self.unwaited = 0

    def put(self, address: int, call: Call) -> None:
        if address in self.active:
            self.overwritten(address)
        self.active[address] = call

    def drop(self, address: int) -> None:
        if address in self.active:
            self.close(address)

    def wait(self, addresses: list[int], call: Call) -> None:
        ending = {a: self.active[a] for a in addresses if a in self.active}
        within = [
            d for d in self.open_waits if d.candidates and d.candidates.items() <= ending.items()
        ]
        for open_wait in within:
            self.settle(open_wait)
        for address, begun in ending.items():
            if self.active.get(address) is begun:
                self.end(address, call)

    def test(self, addresses: list[int], call: Call) -> None:
        for address in addresses:
            if address in self.active:
                self.tests[self.active[address].line] = call

    def any(self, addresses: list[int], call: Call) -> None:
        candidates = {a: self.active[a] for a in addresses if a in self.active}
        if len(candidates) == 1:
            self.end(next(iter(candidates)), call)
        elif candidates:
            self.open_waits.append(OpenWait(call, candidates))

    def finish(self) -> None:
        for open_wait in list(self.open_waits):
            self.settle(open_wait)
        for address in list(self.active):
            self.overwritten(address)

    def settle(self, open_wait: OpenWait) -> None:
        self.open_waits.remove(open_wait)
        if open_wait.candidates:
            self.unsettled += 1
            self.end(min(open_wait.candidates), open_wait.call)

    def end(self, address: int, call: Call) -> None:
        call.ended.append(self.active[address].line)
        self.close(address)

    def close(self, address: int) -> None:
        begun = self.active.pop(address)
        for open_wait in self.open_waits:
            if open_wait.candidates.get(address) is begun:
                del open_wait.candidates[address]

    def overwritten(self, address: int) -> None:
        begun = self.active[address]
        open_wait = next((d for d in self.open_waits if d.candidates.get(address) is begun), None)
        if open_wait is not None:
            self.open_waits.remove(open_wait)
            self.end(address, open_wait.call)
        elif begun.line in self.tests:
            self.tested += 1
            self.end(address, self.tests[begun.line])
        else:
            self.unwaited += 1
            self.close(address)
