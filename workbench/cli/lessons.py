"""List the lessons, write their notebooks for a class, and read what students have solved.

The lessons are notebooks whose exercises check themselves. Copies for students lack the solutions;
those for an instructor have them open. Nothing is sent anywhere: progress is a small file beside
the notebooks of each student, and `workbench lessons progress` reads one or many.
"""

from __future__ import annotations

import argparse

from workbench.cli.output import add_json, output_file, output_folder, print_json
from workbench.shell.function_options import FunctionOptions

ABOUT = "list the lessons, write copies for a class, read the students' progress"

_WRITTEN = FunctionOptions("workbench.teaching.write_copies")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, about in (
        ("list", "list the lessons: question, minutes, exercises, what must be known"),
        ("student", "write copies without the solutions"),
        ("instructor", "write copies with the solutions open, and the instructor's page"),
        ("progress", "print who tried what how often, and when it was right first"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        if name in ("student", "instructor"):
            action.add_argument("folder", type=output_folder, metavar="DIR", help="an empty folder")
            _WRITTEN.add(action, "notebooks", metavar="DIR")
        if name == "progress":
            action.add_argument(
                "files",
                nargs="*",
                metavar="FILE",
                help="progress files (default: workbench-progress.json here)",
            )
            action.add_argument(
                "--csv",
                nargs="?",
                const=True,
                type=output_file(".csv"),
                metavar="FILE.csv",
                help="write the table as CSV, to stdout without a file",
            )
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    from workbench import teaching

    if arguments.action == "list":
        found = teaching.lessons()
        if arguments.json:
            print_json(found.to_dict())
        else:
            print(found.to_frame().to_string(index=False))
    elif arguments.action == "progress":
        _progress(arguments)
    else:
        written = teaching.write_copies(
            arguments.folder,
            solutions=arguments.action == "instructor",
            **_WRITTEN.given(arguments),
        )
        if arguments.json:
            print_json({"written": [str(path) for path in written]})
        else:
            print(*written, sep="\n")
    return 0


def _progress(arguments: argparse.Namespace) -> None:
    from workbench import teaching

    table = teaching.progress(*arguments.files)
    if arguments.json:
        print_json(table.to_dict())
    elif arguments.csv is None:
        frame = table.to_frame()
        parts = [frame.to_string(index=False), table.by_exercise().to_string(index=False)]
        print("nobody has tried an exercise yet" if frame.empty else "\n\n".join(parts))
    elif arguments.csv is True:
        print(table.to_csv(), end="")
    else:
        table.to_csv(arguments.csv)
