"""What a paper claims and what the workbench finds: a verdict a claim, with its rule and numbers.

Each analysis that follows a paper has a function ``findings`` that returns them:
``study.findings``, ``sensitivity.findings`` and ``tune.findings``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VERDICTS", "Finding", "Findings", "Verdict", "listed", "span"]

Verdict = Literal["confirmed", "partly", "contradicted", "cannot be told here"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """One claim of a paper, and whether data agree with it.

    Attributes:
        name: short name of the claim, such as ``rmsre-is-most-consistent``.
        claim: what the paper says, in our words and with its own quantifier.
        where: section or figure of the paper.
        rule: what decides, in words; written before the numbers are seen.
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
