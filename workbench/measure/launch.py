"""What a log says of a benchmark before its table: the command, a label, how it was started."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

_LAUNCHERS = {
    "mpirun": "mpirun", "mpiexec": "mpirun", "mpiexec.hydra": "mpirun", "orterun": "mpirun",
    "prterun": "mpirun", "prun": "mpirun", "mpirun_rsh": "mpirun", "ibrun": "mpirun",
    "srun": "srun", "flux": "srun", "aprun": "aprun", "jsrun": "jsrun", "lrun": "srun",
}  # fmt: skip
"""Programs that start others, by the family whose options they share."""

_PROGRAM = re.compile(
    r"osu_\w+(?:[.-]\w+)*|IMB-[\w-]+|ib_(?:write|read|send|atomic)_(?:lat|bw)|raw_ethernet_\w+|ucx_perftest|"
    r"(?:all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv|scatter|gather|"
    r"hypercube)_perf(?:_mpi)?|NP(?:mpi|tcp|shmem|ibv|openib|\w{2,8})|netgauge"
)
_PROMPT = re.compile(
    r"(?:(?:\([\w.-]{1,40}\) ?)?[\w.@~:/-]{0,80}[$%#]|\++|\[[^\]]{1,80}\][$#]?)\s+"
)
_JOINED = re.compile(r"\s*(?:&&|;)\s+")
"""Between the commands of one line."""
_WRAPPERS = ("env", "time", "numactl", "taskset", "stdbuf", "nice", "sudo", "salloc")
"""Programs that run the command behind them."""
_BINDINGS = re.compile(r"--?\w*(?:bind|gpu|cpu|core|numa)[\w-]*")
"""Options of a launcher that say where on a node the ranks run."""
_EXPORT = re.compile(r"[$+#>\s]*export\s+(?P<name>(?!\w*PATH=)[A-Za-z_]\w*)=(?P<value>\S+)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)

_OPTIONS = {
    "mpirun": {
        "-n": "ranks", "-np": "ranks", "--np": "ranks", "-c": "ranks", "--n": "ranks",
        "-N": "ranks_per_node", "-ppn": "ranks_per_node", "--ppn": "ranks_per_node",
        "-npernode": "ranks_per_node", "--npernode": "ranks_per_node",
        "-perhost": "ranks_per_node", "--map-by": "map_by", "-map-by": "map_by",
        "--rank-by": "", "--bind-to": "", "-bind-to": "", "-host": "hosts", "--host": "hosts",
        "-H": "hosts", "-hosts": "hosts", "--hosts": "hosts", "-hostfile": "", "--hostfile": "",
        "-machinefile": "", "-f": "", "-x": "environment",
    },
    "srun": {
        "-N": "nodes", "--nodes": "nodes", "-n": "ranks", "--ntasks": "ranks",
        "--ntasks-per-node": "ranks_per_node", "--tasks-per-node": "ranks_per_node",
        "-w": "hosts", "--nodelist": "hosts", "-m": "map_by", "--distribution": "map_by",
        "-p": "partition", "--partition": "partition", "-c": "", "--cpus-per-task": "",
        "--mpi": "", "-t": "", "--time": "", "-A": "", "--account": "", "-J": "",
    },
    "aprun": {"-n": "ranks", "-N": "ranks_per_node", "-d": "", "-j": "", "-S": "", "-cc": ""},
    "jsrun": {"-n": "ranks", "-r": "ranks_per_node", "-a": "", "-c": "", "-g": "", "-d": "map_by"},
}  # fmt: skip
"""Options with a value that says something of an experiment; an empty name: of no matter."""

_OF_PROGRAMS = {
    "osu": {"-d": "device", "-W": "window", "--window-size": "window", "-T": "datatype",
            "-b": "buffer_number", "--accelerator": "device"},
    "ib": {"-d": "device", "-q": "queue_pairs", "-s": "size", "-m": "mtu"},
    "ucx": {"-d": "device", "-x": "transport", "-s": "size", "-t": "test", "-m": "memory"},
}  # fmt: skip
_BUFFER = re.compile(r"[HDM]|M[DH]")

_RULED = re.compile(r"^[=*~+#>-]{2,}\s*|\s*[=*~+#<:-]{2,}$|:$|^#\s*")
_BENCHMARK_WORDS = re.compile(
    r"\bosu[_-]\w+|\b(?:latency|bandwidth|lat|bw|bibw|mbw_mr|benchmark|test|results?)\b",
    re.IGNORECASE,
)
_RUN = re.compile(
    r"(?:start(?:ed|ing)?|begin|end|done|date|time)?\W*"
    r"(?:(?:run|rep|repeat|repetition|iteration|iter|trial|attempt|pass|sample|round|loop)"
    r"\W*(?:number|no\.?|#)?\W*[0-9]+(?:\W*(?:of|/)\W*[0-9]+)?|"
    r"(?:\w{3}\s+)?\w{3}\s+[0-9]{1,2}\s.*[0-9]{2}:[0-9]{2}.*|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|"
    r"[0-9:. ]+)\W*",
    re.IGNORECASE,
)
"""A line that tells only when, or which of several runs, a table was made."""

_NOISE = re.compile(
    r"bound to|MCW rank|\bwarn|\berror|\binfo\b|\bdebug|\bload(?:ed|ing)\b|unload|libnl"
    r"|allocat|queued|waiting|slurm|pmix|hwloc|affinity|srun:|mpirun:|version info"
    r"|has sent|have sent|performance may|datatype:|please|copyright|https?://"
    r"|calling sequence|list of benchmarks|Intel ?\(R\) MPI|avg bus|out of bounds"
    r"|collective test|[nr]ccl-tests|out-of-place|using [nr]ccl|pulling|buffer on|thread level"
    r"|^(?:and|but|so|now|here|this|these|below|then)\b|^[+] |^[0-9][)]|[.] |detected:?$"
    r"|measures|jobid|job map|create_qp|nprocs:"
    r"|^(?:real|user|sys)\s+[0-9]|^set \w+=",
    re.IGNORECASE,
)
"""What launchers and modules say; no label."""

_LONGEST_LABEL = 100  # chosen: a title has few words, a longer line is a sentence of the text
_MOST_WORDS = 12  # chosen likewise; the longest label of our reports has 5
_WORDS_APART = 6  # chosen: of a heading in a paragraph of its own
_MARKUP = re.compile(r"`{3,}\s*\w*|(?:\s*</?[a-zA-Z][^<>]{0,100}>)+")
"""A fence of markdown, or tags such as ``<details>``: nothing that a log says."""
_LONGEST_COMMAND = 4000  # chosen: of one that several lines give
_MODULE = re.compile(
    r"[$+#>\s]*(?:module|ml)\s+(?:load|swap|switch)\s+(?:[^\s;&]+\s+)*(?P<name>[^\s;&]+)"
)
_BINDING = re.compile(r"\[([A-Za-z][\w.-]{0,100}):[0-9]+\]\s+(?:MCW )?[Rr]ank")


@dataclass
class Context:
    """What the lines before a table say of it; later tables inherit it."""

    command: dict[str, str] = field(default_factory=dict)
    label: str = ""
    library: str = ""  # of the last `module load`
    exported: dict[str, str] = field(default_factory=dict)  # variables set by lines of their own
    commands: dict[str, dict[str, str]] = field(default_factory=dict)  # the last of each program
    _pending: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, number: int, bare: str, line: str) -> None:
        """Keep a line that belongs to no table; one that ends a command's first line, with it."""
        if self._pending and number - self._pending[-1][0] <= 2:  # pages of HTML skip a line
            last, before, _ = self._pending[-1]
            if (before.endswith("\\") and last == number - 1) or _goes_on(before, bare):
                bare = f"{before.removesuffix(chr(92)).strip()} {bare}"[:_LONGEST_COMMAND]
                del self._pending[-1]
        self._pending.append((number, bare, line))
        del self._pending[:-40]

    def program(self) -> str:
        """Return the benchmark that the last command before this line ran, empty if none did."""
        for _, bare, _ in reversed(self._pending):
            if told := command_labels(bare):
                return told.get("program", "")
        return ""

    def close(self, at: int, test: str = "") -> tuple[dict[str, str], set[int]]:
        """Return the labels that the lines before a table give it, and which lines did.

        Of several commands the one counts that runs the table's ``test``, else the last.
        """
        label = ""
        used: set[int] = set()
        hosts: dict[str, None] = {}
        command: dict[str, str] | None = None
        next_line = at - 1  # the benchmarks of version 7 print an empty line before the title
        fenced = apart = False  # apart: an empty line is between the line and the title or command
        for number, bare, _ in self._pending:
            if set_to := _EXPORT.match(bare):
                self.exported[set_to["name"]] = set_to["value"]
                used.add(number)
        for number, bare, line in reversed(self._pending):
            if found := _BINDING.search(line[:200]):
                hosts[found[1]] = None
                used.add(number)
                continue
            if number in used:
                continue
            if _MARKUP.fullmatch(bare):
                next_line, fenced = number, True
                continue
            if (loaded := _MODULE.fullmatch(bare)) is not None:
                self.library = loaded["name"]
                used.add(number)
            elif told := command_labels(bare):
                used.add(number)
                apart = False
                self.commands[told.get("program", "")] = told
                wanted = test.startswith("osu_") and told.get("program") == test
                if command is None or (wanted and command.get("program") != test):
                    command = told
            elif not label:
                short = bare.count(" ") < _WORDS_APART
                heading = fenced and not apart and number + 2 == next_line and short
                apart = apart or number + 1 < next_line
                label = label_of(bare, ruled_only=apart and not heading)
                if label:
                    used.add(number)
            next_line = number
        self._pending.clear()
        if command is not None:
            if _place_of(command) != _place_of(self.command):
                self.label = ""  # it was of the command before
            self.command = command
        if test.startswith("osu_") and self.command.get("program") != test:
            self.command = self.commands.get(test, self.command)
        if label and not _RUN.fullmatch(label):
            self.label = label
        labels = {name: text for name, text in self.command.items() if name != "program"}
        if self.exported:
            exported = [f"{name}={text}" for name, text in self.exported.items()]
            labels["environment"] = " ".join([*exported, labels.get("environment", "")]).strip()
        if self.label:
            labels["label"] = self.label
        if self.library:
            labels["library"] = self.library
        if hosts and "hosts" not in labels:
            labels["hosts"] = ",".join(reversed(hosts))
        return labels, used


def _place_of(command: dict[str, str]) -> dict[str, str]:
    """Return a command's labels without those of the program that it runs."""
    of_program = ("command", "program", "window", "buffers", "device")
    return {name: text for name, text in command.items() if name not in of_program}


def label_of(line: str, *, ruled_only: bool = False) -> str:
    """Return the label that a line before a table is, empty where it is none."""
    if not line or len(line) > 4 * _LONGEST_LABEL:
        return ""
    bare = line
    for _ in range(4):
        bare = _RULED.sub("", bare).strip()
    if len(bare) > _LONGEST_LABEL:
        return ""
    ruled = bare != line.strip()
    if (ruled_only and not ruled) or not any(c.isalnum() for c in bare) or _NOISE.search(bare):
        return ""
    if sum(c.isalpha() for c in bare) < 2 or _MARKUP.fullmatch(bare):
        return ""
    words = bare.split()
    numbers = sum(word.replace(".", "").isdigit() for word in words)
    if len(words) > _MOST_WORDS or bare.endswith(".") or (numbers > 2 and 2 * numbers > len(words)):
        return ""  # a sentence; a row of another table
    plain = " ".join(_BENCHMARK_WORDS.sub(" ", bare).split()).strip(" -:,()")
    return plain if any(c.isalpha() for c in plain) else ""


def command_labels(line: str) -> dict[str, str]:
    """Return what a command line says of an experiment, nothing where it is no command.

    Keys: ``command``, ``program``, ``nodes``, ``ranks``, ``ranks_per_node``, ``map_by``, ``hosts``,
    ``environment`` (variables and parameters of MPI), ``device``, ``buffers``, ``window``.
    """
    line = line.strip("`")
    prompt = _PROMPT.match(line)
    text = line[prompt.end() :] if prompt else line
    long = len(text) > 4 * _LONGEST_LABEL
    if _JOINED.search(text):
        parts = [part for part in _JOINED.split(text) if part]
        told = next((told for part in parts if (told := command_labels(part))), {})
        if told:
            alone = [part for part in parts if _ASSIGNMENT.fullmatch(part) and " " not in part]
            if alone:
                told["environment"] = " ".join([*alone, told.get("environment", "")]).strip()
            told["command"] = text
        return told
    words = _words(text)
    variables = []
    wrapped = False
    while words and (
        _ASSIGNMENT.fullmatch(words[0])
        or words[0] in _WRAPPERS
        or (wrapped and not _is_started(words[0]))
    ):
        wrapped = wrapped or words[0] in _WRAPPERS
        if _ASSIGNMENT.fullmatch(words[0]):
            variables.append(words[0])
        words = words[1:]
    if not words:
        return {}
    first = words[0].rpartition("/")[2]
    launcher = _LAUNCHERS.get(first)
    if launcher is None and (not _PROGRAM.fullmatch(first) or (long and not prompt)):
        return {}
    labels: dict[str, str] = {}
    at = 0
    if launcher is not None:
        at = _take_options(words, 1, _OPTIONS[launcher], labels, variables)
        if launcher == "srun" and first == "flux" and at < len(words) and words[at] == "run":
            at = _take_options(words, at + 1, _OPTIONS[launcher], labels, variables)
    program = next(
        (n for n in range(at, len(words)) if _PROGRAM.fullmatch(words[n].rpartition("/")[2])), None
    )
    if program is not None:
        for word in words[at:program]:
            if re.fullmatch(r"[A-Z]\w*=.*", word):
                variables.append(word)
        labels["program"] = words[program].rpartition("/")[2]
        _take_program(labels["program"], words[program + 1 :], labels)
    if variables:
        labels["environment"] = " ".join(variables)
    _place(labels, launcher)
    return {"command": text, **labels}


def _is_started(word: str) -> bool:
    """Return whether a word is a launcher or a benchmark."""
    name = word.rpartition("/")[2]
    return name in _LAUNCHERS or _PROGRAM.fullmatch(name) is not None


def _goes_on(before: str, line: str) -> bool:
    """Return whether a line ends the command of the line before, as where mail was wrapped."""
    last = line.split()[-1:]
    if not last or not _PROGRAM.fullmatch(last[0].rpartition("/")[2]) or command_labels(line):
        return False
    told = command_labels(before)
    return bool(told) and "program" not in told


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _take_options(
    words: Sequence[str],
    start: int,
    known: dict[str, str],
    labels: dict[str, str],
    variables: list[str],
) -> int:
    """Read a launcher's options from a place on; return the place of what follows them."""
    at = start
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        short = word[:2]
        if word in ("--mca", "-mca", "-genv", "-env", "-gmca") and at + 2 < len(words):
            variables.append(f"{words[at + 1]}={words[at + 2]}")
            at += 3
        elif word in known and at + 1 < len(words) and not _is_started(words[at + 1]):
            if known[word] == "environment":
                variables.append(words[at + 1])
            elif known[word]:
                labels[known[word]] = words[at + 1]
            at += 2
        elif equals and name in known:
            if known[name]:
                labels[known[name]] = value
            at += 1
        elif re.fullmatch(r"-[nN][0-9]+", word) and short in known:
            labels[known[short]] = word[2:]
            at += 1
        elif word.startswith("-"):
            if _BINDINGS.fullmatch(name) and word not in known and equals:
                labels["binding"] = f"{labels.get('binding', '')} {word}".strip()
            at += 1
        elif _PROGRAM.fullmatch(word.rpartition("/")[2]) or _ASSIGNMENT.fullmatch(word):
            break
        elif at + 1 < len(words) and words[at - 1].startswith("-"):
            at += 1  # the value of an option that says nothing
        else:
            break
    return at


def _take_program(program: str, words: Iterable[str], labels: dict[str, str]) -> None:
    """Read the options of a benchmark."""
    known = _OF_PROGRAMS.get(program.split("_", 1)[0], {})
    rest = iter(words)
    buffers = []
    for word in rest:
        name, equals, value = word.partition("=")
        if name in known and word.startswith("-"):
            labels[known[name]] = value if equals else next(rest, "")
        elif program.startswith("osu_") and _BUFFER.fullmatch(word):
            buffers.append(word)
        elif program.startswith("ib_") and word in ("-b", "--bidirectional"):
            labels["direction"] = "both"
    if len(buffers) == 2:
        labels["buffers"] = " ".join(buffers)


def _place(labels: dict[str, str], launcher: str | None) -> None:
    """Add nodes or ranks of each node where the others tell them."""
    per_node = re.fullmatch(r"ppr:([0-9]+):node.*", labels.get("map_by", ""))
    if per_node:
        labels["ranks_per_node"] = per_node[1]
    if launcher == "mpirun" and labels.get("map_by", "").split(":")[0] == "node":
        labels.setdefault("ranks_per_node", "1" if labels.get("ranks") == "2" else "")
    counts = {name: labels.get(name, "") for name in ("ranks", "ranks_per_node", "nodes")}
    ranks, each, nodes = (int(c) if c.isdigit() else 0 for c in counts.values())
    if ranks and each and not nodes:
        labels["nodes"] = str(math.ceil(ranks / each))
    elif ranks and nodes and not each and ranks % nodes == 0:
        labels["ranks_per_node"] = str(ranks // nodes)
    elif each and nodes and not ranks:
        labels["ranks"] = str(each * nodes)
    for name in [name for name, value in labels.items() if not value]:
        del labels[name]


def told_apart(one: dict[str, str], other: dict[str, str]) -> Iterator[str]:
    """Yield the names of labels that both have and that differ."""
    for name in one.keys() & other.keys():
        if one[name].casefold() != other[name].casefold():
            yield name
