"""The invocation of a run: words and variables, each value by itself, never a line for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from workbench.errors import ParameterError


@dataclass(frozen=True)
class Invocation:
    """One run of a component in one configuration.

    Attributes:
        argv: program and arguments, a word each; empty where the component only sets up others.
        env: variables of the program's environment beside those it inherits, ``LD_PRELOAD``
            among them.
        sbatch_options: options for ``sbatch``, a word each, such as ``--fastio=yes``.
        directives: lines for the head of a batch script, such as ``#SBB targets=/scratch``; they
            begin with ``#``, so that a shell passes them over.
        header: shell commands to run before the program, as the component's author wrote them; no
            value of a parameter is ever in it.

    Raises:
        ParameterError: a word or a variable has a NUL in it, or a variable's name a ``=``; no
            system can pass these.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    sbatch_options: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    header: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "env", MappingProxyType(dict(self.env)))
        for word in (*self.argv, *self.sbatch_options, *self.env, *self.env.values()):
            if "\0" in word:
                raise ParameterError(
                    f"arguments and variables of a run must have no NUL in them; got {word!r}"
                )
        for name in self.env:
            if not name or "=" in name:
                raise ParameterError(
                    f"a variable of the environment must have a name without =; got {name!r}",
                    key="env",
                )

    def text(self) -> str:
        """Return the invocation as one would type it, for people to read."""
        words = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        words += map(shlex.quote, self.argv)
        line = " ".join(words) or "(nothing to run)"
        if self.sbatch_options:
            line = f"sbatch {shlex.join(self.sbatch_options)}: {line}"
        return "\n".join([*self.directives, *self.header.splitlines(), line])
