"""The comparison's tables as a dataset: the plans, the results, and the command that made it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.datapackage import Column, PackagedResult, PackageFiles, read_text, table_resource
from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.tune.search_comparison.plan import (
    HELD_OUT,
    NO_PRUNING,
    PRUNINGS_COMPARED,
    AddedNoise,
    SearchComparisonPlan,
)
from workbench.tune.search_comparison.result import PRUNING_COLUMNS, SearchComparisonResult

if TYPE_CHECKING:
    import pandas as pd

TABLES = {
    "methods": "one row a method and pick",
    "collectives": "one row a method, collective and pick",
    "cells": "one row a method and space",
    "prunings": "one row a method that prunes, against the same one that does not",
}
"""The tables and their rows."""

SHIPPED = "which-heuristic"
"""Name of the comparison that ships."""

_PICKS = {
    "methods": ("expected", "best"),
    "collectives": ("expected", "best"),
    "cells": ("best",),
    "prunings": ("expected", "best"),
}
_CELL_INTERVALS = ("gain_low", "gain_high")
_FOLDER = "tuning"
_TITLE = "Searches of recorded spaces: heuristics, resampling, stopping, pruning compared"
_CAVEATS = (
    "a search draws its runs from those recorded, of which the optimum is known only as "
    "well as their repeats tell; tied says how many searches ended within that",
    "gain, share and distance are judged by the repeats that the searches drew from: what "
    f"was measured promises too much, the optimum most of all; with the noise {HELD_OUT} "
    "every second repeat is drawn from and the others judge",
    "a pruned run is charged the time up to its limit; its value is another number than "
    "its time, and is not known",
)
_TEXTS = (
    "pick",
    "recording",
    "noise",
    "heuristic",
    "resampling",
    "stopping",
    "pruning",
    "collective",
    "space",
)
_FIGURES = {
    "spaces": "spaces searched",
    "seeds": "searches of each",
    "potential": "mean gain of the optimum over the default, %",
    "gain": "mean gain over the default, %",
    "share": "gain over potential, %; empty where there is no potential",
    "distance": "mean excess of the found value over the optimum, %",
    "saved": "1 less the time of the searches over that of every configuration once, %",
    "saved_grid": "the same over the whole grid without conditions, %",
    "tied": "searches that ended at what cannot be told from the optimum, %",
    "runs": "mean runs of a search, initial ones and repeats among them",
    "average": "mean excess of all runs of a search over the optimum, %",
    "near": "searches of which a run lay within 5 % of the optimum, %",
    "steps": "median runs until one lay within 5 %; empty where half of the spaces had none",
    "delta_us": "median excess of the found value over the optimum, us",
    "spread_us": "median standard deviation of the optimum's repeats, us; empty for one repeat",
    "spent_s": "time of the searches of all spaces together, s",
    "exhaustive_s": "time of every configuration of all spaces once, s",
    "grid_s": "time of the whole grids without conditions, s",
    "pruned": "share of the runs that were ended, %",
    "quicker": "1 less the time of the searches over that of the same ones without pruning, %",
    "gain_change": "gain less that of the same searches without pruning, points of %",
    "share_change": "share less that of the same ones without pruning, points of %",
}


def shipped_plans(seeds: int = 20, *, small: bool = False) -> tuple[SearchComparisonPlan, ...]:
    """Return the shipped comparison's plans; ``small`` omits most methods and the 576 ranks."""
    measured, simulated = ("open-mpi-4-ranks",), ("simulated-12-ranks", "simulated-576-ranks")
    few = ("surrogate-gp", "annealing", "genetic", "random")
    noises = (AddedNoise("none"), AddedNoise("normal", 0.2), AddedNoise("heavy-tails", 0.05))
    usual, held_out = AddedNoise("normal", 0.05), (AddedNoise(HELD_OUT),)
    if small:
        three, two, one = ("surrogate-gp", "genetic", "random"), ("none", "improved"), simulated[:1]
        return (
            SearchComparisonPlan(measured, heuristics=three, resamplings=two, seeds=seeds),
            SearchComparisonPlan(
                one, heuristics=three, resamplings=two, noises=(usual,), seeds=seeds
            ),
            SearchComparisonPlan(
                one, heuristics=three[:1], resamplings=two, noises=noises, seeds=seeds
            ),
        )
    rules = ("none", "static 3", "improved")
    # No stopping rule, so that the compared searches have the same number of runs. The simulated
    # recording is the one whose runs differ in length: pruning needs slow runs.
    pruning: dict[str, Any] = {
        "heuristics": ("surrogate-gp", "genetic", "random"),
        "resamplings": ("none",),
        "stoppings": ("budget",),
        "prunings": tuple(name for name in PRUNINGS_COMPARED if name != NO_PRUNING),
        "seeds": seeds,
    }
    return (
        SearchComparisonPlan(measured, seeds=seeds),
        SearchComparisonPlan(simulated, noises=(usual,), seeds=seeds),
        SearchComparisonPlan(
            simulated, heuristics=few, resamplings=rules, noises=noises, seeds=seeds
        ),
        SearchComparisonPlan(measured, noises=held_out, seeds=seeds),
        SearchComparisonPlan(measured, **pruning),
        SearchComparisonPlan(simulated[1:], noises=(usual,), **pruning),
    )


@dataclass(frozen=True, eq=False)
class SearchComparisonTables(PackagedResult):
    """The tables of a comparison of searches, as they are saved: with four digits.

    Attributes:
        methods: a row per method and pick: ``expected`` by a model, ``best`` by runs.
        collectives: a row per method, collective and pick.
        cells: a row per method and space, of ``best`` alone.
        prunings: a row per pruning method and pick, against no pruning; may be empty.
        plans: plans of the searches.
        provenance: origin of the tables; its source is the command.
    """

    methods: pd.DataFrame
    collectives: pd.DataFrame
    cells: pd.DataFrame
    prunings: pd.DataFrame
    plans: tuple[SearchComparisonPlan, ...]
    provenance: Provenance

    @classmethod
    def from_results(
        cls,
        results: Sequence[SearchComparisonResult],
        plans: Sequence[SearchComparisonPlan],
        created_by: str = "SearchComparisonTables.from_results",
    ) -> SearchComparisonTables:
        """Return the tables of finished comparisons.

        Args:
            results: results of the plans.
            plans: plans of the searches.
            created_by: command that made the results.
        """
        import pandas as pd

        tables = {}
        for name in TABLES:
            # Searches that prune have their partners in another plan.
            parts = [_together(results)] if name == "prunings" else results
            tables[name] = pd.concat(
                [_table(result, name, pick) for result in parts for pick in _PICKS[name]],
                ignore_index=True,
            )
        provenance = Provenance("simulated", _TITLE, created_by, "MIT")
        return cls(**tables, plans=tuple(plans), provenance=provenance)

    def to_frame(self) -> pd.DataFrame:
        """Return ``methods``."""
        return self.methods

    def to_dict(self) -> dict[str, Any]:
        """Return the rows of each table, the plans and the provenance."""
        tables = {name: getattr(self, name).to_dict("records") for name in TABLES}
        plans = [asdict(plan) for plan in self.plans]
        return {**tables, "plans": plans, "provenance": self.provenance.to_dict()}

    def __repr__(self) -> str:
        return (
            f"SearchComparisonTables({len(self.methods)} methods, {len(self.cells)} cells; "
            f"{self.provenance.caption()})"
        )

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        files = []
        for name, about in TABLES.items():
            table = getattr(self, name)
            # Four digits: one more seed changes the third.
            data = table.to_csv(index=False, float_format="%.4g", lineterminator="\n").encode()
            files.append((table_resource(name, data, _columns(table.columns), about), data))
        seeds = sorted({plan.seeds for plan in self.plans})
        descriptor = {
            "title": self.provenance.title,
            "origin": self.provenance.origin,
            "created_by": self.provenance.source,
            "licenses": [{"name": self.provenance.licence}],
            "plans": [asdict(plan) for plan in self.plans],
            "caveats": [
                f"{' and '.join(map(str, seeds))} seeds of each search; intervals are over these",
                *_CAVEATS,
            ],
        }
        return descriptor, files

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        import pandas as pd

        # "none" is the name of a rule here, not a missing value.
        texts = dict.fromkeys(_TEXTS, str)
        tables = {
            Path(entry["path"]).stem: pd.read_csv(
                io.StringIO(read_text(folder, descriptor, entry["path"])),
                dtype=texts,
                keep_default_na=False,
                na_values=[""],
            )
            for entry in descriptor["resources"]
        }
        for name in ("methods", "collectives", "cells"):
            if "pruning" not in tables[name]:
                # A comparison from before pruning was compared.
                place_of = list(tables[name].columns).index
                tables[name].insert(place_of("stopping") + 1, "pruning", NO_PRUNING)
        tables.setdefault("prunings", pd.DataFrame(columns=["pick", *PRUNING_COLUMNS]))
        plans = tuple(map(plan_from_dict, descriptor["plans"]))
        title, created_by = str(descriptor["title"]), str(descriptor["created_by"])
        provenance = Provenance("simulated", title, created_by, "MIT")
        return cls(**tables, plans=plans, provenance=provenance)


def shipped_search_comparison(name: str = SHIPPED) -> SearchComparisonTables:
    """Return a comparison of searches that ships with the workbench.

    Args:
        name: ``which-heuristic``, or ``paper-scale``: the paper's sizes, budget and re-runs, on
            simulated collectives.

    Raises:
        DatasetError: it is missing, or a file is not the one whose checksum is recorded.
        ParseError: a file is not as it was saved.
    """
    return SearchComparisonTables.load(data_folder() / _FOLDER / name)


def plan_from_dict(values: dict[str, Any]) -> SearchComparisonPlan:
    """Return the plan with the fields of a mapping, as a descriptor has them."""
    try:
        lists: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list | tuple) else v for k, v in values.items()
        }
        lists["noises"] = tuple(AddedNoise(**noise) for noise in values["noises"])
        return SearchComparisonPlan(**lists)
    except (TypeError, KeyError) as error:
        raise ParameterError(
            f"a plan must have the fields of SearchComparisonPlan; {error}"
        ) from error


def _together(results: Sequence[SearchComparisonResult]) -> SearchComparisonResult:
    rows = tuple(row for result in results for row in result.rows)
    recordings = {name: one for result in results for name, one in result.recordings.items()}
    return SearchComparisonResult(rows, recordings)


def _table(result: SearchComparisonResult, name: str, pick: str) -> pd.DataFrame:
    """Return a table with its pick as the first column; cells without most intervals."""
    table: pd.DataFrame = getattr(result, name)(pick)
    if name == "cells":
        ends = [c for c in table if str(c).endswith(("_low", "_high"))]
        table = table.drop(columns=[c for c in ends if c not in _CELL_INTERVALS])
    table.insert(0, "pick", pick)
    return table


def _columns(names: Iterable[str]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name in names:
        base, _, end = name.rpartition("_")
        if name in _TEXTS:
            columns[name] = ("string", "", f"the {name}")
        elif end in ("low", "high") and base in _FIGURES:
            columns[name] = (
                "number",
                "",
                f"{end} end of the 95 % interval of {base} over the seeds",
            )
        else:
            columns[name] = ("number", "", _FIGURES[name])
    return columns
