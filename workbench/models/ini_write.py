"""A network model as an SST/macro ``.ini`` file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.models.base import NetworkModel, SSTMacroModel

OWN_MODEL = "model"
"""The key that names a model of the workbench's own in an .ini; SST/macro knows no such key."""

# What SST/macro needs beside the parameters: two ranks on two nodes of one switch.
_PLATFORM = {
    "node.name": "simple",
    "node.app1.name": "mpi_ping_pong",
    "node.app1.launch_cmd": "aprun -n 2 -N 1",
    "node.app1.indexing": "block",
    "node.app1.allocation": "first_available",
    "node.app1.start": "0ms",
    "node.proc.ncores": "4",
    "topology.name": "fully_connected",
    "topology.geometry": "[1]",
    "topology.concentration": "2",
}


def write_ini(model: SSTMacroModel, *, v10: bool = True) -> str:
    """Return ``model`` as .ini text; ``v10`` adds the key spellings that version 11 ignores."""
    entries = dict(_PLATFORM)
    entries["node.nic.name"] = entries["switch.name"] = model.name
    entries["node.memory.name"] = model.memory.name
    if model.name != "logp":
        entries["switch.router.name"] = "fully_connected_minimal"
    parameters = model.parameters()
    for item in parameters:
        entries[item.key] = item.spelt()
    if v10:
        for item in parameters:
            if item.stand_in and item.stand_in not in entries:
                entries[item.stand_in] = item.spelt()
    lines = [
        f"# two nodes on one switch, {model.name.upper()}; node.app1.name is the program to run"
    ]
    if model.variant != "sstmacro":
        lines.append(
            f"# values of the variant {model.variant!r}; SST/macro itself computes 'sstmacro'"
        )
    return "\n".join([*lines, *_scoped(entries), ""])


def ini_about(model: NetworkModel) -> str:
    """Return a sentence on which program reads a model's .ini."""
    from workbench.models.base import SSTMacroModel

    if isinstance(model, SSTMacroModel):
        return "SST/macro reads it, and so do workbench osu --config and models.read_ini"
    return (
        f"workbench osu --config and models.read_ini read it; SST/macro cannot, it has no "
        f"{type(model).__name__} model"
    )


def write_own_ini(model: NetworkModel) -> str:
    """Return a model that SST/macro lacks as .ini text; ``read_ini`` reads each value exactly."""
    entries = {OWN_MODEL: model.name} | {item.key: item.spelt() for item in model.parameters()}
    head = f"# {type(model).__name__}, a model of the workbench's own; SST/macro has no such model"
    return "\n".join([head, f"# {ini_about(model)}", *_scoped(entries), ""])


def _scoped(entries: dict[str, str]) -> list[str]:
    tree: dict[str, Any] = {}
    for key, text in entries.items():
        *scopes, leaf = key.split(".")
        node = tree
        for scope in scopes:
            node = node.setdefault(scope, {})
        node[leaf] = text
    return _lines(tree, "")


def _lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{indent}{key} = {text}" for key, text in tree.items() if isinstance(text, str)]
    for name, inner in tree.items():
        if not isinstance(inner, str):
            lines += [f"{indent}{name} {{", *_lines(inner, indent + "  "), f"{indent}}}"]
    return lines
