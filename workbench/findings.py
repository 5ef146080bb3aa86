"""What a paper claims and what the workbench finds: a verdict a claim, with its rule and numbers.

Each analysis that follows a paper has a function ``findings`` that returns them:
``study.findings``, ``tolerance.findings`` and ``tune.findings``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["confirmed", "partly", "contradicted", "cannot be told here"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """One claim of a paper, and whether data agree with it.

    Attributes:
        name: short name of the claim, such as ``rmsre-is-most-consistent``.
        claim: what the paper says, in our words and with its own quantifier.
        where: section or figure of the paper.
        rule: what decides, in words; its bars are the paper's where it prints any.
        evidence: the numbers, with an interval over what was repeated, as a sentence.
        verdict: ``confirmed``, ``partly``, ``contradicted`` or ``cannot be told here``.
        figure: what of the workbench shows it.
    """

    name: str
    claim: str
    where: str
    rule: str
    evidence: str
    verdict: Verdict
    figure: str


@dataclass(frozen=True)
class Findings(StoredResult):
    """Findings as a table; iterates over them."""

    ONE_FILE: ClassVar[bool] = True

    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        for finding in self.findings:
            if finding.name == name:
                return finding
        names = [finding.name for finding in self.findings]
        raise ParameterError(
            f"no finding is named {name!r}{did_you_mean(name, names)}; known: {', '.join(names)}",
            key="name",
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a finding: name, claim, where, rule, evidence, verdict, figure."""
        import dataclasses

        import pandas as pd

        return pd.DataFrame([dataclasses.asdict(finding) for finding in self.findings])

    def __repr__(self) -> str:
        return "\n".join(
            f"{f.verdict}: {f.claim} ({f.where}). {f.evidence}." for f in self.findings
        )

    def _repr_html_(self) -> str:
        rows = (
            (f"{f.claim} ({f.where})", f.rule, f.evidence, f.verdict, f.figure)
            for f in self.findings
        )
        head = ("the paper", "confirmed if", "evidence", "here", "figure")
        return html_table(rows, head, align="l", cell_style="vertical-align:top")


def graded(every: ArrayLike, some: ArrayLike) -> Verdict:
    """Return ``confirmed`` where all of ``every`` hold, ``partly`` where any of ``some`` does.

    Args:
        every: bool[n], the cases that a claim is about; without any it is not confirmed.
        some: bool[m], what makes it partly true.
    """
    cases = np.asarray(every, np.bool_)
    if cases.size and cases.all():
        return "confirmed"
    return "partly" if np.any(some) else "contradicted"


def all_or_some(holds: ArrayLike) -> Verdict:
    """Return ``confirmed`` where a claim holds in all cases, ``partly`` where in any.

    Args:
        holds: bool[n], whether it holds in each case.
    """
    return graded(holds, holds)


def all_or_most(holds: ArrayLike) -> Verdict:
    """Return ``confirmed`` where a claim holds in all cases, ``partly`` where in more than half.

    Args:
        holds: bool[n], whether it holds in each case.
    """
    cases = np.asarray(holds, np.bool_)
    return graded(cases, 2 * cases.sum() > cases.size)


def counted(holds: ArrayLike, what: str = "") -> str:
    """Return in how many cases something holds, such as ``5 of 8 machines``.

    Args:
        holds: bool[n], whether it holds in each case.
        what: the cases, in the plural.
    """
    cases = np.asarray(holds, np.bool_)
    return f"{int(cases.sum())} of {cases.size} {what}".rstrip()


def span(values: ArrayLike, form: str = ".0f") -> str:
    """Return least and greatest of some numbers as text, such as ``12 to 19``.

    Args:
        values: the numbers.
        form: how each is written.
    """
    numbers = np.asarray(values, np.float64).ravel()
    low, high = format(float(numbers.min()), form), format(float(numbers.max()), form)
    return low if low == high else f"{low} to {high}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence; ``none`` if there are none.

    Args:
        names: at most a handful.
    """
    if not names:
        return "none"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
