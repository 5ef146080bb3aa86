"""Optuna's tables and its sampler are those that `optuna_internals` was written for."""

from __future__ import annotations

import ast
import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from workbench.storage import optuna_internals
from workbench.storage.database import locate

ROOT = Path(__file__).resolve().parents[3]
OWNER = ROOT / "workbench" / "storage" / "optuna_internals.py"
UNKNOWN = (
    f"Optuna {optuna.__version__} differs from the one that workbench/storage/optuna_internals.py "
    "was written for: read what changed, correct that file and this test, and only then raise the "
    "upper bound of optuna in pyproject.toml. Different: "
)
COLUMNS = {
    "studies": {"study_id", "study_name"},
    "study_user_attributes": {"study_user_attribute_id", "study_id", "key", "value_json"},
    "trials": {
        "trial_id",
        "number",
        "study_id",
        "state",
        "datetime_start",
        "datetime_complete",
    },
    "trial_params": {"param_id", "trial_id", "param_name", "param_value", "distribution_json"},
    "trial_user_attributes": {"trial_user_attribute_id", "trial_id", "key", "value_json"},
    "trial_values": {"trial_value_id", "trial_id", "objective", "value", "value_type"},
    "version_info": {"version_info_id", "schema_version", "library_version"},
}
SAMPLER = (
    "_compare",
    "_compute_acquisition_func",
    "_n_ei_candidates",
    "_n_startup_trials",
    "_parzen_estimator_cls",
    "_parzen_estimator_parameters",
    "_random_sampler",
    "_rng",
)


def test_the_tables_of_this_optuna_are_known(tmp_path: Path) -> None:
    place = locate(tmp_path / "fits.db")
    place.prepare()
    with contextlib.closing(sqlite3.connect(tmp_path / "fits.db")) as connection:
        (version,) = connection.execute("SELECT schema_version FROM version_info").fetchone()
        columns = {
            table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in COLUMNS
        }
    assert version == optuna_internals.KNOWN_SCHEMA, f"{UNKNOWN}version {version} of the tables"
    assert columns == COLUMNS, f"{UNKNOWN}columns of the tables"
    direct = place.connect_directly()
    assert direct is not None
    direct.close()


def test_the_sampler_of_this_optuna_is_known() -> None:
    from optuna.samplers._tpe import sampler

    found = optuna.samplers.TPESampler(multivariate=True)
    missing = [name for name in SAMPLER if not hasattr(found, name)]
    assert missing == [], f"{UNKNOWN}TPESampler lacks {', '.join(missing)}"
    assert hasattr(sampler, "default_gamma"), f"{UNKNOWN}default_gamma is gone"


def test_tables_of_another_version_are_left_to_optuna(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = locate(tmp_path / "fits.db")
    place.prepare()
    monkeypatch.setattr(optuna_internals, "KNOWN_SCHEMA", -1)
    assert place.connect_directly() is None


def beyond_the_public_interface(path: Path) -> Iterator[str]:
    """Yield what a file that names Optuna takes of others' private names and of Optuna's tables."""
    text = path.read_text("utf-8")
    if "optuna" not in text.lower():
        return
    tables = "|".join(COLUMNS)
    yield from re.findall(rf"\b(?:FROM|JOIN|INTO|UPDATE) (?:{tables})\b", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("optuna"):
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            yield from (name for name in names if name.startswith("_"))
        if (
            isinstance(node, ast.Attribute)
            and re.match(r"_[a-z]", node.attr)
            and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        ):
            yield node.attr


def test_one_file_goes_beyond_optunas_public_interface() -> None:
    found = {
        path: names
        for path in (ROOT / "workbench").rglob("*.py")
        if (names := [*beyond_the_public_interface(path)])
    }
    assert set(found) == {OWNER}, found
