"""The comparison's tables as a dataset: the plans, the results, and the command that made it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.datapackage import DESCRIPTOR, Column, checksum, table_resource, write_package
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.jsonfile import read_json
from workbench.provenance import Provenance
from workbench.suggestions import did_you_mean
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
class SearchComparisonTables:
    """The tables of a saved comparison of searches.

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

    def __repr__(self) -> str:
        return (
            f"SearchComparisonTables({len(self.methods)} methods, {len(self.cells)} cells; "
            f"{self.provenance.caption()})"
        )


def save_search_comparison(
    folder: str | Path,
    results: Sequence[SearchComparisonResult],
    plans: Sequence[SearchComparisonPlan],
    created_by: str = "save_search_comparison",
) -> None:
    """Write the tables of a comparison and their descriptor.

    Args:
        folder: folder to write, made if missing.
        results: results of the plans.
        plans: plans of the searches.
        created_by: command that made the tables.

    Raises:
        OSError: the folder cannot be written.
    """
    import pandas as pd

    files = []
    for name in TABLES:
        # Searches that prune have their partners in another plan.
        parts = [_together(results)] if name == "prunings" else results
        table = pd.concat(
            [_table(result, name, pick) for result in parts for pick in _PICKS[name]],
            ignore_index=True,
        )
        # Four digits: one more seed changes the third.
        data = table.to_csv(index=False, float_format="%.4g", lineterminator="\n").encode()
        entry = table_resource(name, data, _columns(table.columns), TABLES[name])
        files.append((entry, data))
    seeds = sorted({plan.seeds for plan in plans})
    package = {
        "name": Path(folder).resolve().name,
        "title": "Searches of recorded spaces: heuristics, resampling, stopping, pruning compared",
        "origin": "simulated",
        "created_by": created_by,
        "licenses": [{"name": "MIT"}],
        "plans": [asdict(plan) for plan in plans],
        "caveats": [
            f"{' and '.join(map(str, seeds))} seeds of each search; intervals are over these",
            "a search draws its runs from those recorded, of which the optimum is known only as "
            "well as their repeats tell; tied says how many searches ended within that",
            "gain, share and distance are judged by the repeats that the searches drew from: what "
            f"was measured promises too much, the optimum most of all; with the noise {HELD_OUT} "
            "every second repeat is drawn from and the others judge",
            "a pruned run is charged the time up to its limit; its value is another number than "
            "its time, and is not known",
        ],
    }
    write_package(folder, package, files)


def load_search_comparison(folder: str | Path | None = None) -> SearchComparisonTables:
    """Return the tables of a comparison of searches, checksums verified.

    Args:
        folder: folder that ``save_search_comparison`` wrote; None for the shipped comparison.

    Raises:
        DatasetError: the folder is missing, or damaged.
    """
    import pandas as pd

    place = data_folder() / _FOLDER / SHIPPED if folder is None else Path(folder)
    try:
        values = read_json(place / DESCRIPTOR, "a descriptor of a comparison")
        tables = {}
        for resource in values["resources"]:
            name = str(resource["name"])
            if name not in TABLES:
                raise ParseError(
                    f"tables must be {', '.join(TABLES)}; got {name!r}{did_you_mean(name, TABLES)}"
                )
            data = (place / f"{name}.csv").read_bytes()
            if resource["hash"] != checksum(data):
                raise ParseError(f"{name}.csv must have the checksum that is recorded")
            texts = dict.fromkeys(_TEXTS, str)
            # "none" is the name of a rule here, not a missing value.
            tables[name] = pd.read_csv(
                io.BytesIO(data), dtype=texts, keep_default_na=False, na_values=[""]
            )
        provenance = Provenance("simulated", str(values["title"]), str(values["created_by"]), "MIT")
        plans = tuple(plan_from_dict(plan) for plan in values["plans"])
        for name in ("methods", "collectives", "cells"):
            if "pruning" not in tables[name]:
                # A comparison from before pruning was compared.
                place_of = list(tables[name].columns).index
                tables[name].insert(place_of("stopping") + 1, "pruning", NO_PRUNING)
        tables.setdefault("prunings", pd.DataFrame(columns=["pick", *PRUNING_COLUMNS]))
        return SearchComparisonTables(**tables, plans=plans, provenance=provenance)
    except (OSError, ValueError, KeyError, TypeError, ParseError, ParameterError) as error:
        raise DatasetError(
            f"{place} must hold a comparison as save_search_comparison writes it; "
            f"{type(error).__name__}: {error}; restore it"
        ) from error


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
