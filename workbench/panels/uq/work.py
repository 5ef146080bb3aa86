"""The chains of a problem: the wanted posterior first, then those of the other choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.jobs import JobContext, JobError
from workbench.panels.cache import Cache
from workbench.panels.uq.problems import Found, Problem
from workbench.uq.posterior import LEAST_DRAWS

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
    ctx: JobContext,
    problem: Problem,
    choices: Sequence[PosteriorChoice],
    wanted: Callable[[], PosteriorChoice],  # what is looked at, which may change meanwhile
    kept: Cache[Found],
) -> int:
    """Run the chains of all choices without a full posterior; return the number stored."""
    left = [choice for choice in choices if not _whole(kept.get(choice))]
    total, made = len(left), 0
    while left and not ctx.stopping:
        choice = next((one for one in left if one == wanted()), left[0])
        left.remove(choice)
        begun = made

        def tell(done: int, of: int, choice: PosteriorChoice = choice, begun: int = begun) -> None:
            text = f"{choice.text}: draw {done} of {of} of each chain; {begun} of {total} stored"
            ctx.progress(_PARTS * begun + _PARTS * done // max(of, 1), _PARTS * total, text)

        tell(0, choice.draws)
        try:
            found = problem.calibrate(
                choice.noise, choice.held_out, choice.draws, choice.seed, ctx.stop_event, tell
            )
        except JobError:
            break
        if found.posterior.draws >= LEAST_DRAWS:
            kept.keep(choice, found)
            made += 1
    if not made and total:
        raise JobError("the chains were stopped before their first draws; run them again")
    return made


def _whole(found: Found | None) -> bool:
    """Return whether a calibration has all draws that were requested."""
    return found is not None and found.posterior.draws == found.posterior.requested
