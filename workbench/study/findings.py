"""The findings of Suetterlein et al. on their machines, checked on the machines of a study.

Each claim is a sentence of HPC Network Simulation Tuning via Automatic Extraction of Hardware
Parameters, a rule that decides whether data agree with it, and the numbers of the rule; another
study may answer otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from workbench.fit import baseline_table
from workbench.html_table import html_table
from workbench.result import StoredResult
from workbench.study.result import StudyResult

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["confirmed", "partly", "contradicted"]

_ABSOLUTE = ("mae", "mse", "rmse", "huber")
_ABOUT_30 = 45  # half as much again
_SMALL = 512
_LARGE = 65536


@dataclass(frozen=True)
class Finding:
    """One claim of the paper, and whether a study confirms it.

    Attributes:
        claim: what the paper says.
        where: section or figure of the paper.
        verdict: ``confirmed``, ``partly`` or ``contradicted``.
        evidence: the numbers, as a sentence.
        figure: what of the workbench shows it.
    """

    claim: str
    where: str
    verdict: Verdict
    evidence: str
    figure: str


@dataclass(frozen=True)
class Findings(StoredResult):
    """Findings as a table; iterates over them."""

    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a finding: claim, where, verdict, evidence, figure."""
        import dataclasses

        import pandas as pd

        return pd.DataFrame([dataclasses.asdict(finding) for finding in self.findings])

    def __repr__(self) -> str:
        return "\n".join(
            f"{f.verdict}: {f.claim} ({f.where}). {f.evidence}." for f in self.findings
        )

    def _repr_html_(self) -> str:
        rows = ((f"{f.claim} ({f.where})", f.verdict, f.evidence, f.figure) for f in self.findings)
        head = ("the paper", "here", "evidence", "figure")
        return html_table(rows, head, align="l", cell_style="vertical-align:top")


def findings(losses: StudyResult, regimes: StudyResult) -> Findings:
    """Return the results of two studies on the paper's claims.

    Args:
        losses: machines by losses by targets with SNAPPR, such as ``shipped("which-loss")``.
        regimes: LogP and SNAPPR fitted to all sizes and to both regimes by RMSRE, such as
            ``shipped("message-regimes")``.

    Raises:
        ParameterError: a cell that a claim is about is not there.
    """
    return Findings(
        (
            _rmsre_is_most_even(losses),
            _joint_error_is_about_100(losses),
            _one_benchmark_alone_is_met(losses),
            _one_benchmark_is_paid_for_by_the_other(losses),
            _absolute_losses_favour_bandwidth(losses),
            _losses_converge_early(losses),
            _small_messages_are_worse(losses),
            _tuning_gains_fivefold(losses),
            _logp_is_worse_for_small_messages(regimes),
            _default_pair_is_worse_than_snappr(regimes),
            _two_snapprs_gain_a_little(regimes),
        )
    )


def _rmsre_is_most_even(study: StudyResult) -> Finding:
    table = study.select(target="both").table()
    pooled = (table**2).mean(axis=1) ** 0.5
    least = [str(loss) for loss in table.index[(table <= table.min() * 1.0001).all(axis=1)]]
    best = [str(loss) for loss in pooled.index[pooled <= pooled.min() * 1.0001]]
    verdict: Verdict = "contradicted"
    if "rmsre" in best:
        verdict = "confirmed" if "rmsre" in least else "partly"
    worst = pooled.idxmax()
    return Finding(
        "RMSRE is the best loss for tuning consistently across systems",
        "IV.D, Fig. 10",
        verdict,
        f"fitted to both benchmarks, {_and(best)} leave {pooled.min():.0f} % over all machines, "
        f"{worst} leaves {pooled.max():.0f} %; least on every machine: {_and(least) or 'none'}; "
        "RMSPE and RMSRE rank alike, so TPE tries the same for both, as for MSE and RMSE",
        "heatmap of loss by machine",
    )


def _joint_error_is_about_100(study: StudyResult) -> Finding:
    errors = study.select(loss="rmsre", target="both").table().loc["rmsre"]
    near = int(np.sum((errors > 50) & (errors < 150)))
    return Finding(
        "SNAPPR can be tuned to within about 100 % of latency and bandwidth together",
        "IV.D, Fig. 8",
        _of(near, len(errors)),
        f"RMSRE leaves {_range(errors)} %; {near} of {len(errors)} machines between 50 and 150 %",
        "heatmap of loss by machine",
    )


def _one_benchmark_alone_is_met(study: StudyResult) -> Finding:
    latency = study.select(loss="rmsre", target="latency").table(value="latency").loc["rmsre"]
    bandwidth = study.select(loss="rmsre", target="bandwidth").table(value="bandwidth").loc["rmsre"]
    met = int(np.sum(latency <= _ABOUT_30) + np.sum(bandwidth <= _ABOUT_30))
    return Finding(
        "Fitted to one benchmark alone, that one is met within about 30 %",
        "IV.D, Figs. 9 and 11",
        _of(met, 2 * len(latency)),
        f"latency fits leave {_range(latency)} % in latency, bandwidth fits "
        f"{_range(bandwidth)} % in bandwidth",
        "heatmap of target by machine",
    )


def _one_benchmark_is_paid_for_by_the_other(study: StudyResult) -> Finding:
    other = [
        study.select(loss="rmsre", target=target).table(value=value).loc["rmsre"]
        for target, value in (("latency", "bandwidth"), ("bandwidth", "latency"))
    ]
    joint = [
        study.select(loss="rmsre", target="both").table(value=value).loc["rmsre"]
        for value in ("bandwidth", "latency")
    ]
    worse = sum(int(np.sum(a > b)) for a, b in zip(other, joint, strict=True))
    return Finding(
        "Latency and bandwidth compete: fitting one alone makes the other worse",
        "IV.D",
        _of(worse, 2 * len(other[0])),
        f"a latency fit leaves {_range(other[0])} % in bandwidth, a bandwidth fit "
        f"{_range(other[1])} % in latency; worse than the joint fit in {worse} of "
        f"{2 * len(other[0])} cases",
        "heatmap of target by machine",
    )


def _absolute_losses_favour_bandwidth(study: StudyResult) -> Finding:
    chosen = study.select(loss=_ABSOLUTE, target="both")
    latency, bandwidth = (chosen.table(value=value) for value in ("latency", "bandwidth"))
    favoured = int((bandwidth < latency).to_numpy().sum())
    return Finding(
        "MAE, MSE, RMSE and Huber fit bandwidth much better and latency far worse",
        "IV.D, Figs. 15 and 16",
        _of(favoured, latency.size),
        f"latency {_range(latency)} %, bandwidth {_range(bandwidth)} %; the bandwidth is the "
        f"better one in {favoured} of {latency.size} fits",
        "percent error by size and loss",
    )


def _losses_converge_early(study: StudyResult) -> Finding:
    settled = []
    for cell in study:
        trials, losses = cell.convergence
        settled.append(int(trials[np.argmax(losses <= 1.01 * losses[-1])]) + 1)
    early = int(np.sum(np.array(settled) <= study.plan.trials / 2))
    return Finding(
        "Most losses converge well before 2000 trials",
        "IV.B, Fig. 3",
        _of(early, len(settled)),
        f"within 1 % of its end after {int(np.median(settled))} trials in the median; {early} of "
        f"{len(settled)} fits within half of the trials, the last after {max(settled)}",
        "convergence by loss and machine",
    )


def _small_messages_are_worse(study: StudyResult) -> Finding:
    small, large = [], []
    for cell in study.select(loss="rmsre", target="both"):
        errors = cell.percent_error()["latency"].abs()
        small.append(float(errors[errors.index <= _SMALL].mean()))
        large.append(float(errors[errors.index >= _LARGE].mean()))
    better = int(np.sum(np.array(large) < np.array(small)))
    return Finding(
        "Simulated latency is inaccurate for small messages and gets better as they grow",
        "IV.C, Fig. 4",
        _of(better, len(small)),
        f"mean error up to 512 B {_range(small)} %, from 64 KiB on {_range(large)} %; better for "
        f"large messages on {better} of {len(small)} machines",
        "percent error by size and loss",
    )


def _tuning_gains_fivefold(study: StudyResult) -> Finding:
    cells = {cell.cell.machine: cell for cell in study.select(loss="rmsre", target="both")}
    gains = baseline_table(cells)["gain_joint"]
    enough = int(np.sum(gains >= 3))
    return Finding(
        "Tuning improves the best-effort manual configuration up to five times",
        "I and VII, Fig. 1",
        _of(enough, len(gains)),
        f"the data-sheet configuration's error falls by a factor of {_range(gains, '.1f')}; at "
        f"least threefold on {enough} of {len(gains)} machines",
        "measured, data sheet and tuned",
    )


def _logp_is_worse_for_small_messages(study: StudyResult) -> Finding:
    low = study.select(regime="low")
    logp, snappr = (low.select(model=model).table() for model in ("logp", "snappr"))
    worse = int((logp.to_numpy() > snappr.to_numpy()).sum())
    return Finding(
        "LogP models small messages worse than SNAPPR",
        "V, Fig. 17",
        _of(worse, logp.size),
        f"up to 512 B LogP leaves {_range(logp)} %, SNAPPR {_range(snappr)} %",
        "models bolted together",
    )


def _default_pair_is_worse_than_snappr(study: StudyResult) -> Finding:
    pair = [study.bolted("logp", "snappr", machine=m).rmspe["joint"] for m in study.plan.machines]
    alone = study.select(model="snappr", regime="all").table().to_numpy().ravel()
    worse = int(np.sum(np.array(pair) > alone))
    return Finding(
        "SST/macro's default, LogP below 512 B and SNAPPR above, is worse than SNAPPR alone",
        "V, Fig. 17",
        _of(worse, len(pair)),
        f"the pair leaves {_range(pair)} %, SNAPPR alone {_range(alone)} %",
        "models bolted together",
    )


def _two_snapprs_gain_a_little(study: StudyResult) -> Finding:
    pair = [study.bolted("snappr", "snappr", machine=m).rmspe["joint"] for m in study.plan.machines]
    alone = study.select(model="snappr", regime="all").table().to_numpy().ravel()
    better = int(np.sum(np.array(pair) < alone))
    return Finding(
        "Two SNAPPRs, one fitted to each regime, are better than one on some systems",
        "V, Fig. 17",
        "contradicted" if better == 0 else "confirmed",
        f"the pair leaves {_range(pair)} %, one SNAPPR {_range(alone)} %; better on {better} of "
        f"{len(pair)} machines",
        "models bolted together",
    )


def _of(holds: int, total: int) -> Verdict:
    """Return the verdict on a claim that holds in some of its cases: nine tenths confirm it."""
    if holds >= 0.9 * total:
        return "confirmed"
    return "partly" if holds >= 0.5 * total else "contradicted"


def _range(values: object, form: str = ".0f") -> str:
    numbers = np.asarray(values, np.float64).ravel()
    low, high = format(float(numbers.min()), form), format(float(numbers.max()), form)
    return low if low == high else f"{low} to {high}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
