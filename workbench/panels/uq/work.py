"""The chains of a problem: the wanted posterior first, then those of the other choices."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.panels.cache import Cache
from workbench.panels.uq.problems import Found, Problem
from workbench.tasks import JobError, Progress, Task
from workbench.uq.posterior import LEAST_DRAWS

_LIVE_S = 1.5
"""Time between two looks at chains that run, in s."""
_PARTS = 1000  # of a posterior, for the bar


@dataclass(frozen=True)
class PosteriorChoice:
    """A noise model, the number of nodes that are left out (0: none), and the chains."""

    problem: str
    noise: str
    held_out: int
    draws: int
    seed: int

    @property
    def text(self) -> str:
        """The choice in words."""
        left = f"{self.held_out} nodes held out" if self.held_out else "nothing held out"
        return f"{self.noise} noise, {left}"


def run_chains(
    problem: Problem,
    choices: Sequence[PosteriorChoice],
    wanted: Callable[[], PosteriorChoice],  # what is looked at, which may change meanwhile
    kept: Cache[Found],
    task: Task,
) -> int:
    """Run or resume the chains of all choices that lack draws.

    While they run, those of the choice that is looked at are stored every 1.5 s, and the choice is
    the job's ``partial``. The number of choices whose chains ran far enough for a verdict is
    returned.
    """
    left = [choice for choice in choices if not is_whole(kept.get(choice), choice)]
    total, made = len(left), 0
    running: list[PosteriorChoice] = []
    task.partial_from(lambda: running[-1] if running else None)
    while left and not task.stopping:
        choice = next((one for one in left if one == wanted()), left[0])
        left.remove(choice)
        running.append(choice)
        try:
            found = _run_choice(problem, choice, wanted, kept, (made, total), task)
        except JobError:
            break
        kept.keep(choice, found)
        made += is_judged(found)
    if not made and total:
        raise JobError("the chains were stopped before their first draws; run them again")
    return made


def _run_choice(
    problem: Problem,
    choice: PosteriorChoice,
    wanted: Callable[[], PosteriorChoice],
    kept: Cache[Found],
    stored: tuple[int, int],  # choices, of how many
    task: Task,
) -> Found:
    """Run or resume the chains of a choice; while it is looked at, store what there is so far."""
    begun, total = stored
    shown_s = time.monotonic()

    def note(now: Progress) -> None:
        nonlocal shown_s
        draws = f"draw {now.done} of {now.total} of each chain"
        text = f"{choice.text}: {draws}; {begun} of {total} stored"
        task.report(_PARTS * begun + _PARTS * now.done // now.total, _PARTS * total, text)
        if choice == wanted() and time.monotonic() > shown_s + _LIVE_S:
            found = chains.partial
            if found is not None:
                kept.keep(choice, found)
                shown_s = time.monotonic()

    chains = task.part(note)
    chains.report(0, choice.draws)
    return problem.calibrate(
        choice.noise, choice.held_out, choice.draws, choice.seed, kept.get(choice), chains
    )


def is_whole(found: Found | None, choice: PosteriorChoice) -> bool:
    """Return whether a calibration has all draws that a choice asks for."""
    return found is not None and found.posterior.draws >= max(
        choice.draws, found.posterior.requested
    )


def is_judged(found: Found | None) -> bool:
    """Return whether a calibration has enough draws for a verdict."""
    return found is not None and found.posterior.draws >= LEAST_DRAWS
