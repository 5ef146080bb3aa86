"""Topologies by a spec, as the shell and notebooks name them: ``fat-tree:16``, ``torus:8x8x8``."""

from __future__ import annotations

from typing import Any

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.bandwidths import with_bandwidths
from workbench.topology.families import BANDWIDTH, FAMILIES, Family, TopologyParameter
from workbench.topology.generator_checks import LONGEST_NUMBER
from workbench.topology.presets import PRESETS
from workbench.topology.topology import Topology

_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def parse_topology(text: str) -> Topology:
    """Return the topology that a spec describes.

    ``fat-tree:16``, ``dragonfly:8,4,8`` (g, a, p, with the fewest global ports), ``torus:8,8,8`` or
    ``torus:8x8x8``, by letters as in ``dragonfly:a=4,p=8,h=2,wiring=relative``, or a machine's name
    as in ``hopper``. `FAMILIES` and `presets()` list them all. Any family takes ``bandwidth``, that
    of each class of links in hosts' links: ``dragonfly:9,4,2,2,bandwidth=1x2``.

    Args:
        text: family, colon, and the parameters with commas between them; several numbers for one
            parameter have an x between them.

    Raises:
        ParameterError: there is no such family, or a parameter is not accepted.
    """
    word, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon and word.lower() in PRESETS:
        return PRESETS[word.lower()].build()
    if word not in FAMILIES:
        raise ParameterError(
            f"a topology must be one of {', '.join(FAMILIES)} with its parameters, such as "
            f"fat-tree:16, or one of {', '.join(PRESETS)}; got {_short(text)}"
            f"{did_you_mean(word, (*FAMILIES, *PRESETS))}",
            key="topology",
        )
    family = FAMILIES[word]
    values = {
        parameter.name: _value(word, parameter, value)
        for parameter, value in _assigned(word, family, rest)
    }
    missing = [one.name for one in family.parameters if one.needed and one.name not in values]
    if missing:
        raise ParameterError(
            f"{word} needs {', '.join(missing)}, as in {word}:{family.example}; got {_short(text)}",
            key=missing[0],
        )
    bandwidths: Any = values.pop(BANDWIDTH.name, None)
    made = family.generator(**values)
    return made if bandwidths is None else with_bandwidths(made, bandwidths)


def topology_spec(topology: Topology) -> str:
    """Return the spec from which `parse_topology` builds a topology.

    Args:
        topology: that a generator made.

    Raises:
        ParameterError: it is of no family.
    """
    if topology.family not in FAMILIES:
        raise ParameterError(
            f"only a topology of {', '.join(FAMILIES)} has a spec; {topology.name} is "
            f"{topology.family}: write it to a file",
            key="topology",
        )
    parts = ",".join(f"{name}={value}" for name, value in topology.parameters.items())
    return f"{topology.family}:{parts}"


def _assigned(word: str, family: Family, rest: str) -> list[tuple[TopologyParameter, str]]:
    """Return the parameter and the text of each part of a spec."""
    known = {parameter.name: parameter for parameter in (*family.parameters, BANDWIDTH)}
    parts = [part.strip() for part in rest.split(",")] if rest else []
    if "" in parts:
        raise ParameterError(
            f"{word}: there must be something between two commas, as in {word}:{family.example}; "
            f"got {_short(rest)}",
            key="topology",
        )
    bare = [part for part in parts if "=" not in part]
    given: list[tuple[str, str]] = []
    if len(family.order) == 1 and known[family.order[0]].kind == "numbers" and len(bare) > 1:
        mixed = next((part for part in bare if not part.isdecimal()), None)
        if mixed is not None:
            raise ParameterError(
                f"{word} takes its {family.order[0]} as {word}:{family.example} or with commas; "
                f"got {_short(mixed)} among others",
                key="topology",
            )
        given.append((family.order[0], "x".join(bare)))
        bare = []
    if len(bare) > len(family.order):
        raise ParameterError(
            f"{word} takes at most {len(family.order)} numbers without letters, "
            f"{', '.join(family.order)}; got {_short(rest)}",
            key="topology",
        )
    given += zip(family.order, bare, strict=False)
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if equals:
            given.append((name, value))
    seen: set[str] = set()
    for name, _ in given:
        if name not in known:
            raise ParameterError(
                f"{word} has the parameters {', '.join(known)}; got {_short(name)}"
                f"{did_you_mean(name, known)}",
                key="topology",
            )
        if name in seen:
            raise ParameterError(f"{word}: {name} must be given once; got {_short(rest)}", key=name)
        seen.add(name)
    return [(known[name], value) for name, value in given]


def _value(word: str, parameter: TopologyParameter, text: str) -> object:
    """Return a parameter as its generator takes it."""
    if parameter.optional and text.lower() == "none":
        return None
    if parameter.kind == "flag":
        if text.lower() not in _TRUE + _FALSE:
            raise ParameterError(
                f"{word}: {parameter.name} must be true or false; got {_short(text)}",
                key=parameter.name,
            )
        return text.lower() in _TRUE
    if parameter.kind == "word":
        return text
    if parameter.kind == "ratios":
        return tuple(_ratio(one, word, parameter.name) for one in text.split("x"))
    if parameter.kind == "numbers":
        numbers = text.split("x")
        if "" in numbers:
            raise ParameterError(
                f"{word}: {parameter.name} must be whole numbers with an x between them; got "
                f"{_short(text)}",
                key=parameter.name,
            )
        return tuple(_number(one, word, parameter.name) for one in numbers)
    return _number(text, word, parameter.name)


def _number(text: str, word: str, name: str) -> int:
    if len(text) > LONGEST_NUMBER and text.isdecimal():
        raise ParameterError(
            f"{word}: {name} must be a number of at most {LONGEST_NUMBER} digits; got "
            f"{_short(text)}",
            key=name,
        )
    try:
        return int(text)
    except ValueError:
        raise ParameterError(
            f"{word}: {name} must be a whole number; got {_short(text)}", key=name
        ) from None


def _ratio(text: str, word: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"{word}: {name} must be numbers with an x between them; got {_short(text)}", key=name
        ) from None


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
