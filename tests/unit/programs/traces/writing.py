"""Writes small traces, and says in a few words what a program holds."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.programs.program import CALL_NAMES, WAIT, Program
from workbench.programs.traces import read_trace

WORLD = 9100
STEP_US, CALL_US = 10, 4  # so 6 µs of work lie between two calls


def liballprof(ranks: Sequence[Sequence[str]], *, world: int = WORLD) -> dict[str, str]:
    """Return a liballprof trace; calls without ``MPI_`` and times, ``{w}`` for the world."""
    return {f"pmpi-trace-rank-{r}.txt": one(c, r, len(ranks), world) for r, c in enumerate(ranks)}


def one(calls: Sequence[str], rank: int, num_ranks: int, world: int = WORLD) -> str:
    """Return the file of one rank."""
    lines = ["# htor's PMPI Tracer 1.0 Output File", "# clockdiff: 0.0 s", ""]
    lines.append(f"MPI_Init:-:140734714680652:140734714680640:{STEP_US - CALL_US}")
    for i, call in enumerate(calls, 1):
        call = call.replace("{w}", f"{world},{rank},{num_ranks}").replace("{d}", "10,8,8")
        name, _, arguments = call.partition(":")
        middle = f":{arguments}" if arguments else ""
        lines.append(f"MPI_{name}:{STEP_US * i}.0{middle}:{STEP_US * i + CALL_US}.0")
    lines.append(f"MPI_Finalize:{STEP_US * (len(calls) + 1)}:-")
    return "\n".join(lines) + "\n"


def program(*ranks: Sequence[str], world: int = WORLD) -> Program:
    """Return the program of a liballprof trace of these ranks' calls."""
    return read_trace(liballprof(ranks, world=world))


def recorded(*ranks: Sequence[str]) -> dict[str, str]:
    """Return a trace of the workbench's recorder; lines that begin with # stay as they are."""
    files = {}
    for rank, calls in enumerate(ranks):
        world = " ".join(str(i) for i in range(len(ranks)))
        lines = ["# workbench trace 1", f"# rank {rank} of {len(ranks)}", "# mpi Some MPI 1.0"]
        lines += ["# request stride 0", "", f"# comm 0 {world}", "MPI_Init:-:0:0:0.000"]
        for i, call in enumerate(calls, 1):
            if call.startswith("#"):
                lines.append(call)
                continue
            call = call.replace("{w}", f"0,{rank},{len(ranks)}").replace("{d}", "1,8,8")
            name, _, rest = call.partition(":")
            lines.append(f"MPI_{name}:{10 * i}.000:{rest}:{10 * i + 4}.000")
        lines.append(f"MPI_Finalize:{10 * (len(calls) + 1)}.000:-")
        files[f"trace-{rank}.txt"] = "\n".join(lines) + "\n"
    return files


def said(program: Program, rank: int) -> list[str]:
    """Return a rank's calls, such as ``isend 40 B to 1 tag 7 as 0`` or ``wait 0 1``."""
    found, waits = [], program.waits
    for i in range(program.rank_start[rank], program.rank_start[rank + 1]):
        name = CALL_NAMES[program.kind[i]]
        if program.kind[i] == WAIT:
            found.append(f"wait {' '.join(str(r) for r in waits[program.request[i]])}")
        elif name in ("collective", "icollective"):
            c = program.collectives[program.collective[i]]
            members = program.communicators[c.comm].tolist()
            text = (
                f"{c.operation} {list(c.sizes) if c.sizes else c.size} root {c.root} on {members}"
            )
            begun = f" as {program.request[i]}" if name == "icollective" else ""
            found.append(text + begun)
        elif name == "compute":
            found.append("compute")
        else:
            peer = program.peer[i] if program.peer[i] >= 0 else "any"
            tag = program.tag[i] if program.tag[i] < 2**32 - 1 else "any"
            word = "to" if "send" in name else "from"
            begun = f" as {program.request[i]}" if program.request[i] >= 0 else ""
            found.append(f"{name} {program.size[i]} B {word} {peer} tag {tag}{begun}")
    return [text for text in found if text != "compute"]


def same(a: Program, b: Program) -> None:
    """Hold that two programs have the same calls."""
    assert a.num_ranks == b.num_ranks
    for rank in range(a.num_ranks):
        assert said(a, rank) == said(b, rank)
    assert a.compute_ns.tolist() == b.compute_ns.tolist()
