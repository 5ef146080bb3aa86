"""Users of a link with secret schedules: who sends how much, when, and whether over the link.

users = emulated_users(seed=1)
schedule = LinkSchedule.drawn(users, runs=40, slot_s=20.0, seed=1)
schedule.during(3)                       # jobs in the slot of the fourth run
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.result import StoredResult
from workbench.variability.recording.traffic import PATTERNS

if TYPE_CHECKING:
    import pandas as pd

# Share of the link's rate that each kind of user asks for, and the number of its connections. The
# heavy ones leave the job less than it takes; a light one is to blame for next to nothing.
_CROSSING = ((0.6, 2), (0.45, 2), (0.3, 1), (0.2, 1), (0.04, 1))
# Those who stay on a side ask for as much, so that traffic alone is not to blame.
_STAYING = ((0.6, 2), (0.4, 1), (0.3, 1), (0.1, 1))
_SHORTEST, _LONGEST = 1.0, 4.0  # job and pause, slots
_FOLLOWED = 0.7  # share of the heaviest user's jobs that its companion runs beside


@dataclass(frozen=True)
class EmulatedUser:
    """A user of the emulated link.

    Attributes:
        user: name, which says nothing.
        crosses: whether the traffic crosses the shared link; that of the others stays on a side.
        sender: host that sends.
        receiver: host that receives.
        rate: share of the link's rate that it sends on average while a job of it runs.
        connections: number of its TCP connections.
        pattern: of its rate within a job, see ``workbench.variability.recording.traffic``.
        companion: user whose jobs it mostly runs beside; empty for a schedule of its own.
    """

    user: str
    crosses: bool
    sender: str
    receiver: str
    rate: float
    connections: int
    pattern: str
    companion: str = ""


@dataclass(frozen=True)
class SlotJob:
    """A job of a user within a slot."""

    number: int  # of the job, the same in all slots that it spans
    user: int  # position of its user
    start: float  # s from the slot's start
    end: float | None  # s from the slot's start; None where the job goes on after the slot


@dataclass(frozen=True, eq=False, repr=False)
class LinkSchedule(StoredResult):
    """When each user's jobs run, on a clock that goes on only while runs are recorded.

    Attributes:
        users: the users.
        slot_s: length of the slot of a run.
        user: int64[jobs], position of each job's user.
        start: float64[jobs], s; the first run's slot starts at 0.
        end: float64[jobs], s.
    """

    users: tuple[EmulatedUser, ...]
    slot_s: float
    user: np.ndarray[Any, np.dtype[np.int64]]
    start: np.ndarray[Any, np.dtype[np.float64]]
    end: np.ndarray[Any, np.dtype[np.float64]]

    @classmethod
    def drawn(
        cls, users: tuple[EmulatedUser, ...], *, runs: int, slot_s: float, seed: int
    ) -> LinkSchedule:
        """Return a schedule for a number of runs; more runs go on with the same.

        Args:
            users: of ``emulated_users``.
            runs: number of runs.
            slot_s: length of a run's slot.
            seed: of the jobs' and pauses' lengths.
        """
        jobs = {each.user: _renewals(runs, seed, at) for at, each in enumerate(users)}
        rows = []
        for at, each in enumerate(users):
            own = jobs[each.user]
            if each.companion:
                rng = np.random.default_rng([seed, 1000 + at])
                own = [job for job in jobs[each.companion] if rng.random() < _FOLLOWED]
            rows += [(at, start * slot_s, end * slot_s) for start, end in own]
        rows.sort(key=lambda row: row[1])
        user, start, end = zip(*rows, strict=True)
        return cls(users, slot_s, np.array(user), np.array(start), np.array(end))

    def during(self, run: int) -> tuple[SlotJob, ...]:
        """Return the jobs in the slot of a run.

        Args:
            run: its number, from 0.
        """
        first, last = run * self.slot_s, (run + 1) * self.slot_s
        found = np.flatnonzero((self.start < last) & (self.end > first))
        return tuple(
            SlotJob(
                int(at),
                int(self.user[at]),
                max(0.0, float(self.start[at]) - first),
                None if self.end[at] >= last else float(self.end[at]) - first,
            )
            for at in found
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a job: ``user``, ``crosses``, ``start`` and ``end`` in s."""
        import pandas as pd

        return pd.DataFrame(
            {
                "user": [self.users[at].user for at in self.user],
                "crosses": [self.users[at].crosses for at in self.user],
                "start (s)": self.start,
                "end (s)": self.end,
            }
        )

    def __repr__(self) -> str:
        return f"LinkSchedule({len(self.user)} jobs of {len(self.users)} users)"


def emulated_users(seed: int) -> tuple[EmulatedUser, ...]:
    """Return five users whose traffic crosses the link and four whose traffic does not.

    One of the latter mostly runs beside the heaviest of the former.

    Args:
        seed: of the names' order, the directions and the patterns.
    """
    rng = np.random.default_rng([seed, 0])
    kinds = [(True, *kind) for kind in _CROSSING] + [(False, *kind) for kind in _STAYING]
    names = [f"u{1 + at}" for at in rng.permutation(len(kinds))]
    first = int(rng.integers(2))
    users = []
    for at, (crosses, rate, connections) in enumerate(kinds):
        here, there = ("left", "right") if (at + first) % 2 else ("right", "left")
        users.append(
            EmulatedUser(
                names[at],
                crosses,
                f"{here}-users",
                f"{there}-users" if crosses else f"{here}-mates",
                rate,
                connections,
                str(rng.choice(PATTERNS)),
                names[0] if at == len(_CROSSING) else "",
            )
        )
    return tuple(sorted(users, key=lambda each: each.user))


def _renewals(runs: int, seed: int, user: int) -> list[tuple[float, float]]:
    """Return the starts and ends of a user's jobs in slots, which begin before the first slot."""
    rng = np.random.default_rng([seed, 1 + user])
    clock = -float(rng.uniform(0, 2 * _LONGEST))
    found = []
    while clock < runs:
        length, pause = rng.uniform(_SHORTEST, _LONGEST, 2)
        if clock + length > 0:
            found.append((clock, clock + float(length)))
        clock += float(length + pause)
    return found
