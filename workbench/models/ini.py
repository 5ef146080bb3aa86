"""Network models from SST/macro's ``.ini`` files.

A file is taken as SST/macro v11.1 takes it, defaults included; what SST/macro would ignore without
a word (a mistyped key, one in the wrong scope) is an error that names the right key, and what it
would model but this project does not is an error that says so.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from workbench.errors import ParameterError, ParseError
from workbench.ini_grammar import OVERRIDE, IniDocument, IniEntry, override, read_document
from workbench.models.base import NetworkModel, parameter_index
from workbench.models.ini_keys import (
    FIXED_KEYS,
    NO_EFFECT_KEYS,
    RUN_KEYS,
    SNAPPR_FIXED_KEYS,
    matches,
    refused,
)
from workbench.models.ini_write import OWN_MODEL
from workbench.models.logp import LogP
from workbench.models.memory import MEMORIES
from workbench.models.parameter import ModelParameter
from workbench.models.pisces import PISCES
from workbench.models.protocol import Protocol
from workbench.models.snappr import SNAPPR
from workbench.parameters import Value
from workbench.suggestions import did_you_mean, nearest_key, unknown_key
from workbench.units import misread_unit

SSTMACRO_MODELS: dict[str, type[SNAPPR] | type[LogP] | type[PISCES]] = {
    "snappr": SNAPPR,
    "logp": LogP,
    "pisces": PISCES,
}
OWN_MODELS: dict[str, type[Protocol]] = {"protocol": Protocol}
MODELS: dict[str, type[NetworkModel]] = {**SSTMACRO_MODELS, **OWN_MODELS}
"""Every model by its name: SST/macro's, then the workbench's own."""


def find_model(model: str | NetworkModel) -> NetworkModel:
    """Return the model itself, or the one of that name with its defaults.

    Args:
        model: a name in ``MODELS``, in either case, or a model.

    Raises:
        ParameterError: there is no model of that name.
    """
    if isinstance(model, NetworkModel):
        return model
    found = MODELS.get(str(model).lower())
    if found is None:
        raise ParameterError(
            f"model must be one of {', '.join(MODELS)}, or a model; got {model!r}"
            f"{did_you_mean(model, MODELS)}",
            key="model",
        )
    return found()


_SWITCH_NAMES = {
    "snappr": "snappr",
    "snappr_switch": "snappr",
    "pisces": "pisces",
    "pisces_switch": "pisces",
    "logp": "logp",
    "macrels": "logp",
}
_NAME_KEYS = ("switch.name", "node.nic.name", "node.memory.name")


@dataclass(frozen=True)
class IniReading:
    """A model read from an .ini, with notes for the file's author.

    Attributes:
        model: the network model, of the variant ``sstmacro``.
        notes: sentences about keys without effect, older spellings and the like.
    """

    model: NetworkModel
    notes: tuple[str, ...]


def read_ini(
    source: str | Path | bytes | None = None, overrides: Mapping[str, str] | None = None
) -> NetworkModel:
    """Return the network model an .ini describes, as SST/macro v11.1 reads it.

    Args:
        source: path of a file, or the text itself; None for the defaults of ``SNAPPR``.
        overrides: texts by dotted key put over the file, as ``-p key=text`` does; units that
            SST/macro does not know, such as KiB and Gbit/s, may be used here.

    Raises:
        ParseError: the file cannot be read, has a key that does not exist (the right one is
            named), lacks one, or asks for something not modelled; with file and line.
        ParameterError: the same about an override.
    """
    return inspect_ini(source, overrides).model


def inspect_ini(
    source: str | Path | bytes | None = None, overrides: Mapping[str, str] | None = None
) -> IniReading:
    """Read an ``.ini`` as ``read_ini`` does, with notes about the file; same errors."""
    document = read_document(SNAPPR().to_ini(v10=False) if source is None else source)
    if source is None:
        document.source = "the default set"
    try:
        override(document, overrides or {})
    except ParseError as error:
        raise ParameterError(str(error)) from None
    if OWN_MODEL in document.entries:
        return IniReading(_read_own(document), tuple(document.notes))
    return inspect_document(document)


def inspect_document(document: IniDocument) -> IniReading:
    """Return a model of SST/macro and notes from the assignments of an .ini."""
    return _Reading(document).result()


def _read_own(document: IniDocument) -> NetworkModel:
    """Return one of the workbench's own models; keys that the file omits keep their defaults."""
    named = document.entries[OWN_MODEL]
    model = OWN_MODELS.get(named.text)
    if model is None:
        _fail(
            named,
            f"{OWN_MODEL} must be one of {', '.join(OWN_MODELS)}; got {named.text}; a file for "
            "SST/macro has no such key and names its model by switch.name",
        )
    index = parameter_index(model, None)
    values: dict[str, Any] = {}
    for entry in document.entries.values():
        described = index.get(entry.key)
        if described is not None:
            try:
                if entry.source == OVERRIDE:
                    values[described.path] = _read_override(described, entry.text)
                else:
                    values[described.path] = described.read(entry.text)
            except ParameterError as error:
                _fail(entry, str(error))
        elif entry.key != OWN_MODEL:
            what = f"a key of a {model.name} model"
            _fail(entry, unknown_key(entry.key, index, what=what))
    return model(**values)


class _Reading:
    """Turns a document's assignments into a model, and collects notes about odd ones."""

    def __init__(self, document: IniDocument) -> None:
        self.document = document
        self.entries = document.entries
        self.notes = list(document.notes)
        self.model = SSTMACRO_MODELS[self._network()]
        self.memory = MEMORIES[self._memory()]
        self.index = parameter_index(self.model, self.memory)
        self.taken: set[str] = set()

    def result(self) -> IniReading:
        """Return the model and the notes."""
        unknown = self._unknown_entries()
        for entry in unknown:
            if not self._belongs_to_application(entry):
                _fail(entry, self._unknown(entry.key))
        for entry in self.entries.values():
            self._check_fixed(entry)
        model = self._build(self._values())
        for entry in self.entries.values():
            self._note_without_effect(entry)
        return IniReading(model, tuple(dict.fromkeys(self.notes)))

    def _network(self) -> str:
        switch = self._required_name("switch.name")
        nic = self._required_name("node.nic.name")
        model = _SWITCH_NAMES.get(switch.text.lower())
        if model is None:
            self._not_modelled(switch, "switch models", tuple(SSTMACRO_MODELS))
        if nic.text not in SSTMACRO_MODELS:
            self._not_modelled(nic, "NIC models", tuple(SSTMACRO_MODELS))
        if nic.text != model:
            _fail(
                nic,
                f"the NIC and the switch must be of one model: node.nic.name = {nic.text}, "
                f"switch.name = {switch.text}; set node.nic.name = {model}",
            )
        return model

    def _memory(self) -> str:
        entry = self._required_name("node.memory.name")
        if entry.text not in MEMORIES:
            self._not_modelled(entry, "memory models", tuple(MEMORIES))
        if entry.text == "null":
            self.notes.append(
                "node.memory.name = null: SST/macro v11.1 never finishes a copy of more than "
                "node.proc.negligible_compute_bytes; here such a copy takes no time"
            )
        return entry.text

    def _required_name(self, key: str) -> IniEntry:
        entry = self.entries.get(key)
        if entry is not None:
            return entry
        near = [k for k in self.entries if k.rpartition(".")[2] == "name" and k not in _NAME_KEYS]
        similar = difflib.get_close_matches(key, near or list(self.entries), n=1, cutoff=0.8)
        hint = f" (found {similar[0]})" if similar else ""
        known = tuple(MEMORIES) if key == "node.memory.name" else tuple(SSTMACRO_MODELS)
        raise ParseError(
            f"{key} is missing{hint}; set it to one of {', '.join(known)}",
            source=self.document.source,
        )

    def _values(self) -> dict[str, Value]:
        values: dict[str, Value] = {}
        missing = []
        for key, described in self.index.items():
            entry = self._entry_for(described)
            if entry is not None:
                values[key] = self._read(described, entry)
            elif described.absent is not None:
                values[key] = described.absent
            elif described.required:
                missing.append(described)
        # with flow control off SST/macro does not ask for credits
        missing = [d for d in missing if not d.unless or values.get(d.unless, True)]
        if missing:
            keys = ", ".join(described.key for described in missing)
            raise ParseError(
                f"a {self.model.name} network needs {keys}; SST/macro stops without",
                source=self.document.source,
            )
        if self.model is PISCES and "switch.link.credits" not in values:
            described = self.index["switch.link.credits"]
            try:
                values |= {k: described.coerce(v) for k, v in PISCES.derive(values).items()}
            except ParameterError as error:
                raise ParseError(
                    "switch.link.credits is missing, and 8 * bandwidth * latency is no substitute: "
                    f"{error}",
                    source=self.document.source,
                ) from None
        return values

    def _entry_for(self, described: ModelParameter) -> IniEntry | None:
        """Return the assignment of a parameter: the first of its spellings in the file."""
        keys = (*described.before, described.key, *described.fallback)
        for key in keys:
            if key in self.entries:
                self.taken.add(key)
                return self.entries[key]
        entry = self.entries.get(described.stand_in) if described.stand_in else None
        if entry is not None:
            self.taken.add(entry.key)
            self.notes.append(
                f"{_place(entry)}{described.key} is not there and is taken from {entry.key}; "
                f"SST/macro 11 stops without {described.key}"
            )
        return entry

    def _read(self, described: ModelParameter, entry: IniEntry) -> Value:
        odd = "" if described.plain else misread_unit(entry.text, described.kind)
        if odd:
            self.notes.append(f"{_place(entry)}{entry.key}: {odd}")
        try:
            if entry.source == OVERRIDE:
                return _read_override(described, entry.text)
            return described.read(entry.text)
        except ParameterError as error:
            message = str(error)
            if entry.key != described.key:
                message = f"{message} (from {entry.key})"
            _fail(entry, message)

    def _build(self, values: dict[str, Value]) -> NetworkModel:
        own: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for key, value in values.items():
            part, _, name = self.index[key].path.rpartition(".")
            (parts.setdefault(part, {}) if part else own)[name] = value
        for part, arguments in parts.items():
            if part != "memory":
                own[part] = type(getattr(self.model(), part))(**arguments)
        own["memory"] = self.memory(**parts.get("memory", {}))
        return self.model(**own)

    def _fixed(self, key: str) -> tuple[str, Any, str] | None:
        if self.model is SNAPPR and key in SNAPPR_FIXED_KEYS:
            return SNAPPR_FIXED_KEYS[key]
        return FIXED_KEYS.get(key)

    def _check_fixed(self, entry: IniEntry) -> None:
        fixed = self._fixed(entry.key)
        if fixed is not None and not fixed[1](entry.text):
            why, _, modelled = fixed
            _fail(
                entry,
                f"not modelled: {entry.key} = {entry.text}; {why}; "
                f"set it to {modelled} or leave it out",
            )
        what = refused(entry.key)
        if what:
            _fail(entry, f"not modelled: {entry.key} asks for {what}; leave it out")

    def _unknown_entries(self) -> list[IniEntry]:
        known = self._known_keys()
        return [
            entry
            for entry in self.entries.values()
            if entry.key not in known
            and not matches(entry.key, RUN_KEYS)
            and not refused(entry.key)
        ]

    def _known_keys(self) -> set[str]:
        known = {*_NAME_KEYS, *FIXED_KEYS, *SNAPPR_FIXED_KEYS, *NO_EFFECT_KEYS}
        for model in SSTMACRO_MODELS.values():
            for memory in MEMORIES.values():
                for described in parameter_index(model, memory).values():
                    known |= {described.key, *described.before, *described.fallback}
                    known |= {described.stand_in} - {""}
        return known

    def _unknown(self, key: str) -> str:
        parts = key.split(".")
        if parts[0] == "node" and len(parts) > 2 and parts[1].startswith("app"):
            renamed = ".".join(["node", "app1", *parts[2:]])
            if renamed != key and (renamed in self._known_keys() or matches(renamed, RUN_KEYS)):
                return (
                    f"not modelled: {key}; the workbench runs one program, node.app1: "
                    f"write {renamed}"
                )
        exact = [k for k in RUN_KEYS if "*" not in k]
        near = nearest_key(key, self.index) or nearest_key(key, {*self._known_keys(), *exact})
        hint = f"; did you mean {near}?" if near else ""
        return (
            f"{key} is not a key of a {self.model.name} network{hint} "
            "(SST/macro would ignore it silently)"
        )

    def _belongs_to_application(self, entry: IniEntry) -> bool:
        """Return whether a key in ``node.app1`` is the program's own: unlike SST/macro's keys."""
        scope, _, leaf = entry.key.rpartition(".")
        if scope != "node.app1":
            return False
        leaves = {key.rpartition(".")[2] for key in self._known_keys()}
        near = [k.rpartition(".")[2] for k in self.index if k.startswith("node.app1.")]
        near += [
            k.rpartition(".")[2] for k in (*RUN_KEYS, *FIXED_KEYS) if k.startswith("node.app1.")
        ]
        if leaf in leaves or difflib.get_close_matches(leaf, near, n=1, cutoff=0.75):
            return False
        self.notes.append(
            f"{_place(entry)}{entry.key} is for the simulated program; the workbench runs its own "
            "benchmark"
        )
        return True

    def _note_without_effect(self, entry: IniEntry) -> None:
        key = entry.key
        if key in self.taken or key in _NAME_KEYS or self._fixed(key) is not None:
            return
        if key in NO_EFFECT_KEYS:
            self.notes.append(f"{_place(entry)}{key} has no effect: {NO_EFFECT_KEYS[key]}")
            return
        if key not in self._known_keys():
            return
        winner = next((d.key for d in self.index.values() if key in (d.stand_in, *d.fallback)), "")
        if not winner:
            reason = (
                f"nothing in a {self.model.name} network with {self.memory.name} memory reads it"
            )
        elif self.entries[winner].text == entry.text:
            return
        else:
            reason = f"{winner} = {self.entries[winner].text} is what SST/macro 11 reads"
        self.notes.append(f"{_place(entry)}{key} has no effect: {reason}")

    def _not_modelled(self, entry: IniEntry, what: str, known: tuple[str, ...]) -> NoReturn:
        _fail(
            entry,
            f"not modelled: {entry.key} = {entry.text}; the {what} here are {', '.join(known)}",
        )


def _read_override(described: ModelParameter, text: str) -> Value:
    """Return an override's value: as SST/macro's ``-p`` reads it, else as people type it."""
    try:
        return described.read(text)
    except ParameterError:
        return described.coerce(text)


def _fail(entry: IniEntry, message: str) -> NoReturn:
    """Raise the error that suits where an assignment stands: an override has no line."""
    if entry.source == OVERRIDE:
        raise ParameterError(message, key=entry.key)
    raise ParseError(message, source=entry.source, line=entry.line)


def _place(entry: IniEntry) -> str:
    return "" if entry.source == OVERRIDE else f"{entry.source}:{entry.line}: "
